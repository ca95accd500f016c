/** What chose a name, a shape or an option goes along with what that leads to: `act()`, `reason()`, `agent()`. */
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { did, end, kind, run, said, turns } from "../run/handing.ts";

const HEAD = 'import tool C from "mcp://c" { reads: "alice" }\nimport tool F from "mcp://f"\n';
const main = (body: string): string =>
    `main agent Main { model L role "r" description "d" main func(input) { x = C.find({}).did  y = F.find({}).did\n ${body} } }`;
const MODEL = 'import llm L from "openai://gpt-5" { audience: "bob" }\n';
/** The word that both tools give. */
const gives =
    (word: string) =>
    (e: Effect): Outcome | undefined => {
        const { tool, op } = e.request as { tool?: string; op?: string };
        if (op === "describe") return said({ methods: [{ name: "send", input: {} }] }, [`tool:${tool}`]);
        return (tool === "C" || tool === "F") && op === "call" ? said({ did: word }, [`tool:${tool}`]) : undefined;
    };
const go = (text: string, word: string, how: Parameters<typeof run>[1] = {}): ReturnType<typeof run> =>
    run(text, { world: gives(word), unchecked: true, ...how });

describe("act(): the name", () => {
    const OUT = 'import tool Out from "mcp://out" { arg content: trusted, audience: "bob" }\n';
    test.each([
        ["of no tool", "TAINTED"],
        ["of no method", "Out.nothing"],
        ["that fails", "F.find"],
    ])("%s is in the labels of what comes back", (_, word) => {
        const text = `${HEAD}${OUT}${MODEL}${main("t = act(y, {}).content[0].text  Out.write({ content: t })")}`;
        expect(kind(go(text, word, { yes: "deny" }))).toBe("violation.flow");
        const strict = go(`flow strict\n${text}`, word, { yes: "deny" });
        expect(kind(strict)).toBe("violation.flow");
    });

    test("readers of the name are readers of what is sent", () => {
        const text = `${HEAD}${OUT}${MODEL}${main('act("Out." + x, { content: "k" })  return 1')}`;
        const ran = go(text, "write", { yes: "once" });
        expect(kind(ran)).toBe("violation.flow");
        expect(did(ran)).not.toContain("Out.write");
    });

    test("in strict code the place and the name are in what is sent", () => {
        for (const body of ['if y == "k" { act("Out.write", { content: "k" }) }', 'if y == "k" { Out.write({ content: "k" }) }']) {
            const ran = go(`flow strict\n${HEAD}${OUT}${MODEL}${main(`${body}\n return 1`)}`, "k");
            expect(kind(ran)).toBe("violation.flow");
        }
        expect(
            kind(go(`flow strict\n${HEAD}${OUT}${MODEL}${main('act(y, { content: "k" })\n return 1')}`, "Out.write", { yes: "once" })),
        ).toBe("violation.flow");
    });

    test("a function that somebody else named is asked about, one that the program names is not", () => {
        const text = `${HEAD}${MODEL}func erase() { return "erased" }\n${main("return act(y, {}).content[0].text")}`;
        expect(end(go(text, "erase", { yes: "once" }))).toBe("erased");
        expect(end(go(text, "erase", { yes: "deny" }))).toBe("erase was not allowed");
        const own = `${HEAD}${MODEL}func erase() { return "erased" }\n${main('return act("erase", {}).content[0].text')}`;
        expect(go(own, "k").effects.filter((e) => e.kind === "ask")).toEqual([]);
        expect(end(go(own, "k"))).toBe("erased");
    });
});

describe("reason(): the example", () => {
    test("is in the prompt, with who may read it", () => {
        const ran = go(`${HEAD}${MODEL}${main('o = {}  o[x] = 1  return reason("k", o)')}`, "SECRET");
        expect(kind(ran)).toBe("violation.flow");
        expect(ran.effects.filter((e) => e.kind === "model")).toEqual([]);
    });

    test("in strict code so is the place", () => {
        const ran = go(`flow strict\n${HEAD}${MODEL}${main('if x == "k" { return reason("k", { a: "b" }) }\n return 1')}`, "k");
        expect(kind(ran)).toBe("violation.flow");
    });
});

test("options of agent() leave with it", () => {
    const text = `import agent Fixer from "acp://x"\n${HEAD}${MODEL}${main('return agent("k", { agent: Fixer, model: x, on_error: "fail" })')}`;
    const ran = go(text, "SECRET", { agents: ["ok"] });
    expect(kind(ran)).toBe("violation.flow");
    expect(turns(ran)).toEqual([]);
});
