/**
 * What the ledger still has to be told: batches in their order, carried by the next activity.
 *
 * Boundary: numbers and batches. Who carries them is `performing.ts`, what is in them the conductor's.
 *
 * WL1: a batch is numbered once, in the order of the conductor's commits, and carried until an activity says that the ledger has it.
 * WL2: an effect is begun in a batch that its own activity carries: what the ledger does not have was not performed.
 * WL3: an outcome that was recorded when its effect was performed is carried by its name alone.
 */
import type { Batch, Effect, MachineEvent } from "@remit/machine";
import type { Sent } from "../wire/messages.ts";

/** Batches of which an activity may carry so many before they are flushed. */
const MOST = 64;

export class Unsent {
    /** Of this execution. */
    readonly events: MachineEvent[] = [];
    private n: number;
    private waiting: Sent[] = [];
    /** Committed, but not numbered: what begins with it is not known yet. */
    private held: Batch | null = null;
    private readonly recorded = new Set<string>();

    /** `batches`: that the ledger has. */
    constructor(batches: number) {
        this.n = batches;
    }

    get isEmpty(): boolean {
        return this.held === null && this.waiting.length === 0;
    }

    get isFull(): boolean {
        return this.waiting.length >= MOST;
    }

    /** The ledger has the outcome of this effect. */
    isRecorded(path: string): void {
        this.recorded.add(path);
    }

    commit(batch: Batch): void {
        this.number(new Set());
        this.held = batch;
        for (const event of batch.events ?? []) this.events.push(event);
    }

    /** For effects of the program that begin now, in order: the number of the batch with which each begins, and what its activity carries. */
    begin([first, ...others]: readonly Effect[]): { readonly begins: number; readonly batches: readonly Sent[] }[] {
        if (first === undefined) return [];
        // WL2.
        const begins = this.number(new Set(others.map(({ path }) => path)));
        const carried = [{ begins, batches: this.carry() }];
        for (const effect of others) {
            const own: Sent = { n: ++this.n, batch: { pending: [{ path: effect.path, begun: true, ...attemptOf(effect) }] } };
            carried.push({ begins: own.n, batches: [own] });
        }
        return carried;
    }

    /** All that waits; the caller brings it back where it is not carried. */
    carry(): readonly Sent[] {
        this.number(new Set());
        const { waiting } = this;
        this.waiting = [];
        return waiting;
    }

    /** What was to be carried may not have been. */
    bring(batches: readonly Sent[]): void {
        this.waiting = [...batches, ...this.waiting].sort((a, b) => a.n - b.n);
    }

    /** Numbers what was committed last; what is `apart` begins in a batch of its own. */
    private number(apart: ReadonlySet<string>): number {
        const { held } = this;
        if (held === null) return this.n;
        this.held = null;
        const { outcomes, pending, begin, ...rest } = held;
        const batch = {
            ...rest,
            // WL3.
            ...(outcomes === undefined
                ? {}
                : { outcomes: outcomes.map((one) => (this.recorded.delete(one.path) ? { path: one.path, ...attemptOf(one) } : one)) }),
            ...(pending === undefined ? {} : { pending: pending.map((one) => (apart.has(one.path) ? { ...one, begun: false } : one)) }),
            ...(begin === undefined ? {} : { begin: begin.filter((path) => !apart.has(path)) }),
        };
        this.waiting.push({ n: ++this.n, batch });
        return this.n;
    }
}

function attemptOf({ attempt }: { readonly attempt?: number }): { readonly attempt?: number } {
    return attempt === undefined ? {} : { attempt };
}
