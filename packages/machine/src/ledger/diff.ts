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

/** ` ` kept, `-` gone, `+` new; `…` stands for kept lines left out. */
export interface LineChange {
    readonly mark: " " | "-" | "+" | "…";
    readonly text: string;
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

// ---- lines -------------------------------------------------------------------------------------------------------------

/** Kept lines shown on each side of a change. */
const AROUND = 2;
/** Edits the search goes up to; beyond it the middle is shown as replaced whole. */
const MAX_EDITS = 1000;

export function diffLines(before: string, after: string): LineChange[] {
    const [a, b] = [before.split("\n"), after.split("\n")];
    let head = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head++;
    let tail = 0;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
    const middle = shortestEdit(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
    const kept = (text: string): LineChange => ({ mark: " ", text });
    return shorten([...a.slice(0, head).map(kept), ...middle, ...a.slice(a.length - tail).map(kept)]);
}

/** E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1, 1986: greedy forward search with a trace back. */
function shortestEdit(a: readonly string[], b: readonly string[]): LineChange[] {
    const most = Math.min(a.length + b.length, MAX_EDITS);
    const traces: Map<number, number>[] = [];
    let reach = new Map<number, number>([[1, 0]]);
    for (let edits = 0; edits <= most; edits++) {
        const next = new Map(reach);
        for (let k = -edits; k <= edits; k += 2) {
            const [below, above] = [reach.get(k + 1) ?? -1, reach.get(k - 1) ?? -1];
            let x = k === -edits || (k !== edits && above < below) ? below : above + 1;
            while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
            next.set(k, x);
            if (x >= a.length && x - k >= b.length) return backtrack(a, b, [...traces, reach], edits);
        }
        traces.push(reach);
        reach = next;
    }
    return [...a.map((text): LineChange => ({ mark: "-", text })), ...b.map((text): LineChange => ({ mark: "+", text }))];
}

function backtrack(a: readonly string[], b: readonly string[], traces: readonly Map<number, number>[], edits: number): LineChange[] {
    const out: LineChange[] = [];
    let [x, y] = [a.length, b.length];
    for (let d = edits; d >= 0; d--) {
        const reach = traces[d] as Map<number, number>;
        const k = x - y;
        const [below, above] = [reach.get(k + 1) ?? -1, reach.get(k - 1) ?? -1];
        const down = k === -d || (k !== d && above < below);
        const fromX = d === 0 ? 0 : down ? below : above;
        const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
        while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
            out.push({ mark: " ", text: a[--x] as string });
            y--;
        }
        if (d === 0) break;
        if (down) out.push({ mark: "+", text: b[--y] as string });
        else out.push({ mark: "-", text: a[--x] as string });
    }
    return out.reverse();
}

/** Long runs of kept lines become one `…`. */
function shorten(lines: readonly LineChange[]): LineChange[] {
    const near = new Set<number>();
    lines.forEach((line, at) => {
        if (line.mark !== " ") for (let other = at - AROUND; other <= at + AROUND; other++) near.add(other);
    });
    const out: LineChange[] = [];
    lines.forEach((line, at) => {
        if (near.has(at)) out.push(line);
        else if (out.at(-1)?.mark !== "…") out.push({ mark: "…", text: "" });
    });
    return out;
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
