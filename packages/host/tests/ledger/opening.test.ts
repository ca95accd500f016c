/** Opening a ledger or a memory that cannot be made: told by its code, and nothing is left behind. Real devices, and a real limit on files. */
import { createSecretKey } from "node:crypto";
import { spawnSync } from "node:child_process";
import {
    chownSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    symlinkSync,
    utimesSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readAnchors, writeAnchor } from "../../src/ledger/anchor.ts";
import { makeFolder } from "../../src/ledger/place.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { sqliteStore } from "../../src/memory/sqlite.ts";
import { scriptAt } from "../script.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-open-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What comes of a case of `limited.ts` in a process that may make no file larger than so many KiB, as on a disk that is full. */
function limited(kib: number, opened: "ledger" | "memory" | "records"): string {
    const line = 'trap "" XFSZ; ulimit -f "$0"; exec "$@"';
    const script = scriptAt("packages/host/tests/ledger/limited.ts");
    const { stdout, stderr } = spawnSync("bash", ["-c", line, String(kib), process.execPath, script, opened], {
        cwd: folder,
        encoding: "utf8",
        env: { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: "1" },
    });
    return stdout || stderr;
}

test.each(["/dev/null", "/dev/full", "/dev/zero"].filter((path) => existsSync(path)))(
    "%s is no ledger, and gets no files beside it",
    (path) => {
        const before = readdirSync("/dev").filter((name) => /-(journal|wal|shm)$|anchors$/.test(name));
        expect(() => openSqlite(path, { config: folder })).toThrow(
            expect.objectContaining({ code: "foreign", message: `${path} is not a regular file` }),
        );
        symlinkSync(path, join(folder, "linked.db"));
        expect(() => openSqlite(join(folder, "linked.db"), { config: folder })).toThrow(expect.objectContaining({ code: "foreign" }));
        expect(readdirSync("/dev").filter((name) => /-(journal|wal|shm)$|anchors$/.test(name))).toEqual(before);
        expect(readdirSync(folder)).toEqual(["linked.db"]);
    },
);

test("a device is no memory either", async () => {
    symlinkSync("/dev/null", join(folder, "m.db"));
    await expect(sqliteStore(join(folder, "m.db"), "m.db", "n")).rejects.toThrow("m.db is not a regular file");
});

test("what a process left that was killed while it made the ledger goes when the ledger is made; what another makes now, and other files, stay", () => {
    const left = ["ledger.db.77.0a1b2c3d.draft", "ledger.db.77.0a1b2c3d.draft-journal"];
    const others = ["ledger.db.78.0a1b2c3d.draft", "ledger.db.20261129.11254300", "other.db.77.0a1b2c3d.draft"];
    for (const name of [...left, ...others]) writeFileSync(join(folder, name), "");
    for (const name of [...left, ...others.slice(1)]) utimesSync(join(folder, name), 1, 1);
    openSqlite(join(folder, "ledger.db"), { config: folder }).close();
    const there = readdirSync(folder);
    expect(there).toEqual(expect.arrayContaining(["ledger.db", ...others]));
    expect(there.filter((name) => left.includes(name))).toEqual([]);
});

test("a ledger is made beside what has the name of a draft and is none of this user's", () => {
    const [draft, other] = ["ledger.db.77.0a1b2c3d.draft", "ledger.db.78.0a1b2c3d.draft"];
    mkdirSync(join(folder, draft));
    writeFileSync(join(folder, other), "");
    for (const name of [draft, other]) utimesSync(join(folder, name), 1, 1);
    if (process.getuid?.() === 0) chownSync(join(folder, other), 1234, 1234);
    else rmSync(join(folder, other));
    const before = readdirSync(folder);
    openSqlite(join(folder, "ledger.db"), { config: folder }).close();
    expect(readdirSync(folder)).toEqual(expect.arrayContaining([...before, "ledger.db"]));
});

test.each([2, 16])("a ledger that a limit of %i KiB keeps from being made leaves no file", (kib) => {
    const said = limited(kib, "ledger");
    expect(["full\n", "io\n"]).toContain(said);
    expect(readdirSync(folder)).toEqual([]);
});

test.each([2, 8])("a memory that a limit of %i KiB keeps from being made leaves no file", (kib) => {
    const said = limited(kib, "memory");
    expect(said).toBe("ToolFail\n");
    expect(readdirSync(folder)).toEqual([]);
});

test("a record that does not fit leaves the lines before it whole, and no lock", () => {
    const said = limited(2, "records");
    expect(said).toBe("added EFBIG a\n");
    expect(readdirSync(folder)).toEqual(["m.jsonl"]);
});

test("an anchor that was cut off spoils none that comes after it", () => {
    const path = join(folder, "l.db.anchors");
    const key = createSecretKey(Buffer.alloc(32, 7));
    const anchor = (count: number) => ({ run: "r", count, head: `h${count}`, answers: 0, answered: "" });
    writeAnchor(path, key, anchor(1));
    writeAnchor(path, key, anchor(2));
    writeFileSync(path, readFileSync(path).subarray(0, -20));
    expect(readAnchors(path, key).get("r")).toEqual(anchor(1));
    writeAnchor(path, key, anchor(3));
    expect(readAnchors(path, key).get("r")).toEqual(anchor(3));
});

test("folders are made one in the other; a file in the way is an error", () => {
    makeFolder(join(folder, "a", "b", "c"));
    expect(existsSync(join(folder, "a", "b", "c"))).toBe(true);
    writeFileSync(join(folder, "file"), "");
    expect(() => makeFolder(join(folder, "file", "b", "c"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
    expect(() => openSqlite(join(folder, "file", "b", "l.db"), { config: folder })).toThrow(expect.objectContaining({ code: "readonly" }));
});
