/**
 * A process that does its part of a run whose conductor is elsewhere: `node activity.ts FILE CONFIG RUN EPOCH EFFECTS SEED`. It performs every effect
 * that has no outcome yet, then appends the batches that hold the outcomes, both in an order of its own. Prints `performed N` before an effect is
 * performed, `outcome N VALUE` once its outcome counts, and `over` at the end.
 */
import { writeSync } from "node:fs";
import type { Outcome } from "@remit/machine";
import { openSqlite } from "../../../src/ledger/sqlite.ts";
import { append, type Carried, performOnce } from "../../../src/run/elsewhere.ts";
import { createScrubber } from "../../../src/secret/scrub.ts";
import { pathOf } from "../../ledger/stores.ts";
import { begins, effectOf, ends, holds } from "./batches.ts";

const [file = "", config = "", run = "", ...numbers] = process.argv.slice(2);
const [epoch = 0, effects = 0, seed = 0] = numbers.map(Number);
const store = openSqlite(file, { config });
const to = { store, secrets: createScrubber([{ name: "env:KEY", value: "sesame-open-17" }]) };
const say = (line: string): void => void writeSync(1, `${line}\n`);
/** All numbers from 1 on, in the order of this process. */
const order = Array.from({ length: effects }, (_, i) => ((i * 7 + seed) % effects) + 1);
const carried = (batches: Carried["batches"]): Carried => ({ run, epoch, batches });

const outcomes = new Map<number, Outcome>();
await Promise.all(
    order.map(async (n) => {
        const outcome = await performOnce(to, carried([{ n: 1, batch: begins(effects) }]), effectOf(n), async () => {
            say(`performed ${n}`);
            await new Promise((resolve) => setTimeout(resolve, n % 5));
            return { ok: true, value: `${n} by ${process.pid}`, origins: [] };
        });
        if (outcome === null) throw new Error(`${pathOf(n)} has no outcome`);
        outcomes.set(n, outcome);
        say(`outcome ${n} ${JSON.stringify(outcome)}`);
    }),
);
await append(to, carried([{ n: effects + 2, batch: ends(effects) }]));
for (const n of order) await append(to, carried([{ n: n + 1, batch: holds(n, outcomes.get(n) as Outcome) }]));
say("over");
await store.close();
