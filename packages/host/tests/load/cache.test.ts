/** The compiled-file cache (CA1–CA3) and the program's tree (R1–R2). */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sha256 } from "../../src/ledger/blob.ts";
import { type CacheEntry, compiledCache, entryName } from "../../src/load/cache.ts";
import { findRoot, programTree } from "../../src/load/tree.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-load-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const cacheAt = (config = "config") => compiledCache({}, { cache: join(folder, "cache"), config: join(folder, config) });
const source = () => join(folder, "a.remit");
const entry = (text: string): CacheEntry => ({
    files: [{ path: source(), file: "a.remit", sha256: sha256(text) }],
    program: { format: "remit-program/1", files: [] },
    hash: "h",
    diagnostics: [],
});
const name = entryName({ engine: "e", path: "/a", root: "/", grants: [] });
const stored = () => join(folder, "cache", "compiled", `${name}.json`);

test("a hit gives the entry and the texts of its files; entries are private", () => {
    writeFileSync(source(), "text");
    cacheAt().put(name, entry("text"));
    const hit = cacheAt().get(name);
    expect(hit?.entry).toEqual(entry("text"));
    expect(hit?.texts.get("a.remit")).toBe("text");
    expect(statSync(stored()).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "cache", "compiled")).mode & 0o777).toBe(0o700);
});

test("CA2: a changed or removed file is a miss", () => {
    writeFileSync(source(), "text");
    cacheAt().put(name, entry("text"));
    writeFileSync(source(), "other");
    expect(cacheAt().get(name)).toBeNull();
    rmSync(source());
    expect(cacheAt().get(name)).toBeNull();
});

test("CA1, F60: tampered, foreign, renamed, cut and unreadable entries are misses, never errors", () => {
    writeFileSync(source(), "text");
    cacheAt().put(name, entry("text"));
    const good = readFileSync(stored(), "utf8");
    expect(cacheAt("another").get(name)).toBeNull();
    for (const bad of [
        good.replace('"h"', '"x"'),
        good.slice(0, -5),
        "",
        "\n",
        "remit-compiled/1 00\n{}",
        "{",
        good.replace("remit-compiled/1", "remit-compiled/0"),
    ]) {
        writeFileSync(stored(), bad);
        expect(cacheAt().get(name), bad.slice(0, 40)).toBeNull();
    }
    const other = entryName({ engine: "e2", path: "/a", root: "/", grants: [] });
    writeFileSync(join(folder, "cache", "compiled", `${other}.json`), good);
    expect(cacheAt().get(other)).toBeNull();
    rmSync(stored());
    mkdirSync(stored());
    expect(cacheAt().get(name)).toBeNull();
});

test("CA3: a cache that cannot be written is no cache", () => {
    writeFileSync(join(folder, "cache"), "a file where the folder should be");
    cacheAt().put(name, entry("text"));
    expect(cacheAt().get(name)).toBeNull();
});

test("the number of entries is bounded", () => {
    const cache = cacheAt();
    for (let i = 0; i < 560; i++) cache.put(entryName({ engine: "e", path: `/${i}`, root: "/", grants: [] }), entry("x"));
    expect(readdirSync(join(folder, "cache", "compiled")).length).toBeLessThanOrEqual(551);
});

test("R1: files outside the tree are refused by whatever route, unless granted", () => {
    const root = join(folder, "root");
    mkdirSync(join(root, "sub"), { recursive: true });
    writeFileSync(join(root, "in.txt"), "inside");
    writeFileSync(join(folder, "out.txt"), "outside");
    symlinkSync(join(folder, "out.txt"), join(root, "link.txt"));
    const tree = programTree(root);
    expect(tree.read(tree.pathOf("../in.txt", "sub/a.remit"))).toMatchObject({ ok: true, text: "inside" });
    for (const path of ["../out.txt", "link.txt", join(folder, "out.txt")])
        expect(tree.read(tree.pathOf(path, null)), path).toMatchObject({ ok: false, why: "outside" });
    expect(tree.read(tree.pathOf("none.txt", null))).toMatchObject({ ok: false, why: "missing" });
    expect(tree.read(tree.pathOf("sub", null))).toMatchObject({ ok: false, why: "folder" });
    expect(programTree(root, [folder]).read(join(folder, "out.txt"))).toMatchObject({ ok: true, text: "outside" });
    writeFileSync(join(root, "bytes.bin"), Buffer.from([0xff, 0xfe, 0x00]));
    expect(tree.read(join(root, "bytes.bin"))).toMatchObject({ ok: false, why: "not text" });
    // A pipe that nobody writes into would be waited for without an end.
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(tree.read(join(root, "pipe"))).toMatchObject({ ok: false, why: "unreadable", message: "pipe is not a regular file" });
});

test("R2: names are relative to the root", () => {
    const root = join(folder, "root");
    mkdirSync(join(root, "sub", "deep"), { recursive: true });
    writeFileSync(join(root, "remit.json"), "{}");
    expect(findRoot(join(root, "sub", "deep", "a.remit"))).toBe(root);
    const tree = programTree(root);
    expect(tree.nameOf(tree.pathOf("./b.remit", "sub/a.remit"))).toBe("sub/b.remit");
});
