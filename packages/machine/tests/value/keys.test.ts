/**
 * V3 for keys, lengths and failures: what data chose has the data's labels wherever it shows.
 *
 * The property runs one program twice, with two values of one secret: where what the program sends differs, it carries the secret's origin.
 */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BUILTIN_TABLE, type Effect } from "../../src/index.ts";
import { type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";

const TOOLS = 'import tool A from "http://a.test"\nimport tool B from "http://b.test"\nimport tool P from "http://p.test"\n';

const body = (statements: string, functions: string): string =>
    `${TOOLS}${functions}\nmain agent Main {\n main func() {\n${statements}\n }\n}\n`;

const VALUES: { [name: string]: Json } = { text: "aa", number: 1, none: null, list: ["p", "q"], empty: [], object: { flag: "i", x: 9 } };

const request = (e: Effect): { tool: string; method: string; args: Json[] } => e.request as never;

/** What a tool is asked for: the name of a value, "" where it is sent one. */
const wanted = (e: Effect): string => (request(e).method === "get" ? String(request(e).args[0]) : "");

/** What the tool P was given, with the origins it came with. */
function put(ran: Ran): { json: Json; labels: readonly string[] }[] {
    // A list that holds itself cannot be sent: the run ends there.
    const failure = ran.result.ok ? null : ran.result.failure;
    expect(failure?.message === "this value contains itself" ? null : failure).toBe(null);
    return ran.effects
        .filter((e) => request(e).tool === "P")
        .map((e) => ({ json: JSON.parse(JSON.stringify(request(e).args[0])) as Json, labels: e.labels }));
}

const INPUTS = `a = A.get("text")  n = B.get("number")  la = A.get("list")  lb = B.get("list")  le = B.get("empty")  ob = B.get("object")`;

const run = (statements: string, sent: string, saving: boolean, values = VALUES): ReturnType<typeof put> =>
    put(
        runAll(
            formOf(
                body(
                    `${INPUTS}\n${statements}\nP.put(${sent})\n1`,
                    `func full(x: { k?: string, d: string = "dd", deep?: { e: string = "ee" } }) { x }\nfunc either(x: { k: "aa", d: string = "dd" } | { k: string, f: string = "ff" }) { x }\n`,
                ),
                true,
            ),
            {
                saving,
                answer: (e) => ({ ok: true, value: values[wanted(e)] ?? null, origins: [`tool:${request(e).tool}`] }),
            },
        ),
    );

/** Statements, what is sent, and the tools whose origin it has. */
const CASES: readonly (readonly [statements: string, sent: string, labels: string])[] = [
    ...[
        ["o.keys()", "A"],
        ["o.keys()[0]", "A"],
        ["o.keys().length", "A"],
        ["o.values().length", "A"],
        ["o.entries()[0].key", "A"],
        ["o.entries().length", "A"],
        ['o.has("aa")', "A"],
        ['o.get("zz")', "A"],
        ["o?.zz", "A"],
        ["o?.zz()", "A"],
        ["o.merge({}).keys()[0]", "A"],
        ["{ x: 1 }.merge(o).x", "A"],
        ["{...o}.keys()[0]", "A"],
        ["{ x: 1, ...o }.x", "A"],
        ["{ ...o, x: 1 }.x", ""],
        ['o.without("x").keys()[0]', "A"],
        ["o == {}", "A"],
        ["[[o]] == 1", "A"],
        ["json.text(o)", "A"],
        ["text({ p: [o] })", "A"],
        ["[o].unique().length", "A"],
        ["[o].summary[0].keys()", "A"],
        ["[o].map((x) => x.keys()[0])", "A"],
        ["o", "A"],
        ["o.q", ""],
        ['o.get("q")', ""],
        ["try { o.zz } catch e { e.message }", "A"],
        ['try { o["zz"] } catch e { e.message }', "A"],
        ["try { o.zz() } catch e { e.message }", "A"],
        ["try { raise o } catch e { e.message }", "A"],
        ["full(o).keys()", "A"],
        ["full(o).d", "A"],
        ["full(o).q", ""],
    ].map(([sent, labels]) => ["o = { q: 1 }\no[a] = 1\no.aa = 2", sent as string, labels as string] as const),
    ["o = { q: 1 }", "full({ k: a }).d", ""],
    ["", "full({ k: a }).k", "A"],
    ["", "full({ k: a, deep: {} }).deep.e", ""],
    ["", "full({ k: a, deep: {}, x: n }).x", "B"],
    ["", "full(ob).d", "B"],
    ["", "full({ d: B.get('none') }).d", "B"],
    ["", "full({ k: B.get('none') }).keys()", "B"],
    ["", "either({ k: a }).d", "A"],
    ["", "{ x: 1, ...ob }.keys()[0]", "B"],
    ["", "{ x: 1, ...ob }.x", "B"],
    ["", "[...lb].length", "B"],
    ["", "[1, ...le].length", "B"],
    ["", "[...[a], n][0]", "A"],
    ["f = parallel for i in lb max 2 { 1 }", "f.length", "B"],
    ["f = parallel for i in le max 2 { 1 }", "f.length", "B"],
    ["f = parallel for i in [a, n] max 2 { i }", "f[0]", "A"],
    ["f = parallel for i in [a, n] max 2 { i }", "f.length", ""],
    ['f = try { parallel for i in lb max 2 { raise "x" } } catch e { e }', "f.detail[0].index", "B"],
    ["", 'try { "a".match(a + "(") } catch e { e.message }', "A"],
    ["", 'try { "a".match("a", a) } catch e { e.message }', "A"],
    ["", 'try { a.match("(") } catch e { e.message }', "A"],
    ["", 'try { a.replace("", "x") } catch e { e.message }', "A"],
    ["", "try { [1].sort_by(x => x, a) } catch e { e.message }", "A"],
    ["", "try { la.sum() } catch e { e.message }", "A"],
    ["", "try { json.text(1, a) } catch e { e.message }", "A"],
    ["", "try { a.trim(1) } catch e { e.message }", "A"],
];

describe.each([false, true])("saved after every step: %s", (saving) => {
    test.each(CASES)("%s; %s has %s", (statements, sent, labels) => {
        const seen = run(statements, sent, saving);
        expect(seen).toHaveLength(1);
        expect(seen[0]?.labels.map((l) => l.replace("tool:", "")).join()).toBe(labels);
    });
});

test("a key chosen by data is in the labels of a prompt, and forgotten where a stretch is given up", () => {
    const seen = run(`o = {}\nP.put(o)\no[a] = 1\no.aa = 2\nP.put(o)\np = o`, "p.keys()", true);
    expect(seen.map((s) => s.labels)).toEqual([[], ["tool:A"], ["tool:A"]]);
});

// ---- one secret, two values --------------------------------------------------------------------------------------------

const SECRETS: { readonly [name: string]: readonly (readonly [Json, Json])[] } = {
    text: [
        ["k", "zz"],
        ["(", "k"],
        ["1", "i"],
        ["", "m k"],
        ["descending", "ascending"],
        ['{"k":1}', "[]"],
    ],
    number: [
        [0, 1],
        [1, -1],
        [2, 0.5],
        [9, 1],
    ],
    list: [
        [[], [1]],
        [["k"], ["k", "zz"]],
        [
            [3, 1],
            [1, 3],
        ],
    ],
    object: [
        [{}, { k: 1 }],
        [
            { k: 1, m: 2 },
            { m: 2, k: 1 },
        ],
        [{ k: "v" }, { k: 1 }],
    ],
};

const ATOMS = ["t", "n", "xs", "os", "o", "{ k: t, m: 1 }", "[n, 2, 1]", '[t, "k"]', "[o, {}]", '"k zz 1"', "1", "{ k: 1, m: 3 }", "none"];
const LAMBDAS = ["x => x", "x => 1", "x => t", "x => x == t", "(x, i) => i", "x => x?.k", "x => [x, ...xs]", "x => ({ k: x, ...os })"];

/** Each place `@` takes an expression, each `#` a lambda, each `~` an expression that cannot fail. Every built-in and every operator is in it. */
const SHAPES: readonly string[] = [
    ...BUILTIN_TABLE.flatMap((row) => {
        const of = row.on === "global" ? row.name : row.on === "json" ? `json.${row.name}` : `@.${row.name}`;
        if (row.property === true) return [of];
        return [row.min, Math.min(row.max, row.min + 1)].map(
            (count) => `${of}(${Array.from({ length: count }, (_, i) => (row.lambda === i ? "#" : "@")).join(", ")})`,
        );
    }),
    ...["+", "-", "*", "/", "%", "<", ">=", "==", "!="].map((op) => `(@ ${op} @)`),
    // What stands on the right may not run at all: it is something that cannot fail.
    ...["and", "or", "??"].map((op) => `(@ ${op} ~)`),
    "(not @)",
    "(-@)",
    "[@, ...@]",
    "[...@]",
    "{ k: @, ...@ }",
    "{ ...@, m: @ }",
    "{ ...@ }",
    "@[@]",
    "@.k",
    "@?.k",
    "@.m",
    "@.length",
    "full(@)",
];

const expression: fc.Arbitrary<string> = fc.letrec<{ e: string }>((tie) => ({
    e: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.constantFrom(...ATOMS),
        fc
            .tuple(
                fc.constantFrom(...SHAPES),
                fc.array(tie("e"), { minLength: 4, maxLength: 4 }),
                fc.constantFrom(...LAMBDAS),
                fc.constantFrom(...ATOMS),
            )
            .map(([shape, parts, lambda, atom]) => {
                let at = 0;
                return shape.replace(/[@#~]/g, (c) => (c === "@" ? `(${parts[at++ % 4]})` : c === "#" ? lambda : atom));
            }),
    ),
})).e;

const secret = fc
    .constantFrom(...Object.keys(SECRETS))
    .chain((name) => fc.tuple(fc.constant(name), fc.constantFrom(...(SECRETS[name] as readonly (readonly [Json, Json])[]))));

test("where what is sent depends on a secret, it has the secret's label", () => {
    const PUBLIC: { [name: string]: Json } = { text: "k", number: 1, list: ["k", 2], object: { k: 1 } };
    fc.assert(
        fc.property(fc.array(expression, { minLength: 1, maxLength: 8 }), secret, (expressions, [name, pair]) => {
            const program = formOf(
                body(
                    `t = A.get("text")  n = A.get("number")  xs = A.get("list")  os = A.get("object")  o = { q: 1 }  o[t] = 2
${expressions.map((e) => `P.put(try { { v: (${e}) } } catch e { { failed: e.message } })`).join("\n")}\n1`,
                    `func full(x: { k?: json, d: string = "dd" }) { x }\n`,
                ),
                true,
            );
            const [one, two] = pair.map((value) =>
                put(
                    runAll(program, {
                        answer: (e) => {
                            const is = wanted(e);
                            return is === name
                                ? { ok: true, value, origins: ["secret"] }
                                : { ok: true, value: PUBLIC[is] ?? null, origins: [] };
                        },
                    }),
                ),
            ) as [ReturnType<typeof put>, ReturnType<typeof put>];
            expressions.forEach((e, i) => {
                const [x, y] = [one[i], two[i]];
                // What cannot be sent at all, such as a list that holds itself, ended the run: that it ended is no label's affair.
                if (x === undefined || y === undefined) return;
                if (JSON.stringify(x.json) === JSON.stringify(y.json)) return;
                // What fails second shows that the first did not, as the branch of an `if` shows its condition: labels do not follow that.
                const failed = [x, y].filter((s) => "failed" in (s.json as object));
                const labelled = (failed.length === 0 ? [x, y] : failed).map((s) => s.labels.includes("secret"));
                expect({ e, labelled: failed.length === 2 ? labelled.includes(true) : !labelled.includes(false) }).toEqual({
                    e,
                    labelled: true,
                });
            });
        }),
        { numRuns: 600 },
    );
});
