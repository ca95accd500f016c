/** What an agent wants to do with its own hands by another name for it: the generic call of a server, a verb in capitals. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type AgentTurn, Compiled, Machine, type Ruling } from "../../../src/index.ts";
import { describing } from "../../run/forms.ts";
import { formOf, said } from "../running.ts";

/** What the tool has besides what the rules name. */
const WORDS = 'func words() { return "send body find drop" }';

const OPTIONS = { run: "r", programHash: "h", entry: { file: 0, agent: "A", func: "__main" }, input: null, imports: {}, limits: {} };

/** A turn of an agent with these hands. */
function turn(clauses: string, remit: string): { hands: AgentTurn["hands"]; rule: (tool: string, method: string, args: Json) => Ruling } {
    const text = `import tool Mail from "mcp://mail" { ${clauses} }
import tool Web from "https://api.example.com" { reads get: "alice" }
import agent Fixer from "acp://x" { remit { ${remit} } }
main agent A { main func(input) { Fixer.send("go") } }`;
    const form = formOf(`${text}\n${WORDS}`);
    const machine = Machine.start(new Compiled(form), OPTIONS);
    // What something is said of is asked first what it has.
    let { effects } = machine.advance();
    for (const { kind, path } of effects) if (kind === "tool") machine.resolve(path, said(describing(form), ["tool:Mail"]));
    if (effects.some(({ kind }) => kind === "tool")) effects = machine.advance().effects;
    const effect = effects.find(({ kind }) => kind === "agent");
    if (effect === undefined) throw new Error("nobody was asked");
    return {
        hands: (effect.request as unknown as AgentTurn).hands,
        rule: (tool, method, args) => machine.rule(effect.path, { tool, method, args: [args] }),
    };
}

describe("the generic call of a server is the tool that it names", () => {
    test.each<[string, string, string, Json, string]>([
        ["send: never", "may Mail", "send", {}, "refused"],
        ["send: ask", "may Mail", "send", {}, "ask"],
        ["send: may", "may Mail", "send", {}, "may"],
        ["arg to: trusted", "may Mail", "send", { to: "x" }, "refused"],
        ["arg send.to: trusted", "may Mail", "send", { to: "x" }, "refused"],
        ["arg send.to: trusted", "may Mail", "send", { body: "x" }, "may"],
        ['reads find: "alice"', "may Mail", "find", {}, "refused"],
        ["reads find: arg owner", "may Mail", "find", { owner: "alice" }, "refused"],
        ["", "may Mail never Mail.drop", "drop", {}, "refused"],
        ["", "may Mail ask Mail.drop", "drop", {}, "ask"],
        ["", "may Mail.find", "find", {}, "may"],
        ["", "may Mail.find", "drop", {}, "refused"],
        ["", 'may Mail.send in to: "*@example.com"', "send", { to: "a@example.com" }, "may"],
        ["", 'may Mail.send in to: "*@example.com"', "send", { to: "a@evil.org" }, "refused"],
    ])("{ %s } remit { %s }: %s %j is %s", (clauses, remit, method, args, expected) => {
        const { rule } = turn(clauses, remit);
        expect(rule("Mail", method, args).kind).toBe(expected);
        expect(rule("Mail", "call", { tool: method, args }).kind).toBe(expected);
    });

    test("a question is about that tool, and shows the call as it would be made; a yes for the session is for both ways", () => {
        const { rule } = turn("send: ask", "may Mail");
        const args = { tool: "send", args: { to: "x" } };
        const [plain, generic] = [rule("Mail", "send", { to: "x" }), rule("Mail", "call", args)];
        if (plain.kind !== "ask" || generic.kind !== "ask") throw new Error("it is not asked");
        expect(generic.question).toBe(plain.question);
        expect(generic.use).toBe(plain.use);
        expect(generic.detail).toMatchObject({ capability: "Mail.send", args: [args] });
        expect(generic.request).toMatchObject({ method: "call", args: [args] });
    });
});

test("what a verb gives is for whom its clause says, however it is written", () => {
    const { hands, rule } = turn("", "may Web.GET, Web.post");
    expect(rule("Web", "GET", { url: "/" })).toMatchObject({ kind: "refused", message: expect.stringContaining("alice") });
    expect(rule("Web", "get", { url: "/" }).kind).toBe("refused");
    expect(rule("Web", "POST", { url: "/" }).kind).toBe("may");
    expect(hands.find(({ tool }) => tool === "Web")?.methods).toEqual([
        { method: "get", gate: "may", whole: false },
        { method: "post", gate: "may", whole: true },
    ]);
});
