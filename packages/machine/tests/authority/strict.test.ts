/** Strict mode: labels that control flow carries, in files, remits and policies; what stays unlabelled; that it is the same run however it is run. Why it is long: one table of cases, and the helpers that only they use. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/index.ts";
import { cases } from "../cases.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { differ, sameView, secrets, withoutOrigins } from "./pairs.ts";
import { answer, basic, block, KEPT, pairTells, TOOLS, whole } from "./strict-programs.ts";

const text = (flow: string, statements: string, more = ""): string => `${flow}\n${TOOLS}\n${more}
main func() {
    s = T.secret({})
    p = true
    xs = [1, 2, 3]
    o = { k: 1 }
${statements}
}
`;

type Of = How & { readonly unchecked?: boolean };

function once(source: string, secret: Json, { unchecked = false, ...how }: Of = {}): Ran {
    return runAll(formOf(source, unchecked), { ...how, answer: answer(secret) });
}

/** However it is sliced, saved or compiled, it is the same run. */
function run(source: string, secret: Json, unchecked = false): Ran {
    const ran = once(source, secret, { unchecked });
    for (const how of [
        { saving: true },
        { saving: 2 },
        { options: { mode: "frames" } },
        { options: { slice: 1 } },
        { saving: true, options: { slice: 4 } },
    ] as const)
        expect(once(source, secret, { ...how, unchecked })).toEqual(ran);
    return ran;
}

function origins(ran: Ran): readonly string[] {
    if (!ran.result.ok) throw new Error(`${ran.result.failure.kind}: ${ran.result.failure.message}`);
    return ran.result.origins;
}

interface Case {
    readonly name: string;
    readonly body: string;
    readonly more?: string;
    /** Values of the secret; each has to be labelled. */
    readonly secrets: readonly Json[];
}
const BOOL = [true, false];
const NUMS = [0, 1, 3];
const LISTS = [[], [1], [1, 2, 3]];

const FLOWS: readonly Case[] = [
    { name: "if", body: 'x = "b"\nif s { x = "a" }\nx', secrets: BOOL },
    { name: "if and else", body: 'x = ""\nif s { x = "a" } else { x = "b" }\nx', secrets: BOOL },
    { name: "else if behind a secret", body: "x = 0\nif s == 1 { x = 1 } else if p { x = 2 } else { x = 3 }\nx", secrets: NUMS },
    { name: "the branch of an else if", body: "x = 0\nif not p { x = 1 } else if s { x = 2 }\nx", secrets: BOOL },
    { name: "a branch that is not taken", body: "x = 1\nif s == 99 { x = 2 }\nx", secrets: NUMS },
    { name: "if as an expression", body: 'x = if s { "a" } else { "b" }\nx', secrets: BOOL },
    { name: "if as an expression without else", body: "x = if s { 1 }\nx", secrets: BOOL },
    { name: "an assignment inside an if expression", body: "x = 0\ny = if s {\nx = 1\n2 } else { 2 }\nx", secrets: BOOL },
    { name: "ifs inside each other", body: "x = 0\nif p { if s { x = 1 } }\nx", secrets: BOOL },
    { name: "copied through two conditions", body: "x = false\ny = true\nif s { x = true }\nif x { y = false }\ny", secrets: BOOL },
    { name: "condition of a loop", body: "n = 0\nloop until n >= s max 5 { n = n + 1 }\nn", secrets: NUMS },
    { name: "variables beside it", body: "n = 0\nm = 0\nloop until n >= s max 5 { n = n + 1\n m = m + 1 }\nm", secrets: NUMS },
    { name: "passes of a for", body: "n = 0\nfor x in s max 10 { n = n + 1 }\nn", secrets: LISTS },
    { name: "a loop that never passes", body: "n = 7\nfor x in s max 10 { n = 1 }\nn", secrets: LISTS },
    { name: "break", body: "n = 0\nfor x in xs max 9 { if x > s { break }\n n = n + 1 }\nn", secrets: NUMS },
    { name: "break in the first pass", body: "n = 0\nrepeat * 3 { if s { break }\n n = 1 }\nn", secrets: BOOL },
    { name: "continue", body: "n = 0\nfor x in xs max 9 { if x == s { continue }\n n = n + 1 }\nn", secrets: NUMS },
    { name: "return", body: "f(s)", more: "func f(s) { if s { return 1 }\n return 2 }", secrets: BOOL },
    { name: "return of nothing", body: "f(s)", more: "func f(s) { if s { return 1 } }", secrets: BOOL },
    {
        name: "what stands behind a return",
        body: "x = f(s)\nx",
        more: "func f(s) { y = 0\n if s { return y }\n y = 1\n y }",
        secrets: BOOL,
    },
    {
        name: "return out of a loop",
        body: "f(s, xs)",
        more: "func f(s, xs) { for x in xs max 5 { if x == s { return 1 } }\n 0 }",
        secrets: NUMS,
    },
    {
        name: "a contract of an argument",
        body: "x = 0\ntry { f(s)\n x = 2 } catch e { x = 1 }\nx",
        more: "func f(n: number) { 1 }",
        secrets: [5, "no"],
    },
    {
        name: "a contract of an argument that holds it",
        body: "x = 0\na = { k: s }\ntry { f(a)\n x = 2 } catch e { x = 1 }\nx",
        more: "func f(o: { k: number }) { 1 }",
        secrets: [5, "no"],
    },
    {
        name: "a contract of a result that holds it",
        body: "g({ k: s })",
        more: "func f(o) -> { k: number } { o }\nfunc g(o) { x = 0\n try { f(o)\n x = 2 } catch e { x = 1 }\n x }",
        secrets: [5, "no"],
    },
    {
        name: "a contract in a lambda",
        body: "x = 0\ntry { [s].map(f)\n x = 2 } catch e { x = 1 }\nx",
        more: "func f(n: number) { 1 }",
        secrets: [5, "no"],
    },
    { name: "a place that is assigned or not there", body: "x = 0\ny = [1]\ntry { y[s] = 2 } catch e { x = 1 }\nx", secrets: [0, 5] },
    {
        name: "a handler in a lambda",
        body: "[s].map(f)[0]",
        more: "func f(s) { x = 0\n try { y = s.upper() } catch e { x = 1 }\n x }",
        secrets: ["a", 5],
    },
    { name: "raise", body: 'x = 0\ntry { if s { raise "no" }\n x = 1 } catch e { x = 2 }\nx', secrets: BOOL },
    {
        name: "raise in a function",
        body: "x = 0\ntry { f(s)\n x = 1 } catch e { }\nx",
        more: 'func f(s) { if s { raise "no" } }',
        secrets: BOOL,
    },
    {
        name: "raise two functions down",
        body: "x = 0\ntry { g(s)\n x = 1 } catch e { }\nx",
        more: 'func f(s) { if s { raise "no" } }\nfunc g(s) { f(s)\n 1 }',
        secrets: BOOL,
    },
    { name: "a failing division", body: "x = 0\ntry { y = 1 / s\n x = 1 } catch e { }\nx", secrets: NUMS },
    { name: "an index that a list holds", body: "l = [s]\nx = 0\ntry { y = xs[l[0]]\n x = 1 } catch e { x = 2 }\nx", secrets: [0, 7] },
    { name: "a failing index", body: "x = 0\ntry { y = xs[s]\n x = 1 } catch e { x = 2 }\nx", secrets: [0, 7] },
    { name: "a failing condition inside a branch", body: "x = 0\ntry { if s { y = [1][5] }\n x = 1 } catch e { }\nx", secrets: BOOL },
    { name: "try as an expression", body: "x = try { 1 / s\n 5 } catch e { 6 }\nx", secrets: NUMS },
    { name: "a message", body: 'x = try { if s { raise "a" }\n raise "b" } catch e { e.message }\nx', secrets: BOOL },
    { name: "and", body: "x = s and p\nx", secrets: BOOL },
    { name: "a change on the right of and", body: "l = []\ny = s and l.add(1).length > 0\nl.length", secrets: BOOL },
    {
        name: "a call on the right of or",
        body: "l = []\ny = s or put(l)\nl.length",
        more: "func put(l) { l.add(1)\n true }",
        secrets: BOOL,
    },
    { name: "what is none", body: "l = []\ny = s ?? l.add(1)\nl.length", secrets: [null, 1] },
    { name: "filter", body: "xs.filter(x => x > s).length", secrets: NUMS },
    { name: "filter of labelled items", body: "[1, s, 3].filter(x => x == 1).length", secrets: NUMS },
    { name: "any", body: "xs.any(x => x == s)", secrets: NUMS },
    { name: "all", body: "xs.all(x => x != s)", secrets: NUMS },
    { name: "find", body: "xs.find(x => x == s)", secrets: NUMS },
    { name: "sort_by", body: "xs.sort_by(x => if s { 0 - x } else { x })[0]", secrets: BOOL },
    { name: "a text in backticks", body: "`it is {s}`", secrets: BOOL },
    { name: "what a list in a text in backticks holds", body: "x = `{[1, [s]]}`\nx.length", secrets: BOOL },
    { name: "reduce", body: "xs.reduce((all, x) => if s { all + x } else { all }, 0)", secrets: BOOL },
    {
        name: "what reduce changes",
        body: "l = []\ny = xs.reduce((all, x) => if s { all.add(x) } else { all }, l)\nl.length",
        secrets: BOOL,
    },
    {
        name: "an item that reduce changes",
        body: "l = [[0]]\ny = l.reduce((all, x) => x, [])\nif s { y.add(1) }\nl[0].length",
        secrets: BOOL,
    },
    { name: "group_by", body: "xs.group_by(x => x > s).keys().length", secrets: NUMS },
    {
        name: "a function as a predicate",
        body: "xs.filter(f).length",
        more: "func f(x) { x > 1 and T.held == x }".replace("T.held == x", "x > 2"),
        secrets: [],
    },
    { name: "an if in a lambda", body: "xs.map(x => if s { x } else { 0 })[0]", secrets: BOOL },
    { name: "a call in a lambda", body: "xs.map(x => f(x, s))[0]", more: "func f(x, s) { if s { return x }\n 0 }", secrets: BOOL },
    { name: "a variable that a lambda assigns", body: "n = 0\ny = xs.map(x => if s {\nn = 1\nx } else { x })\nn", secrets: BOOL },
    { name: "unique of labelled items", body: "[1, s].unique().length", secrets: NUMS },
    { name: "a spread list", body: "[...s, 1].length", secrets: LISTS },
    { name: "a spread object", body: "q = { ...s, a: 1 }\nq.keys().length", secrets: [{}, { b: 1 }] },
    { name: "an item added", body: "if s { xs.add(4) }\nxs.length", secrets: BOOL },
    { name: "a field set", body: "if s { o.k = 2 }\no.k", secrets: BOOL },
    { name: "an item set", body: "if s { xs[0] = 9 }\nxs[0]", secrets: BOOL },
    { name: "a change in a function", body: "put(xs, s)\nxs.length", more: "func put(l, s) { if s { l.add(1) } }", secrets: BOOL },
    {
        name: "a function that changes, under a condition",
        body: "if s { put(xs) }\nxs.length",
        more: "func put(l) { l.add(1) }",
        secrets: BOOL,
    },
    { name: "a function called under a condition", body: "x = 0\nif s { x = one() }\nx", more: "func one() { 1 }", secrets: BOOL },
    {
        name: "a function chosen by a secret",
        body: "h = { g: if s { one } else { two } }\nh.g()",
        more: "func one() { 1 }\nfunc two() { 2 }",
        secrets: BOOL,
    },
    { name: "parallel iterations over a secret list", body: "(parallel for x in s max 5 { 1 }).length", secrets: LISTS },
    {
        name: "parallel iterations under a condition",
        body: "(parallel for x in xs max 5 { y = if s { 1 } else { 2 }\ny })[0]",
        secrets: BOOL,
    },
    {
        name: "an iteration that fails",
        body: 'x = 0\ntry { y = parallel for i in xs max 5 { if s { raise "no" }\ni }\n x = 1 } catch e { }\nx',
        secrets: BOOL,
    },
    { name: "the result of an effect under a condition", body: "x = {}\nif s { x = U.get({}) }\nx", secrets: BOOL },
    { name: "whether something is there", body: "x = s?.k ?? 5\nx", secrets: [{}, { k: 1 }] },
    {
        name: "a counter in a callee's loop",
        body: "count(s)",
        more: "func count(s) { n = 0\n loop until n >= s max 5 { n = n + 1 }\n n }",
        secrets: NUMS,
    },
    { name: "recursion", body: "down(s)", more: "func down(n) { if n <= 0 { return 0 }\n down(n - 1)\n 0 }", secrets: NUMS },
];

/** Nothing here depends on the secret. */
const NEAR: readonly (readonly [string, string, string?])[] = [
    ["a condition of its own", "x = 0\nif p { x = 1 }\nx"],
    ["the secret beside", "y = s\nx = 1\nx"],
    ["behind the end of an if", "y = 0\nif s { y = 1 }\nx = 1\nx"],
    ["another variable", "x = 1\ny = 0\nif s { y = 1 } else { y = 2 }\nx"],
    ["assigned anew behind", "x = 0\nif s { x = 1 }\nx = 2\nx"],
    ["behind a loop", "n = 0\nloop until n >= 3 max 5 { n = n + 1 }\nn"],
    ["behind a secret loop", "n = 0\nfor x in [s] max 5 { n = n + 1 }\nn"],
    ["passes of a list with secret items", "n = 0\nfor x in [s, s] max 5 { n = n + 1 }\nn"],
    ["length of a list with secret items", "[s, s].length"],
    ["behind break", "n = 0\nrepeat * 3 { if s { break } }\nx = 1\nx"],
    ["in a loop without the break", "n = 0\nrepeat * 3 { n = n + 1 }\nfor x in xs max 3 { if s { break } }\nn"],
    ["behind a return of a function", "y = f(s)\nx = 1\nx", "func f(s) { if s { return 1 }\n 2 }"],
    ["a function that does not use it", "f(s)", "func f(s) { 1 }"],
    ["one of two arguments", "f(s, 2)", "func f(s, x) { x }"],
    ["behind a raise that nobody catches", "y = f(false)\nx = 1\nx", 'func f(s) { if s { raise "no" } }'],
    ["a check that nobody catches", "check(s)\nx = 1\nx", 'func check(s) { if s == 99 { raise "no" }\n 1 }'],
    ["behind a try", "try { y = 1 / s } catch e { }\nx = 1\nx"],
    ["a try without secrets", "x = 0\ntry { y = 1 / 1\n x = 1 } catch e { x = 2 }\nx"],
    ["a handler without secrets", 'x = 0\ntry { raise "no" } catch e { x = 2 }\nx'],
    ["before the failing", "x = 1\ntry { y = 1 / s } catch e { y = 0 }\nx"],
    ["and of public ones", "y = s\np and true"],
    ["filter by public ones", "xs.filter(x => x > 1).length"],
    ["filter with a label elsewhere", "y = s\nxs.filter(x => x != 2)[0]"],
    ["map over secrets", "[s, s].map(x => x).length"],
    ["one result of map", "xs.map((x, i) => if i == 0 { x } else { s })[0]"],
    ["any of public ones", "xs.any(x => x == 2)"],
    ["find in public ones", "xs.find(x => x == 2)"],
    ["a lambda that assigns", "n = 0\ny = xs.map(x => if p {\nn = 1\nx } else { x })\nn"],
    ["another list", "ys = [1]\nif s { xs.add(1) }\nys.length"],
    ["another field's object", "q = { k: 1 }\nif s { o.k = 1 }\nq.k"],
    ["a field beside a secret one", "q = { k: 1, s: s }\nq.k"],
    ["a number given to a call under a condition", "n = 1\nif s { f(n) }\nn", "func f(n) { n }"],
    ["a function that reads a list", "y = f(xs, s)\nxs.length", "func f(l, s) { if s { l.length } else { 0 } }"],
    ["a list given behind a condition", "if s { y = 1 }\nput(xs)\nxs.length", "func put(l) { l.add(1) }"],
    ["parallel iterations", "(parallel for x in xs max 5 { x })[0]"],
    ["one of parallel iterations", "r = parallel for x in xs max 5 { y = if x == 2 { s } else { x }\ny }\nr.length"],
    ["an effect behind a condition", "y = 0\nif s { y = 1 }\nU.get({}).items.length"],
    ["an effect before a condition", "x = U.get({}).items[0]\nif s { y = 1 }\nx"],
    ["if as an expression of public ones", 'y = s\nx = if p { "a" } else { "b" }\nx'],
    ["public recursion", "y = s\ndown(3)", "func down(n) { if n <= 0 { return 0 }\n down(n - 1) }"],
    ["a spread public list", "y = s\n[...xs, 1].length"],
    ["the left of ??", "y = s\no?.z ?? 5"],
    ["a nested condition's end", "y = 0\nif p { if s { y = 1 } }\nx = 3\nx"],
];

describe("F36: implicit flows", () => {
    test.each(FLOWS.flatMap((c) => c.secrets.map((secret) => [c.name, secret, c] as const)))("%s: %j", (_name, secret, c) => {
        expect(origins(run(text("flow strict", c.body, c.more), secret))).toContain("tool:T");
    });

    test("basic mode does not carry them, or only by data", () => {
        const quiet = FLOWS.filter((c) => c.secrets.some((secret) => !origins(once(text("", c.body, c.more), secret)).includes("tool:T")));
        expect(quiet.length).toBeGreaterThanOrEqual(40);
    });

    test("there are enough of them", () => {
        expect(FLOWS.filter((c) => c.secrets.length > 0).length).toBeGreaterThanOrEqual(40);
        expect(NEAR.length).toBeGreaterThanOrEqual(40);
    });

    test.each(NEAR.map(([name, body, more]) => ({ name, body, more: more ?? "" })))("no label: $name", ({ body, more }) => {
        for (const secret of [1, 2]) expect(origins(run(text("flow strict", body, more), secret))).not.toContain("tool:T");
    });

    test("the same value and steps as in basic mode", () => {
        for (const c of FLOWS)
            for (const secret of c.secrets) {
                const strict = once(text("flow strict", c.body, c.more), secret);
                const basic = once(text("", c.body, c.more), secret);
                expect({ ...strict.result, origins: [] }).toEqual({ ...basic.result, origins: [] });
                expect(strict.steps).toBe(basic.steps);
            }
    });
});

const kindOf = (ran: Ran): Json => (ran.result.ok ? ran.result.value : ran.result.failure.kind);
const calls = (ran: Ran): string[] =>
    ran.effects.filter((e) => e.kind === "tool").map((e) => (e.request as { method?: string }).method ?? "");

test("that an amount is used up depends on all that came, also where the place does not (LIC1)", () => {
    const body = `late = "in time"
try { spend 7 steps { if s { a = 1
a = 2
a = 3
a = 4
a = 5 }
b = 1
b = 2 } } catch e { late = "late" }
U.tell({ v: late })`;
    const told = (secret: boolean): Json =>
        once(text("flow strict", body), secret).effects.flatMap(({ request, labels }) => {
            const { method, args } = request as { method?: string; args: Json };
            return method === "tell" ? [[args, [...labels]]] : [];
        });
    expect(told(true)).toEqual([[[{ v: "late" }], ["tool:T"]]]);
    expect(told(false)).toEqual([[[{ v: "in time" }], ["tool:T"]]]);
});

test.each([1, 2, 9])("that a model's call came through, or not, tells who else used what is counted: at most %i (LIC1)", (most) => {
    const source = `flow strict\n${TOOLS}\nimport tool Own from "mcp://own" { look: at most ${most} }
main agent A { model M  role "r"  description "d"
main func() { s = T.secret({})
if s { x = Own.look({}) }
generate({ input: "x", tools: [Own, U] })
1 } }`;
    const told = (secret: boolean): Json =>
        runAll(formOf(source), {
            answer: (e): Outcome => {
                const { op, messages = [] } = e.request as { op?: string; messages?: readonly { role: string }[] };
                if (op === "describe") {
                    const methods = ["look", "tell"].map((name) => ({ name, input: { type: "object" }, readOnly: true }));
                    return { ok: true, value: { methods }, origins: [] };
                }
                if (e.kind !== "model") return answer(secret)(e);
                const name = ["Own_look", "U_tell"][messages.filter(({ role }) => role === "tool").length];
                const calls = name === undefined ? [] : [{ id: name, name, args: {} }];
                return { ok: true, value: { text: "t", value: "t", calls, finish: calls.length > 0 ? "tool" : "stop" }, origins: [] };
            },
        }).effects.flatMap(({ request, labels }) => ((request as { method?: string }).method === "tell" ? [[...labels]] : []));
    expect(told(true)).toEqual([expect.arrayContaining(["tool:T"])]);
    expect(told(false)).toEqual(told(true));
});

describe("effects under a condition", () => {
    const guarded = TOOLS.replace('import tool U from "https://u.example"', 'import tool U from "mcp://u" { arg to: trusted }');
    const source = (flow: string, body: string): string => text(flow, body).replace(TOOLS, guarded);

    test.each([
        ["a constant chosen by a secret", 'x = if s { "a" } else { "b" }\nU.send({ to: x })\n"sent"'],
        ["a constant under a secret", 'if s { U.send({ to: "a" }) } else { U.send({ to: "b" }) }\n"sent"'],
        ["arguments that were made before it", 'a = { to: "a" }\nif s { U.send(a) } else { U.send(a) }\n"sent"'],
        ["behind a break that is not taken", 'for x in xs max 3 { if x == s + 5 { break }\nU.send({ to: "a" }) }\n"sent"'],
        ["in a function called there", 'if s { tell() } else { tell() }\n"sent"'],
        ["behind a failure that is caught", 'try { y = 1 / s\nU.send({ to: "a" }) } catch e { U.send({ to: "b" }) }\n"sent"'],
    ])("%s may not stand for a trusted argument", (_name, body) => {
        const more = 'func tell() { U.send({ to: "a" }) }\n';
        for (const secret of [1, 2]) {
            const strict = run(source("flow strict", body).replace("main func", `${more}main func`), secret, true);
            expect(kindOf(strict)).toBe("violation.flow");
            expect(calls(strict)).toEqual(["secret"]);
            expect(kindOf(once(source("", body).replace("main func", `${more}main func`), secret))).toBe("sent");
        }
    });

    test.each([
        ["a constant under a secret", 'if s == 1 { U.send({ to: "a" }) } else { U.send({ to: "b" }) }\n"sent"'],
        ["a constant chosen by a secret", 'x = if s == 1 { "a" } else { "b" }\nU.send({ to: x })\n"sent"'],
        ["in a function called there", 'if s == 1 { tell() } else { tell() }\n"sent"'],
    ])("%s is asked about where the clause says or ask, and what was allowed carries the secret", (_name, body) => {
        const asking = text("flow strict", body)
            .replace(TOOLS, TOOLS.replace('"https://u.example"', '"mcp://u" { arg to: trusted or ask }'))
            .replace("main func", 'func tell() { U.send({ to: "a" }) }\nmain func');
        for (const secret of [1, 2])
            for (const said of ["once", "deny"]) {
                const how: How = {
                    answer: (e) => (e.kind === "ask" ? { ok: true, value: said, origins: ["user"] } : answer(secret)(e)),
                };
                const ran = runAll(formOf(asking), how);
                for (const other of [{ saving: true }, { options: { mode: "frames" } }, { options: { slice: 1 } }] as const)
                    expect(runAll(formOf(asking), { ...how, ...other })).toEqual(ran);
                const asked = ran.effects.find((e) => e.kind === "ask");
                expect(asked?.labels).toContain("tool:T");
                expect(asked?.request).toMatchObject({
                    detail: { why: "flow", flow: { arg: "to", origins: ["tool:T"] }, origins: { to: ["tool:T"] } },
                });
                const sent = ran.effects.find((e) => (e.request as { method?: string }).method === "send");
                expect(sent?.labels).toEqual(said === "once" ? ["tool:T"] : undefined);
                expect(kindOf(ran)).toBe(said === "once" ? "sent" : "denied");
            }
    });

    test("the effect itself carries the label, and its events", () => {
        const ran = run(text("flow strict", "if s { U.ping() }\n1"), true);
        const ping = ran.effects.find((e) => (e.request as { method?: string }).method === "ping");
        expect(ping?.labels).toEqual(["tool:T"]);
        expect(ran.events.find((e) => e.kind === "tool.started" && e.path.includes("ping"))?.labels).toEqual(["tool:T"]);
        const basic = once(text("", "if s { U.ping() }\n1"), true);
        expect(basic.effects.find((e) => (e.request as { method?: string }).method === "ping")?.labels).toEqual([]);
    });

    test("behind the condition nothing of it is left", () => {
        const body = 'y = 0\nif s { y = 1 }\nU.send({ to: "a" })\n"sent"';
        expect(kindOf(run(source("flow strict", body), true))).toBe("sent");
    });
});

describe("what is strict", () => {
    const flow = "x = 0\nif s { x = 1 }\nreturn x";
    const agent = (remit: string): string => `${TOOLS}
main agent Main {
    main func() { s = T.secret({})
    A.%(s) }
}
agent A { ${remit}
    func f(s) { ${flow} }
    func g(s) { h(s) }
    main func() { 1 }
}
func h(s) { ${flow} }
`;
    test("an agent whose remit says so, and the functions that it calls", () => {
        for (const name of ["f", "g"]) {
            expect(origins(run(agent("remit { flow strict }").replace("%", name), true))).toEqual(["tool:T"]);
            expect(origins(run(agent("remit { may T }").replace("%", name), false))).toEqual([]);
            expect(origins(run(agent("").replace("%", name), false))).toEqual([]);
        }
    });

    test("everything, where the project says so", () => {
        const form = formOf(text("", flow));
        const ran = runAll(form, { answer: answer(false), options: { policy: { strict: true } } });
        expect(origins(ran)).toEqual(["tool:T"]);
        expect(runAll(form, { answer: answer(false), options: { policy: { strict: true } }, saving: true })).toEqual(ran);
    });

    test("a file's own functions, whoever calls them, also as closures", () => {
        const files = {
            "main.remit": `${TOOLS}
import agent B from "b.remit"
main agent Main {
main func() { s = T.secret({})
a = B.f(s)
[a, plain(s)] }
}
func plain(s) { x = 0
if s { x = 1 }
x }
`,
            "b.remit": `flow strict\nagent B { func f(s) { inner([1, 2], s) }\n func inner(l, s) { l.map(x => deep(x, s))[0] }\n func deep(x, s) { if s { return x }\n 0 }\n main func() { 1 } }\n`,
        };
        for (const secret of BOOL) {
            const of = (how: How): Ran => runAll(formOf(files), { ...how, answer: answer(secret) });
            const ran = of({});
            for (const how of [{ saving: true }, { options: { slice: 1 } }, { options: { mode: "frames" } }] as const)
                expect(of(how)).toEqual(ran);
            expect(origins(ran)).toEqual(["tool:T"]);
        }
        const only = { ...files, "main.remit": files["main.remit"].replace("a = B.f(s)\n[a, plain(s)]", "plain(s)") };
        expect(origins(runAll(formOf(only), { answer: answer(true) }))).toEqual([]);
    });
});

// ---- noninterference -------------------------------------------------------------------------------------------------

const RUNS = cases(400);

describe("noninterference", () => {
    test("two runs that differ in the secret alone look the same to whoever may not see it, in basic mode to whoever may not see what it chose, too", () => {
        let telling = 0;
        fc.assert(
            fc.property(block, fc.boolean(), secrets, (body, caught, both) => {
                if (pairTells(body, caught, both)) telling++;
            }),
            {
                numRuns: RUNS,
                examples: [
                    ["a = (l.find(x => x == check(s)) ?? 7)\na = 0", true, [3, 0]],
                    // What a session is called does not tell how many there were before.
                    ["if s > 1 { a = X.yield(n: 0) }\nb = X.yield(n: 1)", false, [0, 2]],
                ],
            },
        );
        // Where control flow carries no labels, 57 % of the pairs tell the secret.
        expect(telling / RUNS).toBeGreaterThan(0.3);
    });

    test("a call that the end of a slice gave up raises on frames what it would have raised", () => {
        const form = basic(
            "try {\nl.add((l.find(x => x == (m.find(x => x == b) ?? 7)) ?? 7))\nif (choose(s) == 1) { a = 0 }\n} catch e { a = 1 }",
        );
        const of = (slice?: number): Ran =>
            runAll(form, { answer: answer(2), options: { ...KEPT, ...(slice === undefined ? {} : { slice }) } });
        const ran = of();
        expect(ran.effects.find(({ path }) => path === "main/U.tell#4")?.labels).toEqual(["choice:tool:T"]);
        for (const slice of [1, 2, 3, 5, 8, 13]) expect(of(slice)).toEqual(ran);
    });

    /** Those who chose are among the origins where choices are kept. */
    const asked = (ran: Ran): Json[] => ran.effects.map(({ path, request }) => [path, withoutOrigins(request)]);

    test("which refuses nothing that it let pass, and is the same run however it is run", () => {
        fc.assert(
            fc.property(block, fc.constantFrom(0, 2), fc.integer({ min: 1, max: 9 }), (body, secret, slice) => {
                const form = basic(body);
                const of = (how: How): Ran => runAll(form, { answer: answer(secret), ...how, options: { ...KEPT, ...how.options } });
                const ran = of({});
                const plain = runAll(form, { answer: answer(secret) });
                expect(asked(ran)).toEqual(asked(plain));
                expect(of({ options: { slice } })).toEqual(ran);
                expect(of({ saving: true, options: { slice: slice * 5 } })).toEqual(ran);
                expect(of({ options: { mode: "frames" } })).toEqual(ran);
            }),
            {
                numRuns: cases(60),
                // Where a failure is caught, what an expression reads behind it does not count.
                examples: [
                    [
                        'try {\nrepeat * 3 {\nif (check(d) < check(l.filter(x => x > 1 or (s > 1)).length)) { break }\n}\nif not (s > 1) { raise "no" }\n} catch e { a = 3 }\na = 0',
                        0,
                        1,
                    ],
                ],
            },
        );
    });

    test.each(["flow strict", ""])("where failures stop a loop, whether an iteration begins depends on those before it: %s", (flow) => {
        const body =
            's = T.secret({})\ntry { r = parallel for x in [1, 2, 3] max 3 stop after 1 failure { if x == 1 and s { raise "no" }\nU.tell({ v: x }) } } catch e { }\n1';
        const source = `${flow}\n${TOOLS}\nmain func() {\n${body}\n}`;
        const of = (secret: boolean, how: How = {}): Ran => once(source, secret, { ...how, options: { ...KEPT, concurrency: 1 } });
        sameView(of(true), of(false));
        expect(of(false).effects).toHaveLength(4);
        expect(of(false, { saving: true })).toEqual(of(false));
    });

    test("iterations that stopped count in whether one begins, as those that ended", () => {
        const body =
            's = T.secret({})\nr = parallel for x in [1, 2, 3] max 3 stop after 3 failures { if x == 1 and s { raise "no" }\nU.tell({ v: x }) }\n1';
        const source = `${TOOLS}\nmain func() {\n${body}\n}`;
        const behind = (secret: boolean): unknown[] =>
            once(source, secret, { options: { ...KEPT, concurrency: 1 } })
                .effects.filter(({ path }) => /parallel\[[12]\]/.test(path))
                .map(({ path, labels }) => [path, labels]);
        expect(behind(false)).toHaveLength(2);
        expect(behind(true)).toEqual(behind(false));
    });

    test("and each is the same run however it is sliced and saved", () => {
        fc.assert(
            fc.property(block, fc.constantFrom(0, 2), fc.integer({ min: 1, max: 9 }), (body, secret, slice) => {
                const of = (how: How = {}): Ran => once(whole(body), secret, { ...how, unchecked: true });
                const ran = of();
                expect(of({ options: { slice } })).toEqual(ran);
                expect(of({ saving: true, options: { slice: slice * 5 } })).toEqual(ran);
                expect(of({ options: { mode: "frames" } })).toEqual(ran);
            }),
            { numRuns: cases(60) },
        );
    });

    test.each([
        // A jump out of a handler's reach is out of it, whatever else follows.
        [
            "a loop that is left out of a try",
            'n = 0\nrepeat * 3 { try { if s { raise "x" }\nbreak } catch e { n += 1 } }\nU.tell({ v: n })',
        ],
        // Nothing in the branch can fail, and all of it can come to the limit.
        [
            "a list of a try that a limit ends in a branch",
            "try { spend 20 steps { xs.add(4)\nif s { repeat * 40 { x = 1 } }\nxs.add(5) } } catch e { }\nU.tell({ v: xs.length })",
        ],
    ])("%s", (_name, body) => {
        const of = (secret: boolean): Ran => once(text("flow strict", `${body}\n1`), secret);
        sameView(of(true), of(false));
        expect(of(true).effects).not.toEqual(of(false).effects);
    });

    test("what is minus zero is the same once it was saved", () => {
        const source = whole("a = ((0 - s) % s)\nb = 0");
        expect(once(source, 2, { saving: true })).toEqual(once(source, 2));
    });

    test("basic mode does not promise it", () => {
        const body = "if s > 1 { a = 5 }";
        const source = whole(body).replace("flow strict", "");
        expect(differ(once(source, 0), once(source, 2))).toBe(true);
    });
});
