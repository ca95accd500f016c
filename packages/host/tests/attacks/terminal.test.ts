/** Where a command runs that an agent starts by the protocol: in the folder it names, or nowhere. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handOf, rig } from "../agent/rig.ts";

test("a command is started in the folder that was named, of whatever tool that folder is", async () => {
    await using it = rig({ allow: [] });
    mkdirSync(join(it.here.workspace, "sub", "deep"), { recursive: true });
    const start = (cwd: string) => ({ do: "request", method: "terminal/create", params: { command: "rm -rf *", cwd } });
    const at = (...path: string[]): string => join(it.here.workspace, ...path);
    const hands = [handOf("file://workspace/sub", { read: "may" }, true, "Sub"), handOf("shell:", { run: "ask" }, undefined, "Sh")];
    const found = await it.found([start(at("sub")), start(at("sub", "deep")), start(at("..")), start("/etc")], { hands });
    const args = it.uses.filter(({ use }) => use.tool === "Sh").map(({ use }) => use.args[0]);
    expect(args).toEqual([
        { command: "rm -rf *", cwd: "sub" },
        { command: "rm -rf *", cwd: "sub/deep" },
    ]);
    expect(found.slice(2)).toEqual([{ no: expect.any(Number) }, { no: expect.any(Number) }]);
    const below = [handOf("file://workspace", { read: "may" }, true), handOf("shell:sub", { run: "ask" }, undefined, "Sh")];
    const refused = await it.found([start(at()), start(at("sub", "deep"))], { hands: below, session: "main/Fixer.yield#1" });
    expect(refused[0]).toEqual({ no: expect.any(Number) });
    expect(it.uses.filter(({ use }) => use.tool === "Sh").at(-1)?.use.args[0]).toEqual({ command: "rm -rf *", cwd: "deep" });
});
