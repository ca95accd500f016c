/**
 * Ledger events: the closed set of kinds and what each one's `data` holds.
 *
 * Boundary: shapes only. The machine says what happened (`MachineEvent`); a host's store adds `seq`, `time`, `prev`, `hash`.
 *
 * EV1: an event's `path`, `kind` and `data` follow from the program and its effect results alone (times are in `time` and in `timing`).
 */
import type { SealedEvent } from "./seal.ts";

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
    "plan.started",
    "plan.ended",
    "plan.node.started",
    "plan.node.ended",
    "lent.registered",
    "lent.withdrawn",
    "session.opened",
    "session.closed",
    "turn.submitted",
    "turn.started",
    "turn.cancelled",
    "turn.text",
    "turn.ended",
    "budget",
    "failure",
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** What the machine reports. `data` is plain JSON without capabilities and without secrets. */
export type MachineEvent = Omit<LedgerEvent, "seq" | "time" | "run" | "prev" | "hash">;

/** A stored event. */
export type LedgerEvent = Omit<SealedEvent, "salt" | "removed">;
