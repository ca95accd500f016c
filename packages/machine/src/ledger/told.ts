/**
 * What agents told of their own work, as events: one for each entry, in the place of the notes and the reply that hold them.
 *
 * Boundary: pure; for projections that show an agent's own calls beside what the run did. Of an answered turn the reply is believed, of one that broke
 * off what was noted while it ran: also where it was told again, after a question that parked the run or a crash, and answered then.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentNote } from "../effect/effect.ts";
import type { LedgerEvent } from "./events.ts";
import { entriesOf } from "./notes.ts";
import { field, listIn, objectIn } from "./read.ts";

/** The notes of a turn between two beginnings. */
interface Try {
    readonly first: LedgerEvent;
    readonly notes: AgentNote[];
}

/**
 * The same events, with an `agent.noted` for each entry (its `data`) and no other of that kind. A turn that was told again has the entries of each
 * time, those of a later one with `nth` (from 1), after an entry of the kind `again`.
 */
export function withEntries(events: readonly LedgerEvent[]): LedgerEvent[] {
    const tries = new Map<string, Try[]>();
    const replied = new Set<string>();
    for (const event of events) {
        if (event.kind === "agent.noted") {
            const of = tries.get(event.path) ?? [];
            const last = of.at(-1);
            if (last !== undefined && !beginsTurn(event)) last.notes.push(...notesIn(event));
            else tries.set(event.path, [...of, { first: event, notes: [...notesIn(event)] }]);
        } else if (event.kind === "agent.answered" && entriesIn(event).length > 0) replied.add(event.path);
    }
    if (tries.size === 0 && replied.size === 0) return [...events];
    return events.flatMap((event) => {
        const of = tries.get(event.path) ?? [];
        if (event.kind === "agent.answered")
            return [...entriesIn(event).map((entry) => asEvent(event, entry, Math.max(of.length - 1, 0))), event];
        if (event.kind !== "agent.noted") return [event];
        const nth = of.findIndex(({ first }) => first === event);
        if (nth < 0) return [];
        const isReplied = nth === of.length - 1 && replied.has(event.path);
        const entries = isReplied ? [] : entriesOf(of[nth]?.notes ?? []);
        return [...(nth === 0 ? [] : [asEvent(event, { kind: "again" }, nth)]), ...entries.map((entry) => asEvent(event, entry, nth))];
    });
}

export function notesIn(event: LedgerEvent): readonly AgentNote[] {
    return listIn(field(event, "notes")) as unknown as readonly AgentNote[];
}

/** Each time a turn is told, what is noted first is what the agent is. */
export function beginsTurn(event: LedgerEvent): boolean {
    return notesIn(event).some((note) => objectIn(note as unknown as Json).about !== undefined);
}

function entriesIn(event: LedgerEvent): AgentEntry[] {
    return listIn(objectIn(field(event, "reply")).entries) as unknown as AgentEntry[];
}

function asEvent(of: LedgerEvent, entry: AgentEntry | { readonly kind: "again" }, nth: number): LedgerEvent {
    return { ...of, kind: "agent.noted", data: { ...(entry as unknown as { [key: string]: Json }), ...(nth === 0 ? {} : { nth }) } };
}
