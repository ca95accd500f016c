/**
 * The stream form of a ledger: one event a line (NDJSON).
 *
 * Boundary: lines and events; verifying them is `seal.ts`.
 */
import type { Json } from "@remit/language";
import type { LedgerEvent } from "./events.ts";
import { whatIsNew } from "./known.ts";

export function* toNdjson(events: Iterable<LedgerEvent>): Generator<string> {
    for (const event of events) yield `${JSON.stringify(event)}\n`;
}

export type Line =
    | { readonly ok: true; readonly event: LedgerEvent }
    | { readonly ok: false; readonly line: number; readonly message: string };

/** Reads lines; a line that is not an event is reported with its number and does not stop the others. Blank lines are passed over. */
export function* fromNdjson(lines: Iterable<string>): Generator<Line> {
    let line = 0;
    for (const text of lines) {
        line++;
        if (text.trim() === "") continue;
        yield readLine(text, line);
    }
}

function readLine(text: string, line: number): Line {
    let read: Json;
    try {
        read = JSON.parse(text) as Json;
    } catch (problem) {
        if (!(problem instanceof SyntaxError)) throw problem;
        return { ok: false, line, message: `line ${line} is not JSON` };
    }
    const missing = wrongField(read);
    return missing === null
        ? { ok: true, event: read as unknown as LedgerEvent }
        : { ok: false, line, message: `line ${line} is not an event: ${missing}` };
}

const TEXTS = ["time", "run", "path", "principal", "prev", "hash"] as const;

function wrongField(read: Json): string | null {
    if (read === null || typeof read !== "object" || Array.isArray(read)) return "it is no object";
    for (const key of TEXTS) if (typeof read[key] !== "string") return `'${key}' is missing`;
    if (typeof read.seq !== "number") return "'seq' is missing";
    if (!Array.isArray(read.labels)) return "'labels' is missing";
    return whatIsNew.event(read);
}
