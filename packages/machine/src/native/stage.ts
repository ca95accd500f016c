/**
 * Stages that only wait: for time (`wait`), for a person (`approve`), and for a block that runs elsewhere.
 *
 * Boundary: the request and what its outcome means. Times and people are the conductor's, other runs the host's.
 *
 * WTS1: a person who does not say yes has said no, and so has one whose time is up: the stage fails as `denied`. A stage's `timeout` is
 *     that time.
 * WTS2: a block that runs elsewhere is a run of its own, whose id follows from this run and the path of the block.
 * WTS4: what decided that it begins decides all that is done in it, there as here.
 * WTS3: what named blocks inside it gave is known here under their names, as if it had run here.
 */
import { type Json, withArticle } from "@remit/language";
import type { BlockCode } from "../compile/blocks.ts";
import type { Code } from "../compile/code.ts";
import type { StageDetail } from "../compile/instructions.ts";
import { type AskRequest, verdictOf } from "../effect/effect.ts";
import type { RunRequest } from "../effect/elsewhere.ts";
import { Fail } from "../effect/failure.ts";
import { fromJson, toJson } from "../value/json.ts";
import { join, labelOf, rawOf } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import { failureOf, givenValue, reachesOf } from "../state/effects.ts";
import { areCountsAway, awaitCounts } from "../state/lent-counts.ts";
import type { StageWait } from "../state/fiber.ts";
import type { Begins, Call, Ops, Told, Waits } from "../state/ops.ts";
import { show } from "../state/show.ts";
import { limitsLeft } from "../state/parts.ts";
import { accountAt } from "../state/spending.ts";
import { aborted } from "../state/verdicts.ts";

/** What a person can say to `approve`. */
const OPTIONS = ["once", "deny", "abort"];

function passed(call: Call): Value {
    return (call.I.detail as StageDetail).passes(call.frame.locals);
}

function waits(m: Ops, call: Call, arg: Value): void {
    const { fiber, path } = call;
    const { site } = call.I;
    const ms = rawOf(arg);
    if (typeof ms !== "number" || !Number.isFinite(ms) || ms < 0)
        throw new Fail("value", `wait takes a duration, not ${withArticle(kindOf(ms))}`, { site, hint: "write `wait 30s`" });
    const labels = m.run.labels.origins(labelOf(arg));
    m.raise(fiber, { kind: "sleep", path, site, request: { ms: Math.ceil(ms) }, labels, origin: "user" });
}

function kindOf(value: unknown): string {
    return value === null ? "none" : typeof value === "object" ? "list or object" : typeof value;
}

/** A question for a person: the text of the stage, and all of what flows in. */
function asks(m: Ops, call: Call, arg: Value, { within }: StageDetail): void {
    const { fiber, frame, path } = call;
    const { site } = call.I;
    const said = rawOf(arg);
    const shown = show(passed(call), m.run.labels);
    if (shown.cut) throw new Fail("value", "more flows into this question than a person can be shown", { site, hint: "pass less" });
    m.give(shown.size);
    const labels = m.run.labels.origins(m.run.labels.union(shown.labels, labelOf(arg)));
    const detail = {
        principal: m.authority.nameOf(frame.principal),
        capability: "approve",
        why: "approve",
        kind: "stage",
        tool: "approve",
        uri: "",
        file: m.compiled.fileName(frame.fn.file),
        method: null,
        args: [shown.json],
        origins: { input: m.run.labels.origins(shown.labels).slice() },
        chosen_by: "program",
        site: site as unknown as Json,
    };
    const question = typeof said === "string" && said !== "" ? said : "May this go on?";
    const request = {
        question,
        detail,
        options: OPTIONS,
        ...(within === undefined ? {} : { within }),
    } satisfies AskRequest as unknown as Json;
    m.raise(fiber, { kind: "ask", path, site, request, labels, origin: "user" });
    m.emit("ask.requested", path, frame.parent, site, labels, request);
}

/** WTS1. */
function decided(m: Ops, call: Call, { outcome }: Told): Value | null {
    const { frame, path } = call;
    const { site } = call.I;
    const said = verdictOf(outcome);
    const why = outcome.ok ? "" : outcome.failure.message;
    m.emit("ask.decided", path, frame.parent, site, [], { decision: said, ...(why === "" ? {} : { error: why }) });
    if (said === "abort") {
        m.finish(aborted(site));
        return null;
    }
    if (said !== "once" && said !== "session") throw new Fail("denied", `this was not approved${why === "" ? "" : `: ${why}`}`, { site });
    return passed(call);
}

/** The effect of a block that runs elsewhere. Its nodes are not this run's. */
export function blockElsewhere(m: Ops, call: Call, { form, number }: BlockCode, input: Value): boolean {
    const { fiber, frame, path } = call;
    const { site } = call.I;
    const { placeLabel } = frame;
    const entry = { file: frame.fn.file, func: `__block#${number}` };
    // COU6.
    if (fiber.place !== 0 && areCountsAway(m, path) && reachesOf(m, { entry }).usesCounted) {
        awaitCounts(call);
        return false;
    }
    let labels = 0;
    const given = (value: Value): RunRequest["input"] => {
        const out = toJson(value, m.run);
        m.run.give(out.size);
        labels = m.run.labels.union(labels, out.labels);
        return { json: out.json, origins: m.run.labels.origins(out.labels) };
    };
    const bindings = [...m.compiled.namedBlocks].flatMap(([place, name]) => {
        const value = m.run.imports[place];
        return value === undefined ? [] : [[name, given(value)] as const];
    });
    const evidence = evidenceFor(m);
    const request: RunRequest = {
        backend: form.backend,
        run: partOf(m.options.run, path),
        program: m.options.programHash,
        entry,
        path,
        input: given(input),
        bindings: Object.fromEntries(bindings),
        limits: limitsLeft(m.accounts, accountAt(frame)),
        ...(form.name === undefined ? {} : { name: form.name }),
        ...(evidence === undefined ? {} : { evidence }),
        ...(placeLabel === 0 ? {} : { under: m.run.labels.origins(placeLabel) }),
    };
    const origins = m.run.labels.origins(labels);
    m.raise(fiber, { kind: "run", path, site, request: request as unknown as Json, labels: origins, origin: `run:${form.name ?? path}` });
    frame.native = { kind: "stage", path };
    return false;
}

/** What a part of the run is told of the input, where that is the user's word (ER3). Blocks are given it whole. */
function evidenceFor({ options, authority: { book } }: Ops): RunRequest["evidence"] {
    if (options.path !== undefined) return options.evidence;
    const origins = options.inputLabels ?? [options.policy?.input ?? "user"];
    const isAsked = book.watched.has("user") || [...book.fields.values()].some(({ key }) => key === null);
    return isAsked && origins.every((origin) => origin === "user") ? { json: options.input, origins } : undefined;
}

/** WTS3. */
function bound({ compiled, run }: Ops, bindings: RunRequest["bindings"]): void {
    for (const [number, name] of compiled.namedBlocks) {
        const given = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
        if (given !== undefined) run.bind(number, join(run, fromJson(given.json, run.heap), run.labels.of(given.origins)));
    }
}

/** WTS2: the id of the run around it, a point, and the path in letters that an id may have. */
export function partOf(run: string, path: string): string {
    return `${run}.${path.replace(/[^A-Za-z0-9]+/g, "-")}`;
}

/** It is the run, or a block of it that is a run of its own. */
export function isOfRun(one: string, run: string): boolean {
    return one === run || one.startsWith(`${run}.`);
}

export const stage: Begins<StageDetail> & Waits<StageWait> = {
    begin(m, call, d) {
        const arg = (call.I.code as Code)(call.frame.locals);
        m.countCall();
        if (d.what === "wait") waits(m, call, arg);
        else asks(m, call, arg, d);
        call.frame.native = { kind: "stage", path: call.path };
        return false;
    },

    resume(m, call, _wait, told) {
        const { pending, outcome } = told;
        const { detail } = call.I;
        if (pending.effect.kind === "ask") {
            const value = decided(m, call, told);
            if (!m.isOver) m.deliver(call.fiber, value);
            return;
        }
        if (!outcome.ok) throw failureOf(m, pending, outcome);
        if (outcome.bindings !== undefined) bound(m, outcome.bindings);
        m.deliver(call.fiber, detail?.kind === "stage" ? passed(call) : givenValue(m, pending.effect, outcome));
    },
};
