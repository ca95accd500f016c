/** `at most 20 per day`: counted in the ledger over runs, processes and resumes (UOD1–UOD3, DAY1, DAY2). */
import { spawn } from "node:child_process";
import { createSecretKey } from "node:crypto";
import { mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryUseRows } from "../../src/ledger/uses-rows.ts";
import { DAY_MS, type UseRow, type Uses, usesOver } from "../../src/ledger/uses.ts";
import { addressOf } from "../../src/ledger/address.ts";
import { anchorsIn } from "../../src/ledger/anchors.ts";
import { connectionsTo } from "../../src/ledger/postgres/connections.ts";
import { openStore } from "../../src/ledger/open.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import { scriptAt } from "../script.ts";
import { fill, type Open, STORES } from "./stores.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-uses-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const counts = async (uses: Uses, n: Parameters<Uses["count"]>[0], most: number | null) => (await uses.count(n, most)).kind === "counted";
/** How often a counter was used in the last 24 hours. */
const today = async (uses: Uses, counter: string) => {
    const said = await uses.count(use(-1, counter), 0);
    return said.kind === "full" ? said.times : said.kind;
};
const use = (n: number, counter = "mail", run = "r") => ({ counter, run, place: `main/Mail.send#${n}#1` });

describe.each(Object.entries<Open>(STORES))("%s", (_name, open) => {
    test("a use counts once however often it is told, and not where it did not happen", async () => {
        const store = await open(folder);
        const { uses } = store;
        expect(await today(uses, "mail")).toBe(0);
        for (const _ of [1, 2]) expect(await counts(uses, use(1), 2)).toBe(true);
        expect(await counts(uses, use(2), 2)).toBe(true);
        expect(await counts(uses, use(3), 2)).toBe(false);
        // Another counter, and a rule with room for more.
        expect(await counts(uses, use(3, "other"), 2)).toBe(true);
        expect(await counts(uses, use(3), 3)).toBe(true);
        // What no rule bounds is counted all the same.
        expect(await counts(uses, use(4), null)).toBe(true);
        expect(await today(uses, "mail")).toBe(4);
        await uses.uncount(use(4));
        await uses.uncount(use(3));
        expect(await today(uses, "mail")).toBe(2);
        await store.close();
    });

    test("of many that count at once no more than may go through, and what runs used stays when they are removed", async () => {
        const stores: LedgerStore[] = [await open(folder)];
        if (stores[0]?.durable === true) stores.push(await open(folder));
        const all = await Promise.all(
            Array.from({ length: 24 }, (_, n) => counts((stores[n % stores.length] as LedgerStore).uses, use(n), 5)),
        );
        expect(all.filter((yes) => yes)).toHaveLength(5);
        const [first] = stores as [LedgerStore];
        await fill(first, "r", 1);
        await first.remove(["r"]);
        expect(await today(first.uses, "mail")).toBe(5);
        for (const store of stores) await store.close();
    });
});

test("after 24 hours a use counts no more", async () => {
    let now = 1e12;
    const key = createSecretKey(Buffer.alloc(32));
    const uses = usesOver(
        memoryUseRows(),
        () => key,
        null,
        () => now,
    );
    expect([await counts(uses, use(1), 1), await counts(uses, use(2), 1)]).toEqual([true, false]);
    now += 24 * 3_600_000 - 1;
    expect(await counts(uses, use(2), 1)).toBe(false);
    now += 1;
    expect([await counts(uses, use(2), 1), await today(uses, "mail")]).toEqual([true, 1]);
});

/** One counter of a simulated clock, which a test may set. */
function simulated() {
    const clock = { now: 1e12 };
    const key = createSecretKey(Buffer.alloc(32));
    const rows = memoryUseRows();
    return {
        clock,
        rows,
        uses: usesOver(
            rows,
            () => key,
            null,
            () => clock.now,
        ),
    };
}

test.each([1, 2, 400])("a clock that goes forward by %i days and is set back after a use forgets none", async (days) => {
    const { clock, uses } = simulated();
    for (const n of [1, 2, 3]) expect(await counts(uses, use(n), 3)).toBe(true);
    clock.now += days * DAY_MS;
    expect(await counts(uses, use(4), 3)).toBe(true);
    clock.now -= days * DAY_MS;
    expect(await counts(uses, use(5), 3)).toBe(false);
    // What was counted ahead of the clock counts, too: at least as many as the rule allows.
    expect(await today(uses, "mail")).toBeGreaterThanOrEqual(3);
});

test("a use that no rule bounds forgets none of the last two days, and keeps none that is older", async () => {
    const { clock, rows, uses } = simulated();
    for (const n of [1, 2]) await uses.count(use(n), null);
    clock.now += 2 * DAY_MS - 1;
    await uses.count(use(3), null);
    clock.now -= 2 * DAY_MS - 1;
    expect(await today(uses, "mail")).toBe(3);
    clock.now += 2 * DAY_MS;
    await uses.count(use(4), null);
    expect(JSON.parse((await rows.get("mail"))?.uses ?? "")).toHaveLength(2);
});

test("a use that is told again after a day is counted again, and stands there once", async () => {
    const { clock, rows, uses } = simulated();
    for (const _ of [1, 2]) {
        expect([await counts(uses, use(1), 1), await counts(uses, use(2), 1)]).toEqual([true, false]);
        expect(JSON.parse((await rows.get("mail"))?.uses ?? "")).toHaveLength(1);
        clock.now += DAY_MS;
    }
    clock.now -= DAY_MS;
    await uses.uncount(use(1));
    expect(await today(uses, "mail")).toBe(0);
});

/** A user who can write the ledger, and has neither its key nor the state folder. */
describe.each(["sqlite", "postgres"] as const)("%s, written without the key", (name) => {
    const open = STORES[name] as Open;
    /** Asks the ledger's own database. */
    async function sql(text: string): Promise<void> {
        if (name === "sqlite") {
            const db = new DatabaseSync(join(folder, "ledger.db"));
            db.exec(text);
            db.close();
            return;
        }
        const connections = connectionsTo(addressOf(readFileSync(join(folder, "address"), "utf8"), {}), { readOnly: false, first: [] });
        await connections.transaction(async (query) => void (await query(text)));
        await connections.close();
    }

    test.each([
        ["a use is taken out", "UPDATE counters SET uses = '[]'"],
        ["a use is made older", "UPDATE counters SET uses = replace(uses, ',1', ',0')"],
        ["a use is added", `UPDATE counters SET uses = replace(uses, '[[', '[["0123456789abcdef0123456789abcdef",9999999999999],[')`],
        ["the row is removed", "DELETE FROM counters WHERE counter = 'mail'"],
        ["the table is removed", "DROP TABLE counters"],
        ["another counter's row stands in its place", "DELETE FROM counters WHERE counter = 'mail'; UPDATE counters SET counter = 'mail'"],
        [
            "the row is put back to an earlier one",
            "DELETE FROM counters WHERE counter = 'mail'; UPDATE kept SET counter = counter; INSERT INTO counters SELECT * FROM kept",
        ],
    ])("%s: nothing more is let through", async (_what, change) => {
        const store = await open(folder);
        expect([await counts(store.uses, use(1), 3), await counts(store.uses, use(1, "other"), 3)]).toEqual([true, true]);
        await sql("CREATE TABLE kept AS SELECT * FROM counters WHERE counter = 'mail'");
        expect(await counts(store.uses, use(2), 3)).toBe(true);
        await sql(change);
        const again = await open(folder);
        for (const { uses } of [store, again]) {
            // Neither a new use, nor one that was counted, nor one that no rule bounds.
            for (const [n, most] of [
                [3, 3],
                [1, 3],
                [4, null],
            ] as const)
                expect(await uses.count(use(n), most)).toEqual({ kind: "unsound", until: expect.any(Number) });
        }
        await again.close();
        await store.close();
    });
});

test("a ledger that lies at another place goes on counting; where no mark tells when it counted last, a changed one never begins anew", async () => {
    const [file, config] = [join(folder, "ledger.db"), join(folder, "config")];
    const store = await openStore(file, { config });
    expect(await counts(store.uses, use(1), 1)).toBe(true);
    await store.close();
    renameSync(file, join(folder, "moved.db"));
    const moved = await openStore(join(folder, "moved.db"), { config });
    expect(await moved.uses.count(use(2), 1)).toEqual({ kind: "full", times: 1 });
    const db = new DatabaseSync(join(folder, "moved.db"));
    db.exec("UPDATE counters SET uses = '[]'");
    db.close();
    expect(await moved.uses.count(use(2), 1)).toEqual({ kind: "unsound", until: null });
    await moved.close();
});

test("the table in which earlier versions counted is left as it is", async () => {
    const [file, config] = [join(folder, "ledger.db"), join(folder, "config")];
    await (await openStore(file, { config })).close();
    const db = new DatabaseSync(file);
    db.exec("CREATE TABLE uses (counter TEXT, run TEXT, place TEXT, at INTEGER) STRICT; INSERT INTO uses VALUES ('mail', 'r', 'p', 1)");
    db.close();
    const store = await openStore(file, { config });
    expect(await counts(store.uses, use(1), 1)).toBe(true);
    expect(await counts(store.uses, use(2), 1)).toBe(false);
    await store.close();
});

test("a count that was changed begins anew when no use that it held is within 24 hours", async () => {
    let now = 1e12;
    const key = createSecretKey(Buffer.alloc(32));
    const rows = memoryUseRows();
    const marks = anchorsIn(join(folder, "marks.db"), () => key, false);
    const uses = usesOver(
        rows,
        () => key,
        marks,
        () => now,
    );
    expect(await counts(uses, use(1), 1)).toBe(true);
    const row = (await rows.get("mail")) as UseRow;
    await rows.put({ ...row, uses: "[]" }, row.mac);
    now += DAY_MS - 1;
    expect(await uses.count(use(2), 1)).toEqual({ kind: "unsound", until: 1e12 + DAY_MS });
    now += 1;
    expect([await counts(uses, use(2), 1), await uses.count(use(3), 1)]).toEqual([true, { kind: "full", times: 1 }]);
    marks.close();
});

// ---- runs --------------------------------------------------------------------------------------------------------------

const DAILY = scriptAt("packages/host/tests/ledger/daily.ts");

/** A process with a run; ended by a signal once its tool was called, where it hangs. */
function started(most: number, times: number, hang = false): Promise<string> {
    return new Promise((resolve, reject) => {
        const args = [DAILY, join(folder, "ledger.db"), join(folder, "config"), String(most), String(times), ...(hang ? ["hang"] : [])];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" } });
        let text = "";
        child.stdout.on("data", (data: Buffer) => {
            text += data;
            if (hang && text.includes("called")) child.kill("SIGKILL");
        });
        child.on("error", reject);
        child.on("close", () => resolve(text));
    });
}

describe("runs", () => {
    test("two processes at once have together what one has", async () => {
        const texts = await Promise.all([started(7, 6), started(7, 6)]);
        const through = texts.map((text) => Number(/through (\d+)/.exec(text)?.[1]));
        expect(through.reduce((a, b) => a + b, 0)).toBe(7);
        expect(texts.join("").match(/called/g)).toHaveLength(7);
    });

    test("a process that is killed in a call forgets nothing, and who goes on counts the call no second time", async () => {
        const text = await started(2, 3, true);
        const id = /run (\S+)/.exec(text)?.[1] as string;
        const ledger = await openLedger(await openStore(join(folder, "ledger.db"), { config: join(folder, "config") }));
        const called: number[] = [];
        const tools = { Work: { call: { repeatable: true, call: async () => called.push(1) } } };
        const resumed = await ledger.resume(id, { tools });
        expect(await resumed.result).toMatchObject({ status: "done", value: 2 });
        expect(called).toHaveLength(2);
        const again = await load(
            { source: 'import tool Work from "host:work" { call: at most 2 per day }\nmain agent A { main func() { Work.call({}) } }\n' },
            { tools, ledger: ledger.store },
        );
        const { failure } = (await again.run(null).result) as { failure?: { kind: string; message: string } };
        expect(failure).toMatchObject({
            kind: "denied",
            message: expect.stringMatching(
                /^Work\.call is counted by the day: it was used 2 times in the last 24 hours, and the rule is `at most 2 per day` \(.+:1\)$/,
            ),
        });
        expect(called).toHaveLength(2);
        await ledger.close();
    });

    test("what others use counts, what is refused does not, and a replay counts nothing", async () => {
        const ledger = await openLedger(await openStore(join(folder, "ledger.db"), { config: join(folder, "config") }));
        const source = `import tool Work from "host:work"
agent Clerk { remit { may Work.call at most 1 per day } func go() { Work.call({}) } }
main agent A { main func() {
    Work.call({})
    Work.call({})
    try { Clerk.go() } catch e { return e.kind }
} }
`;
        const called: number[] = [];
        const program = await load({ source }, { tools: { Work: { call: async () => called.push(1) } }, ledger: ledger.store });
        const handle = program.run(null);
        expect(await handle.result).toMatchObject({ status: "done", value: "denied" });
        expect(called).toHaveLength(2);
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
        const db = new DatabaseSync(join(folder, "ledger.db"));
        const { uses } = db.prepare("SELECT uses FROM counters").get() as { uses: string };
        expect(JSON.parse(uses)).toHaveLength(2);
        db.exec("UPDATE counters SET uses = '[]'");
        db.close();
        const one = await load(
            { source: source.replace("        Work.call({})\n", "") },
            { tools: { Work: { call: async () => 1 } }, ledger: ledger.store },
        );
        expect(await one.run(null).result).toMatchObject({
            failure: {
                kind: "denied",
                message:
                    "Work.call is counted by the day: its count in the ledger was changed, removed or put back without the ledger's key, so how often it was used is not known",
                hint: expect.stringMatching(/^wait until \S+Z: /),
            },
        });
        await ledger.close();
    });
});
