/**
 * How people know the lent tools that a model was offered: the name that the model has for one is made of its client's and its own.
 *
 * Boundary: from events; the record keeps the names that were used.
 */
import { LENT, shownUse } from "@remit/language";
import type { LedgerEvent } from "./events.ts";
import { field, listIn, objectIn, textIn } from "./read.ts";

/** By the names that models have for them. */
export function offeredIn(events: readonly LedgerEvent[]): Map<string, string> {
    const offered = new Map<string, string>();
    for (const event of events) learnOffered(event, offered);
    return offered;
}

export function learnOffered(event: LedgerEvent, offered: Map<string, string>): void {
    if (event.kind !== "generate.started") return;
    for (const { name, tool, method, uri } of listIn(field(event, "tools")).map(objectIn))
        if (uri === LENT) offered.set(textIn(name) ?? "", shownUse(`${textIn(tool)}.${textIn(method)}`, LENT));
}
