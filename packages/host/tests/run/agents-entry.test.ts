/** A run that begins with a function of an agent that the file imports: the import's remit holds for it as for a call. */
import { expect, test } from "vitest";
import { load } from "../../src/run/program.ts";
import { work } from "../tool/setup.ts";

const HELPER = `import tool Files from "file://workspace"
agent Helper {
    remit { may Files.write, Files.list }
    main func(path: string) { Files.write({ path: path, content: "x" })  Files.list({})  path }
    func store(path: string) { Files.write({ path: path, content: "x" })  Files.list({})  path }
}
`;
const MAIN = (remit: string): string => `import agent Helper from "./helper.remit" { remit { ${remit} } }
main agent A { main func(path: string) { Helper.store(path) } }
`;

const ENTRIES = [{ func: "Helper.store" }, { agent: "Helper", func: "store" }, { agent: "Helper" }, {}] as const;

test.each(ENTRIES)("%j: its bounds and what it may spend", async (entry) => {
    await using here = work();
    here.write("helper.remit", HELPER);
    const run = async (remit: string, path: string) => {
        here.write("main.remit", MAIN(remit));
        const how = { env: here.env, trust: true, workspace: here.workspace, ledger: "memory" } as const;
        const program = await load<{ path: string }>(`${here.workspace}/main.remit`, how);
        const { status, value, failure } = await program.run({ path }, { entry }).result;
        await program.close();
        return status === "done" ? value : failure?.kind;
    };
    const bounded = 'may Files.list, Files.write in "ok/**"';
    expect(await run(bounded, "ok/a")).toBe("ok/a");
    expect(await run(bounded, "bad/a")).toBe("violation.remit");
    expect(await run("may Files  spend 1 calls", "ok/a")).toBe("limit.calls");
});
