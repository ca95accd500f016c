/**
 * A process with many runs that commit at once: `node crowd.ts LEDGER CONFIG RUNS [COMMITS]`. Prints `RUN N` when commit N of a run is acknowledged.
 * Without COMMITS it goes on until it is killed; with it, it ends without closing the store.
 */
import { writeSync } from "node:fs";
import { openStore } from "../../src/ledger/open.ts";

const [file = "", config = "", runs = "2", commits] = process.argv.slice(2);
const store = await openStore(file, { config });
const program = { format: "remit-program/1" as const, files: [] };
const last = commits === undefined ? Number.POSITIVE_INFINITY : Number(commits);
const one = async (id: string): Promise<void> => {
    const writer = await store.create({ id, program, hash: "h", file: "a.remit", root: "", options: {} });
    for (let n = 1; n <= last; n++) {
        const about = { path: "main", parent: null, principal: "user", site: null, labels: [], data: { n, text: "x".repeat(400) } };
        await writer.commit({ events: [{ ...about, kind: "budget" }], pending: [{ path: `main/T.x#${n}`, begun: true }] });
        writeSync(1, `${id} ${n}\n`);
        await new Promise((resolve) => setImmediate(resolve));
    }
    await writer.release();
};
for (let i = 0; i < Number(runs); i++) void one(`${process.pid}-${i}`);
