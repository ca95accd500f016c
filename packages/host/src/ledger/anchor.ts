/**
 * Anchors: heads of runs, kept outside the ledger file, so that a cut tail is seen.
 *
 * Boundary: one small text file beside the ledger (`ledger.db.anchors`), a line an anchor, each with a MAC under the user's own key.
 *
 * AN1: a line says: at this moment the run had at least this many events and outcomes, and these were the hashes of the last ones.
 * AN2: an anchor is written after the commit it speaks of, so it never runs ahead of the file.
 * AN4: a run that its process lets go in good order is anchored as it is then, to its last event.
 * AN5: what an anchor costs does not grow with the number of runs: the file is read through only where it has become twice as long.
 * AN3: a line whose MAC does not hold counts for nothing; a user who cannot read the key cannot make one.
 *
 * Not seen: the ledger and its anchors both put back to an earlier copy of both.
 */
import { createHmac, type KeyObject } from "node:crypto";
import { appendFileSync, readFileSync, statSync } from "node:fs";
import { isSameCode } from "./code.ts";
import { writePrivate } from "./place.ts";

export interface Anchor {
    readonly run: string;
    readonly count: number;
    readonly head: string;
    readonly answers: number;
    readonly answered: string;
}

/** From this size on, in bytes, the file is looked through for anchors that newer ones of their runs stand for. */
const COMPACT_AT = 512 * 1024;

/** AN5. A file that became so long by the last `added` bytes is looked through: at `COMPACT_AT`, and at each doubling of it. */
export function isLookedThrough(size: number, added: number): boolean {
    if (size < COMPACT_AT) return false;
    return size - added < COMPACT_AT * 2 ** Math.floor(Math.log2(size / COMPACT_AT));
}

export function anchorCode(key: KeyObject, anchor: Anchor): string {
    return createHmac("sha256", key)
        .update(`remit-anchor/1\n${anchor.run}\n${anchor.count}\n${anchor.head}\n${anchor.answers}\n${anchor.answered}`)
        .digest("hex");
}

function line(key: KeyObject, anchor: Anchor): string {
    // The line's end stands before it, so that one which a full disk cut off spoils no line but itself.
    return `\n${anchor.run} ${anchor.count} ${anchor.head} ${anchor.answers} ${anchor.answered || "-"} ${anchorCode(key, anchor)}`;
}

/** To be called by one writer at a time. */
export function writeAnchor(path: string, key: KeyObject, anchor: Anchor): void {
    const text = line(key, anchor);
    appendFileSync(path, text, { mode: 0o600 });
    const { size } = statSync(path);
    if (!isLookedThrough(size, text.length)) return;
    const kept = [...readAnchors(path, key).values()].map((one) => line(key, one)).join("");
    if (kept.length < size / 2) writePrivate(path, kept);
}

/** The furthest anchor of each run, or of the one named. A missing file is an empty one. */
export function readAnchors(path: string, key: KeyObject, only?: string): Map<string, Anchor> {
    const found = new Map<string, Anchor>();
    let text: string;
    try {
        text = readFileSync(path, "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return found;
        throw error;
    }
    for (const row of text.split("\n")) {
        const [run, count, head, answers, answered, code] = row.split(" ");
        if (only !== undefined && run !== only) continue;
        if (run === undefined || head === undefined || answered === undefined || code === undefined) continue;
        const anchor: Anchor = { run, count: Number(count), head, answers: Number(answers), answered: answered === "-" ? "" : answered };
        const expected = anchorCode(key, anchor);
        if (!isSameCode(code, expected)) continue;
        const before = found.get(run);
        if (before === undefined || before.count <= anchor.count) found.set(run, anchor);
    }
    return found;
}

/** Forgets runs. To be called by one writer at a time. */
export function dropAnchors(path: string, key: KeyObject, runs: ReadonlySet<string>): void {
    const anchors = readAnchors(path, key);
    const kept = [...anchors.values()].filter((one) => !runs.has(one.run));
    if (kept.length < anchors.size) writePrivate(path, kept.map((one) => line(key, one)).join(""));
}
