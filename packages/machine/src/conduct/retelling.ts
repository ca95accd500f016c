/**
 * Telling a machine again what came in before: outcomes, ends of time, the ways in which a failed run went on, in the order of the record.
 *
 * Boundary: pure, over a record; performs nothing. Whether what comes out is what came out before is the caller's question. It drives the replay, the
 * debugger, the fork of a run and a state of another build.
 *
 * RT1: outcomes are told in the order in which they were told before, which is recorded input.
 * RT3: where the run's time ended it is recorded input too (D6): the same slice, or waiting with the same steps for as many effects. (An outcome that
 *     ends a fiber may take no step.)
 * RT4: where a part of the run ran out of time while the machine computed is in that outcome (D7), so it is told before the computing begins.
 * RT6: outcomes that were told in the same moment as the one that ended the run, or a part of it, were not looked at; the ledger has them all
 *     the same.
 * RT7: where a failed run went on, and how, is in its `run.resumed` event.
 * RT8: where the record ends while the run computes (it was stopped, or its process is gone), nothing beyond its last step is computed.
 * RT9: what went through the gate of the build that made the record goes through again (DS3), up to the end of the record and no further.
 */
import { isObject, type Json } from "@remit/language";
import type { Failure } from "../effect/effect.ts";
import type { MachineEvent } from "../ledger/events.ts";
import { NONE_PASSED } from "../state/descriptions.ts";
import { isUnasked } from "../state/verdicts.ts";
import type { Advance } from "../run/machine.ts";
import { struckAt } from "../state/spending.ts";
import type { GoOn } from "../run/stops.ts";
import type { Answered, Conducted } from "./messages.ts";

/** `until`: steps, where it computed; else it waited for `open` effects after `steps`, which older records do not say. */
interface Strike {
    readonly until: number | null;
    readonly steps: number | null;
    readonly open: number;
    readonly failure: Failure;
}

/** A run up to its end, or up to a failure after which it went on. */
export interface ToldPart {
    /** Where the time of the run was up; null: it was not. */
    readonly strike: Strike | null;
    readonly goneOn: { readonly by: string; readonly how: GoOn } | null;
}

/** What came in, in order. */
export interface Told {
    readonly outcomes: readonly Answered[];
    readonly parts: readonly ToldPart[];
    /** Steps at which the record ends, where the run has not ended; infinite or absent where it has. */
    readonly upTo?: number;
    /** Paths of events, and what they lie below: where something happened (RT9). */
    readonly places?: ReadonlySet<string>;
}

/** How far the telling is. */
export interface ToldPlace {
    readonly outcomes: number;
    readonly part: number;
    /** Effects that were withdrawn: the record may have their answers all the same. */
    readonly late: readonly string[];
    /** Ends of times that come after (RT4) and that the machine was not told; absent: it was told none. */
    readonly untold?: readonly Answered[];
}

export class Retelling {
    readonly machine: Conducted;
    /** Effects that the machine waits for, in the order in which it asked. */
    readonly open = new Set<string>();
    state: Advance["state"] = "slice";
    /** The path of an outcome that the machine did not ask for: it goes another way than the one that the record is of. */
    odd: string | null = null;
    /** RT8: the record ends here, in the middle of what the run computes. */
    isCut = false;
    private readonly told: Told;
    private readonly late: Set<string>;
    /** Outcomes that were looked at, and how often the run went on. */
    outcomes: number;
    part: number;
    private untold: readonly Answered[];

    /** `from`: the place at which the machine stands, where it was loaded. */
    constructor(machine: Conducted, told: Told, from: ToldPlace = { outcomes: 0, part: 0, late: [] }) {
        this.machine = machine;
        this.told = told;
        this.outcomes = from.outcomes;
        this.part = from.part;
        this.late = new Set(from.late);
        for (const { path } of machine.pending) this.open.add(path);
        const paths = new Set(told.outcomes.map(({ path }) => path));
        machine.passed = (use, describe) => told.places?.has(use) === true && !paths.has(describe);
        this.untold = from.untold ?? told.outcomes.slice(from.outcomes).filter(isStrike);
        if (from.untold === undefined) this.tellStrikes();
    }

    /** RT4. A time that is up again, at the path where it was up before, is told once the run went on. */
    private tellStrikes(): void {
        this.untold = this.untold.filter(({ path, outcome }) => !this.machine.resolve(path, outcome));
    }

    get place(): ToldPlace {
        return { outcomes: this.outcomes, part: this.part, late: [...this.late], untold: this.untold };
    }

    /** The outcome that is told next; undefined where the record has no more. */
    get upcoming(): Answered | undefined {
        this.pass();
        return this.told.outcomes[this.outcomes];
    }

    /** The next slice, or what came in next and the first slice after it. Null where the record ends, and where it does not fit (`odd`). */
    next(advance: (until: number) => Advance = (until) => this.machine.advance(until)): Advance | null {
        const next = this.nextOf(advance);
        if (next === null) this.end();
        return next;
    }

    /** RT9. The machine goes on by itself. */
    end(): void {
        this.machine.passed = NONE_PASSED;
    }

    private nextOf(advance: (until: number) => Advance): Advance | null {
        if (this.state === "slice") return this.isCut ? null : this.compute(advance);
        if (this.state === "done") return this.goOn() ? this.compute(advance) : null;
        const { strike } = this;
        const one = this.upcoming;
        if (strike?.until === null && (one === undefined || this.isUp(strike))) return this.timeUp(strike.failure);
        if (one === undefined || !this.take(one)) return null;
        this.machine.resolve(one.path, one.outcome);
        return this.compute(advance);
    }

    private get strike(): ToldPart["strike"] {
        return this.told.parts[this.part]?.strike ?? null;
    }

    /**
     * The next slice, also where the machine answers what it asks about itself. `advance`: goes no further than the steps at which the run's time was
     * up; the end of the run comes with the slice that reaches them.
     */
    compute(advance: (until: number) => Advance): Advance {
        const { strike } = this;
        const { upTo = Number.POSITIVE_INFINITY } = this.told;
        const until = strike?.until ?? Number.POSITIVE_INFINITY;
        const took = this.took(advance(Math.min(until, upTo)));
        this.isCut = this.state === "slice" && this.part === this.told.parts.length - 1 && this.reach >= upTo;
        if (strike === null || this.state !== "slice" || this.reach < until) return took;
        const last = this.timeUp(strike.failure);
        return { ...last, events: [...took.events, ...last.events] };
    }

    private get reach(): number {
        return Math.max(this.machine.reach, this.machine.usage.steps);
    }

    /** Where the record ends in the middle of what the run computes: what came by then waits for the end of that. */
    tellRest(): void {
        for (let one = this.upcoming; this.isCut && one !== undefined && this.take(one); one = this.upcoming)
            this.machine.resolve(one.path, one.outcome);
    }

    private isUp({ steps, open }: Strike): boolean {
        return steps !== null && this.machine.usage.steps >= steps && this.machine.pending.length <= open;
    }

    private timeUp({ kind, message, hint }: Failure): Advance {
        this.machine.exceed(kind, message, hint);
        return this.took(this.machine.advance());
    }

    private took(advance: Advance): Advance {
        this.state = advance.state;
        // RT6: what still waited at the end stays, so that its outcome is known.
        if (this.state !== "done") for (const path of advance.withdrawn) if (this.open.delete(path)) this.late.add(path);
        for (const { path } of advance.effects) this.open.add(path);
        return advance;
    }

    /** RT7. What is left of the record was not looked at where the run does not go on (RT6). */
    private goOn(): boolean {
        const { goneOn } = this.told.parts[this.part] ?? { goneOn: null };
        if (goneOn !== null && this.machine.canGoOn === true) {
            this.part++;
            this.machine.goOn?.(goneOn.how, goneOn.by);
            this.tellStrikes();
            // They are not asked for, and their outcomes come next.
            for (const path of goneOn.how.answer ?? []) this.open.add(path);
            this.state = "slice";
            return true;
        }
        for (let one = this.upcoming; one !== undefined && this.take(one); ) one = this.upcoming;
        return false;
    }

    /** Looks at the outcome that comes next; false where the machine did not ask for it. */
    private take(one: Answered): boolean {
        if (this.open.delete(one.path) || isUnasked(one)) {
            this.outcomes++;
            return true;
        }
        this.odd = one.path;
        return false;
    }

    /** Passes what was told at the beginning (RT4) and what was withdrawn before it was told. */
    private pass(): void {
        for (;;) {
            const one = this.told.outcomes[this.outcomes];
            if (one === undefined) return;
            if (isStrike(one)) this.open.delete(one.path);
            else if (this.open.has(one.path) || !this.late.delete(one.path)) return;
            this.outcomes++;
        }
    }
}

/** Where something happened, as a run's events tell. */
export function toldPlaces(events: Iterable<MachineEvent>): Set<string> {
    const places = new Set<string>();
    for (const { path } of events)
        for (let place = path; place !== "" && !places.has(place); place = place.slice(0, Math.max(0, place.lastIndexOf("/"))))
            places.add(place);
    return places;
}

/** What a run's events tell of its ends of time, and of how it went on. */
export function toldParts(events: Iterable<MachineEvent>, end?: Failure): ToldPart[] {
    const parts: ToldPart[] = [];
    let strike: ToldPart["strike"] = null;
    let next: ToldPart["strike"] = null;
    for (const { kind, data } of events) {
        if (!isObject(data)) continue;
        if (kind === "budget" && data.host === true && data.limit === "limit.time") next = struck(data, end);
        // What the host notes stands before what the program tells in the same commit: it is about the part that ends next.
        if (kind === "failure") [strike, next] = [next, null];
        if (kind !== "run.resumed") continue;
        const { by, ...how } = data as unknown as { readonly by: string } & GoOn;
        parts.push({ strike, goneOn: { by, how } });
        strike = null;
    }
    return [...parts, { strike, goneOn: null }];
}

function struck(data: { readonly [key: string]: Json }, end?: Failure): Strike {
    const { until, steps, open, message, hint } = data;
    const failure: Failure = {
        kind: "limit.time",
        message: typeof message === "string" ? message : (end?.message ?? ""),
        site: null,
        ...(typeof hint === "string" ? { hint } : end?.hint === undefined ? {} : { hint: end.hint }),
    };
    return {
        until: typeof until === "number" ? until : null,
        steps: typeof steps === "number" ? steps : null,
        open: typeof open === "number" ? open : Number.POSITIVE_INFINITY,
        failure,
    };
}

/** Whether it is the end of a time that came while the machine computed. */
export function isStrike(told: Answered): boolean {
    return struckAt(told) !== Number.POSITIVE_INFINITY;
}
