/**
 * What agents told of their own work, as events: one for each entry, in the place of the notes and the reply that hold them.
 *
 * Boundary: pure; for projections that show an agent's own calls beside what the run did. Of an answered turn the reply is believed, of one that broke
 * off what was noted while it ran.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentNote } from "../effect/effect.ts";
import type { LedgerEvent } from "./events.ts";
import { entriesOf } from "./notes.ts";
import { field, listIn, objectIn } from "./read.ts";

/** The same events, with an `agent.noted` for each entry (its `data`) and no other of that kind. */
export function withEntries(events: readonly LedgerEvent[]): LedgerEvent[] {
    const noted = new Map<string, AgentNote[]>();
    const replied = new Set<string>();
    for (const event of events) {
        if (event.kind === "agent.noted") {
            const list = noted.get(event.path);
            const notes = listIn(field(event, "notes")) as unknown as AgentNote[];
            if (list === undefined) noted.set(event.path, [...notes]);
            else list.push(...notes);
        } else if (event.kind === "agent.answered" && entriesIn(event).length > 0) replied.add(event.path);
    }
    if (noted.size === 0 && replied.size === 0) return [...events];
    return events.flatMap((event) => {
        if (event.kind === "agent.answered") return [...entriesIn(event).map((entry) => asEvent(event, entry)), event];
        if (event.kind !== "agent.noted") return [event];
        const notes = replied.has(event.path) ? [] : (noted.get(event.path) ?? []);
        noted.delete(event.path);
        return entriesOf(notes).map((entry) => asEvent(event, entry));
    });
}

function entriesIn(event: LedgerEvent): AgentEntry[] {
    return listIn(objectIn(field(event, "reply")).entries) as unknown as AgentEntry[];
}

function asEvent(of: LedgerEvent, entry: AgentEntry): LedgerEvent {
    return { ...of, kind: "agent.noted", data: entry as unknown as Json };
}
