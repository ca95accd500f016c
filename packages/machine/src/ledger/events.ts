/**
 * Ledger events: the closed set of kinds and what each one's `data` holds.
 *
 * Boundary: shapes only. The machine says what happened (`MachineEvent`); a host's store adds `seq`, `time`, `prev`, `hash`.
 *
 * EV1: an event's `path`, `kind` and `data` follow from the program and its effect results alone (times are in `time` and in `timing`).
 */
import type { Json, Site } from "@remit/language";

export const EVENT_KINDS = [
    "run.started",
    "run.ended",
    "run.resumed",
    "use",
    "generate.started",
    "generate.attempt",
    "generate.ended",
    "tool.started",
    "tool.ended",
    "agent.started",
    "agent.ended",
    "agent.asked",
    "agent.noted",
    "agent.answered",
    "program.changed",
    "for",
    "parallel.started",
    "parallel.ended",
    "yield.opened",
    "yield.turn",
    "yield.payload",
    "yield.closed",
    "ask.requested",
    "ask.decided",
    "ask.withdrawn",
    "delegate.granted",
    "delegate.lifted",
    "policy.denied",
    "policy.endorsed",
    "memory.started",
    "memory.ended",
    "input.requested",
    "input.given",
    "model.started",
    "model.ended",
    "effect.started",
    "effect.ended",
    "plan.node.started",
    "plan.node.ended",
    "lent.registered",
    "lent.withdrawn",
    "session.opened",
    "session.closed",
    "turn.submitted",
    "turn.started",
    "turn.text",
    "turn.ended",
    "budget",
    "failure",
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** What the machine reports. `data` is plain JSON without capabilities and without secrets. */
export interface MachineEvent {
    readonly path: string;
    /** Path of the enclosing thing (agent call, iteration, generate), null at the top. */
    readonly parent: string | null;
    readonly kind: EventKind;
    readonly principal: string;
    readonly site: Site | null;
    /** Sorted origins. */
    readonly labels: readonly string[];
    readonly data: Json;
}

/** A stored event. `time` in ISO 8601 UTC with milliseconds. Hashes are lower-case hex SHA-256. */
export interface LedgerEvent extends MachineEvent {
    readonly seq: number;
    readonly time: string;
    readonly run: string;
    readonly prev: string;
    readonly hash: string;
}
