/** Memories in both stores (JL1–Y7). */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
    appendFileSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    realpathSync,
    rmSync,
    statSync,
    symlinkSync,
    utimesSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Json } from "@remit/language";
import type { Failure } from "@remit/machine";
import { describe, expect, test } from "vitest";
import { createMemories, type Envelope } from "../../src/memory/memory.ts";

function place() {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-memory-")));
    const workspace = join(folder, "work");
    mkdirSync(workspace);
    const open: { close(): Promise<void> }[] = [];
    return {
        folder,
        workspace,
        memories: (uri: string, file = "main.remit", root = "") => {
            const memories = createMemories({ workspace, root });
            open.push(memories);
            const { signal } = new AbortController();
            const effect = (kind: "remember" | "recall", arg: Json, labels: readonly string[] = []) => ({
                path: "main/M#0",
                kind,
                principal: "user",
                site: null,
                labels,
                request: { memory: "Notes", uri, file, arg },
            });
            return {
                add: (arg: Json, labels?: readonly string[]) => memories.remember(effect("remember", arg, labels), { signal }),
                query: (arg: Json) => memories.recall(effect("recall", arg), { signal }),
                async records(arg: Json): Promise<Json[]> {
                    const outcome = await memories.recall(effect("recall", arg), { signal });
                    if (!outcome.ok) throw new Error(outcome.failure.message);
                    return (outcome.value as unknown as Envelope[]).map(({ record }) => record);
                },
                async failure(kind: "remember" | "recall", arg: Json): Promise<Failure> {
                    const outcome = await memories[kind](effect(kind, arg), { signal });
                    if (outcome.ok) throw new Error("no failure");
                    return outcome.failure;
                },
            };
        },
        [Symbol.asyncDispose]: async () => {
            for (const one of open) await one.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

const STORES = [["file://notes.jsonl"], ["sqlite://notes.db"], ["sqlite://notes.db#other"]];

describe.each(STORES)("%s", (uri) => {
    test("adds envelopes and finds them, the newest first", async () => {
        await using here = place();
        const notes = here.memories(uri);
        expect(await notes.records({})).toEqual([]);
        const added = await notes.add({ kind: "lesson", text: "Read the Log first", n: 1 });
        expect(added).toEqual({
            ok: true,
            origins: ["memory:Notes"],
            value: {
                id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
                created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
                updated_at: expect.any(String),
                record: { kind: "lesson", text: "Read the Log first", n: 1 },
            },
        });
        await notes.add({ kind: "lesson", tags: { a: 1, b: [2] }, n: 2 });
        await notes.add({ kind: "fact", text: "x", where: "log", n: 3 });
        const found = async (query: Json) => (await notes.records(query)).map((record) => (record as { n: number }).n);
        expect(await found({})).toEqual([3, 2, 1]);
        expect(await found({ kind: "lesson" })).toEqual([2, 1]);
        expect(await found({ text: "LOG" })).toEqual([3, 1]);
        expect(await found({ text: '"b":[2]' })).toEqual([2]);
        expect(await found({ where: { tags: { b: [2], a: 1 } } })).toEqual([2]);
        expect(await found({ where: { n: 3, kind: "fact" } })).toEqual([3]);
        expect(await found({ where: { constructor: null } })).toEqual([]);
        expect(await found({ limit: 1 })).toEqual([3]);
        expect(await found({ kind: null, text: null, where: null, limit: null })).toEqual([3, 2, 1]);
        expect(await here.memories(uri).records({ limit: 2 })).toHaveLength(2);
    });
    test("gives ten records where nobody says how many, and all of a long memory where somebody does", async () => {
        await using here = place();
        const notes = here.memories(uri);
        for (let n = 0; n < 300; n++) await notes.add({ n });
        expect((await notes.records({})).map((record) => (record as { n: number }).n)).toEqual([
            299, 298, 297, 296, 295, 294, 293, 292, 291, 290,
        ]);
        expect((await notes.records({ limit: 1000 })).map((record) => (record as { n: number }).n)).toEqual(
            Array.from({ length: 300 }, (_, n) => 299 - n),
        );
    });
    test("refuses what is no record and no query", async () => {
        await using here = place();
        const notes = here.memories(uri);
        for (const bad of [null, 1, "x", [], true]) {
            expect((await notes.failure("remember", bad)).message).toContain("Notes.add expects one json object argument");
            expect((await notes.failure("recall", bad)).message).toContain("Notes.query expects one json object argument");
        }
        for (const [query, said] of [
            [{ limit: 0 }, "'limit'"],
            [{ limit: 1.5 }, "'limit'"],
            [{ kind: 1 }, "'kind'"],
            [{ text: [] }, "'text'"],
            [{ where: [] }, "'where'"],
        ] as const)
            expect((await notes.failure("recall", query as unknown as Json)).message).toContain(said);
    });
    test("keeps names of the prototype chain as ordinary keys", async () => {
        await using here = place();
        const notes = here.memories(uri);
        await notes.add(JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}'));
        const [record] = await notes.records({ where: JSON.parse('{"__proto__": {"x": 1}}') });
        expect(JSON.stringify(record)).toBe('{"__proto__":{"x":1},"constructor":2}');
    });
    test("is private, and begins at the importing file", async () => {
        await using here = place();
        await here.memories(uri, "sub/deep/main.remit").add({});
        const path = join(here.workspace, "sub/deep", uri.includes("jsonl") ? "notes.jsonl" : "notes.db");
        expect(statSync(path).mode & 0o777).toBe(0o600);
    });
    test("two processes at once lose and mix nothing", async () => {
        await using here = place();
        const children = ["a", "b"].map((name) =>
            spawn(process.execPath, [join(import.meta.dirname, "worker.ts"), here.workspace, uri, name, "60"], { stdio: "inherit" }),
        );
        const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
        expect(codes).toEqual([0, 0]);
        const records = (await here.memories(uri).records({ limit: 1000 })) as { name: string; n: number }[];
        expect(records).toHaveLength(120);
        for (const name of ["a", "b"])
            expect(records.filter((one) => one.name === name).map((one) => one.n)).toEqual(Array.from({ length: 60 }, (_, n) => 59 - n));
        expect(existsSync(join(here.workspace, "notes.jsonl.lock"))).toBe(false);
    });
});

test("namespaces of one database do not see one another", async () => {
    await using here = place();
    await here.memories("sqlite://notes.db").add({ n: 1 });
    await here.memories("sqlite://notes.db#two").add({ n: 2 });
    expect(await here.memories("sqlite://notes.db#memory").records({})).toEqual([{ n: 1 }]);
    expect(await here.memories("sqlite://notes.db#two").records({})).toEqual([{ n: 2 }]);
});

test("Y8: a database whose records run code is refused", async () => {
    await using here = place();
    await here.memories("sqlite://notes.db").add({ n: 1 });
    const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT";
    const at = (name: string, sql: string): string => {
        const db = new DatabaseSync(join(here.workspace, name));
        db.exec(sql);
        db.close();
        return `sqlite://${name}`;
    };
    at("notes.db", `CREATE TRIGGER t AFTER INSERT ON Memory_Records BEGIN SELECT count(*) FROM (${endless} x FROM c); END`);
    const view = at("view.db", `CREATE VIEW memory_records AS ${endless} 'memory' AS namespace, x AS id, '' AS created_at FROM c`);
    writeFileSync(
        join(here.workspace, "named.db-journal"),
        Buffer.from(`precious.txt${"\0".repeat(8)}\xd9\xd5\x05\xf9\x20\xa1\x63\xd7`, "latin1"),
    );
    for (const uri of ["sqlite://notes.db", view, "sqlite://named.db"]) {
        expect(await here.memories(uri).failure("remember", { n: 2 })).toMatchObject({ kind: "denied" });
        expect(await here.memories(uri).failure("recall", {})).toMatchObject({ kind: "denied" });
    }
    // Another program's tables in the same file are its own affair.
    const shared = at("shared.db", "CREATE TABLE other (x); CREATE TRIGGER t AFTER INSERT ON other BEGIN DELETE FROM other; END");
    await here.memories(shared).add({ n: 3 });
    expect(await here.memories(shared).records({})).toEqual([{ n: 3 }]);
});

describe("JSON lines", () => {
    const good = '{"id":"1","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z","record":{"n":1}}';
    test("a bad line is an error with its number, wherever it is", async () => {
        await using here = place();
        const path = join(here.workspace, "notes.jsonl");
        const notes = here.memories("file://notes.jsonl");
        for (const [bad, said] of [
            ["{oops", "line 2 of notes.jsonl is not JSON"],
            ["[]", "line 2 of notes.jsonl is not a record"],
            ['{"id":"1"}', "line 2 of notes.jsonl is not a record"],
        ] as const) {
            writeFileSync(path, `${good}\n${bad}\n${good}\n`);
            expect((await notes.failure("recall", { limit: 1 })).message).toContain(said);
        }
        writeFileSync(path, `${good}\n\n   \n${good}\n`);
        expect(await notes.records({})).toHaveLength(2);
    });
    test("a line that was cut off does not swallow the next one", async () => {
        await using here = place();
        const path = join(here.workspace, "notes.jsonl");
        writeFileSync(path, `${good}\n{"id":"2","crea`);
        const notes = here.memories("file://notes.jsonl");
        await notes.add({ n: 3 });
        expect((await notes.failure("recall", {})).message).toContain("line 2 of notes.jsonl is not JSON");
        expect(JSON.parse(readFileSync(path, "utf8").split("\n")[2] as string)).toMatchObject({ record: { n: 3 } });
        writeFileSync(path, good);
        appendFileSync(path, "");
        await notes.add({ n: 2 });
        expect(await notes.records({})).toEqual([{ n: 2 }, { n: 1 }]);
    });
    test("a lock whose process is gone is taken over; one that was never written to, after its time", async () => {
        await using here = place();
        const lock = join(here.workspace, "notes.jsonl.lock");
        writeFileSync(lock, String(spawnSync(process.execPath, ["-e", "0"]).pid));
        const notes = here.memories("file://notes.jsonl");
        expect((await notes.add({ n: 1 })).ok).toBe(true);
        writeFileSync(lock, "");
        utimesSync(lock, new Date(0), new Date(0));
        expect((await notes.add({ n: 2 })).ok).toBe(true);
        expect(existsSync(lock)).toBe(false);
    });
});

describe("places", () => {
    test("outside the workspace and the program's tree are refused, through links too", async () => {
        await using here = place();
        symlinkSync(here.folder, join(here.workspace, "out"));
        symlinkSync(join(here.folder, "far.jsonl"), join(here.workspace, "far.jsonl"));
        for (const uri of [
            "file://../x.jsonl",
            "file:///tmp/remit-test-x.jsonl",
            "sqlite://../x.db",
            "file://out/x.jsonl",
            "sqlite://out/x.db",
            "file://far.jsonl",
            "file://.remit/x.jsonl",
        ]) {
            const failure = await here.memories(uri).failure("remember", {});
            expect(failure.kind, uri).toMatch(/denied|tool/);
        }
        expect([
            existsSync(join(here.folder, "x.jsonl")),
            existsSync(join(here.folder, "far.jsonl")),
            existsSync(join(here.folder, "x.db")),
        ]).toEqual([false, false, false]);
    });
    test("in the program's tree are fine, and absolute ones inside", async () => {
        await using here = place();
        const root = join(here.folder, "program");
        mkdirSync(root);
        expect((await here.memories("file://notes.jsonl", "main.remit", root).add({})).ok).toBe(true);
        expect(existsSync(join(root, "notes.jsonl"))).toBe(true);
        expect((await here.memories(`sqlite://${here.workspace}/abs.db`).add({})).ok).toBe(true);
    });
    test("that are no memory say what one is", async () => {
        await using here = place();
        for (const uri of ["file://notes.txt", "sqlite://notes", "redis://x", "file://notes.jsonl#x", ""])
            expect((await here.memories(uri).failure("recall", {})).message, uri).toContain("names no memory");
        writeFileSync(join(here.workspace, "bad.db"), "this is no database at all, whatever its name says");
        expect((await here.memories("sqlite://bad.db").failure("recall", {})).message).toContain("cannot be used as a database");
    });
});

test.each(["file://notes.jsonl", "sqlite://notes.db"])(
    "Y9: records that others had written crowd out none of the origins that are asked for: %s",
    async (uri) => {
        await using at = place();
        const { add, records, failure } = at.memories(uri);
        await add({ text: "mine" }, ["user"]);
        await add({ text: "a rule" });
        await add({ text: "both" }, ["tool:Page", "user"]);
        await add({ text: "had me add it" }, ["choice:tool:Page", "user"]);
        await add({ text: "mine, for ann" }, ['only:["ann"]', "user"]);
        for (let nth = 0; nth < 20; nth++) await add({ text: `planted ${nth}` }, ["tool:Page"]);
        const texts = async (query: Json): Promise<Json[]> => (await records(query)).map((one) => (one as { text: Json }).text);
        expect((await texts({})).every((text) => String(text).startsWith("planted"))).toBe(true);
        expect(await texts({ from: ["user"] })).toEqual(["mine, for ann", "mine"]);
        expect(await texts({ from: ["user", "program"], limit: 2 })).toEqual(["mine, for ann", "a rule"]);
        expect(await texts({ from: ["user", "tool:Page"], text: "both" })).toEqual(["both"]);
        expect(await texts({ from: [] })).toEqual([]);
        expect((await failure("recall", { from: "user" })).message).toContain("'from' must be a list of origins");
    },
);
