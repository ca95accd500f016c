/** S2: ledgers of earlier schema versions, made by the builds that wrote them, are brought up; their runs are sound and can be gone on with. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openPostgres } from "../../src/ledger/postgres/store.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore, RunInfo } from "../../src/ledger/store.ts";
import { postgres } from "../postgres-server.ts";
import { pathOf } from "./stores.ts";

interface Kind {
    /** The ledger of the folder, which is filled where it is not yet. */
    open(folder: string): Promise<LedgerStore>;
    sql(folder: string, text: string): Promise<unknown>;
}

const SQLITE: Kind = {
    open: async (folder) => openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") }),
    sql: async (folder, text) => {
        const db = new DatabaseSync(join(folder, "ledger.db"));
        db.exec(text);
        db.close();
    },
};

/** Its address stands in the folder. */
const POSTGRES: Kind = {
    open: async (folder) => {
        const file = join(folder, "address");
        if (!existsSync(file)) {
            writeFileSync(file, (await postgres()).fresh());
            await POSTGRES.sql(folder, readFileSync(join(folder, "ledger.sql"), "utf8"));
        }
        return openPostgres(readFileSync(file, "utf8"), { config: join(folder, "config"), state: join(folder, "state") });
    },
    sql: async (folder, text) => {
        const schema = new URL(readFileSync(join(folder, "address"), "utf8")).searchParams.get("schema") ?? "";
        return (await postgres()).query(`CREATE SCHEMA IF NOT EXISTS ${schema}; SET search_path TO ${schema}; ${text}`);
    },
};

describe.each(["schema-3", "schema-4", "schema-5", "schema-6", "postgres-1"])("%s", (name) => {
    const FIXTURE = fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
    const { open, sql } = name.startsWith("postgres") ? POSTGRES : SQLITE;
    /** Earlier builds did not ask a tool first what it is. */
    const first = ["schema-3", "schema-4"].includes(name) ? [] : ["main/Mail.look#0/describe[Mail]"];
    /** A run with many effects under way. */
    const wide = ["schema-6", "postgres-1"].includes(name) ? ["stopped"] : [];
    let folder = "";
    let store: LedgerStore;
    beforeEach(async () => {
        folder = mkdtempSync(join(tmpdir(), "remit-migrated-"));
        cpSync(FIXTURE, folder, { recursive: true });
        store = await open(folder);
    });
    afterEach(async () => {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
    });
    const run = async (status: RunInfo["status"]): Promise<RunInfo> => (await store.runs()).find((one) => one.status === status) as RunInfo;

    test("every run is sound, and what it recorded is there", async () => {
        expect((await store.runs()).map((one) => one.status)).toEqual(["stopped", "waiting", "done", ...wide]);
        for (const { id, events } of await store.runs())
            expect(await store.verify(id)).toEqual({ ok: true, events, anchored: "yes", bound: "yes" });
        const done = await run("done");
        expect(done.value).toEqual([20_000, { ok: true }, 1]);
        expect((await Array.fromAsync(store.outcomes(done.id))).map((one) => one.path)).toEqual([
            ...first,
            "main/Mail.look#0",
            "main/Mail.send#0/ask",
            "main/Mail.send#0",
            "main/Mail.look#1",
        ]);
        expect((await store.options(done.id)) as object).toMatchObject({ input: { to: "done" } });
    });

    // Version 1 had the tables of versions 3 and 4.
    if (first.length === 0)
        test("a file of version 1 is brought up, and its runs are there", async () => {
            await store.close();
            cpSync(FIXTURE, folder, { recursive: true });
            await sql(folder, "ALTER TABLE runs DROP COLUMN spent; ALTER TABLE runs DROP COLUMN bound; PRAGMA user_version = 1");
            store = await open(folder);
            const { id, spent } = await run("done");
            expect(spent).toBe(0);
            expect(await store.verify(id)).toMatchObject({ ok: true, bound: "no" });
        });

    test("a stopped run is taken over as it was saved, goes on, and ends", async () => {
        const { id } = await run("stopped");
        expect((await store.state(id))?.outcomes).toBe(3 + first.length);
        expect(await store.pending(id)).toEqual([{ path: "main/Mail.look#1", begun: true }]);
        const writer = await store.own(id);
        await writer.commit({
            outcomes: [{ path: "main/Mail.look#1", outcome: { ok: true, value: { n: 1 }, origins: ["tool:Mail"] } }],
            end: { status: "stopped" },
        });
        expect((await Array.fromAsync(store.outcomes(id, 3 + first.length))).map((one) => one.n)).toEqual([4 + first.length]);
        expect(await store.verify(id)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
    });

    test("one whose list of effects was forged is refused", async () => {
        const { id } = await run("stopped");
        await sql(folder, "UPDATE runs SET pending = replace(pending, ',1,1]', ',0,1]') WHERE status = 'stopped'");
        await expect(store.own(id)).rejects.toMatchObject({ code: "tampered", message: expect.stringMatching(/effects that had begun/) });
    });

    test("a question of it can be answered", async () => {
        const { id } = await run("waiting");
        const [question] = await store.asks.list(id);
        expect(question).toMatchObject({ path: "main/Mail.send#0/ask", owner: "os:me" });
        expect(question?.tampered).toBeUndefined();
    });

    if (wide.length > 0)
        test("the effects of a run with many under way are there, and its next commits keep them in another table", async () => {
            const pending = async (): Promise<string[]> => (await store.pending("wide")).map(({ path }) => path).sort();
            const before = await pending();
            expect(before).toEqual(Array.from({ length: 19 }, (_, i) => pathOf(i + 1)).sort());
            const writer = await store.own("wide");
            await writer.commit({
                outcomes: [{ path: pathOf(1), outcome: { ok: true, value: 1, origins: [] } }],
                pending: [{ path: pathOf(21), begun: true }],
            });
            await writer.commit({ end: { status: "stopped" } });
            await store.close();
            store = await open(folder);
            expect(await pending()).toEqual([...before.filter((path) => path !== pathOf(1)), pathOf(21)].sort());
            expect(await store.verify("wide")).toEqual({ ok: true, events: 1, anchored: "yes", bound: "yes" });
            await sql(folder, "UPDATE early SET text = '0 1' WHERE text = '1 1'");
            await expect(store.own("wide")).rejects.toMatchObject({ code: "tampered" });
        });
});
