/** The ledger's file: what is acknowledged stays, what is tampered with is named (T1, T2, Q1–Q3, AN1–AN3, B1, B2). What holds of every store is `conformance.test.ts`. */
import {
    chmodSync,
    copyFileSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    rmSync,
    statSync,
    symlinkSync,
    truncateSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Json } from "@remit/language";
import type { MachineEvent } from "@remit/machine";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BLOB_THRESHOLD, pack, unpack } from "../../src/ledger/blob.ts";
import { ledgerPath, privateKey } from "../../src/ledger/place.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { codeOf, event, fill, HASH, newRun, pathOf } from "./stores.ts";

let folder = "";
let file = "";
let config = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-ledger-"));
    file = join(folder, "state", "ledger.db");
    config = join(folder, "config");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (options: { maxPages?: number } = {}): LedgerStore => openSqlite(file, { config, ...options });
test("PLA1: the ledger, its anchors and the key are private, whatever the umask", async () => {
    const before = process.umask(0);
    try {
        const store = open();
        await fill(store, "r1", 2);
        for (const path of [file, `${file}-wal`, `${file}.anchors`, join(config, "key")])
            expect(statSync(path).mode & 0o777, path).toBe(0o600);
        for (const path of [join(folder, "state"), config]) expect(statSync(path).mode & 0o777, path).toBe(0o700);
        await store.close();
    } finally {
        process.umask(before);
    }
    chmodSync(join(config, "key"), 0o644);
    expect(privateKey(config).length).toBe(32);
    expect(statSync(join(config, "key")).mode & 0o777).toBe(0o600);
});

test("a key that is none is kept for a look, and another one is made", () => {
    privateKey(config);
    writeFileSync(join(config, "key"), "0123456789abcdef0123456789abcdef\n");
    const made = privateKey(config);
    expect(made.length).toBe(32);
    expect(privateKey(config)).toEqual(made);
    expect(readFileSync(join(config, "key.damaged"), "utf8")).toBe("0123456789abcdef0123456789abcdef\n");
});

test("the place of the ledger: named, environment, project, state folder", async () => {
    const env = { HOME: folder, XDG_STATE_HOME: join(folder, "st") };
    expect(ledgerPath("x.db", env, folder)).toBe(join(folder, "x.db"));
    expect(ledgerPath(undefined, { ...env, REMIT_LEDGER: "/l.db" }, folder)).toBe("/l.db");
    expect(ledgerPath(undefined, env, folder)).toBe(join(folder, "st", "remit", "ledger.db"));
    expect(ledgerPath(undefined, { HOME: folder, XDG_STATE_HOME: "relative" }, folder)).toBe(
        join(folder, ".local/state", "remit", "ledger.db"),
    );
    await openSqlite(join(folder, "p", ".remit", "ledger.db"), { config }).close();
    expect(ledgerPath(undefined, env, join(folder, "p", "deep", "er"))).toBe(join(folder, "p", ".remit", "ledger.db"));
    // made by a run in which an agent's function was kept for review, and chosen by nobody
    mkdirSync(join(folder, "r", ".remit", "defined"), { recursive: true });
    expect(ledgerPath(undefined, env, join(folder, "r"))).toBe(join(folder, "st", "remit", "ledger.db"));
});

test("a .remit that came with a repository leads no ledger elsewhere and runs no code", async () => {
    const env = { HOME: folder, XDG_STATE_HOME: join(folder, "st") };
    const own = join(folder, "st", "remit", "ledger.db");
    for (const name of ["ledger.db", "ledger.db.anchors"]) {
        const project = join(folder, `links ${name}`);
        mkdirSync(join(project, ".remit"), { recursive: true });
        symlinkSync(join(folder, "elsewhere"), join(project, ".remit", name));
        expect(ledgerPath(undefined, env, project)).toBe(own);
    }
    mkdirSync(join(folder, "q"));
    symlinkSync(folder, join(folder, "q", ".remit"));
    expect(ledgerPath(undefined, env, join(folder, "q"))).toBe(own);

    await open().close();
    const db = new DatabaseSync(file);
    db.exec("CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM events; END");
    db.close();
    expect(await codeOf(() => open())).toBe("foreign");
});

describe("failures say what they are and lose nothing", () => {
    test("T1: a ledger that may not grow keeps what was acknowledged", async () => {
        const store = open({ maxPages: 60 });
        const writer = await store.create(newRun("r1"));
        let kept = 0;
        const code = await codeOf(async () => {
            for (; kept < 1000; kept++) await writer.commit({ events: [event(kept + 1, { text: "x".repeat(3000) })] });
        });
        expect(code).toBe("full");
        expect(kept).toBeGreaterThan(5);
        await store.close();
        const again = open();
        expect((await Array.fromAsync(again.events("r1"))).length).toBe(kept);
        expect((await again.verify("r1")).ok).toBe(true);
        await again.close();
    });

    test("files that are no ledger, too new, damaged or missing", async () => {
        await open().close();
        const write = (sql: string): void => {
            const db = new DatabaseSync(file);
            db.exec(sql);
            db.close();
        };
        write("PRAGMA user_version = 99");
        expect(await codeOf(open)).toBe("schema");
        write("PRAGMA user_version = 0");
        expect(await codeOf(open)).toBe("schema");
        write("PRAGMA user_version = 1; PRAGMA application_id = 5");
        expect(await codeOf(open)).toBe("foreign");
        writeFileSync(file, "just some text, longer than a header ".repeat(50));
        rmSync(`${file}-wal`, { force: true });
        expect(await codeOf(open)).toBe("foreign");
        rmSync(file);
        const store = open();
        await fill(store, "r1", 200);
        await store.close();
        truncateSync(file, 9000);
        expect(["corrupt", "foreign", "io"]).toContain(
            await codeOf(async () => {
                const damaged = open();
                try {
                    await damaged.verify("r1");
                } finally {
                    await damaged.close();
                }
            }),
        );
        expect(await codeOf(() => openSqlite(join(folder, "none.db"), { config, readOnly: true }))).toBe("readonly");
    });

    test("T2: a writer that lost its lease cannot commit", async () => {
        const store = open();
        const writer = await store.create(newRun("r1"));
        const other = new DatabaseSync(file);
        other.exec("UPDATE runs SET owner = NULL");
        other.close();
        expect(await codeOf(() => writer.commit({ events: [event(1)] }))).toBe("owned");
        expect(await Array.fromAsync(store.events("r1"))).toEqual([]);
        await store.close();
    });
});

describe("tampering is named", () => {
    const cases: readonly [string, string, RegExp][] = [
        ["changed", "UPDATE events SET data = '{\"n\":99}' WHERE seq = 3", /event 3 was changed/],
        ["site changed", "UPDATE events SET site = NULL WHERE seq = 4", /event 4 was changed/],
        ["dropped", "DELETE FROM events WHERE seq = 3", /event 3 was dropped/],
        [
            "moved",
            "UPDATE events SET seq = 90 WHERE seq = 2; UPDATE events SET seq = 2 WHERE seq = 3; UPDATE events SET seq = 3 WHERE seq = 90",
            /event [23] was (?:changed|moved)/,
        ],
        ["cut tail", "DELETE FROM events WHERE seq > 3", /event 4 was dropped/],
        [
            "cut tail with the run's row mended",
            "DELETE FROM events WHERE seq > 3; UPDATE runs SET count = 3, head = (SELECT hash FROM events WHERE seq = 3)",
            /event 4 was dropped/,
        ],
        ["outcome changed", "UPDATE events SET data = replace(data, '\"value\":2', '\"value\":3') WHERE n = 2", /outcome 2 .* was changed/],
        ["outcome dropped", "DELETE FROM events WHERE n = 5", /outcome 5 was dropped/],
        ["blob changed", "UPDATE blobs SET bytes = 'y' || bytes", /changed blob/],
    ];
    test.each(cases)("%s", async (_name, sql, message) => {
        const store = open();
        const writer = await store.create(newRun("r1"));
        for (let n = 1; n <= 5; n++)
            await writer.commit({
                events: [event(n, n === 1 ? { text: "x".repeat(BLOB_THRESHOLD + 1) } : { n })],
                outcomes: [{ path: pathOf(n), outcome: { ok: true, value: n, origins: [] } }],
            });
        await writer.commit({ end: { status: "done", value: 1 } });
        expect(await store.verify("r1")).toEqual({ ok: true, events: 5, anchored: "yes", bound: "yes" });
        const other = new DatabaseSync(file);
        other.exec(sql);
        other.close();
        const found = await store.verify("r1");
        expect(found.ok).toBe(false);
        expect(found.problem?.message).toMatch(message);
        await store.close();
    });

    const said = (kind: MachineEvent["kind"], data: Json): MachineEvent => ({ ...event(1, data), path: "main", parent: null, kind });
    test.each([
        ["value", `UPDATE runs SET result = '{"value":2}'`, /another value than event 2/],
        ["status", "UPDATE runs SET status = 'failed'", /says 'failed', event 2 says 'done'/],
        ["program's name", "UPDATE runs SET program = 'x'", /names another program/],
        ["program", "UPDATE programs SET form = '{}'", /changed program/],
        ["program dropped", "DELETE FROM programs", /lacks program/],
        ["result unreadable", "UPDATE runs SET result = 'x'", /cannot be read/],
    ])("in the run's row: %s", async (_name, sql, message) => {
        const store = open();
        const writer = await store.create(newRun("r1"));
        await writer.commit({ events: [said("run.started", { program: HASH })] });
        await writer.commit({ events: [said("run.ended", { ok: true, value: 1 })], end: { status: "done", value: 1 } });
        expect(await store.verify("r1")).toMatchObject({ ok: true });
        const other = new DatabaseSync(file);
        other.exec(sql);
        other.close();
        const found = await store.verify("r1");
        expect(found.ok).toBe(false);
        expect(found.problem?.message).toMatch(message);
        await store.close();
    });
    test("what cannot be read, or is another program, is the ledger's failure and no defect", async () => {
        const store = open();
        await fill(store, "r1", 2);
        const other = new DatabaseSync(file);
        other.exec(`UPDATE events SET data = 'x' WHERE seq = 2; UPDATE runs SET options = '[['; UPDATE programs SET form = '{}'`);
        other.close();
        expect(await codeOf(async () => await Array.fromAsync(store.events("r1")))).toBe("tampered");
        expect(await codeOf(async () => store.options("r1"))).toBe("tampered");
        expect(await codeOf(() => store.program(HASH))).toBe("tampered");
        await store.close();
    });

    test.each([
        ["usage", "UPDATE runs SET usage = '{' WHERE id = 'r2'"],
        ["owner", "UPDATE runs SET owner = '{' WHERE id = 'r2'"],
        ["result", "UPDATE runs SET result = '[' WHERE id = 'r2'"],
        ["blob", "DELETE FROM blobs"],
    ])("a run that cannot be read is named, and the others are listed: %s", async (_name, sql) => {
        const store = open();
        await fill(store, "r1", 1);
        await (await store.create(newRun("r2"))).commit({ end: { status: "done", value: "x".repeat(BLOB_THRESHOLD + 1) } });
        await fill(store, "r3", 1);
        const other = new DatabaseSync(file);
        other.exec(sql);
        other.close();
        const unreadable: string[] = [];
        expect((await store.runs(10, (one) => unreadable.push(`${one.id} ${one.error.code}`))).map((run) => run.id)).toEqual(["r3", "r1"]);
        expect(unreadable).toEqual(["r2 tampered"]);
        expect(await codeOf(() => store.runs())).toBe("tampered");
        await store.close();
    });

    test("numbers that were changed in the rows keep nothing from being read to its end", async () => {
        const store = open();
        const writer = await store.create(newRun("r1"));
        await writer.commit({
            events: Array.from({ length: 600 }, (_, n) => event(n)),
            outcomes: Array.from({ length: 600 }, (_, n) => ({ path: pathOf(n), outcome: { ok: true, value: n, origins: [] } })),
        });
        const other = new DatabaseSync(file);
        other.exec("UPDATE events SET seq = 1 WHERE n IS NULL; UPDATE events SET n = 1 WHERE seq IS NULL");
        other.close();
        expect((await Array.fromAsync(store.events("r1"))).length).toBe(600);
        expect((await Array.fromAsync(store.outcomes("r1"))).length).toBe(600);
        expect(await store.verify("r1")).toMatchObject({ ok: false, problem: { what: "event" } });
        await store.close();
    });

    test("a run that was dropped whole is missed by its anchor", async () => {
        const store = open();
        await fill(store, "r1", 1);
        await fill(store, "r2", 1);
        expect(await store.dropped()).toEqual([]);
        const other = new DatabaseSync(file);
        other.exec("DELETE FROM runs WHERE id = 'r1'");
        other.close();
        expect(await store.dropped()).toEqual(["r1"]);
        await store.close();
    });

    test("AN3: a forged anchor counts for nothing, a missing one is said", async () => {
        const store = open();
        await fill(store, "r1", 3);
        const anchors = readFileSync(`${file}.anchors`, "utf8");
        writeFileSync(`${file}.anchors`, anchors.replaceAll(/^r1 \d+/gm, "r1 1"));
        expect(await store.verify("r1")).toMatchObject({ ok: true, anchored: "no" });
        await store.close();
    });
});

test("two stores on one file take turns", async () => {
    const a = open();
    const b = open();
    const one = await a.create(newRun("a"));
    const two = await b.create(newRun("b"));
    for (let n = 1; n <= 50; n++) {
        await one.commit({ events: [event(n)] });
        await two.commit({ events: [event(n)] });
    }
    expect((await b.verify("a")).ok && (await a.verify("b")).ok).toBe(true);
    expect(await codeOf(() => b.own("a"))).toBe("owned");
    await a.close();
    await b.close();
});

test("a copied file is read elsewhere", async () => {
    const store = open();
    await fill(store, "r1", 5);
    await store.close();
    copyFileSync(file, join(folder, "copy.db"));
    const copy = openSqlite(join(folder, "copy.db"), { config });
    expect(await copy.verify("r1")).toMatchObject({ ok: true, anchored: "no" });
    expect((await copy.run("r1")).value).toBe(5);
    await copy.close();
});

test("B1: packing and unpacking is the identity on every JSON value", () => {
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
    const odd = fc.oneof(
        json,
        json.map((value) => ({ $blob: value })),
        json.map((value) => ({ $plain: { $blob: value } })),
        json.map((value) => ["x".repeat(20_000), { $plain: value }]),
        json.map((v) => ({ a: { s: "y".repeat(9000), t: "z".repeat(9000), $blob: v } })),
    );
    fc.assert(
        fc.property(odd, fc.boolean(), (value, fields) => {
            const kept = new Map<string, string>();
            const text = pack(value, kept, fields);
            const byName = new Map([...kept].map(([one, name]) => [name, one]));
            expect(unpack(text, (name) => byName.get(name) as string)).toEqual(value);
        }),
    );
});
