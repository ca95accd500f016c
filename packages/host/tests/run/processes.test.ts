/** More than one process at one ledger (O1, T2), and a process that runs a program many times (X1). */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { openLedger } from "../../src/run/open.ts";
import { scriptAt } from "../script.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-processes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HOLDER = scriptAt("packages/host/tests/run/crash/holder.ts");
const LIBRARY = new URL("../../src/run/program.ts", import.meta.url).href;

interface Holder extends AsyncDisposable {
    readonly process: ChildProcess;
    line(): Promise<string>;
}
/** A process that runs a program and prints its run id, then its value. */
function hold(args: readonly string[]): Holder {
    const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" } });
    const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
    return {
        process: started,
        line: async () => String((await lines.next()).value),
        [Symbol.asyncDispose]: async () => {
            if (started.exitCode === null && started.signalCode === null) {
                const gone = new Promise((resolve) => started.once("exit", resolve));
                started.kill("SIGKILL");
                await gone;
            }
        },
    };
}
const ledgerHere = () => openLedger(openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") }));
const letOn = (): void => appendFileSync(join(folder, "go"), "go\n");

test("a live run is not taken over; its events can be followed; once its process is gone it can be", async () => {
    await using holder = hold([HOLDER, folder, "3"]);
    const id = await holder.line();
    const ledger = await ledgerHere();
    expect(await ledger.run(id)).toMatchObject({ status: "running", live: true });
    await expect(ledger.resume(id)).rejects.toMatchObject({ code: "owned" });

    letOn();
    const seen: string[] = [];
    for await (const event of ledger.follow(id, { every: 5 })) {
        seen.push(event.kind);
        if (event.kind === "tool.ended") break;
    }
    expect(seen).toEqual(["run.started", "for", "tool.started", "tool.ended"]);

    const gone = new Promise((resolve) => holder.process.once("exit", resolve));
    holder.process.kill("SIGKILL");
    await gone;
    expect(await ledger.run(id)).toMatchObject({ status: "running", live: false });
    const again: number[] = [];
    const handle = await ledger.resume(id, {
        tools: {
            Work: {
                step: (n: number) => {
                    again.push(n);
                    return n * 100;
                },
            },
        },
        on: { unknown: () => ({ answer: "again" }) },
    });
    expect(await handle.value).toEqual([1, 200, 300]);
    expect(again).toEqual([2, 3]);
    expect(await ledger.verify(id)).toMatchObject({ ok: true });
    await ledger.close();
});

test("following ends with the run, and gives every event", async () => {
    await using holder = hold([HOLDER, folder, "5"]);
    const id = await holder.line();
    const ledger = await ledgerHere();
    for (let i = 0; i < 5; i++) letOn();
    const seqs: number[] = [];
    for await (const event of ledger.follow(id, { every: 5 })) seqs.push(event.seq);
    expect(await holder.line()).toBe("[1,2,3,4,5]");
    expect(seqs).toEqual(Array.from({ length: (await ledger.run(id)).events }, (_, i) => i + 1));
    await ledger.close();
});

test("two processes at once on one ledger", async () => {
    for (let i = 0; i < 5; i++) letOn();
    await using one = hold([HOLDER, folder, "5"]);
    await using two = hold([HOLDER, folder, "5"]);
    const ids = [await one.line(), await two.line()];
    expect([await one.line(), await two.line()]).toEqual(["[1,2,3,4,5]", "[1,2,3,4,5]"]);
    const ledger = await ledgerHere();
    for (const id of ids) {
        expect(await ledger.verify(id)).toMatchObject({ ok: true, anchored: "yes" });
        expect((await ledger.replay(id)).equal).toBe(true);
    }
    await ledger.close();
});

test("X1: the heap does not grow with the number of runs", async () => {
    const script = join(folder, "many.ts");
    writeFileSync(
        script,
        `import { load } from ${JSON.stringify(LIBRARY)};
const program = await load({ source: ${JSON.stringify('import tool Work from "host:work"\nmain func(input: { n: number }) { Work.double(input.n) + Work.double(1) }\n')} }, { tools: { Work: { double: (n) => n * 2 } } });
const settle = () => { gc(); gc(); return process.memoryUsage().heapUsed; };
for (let n = 0; n < 1000; n++) await program({ n });
const before = settle();
for (let n = 0; n < 5000; n++) if ((await program({ n })) !== 2 * n + 2) throw new Error("wrong");
console.log(settle() - before);
`,
    );
    await using many = hold(["--expose-gc", script]);
    expect(Number(await many.line())).toBeLessThan(2_500_000);
});
