/**
 * Replaying: the same program with the answers of the ledger, no effect performed; the record must come out equal.
 *
 * Boundary: over a record of the ledger; writes nothing.
 *
 * RP2: events are compared by path, without time, number, run and hashes; those of the host (`host: true`) are not expected.
 * RP5: nothing of the world reaches the machine but what is told again (`Retelling`), so a difference has two causes: the record was changed (`verify` tells), or
 *     the machine was. What a step and a byte are is in `run.ended`, so that a machine that counts otherwise is told by it; `engine` says it.
 */
import { amountOf, isObject, type Json } from "@remit/language";
import { type Advance, canonicalJson, comparable, type Conducted, type LedgerEvent, type MachineEvent, type Result } from "@remit/machine";
import type { KeptRun, RunRecord } from "../ledger/store.ts";
import type { KeptOptions } from "./options.ts";
import { retell } from "./retell.ts";

export interface Divergence {
    readonly path: string;
    /** Number of the recorded event, where one is concerned. */
    readonly seq?: number;
    readonly message: string;
}

export interface Replayed {
    readonly equal: boolean;
    readonly steps: { readonly recorded: number; readonly replayed: number };
    readonly events: { readonly recorded: number; readonly replayed: number };
    readonly outcomes: number;
    readonly first?: Divergence;
    /** Builds of the machine, where the run was recorded by another one than replays it. */
    readonly engine?: { readonly recorded: string; readonly present: string };
    /** As the replayed machine ended; absent where the run had not ended. */
    readonly end?: Result;
}

/**
 * `engine`: the build of the machine that replays. `record`: without what is known to be a secret now, as what the machine tells is (`shownStore`).
 * `to`: it is told up to a state that was kept: every event has to be in the ledger, also of a run that has not ended. `steps`: of that state, where
 * the run was computing; infinite where it waited.
 */
export async function replayRun(
    record: RunRecord,
    machineOf: (run: KeptRun) => Conducted,
    engine: string,
    to?: { readonly steps: number },
): Promise<Replayed> {
    const { info } = record;
    const recordedBy = (record.options as Partial<KeptOptions>).engine ?? engine;
    const over = info.status === "done" || info.status === "failed";
    const machine = machineOf(record);
    const recorded = byPath(record.events);
    let replayed = 0;
    let first: Divergence | undefined;
    let end: Result | undefined;

    const diverge = (what: Divergence): void => {
        first ??= what;
    };
    const compare = (event: MachineEvent): void => {
        replayed++;
        const queue = recorded.get(event.path);
        const was = queue?.events[queue.at++];
        if (was === undefined) {
            if (over || to !== undefined) diverge({ path: event.path, message: `${event.kind} is not in the ledger` });
        } else {
            const now = asOnceTold(was, event);
            if (canonical(was) !== canonical(now)) diverge({ path: event.path, seq: was.seq, message: different(was, now) });
        }
    };
    const see = (advance: Advance): boolean => {
        for (const event of advance.events) compare(event);
        end = advance.result ?? end;
        return first === undefined;
    };
    const retold = await retell(record, machine, see, to?.steps);
    if (first === undefined && retold.odd !== null)
        diverge({ path: retold.odd, message: "the ledger has an outcome for this, but the program did not ask for it" });
    if (first === undefined && over && end === undefined)
        diverge({ path: retold.open[0] ?? "main", message: "the program asks for this, and the ledger has no outcome for it" });
    if (first === undefined && over && end !== undefined) {
        const was = canonicalJson((info.status === "done" ? [true, info.value] : [false, info.failure]) as Json);
        const now = canonicalJson((end.ok ? [true, end.value] : [false, end.failure]) as unknown as Json);
        if (was !== now) diverge({ path: "main", message: "the run ended differently" });
    }
    if (first === undefined)
        for (const [path, queue] of recorded)
            if (queue.at < queue.events.length) {
                const missing = queue.events[queue.at] as LedgerEvent;
                diverge({ path, seq: missing.seq, message: `${missing.kind} of the ledger did not happen` });
                break;
            }
    if (first === undefined && over && machine.usage.steps !== info.steps)
        diverge({ path: "main", message: `${amountOf(machine.usage.steps, "step")} instead of ${info.steps}` });
    return {
        equal: first === undefined,
        steps: { recorded: info.steps, replayed: machine.usage.steps },
        events: { recorded: info.events, replayed },
        outcomes: retold.outcomes,
        ...(recordedBy === engine ? {} : { engine: { recorded: recordedBy, present: engine } }),
        ...(first === undefined ? {} : { first }),
        ...(end === undefined ? {} : { end }),
    };
}

interface Recorded {
    readonly events: LedgerEvent[];
    at: number;
}

function byPath(events: Iterable<LedgerEvent>): Map<string, Recorded> {
    const out = new Map<string, Recorded>();
    for (const event of events) {
        if (isHosts(event)) continue;
        const known = out.get(event.path);
        if (known === undefined) out.set(event.path, { events: [event], at: 0 });
        else known.events.push(event);
    }
    return out;
}

/** H1: an event that follows from the world, not from the program. */
export function isHosts(event: MachineEvent): boolean {
    const { data } = event;
    return data !== null && typeof data === "object" && !Array.isArray(data) && data.host === true;
}

/** Earlier builds told no labels of an effect that failed. */
const FAILS: ReadonlySet<string> = new Set(["tool.ended", "memory.ended", "effect.ended"]);

function asOnceTold(was: LedgerEvent, now: MachineEvent): MachineEvent {
    const failed = FAILS.has(now.kind) && isObject(now.data) && now.data.ok === false;
    return failed && was.labels.length === 0 ? { ...now, labels: [] } : now;
}

function canonical(event: MachineEvent): string {
    return canonicalJson(comparable(event) as unknown as Json);
}

function different(was: LedgerEvent, now: MachineEvent): string {
    if (was.kind !== now.kind) return `event ${was.seq} was ${was.kind}, now it is ${now.kind}`;
    for (const part of ["parent", "principal", "site", "labels", "data"] as const)
        if (canonicalJson(comparable(was)[part] as Json) !== canonicalJson(comparable(now)[part] as Json))
            return `${was.kind} (event ${was.seq}) has another ${part}`;
    return `${was.kind} (event ${was.seq}) is different`;
}
