/** Whoever calls an agent, or hands control to it, uses its main func: what is said of that one binds every way there is. */
import { authorityOf, type Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { kind, run } from "../../run/handing.ts";
import { formOf } from "../../run/text.ts";

const G =
    'import tool Repo from "file://workspace"\nagent G { main func w(x) { Repo.write({ path: x, content: "" }) \n return x } func o() { 1 } }\n';
/** F has a remit, and a way to G. */
const WAYS: readonly (readonly [string, string, string])[] = [
    ["by its name", 'func k() { G("x") }', "F.k()"],
    ["by its func", 'func k() { G.w("x") }', "F.k()"],
    ["by send", 'func k() { G.send("x") }', "F.k()"],
    ["by yield", 'func k() { G.yield(x: "x") }', "F.k()"],
    ["by agent()", 'func k() { agent("x", { agent: G }) }', "F.k()"],
    ["handed, by its value", 'func k(g) { g("x") }', "F.k(G)"],
    ["handed, by its func", 'func k(g) { g.w("x") }', "F.k(G)"],
    ["handed, by send", 'func k(g) { g.send("x") }', "F.k(G)"],
    ["handed, by agent()", 'func k(g) { agent("x", { agent: g }) }', "F.k(G)"],
];
const program = (remit: string, func: string, call: string): string =>
    `${G}agent F { remit { ${remit} } ${func} }\nmain agent A { main func(input) { ${call} } }`;
/** What came of it in the world: an effect, a question, or else how it failed. */
const tried = (text: string): Json => {
    const ran = run(text, { unchecked: true, agents: ["hello"] });
    const done = ran.effects.map((e) => (e.kind === "ask" ? (e.request as { question: string }).question : e.kind));
    return done.length > 0 ? [...new Set(done)].join(", ") : kind(ran);
};

describe.each(WAYS)("%s", (_, func, call) => {
    test.each([
        ["may G", "tool"],
        ["may G.w", "tool"],
        ["may G never G.w", "violation.remit"],
        ["may G ask G.w", "May F call G.w?"],
        ["may G never G.o", "tool"],
        ["may G ask G.o", "tool"],
    ])("%s: %j", (remit, expected) => expect(tried(program(remit, func, call))).toBe(expected));

    test("the checker says the same of what is certain", () => {
        if (call !== "F.k()" || func.includes("agent(")) return;
        expect(() => formOf(program("may G never G.w", func, call))).toThrow("REMIT_DENIED");
        expect(() => formOf(program("may G.o", func, call))).toThrow("REMIT_DENIED");
        expect(formOf(program("may G.w", func, call)).files).toHaveLength(1);
    });

    test("what does not name it does not give it", () => {
        const narrowed = call.replace("(G)", "(G.only(o))");
        expect(tried(program(narrowed === call ? "may G.o" : "", func, narrowed))).toBe("violation.remit");
    });

    test("what names it gives it", () => {
        const narrowed = call.replace("(G)", "(G.only(w))");
        expect(tried(program(narrowed === call ? "may G.w" : "", func, narrowed))).toBe("tool");
    });

    test.each([
        ["o", "violation.remit"],
        ["w", "tool"],
    ])("delegated G.%s: %s", (method, expected) => {
        if (call !== "F.k()") return;
        const text = program("", func, `delegate G.${method} to F { ${call} }`);
        expect(tried(text)).toBe(expected);
    });
});

test("the table names the same", () => {
    const rows = authorityOf(formOf(program("may G never G.w", "func k() { 1 }", "F.k()"), true)).filter(
        ({ principal }) => principal === "F",
    );
    expect(rows.map(({ name, method, gate }) => [name, method, gate])).toEqual([
        ["G", "*", "may"],
        ["G", "w", "never"],
    ]);
});

describe("an agent outside the program is sent something, or control is handed to it", () => {
    const SEND: readonly (readonly [string, string])[] = [
        ['func k() { X.send("x") }', "F.k()"],
        ['func k() { agent("x", { agent: X }) }', "F.k()"],
        ['func k(x) { x.send("x") }', "F.k(X)"],
        ['func k(x) { agent("x", { agent: x }) }', "F.k(X)"],
    ];
    const outside = (remit: string, func: string, call: string): string =>
        `import agent X from "acp://x"\nagent F { remit { ${remit} } ${func} }\nmain agent A { main func(input) { ${call} } }`;
    test.each(SEND)("%s %s", (func, call) => {
        expect(tried(outside("may X", func, call))).toBe("agent");
        expect(tried(outside("may X never X.send", func, call))).toBe("violation.remit");
        expect(tried(outside("may X ask X.send", func, call))).toBe("May F call X.send?");
        expect(tried(outside("may X never X.yield", func, call))).toBe("agent");
        const only = (method: string): string => call.replace("(X)", `(X.only(${method}))`);
        const given = call === "F.k()" ? (method: string) => `may X.${method}` : () => "";
        expect(tried(outside(given("send"), func, only("send")))).toBe("agent");
        expect(tried(outside(given("yield"), func, only("yield")))).toBe("violation.remit");
    });
    test("yield", () => {
        const func = "func k() { X.yield(a: 1) }";
        expect(tried(outside("may X never X.yield", func, "F.k()"))).toBe("violation.remit");
        expect(tried(outside("may X.send", func, "F.k()"))).toBe("violation.remit");
        expect(tried(outside("may X.yield", func, "F.k()"))).toBe("agent");
    });
});
