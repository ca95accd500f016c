/** CPR1 to CPR3: long texts are compressed, every reader has them whole, and a damaged or hostile file is refused. */
import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { canonicalJson, type Json, type Program } from "@remit/language";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../../src/ledger/blob.ts";
import { Compressor, textOf } from "../../src/ledger/compression.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore, RunWriter } from "../../src/ledger/store.ts";

let folder = "";
let file = "";
let store: LedgerStore;
const open = (): LedgerStore => openSqlite(file, { config: join(folder, "config") });
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-compression-"));
    file = join(folder, "ledger.db");
    store = open();
});
afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
});

/** Objects of random texts: what they hold is not made shorter by compressing them, and what is said of them twice is. */
const objects = (seed: string, count: number): Json[] =>
    Array.from({ length: count }, (_, id) => ({ id, name: hash("sha512", `${seed} ${id}`, "base64") }));
const things = (of: Json[]): Json => ({
    heap: of.map((one, id) => ({ id, keys: Object.keys(one as object), values: Object.values(one as object) })),
});
const indented = (of: Json[]): string => JSON.stringify(of, null, 2);

const PROGRAM = { format: "remit-program/1", files: [] } as unknown as Program;
const HASH = sha256(canonicalJson(PROGRAM as unknown as Json));
const created = (id: string, input: Json = null): Promise<RunWriter> =>
    store.create({ id, program: PROGRAM, hash: HASH, file: "a.remit", root: "", options: { input } });

/** An outcome and the state that holds its objects; then the text of them in a request. */
async function filled(id: string, of: Json[]): Promise<RunWriter> {
    const writer = await created(id);
    await writer.commit({
        outcomes: [{ path: "main/x", outcome: { ok: true, value: of, origins: [] } }],
        state: { kind: "image", json: things(of) },
    });
    const data = { prompt: indented(of) };
    await writer.commit({
        events: [{ path: "main/g", parent: null, kind: "generate.started", principal: "user", site: null, labels: [], data }],
    });
    return writer;
}
async function whole(id: string, of: Json[]): Promise<void> {
    expect(await store.verify(id)).toMatchObject({ ok: true, bound: "yes" });
    const [outcome] = await Array.fromAsync(store.outcomes(id));
    expect(outcome?.outcome).toMatchObject({ ok: true, value: of });
    const [event] = await Array.fromAsync(store.events(id));
    expect(event?.data).toEqual({ prompt: indented(of) });
    expect((await store.state(id))?.image).toEqual(things(of));
}

const bare = <T>(work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(file);
    const out = work(db);
    db.close();
    return out;
};
interface Sizes {
    readonly form: string;
    readonly bytes: number;
}
const blobs = (): Sizes[] =>
    bare((db) =>
        db.prepare("SELECT hex(substr(packed, 1, 1)) AS form, length(packed) AS bytes FROM blobs ORDER BY form").all(),
    ) as unknown as Sizes[];

test("CPR1: three forms of one value take little more than one, and are whole in another process", async () => {
    const of = objects("a", 2500);
    await (await filled("r1", of)).release();
    const size = JSON.stringify(of).length;
    const [alone, onBase] = blobs();
    expect([alone?.form, onBase?.form]).toEqual(["00", "01"]);
    expect((onBase as Sizes).bytes).toBeLessThan(size / 8);
    expect(bare((db) => db.prepare("SELECT state, length(packed) AS bytes FROM continuations").get())).toMatchObject({ state: "" });
    await whole("r1", of);
    await store.close();
    store = open();
    await whole("r1", of);
    await (await store.own("r1")).commit({ end: { status: "done", value: of } });
    expect((await store.run("r1")).value).toEqual(of);
});

test.each([
    ["short", "a".repeat(65_535)],
    [
        "dense",
        hash("sha512", "x", "base64").repeat(2) +
            Array.from({ length: 2000 }, (_, i) => hash("sha512", `${i}`, "buffer").toString("latin1")).join(""),
    ],
    ["of one letter, longer than what is read back of so few bytes", "a".repeat(2 ** 26 + 1)],
    ["of many scripts", "déjà vu 🙂 текст ".repeat(9000)],
])("CPR1: a text that is %s", (_, text) => {
    const [[, name, plain, packed]] = new Compressor().statements([["blob", "n", text]]) as unknown as [
        [string, string, string, Uint8Array | null],
    ];
    expect(name).toBe("n");
    expect(textOf({ text: plain, packed }, "l", () => "")).toBe(text);
});

test("CPR2: a base that another run wrote on another base stands alone from then on", async () => {
    const [a, b] = [objects("a", 1500), objects("a", 1500)];
    // The first run writes the text on the JSON, the second one the JSON on the text.
    await filled("r1", a);
    const writer = await created("r2", { said: indented(b) });
    await writer.commit({
        outcomes: [{ path: "main/x", outcome: { ok: true, value: b, origins: [] } }],
        state: { kind: "image", json: things(b) },
    });
    expect(((await store.options("r2")) as { input: Json }).input).toEqual({ said: indented(b) });
    expect((await store.state("r2"))?.image).toEqual(things(b));
    expect(blobs().map(({ form }) => form)).toEqual(["00", "00"]);
    await whole("r1", a);
});

test("CPR2: a base stays while another run's text needs it, and goes with the last one", async () => {
    const of = objects("a", 1500);
    await (await filled("r1", of)).commit({ end: { status: "stopped" } });
    const writer = await filled("r2", of);
    await writer.commit({ end: { status: "stopped" } });
    await store.remove(["r1"]);
    await whole("r2", of);
    // Only its state needs the base now.
    bare((db) => db.exec("DELETE FROM events WHERE run = 2"));
    await (await filled("r3", objects("c", 10))).commit({ end: { status: "stopped" } });
    await store.remove(["r3"]);
    expect((await store.state("r2"))?.image).toEqual(things(of));
    expect(blobs().length).toBe(1);
    await store.remove(["r2"]);
    expect(blobs()).toEqual([]);
});

test("CPR2: what a commit that was not kept would have written is no base", async () => {
    const of = objects("a", 1500);
    const writer = await created("r1");
    const refused = { path: "main/x", outcome: { ok: true as const, value: of, origins: [] } };
    // A row of the run's own numbers is there already, so nothing of the commit is kept.
    bare((db) =>
        db.exec(
            "INSERT INTO events SELECT key * 268435456 + 1, key, NULL, 1, 1, '', '', NULL, NULL, NULL, NULL, NULL, '', NULL, '', NULL FROM runs",
        ),
    );
    await expect(writer.commit({ outcomes: [refused] })).rejects.toThrow();
    bare((db) => db.exec("DELETE FROM events"));
    expect(blobs()).toEqual([]);
    await writer.commit({ state: { kind: "image", json: things(of) } });
    expect((await store.state("r1"))?.image).toEqual(things(of));
});

describe("CPR3: a file that was changed", () => {
    const packed = (form: number, ...parts: Uint8Array[]): Uint8Array => Buffer.concat([Uint8Array.of(form), ...parts]);
    const bomb = zstdCompressSync(Buffer.alloc(2 ** 26 + 1));
    const changes: readonly (readonly [string, (db: DatabaseSync) => void, RegExp])[] = [
        ["cut", (db) => db.exec("UPDATE blobs SET packed = substr(packed, 1, 900)"), /cannot be read/],
        [
            "of another form",
            (db) => db.exec("UPDATE blobs SET packed = CAST(x'07' || substr(packed, 2) AS BLOB)"),
            /form that is not known/,
        ],
        ["empty", (db) => db.exec("UPDATE blobs SET packed = x''"), /form that is not known/],
        ["too long", (db) => db.prepare("UPDATE blobs SET packed = ?").run(packed(0, bomb)), /cannot be read/],
        ["another", (db) => db.prepare("UPDATE blobs SET packed = ?").run(packed(0, zstdCompressSync("other"))), /changed blob/],
        ["a text beside", (db) => db.exec("UPDATE blobs SET packed = NULL, bytes = 'x'"), /changed blob/],
        ["without its base", (db) => db.exec("DELETE FROM blobs WHERE substr(packed, 1, 1) = x'00'"), /lacks blob/],
        [
            "its own base",
            (db) => db.prepare("UPDATE blobs SET packed = CAST(? || unhex(sha256) || ? AS BLOB)").run(packed(1), bomb),
            /has a base on the base/,
        ],
    ];
    test.each(changes)("%s", async (_, change, message) => {
        const of = objects("a", 1500);
        await (await filled("r1", of)).release();
        bare(change);
        expect(await store.verify("r1")).toMatchObject({ ok: false, problem: { what: "blob", message: expect.stringMatching(message) } });
        await expect(Array.fromAsync(store.events("r1"))).rejects.toMatchObject({ code: "tampered" });
        await expect(store.own("r1")).rejects.toMatchObject({ code: "tampered" });
        // It can be removed all the same.
        expect(await store.remove(["r1"])).toMatchObject({ runs: 1 });
        expect(blobs()).toEqual([]);
    });

    test("a state that was changed is not gone on with", async () => {
        await (await filled("r1", objects("a", 1500))).release();
        bare((db) =>
            db.prepare("UPDATE continuations SET packed = ?").run(packed(0, zstdCompressSync(JSON.stringify(things(objects("b", 1500)))))),
        );
        expect(await store.verify("r1")).toMatchObject({ ok: false });
        await expect(store.own("r1")).rejects.toMatchObject({ code: "tampered" });
    });
});
