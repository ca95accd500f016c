/**
 * A process that holds a run: `node holder.ts FOLDER COUNT`: each step waits for a line in the file `go` that lets it on.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openSqlite } from "../../../src/ledger/sqlite.ts";
import { load } from "../../../src/run/program.ts";

const [folder = "", count = "1"] = process.argv.slice(2);
const go = join(folder, "go");
const allowed = (): number => (existsSync(go) ? readFileSync(go, "utf8").split("\n").length - 1 : 0);
const source = `import tool Work from "host:work"\nmain func() {\n    out = []\n    for n in [1, 2, 3, 4, 5] max ${Number(count)} { out.add(Work.step(n)) }\n    out\n}\n`;
const step = async (n: number): Promise<number> => {
    while (allowed() < n) await wait(5);
    return n;
};
const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
const program = await load({ source }, { tools: { Work: { step } }, ledger: store });
const handle = program.run(null);
process.stdout.write(`${handle.id}\n`);
process.stdout.write(`${JSON.stringify(await handle.value)}\n`);
await store.close();
