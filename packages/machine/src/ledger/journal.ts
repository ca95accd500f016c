/**
 * Projection **journal**: path → outcome, for replaying a run from its events alone.
 *
 * Boundary: pure. A host that resumes reads its own table of outcomes; this is for ledgers that come as a stream of events.
 *
 * J1: every effect with an outcome has one event that holds all of it: `tool.ended memory.ended input.given ask.decided effect.ended
 *     model.ended` and, for a provider turn, `generate.attempt`. A redacted one is not in the journal.
 */
import type { Json } from "@remit/language";
import type { Failure, Outcome, Usage } from "../effect/effect.ts";
import type { EventKind, LedgerEvent } from "./events.ts";
import { field, type JsonObject, objectIn, textIn } from "./read.ts";

const ENDS: ReadonlySet<EventKind> = new Set<EventKind>([
    "tool.ended",
    "memory.ended",
    "input.given",
    "ask.decided",
    "effect.ended",
    "model.ended",
]);

export function journalOf(events: Iterable<LedgerEvent>): Map<string, Outcome> {
    const journal = new Map<string, Outcome>();
    for (const event of events) {
        const outcome = event.kind === "generate.attempt" ? turnOutcome(event) : ENDS.has(event.kind) ? endOutcome(event) : null;
        if (outcome !== null && !journal.has(event.path)) journal.set(event.path, outcome);
    }
    return journal;
}

function endOutcome(event: LedgerEvent): Outcome | null {
    const data = objectIn(event.data);
    const failed = failureOf(data);
    const usage = usageOf(data);
    if (data.ok === false) return failed === null ? null : { ok: false, failure: failed, ...usage };
    const key = ["result", "value"].find((name) => Object.hasOwn(data, name));
    return key === undefined ? null : { ok: true, value: data[key] as Json, origins: event.labels, ...usage };
}

/** The reply of a provider turn, from the fields of its event. */
function turnOutcome(event: LedgerEvent): Outcome | null {
    const data = objectIn(event.data);
    const failed = failureOf(data);
    const usage = usageOf(data);
    if (failed !== null) return { ok: false, failure: failed, ...usage };
    const reply = field(event, "reply");
    const origins = objectIn(data).reply_origins;
    if (reply === undefined || reply === null) return null;
    return {
        ok: true,
        value: reply,
        origins: Array.isArray(origins) ? origins.filter((one): one is string => typeof one === "string") : [],
        ...usage,
    };
}

function failureOf(data: JsonObject): Failure | null {
    const failure = objectIn(data.failure);
    if (textIn(failure.kind) !== undefined && textIn(failure.message) !== undefined) return failure as unknown as Failure;
    const [kind, message] = [textIn(data.kind), textIn(data.error)];
    return data.ok === false && kind !== undefined && message !== undefined ? ({ kind, message } as Failure) : null;
}

function usageOf(data: JsonObject): { usage?: Usage } {
    const usage = objectIn(data.usage);
    return Object.keys(usage).length === 0 ? {} : { usage: usage as Usage };
}
