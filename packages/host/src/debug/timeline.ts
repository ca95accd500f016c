/**
 * A run's time, to move in: the machine computes again from the outcomes of the ledger, forwards; going back is loading a checkpoint and
 * computing up to where it was.
 *
 * Boundary: over a record of the ledger; holds no host, so that no effect can be performed. What is told when is the conductor's
 * (`Retelling`). What a step means to a person is `session.ts`.
 *
 * TI1: a place in time is a `Moment`; the same moment is the same state, however it was come to (MCP4, MCP5).
 * TI2: a moment is a place where a fiber stands before a statement, or where all of them wait, or the end: between two that follow each other
 *     (`tick`) one statement ran, or one outcome was told. What the run asks about itself (`inspect:`) is such a place, too: where it is asked
 *     the run looks as it did when it was answered.
 * TI3: outcomes are told in the order of the ledger, and the run's time ends where it ended (RT1, RT3).
 * TI4: checkpoints are text: nothing that goes on changes them. Their number and size are bounded; where they are changes no answer.
 */
import type { Json, Program } from "@remit/language";
import {
    type Advance,
    type Compiled,
    compileProgram,
    Fail,
    Machine,
    type MachineEvent,
    nextFiber,
    Retelling,
    type StartOptions,
    struckAt,
    type Told,
    type ToldPlace,
} from "@remit/machine";
import { type LedgerStore, recordOf, type RunInfo, type RunRecord, type SavedState } from "../ledger/store.ts";
import { RemitError } from "../failure/error.ts";
import { SLICE, startOptionsOf } from "../run/machine.ts";
import { isHosts } from "../run/replay.ts";
import { toldBy } from "../run/retell.ts";
import { createScrubber, type Scrubber } from "../secret/scrub.ts";

export interface Moment {
    /** Outcomes that the machine was told. */
    readonly outcomes: number;
    /** How often the run went on after a failure. */
    readonly part: number;
    readonly steps: number;
    readonly ended: boolean;
    /** Events of the machine so far, those of the host not counted. */
    readonly events: number;
}

export function compareMoments(a: Moment, b: Moment): number {
    return a.outcomes - b.outcomes || a.part - b.part || a.steps - b.steps || Number(a.ended) - Number(b.ended) || a.events - b.events;
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
    readonly place: ToldPlace;
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
    /** What came in until the debugger came. */
    private readonly came: Told;
    private retelling: Retelling;
    private events = 0;
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
        this.came = toldBy({ ...record, outcomes: record.outcomes.slice(0, this.info.effects) });
        this.machine = Machine.start(this.compiled, this.options);
        this.retelling = new Retelling(this.machine, this.came);
        this.begin();
        this.keep();
        this.keepSaved(saved);
    }

    get moment(): Moment {
        const { outcomes, part } = this.retelling;
        return { outcomes, part, steps: this.machine.usage.steps, ended: this.retelling.state === "done", events: this.events };
    }

    get waits(): boolean {
        return this.retelling.state === "waiting";
    }

    /** Path of what the run asks about itself here; null where it does not. It has no outcome in the ledger: the machine answers. */
    get asking(): string | null {
        return this.waits ? this.machine.asking : null;
    }

    /** Path of the effect that is answered next; null where the record has no further answer, or the program is not at it yet. */
    get next(): string | null {
        if (this.asking !== null) return this.asking;
        return this.waits ? (this.retelling.upcoming?.path ?? null) : null;
    }

    /** Why the record does not fit the program; null while it does. */
    get divergence(): string | null {
        const { odd } = this.retelling;
        return odd === null ? null : `the ledger has an outcome for ${odd}, which the program does not ask for here`;
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

    private forward(go: (until: number) => Advance): readonly MachineEvent[] | null {
        const before = this.moment;
        const events: MachineEvent[] = [];
        if (this.retelling.state !== "slice") {
            if (!this.answer(events)) return null;
        } else if (this.retelling.isCut) return null;
        else {
            // An instruction that needs more than what is left before the time was up gets nowhere: then the time is up.
            let room = 2;
            do {
                this.compute(events, (until) =>
                    room === 2 ? go(until) : this.machine.advance(Math.min(until, before.steps + room), true),
                );
                room *= 2;
            } while (this.retelling.state === "slice" && !this.retelling.isCut && compareMoments(this.moment, before) === 0);
        }
        this.keep();
        return events;
    }

    /** Tells what came in next, and computes nothing that follows from it yet. False where the record ends. */
    private answer(events: MachineEvent[]): boolean {
        if (this.asking !== null) {
            this.compute(events, this.still);
            return true;
        }
        const advance = this.retelling.next(this.still);
        if (advance === null) return false;
        this.took(advance, events);
        return true;
    }

    private readonly still = (): Advance => this.machine.advance(this.machine.usage.steps, true);

    /** On in what it computes, no further than so many steps; with the answer to what it asks about itself, no further than that. */
    private onward(steps: number, events: MachineEvent[] = []): void {
        this.compute(events, (until) => (this.asking === null ? this.machine.advance(Math.min(until, steps), true) : this.still()));
    }

    /** It computes, or asks what the machine itself answers. */
    private get goes(): boolean {
        return (this.retelling.state === "slice" && !this.retelling.isCut) || this.asking !== null;
    }

    private compute(events: MachineEvent[], go: (until: number) => Advance): void {
        this.took(this.retelling.compute(go), events);
    }

    private took(advance: Advance, events: MachineEvent[]): void {
        const take = (one: Advance): void => {
            for (const event of one.events) events.push(event);
            this.events += one.events.length;
        };
        take(advance);
        // The time of a part of the run was up here. A step beyond it that a call took counts as having come there, however it was come to.
        for (let n = 0; n < 2 && this.retelling.state === "slice" && this.machine.inbox.some((told) => struckAt(told) <= this.reached); n++)
            take(this.retelling.compute(this.still));
        // A fiber whose turn it is stands behind what it waited for: at the statement that takes a step.
        while (this.retelling.state === "slice" && !this.retelling.isCut && this.isInside()) take(this.retelling.compute(this.still));
        // What was told at the beginning, or to no effect, is passed here.
        if (this.waits) void this.retelling.upcoming;
    }

    /** The fiber that goes on next; undefined where all wait. */
    get running(): ReturnType<typeof nextFiber> {
        return nextFiber(this.machine);
    }

    private isInside(): boolean {
        const frame = this.running?.frames.at(-1);
        return frame?.form.code[frame.pc]?.step === 0;
    }

    private get reached(): number {
        return Math.max(this.machine.reach, this.machine.usage.steps);
    }

    /** Goes to a moment that was come by before. */
    seek(to: Moment): void {
        const back = compareMoments(to, this.moment) < 0;
        const best = this.checkpoints.findLast((one) => compareMoments(one.at, to) <= 0) as Checkpoint;
        if (back || compareMoments(best.at, this.moment) > 0) this.restore(best);
        const isBefore = (): boolean => {
            const { outcomes, part } = this.retelling;
            return outcomes < to.outcomes || (outcomes === to.outcomes && part < to.part);
        };
        while (isBefore()) {
            while (this.goes && isBefore()) this.onward(Number.POSITIVE_INFINITY);
            // Some are passed where it waits.
            if (isBefore() && !this.answer([])) throw this.lost(to);
        }
        while (
            this.goes &&
            compareMoments(this.moment, to) < 0 &&
            (this.asking !== null || this.machine.usage.steps < to.steps || to.ended)
        ) {
            const { steps } = this.machine.usage;
            const asked = this.asking !== null;
            this.onward(to.ended ? Number.POSITIVE_INFINITY : to.steps);
            if (
                !asked &&
                !to.ended &&
                this.retelling.state === "slice" &&
                this.machine.usage.steps === steps &&
                this.machine.reach >= to.steps
            )
                throw this.lost(to);
        }
        // The same steps, but behind the end of a part's time.
        for (let room = 1; this.goes && compareMoments(this.moment, to) < 0; room *= 2) {
            const strikes = this.machine.inbox.map(struckAt);
            if (strikes.length === 0) throw this.lost(to);
            const upTo = Math.min(to.steps + room, ...strikes);
            this.onward(upTo);
        }
        if (to.ended && this.waits) this.answer([]);
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

    private begin(): void {
        this.events = 0;
        this.compute([], () => this.machine.advance(0, true));
    }

    private restore(from: Checkpoint): void {
        const documents = from.documents.map((text) => JSON.parse(text) as Json);
        const { compiled, options } = this;
        this.machine = documents.length === 0 ? Machine.start(compiled, options) : Machine.load(compiled, options, documents);
        this.retelling = new Retelling(this.machine, this.came, documents.length === 0 ? undefined : from.place);
        if (documents.length === 0) {
            this.begin();
            return;
        }
        this.events = from.at.events;
        this.retelling.state = from.waits ? "waiting" : "slice";
    }

    /** Keeps a checkpoint where there is none for some way back. */
    private keep(): void {
        // What it asks about itself is no place to go on from: a run that is loaded there waits for an answer.
        if (this.asking !== null || (this.retelling.state === "done" && this.checkpoints.length > 0)) return;
        const at = this.moment;
        const last = this.checkpoints.findLast((one) => compareMoments(one.at, at) <= 0);
        if (last === undefined) {
            this.checkpoints.push({ at, documents: [], size: 0, waits: this.waits, place: this.retelling.place });
            return;
        }
        // What is saved costs time too: the larger it is, the farther apart.
        const far = Math.max(this.every, last.size / 8);
        if (at.steps - last.at.steps < far && at.outcomes - last.at.outcomes < Math.max(1, (EVERY_OUTCOMES * far) / EVERY)) return;
        const saved = this.machine.save({ image: true });
        this.add(at, [JSON.stringify("image" in saved ? saved.image : saved.delta)]);
    }

    private add(at: Moment, documents: readonly string[], told = this.retelling.place): void {
        const size = documents.reduce((sum, text) => sum + text.length, 0);
        const place = this.checkpoints.findIndex((one) => compareMoments(one.at, at) > 0);
        this.checkpoints.splice(place < 0 ? this.checkpoints.length : place, 0, {
            at,
            documents,
            size,
            waits: this.waits,
            place: told,
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
        if (saved === null || saved.outcomes > this.came.outcomes.length || start.at.ended) return;
        let events = 0;
        for (const event of this.record.events) if (!isHosts(event)) events++;
        try {
            const documents = [saved.image, ...saved.deltas].map((one) => this.scrubber.reveal(one));
            this.machine = Machine.load(this.compiled, this.options, documents);
            // The ledger's own state knows no ends of times that came later.
            const place = { outcomes: saved.outcomes, part: this.came.parts.length - 1, late: [] };
            this.retelling = new Retelling(this.machine, this.came, { ...place, untold: [] });
            this.events = events;
            this.compute([], () => this.machine.advance(this.machine.usage.steps));
            if (this.waits && compareMoments(start.at, this.moment) < 0)
                this.add(
                    this.moment,
                    documents.map((one) => JSON.stringify(one)),
                    place,
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
