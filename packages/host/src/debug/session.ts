/**
 * A debugging session: going through a run that was recorded, forwards and backwards, and looking at what it held.
 *
 * Boundary: what a step, a breakpoint and a place to go to mean. Time itself is `timeline.ts`; how it is shown is the caller's.
 *
 * SEO1: nothing is performed and nothing is written: the session has a ledger to read and nothing else.
 * SEO2: a movement is a generator that yields now and then: its driver may stop it, and the run stands where it came to (a movement
 *     backwards that is stopped: where it began).
 * SEO3: what the session shows at a moment follows from the moment alone.
 */
import type { Site } from "@remit/language";
import type { AuthorityView, FrameView, Inspection, LedgerEvent, Looked, MachineEvent, Place, ThreadView } from "@remit/machine";
import type { LedgerStore, RunInfo } from "../ledger/store.ts";
import { RemitError } from "../failure/error.ts";
import { isHosts } from "../run/replay.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type Breakpoint, below, matchesEvent, sameFile } from "./breakpoint.ts";
import { inspectedBy } from "./inspected.ts";
import { type WrittenSource, writtenAt, writtenIn } from "./written.ts";
import { compareMoments, type Moment, type Timeline, type TimelineOptions, timelineOf } from "./timeline.ts";

export type StopReason =
    /** A step was made. */
    | "step"
    | "breakpoint"
    /** Went where it was told to. */
    | "goto"
    /** Back at the first statement. */
    | "start"
    /** The run ended. */
    | "end"
    /** The record ends while effects have no outcome. */
    | "waiting"
    /** The record ends while the run computes: it was stopped, or its process is gone. */
    | "cut"
    /** The record does not fit the program. */
    | "diverged"
    | "pause";

export interface Stop {
    readonly reason: StopReason;
    readonly moment: Moment;
    /** What it stopped for. */
    readonly breakpoint?: Breakpoint;
    readonly message?: string;
}

export type Movement = Generator<void, Stop>;

export type Target =
    | { readonly kind: "start" | "end" | "failure" }
    /** Before the statement that made event `seq` of the ledger. */
    | { readonly kind: "event"; readonly seq: number }
    | { readonly kind: "path"; readonly path: string }
    | { readonly kind: "step"; readonly step: number };

/** Where a session stands. */
export interface Standing {
    readonly moment: Moment;
    /** The thread whose statement is next; the one that waits for the next outcome where all wait. */
    readonly thread: number;
    readonly frame: FrameView | null;
    readonly site: Site | null;
    readonly state: "running" | "waiting" | "open" | "done" | "failed";
}

export type DebugOptions = TimelineOptions;

export class DebugSession {
    readonly info: RunInfo;
    readonly timeline: Timeline;
    /** Takes out of what is shown what is known to be a secret now. */
    private readonly scrubber: Scrubber | null;
    private points: readonly Breakpoint[] = [];
    private seen: { readonly moment: Moment; readonly inspection: Inspection } | null = null;

    /** Use `debugRun`. */
    constructor(timeline: Timeline, scrubber: Scrubber | null = null) {
        this.scrubber = scrubber;
        this.timeline = timeline;
        this.info = timeline.info;
    }

    get moment(): Moment {
        return this.timeline.moment;
    }

    get breakpoints(): readonly Breakpoint[] {
        return this.points;
    }

    set breakpoints(points: readonly Breakpoint[]) {
        this.points = [...points];
    }

    // ---- looking ----

    inspect(): Inspection {
        const { moment } = this;
        if (this.seen === null || compareMoments(this.seen.moment, moment) !== 0)
            this.seen = { moment, inspection: inspectedBy(this.timeline.machine, this.scrubber) };
        return this.seen.inspection;
    }

    look(place: Place, from = 0, count = 0): Looked | null {
        return this.timeline.machine.look(place, from, count, this.scrubber?.beginning);
    }

    authority(thread: number, frame: number): AuthorityView | null {
        return this.timeline.machine.authorityAt(thread, frame);
    }

    /** What the statement or outcome that is next tells; nothing changes by it. */
    ahead(): readonly MachineEvent[] {
        const here = this.moment;
        const events = this.timeline.tick() ?? [];
        this.timeline.seek(here);
        return events;
    }

    where(): Standing {
        const { machine, moment } = this.timeline;
        const thread = this.thread();
        const frame = this.inspect().threads.find((one) => one.id === thread)?.stackFrames[0] ?? null;
        const { result } = machine;
        const open = this.timeline.waits && this.timeline.next === null;
        const state = result === null ? (open ? "open" : this.timeline.waits ? "waiting" : "running") : result.ok ? "done" : "failed";
        const site = result !== null && !result.ok ? (result.failure.site ?? null) : (frame?.site ?? null);
        return { moment, thread, frame, site, state };
    }

    threads(): readonly ThreadView[] {
        return this.inspect().threads;
    }

    /** Events of the ledger up to here, the last `count`; those of the host where they stand. */
    events(count: number): LedgerEvent[] {
        const last: LedgerEvent[] = [];
        let of = 0;
        for (const event of this.timeline.record.events) {
            if (!isHosts(event) && ++of > this.moment.events) break;
            last.push(event);
            if (last.length > count) last.shift();
        }
        return last;
    }

    /** Sources that agents wrote in this run. */
    get written(): readonly WrittenSource[] {
        this.sources ??= writtenIn(this.timeline.record.events);
        return this.sources;
    }
    private sources: readonly WrittenSource[] | null = null;

    /** The source that an agent wrote and a frame runs; undefined where it runs the program's own. */
    writtenAt(path: string, file: string): WrittenSource | undefined {
        return this.timeline.program.files.some((one) => one.file === file) ? undefined : writtenAt(this.written, path, file);
    }

    /** Lines on which a breakpoint can stand, by file. */
    lines(): ReadonlyMap<string, ReadonlySet<number>> {
        return this.timeline.lines();
    }

    /** The line at or after one that a breakpoint can stand on, in the program's file of that name; null where there is none. */
    settle(file: string, line: number): { readonly file: string; readonly line: number } | null {
        for (const [name, lines] of this.lines()) {
            if (!sameFile(file, name)) continue;
            const after = [...lines].filter((one) => one >= line);
            if (after.length > 0) return { file: name, line: Math.min(...after) };
        }
        return null;
    }

    private thread(): number {
        const { machine, running, next, asking } = this.timeline;
        const ready = asking === null ? running : undefined;
        if (ready !== undefined) return ready.id;
        const waiting = next === null ? machine.waiting.values().next().value : machine.waiting.get(next);
        return waiting?.fiber.id ?? 0;
    }

    // ---- forwards ----

    /** One statement, into calls and other threads; one outcome where all wait. */
    // biome-ignore lint/correctness/useYield: a movement like the others
    *stepIn(): Movement {
        return this.timeline.tick() === null ? this.ended() : this.stopped("step");
    }

    /** To the next statement of this function, or of what is around it. */
    next(): Movement {
        return this.until(this.beside(0));
    }

    stepOut(): Movement {
        return this.until(this.beside(1));
    }

    /** To a breakpoint, or to the end. */
    continue(): Movement {
        return this.until(null);
    }

    /** Whether the run, standing before a statement, has come to where a step over (`up` 0) or out (1) from here leads. */
    private beside(up: 0 | 1): () => boolean {
        const { machine } = this.timeline;
        const chain: { readonly id: number; readonly depth: number }[] = [];
        for (let fiber = machine.fibers.get(this.thread()) ?? null; fiber !== null; fiber = fiber.parent)
            chain.push({ id: fiber.id, depth: chain.length === 0 ? fiber.frames.length - up : Number.POSITIVE_INFINITY });
        return () => {
            const { machine: now, running: at } = this.timeline;
            if (at === undefined || this.timeline.asking !== null) return false;
            const nearest = chain.find((one) => one.depth > 0 && now.fibers.has(one.id));
            return nearest !== undefined && at.id === nearest.id && at.frames.length <= nearest.depth;
        };
    }

    private *until(there: (() => boolean) | null): Movement {
        const from = this.moment;
        // Where only events are waited for, the run goes on as fast as it ran, and the place of one that was passed is looked for then.
        if (there === null && this.onlyEvents()) {
            const stop = yield* this.quickly(from);
            if (stop !== null) return stop;
        }
        for (let n = 1; ; n++) {
            const before = this.moment;
            const events = this.timeline.tick();
            if (events === null) return this.ended();
            const hit = compareMoments(before, from) > 0 ? this.hitBy(events) : null;
            if (hit !== null) {
                this.timeline.seek(before);
                return this.stopped("breakpoint", hit);
            }
            const at = this.hitAt();
            if (at !== null) return this.stopped("breakpoint", at);
            if (this.moment.ended) return this.ended();
            if (there?.() === true) return this.stopped("step");
            if (n % OFTEN === 0) yield;
        }
    }

    private onlyEvents(): boolean {
        return !this.timeline.halts() && !this.points.some((one) => one.kind === "line" || one.kind === "path");
    }

    /** Null where meanwhile a breakpoint was set that every statement has to be looked at for. */
    private *quickly(from: Moment): Generator<void, Stop | null> {
        while (this.onlyEvents()) {
            const before = this.moment;
            const events = this.timeline.leap();
            if (events === null) return this.ended();
            const after = this.moment;
            if (this.hitBy(events) !== null) {
                this.timeline.seek(before);
                for (let n = 1; compareMoments(this.moment, after) < 0; n++) {
                    const here = this.moment;
                    const hit = this.hitBy(this.timeline.tick() ?? []);
                    if (hit !== null && compareMoments(here, from) > 0) {
                        this.timeline.seek(here);
                        return this.stopped("breakpoint", hit);
                    }
                    if (n % OFTEN === 0) yield;
                }
            }
            if (after.ended) return this.ended();
            yield;
        }
        return null;
    }

    private hitBy(events: readonly MachineEvent[]): Breakpoint | null {
        for (const event of events) for (const one of this.points) if (matchesEvent(one, event)) return one;
        return null;
    }

    /** A breakpoint at the statement that is next. */
    private hitAt(): Breakpoint | null {
        const fiber = this.timeline.running;
        if (fiber === undefined || this.timeline.asking !== null) return null;
        const frame = fiber.top;
        const at = frame.form.code[frame.pc];
        const site = at?.site ?? null;
        if (at?.detail?.kind === "debugger") return { kind: "debugger" };
        for (const one of this.points) {
            if (
                one.kind === "line" &&
                site?.line === one.line &&
                sameFile(one.file, site.file) &&
                (one.within === undefined || below(frame.path, one.within))
            )
                return one;
            if (one.kind === "path" && frame.pc === 0 && frame.path === one.path) return one;
        }
        return null;
    }

    // ---- backwards ----

    /** The moment before: undoes a step. */
    // biome-ignore lint/correctness/useYield: a movement like the others
    *back(): Movement {
        return this.stopped(this.timeline.back() === null ? "start" : "step");
    }

    /** To the statement before in this function, or in what is around it. */
    backOver(): Movement {
        return this.backwards(this.beside(0), false);
    }

    /** To the breakpoint before, or to the beginning. */
    reverseContinue(): Movement {
        return this.backwards(null, true);
    }

    /** To the last moment before this one that is `there`, or has a breakpoint. */
    private *backwards(there: (() => boolean) | null, points: boolean): Movement {
        const from = this.moment;
        let over = false;
        try {
            let limit = from;
            for (const start of this.timeline.before(from)) {
                this.timeline.seek(start);
                let found: { readonly moment: Moment; readonly hit: Breakpoint | null } | null = null;
                for (let n = 1; ; n++) {
                    const here = this.moment;
                    const at = points ? this.hitAt() : null;
                    if (at !== null || there?.() === true) found = { moment: here, hit: at };
                    const events = this.timeline.tick();
                    const hit = points && events !== null ? this.hitBy(events) : null;
                    if (hit !== null) found = { moment: here, hit };
                    if (events === null || compareMoments(this.moment, limit) >= 0) break;
                    if (n % OFTEN === 0) yield;
                }
                if (found !== null) {
                    this.timeline.seek(found.moment);
                    over = true;
                    return this.stopped(found.hit === null ? "step" : "breakpoint", found.hit ?? undefined);
                }
                limit = start;
                yield;
            }
            this.timeline.seek(this.timeline.first);
            over = true;
            return this.stopped("start");
        } finally {
            if (!over) this.timeline.seek(from);
        }
    }

    // ---- places ----

    /** Throws `RemitError` `value` where there is no such place; then the session stays where it is. */
    *goTo(target: Target): Movement {
        switch (target.kind) {
            case "start":
                this.timeline.seek(this.timeline.first);
                return this.stopped("start");
            case "end":
                while (this.timeline.leap() !== null) yield;
                return this.ended();
            case "step":
                return yield* this.toStep(target.step);
            case "failure": {
                const event = this.find((one) => one.kind === "failure");
                if (event === null) throw noPlace("this run did not fail", "`events` lists what happened");
                return yield* this.toEvent(event.before);
            }
            case "event": {
                const event = this.find((one) => one.seq === target.seq);
                if (event === null) throw noPlace(`there is no event ${target.seq}`, `the run has ${this.info.events} events`);
                return yield* this.toEvent(event.before);
            }
            case "path":
                return yield* this.toPath(target.path);
        }
    }

    /** An event of the ledger, with the number of the machine's events before it. */
    private find(wanted: (event: LedgerEvent) => boolean): { readonly before: number } | null {
        let before = 0;
        for (const event of this.timeline.record.events) {
            if (wanted(event)) return { before };
            if (!isHosts(event)) before++;
        }
        return null;
    }

    /** Before the statement, or the outcome, with which there are more than so many events. */
    private *toEvent(count: number): Movement {
        const { timeline } = this;
        const origin = this.moment;
        const start = timeline.beforeEvent(count);
        if (origin.events > count || compareMoments(start, origin) > 0) timeline.seek(start);
        if (this.moment.events > count) return this.stopped("goto");
        for (;;) {
            const before = this.moment;
            if (timeline.leap() === null) {
                timeline.seek(origin);
                throw noPlace("the program does not come there: the record does not fit it", "`remit replay` says where they part");
            }
            if (this.moment.events > count) {
                timeline.seek(before);
                break;
            }
            yield;
        }
        for (let n = 1; ; n++) {
            const here = this.moment;
            timeline.tick();
            if (this.moment.events > count) {
                timeline.seek(here);
                return this.stopped("goto");
            }
            if (n % OFTEN === 0) yield;
        }
    }

    private *toPath(path: string): Movement {
        const { timeline } = this;
        const event = this.find((one) => !isHosts(one) && one.path === path) ?? this.find((one) => !isHosts(one) && below(one.path, path));
        if (event !== null) return yield* this.toEvent(event.before);
        // A function that leaves no event.
        const origin = this.moment;
        timeline.seek(timeline.first);
        for (let n = 1; ; n++) {
            const top = timeline.running?.frames.at(-1);
            if (top?.path === path) return this.stopped("goto");
            if (timeline.tick() === null) break;
            if (n % OFTEN === 0) yield;
        }
        timeline.seek(origin);
        throw noPlace(`nothing in this run has the path ${path}`, "paths are in `events` and in `where`");
    }

    /** The first moment with at least so many steps. */
    private *toStep(step: number): Movement {
        const { timeline } = this;
        if (this.moment.steps >= step) {
            const start = [...timeline.before(this.moment)].find((one) => one.steps < step) ?? timeline.first;
            timeline.seek(start);
        }
        while (this.moment.steps < step) {
            const far = step - this.moment.steps;
            // Near it statement by statement, so that it is never passed.
            if ((far > OFTEN ? timeline.leap(far - OFTEN) : timeline.tick()) === null) return this.ended();
            if (far > OFTEN) yield;
        }
        return this.stopped("goto");
    }

    private stopped(reason: StopReason, breakpoint?: Breakpoint): Stop {
        return { reason, moment: this.moment, ...(breakpoint === undefined ? {} : { breakpoint }) };
    }

    private ended(): Stop {
        const { divergence } = this.timeline;
        if (divergence !== null) return { reason: "diverged", moment: this.moment, message: divergence };
        return this.stopped(this.moment.ended ? "end" : this.timeline.waits ? "waiting" : "cut");
    }
}

/** Statements between two moments at which a movement can be stopped. */
const OFTEN = 2000;

function noPlace(message: string, hint: string): RemitError {
    return new RemitError({ kind: "value", message, hint });
}

/** Moves to the end of the movement. */
export function moved(movement: Movement): Stop {
    for (;;) {
        const { done, value } = movement.next();
        if (done === true) return value;
    }
}

/** The same, with looks at the outside in between. Null where it was stopped. */
export async function movedUnless(movement: Movement, stopped: () => boolean): Promise<Stop | null> {
    for (;;) {
        const { done, value } = movement.next();
        if (done === true) return value;
        await new Promise((resolve) => setImmediate(resolve));
        if (!stopped()) continue;
        movement.return({ reason: "pause", moment: { outcomes: 0, part: 0, steps: 0, ended: false, events: 0 } });
        return null;
    }
}

/** Opens a run, standing at its beginning. Rejects with `LedgerError` `unknown`, `RemitError` where the record cannot be run at all. */
export async function debugRun(store: LedgerStore, id: string, options: DebugOptions = {}): Promise<DebugSession> {
    return new DebugSession(await timelineOf(store, id, options), options.scrubber ?? null);
}
