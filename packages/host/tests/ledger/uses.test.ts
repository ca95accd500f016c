/** `at most 20 per day`: counted in the ledger over runs, processes and resumes (UOD1–UOD3, DAY1, DAY2). */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryUses } from "../../src/ledger/uses.ts";
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

const use = (n: number, counter = "mail", run = "r") => ({ counter, run, place: `main/Mail.send#${n}#1` });

describe.each(Object.entries<Open>(STORES))("%s", (_name, open) => {
    test("a use counts once however often it is told, and not where it did not happen", async () => {
        const store = await open(folder);
        const { uses } = store;
        expect(await uses.today("mail")).toBe(0);
        for (const _ of [1, 2]) expect(await uses.count(use(1), 2)).toBe(true);
        expect(await uses.count(use(2), 2)).toBe(true);
        expect(await uses.count(use(3), 2)).toBe(false);
        // Another counter, and a rule with room for more.
        expect(await uses.count(use(3, "other"), 2)).toBe(true);
        expect(await uses.count(use(3), 3)).toBe(true);
        // What no rule bounds is counted all the same.
        expect(await uses.count(use(4), null)).toBe(true);
        expect(await uses.today("mail")).toBe(4);
        await uses.uncount(use(4));
        await uses.uncount(use(3));
        expect(await uses.today("mail")).toBe(2);
        await store.close();
    });

    test("of many that count at once no more than may go through, and what runs used stays when they are removed", async () => {
        const stores: LedgerStore[] = [await open(folder)];
        if (stores[0]?.durable === true) stores.push(await open(folder));
        const all = await Promise.all(
            Array.from({ length: 24 }, (_, n) => (stores[n % stores.length] as LedgerStore).uses.count(use(n), 5)),
        );
        expect(all.filter((yes) => yes)).toHaveLength(5);
        const [first] = stores as [LedgerStore];
        await fill(first, "r", 1);
        await first.remove(["r"]);
        expect(await first.uses.today("mail")).toBe(5);
        for (const store of stores) await store.close();
    });
});

test("after 24 hours a use counts no more", async () => {
    let now = 1e12;
    const uses = memoryUses(() => now);
    expect([await uses.count(use(1), 1), await uses.count(use(2), 1)]).toEqual([true, false]);
    now += 24 * 3_600_000 - 1;
    expect(await uses.count(use(2), 1)).toBe(false);
    now += 1;
    expect([await uses.count(use(2), 1), await uses.today("mail")]).toEqual([true, 1]);
});

test("in the embedded ledger, too", async () => {
    const file = join(folder, "ledger.db");
    const store = await openStore(file, { config: join(folder, "config") });
    expect(await store.uses.count(use(1), 1)).toBe(true);
    const db = new DatabaseSync(file);
    db.exec("UPDATE uses SET at = at - 24 * 3600000");
    db.close();
    expect([await store.uses.today("mail"), await store.uses.count(use(2), 1), await store.uses.today("mail")]).toEqual([0, true, 1]);
    await store.close();
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
    }, 60_000);

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
    }, 60_000);

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
        expect(db.prepare("SELECT count(*) AS n FROM uses").get()).toEqual({ n: 2 });
        db.close();
        await ledger.close();
    });
});
