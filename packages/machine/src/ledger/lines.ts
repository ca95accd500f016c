/**
 * What differs between two texts, line by line.
 *
 * Boundary: two texts in, lines out. The same texts give the same lines everywhere: the work is bounded by a count, not by a clock.
 *
 * LNC1: no pair of texts takes more than a few tens of milliseconds. Where it would, the texts are not compared line by line, and a line marked `…` says so.
 */

/** ` ` kept, `-` gone, `+` new; `…` stands for kept lines left out, or says in words what is not shown. */
export interface LineChange {
    readonly mark: " " | "-" | "+" | "…";
    readonly text: string;
}

/** Kept lines shown on each side of a change. */
const AROUND = 2;
/** Edits the search goes up to, and steps that it takes; beyond them the middle is shown as replaced whole. */
const MAX_EDITS = 1000;
const MAX_STEPS = 1_500_000;
/** Of what differs, both texts together: UTF-16 units and lines that are compared, and lines that are shown as they are where they cannot be. */
const MAX_UNITS = 2 * 1024 * 1024;
const MAX_COMPARED = 50_000;
const MAX_SHOWN = 10_000;

/** Units that are compared at once. */
const BLOCK = 4096;

export function diffLines(before: string, after: string): LineChange[] {
    if (before === after) return [note("")];
    const { head, tail } = ends(before, after);
    const kept = (lines: readonly string[]): LineChange[] => lines.map((text) => ({ mark: " ", text }));
    // One line more than is shown: it stands for all that are left out.
    const [first, last] = [kept(lastLines(before, head)), kept(tail === null ? [] : firstLines(before, before.length - tail))];
    const [a, b] = [middle(before, head, tail), middle(after, head, tail)];
    return shorten([...first, ...changed(a, b), ...last]);
}

/** Lengths of the whole lines that both begin with, and of those that both end with; null: they end with no common line. */
function ends(a: string, b: string): { readonly head: number; readonly tail: number | null } {
    const most = Math.min(a.length, b.length);
    let head = 0;
    while (head + BLOCK <= most && a.slice(head, head + BLOCK) === b.slice(head, head + BLOCK)) head += BLOCK;
    while (head < most && a.charCodeAt(head) === b.charCodeAt(head)) head++;
    head = head === 0 ? 0 : a.lastIndexOf("\n", head - 1) + 1;
    let tail = 0;
    const block = (text: string): string => text.slice(text.length - tail - BLOCK, text.length - tail);
    while (tail + BLOCK <= most - head && block(a) === block(b)) tail += BLOCK;
    while (tail < most - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++;
    const begins = (text: string): boolean => tail === text.length || text[text.length - 1 - tail] === "\n";
    if (begins(a) && begins(b)) return { head, tail };
    const end = a.indexOf("\n", a.length - tail);
    return { head, tail: end < 0 ? null : a.length - end - 1 };
}

/** What stands between them: lines without the last one's end; null where there is nothing. */
function middle(text: string, head: number, tail: number | null): string | null {
    if (tail === null) return text.slice(head);
    return head === text.length - tail ? null : text.slice(head, text.length - tail - 1);
}

function lastLines(text: string, end: number): string[] {
    if (end === 0) return [];
    let from = end - 1;
    for (let lines = 0; lines <= AROUND && from >= 0; lines++) from = from === 0 ? -1 : text.lastIndexOf("\n", from - 1);
    return text.slice(from + 1, end - 1).split("\n");
}

function firstLines(text: string, begin: number): string[] {
    let end = begin - 1;
    for (let lines = 0; lines <= AROUND; lines++) {
        end = text.indexOf("\n", end + 1);
        if (end < 0) return text.slice(begin).split("\n");
    }
    return text.slice(begin, end).split("\n");
}

function changed(before: string | null, after: string | null): LineChange[] {
    if ((before?.length ?? 0) + (after?.length ?? 0) > MAX_UNITS) return [note(`not compared: more than ${MAX_UNITS} characters differ`)];
    if (lineEnds(before) + lineEnds(after) > MAX_COMPARED) return [note(`not compared: more than ${MAX_COMPARED} lines differ`)];
    const [a, b] = [before?.split("\n") ?? [], after?.split("\n") ?? []];
    const edits = shortestEdit(...numbered(a, b));
    if (edits !== null) return edits.map(({ mark, line }) => ({ mark, text: (mark === "+" ? b[line] : a[line]) as string }));
    if (a.length + b.length > MAX_SHOWN) return [note(`too unlike to be compared: ${a.length} lines gone, ${b.length} new`)];
    const whole =
        (mark: "-" | "+") =>
        (text: string): LineChange => ({ mark, text });
    return [note("too unlike to be compared line by line: the old lines, then the new"), ...a.map(whole("-")), ...b.map(whole("+"))];
}

/** How many lines end in a text; no more than one over `MAX_COMPARED` are counted. */
function lineEnds(text: string | null): number {
    let count = 0;
    for (let at = text?.indexOf("\n") ?? -1; at >= 0 && count <= MAX_COMPARED; at = (text as string).indexOf("\n", at + 1)) count++;
    return count;
}

const note = (text: string): LineChange => ({ mark: "…", text });

/** A number for each text, so that long lines are compared once. */
function numbered(...texts: readonly [readonly string[], readonly string[]]): [Int32Array, Int32Array] {
    const numbers = new Map<string, number>();
    const [a, b] = texts.map((lines) =>
        Int32Array.from(lines, (line) => {
            const known = numbers.get(line) ?? numbers.size;
            numbers.set(line, known);
            return known;
        }),
    );
    return [a as Int32Array, b as Int32Array];
}

interface At {
    readonly mark: " " | "-" | "+";
    /** Index in the new text for `+`, else in the old one. */
    readonly line: number;
}

/**
 * E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1, 1986: greedy forward search with a trace back. Null: it takes more than
 * `MAX_EDITS` or `MAX_STEPS`.
 */
function shortestEdit(a: Int32Array, b: Int32Array): At[] | null {
    const most = Math.min(a.length + b.length, MAX_EDITS);
    const middle = most + 1;
    /** After so many edits: by diagonal, `middle` for 0, how far it reached in `a`; -1: not at all. */
    const traces: Int32Array[] = [];
    let reach = new Int32Array(2 * middle + 1).fill(-1);
    reach[middle + 1] = 0;
    let steps = 0;
    for (let edits = 0; edits <= most; edits++) {
        const next = reach.slice();
        for (let k = -edits; k <= edits; k += 2) {
            const [above, below] = [reach[middle + k + 1] as number, reach[middle + k - 1] as number];
            let x = isNew(k, edits, above, below) ? above : below + 1;
            const from = x;
            while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
            next[middle + k] = x;
            steps += 1 + x - from;
            if (x >= a.length && x - k >= b.length) return traced(a, b, [...traces, reach], edits);
        }
        if (steps > MAX_STEPS) return null;
        traces.push(reach);
        reach = next;
    }
    return null;
}

/** A diagonal is come to from the one above it by a line that is new, else from the one below by one that is gone. */
function isNew(k: number, edits: number, above: number, below: number): boolean {
    return k === -edits || (k !== edits && below < above);
}

function traced(a: Int32Array, b: Int32Array, traces: readonly Int32Array[], edits: number): At[] {
    const middle = ((traces[0] as Int32Array).length - 1) / 2;
    const out: At[] = [];
    let [x, y] = [a.length, b.length];
    for (let d = edits; d >= 0; d--) {
        const k = x - y;
        const reach = traces[d] as Int32Array;
        const [above, below] = [reach[middle + k + 1] as number, reach[middle + k - 1] as number];
        const added = isNew(k, d, above, below);
        const fromX = d === 0 ? 0 : added ? above : below;
        const fromY = d === 0 ? 0 : fromX - (added ? k + 1 : k - 1);
        while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
            out.push({ mark: " ", line: --x });
            y--;
        }
        if (d === 0) break;
        if (added) out.push({ mark: "+", line: --y });
        else out.push({ mark: "-", line: --x });
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
        else if (out.at(-1)?.mark !== "…") out.push(note(""));
    });
    return out;
}
