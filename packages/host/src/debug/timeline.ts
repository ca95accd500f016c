/**
 * A run's time, to move in: the machine computes again from the outcomes of the ledger, forwards; going back is loading a checkpoint and
 * computing up to where it was.
 *
 * Boundary: over a record of the ledger; holds no host, so that no effect can be performed. What a step means to a person is
 * `session.ts`.
 *
 * W1: a place in time is a `Moment`; the same moment is the same state, however it was come to (M4, M5).
 * W2: a moment is a place where a fiber stands before a statement, or where all of them wait, or the end: between two that follow each other
 *     (`tick`) one statement ran, or one outcome was told. What the run asks about itself (`inspect:`) is such a place, too: where it is asked
 *     the run looks as it did when it was answered.
 * W3: outcomes are told in the order of the ledger, and the run's time ends where it ended (J1, J3).
 * W4: checkpoints are text: nothing that goes on changes them. Their number and size are bounded; where they are changes no answer.
 */
import type { Json, Program } from "@remit/language";
import { type Compiled, compileProgram, Fail, type Failure, Machine, type MachineEvent, type StartOptions, struckAt } from "@remit/machine";
import { type LedgerStore, type RecordedOutcome, recordOf, type RunInfo, type RunRecord, type SavedState } from "../ledger/store.ts";
import { RemitError } from "../failure/error.ts";
import { SLICE, startOptionsOf } from "../run/machine.ts";
import { isHosts } from "../run/replay.ts";
import { isStrike, strikeOf, tellStrikes } from "../run/retell.ts";
import { createScrubber, type Scrubber } from "../secret/scrub.ts";

export interface Moment {
    /** Outcomes that the machine was told. */
    readonly outcomes: number;
    readonly steps: number;
    readonly ended: boolean;
    /** Events of the machine so far, those of the host not counted. */
    readonly events: number;
}

export function compareMoments(a: Moment, b: Moment): number {
    return a.outcomes - b.outcomes || a.steps - b.steps || Number(a.ended) - Number(b.ended) || a.events - b.events;
}

export interface TimelineOptions {
    /** Steps between two checkpoints, at least. */
    readonly every?: number;
    /** Bytes that checkpoints may take, about. */
    readonly room?: number;
    /** What it knows is no part of what is shown, also where that is cut. The run's own values stay as they are. */
    readonly scrubber?: Scrubber;
}

const EVERY = 20_000;
const ROOM = 128 * 1024 * 1024;
/** Outcomes between two checkpoints, where few steps are between them. */
const EVERY_OUTCOMES = 32;

interface Checkpoint {
    readonly at: Moment;
    /** Continuations as JSON text; empty for the beginning. */
    readonly documents: readonly string[];
    readonly size: number;
    readonly waits: boolean;
    /** The ledger's own, which knows no ends of times that came later. */
    readonly kept: boolean;
    readonly late: readonly string[];
}

export class Timeline {
    readonly info: RunInfo;
    readonly program: Program;
    readonly compiled: Compiled;
    readonly record: RunRecord;
    private readonly options: StartOptions;
    private readonly room: number;
    private readonly scrubber: Scrubber;
    private every: number;
    private checkpoints: Checkpoint[] = [];
    private size = 0;
    /** Outcomes in the ledger when the debugger came. */
    private readonly recorded: number;
    private readonly strike: { readonly until: number | null } | null;
    private state: "slice" | "waiting" | "done" = "slice";
    private told = 0;
    private events = 0;
    /** What the ledger holds and the program did not ask for: it cannot go on from here. */
    private odd: string | null = null;
    /** Effects that nobody waits for any more: an answer that came with others before may be in the record all the same. */
    private late = new Set<string>();
    machine: Machine;

    /** `saved`: the state that the ledger keeps of it. */
    constructor(record: RunRecord, saved: SavedState | null, options: TimelineOptions = {}) {
        this.record = record;
        this.info = record.info;
        this.program = record.program;
        this.compiled = compileProgram(this.program);
        this.options = startOptionsOf(record);
        this.every = Math.max(1, options.every ?? EVERY);
        this.room = options.room ?? ROOM;
        this.scrubber = options.scrubber ?? createScrubber();
        this.recorded = Math.min(this.info.effects, record.outcomes.length);
        this.strike = this.info.failure?.kind === "limit.time" ? strikeOf(record.events) : null;
        this.machine = this.begun();
        this.keep();
        this.keepSaved(saved);
    }

    get moment(): Moment {
        return { outcomes: this.told, steps: this.machine.usage.steps, ended: this.state === "done", events: this.events };
    }

    get waits(): boolean {
        return this.state === "waiting";
    }

    /** Path of what the run asks about itself here; null where it does not. It has no outcome in the ledger: the machine answers. */
    get asking(): string | null {
        return this.state === "waiting" ? this.machine.asking : null;
    }

    /** Path of the effect that is answered next; null where the record has no further answer, or the program is not at it yet. */
    get next(): string | null {
        if (this.asking !== null) return this.asking;
        return this.state === "waiting" && this.told < this.recorded ? (this.record.outcomes[this.told]?.path ?? null) : null;
    }

    /** Why the record does not fit the program; null while it does. */
    get divergence(): string | null {
        return this.odd;
    }

    /** One statement, or one outcome. Null where the record ends. */
    tick(): readonly MachineEvent[] | null {
        return this.forward((until) => this.machine.step(until, true));
    }

    /** Many statements (up to about so many steps), or one outcome: as fast as a run. Null where the record ends. */
    leap(steps = SLICE): readonly MachineEvent[] | null {
        const to = this.machine.usage.steps + steps;
        return this.forward((until) => this.machine.advance(Math.min(to, until), true));
    }

    private forward(go: (until: number) => ReturnType<Machine["advance"]>): readonly MachineEvent[] | null {
        const before = this.moment;
        const events: MachineEvent[] = [];
        if (this.state === "done") return null;
        if (this.state === "waiting") {
            if (!this.answer(events)) return null;
        } else {
            // An instruction that needs more than what is left before the time was up gets nowhere: then the time is up.
            let room = 2;
            do {
                this.compute(events, (until) =>
                    room === 2 ? go(until) : this.machine.advance(Math.min(until, before.steps + room), true),
                );
                room *= 2;
            } while (this.state === "slice" && compareMoments(this.moment, before) === 0);
        }
        this.keep();
        return events;
    }

    /** Tells the next outcome, or the time that was up while everything waited. */
    private answer(events: MachineEvent[]): boolean {
        if (this.asking !== null) {
            this.onward(Number.POSITIVE_INFINITY, events);
            return true;
        }
        const next = this.upcoming();
        if (next === undefined) {
            if (this.strike?.until !== null) return false;
            this.timeUp(events);
            return true;
        }
        if (!this.machine.resolve(next.path, next.outcome)) {
            this.odd = `the ledger has an outcome for ${next.path}, which the program does not ask for here`;
            return false;
        }
        this.told++;
        this.compute(events, () => this.machine.advance(this.machine.usage.steps, true));
        return true;
    }

    /** On in what it computes, no further than so many steps; with the answer to what it asks about itself, no further than that. */
    private onward(steps: number, events: MachineEvent[] = []): void {
        this.compute(events, (until) =>
            this.machine.advance(this.asking === null ? Math.min(until, steps) : this.machine.usage.steps, true),
        );
    }

    /** It computes, or asks what the machine itself answers. */
    private get goes(): boolean {
        return this.state === "slice" || this.asking !== null;
    }

    private upcoming(): RecordedOutcome | undefined {
        return this.told < this.recorded ? this.record.outcomes[this.told] : undefined;
    }

    private compute(events: MachineEvent[], go: (until: number) => ReturnType<Machine["advance"]>): void {
        const until = this.strike?.until ?? Number.POSITIVE_INFINITY;
        const take = (advance: ReturnType<Machine["advance"]>): void => {
            for (const event of advance.events) events.push(event);
            this.events += advance.events.length;
            this.state = advance.state;
            for (const path of advance.withdrawn) this.late.add(path);
        };
        take(go(until));
        // The time of a part of the run was up here. A step beyond it that a call took counts as having come there, however it was come to.
        for (let n = 0; n < 2 && this.state === "slice" && this.machine.inbox.some((told) => struckAt(told) <= this.reached); n++)
            take(this.machine.advance(this.machine.usage.steps, true));
        if (this.state === "slice" && this.reached >= until) this.timeUp(events);
        // Told at the beginning, or to nobody.
        if (this.state === "waiting")
            for (let one = this.upcoming(); one !== undefined && this.passes(one); one = this.upcoming()) this.told++;
    }

    private passes(one: RecordedOutcome): boolean {
        return isStrike(one) || (this.late.has(one.path) && !this.machine.waiting.has(one.path));
    }

    private get reached(): number {
        return Math.max(this.machine.reach, this.machine.usage.steps);
    }

    private timeUp(events: MachineEvent[]): void {
        const { kind, message, hint } = this.info.failure as Failure;
        this.machine.exceed(kind, message, hint);
        const { events: last } = this.machine.advance();
        for (const event of last) events.push(event);
        this.events += last.length;
        this.state = "done";
    }

    /** Goes to a moment that was come by before. */
    seek(to: Moment): void {
        const back = compareMoments(to, this.moment) < 0;
        const best = this.checkpoints.findLast((one) => compareMoments(one.at, to) <= 0) as Checkpoint;
        if (back || compareMoments(best.at, this.moment) > 0) this.restore(best);
        while (this.told < to.outcomes) {
            while (this.goes && this.told < to.outcomes) this.onward(Number.POSITIVE_INFINITY);
            // Some are passed where it waits.
            if (this.told >= to.outcomes) break;
            if (this.state === "done" || !this.answer([])) throw this.lost(to);
        }
        while (
            this.goes &&
            compareMoments(this.moment, to) < 0 &&
            (this.asking !== null || this.machine.usage.steps < to.steps || to.ended)
        ) {
            const { steps } = this.machine.usage;
            const asked = this.asking !== null;
            this.onward(to.ended ? Number.POSITIVE_INFINITY : to.steps);
            if (!asked && !to.ended && this.state === "slice" && this.machine.usage.steps === steps && this.machine.reach >= to.steps)
                throw this.lost(to);
        }
        // The same steps, but behind the end of a part's time.
        for (let room = 1; this.goes && compareMoments(this.moment, to) < 0; room *= 2) {
            const strikes = this.machine.inbox.map(struckAt);
            if (strikes.length === 0) throw this.lost(to);
            const upTo = Math.min(to.steps + room, ...strikes);
            this.onward(upTo);
        }
        if (to.ended && this.state === "waiting") this.answer([]);
        if (compareMoments(this.moment, to) !== 0) throw this.lost(to);
    }

    private lost(to: Moment): Error {
        const at = this.moment;
        return new Error(`no such moment: ${to.outcomes}/${to.steps}${to.ended ? "/end" : ""} (at ${at.outcomes}/${at.steps})`);
    }

    /** The moment before this one; null at the beginning. Stands there afterwards. */
    back(): Moment | null {
        const here = this.moment;
        const best = this.checkpoints.findLast((one) => compareMoments(one.at, here) < 0);
        if (best === undefined) return null;
        this.restore(best);
        let last = this.moment;
        while (this.tick() !== null && compareMoments(this.moment, here) < 0) last = this.moment;
        this.seek(last);
        return last;
    }

    /** Checkpoints before a moment, the latest first. */
    *before(moment: Moment): Generator<Moment> {
        for (let at: Moment = moment; ; ) {
            const best = this.checkpoints.findLast((one) => compareMoments(one.at, at) < 0);
            if (best === undefined) return;
            yield best.at;
            at = best.at;
        }
    }

    get first(): Moment {
        return (this.checkpoints[0] as Checkpoint).at;
    }

    /** The latest checkpoint at which no more than so many events had been; the beginning where there were more from the start. */
    beforeEvent(events: number): Moment {
        return this.checkpoints.findLast((one) => one.at.events <= events)?.at ?? this.first;
    }

    /** Lines that a statement begins on, by file. */
    lines(): ReadonlyMap<string, ReadonlySet<number>> {
        this.known ??= this.linesOf();
        return this.known;
    }
    private known: ReadonlyMap<string, ReadonlySet<number>> | null = null;

    /** Whether a `debugger` stands anywhere in the program. */
    halts(): boolean {
        this.halting ??= this.compiled.functions.some((fn) =>
            fn.frames.bodies.some((body) => body.code.some((one) => one.detail?.kind === "debugger")),
        );
        return this.halting;
    }
    private halting: boolean | null = null;

    private linesOf(): ReadonlyMap<string, ReadonlySet<number>> {
        const found = new Map<string, Set<number>>();
        for (const fn of this.compiled.functions)
            for (const body of fn.frames.bodies)
                for (const { step, site } of body.code) {
                    if (step === 0 || site === null) continue;
                    const lines = found.get(site.file) ?? new Set();
                    found.set(site.file, lines.add(site.line));
                }
        return found;
    }

    // ---- checkpoints ----

    private begun(): Machine {
        const machine = Machine.start(this.compiled, this.options);
        this.machine = machine;
        this.tellStrikes(0);
        this.late = new Set();
        this.told = 0;
        this.events = 0;
        this.odd = null;
        this.compute([], () => machine.advance(0, true));
        return machine;
    }

    /** What came while the machine computed counts where it says (J4). */
    private tellStrikes(after: number): void {
        tellStrikes(this.record.outcomes.slice(after), this.machine);
    }

    private restore(from: Checkpoint): void {
        if (from.documents.length === 0) {
            this.begun();
            return;
        }
        this.machine = Machine.load(
            this.compiled,
            this.options,
            from.documents.map((text) => JSON.parse(text) as Json),
        );
        if (from.kept) this.tellStrikes(from.at.outcomes);
        this.late = new Set(from.late);
        this.told = from.at.outcomes;
        this.events = from.at.events;
        this.odd = null;
        this.state = from.waits ? "waiting" : "slice";
    }

    /** Keeps a checkpoint where there is none for some way back. */
    private keep(): void {
        // What it asks about itself is no place to go on from: whoever loads it waits for an answer.
        if (this.asking !== null || (this.state === "done" && this.checkpoints.length > 0)) return;
        const at = this.moment;
        const last = this.checkpoints.findLast((one) => compareMoments(one.at, at) <= 0);
        if (last === undefined) {
            this.checkpoints.push({ at, documents: [], size: 0, waits: this.waits, kept: false, late: [] });
            return;
        }
        // What is saved costs time too: the larger it is, the farther apart.
        const far = Math.max(this.every, last.size / 8);
        if (at.steps - last.at.steps < far && at.outcomes - last.at.outcomes < Math.max(1, (EVERY_OUTCOMES * far) / EVERY)) return;
        const saved = this.machine.save({ image: true });
        this.add(at, [JSON.stringify("image" in saved ? saved.image : saved.delta)]);
    }

    private add(at: Moment, documents: readonly string[], kept = false): void {
        const size = documents.reduce((sum, text) => sum + text.length, 0);
        const place = this.checkpoints.findIndex((one) => compareMoments(one.at, at) > 0);
        this.checkpoints.splice(place < 0 ? this.checkpoints.length : place, 0, {
            at,
            documents,
            size,
            waits: this.waits,
            kept,
            late: [...this.late],
        });
        this.size += size;
        while (this.size > this.room && this.checkpoints.length > 2) {
            this.every *= 2;
            this.checkpoints = this.checkpoints.filter((_, i) => i % 2 === 0);
            this.size = this.checkpoints.reduce((sum, one) => sum + one.size, 0);
        }
    }

    /** What the ledger itself keeps of a run that is not over: the way to its end is short. */
    private keepSaved(saved: SavedState | null): void {
        const start = this.checkpoints[0] as Checkpoint;
        if (saved === null || saved.outcomes > this.recorded || start.at.ended) return;
        let events = 0;
        for (const event of this.record.events) if (!isHosts(event)) events++;
        try {
            const documents = [saved.image, ...saved.deltas].map((one) => this.scrubber.reveal(one));
            this.machine = Machine.load(this.compiled, this.options, documents);
            this.told = saved.outcomes;
            this.events = events;
            this.state = this.machine.advance(this.machine.usage.steps).state;
            if (this.state === "waiting" && compareMoments(start.at, this.moment) < 0)
                this.add(
                    this.moment,
                    documents.map((one) => JSON.stringify(one)),
                    true,
                );
        } catch (error) {
            // A state that another version wrote, or with a secret that is not known here: the way from the beginning is the same.
            if (!(error instanceof Fail || error instanceof RemitError)) throw error;
        }
        this.restore(start);
    }
}

/** Opens a run's time. Rejects with `LedgerError` `unknown`, `RemitError` where the record cannot be run at all. */
export async function timelineOf(store: LedgerStore, id: string, options?: TimelineOptions): Promise<Timeline> {
    const record = await recordOf(store, id);
    const { info } = record;
    const saved = info.status === "running" && info.live ? null : await store.state(info.id);
    try {
        return new Timeline(record, saved, options);
    } catch (error) {
        if (error instanceof Fail) throw new RemitError(error.toFailure(), id);
        throw error;
    }
}
