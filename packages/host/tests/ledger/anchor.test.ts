/** The file of anchors: how long it becomes, and how often it is looked through. */
import { createSecretKey } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Anchor, isLookedThrough, readAnchors, writeAnchor } from "../../src/ledger/anchor.ts";

const key = createSecretKey(Buffer.alloc(32, 1));
const anchor = (run: number, count: number): Anchor => ({
    run: `run-${run}`,
    count,
    head: String(count).padStart(64, "0"),
    answers: count,
    answered: "a".repeat(64),
});

let folder: string;
let path: string;
beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-anchors-"));
    path = join(folder, "ledger.db.anchors");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("AN5: a file that grows line by line is looked through once a doubling", () => {
    const LINE = 220;
    let looks = 0;
    for (let size = LINE; size < 64 * 1024 * 1024; size += LINE) if (isLookedThrough(size, LINE)) looks++;
    // At 512 KiB, and at 1, 2, 4, 8, 16 and 32 MiB.
    expect(looks).toBe(7);
});

test("the newest anchor of each run stays, and the file becomes shorter where more than half of it is older ones", () => {
    const runs = 1_000;
    for (let run = 0; run < runs; run++) writeAnchor(path, key, anchor(run, 1));
    for (let count = 2; count <= 201; count++) for (let run = 0; run < 10; run++) writeAnchor(path, key, anchor(run, count));
    expect(statSync(path).size).toBeLessThan(400 * 1024);
    const found = readAnchors(path, key);
    expect(found.size).toBe(runs);
    expect([found.get("run-11")?.count, found.get("run-3")?.count]).toEqual([1, 201]);
});

test("AN5: a long file with one anchor a run is left as it is by the anchor after it", () => {
    writeFileSync(path, "");
    const lines = 2_600;
    for (let run = 0; run < lines; run++) writeAnchor(path, key, anchor(run, 1));
    const { size, ino } = statSync(path);
    expect(size).toBeGreaterThan(512 * 1024);
    writeAnchor(path, key, anchor(lines, 1));
    expect(statSync(path).ino).toBe(ino);
    expect(readAnchors(path, key).size).toBe(lines + 1);
});
