/** A run whose conductor is elsewhere, written by several processes at the same time (EL1, EL2, EL3, T8, OD1, OD5). */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import { performOnce } from "../../src/run/elsewhere.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { codeOf, newRun, pathOf } from "../ledger/stores.ts";
import { begins, effectOf } from "./elsewhere/batches.ts";
import { scriptAt } from "../script.ts";

const EFFECTS = 12;
const ACTIVITY = scriptAt("packages/host/tests/run/elsewhere/activity.ts");
let folder = "";
let file = "";
let config = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-elsewhere-"));
    file = join(folder, "ledger.db");
    config = join(folder, "config");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Did {
    readonly performed: number[];
    readonly outcomes: Map<number, Outcome>;
    readonly over: boolean;
}

/** One process; killed after so many outcomes. */
function activity(run: string, epoch: number, seed: number, kill = Number.POSITIVE_INFINITY): Promise<Did> {
    return new Promise((resolve, reject) => {
        const args = [ACTIVITY, file, config, run, String(epoch), String(EFFECTS), String(seed)];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" } });
        let text = "";
        child.stdout.on("data", (data: Buffer) => {
            text += data;
            if ((text.match(/^outcome/gm) ?? []).length >= kill) child.kill("SIGKILL");
        });
        child.on("error", reject);
        child.on("close", () => {
            const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
            const of = (what: string): string[] => lines.flatMap((line) => (line.startsWith(what) ? [line.slice(what.length + 1)] : []));
            const outcomes = of("outcome").map((line): [number, Outcome] => [
                Number(line.split(" ")[0]),
                JSON.parse(line.slice(line.indexOf(" "))) as Outcome,
            ]);
            resolve({ performed: of("performed").map(Number), outcomes: new Map(outcomes), over: lines.includes("over") });
        });
    });
}

async function made(store: LedgerStore): Promise<number> {
    const writer = await store.create({ ...newRun("r1"), by: "flow/1" });
    await writer.release();
    return writer.epoch;
}

async function holdsAll(store: LedgerStore, all: readonly Did[]): Promise<void> {
    expect(await store.run("r1")).toMatchObject({ status: "done", value: EFFECTS, effects: EFFECTS, events: 2 * EFFECTS, live: false });
    expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
    const outcomes = await Array.fromAsync(store.outcomes("r1"));
    expect(outcomes.map(({ path }) => path)).toEqual(Array.from({ length: EFFECTS }, (_, i) => pathOf(i + 1)));
    for (const { outcomes: told } of all) for (const [n, outcome] of told) expect(outcome).toEqual(outcomes[n - 1]?.outcome);
    // EL3.
    for await (const { kind, data } of store.events("r1"))
        if (kind === "tool.started") expect(data).toMatchObject({ key: "[secret env:KEY]" });
}

test("two processes that do all of it at the same time give one run, and agree on every outcome", async () => {
    const store = openSqlite(file, { config });
    const epoch = await made(store);
    const all = await Promise.all([activity("r1", epoch, 0), activity("r1", epoch, 5)]);
    expect(all.map(({ over, outcomes }) => [over, outcomes.size])).toEqual([
        [true, EFFECTS],
        [true, EFFECTS],
    ]);
    await holdsAll(store, all);
    await store.close();
});

test("a process that is killed loses none of its outcomes, and the next one performs none of them again", async () => {
    const store = openSqlite(file, { config });
    const epoch = await made(store);
    const first = await activity("r1", epoch, 3, 4);
    expect(first.outcomes.size).toBeGreaterThanOrEqual(4);
    const second = await activity("r1", epoch, 8);
    expect(second.over).toBe(true);
    for (const n of first.outcomes.keys()) expect(second.performed).not.toContain(n);
    // And once more, after the end: nothing is performed, all of it is acknowledged.
    const third = await activity("r1", epoch, 1);
    expect([third.over, third.performed]).toEqual([true, []]);
    await holdsAll(store, [first, second, third]);
    await store.close();
});

test("EL2: what a later owner does not want is neither performed nor kept", async () => {
    const store = memoryStore();
    const epoch = await made(store);
    const to = { store, secrets: createScrubber() };
    const carried = { run: "r1", epoch, batches: [{ n: 1, batch: begins(2) }] };
    const did: string[] = [];
    const perform = async (): Promise<Outcome> => {
        did.push("performed");
        await store.own("r1", { by: "flow/2", from: epoch });
        return { ok: true, value: 1, origins: [] };
    };
    // The owner is another one when the effect is done, and before the next one begins.
    expect(await codeOf(() => performOnce(to, carried, effectOf(1), perform))).toBe("owned");
    expect(await codeOf(() => performOnce(to, carried, effectOf(2), perform))).toBe("owned");
    expect(did).toEqual(["performed"]);
    expect(await store.outcome("r1", pathOf(1))).toBeNull();
    expect((await store.pending("r1")).map(({ begun }) => begun)).toEqual([true, true]);
    // A question that is left for later has no outcome.
    const next = { ...carried, epoch: epoch + 1, batches: [] };
    expect(await performOnce(to, next, effectOf(2), async () => null)).toBeNull();
    expect(await store.outcome("r1", pathOf(2))).toBeNull();
});
