/** A disk that is full, a real one: a small file system in memory (BL1, G8, SW1). The tests mount it, so they run as root. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, symlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LedgerError, LedgerStore, RunHandle } from "../../src/index.ts";
import { load, openLedger } from "../../src/index.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { mountRoom } from "./room.ts";
import { codeOf, event, kept, newRun, pathOf } from "./stores.ts";

const disk = mkdtempSync(join(tmpdir(), "remit-full-"));
const config = mkdtempSync(join(tmpdir(), "remit-full-config-"));
const mount = (): void => mountRoom(disk, "8m");
const unmount = (): void => void spawnSync("umount", ["-l", disk]);

const file = join(disk, "ledger.db");
const ballast = `${file}.ballast`;
const filler = join(disk, "filler");
/** Takes all the room that is left. */
function fillDisk(): void {
    const fd = openSync(filler, "a");
    for (const size of [65_536, 4_096])
        try {
            for (;;) writeSync(fd, Buffer.alloc(size));
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
    closeSync(fd);
}

afterAll(() => {
    for (const folder of [disk, config]) rmSync(folder, { recursive: true, force: true });
});

describe("a full disk", () => {
    beforeEach(mount);
    afterEach(unmount);

    test("BL1: the commit in hand takes the room of the ballast, a later one is told, and is kept once when there is room", async () => {
        const store = openSqlite(file, { config });
        const writer = await store.create(newRun("r1"));
        await writer.commit({ events: [event(1)] });
        await expect.poll(() => existsSync(ballast)).toBe(true);
        expect(statSync(ballast).mode & 0o777).toBe(0o600);
        fillDisk();
        const large = "x".repeat(200_000);
        await writer.commit({ pending: [{ path: pathOf(2), begun: true }] }, 2);
        await writer.commit({ events: [event(2, { n: 2, large })] }, 3);
        expect(existsSync(ballast)).toBe(false);
        let n = 3;
        const code = await codeOf(async () => {
            for (;;) {
                await writer.commit({ events: [event(n, { n, large: `${large}${n}` })] }, n + 1);
                n++;
            }
        });
        expect(code).toBe("full");
        rmSync(filler);
        await writer.commit({ events: [event(n)] }, n + 1);
        await writer.commit({ events: [event(n)] }, n + 1);
        await writer.commit({ end: { status: "done", value: null } }, n + 2);
        expect(await kept(store, "r1")).toEqual(Array.from({ length: n }, (_, i) => i + 1));
        expect(await store.verify("r1")).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
        await expect
            .poll(async () => {
                await store.create(newRun(`r${Math.random()}`)).then((one) => one.commit({ end: { status: "stopped" } }));
                return existsSync(ballast);
            })
            .toBe(true);
        await store.close();
    });

    test("Q5: the batch that ends a run is kept though its anchor finds no room; it waits for the anchor, and the run is done", async () => {
        const home = mkdtempSync(join(tmpdir(), "remit-full-home-"));
        const ledger = join(home, "ledger.db");
        // Only the anchors are on the full disk.
        symlinkSync(join(disk, "anchors"), `${ledger}.anchors`);
        const store = openSqlite(ledger, { config });
        const writer = await store.create(newRun("r1"));
        await writer.commit({ events: [event(1)] }, 1);
        // Up to the end of a page, so that the next line needs another one.
        appendFileSync(join(disk, "anchors"), "\n".repeat(4096 - (statSync(join(disk, "anchors")).size % 4096)));
        fillDisk();
        const end = { end: { status: "done", value: 1 } } as const;
        expect(await codeOf(() => writer.commit(end, 2))).toBe("full");
        expect(await store.run("r1")).toMatchObject({ status: "done", value: 1 });
        expect(await codeOf(() => writer.commit(end, 2))).toBe("full");
        const waits: (string | null)[] = [];
        const stalled = (why: LedgerError | null): void => {
            waits.push(why?.code ?? null);
            if (why !== null) rmSync(filler);
        };
        const program = await load({ source: "main func() { 1 + 1 }" }, { ledger: store, cache: false });
        expect(await program.run(null, { on: { stalled } }).result).toMatchObject({ ok: true, status: "done", value: 2 });
        expect(waits).toEqual(["full", null]);
        await writer.commit(end, 2);
        for (const { id } of await store.runs()) expect(await store.verify(id)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
        await store.close();
        rmSync(home, { recursive: true, force: true });
    });

    /** A run whose second call finds the disk full, and gives more than the ballast holds. */
    async function stalled(
        signal?: AbortSignal,
    ): Promise<{ store: LedgerStore; calls: number[]; handle: RunHandle<Json>; waits: (string | null)[] }> {
        const calls: number[] = [];
        const waits: (string | null)[] = [];
        const step = (n: number): string => {
            calls.push(n);
            if (n === 2) fillDisk();
            return n === 2 ? randomBytes(1_500_000).toString("base64") : `${n}`;
        };
        const ledger = await openLedger(file, { config });
        const program = await load(
            {
                source: `import tool Work from "host:work"
main func() {
    a = Work.step(1).length
    b = Work.step(2).length
    [a, b, Work.step(3).length]
}
`,
            },
            { tools: { Work: { step } }, ledger: ledger.store, cache: false },
        );
        const handle = program.run(null, {
            ...(signal === undefined ? {} : { signal }),
            on: { stalled: (why: LedgerError | null) => void waits.push(why?.code ?? null) },
        });
        await expect.poll(() => waits).toEqual(["full"]);
        return { store: ledger.store, calls, handle, waits };
    }

    test("SW1: an outcome that is larger waits in memory, nothing begins, and the run goes on when there is room", async () => {
        const { store, calls, handle, waits } = await stalled();
        expect(calls).toEqual([1, 2]);
        rmSync(filler);
        expect(await handle.value).toEqual([1, 2_000_000, 1]);
        expect(calls).toEqual([1, 2, 3]);
        expect(waits).toEqual(["full", null]);
        expect(await store.verify(handle.id)).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test("SW1: a cancel ends the wait; what was acknowledged is there, and the run goes on later", async () => {
        const cancel = new AbortController();
        const { store, handle } = await stalled(cancel.signal);
        cancel.abort();
        expect(await handle.result).toMatchObject({ ok: false, status: "stopped", effects: 1 });
        rmSync(filler);
        const ledger = await openLedger(store);
        const again: number[] = [];
        const step = (n: number): string => {
            again.push(n);
            return `${n}`;
        };
        const resumed = await ledger.resume(handle.id, { tools: { Work: { step } }, on: { unknown: () => ({ answer: "again" }) } });
        expect(await resumed.value).toEqual([1, 1, 1]);
        expect(again).toEqual([2, 3]);
        await store.close();
    });
});
