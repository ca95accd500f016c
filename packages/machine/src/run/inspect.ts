/**
 * A run as a debugger sees it: threads, stack frames, scopes, variables, in the words of the Debug Adapter Protocol, and the authority in
 * force at a frame.
 *
 * Boundary: reading only: nothing here changes what the run does next. Values are shown as the ledger shows them, capped (`look.ts`).
 *
 * IC3: an inspection follows from the state, and from what must not be shown, alone: two machines that stand at the same place give equal ones, however they came there.
 */
import { type Json, type Site, type SpendForm, shownName } from "@remit/language";
import type { Permit, Remit } from "../authority/policy.ts";
import type { BodyForm, FrameForm } from "../compile/instructions.ts";
import type { Effect } from "../effect/effect.ts";
import type { Value } from "../value/value.ts";
import { flag, list, number, one, orNull, ref, type Shape, says, shape, type Told, text } from "../shape/build.ts";
import { METER_NAMES, USED } from "../state/accounts.ts";
import type { Fiber, Frame } from "../state/fiber.ts";
import type { Limits } from "../state/options.ts";
import { show } from "../state/show.ts";
import { type Delegation, inForce } from "../state/delegations.ts";
import type { Result } from "./ending.ts";
import { nextFiber } from "./execute.ts";
import { type Clean, type Looker, partOf, partsOf, type ValueView, viewOf, wholeOf } from "./look.ts";
import type { Machine } from "./machine.ts";

/** Bytes of one variable's value in an inspection, as in `toJson`; beyond them it shows `"[Large]"`. */
const MAX_VARIABLE = 65_536;

export interface Inspection {
    readonly threads: readonly ThreadView[];
    /** Effects without an outcome, in the order in which they were asked for. */
    readonly pending: readonly Effect[];
    readonly account: Account;
    /** Set once the run has ended. */
    readonly result: Result | null;
}

export interface ThreadView {
    readonly id: number;
    /** Path of the iteration, or of the run. */
    readonly name: string;
    /** The thread it was forked from. */
    readonly parent: number | null;
    /** `next`: it runs when the run goes on; `ready`: after others; `waiting`: for the outcome of an effect or for iterations. */
    readonly state: "next" | "ready" | "waiting" | "ended";
    /** Path of what it waits for. */
    readonly waiting: string | null;
    /** Innermost first. */
    readonly stackFrames: readonly FrameView[];
}

export interface FrameView {
    readonly name: string;
    readonly path: string;
    readonly site: Site | null;
    /** Who runs here, and as people know it. */
    readonly principal: string;
    readonly principalName: string;
    readonly scopes: readonly ScopeView[];
    /** The locals as JSON, with every origin in them. */
    readonly variables: readonly { readonly name: string; readonly value: Json; readonly origins: readonly string[] }[];
}

export const SCOPE = shape({ name: one(["locals", "around", "imports"]), variables: list(ref<ValueView>("Value")) }, {});
export type ScopeView = Told<typeof SCOPE>;

/** Amounts by meter, any of them. */
const meters = <L>(...more: string[]): Shape<L> => ({
    type: "object",
    properties: Object.fromEntries([...METER_NAMES, ...more].map((meter) => [meter, number])),
    additionalProperties: false,
});
const spend = meters<SpendForm>();

export const ACCOUNT = shape(
    {
        used: USED,
        limits: meters<Limits>("depth", "memory"),
        /** Budgets of calls and regions that are open, those around others first. `reserved`: tokens of turns that have no outcome yet. */
        open: list(shape({ path: text, name: text, limits: spend, used: USED, reserved: number }, {})),
    },
    {},
);
export type Account = Told<typeof ACCOUNT>;

const site = orNull(ref<Site>("Site"));
export const GRANT = shape(
    {
        /** `tool:mcp://mail`, or `all` for everything its file names. */
        thing: text,
        method: says(orNull(text), "null: every method"),
        gate: one(["may", "open", "ask", "never"]),
        within: list(shape({ arg: orNull(text), patterns: list(text) }, { numbers: flag })),
        site,
    },
    {},
);
export type GrantView = Told<typeof GRANT>;

export const PRINCIPAL = shape(
    {
        principal: text,
        name: text,
        /** True for the owner of the run: nothing but clauses of imports binds it. */
        base: flag,
        endorse: flag,
        /** All of them must permit. */
        remits: list(shape({ site, strict: flag, spend: orNull(spend), rows: list(ref<GrantView>("Grant")) }, {})),
    },
    {},
);

/** What the principal of a frame may do there. */
export interface AuthorityView extends Told<typeof PRINCIPAL> {
    /** Delegations to it that are in force here, innermost first. */
    readonly delegations: readonly {
        readonly token: number;
        readonly from: string;
        readonly onward: boolean;
        readonly path: string;
        readonly things: readonly string[];
    }[];
    /** What was answered for the session, in the order of the answers. */
    readonly answers: readonly { readonly use: string; readonly yes: boolean }[];
}

export function inspect(m: Machine, clean?: Clean): Inspection {
    const at = lookerOf(m, clean);
    const threads = [...m.fibers.values()].map(
        (fiber): ThreadView => ({
            id: fiber.id,
            name: fiber.frames[0]?.path ?? m.entryPath,
            parent: fiber.parent?.id ?? null,
            state: stateOf(m, fiber),
            waiting: fiber.frames[fiber.frames.length - 1]?.native?.path ?? null,
            stackFrames: fiber.frames.map((frame) => frameView(m, at, frame)).reverse(),
        }),
    );
    const open = m.accounts.docs().map(({ path, name, limits, used, reserved }) => ({ path, name, limits, used, reserved }));
    return { threads, pending: m.pending, account: { used: m.usage, limits: m.options.limits ?? {}, open }, result: m.result };
}

function stateOf(m: Machine, fiber: Fiber): ThreadView["state"] {
    if (m.result !== null) return "ended";
    if (nextFiber(m) === fiber) return "next";
    return m.ready.includes(fiber) ? "ready" : "waiting";
}

function lookerOf(m: Machine, clean?: Clean): Looker {
    return { labels: m.run.labels, alive: m.standing.alive, ...(clean === undefined ? {} : { clean }) };
}

function frameView(m: Machine, at: Looker, frame: Frame): FrameView {
    const names = variablesOf(m, frame);
    return {
        name: frame.fn.agent === null ? frame.fn.name : `${shownName(frame.fn.agent)}.${frame.fn.name}`,
        path: frame.path,
        site: frame.form.code[frame.pc]?.site ?? null,
        principal: frame.principal,
        principalName: m.authority.nameOf(frame.principal),
        scopes: SCOPES.flatMap((name) => {
            const variables = names.filter((n) => n.scope === name).map((n) => viewOf(at, n.name, n.value));
            return variables.length === 0 && name !== "locals" ? [] : [{ name, variables }];
        }),
        variables: names
            .filter((n) => n.scope !== "imports")
            .map((n) => {
                const shown = show(n.value, m.run.labels, MAX_VARIABLE);
                return { name: n.name, value: shown.json, origins: m.run.labels.origins(shown.labels) };
            }),
    };
}

interface Named {
    readonly name: string;
    readonly value: Value;
    readonly scope: ScopeView["name"];
}

const SCOPES = ["locals", "around", "imports"] as const satisfies readonly ScopeView["name"][];

/** What a frame's code can name: its own body's, those around a parallel for, the file's imports. A name nearer by comes later. */
function variablesOf(m: Machine, frame: Frame): Named[] {
    const form = frame.forms;
    const around = frame.body === 0 ? [] : namesAround(form, frame.body);
    const own = ownNames(form, frame.body, frame.pc);
    const of = (scope: Named["scope"]) => (n: BodyForm["names"][number]) => ({ name: n.name, value: frame.locals[n.slot] as Value, scope });
    const imports = [...(m.compiled.files[frame.fn.file]?.imports.values() ?? [])].flatMap((entry): Named[] => {
        const value = entry.value ?? m.run.imports[entry.number];
        return value === undefined ? [] : [{ name: entry.form.name, value, scope: "imports" }];
    });
    return [...imports, ...around.map(of("around")), ...own.map(of("locals"))];
}

function ownNames(form: FrameForm, body: number, pc: number): BodyForm["names"] {
    return (form.bodies[body] as BodyForm).names.filter((n) => n.from <= pc && pc < n.to);
}

/** Names visible at the parallel for whose body this is, outermost first. */
function namesAround(form: FrameForm, body: number): BodyForm["names"] {
    for (let outer = 0; outer < body; outer++) {
        const at = (form.bodies[outer] as BodyForm).code.findIndex((i) => i.detail?.kind === "parallel" && i.detail.body === body);
        if (at >= 0) return [...(outer === 0 ? [] : namesAround(form, outer)), ...ownNames(form, outer, at)];
    }
    return [];
}

/** A place in a frame's values: a variable's name, then keys and indices. */
export interface Place {
    readonly thread: number;
    /** 0 is the innermost. */
    readonly frame: number;
    readonly names: readonly (string | number)[];
    /** Where the first name is looked up; absent: as the code there would. */
    readonly scope?: ScopeView["name"];
}

export interface Looked {
    readonly view: ValueView;
    /** A string's whole text, up to its cap; the one line of anything else. */
    readonly whole: string;
    readonly parts: readonly ValueView[];
}

/** The value at a place with a page of its parts; null where there is none. */
export function look(m: Machine, place: Place, from: number, count: number, clean?: Clean): Looked | null {
    const frame = frameAt(m, place.thread, place.frame);
    const [first, ...rest] = place.names;
    if (frame === null || first === undefined) return null;
    const named = variablesOf(m, frame).filter((n) => n.name === first && (place.scope === undefined || n.scope === place.scope));
    const start = named.at(-1);
    if (start === undefined) return null;
    const at = lookerOf(m, clean);
    let value: Value = start.value;
    let label = 0;
    for (const key of rest) {
        const part = partOf(at, value, key, label);
        if (part === undefined) return null;
        ({ value, label } = part);
    }
    const last = place.names[place.names.length - 1] as string | number;
    return {
        view: viewOf(at, typeof last === "number" ? `[${last}]` : last, value, label),
        whole: wholeOf(at, value),
        parts: partsOf(at, value, label, from, count),
    };
}

/** What the principal of a frame may do there; null where there is no such frame. */
export function authorityAt(m: Machine, thread: number, index: number): AuthorityView | null {
    const fiber = m.fibers.get(thread);
    const frame = frameAt(m, thread, index);
    if (fiber === undefined || frame === null) return null;
    const { principal } = frame;
    return {
        principal,
        name: m.authority.nameOf(principal),
        base: principal === m.principal,
        endorse: m.authority.mayEndorse(principal),
        remits: m.authority.remitsOf(principal).map((remit) => ({
            site: remit.site,
            strict: remit.strict,
            spend: remit.spend,
            rows: rowsOf(remit),
        })),
        delegations: inForce(m, fiber, principal).map((d) => delegationView(m, d)),
        answers: [...m.standing.answers].map(([use, said]) => ({ use, yes: said !== false })),
    };
}

function delegationView(m: Machine, d: Delegation): AuthorityView["delegations"][number] {
    return { token: d.token, from: m.authority.nameOf(d.from), onward: d.onward, path: d.path, things: Object.keys(d.grants) };
}

function rowsOf(remit: Remit): GrantView[] {
    const view = (thing: string, p: Permit): GrantView => ({ thing, method: p.method, gate: p.gate, within: p.bounds, site: p.site });
    const rows = [...remit.rows].flatMap(([key, permits]) => permits.map((p) => view(key, p)));
    return [...rows, ...remit.all.map((p) => view("all", p))];
}

function frameAt(m: Machine, thread: number, index: number): Frame | null {
    const frames = m.fibers.get(thread)?.frames;
    return frames?.[frames.length - 1 - index] ?? null;
}
