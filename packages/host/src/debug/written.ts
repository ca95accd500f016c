/**
 * Sources that agents wrote while a run went on, from its ledger: they are in no file.
 *
 * Boundary: reads `yield.payload` events. Where a run stands in one is the session's.
 *
 * WR1: every answer is a source of its own, also where several have one name.
 */
import { isObject, parse, source } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { below } from "./breakpoint.ts";

export interface WrittenSource {
    /** Number of the event that holds it. */
    readonly seq: number;
    /** As sites name it. */
    readonly file: string;
    /** Path of the turn: what runs of it is below. */
    readonly path: string;
    readonly text: string;
    /** Lines that a statement begins on, ascending. */
    readonly lines: readonly number[];
}

export function writtenIn(events: Iterable<LedgerEvent>): WrittenSource[] {
    const found: WrittenSource[] = [];
    for (const { seq, kind, path, data } of events) {
        if (kind !== "yield.payload" || !isObject(data) || data.ok !== true || typeof data.text !== "string") continue;
        found.push({ seq, file: `${String(data.agent)}'s answer`, path, text: data.text, lines: linesOf(data.text) });
    }
    return found;
}

/** The one that a frame with this path and file runs; undefined where it runs the program's own. */
export function writtenAt(all: readonly WrittenSource[], path: string, file: string): WrittenSource | undefined {
    return all.filter((one) => one.file === file && below(path, one.path)).sort((a, b) => b.path.length - a.path.length)[0];
}

/** Of what is no source there are none: a program form has no lines. */
function linesOf(text: string): number[] {
    const src = source(text);
    const lines = new Set<number>();
    const walk = (node: unknown): void => {
        if (node === null || typeof node !== "object") return;
        if (Array.isArray(node)) {
            node.forEach(walk);
            return;
        }
        for (const [key, value] of Object.entries(node)) {
            if (key === "statements" && Array.isArray(value))
                for (const one of value as readonly { readonly range: { readonly start: number } }[])
                    lines.add(lineOf(text, one.range.start));
            if (key !== "range") walk(value);
        }
    };
    walk(parse(src).items);
    return [...lines].sort((a, b) => a - b);
}

function lineOf(text: string, offset: number): number {
    let line = 1;
    for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
    return line;
}
