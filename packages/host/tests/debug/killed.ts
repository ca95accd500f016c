/** The process that is killed: `node killed.ts FOLDER`. */
import { join } from "node:path";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { load } from "../../src/run/program.ts";

const [folder = ""] = process.argv.slice(2);
const source = `import tool Work from "host:work"
import tool Look from "inspect:"
main func() {
    sum = 0
    for i in [1, 2, 3, 4] max 10 {
        one = Work.step(i)
        sum += one + Look.frame({}).index
    }
    sum
}
`;
const step = (n: number): number => {
    if (n === 3) process.kill(process.pid, "SIGKILL");
    return n * 10;
};
const ledger = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
const program = await load({ source, file: "main.remit" }, { tools: { Work: { step } }, ledger, cache: false });
await program({});
