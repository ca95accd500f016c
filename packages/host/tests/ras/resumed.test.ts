/** A Re in Act program whose run is killed again and again: run anew with the answers it had, it goes on, and nothing is performed twice. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterAll, expect, test } from "vitest";
import { openLedger } from "../../src/run/open.ts";
import { call, failure, work } from "../tool/setup.ts";
import { scriptAt } from "../script.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-ras-killed-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const CHILD = scriptAt("packages/host/tests/ras/killed.ts");

test("killed at every call, before it, after it and with its outcome on record", async () => {
    writeFileSync(
        join(folder, "program.ts"),
        `const one = await act("Work.step", { n: 1 });
const two = await Promise.all([2, 3].map((n) => act("Work.step", { n })));
console.log("seen", [one, ...two].map((each) => each.structuredContent.tenfold).join(" "));
return { last: (await act("Work.step", { n: 4 })).structuredContent.tenfold };
`,
    );
    writeFileSync(join(folder, "tools.remit"), 'import tool Work from "host:work" { step: may }\nmain func() { none }\n');
    const go = (moment: string) => {
        const env = { ...process.env, NODE_OPTIONS: "", HOME: folder, XDG_CONFIG_HOME: join(folder, "config") };
        return spawnSync(process.execPath, [CHILD, folder, moment], { encoding: "utf8", env });
    };
    for (const moment of ["before 1", "ended 1", "after 2", "before 4", "after 4"]) {
        const { signal, stdout, stderr } = go(moment);
        expect([moment, signal, stdout + stderr]).toEqual([moment, "SIGKILL", ""]);
    }
    const { stdout, stderr } = go("");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, value: { output: "seen 10 20 30\n", value: { last: 40 } } });
    expect(readFileSync(join(folder, "side.log"), "utf8").trim().split("\n").sort()).toEqual(["1", "2", "3", "4"]);
    const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, "config") });
    const [run] = await ledger.runs();
    expect(await ledger.verify(run?.id ?? "")).toMatchObject({ ok: true });
    expect(await ledger.replay(run?.id ?? "")).toMatchObject({ equal: true });
    await ledger.close();
});

test("run again, a program that calls something else is told which call it was", async () => {
    await using here = work();
    here.write("a.py", 'first = await act("__manual__", {})\nsecond = await reason("now this", {"x": ""})\nreturn second\n');
    const tools = here.tools();
    const again = (history: Json): Json => ({ inputs: {}, tools: [], riffs: [], history });
    const manual = { id: 7, kind: "manual", args: {} };
    const reason = (prompt: string): Json => ({ id: 8, kind: "reason", args: { prompt, example: { x: "" }, attempts: null } });
    const value = { structuredContent: { tools: [] }, content: [] };
    // as it was: the first is answered from the history, the second is the next to be performed
    const same = await call(tools, "ras:a.py", "again", again([{ calls: [manual], answers: [{ id: 7, value }] }]));
    expect(same).toMatchObject({ done: false, gone: false, calls: [{ kind: "reason", args: { prompt: "now this" } }] });
    const whole = [
        { calls: [manual], answers: [{ id: 7, value }] },
        { calls: [reason("now that")], answers: [{ id: 8, value: { data: { x: "y" } } }] },
    ];
    expect(await failure(tools, "ras:a.py", "again", again(whole))).toMatchObject({
        kind: "value",
        message: expect.stringMatching(/called reason\(.*now this.*\) and not reason\(.*now that/),
    });
    const over = [...whole.slice(0, 1), { calls: [reason("now this")], answers: [{ id: 8, value: { data: { x: "y" } } }] }];
    expect(await call(tools, "ras:a.py", "again", again(over))).toMatchObject({ done: true, value: { data: { x: "y" } } });
    const more = [...over, { calls: [reason("and this")], answers: [{ id: 8, value: { data: { x: "y" } } }] }];
    expect((await failure(tools, "ras:a.py", "again", again(more))).message).toMatch(/ended without reason\(.*and this/);
    // without a sandbox it may have done things itself
    expect(await failure(tools, "ras:a.py", "again", { ...(again([]) as object), confinement: "unconfined" })).toMatchObject({
        kind: "unreachable",
        hint: expect.stringContaining("begin anew"),
    });
    // The first one waits for its next answer.
    await tools.close();
});
