/** What a tool is asked to say of itself is a use of it: a server is started for it. */
import { expect, test } from "vitest";
import type { ToolRequest } from "../../../src/index.ts";
import { run, said } from "../running.ts";

test.each([
    ["{ }", [], []],
    ["{ never Mail }", [], []],
    ["{ may Repo.read }", ["Repo"], ["Repo.find"]],
    ["{ may all }", ["Mail", "Repo"], ["Mail.find", "Repo.find"]],
])("the manual is of what whoever asks has: %s", (remit, asked, listed) => {
    const text = `
import tool Mail from "mcp://mail"
import tool Repo from "file://workspace"
agent Fixer { remit ${remit} func go(name) { act("__manual__", name).structuredContent } }
main agent { main func() { Fixer.go({ }) } }`;
    const ran = run(text, {
        answer: (e) =>
            said({ methods: [{ name: "find", input: { type: "object" } }] }, [`tool:${(e.request as unknown as ToolRequest).tool}`]),
    });
    expect(ran.effects.map((e) => (e.request as unknown as ToolRequest).tool)).toEqual(asked);
    const { tools } = (ran.result.ok ? ran.result.value : null) as unknown as { readonly tools: readonly { readonly name: string }[] };
    expect(tools.map((one) => one.name)).toEqual(listed);
});

test("also where one is asked for by its name", () => {
    const text = `
import tool Mail from "mcp://mail"
agent Fixer { remit { } func go(name) { act("__manual__", { name: name }) } }
main agent { main func() { [Fixer.go("Mail"), Fixer.go("Mail.find"), Fixer.go("find")] } }`;
    expect(run(text).effects).toEqual([]);
});
