/**
 * Effects whose outcomes are on the disk before anything follows from them: on a real disk, and on a file system in memory, where what is left
 * is the cost of the code. The floor is one append of a page with `fdatasync`, the least that any durable engine can pay.
 */
import { closeSync, existsSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chain } from "./chain.ts";
import { type Contender, figure, here, QUICK, type Row, rounds, type Section } from "./harness.ts";

const GOAL = 500;
const SIZES = QUICK ? [10, 100] : [10, 100, 1_000, 10_000];
const MEMORY = "/dev/shm";

export async function durable(): Promise<Section> {
    const disk = mkdtempSync(join(tmpdir(), "remit-bench-"));
    const memory = existsSync(MEMORY) ? mkdtempSync(join(MEMORY, "remit-bench-")) : null;
    const file = openSync(join(disk, "floor"), "w");
    const page = Buffer.alloc(4096, 1);
    try {
        const onDisk = await chain({ ledger: join(disk, "ledger.db") });
        const inMemory = memory === null ? null : await chain({ ledger: join(memory, "ledger.db") });
        // What is compiled in the first runs of a process is no cost of an effect.
        const warm = QUICK ? 0 : 2_000;
        for (const ledger of [onDisk, inMemory]) if (ledger !== null) await here("Remit", () => ledger.run(100)).turn(warm);
        const rows: Row[] = [];
        for (const n of SIZES) {
            const floor = (): void => {
                for (let i = 0; i < Math.min(n, 200); i++) {
                    writeSync(file, page);
                    fdatasyncSync(file);
                }
            };
            const contenders: Contender[] = [
                here("Remit", () => onDisk.run(n)),
                here("append + fdatasync alone", floor),
                ...(inMemory === null ? [] : [here("Remit, file system in memory", () => inMemory.run(n))]),
            ];
            const [ours, least, code] = await rounds(contenders, { budget: 45_000, most: n <= 100 ? 9 : 5, slice: 60 });
            if (ours === undefined || least === undefined) continue;
            const value = (ours.median * 1000) / n;
            const against = [{ name: least.name, value: (least.median * 1000) / Math.min(n, 200), ratio: 0 }];
            if (code !== undefined) against.push({ name: code.name, value: (code.median * 1000) / n, ratio: 0 });
            const soft = code === undefined ? null : (code.median * 1000) / n;
            rows.push({
                name: `${n.toLocaleString("en")} effects`,
                ours: value,
                unit: "µs/effect",
                against: against.map((one) => ({ ...one, ratio: one.value / value })),
                goal: `≤ ${GOAL} µs`,
                met: value <= GOAL,
                note: `${figure(1e6 / value)} durable effects/s on this disk${soft === null ? "" : `, ${figure(1e6 / soft)} where syncing costs nothing`}`,
            });
        }
        await onDisk.close();
        await inMemory?.close();
        return {
            title: "One effect, durable",
            how: "The same chain with a ledger on disk. Each effect's outcome, what followed from it, the continuation and the next start are one transaction with one sync. Each ledger has been written for two seconds before.",
            rows,
            cause: "Each effect of a chain waits for one sync of the disk, since the next may begin only when the last outcome is on it; the floor in the same row says what that alone takes, and on this shared disk it went from 0.3 to 4 ms within an hour. What the code adds is the figure for the file system in memory: by profile about two fifths of it SQLite, a fifth sealing the events, a tenth the continuation. Ten effects also share the run's own commits. Two attempts: no sync for what nothing follows from (owners, heartbeats, the row of a new run), and less work for labels and events in the machine; neither touches the one sync. A run of ten syncs eleven times, counted by the system: once for its beginning and the first start, then once for each outcome. What is paid once is little in processor time: 0.7 ms for a run without effects, beside 0.44 ms an effect (file system in memory, busy machine). Who owns a run is looked up once a process: a third of what a run without effects took. A batch of 2.5 kB writes 4.9 pages of the write-ahead log (5.4 in a run's first 64; `node bench/store.ts`) since outcomes stand among the events, pending effects in the run's row and states in the room of older ones; it was 6.6.",
        };
    } finally {
        closeSync(file);
        rmSync(disk, { recursive: true, force: true });
        if (memory !== null) rmSync(memory, { recursive: true, force: true });
    }
}
