/** Removing runs (PU1, PU2): everything of them and nothing of others goes, and the file becomes smaller. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { canonicalJson, type Json, type Program } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BLOB_THRESHOLD, sha256 } from "../../src/ledger/blob.ts";
import { LedgerError } from "../../src/ledger/error.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";

let folder = "";
let file = "";
let store: LedgerStore;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-prune-"));
    file = join(folder, "ledger.db");
    store = openSqlite(file, { config: join(folder, "config") });
});
afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
});

/** Each run has a program of its own, a text that all share and one of its own, nested in a larger value. */
async function fill(id: string): Promise<void> {
    const program = { format: "remit-program/1", files: [], name: id } as unknown as Program;
    const hash = sha256(canonicalJson(program as unknown as Json));
    const shared = "s".repeat(BLOB_THRESHOLD + 1);
    const own = id.repeat(BLOB_THRESHOLD);
    const writer = await store.create({ id, program, hash, file: "a.remit", root: "", options: { input: shared } });
    await writer.commit({
        events: [{ path: "main", parent: null, kind: "for", principal: "user", site: null, labels: [], data: { list: [own, shared] } }],
        outcomes: [{ path: "main/x", outcome: { ok: true, value: { list: [own, own, shared] }, origins: [] } }],
        state: { kind: "image", json: { own } },
    });
    await writer.commit({ end: { status: "done", value: [own] } });
}
const rows = (sql: string): unknown[] => {
    const db = new DatabaseSync(file);
    const found = db.prepare(sql).all();
    db.close();
    return found;
};

test("CLM1: what a shell elsewhere keeps beside a run goes with the last run that needs it", async () => {
    for (const id of ["r1", "r2"]) await fill(id);
    const own = await store.claims.put("r1", "only of r1");
    const shared = await store.claims.put("r1", "of both");
    await store.claims.put("r2", "of both");
    await store.remove(["r1"]);
    expect(await store.claims.get(shared)).toBe("of both");
    await expect(store.claims.get(own)).rejects.toMatchObject({ code: "tampered" });
    await store.remove(["r2"]);
    await expect(store.claims.get(shared)).rejects.toMatchObject({ code: "tampered" });
});

test("PU1: what only a removed run needs goes, and what others need stays whole", async () => {
    for (const id of ["r1", "r2", "r3"]) await fill(id);
    const before = rows("SELECT sha256 FROM blobs").length;
    expect(await store.remove(["r2"])).toMatchObject({ runs: 1, shrunk: true });
    expect((await store.runs()).map((run) => run.id)).toEqual(["r3", "r1"]);
    for (const id of ["r1", "r3"]) {
        expect(await store.verify(id)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
        expect((await store.run(id)).value).toEqual([id.repeat(BLOB_THRESHOLD)]);
        expect((await Array.fromAsync(store.outcomes(id))).length).toBe(1);
        expect(((await store.options(id)) as { input: string }).input.length).toBe(BLOB_THRESHOLD + 1);
    }
    expect(await store.dropped()).toEqual([]);
    expect(rows("SELECT hash FROM programs").length).toBe(2);
    expect(rows("SELECT sha256 FROM blobs").length).toBeLessThan(before);
    expect(rows("SELECT DISTINCT run FROM events").length).toBe(2);
    await store.remove(["r1", "r3", "r3"]);
    for (const table of ["runs", "events", "early", "continuations", "programs", "blobs"])
        expect(rows(`SELECT * FROM ${table}`)).toEqual([]);
});

test("PU2: the file becomes smaller", async () => {
    for (let n = 0; n < 20; n++) await fill(`r${n}x`);
    await store.close();
    const large = statSync(file).size;
    store = openSqlite(file, { config: join(folder, "config") });
    const { bytes } = await store.remove((await store.runs()).map((run) => run.id));
    expect(statSync(file).size).toBe(large - bytes);
    expect(statSync(file).size).toBeLessThan(large / 5);
    expect(statSync(`${file}-wal`).size).toBe(0);
});

test("a run that goes on is never removed, and with it none", async () => {
    await fill("r1");
    const writer = await store.create({ id: "r2", program: {} as Program, hash: "h", file: "a", root: "", options: {} });
    await expect(async () => store.remove(["r1", "r2"])).rejects.toThrow(LedgerError);
    expect((await store.runs()).length).toBe(2);
    expect(await store.remove(["r1"])).toMatchObject({ runs: 1, bytes: 0, shrunk: false });
    await writer.commit({ end: { status: "waiting" } });
    expect((await store.remove(["r2"])).shrunk).toBe(true);
    await expect(async () => store.remove(["r2"])).rejects.toThrow(/no run r2/);
});

test("a run that cannot be read can be removed", async () => {
    await fill("r1");
    await fill("r2");
    const db = new DatabaseSync(file);
    db.exec("UPDATE runs SET usage = '{', owner = '[', result = 'x' WHERE id = 'r1'");
    db.close();
    await store.remove(["r1"]);
    expect((await store.runs()).map((run) => run.id)).toEqual(["r2"]);
});
