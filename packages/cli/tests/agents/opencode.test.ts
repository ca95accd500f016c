/** opencode from npm, handed control by programs. */
import { expect, test } from "vitest";
import { programs } from "./cases.ts";
import { place, withAgent } from "./place.ts";

programs({
    name: "opencode",
    write: (filePath, content) => ({ call: { name: "write", input: { filePath, content } } }),
    look: (path) => ({ call: { name: "glob", input: { pattern: "*", path } } }),
    writing: "write",
});

test("where no sandbox is, it is not started unless `unconfined` is written", async () => {
    await using here = await place("opencode", () => []);
    const main = "    return try { Fixer.yield(log: log) } catch e { [e.kind, e.message] }";
    here.at.write("main.remit", withAgent("opencode", "may Repo.read", main));
    const ran = await here.run({ env: { PATH: here.at.folder } }, "run", "main.remit", "--trust", "--input", '{"log": "red"}').ended;
    expect(JSON.parse(ran.out)).toEqual([
        "unreachable",
        expect.stringContaining("it must run in a sandbox, and bubblewrap is not installed"),
    ]);
    expect(here.model.heard).toEqual([]);
    expect(here.judged()).toMatchObject({ sound: true, equal: true });
});
