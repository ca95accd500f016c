/**
 * A durable step of a flow: a node of a plan of Remit, a step of Restate (its server, its own log) and of DBOS (PostgreSQL), each on the same disk.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apart } from "./apart.ts";
import { here, other, QUICK, type Row, rounds, type Section } from "./harness.ts";
import { planOf } from "./nodes.ts";

const SIZES = QUICK ? [10] : [10, 100, 1_000];
const PEERS = ["restate", "dbos"] as const;
const NAMES = { restate: "Restate", dbos: "DBOS" } as const;

export async function durablePeers(): Promise<Section> {
    const disk = mkdtempSync(join(tmpdir(), "remit-bench-"));
    // PostgreSQL runs as a user of its own where this one is root.
    chmodSync(disk, 0o755);
    const peers = PEERS.map((name) => {
        const module = new URL(`../peers/${name}.ts`, import.meta.url).href;
        return apart(NAMES[name], { module, make: "flows", args: [join(disk, name)] });
    });
    try {
        const rows: Row[] = [];
        for (const n of SIZES) {
            const program = await planOf(n, join(disk, "ledger.db"));
            const [ours, ...others] = await rounds([here("Remit", () => program(null)), ...peers.map((one) => one.at(n))], {
                budget: 30_000,
                most: 7,
                slice: 60,
            });
            await program.close();
            if (ours === undefined) continue;
            const per = (ms: number): number => ms / n;
            const value = per(ours.median);
            rows.push({
                name: `a chain of ${n.toLocaleString("en")}`,
                ours: value,
                unit: "ms/step",
                against: others.map((one) => other(one, value, per)),
            });
        }
        return { title: "A durable step beside other engines", how: HOW, rows };
    } finally {
        for (const one of peers) one.close();
        rmSync(disk, { recursive: true, force: true });
    }
}

const HOW =
    "Steps that do nothing, one after the other, each durable before the next begins. Remit: a plan in this process with its ledger in SQLite (`synchronous = FULL`), with events, labels and budgets. Restate: its server on loopback, whose log it keeps by its own defaults. DBOS: PostgreSQL on loopback with its own defaults. Ratio is time of the other ÷ time of Remit.";
