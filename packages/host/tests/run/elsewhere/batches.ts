/** The batches of a run that begins many effects at once: as its conductor numbers them, in whichever process it is. */
import type { Batch, Effect, Outcome } from "@remit/machine";
import { event, pathOf } from "../../ledger/stores.ts";

const all = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Number 1. */
export const begins = (effects: number): Batch => ({
    events: all(effects).map((n) => ({ ...event(n, { n, key: "sesame-open-17" }), kind: "tool.started" })),
    pending: all(effects).map((n) => ({ path: pathOf(n), begun: true })),
});
/** Number `n + 1`. */
export const holds = (n: number, outcome: Outcome): Batch => ({ outcomes: [{ path: pathOf(n), outcome }], events: [event(n)] });
/** The last one. */
export const ends = (effects: number): Batch => ({ end: { status: "done", value: effects } });
export const effectOf = (n: number): Effect => ({
    path: pathOf(n),
    kind: "tool",
    principal: "user",
    site: null,
    request: { op: "call", tool: "T", uri: "x:t", file: "a.remit", method: "m", args: [n] },
    labels: [],
});
