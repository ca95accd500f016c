/** B2 and LT1 together: a large text is in the ledger once, however often events, outcomes and states hold it, and every reader has the whole. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Json } from "@remit/language";
import type { LedgerEvent, SealedEvent } from "@remit/machine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { load, type LoadOptions, openLedger, openStore } from "../../src/index.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";

const PROGRAM = `
import llm Model from "mock:"
import tool Work from "host:work"
main agent A {
    model Model
    role "a reader"
    description "Reads."
    main func(input: { bytes: number, a: string, b: string }) {
        log = Work.get({ i: 0, bytes: input.bytes })
        token = log + input.a + input.b
        use log as "log"
        said = generate({ input: "Look at all.", tools: [Work], turns: 60 })
        last = Work.get({ i: 99, bytes: 5000 })
        { said: said, log: log.length, end: log.slice(log.length - 12, log.length), last: last.length, token: token.length }
    }
}`;
const SECRET = "correct-horse-battery";

/** A text of so many bytes, another for each seed; \`end\` stands at its end. */
function text(bytes: number, seed: number, end = ""): string {
    let out = "";
    for (let n = seed * 1_000_003; out.length < bytes; n++) out += `${n.toString(36)} reads line ${n}\n`;
    return out.slice(0, bytes - end.length) + end;
}

const called = (i: number, bytes: number): Json => ({ calls: [{ name: "Work_get", args: { i, bytes } }] });

let folder: string;
let file: string;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-texts-"));
    file = join(folder, "ledger.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** `before` is called before each call of the tool. */
function setting(results: number, before: (i: number) => void = () => undefined, end = ""): Omit<LoadOptions, "ledger"> {
    const replies = [...Array.from({ length: results }, (_, i) => called(i + 1, 8000)), { text: "all seen" }];
    writeFileSync(join(folder, "replies.json"), JSON.stringify({ rules: [], replies }));
    const call = ({ i, bytes }: { i: number; bytes: number }): string => {
        before(i);
        return text(bytes, i, end);
    };
    const input = { type: "object", properties: { i: { type: "number" }, bytes: { type: "number" } } };
    return {
        root: folder,
        cache: false,
        model: `scripted:${join(folder, "replies.json")}`,
        tools: { Work: { get: { call, input, readOnly: true } } } as never,
    };
}

const opened = (): Promise<LedgerStore> => openStore(file, { config: join(folder, "config") });

/** Bytes of the columns that hold events, outcomes, states and blobs, what is written over counted too. */
function counting(): DatabaseSync {
    const db = new DatabaseSync(file);
    db.exec("CREATE TABLE written (bytes INTEGER NOT NULL); INSERT INTO written VALUES (0)");
    for (const [table, size] of [
        ["events", "length(CAST(new.data AS BLOB))"],
        ["continuations", "length(CAST(new.state AS BLOB)) + ifnull(length(new.packed), 0)"],
        ["blobs", "length(CAST(new.bytes AS BLOB)) + ifnull(length(new.packed), 0)"],
    ] as const)
        db.exec(
            `CREATE TRIGGER count_${table} AFTER INSERT ON ${table} BEGIN
                 UPDATE written SET bytes = bytes + ${size};
             END`,
        );
    return db;
}

async function written(bytes: number, results: number): Promise<number> {
    const store = await opened();
    const db = counting();
    const program = await load<{ bytes: number; a: string; b: string }>({ source: PROGRAM }, { ...setting(results), ledger: store });
    await program({ bytes, a: "", b: "" });
    await program.close();
    await store.close();
    const { bytes: all } = db.prepare("SELECT bytes FROM written").get() as { bytes: number };
    db.close();
    return all;
}

describe("bytes", () => {
    test("a 700 kB text that is used takes at most 1.2 times its size in events, requests and states", async () => {
        expect((await written(700_000, 0)) / 700_000).toBeLessThan(1.2);
    });

    test("51 turns with results of 8 kB take at most three times their bytes", async () => {
        expect((await written(10, 50)) / (50 * 8000)).toBeLessThan(3);
    });
});

/** Ends the run before the call `at`, then goes on with it in the same or another store. */
async function interrupted(
    at: number,
    options: { readonly ledger: () => Promise<LedgerStore>; readonly end?: string; readonly env?: NodeJS.ProcessEnv },
) {
    const { ledger, end, env } = options;
    const controller = new AbortController();
    const about = setting(
        3,
        (i) => {
            if (i === at) controller.abort();
        },
        end,
    );
    const store = await ledger();
    const program = await load<{ bytes: number; a: string; b: string }>(
        { source: PROGRAM },
        { ...about, ledger: store, ...(env === undefined ? {} : { env }) },
    );
    const first = await program.run(
        { bytes: 30_000, ...(env === undefined ? { a: "", b: "" } : { a: SECRET.slice(0, 9), b: SECRET.slice(9) }) },
        { signal: controller.signal },
    ).result;
    expect(first.status).toBe("stopped");
    await program.close();
    if (store.durable) await store.close();
    return {
        id: first.run,
        store: store.durable ? await ledger() : store,
        about: { ...setting(3 - Math.min(at, 3), undefined, end), ...(env === undefined ? {} : { env }) },
    };
}

describe("a run that was interrupted", () => {
    test.each([1, 2, 3, 99])("before call %i goes on with the same texts, and its ledger verifies", async (at) => {
        const { id, store, about } = await interrupted(at, { ledger: opened });
        const ledger = await openLedger(store);
        const value = await (await ledger.resume(id, about)).value;
        expect(value).toMatchObject({ said: "all seen", log: 30_000, end: text(30_000, 0).slice(-12), last: 5000 });
        expect(await ledger.verify(id)).toMatchObject({ ok: true });
        await ledger.close();
    });

    test("readers have whole texts, and what is exported verifies without the ledger", async () => {
        const { id, store, about } = await interrupted(2, { ledger: opened });
        const ledger = await openLedger(store);
        await (await ledger.resume(id, about)).value;
        const lines = await Array.fromAsync(ledger.export(id));
        const events = lines
            .join("")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as SealedEvent);
        const long = JSON.stringify(text(30_000, 0));
        const holding = (kind: LedgerEvent["kind"]): boolean =>
            events.some((event) => event.kind === kind && JSON.stringify(event.data).includes(long));
        expect([holding("tool.ended"), holding("generate.started"), holding("generate.attempt")]).toEqual([true, true, true]);
        expect(JSON.stringify(events)).not.toMatch(/\$(text|blob|plain)/);
        await ledger.close();
    });

    test("what only it needs leaves the ledger with it", async () => {
        const { id, store, about } = await interrupted(2, { ledger: opened });
        const ledger = await openLedger(store);
        await (await ledger.resume(id, about)).value;
        await store.remove([id]);
        await ledger.close();
        const db = new DatabaseSync(file);
        expect(db.prepare("SELECT count(*) AS n FROM blobs").get()).toEqual({ n: 0 });
        db.close();
    });

    test("a large text with a known secret goes on with the secret, which is nowhere in the file", async () => {
        const env = { ...process.env, MY_TOKEN: SECRET };
        const { id, store, about } = await interrupted(2, { ledger: opened, end: `${SECRET} end`, env });
        for (const suffix of ["", "-wal"]) expect(readFileSync(`${file}${suffix}`).includes(SECRET)).toBe(false);
        const ledger = await openLedger(store, { env });
        const value = await (await ledger.resume(id, about)).value;
        // The program put the secret together itself, so it has it: the state holds a reference in its place.
        expect(value).toMatchObject({ said: "all seen", token: 30_000 - SECRET.length + "[secret env:MY_TOKEN]".length + SECRET.length });
        expect(readFileSync(file).includes(SECRET)).toBe(false);
        await ledger.close();
    });
});
