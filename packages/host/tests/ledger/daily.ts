/**
 * A process with one run whose tool is counted by the day: `node daily.ts LEDGER CONFIG MOST TIMES [hang]`. Prints `called` at each call of the tool and, at its end, how
 * many calls went through. With `hang` a call never ends.
 */
import { writeSync } from "node:fs";
import { openStore } from "../../src/ledger/open.ts";
import { load } from "../../src/run/program.ts";

const [file = "", config = "", most = "1", times = "1", hang] = process.argv.slice(2);
const store = await openStore(file, { config });

const source = `import tool Work from "host:work" { call: at most ${most} per day }
main agent A { main func() {
    done = 0
    repeat * ${times} { try { Work.call({})  done = done + 1 } catch e { if e.kind != "denied" { raise e } } }
    done
} }
`;
const call = async (): Promise<number> => {
    writeSync(1, "called\n");
    if (hang !== undefined) await new Promise(() => setInterval(() => undefined, 1000));
    return 1;
};
const program = await load({ source }, { tools: { Work: { call: { repeatable: true, call } } }, ledger: store });
const handle = program.run(null);
writeSync(1, `run ${handle.id}\n`);
const { value } = await handle.result;
writeSync(1, `through ${String(value)}\n`);
await store.close();
