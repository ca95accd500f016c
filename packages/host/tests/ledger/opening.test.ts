/** Opening a ledger or a memory that cannot be made: told by its code, and nothing is left behind. Real devices, and a real limit on files. */
import { createSecretKey } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readAnchors, writeAnchor } from "../../src/ledger/anchor.ts";
import { makeFolder } from "../../src/ledger/place.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { sqliteStore } from "../../src/memory/sqlite.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-open-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const source = (path: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../src", path)).href);

/** What a Node of its own says, which may make no file larger than so many KiB, as on a disk that is full. */
function limited(kib: number, script: string): string {
    const line = 'trap "" XFSZ; ulimit -f "$0"; exec "$@"';
    const blocks = String(kib);
    const { stdout, stderr } = spawnSync("bash", ["-c", line, blocks, process.execPath, "--input-type=module", "-e", script], {
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

test.each([2, 16])("a ledger that a limit of %i KiB keeps from being made leaves no file", (kib) => {
    const said = limited(
        kib,
        `import { openSqlite } from ${source("ledger/sqlite.ts")};
         try { openSqlite("l.db", { config: "." }).close(); console.log("made"); } catch (error) { console.log(error.code); }`,
    );
    expect(["full\n", "io\n"]).toContain(said);
    expect(readdirSync(folder)).toEqual([]);
});

test.each([2, 8])("a memory that a limit of %i KiB keeps from being made leaves no file", (kib) => {
    const said = limited(
        kib,
        `import { sqliteStore } from ${source("memory/sqlite.ts")};
         try { (await sqliteStore(process.cwd() + "/m.db", "m.db", "n")).close(); console.log("made"); } catch (error) { console.log(error.name); }`,
    );
    expect(said).toBe("ToolFail\n");
    expect(readdirSync(folder)).toEqual([]);
});

test("a record that does not fit leaves the lines before it whole, and no lock", () => {
    const said = limited(
        2,
        `import { jsonlStore } from ${source("memory/jsonl.ts")};
         const memory = jsonlStore(process.cwd() + "/m.jsonl", "m.jsonl");
         const one = (id, text) => memory.add({ id, created_at: "t", updated_at: "t", record: { text } }, new AbortController().signal);
         await one("a", "small");
         await one("b", "x".repeat(4000)).catch((error) => console.log(error.code));
         const found = [];
         for await (const { id } of memory.newest()) found.push(id);
         console.log(found.join());`,
    );
    expect(said).toBe("EFBIG\na\n");
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
