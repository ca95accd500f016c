/**
 * What the next commit holds, and the batch that is made of it.
 *
 * Boundary: values. When a commit is made and what waits for it is the conductor's.
 */
import type { Effect, Failure } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";
import type { MachineEvent } from "../ledger/events.ts";
import type { Answered, Batch, ConductEnd, Decision, PendingEffect, RunEnd } from "./messages.ts";

/** What the next commit holds. */
export interface Draft {
    outcomes: Answered[];
    /** Events that no state follows. */
    notes: MachineEvent[];
    events: MachineEvent[];
    fresh: Effect[];
    /** Begun without a performer. */
    timed: string[];
    /** Not performed, though the ledger has them as begun. */
    unbegun: string[];
    dropped: string[];
    usage: Usage;
    /** Decided now, carried out once it is kept. */
    after: Decision[];
}

export function emptyDraft(): Draft {
    return { outcomes: [], notes: [], events: [], fresh: [], timed: [], unbegun: [], dropped: [], usage: {}, after: [] };
}

function endOf(end: ConductEnd): { readonly end?: RunEnd } {
    if (end.status === "drained" || end.status === "broken") return {};
    return { end: end.status === "waiting" ? { status: "waiting" } : end };
}

/** What of a draft is kept now. `begin`, `fresh`: what begins with it, and what was asked for. */
export interface Kept {
    readonly events: readonly MachineEvent[];
    readonly pending: readonly PendingEffect[];
    readonly begin: readonly string[];
    readonly dropped: readonly string[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** One after the other; mostly one of them is empty, and nothing is copied. */
export function joined<T>(first: readonly T[], second: readonly T[]): readonly T[] {
    return first.length === 0 ? second : second.length === 0 ? first : [...first, ...second];
}

/** D5: in the middle of a slice (not `whole`) only what no state follows is kept. */
export function keptOf(draft: Draft, whole: boolean, { begin, fresh }: Admitted): Kept {
    const { notes, events, dropped } = draft;
    const unbegun = draft.unbegun.map((path) => ({ path, begun: false }));
    if (!whole) return { events: notes, pending: unbegun, begin, dropped: [] };
    const timed = draft.timed.map((path) => ({ path, begun: true }));
    return { events: joined(notes, events), pending: joined(joined(unbegun, fresh), timed), begin, dropped };
}

/** What begins with the next commit, and all that was asked for. */
export interface Admitted {
    readonly begin: string[];
    readonly fresh: PendingEffect[];
}

export function isEmpty(draft: Draft, kept: Kept): boolean {
    const { outcomes, after } = draft;
    const { events, pending, begin, dropped } = kept;
    return outcomes.length + after.length + events.length + pending.length + begin.length + dropped.length === 0;
}

/** What stays for the commit behind the next one. */
export function restOf({ events, fresh, timed, dropped }: Draft, whole: boolean): Draft {
    return whole ? emptyDraft() : { ...emptyDraft(), events, fresh, timed, dropped };
}

export function batchOf(draft: Draft, kept: Kept, more: Pick<Batch, "state" | "steps" | "spent">, end: ConductEnd | null): Batch {
    const { outcomes, usage } = draft;
    const { events, pending, begin, dropped } = kept;
    const batch: Writable<Batch> = {};
    // What is empty is left out.
    if (outcomes.length > 0) batch.outcomes = outcomes;
    if (events.length > 0) batch.events = events;
    if (pending.length > 0) batch.pending = pending;
    if (begin.length > 0) batch.begin = begin;
    if (dropped.length > 0) batch.dropped = dropped;
    Object.assign(batch, more);
    batch.usage = usage;
    return end === null ? batch : Object.assign(batch, endOf(end));
}

/** Where the run's time was up: at the end of a slice of computing, or (`until` null) while every fiber waited. */
export function struck(
    until: number | null,
    at: { readonly steps: number; readonly open: number },
    { kind, message, hint }: Failure,
): MachineEvent {
    const data = { limit: kind, until, ...at, message, ...(hint === undefined ? {} : { hint }), host: true };
    return { path: "main", parent: null, kind: "budget", principal: "user", site: null, labels: [], data };
}
