/**
 * A new run that went the way of a recorded one up to an effect, and there gets another answer.
 *
 * Boundary: reads the record of the one, writes that of the other. Going on is the conductor's.
 *
 * FO1: the run that it comes from is only read.
 * FO2: up to the effect nothing is performed: every outcome is that of the record, in its order. From there on it is a run like any other, whose
 *     effects are performed.
 * FO3: the value carries the origin of the one that proposed it, and the record says which person took it (`ask.requested`, `ask.decided`).
 * FO5: a probe performs nothing that changes anything: from there on tools that only read are used, everything else is played; the record says so.
 * FO4: only the answer of a tool, of a model or of an agent's turn can be another one: a person's questions are not answered by a proposal. What an
 *     agent is to say so is what a stub would: of a yield, a function that returns the value, which is checked and run like any answer.
 */
import type { Json } from "@remit/language";
import { replyWith } from "../agent/stub.ts";
import {
    type AgentTurn,
    compileProgram,
    type Effect,
    isStrike,
    Machine,
    type MachineEvent,
    type ModelReply,
    type ModelTurn,
    type Outcome,
    type ToolRequest,
} from "@remit/machine";
import { keptRun, type LedgerStore, type NewRun, type RecordedOutcome, type RunInfo } from "../ledger/store.ts";
import { leaving } from "../secret/exits.ts";
import { RemitError } from "../failure/error.ts";
import type { RunHandle } from "../run/handle.ts";
import { SLICE, startOptions } from "../run/machine.ts";
import type { ResumeRunOptions } from "../run/open.ts";
import { worldAgain } from "../run/resumption.ts";
import { type KeptOptions, newRunId } from "../run/options.ts";
import { beginTold, toldAgain } from "../run/way.ts";
import { withPeople } from "../run/world.ts";

export interface Forked {
    /** Path of the effect. */
    readonly path: string;
    readonly value: Json;
    /** `agent:Fixer`. */
    readonly origin: string;
    /** The run in which it was proposed. */
    readonly proposal: string;
    /** Who took it. Default: the user of this process. */
    readonly by?: string;
    /** Only to see what would happen: what does more than read is not performed. */
    readonly probe?: boolean;
}

/** Begins the new run. Throws `RemitError` `value` where the run has no such effect, or where its answer cannot be another one. */
export async function forkRun<T>(store: LedgerStore, id: string, forked: Forked, options: ResumeRunOptions = {}): Promise<RunHandle<T>> {
    const run = await keptRun(store, id);
    const { info, program } = run;
    const { path } = forked;
    const { before, known } = await journalBefore(store, info, path);
    const probe = forked.probe === true ? { mode: "dry-run" as const } : {};
    const kept: KeptOptions = { ...(run.options as unknown as KeptOptions), ...probe };
    const world = await worldAgain({ ...run, options: kept as unknown as Json }, options);
    const fresh = newRunId();
    const machine = leaving(Machine.start(compileProgram(program), startOptions(fresh, program, info.program, kept, SLICE)), world.secrets);

    // ---- the way up to it ----
    const { events, state } = toldAgain(machine, before, await Array.fromAsync(store.events(info.id)));
    const open = machine.pending;
    const effect = open.find((one) => one.path === path);
    if (effect === undefined && !known) throw no(`the run has no effect at ${path}`, "`remit trace` shows its effects");
    if (effect === undefined || state === "done")
        throw no(`the run does not ask for ${path} on this way`, "`remit replay` says whether the record fits the program");
    const outcome = world.secrets.scrub(outcomeOf(effect, forked) as unknown as Json) as unknown as Outcome;

    // ---- the new run ----
    const about: NewRun = {
        id: fresh,
        program,
        hash: info.program,
        file: info.file,
        root: info.root,
        options: kept as unknown as Json,
    };
    const { on = {}, park, signal } = options;
    const host = withPeople(world, { run: fresh, store, on, asks: { ...kept.asks, owner: world.user }, park, as: kept.as });
    const notes = taken(effect, { by: world.user, ...forked }, info);
    const told = { outcomes: before.map(({ path, outcome }) => ({ path, outcome })), events, answer: { path, outcome }, notes };
    const { secrets } = world;
    return beginTold<T>(machine, told, { store, about, execute: { host, secrets, on, signal, timeout: kept.limits.time } });
}

/** Outcomes that were told before that of the effect; all of them where it has none (`known`). */
async function journalBefore(store: LedgerStore, info: RunInfo, path: string): Promise<{ before: RecordedOutcome[]; known: boolean }> {
    const all = await Array.fromAsync(store.outcomes(info.id));
    const at = all.findIndex((one) => one.path === path && !isStrike(one));
    return at < 0 ? { before: all, known: false } : { before: all.slice(0, at), known: true };
}

/** The proposed value as what the effect gives. */
function outcomeOf(effect: Effect, { value, origin }: Forked): Outcome {
    const request = effect.request as unknown as ToolRequest | ModelTurn;
    if (effect.kind === "tool" && request.op === "call") return { ok: true, value, origins: [origin] };
    if (effect.kind === "model" && request.op === "turn") {
        const text = typeof value === "string" && request.contract === undefined ? value : JSON.stringify(value);
        const reply: ModelReply = { text, finish: "stop", model: origin, ...(request.contract === undefined ? {} : { value }) };
        return { ok: true, value: reply as unknown as Json, origins: [origin] };
    }
    if (effect.kind === "agent") {
        const reply = replyWith(value, effect.request as unknown as AgentTurn, origin);
        return { ok: true, value: reply as unknown as Json, origins: [origin] };
    }
    throw no(`a value can stand for the answer of a tool, of a model or of an agent, not for what ${effect.kind} gives at ${effect.path}`);
}

/** The proposal and its acceptance, as the ledger keeps them. */
function taken(
    effect: Effect,
    { path, value, origin, proposal, by, probe = false }: Forked & { readonly by: string },
    info: RunInfo,
): MachineEvent[] {
    const about = { path: `${path}/debug`, parent: path, principal: effect.principal, site: effect.site };
    const question = `Take what ${origin} proposes as the answer of ${path}?`;
    return [
        {
            ...about,
            kind: "ask.requested",
            labels: [origin],
            data: {
                question,
                effect: effect.kind,
                request: effect.request,
                value,
                origin,
                of: info.id,
                ...(probe ? { probe } : {}),
                proposal,
                options: ["accept", "refuse"],
                host: true,
            },
        },
        { ...about, kind: "ask.decided", labels: [], data: { decision: "accept", by, host: true } },
    ];
}

function no(message: string, hint?: string): RemitError {
    return new RemitError({ kind: "value", message, ...(hint === undefined ? {} : { hint }) });
}
