/**
 * A new run that begins where the record of another one leads: its machine is told again what the other was told, and goes on from there.
 *
 * Boundary: a machine at its start and a record; who the new run belongs to, and what it is told next, are the caller's.
 *
 * BT1: nothing of the way is performed: every outcome is that of the record, in its order.
 * BT2: one commit holds the whole way, so that no run is there that would perform it again, whatever ends this process.
 */
import {
    type Answered,
    type Advance,
    type Conducted,
    isStrike,
    type LedgerEvent,
    type MachineEvent,
    Retelling,
    toldParts,
    toldPlaces,
} from "@remit/machine";
import type { Json } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import type { LedgerStore, NewRun, RecordedOutcome, RunRecord } from "../ledger/store.ts";
import { type ExecuteOptions, execute, type RunHandle } from "./handle.ts";

export interface ToldAgain {
    readonly events: readonly MachineEvent[];
    readonly state: Advance["state"];
    /** The path of an outcome that the machine did not ask for; null: the way is the same. */
    readonly odd: string | null;
}

/** What is told when is as it was; the end of the record is none of the new run's. */
export function toldAgain(machine: Conducted, outcomes: readonly RecordedOutcome[], record: readonly LedgerEvent[]): ToldAgain {
    const retelling = new Retelling(machine, { outcomes, parts: toldParts(record), places: toldPlaces(record) });
    const events: MachineEvent[] = [];
    while (retelling.state !== "waiting" || retelling.upcoming !== undefined) {
        const advance = retelling.next();
        if (advance === null) break;
        events.push(...advance.events);
    }
    retelling.end();
    return { events, state: retelling.state, odd: retelling.odd };
}

/** What the machine was told, and what it is told first in the new run: the outcome of an effect that it waits for. */
export interface Way {
    readonly outcomes: readonly Answered[];
    readonly events: readonly MachineEvent[];
    readonly answer: Answered;
    readonly notes?: readonly MachineEvent[];
}

/**
 * The whole way of a run, for a machine of a program that begins as its program did; null where nothing came in on it. What came in last is told in the
 * new run. Throws `RemitError` `value` where the machine goes another way.
 */
export function wayOf(machine: Conducted, { info, events: record, outcomes }: RunRecord): Way | null {
    const at = outcomes.findLastIndex((one) => !isStrike(one));
    const last = outcomes[at];
    if (last === undefined) return null;
    const before = outcomes.filter((_, i) => i !== at);
    const { events, odd } = toldAgain(machine, before, record);
    const isAsked = machine.pending.some(({ path }) => path === last.path);
    if (odd === null && isAsked) return { outcomes: before.map(answered), events, answer: answered(last) };
    throw new RemitError({
        kind: "value",
        message: `the program does not go the way of run ${info.id}: it does not ask for ${odd ?? last.path}`,
        hint: "a program that goes on from a run begins as the program of that run does",
    });
}

const answered = ({ path, outcome }: RecordedOutcome): Answered => ({ path, outcome });

/** BT2. */
export async function beginTold<T>(
    machine: Conducted,
    { outcomes, events, answer, notes = [] }: Way,
    begins: {
        readonly store: LedgerStore;
        readonly about: NewRun;
        readonly execute: Pick<ExecuteOptions, "host" | "secrets" | "on" | "signal" | "timeout" | "over">;
    },
): Promise<RunHandle<T>> {
    const { store, about } = begins;
    const writer = await store.create(about);
    try {
        await writer.commit({
            outcomes: [...outcomes],
            events: [...events],
            pending: machine.pending.map(({ path }) => ({ path, begun: path === answer.path })),
            steps: machine.usage.steps,
            ...(store.durable ? { state: { kind: "image", json: imageOf(machine) } } : {}),
        });
        const recovered = { outcomes: [], begun: [], repeatable: [], answers: [answer], notes };
        return execute<T>(machine, { store, id: about.id, program: about.program, writer, recovered, ...begins.execute });
    } catch (error) {
        await writer.release();
        throw error;
    }
}

function imageOf(machine: Conducted): Json {
    const saved = machine.save({ spent: 0 });
    return "image" in saved ? saved.image : saved.delta;
}
