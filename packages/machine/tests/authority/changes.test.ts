/**
 * Changes of lists and objects that strict code refuses, each told by the checker (`FLOW_MAY_BE_REFUSED`) by one rule and, as far as that can be, by no
 * other one: taking the rule away misses the row (`npm run label-mutants`).
 */
import { check, type Json, loadProgram, lower } from "@remit/language";
import { expect, test } from "vitest";
import { runAll } from "../run/forms.ts";

interface Row {
    readonly name: string;
    readonly body: string;
    readonly functions?: string;
    /** Values of the secret `s`: in a run with one of them the change is refused. */
    readonly secrets?: readonly Json[];
}

/** `k` is one of two lists, as `decides` has it. */
const choosing = (decides: string): string => `l = [0]\nm = [1]\nk = l\n${decides}\nk.add(1)`;
/** What `p.n` is decides which. */
const through = (decides: string): string => choosing(`p = { n: 0 }\no = { in: p }\n${decides}\nif p.n > 0 { k = m }`);

const ROWS: readonly Row[] = [
    { name: "a variable that was assigned under a condition", body: choosing("if s > 1 { k = m }") },
    { name: "behind a `break`", body: choosing("for x in [1, 2] max 3 { if s > 1 { break }\nk = m }") },
    { name: "behind what may have failed", body: choosing("try { x = 1 / s\nk = m } catch e { }") },
    { name: "on the right of `and`", body: choosing("x = s > 1 and (if true { k = m\ntrue } else { true })") },
    { name: "by what was assigned under a condition", body: choosing("x = 0\nif s > 1 { x = 1 }\nif x > 0 { k = m }") },
    { name: "by an item beside one at an index", body: choosing("q = [1, 2, 3]\nq[s] = 5\nif q[0] > 1 { k = m }") },
    { name: "by what was put at an index", body: choosing("q = [[1], [2], [3]]\np = [1]\nq[s] = p\nif p.length > 9 { k = m }") },
    {
        name: "by what was put into a list that carries it",
        body: choosing('q = s.split(",")\np = [1]\nq.add(p)\nif p.length > 9 { k = m }'),
        secrets: ["a", "a,b"],
    },
    {
        name: "by what is inside a list that was changed under a condition",
        body: choosing("p = [1]\no = { in: { p: p } }\nif s > 1 { o.x = 1 }\nif p.length > 9 { k = m }"),
    },
    {
        name: "by what a function changed that was called under a condition",
        body: through("if s > 1 { put(o) }"),
        functions: "func put(o) { o.in.n = 1 }",
    },
    {
        name: "by what a function changed behind what may have failed",
        body: through("try { put(o) } catch e { }"),
        functions: "func put(o) { x = 1 / T.secret({})\no.in.n = 1 }",
    },
    {
        name: "by what a function changed behind a return",
        body: through("put(o, s)"),
        functions: "func put(o, s) { for x in [1, 2] max 2 { if x == s { return 0 } }\no.in.n = 1 }",
    },
    { name: "an item at an index", body: "q = [[1], [2], [3]]\ny = q[s]\ny.add(1)" },
    { name: "an item of an item at an index", body: "q = [{ l: [1] }, { l: [2] }, { l: [3] }]\ny = q[s]\nz = y.l\nz.add(1)" },
    { name: "what was put into another under a condition", body: "l = [0]\no = { v: [1] }\nif s > 1 { o.v = l }\nx = o.v\nx.add(1)" },
    {
        name: "what a function gives under a condition",
        body: "k = one(s, [0], [1])\nk.add(1)",
        functions: "func one(s, l, m) { if s > 1 { return l }\nm }",
    },
    { name: "one of two values", body: "l = [0]\nm = [1]\n(if s > 1 { l } else { m }).add(1)" },
    { name: "what iterations made", body: "if s > 1 { (parallel for x in [1] max 3 { [x] }).add([1]) }" },
    { name: "a new thing before what may have failed", body: "try { y = [[1], 1 / s]\nz = y[0]\nz.add(2) } catch e { }" },
    { name: "a thing without a name before what may have failed", body: "try { [1, 2].add([1 / s][0]) } catch e { }" },
];

/** Lines that the checker tells of, and that a run refused. */
function both(
    text: string,
    secrets: readonly Json[],
    inputLabels?: readonly string[],
): { readonly told: number[]; readonly refused: number[] } {
    const checked = check(loadProgram("main.remit", { read: () => text, resolve: () => null }));
    const lineOf = (at: number): number => text.slice(0, at).split("\n").length;
    const form = lower(checked);
    const refused = secrets.flatMap((secret) => {
        const { events } = runAll(form, {
            answer: () => ({ ok: true, value: secret, origins: ["tool:T"] }),
            options: { input: { s: secret }, ...(inputLabels === undefined ? {} : { inputLabels }) },
        });
        return events.flatMap(({ kind, site }) => (kind === "policy.denied" && site !== null ? [site.line] : []));
    });
    return {
        told: checked.diagnostics.filter(({ code }) => code === "FLOW_MAY_BE_REFUSED").map(({ range }) => lineOf(range.start)),
        refused: [...new Set(refused)],
    };
}

const HEAD = 'import tool T from "https://t.example"';

test.each(ROWS)("$name", ({ body, functions = "", secrets = [0, 1, 2] }) => {
    const { told, refused } = both(`flow strict\n${HEAD}\n${functions}\nmain func() {\ns = T.secret({})\n${body}\n}`, secrets);
    expect(refused).toHaveLength(1);
    expect(told).toEqual(expect.arrayContaining(refused));
});

test("a function is strict that strict code calls", () => {
    const main = `main agent M { remit { may T  flow strict }\nmain func() { s = T.secret({})\nchoose(s) } }`;
    const { told, refused } = both(`${HEAD}\n${main}\nfunc choose(s) {\n${choosing("if s > 1 { k = m }")}\n}`, [2]);
    expect(refused).toHaveLength(1);
    expect(told).toEqual(expect.arrayContaining(refused));
});

test("what is passed from outside may carry anything", () => {
    const text = `flow strict\nmain func(input) {\n${choosing("if input.s { k = m }")}\n}`;
    const { told, refused } = both(text, [true], ["tool:Elsewhere"]);
    expect(refused).toHaveLength(1);
    expect(told).toEqual(expect.arrayContaining(refused));
});
