/** S2: ledgers of earlier schema versions, made by the builds that wrote them, are brought up; their runs are sound and can be gone on with. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore, RunInfo } from "../../src/ledger/store.ts";

describe.each(["schema-3", "schema-4", "schema-5"])("%s", (name) => {
    const FIXTURE = fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
    /** Later builds ask a tool what it is, first. */
    const first = name < "schema-5" ? [] : ["main/Mail.look#0/describe[Mail]"];
    let folder = "";
    let file = "";
    let store: LedgerStore;
    const open = (): LedgerStore => openSqlite(file, { config: join(folder, "config") });
    beforeEach(() => {
        folder = mkdtempSync(join(tmpdir(), "remit-migrated-"));
        cpSync(FIXTURE, folder, { recursive: true });
        file = join(folder, "ledger.db");
        store = open();
    });
    afterEach(async () => {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
    });
    const run = async (status: RunInfo["status"]): Promise<RunInfo> => (await store.runs()).find((one) => one.status === status) as RunInfo;

    test("every run is sound, and what it recorded is there", async () => {
        expect((await store.runs()).map((one) => one.status)).toEqual(["stopped", "waiting", "done"]);
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
    if (name < "schema-5")
        test("a file of version 1 is brought up, and its runs are there", async () => {
            await store.close();
            cpSync(FIXTURE, folder, { recursive: true });
            const db = new DatabaseSync(file);
            db.exec("ALTER TABLE runs DROP COLUMN spent; ALTER TABLE runs DROP COLUMN bound; PRAGMA user_version = 1");
            db.close();
            store = open();
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
        const db = new DatabaseSync(file);
        db.exec("UPDATE runs SET pending = replace(pending, ',1,1]', ',0,1]') WHERE status = 'stopped'");
        db.close();
        await expect(store.own(id)).rejects.toMatchObject({ code: "tampered", message: expect.stringMatching(/effects that had begun/) });
    });

    test("a question of it can be answered", async () => {
        const { id } = await run("waiting");
        const [question] = await store.asks.list(id);
        expect(question).toMatchObject({ path: "main/Mail.send#0/ask", owner: "os:me" });
        expect(question?.tampered).toBeUndefined();
    });
});
