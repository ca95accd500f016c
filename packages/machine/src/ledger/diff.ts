/**
 * Projection **diff**: two runs compared by path, without time, sequence, run and hashes.
 *
 * Boundary: pure. Texts of prompts are compared line by line.
 *
 * DI1: equal runs give no findings, whatever the order in which concurrent effects came back.
 * DI2: an event is compared with the event of the same path and kind (the nth with the nth).
 */
import { isObject, type Json } from "@remit/language";
import { canonicalJson, comparable, comparePaths } from "./canonical.ts";
import type { EventKind, LedgerEvent, MachineEvent } from "./events.ts";
import { diffLines, type LineChange } from "./lines.ts";
import { shortened } from "../value/text.ts";
import { plainText } from "./read.ts";
import type { Paint } from "./trace.ts";

export interface Finding {
    readonly change: "added" | "removed" | "changed";
    readonly path: string;
    readonly kind: EventKind;
    /** What differs inside a changed event: JSON pointers into it, absent sides left out. */
    readonly fields: readonly FieldChange[];
}

export interface FieldChange {
    readonly at: string;
    readonly before?: Json;
    readonly after?: Json;
    /** For texts of several lines: the lines with what became of each. */
    readonly lines?: readonly LineChange[];
}

export function diffRuns(before: Iterable<LedgerEvent>, after: Iterable<LedgerEvent>): Finding[] {
    const [left, right] = [keyed(before), keyed(after)];
    const keys = [...new Set([...left.keys(), ...right.keys()])];
    const findings: Finding[] = [];
    for (const key of keys) {
        const [a, b] = [left.get(key), right.get(key)];
        const one = (a ?? b) as MachineEvent;
        if (a === undefined || b === undefined)
            findings.push({ change: a === undefined ? "added" : "removed", path: one.path, kind: one.kind, fields: [] });
        else {
            const fields: FieldChange[] = [];
            compare(comparable(a) as unknown as Json, comparable(b) as unknown as Json, "", fields);
            if (fields.length > 0) findings.push({ change: "changed", path: one.path, kind: one.kind, fields });
        }
    }
    return findings.sort((a, b) => comparePaths(a.path, b.path));
}

function keyed(events: Iterable<LedgerEvent>): Map<string, MachineEvent> {
    const out = new Map<string, MachineEvent>();
    const counts = new Map<string, number>();
    for (const event of events) {
        const place = `${event.path} ${event.kind}`;
        const nth = counts.get(place) ?? 0;
        counts.set(place, nth + 1);
        out.set(`${place} ${nth}`, event);
    }
    return out;
}

function compare(a: Json | undefined, b: Json | undefined, at: string, out: FieldChange[]): void {
    if (a === b) return;
    if (a === undefined || b === undefined) {
        out.push({ at, ...(a === undefined ? {} : { before: a }), ...(b === undefined ? {} : { after: b }) });
        return;
    }
    if (isObject(a) && isObject(b)) {
        for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
            compare(own(a, key), own(b, key), `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, out);
        return;
    }
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
        for (const [index, item] of a.entries()) compare(item, b[index] as Json, `${at}/${index}`, out);
        return;
    }
    if (canonicalJson(a) === canonicalJson(b)) return;
    const texts = typeof a === "string" && typeof b === "string" && (a.includes("\n") || b.includes("\n"));
    out.push({ at, before: a, after: b, ...(texts ? { lines: diffLines(a, b) } : {}) });
}

function own(object: { [key: string]: Json }, key: string): Json | undefined {
    return Object.hasOwn(object, key) ? object[key] : undefined;
}

// ---- text --------------------------------------------------------------------------------------------------------------

const SIGNS = { added: "+", removed: "-", changed: "~" } as const;
const COLOURS = { added: "green", removed: "red", changed: "yellow" } as const;
const SHOWN = 200;

export function diffText(findings: readonly Finding[], options: { readonly paint?: Paint } = {}): string {
    const paint: Paint = options.paint ?? ((_, text) => text);
    const out: string[] = [];
    for (const finding of findings) {
        out.push(paint(COLOURS[finding.change], `${SIGNS[finding.change]} ${plainText(finding.path)} ${finding.kind}`));
        for (const change of finding.fields) {
            if (change.lines !== undefined) {
                out.push(`    ${plainText(change.at)}`);
                for (const { mark, text } of change.lines)
                    out.push(
                        `      ${paint(mark === "+" ? "green" : mark === "-" ? "red" : "dim", `${mark} ${plainText(text)}`.trimEnd())}`,
                    );
                continue;
            }
            const [before, after] = [change.before, change.after].map((side) =>
                side === undefined ? "(absent)" : shortened(plainText(JSON.stringify(side)), SHOWN),
            );
            out.push(`    ${plainText(change.at)}: ${paint("red", before as string)} → ${paint("green", after as string)}`);
        }
    }
    return out.join("\n");
}
