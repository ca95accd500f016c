/** From syntax to form and back (LW2), and that checker and validator agree. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check } from "../../src/check/check.ts";
import type { Json } from "../../src/contract/contract.ts";
import { canonicalJson } from "../../src/form/canonical.ts";
import type { ExprForm, Program, StmtForm } from "../../src/form/form.ts";
import { lower } from "../../src/form/lower.ts";
import { printForm, printFormExpr, raise } from "../../src/form/raise.ts";
import { validateProgram } from "../../src/answer/validate.ts";
import { parse } from "../../src/syntax/parse/parse.ts";
import type { File } from "../../src/syntax/tree.ts";
import { source } from "../../src/text/source.ts";
import { caseFiles, load, readCases } from "../check/cases.ts";
import { anyProgram, plain } from "./forms.ts";

function lowerFiles(files: readonly File[], prelude?: string): Program {
    const names = files.map((file) => file.source.file);
    return lower({
        entry: names.at(-1) as string,
        files: new Map(files.map((file) => [file.source.file, file])),
        order: names,
        ...(prelude === undefined ? {} : { prelude }),
        links: new Map(
            files.map((file) => [
                file.source.file,
                new Map(
                    file.items.flatMap((item) =>
                        item.kind === "import" && item.what === "agent"
                            ? [[item.name.text, item.uri.value.replace("./", "")] as const]
                            : [],
                    ),
                ),
            ]),
        ),
    });
}

function reread(program: Program): Program {
    const files = printForm(program).map((text, i) => parse(source(text, program.files[i]?.file)));
    for (const file of files) expect(file.diagnostics.filter((d) => d.severity === "error")).toEqual([]);
    return lowerFiles(files, program.files.find((file) => file.prelude === true)?.file);
}

describe("L2", () => {
    test("raising and lowering gives the form", () => {
        fc.assert(
            fc.property(anyProgram, (program) => {
                expect(plain(lowerFiles(raise(program)))).toEqual(plain(program));
            }),
            { numRuns: 300 },
        );
    });

    test("F10: the printed source parses to the same form", () => {
        fc.assert(
            fc.property(anyProgram, (program) => {
                expect(plain(reread(program))).toEqual(plain(program));
            }),
            { numRuns: 300 },
        );
    });

    test("random forms have the structure of a form, and stay so through JSON", () => {
        fc.assert(
            fc.property(anyProgram, (program) => {
                const found = validateProgram(JSON.stringify(program));
                // Their values do not always fit where they stand, which the checker says.
                expect(found.ok ? [] : found.errors.filter((one) => one.code.startsWith("FORM_"))).toEqual([]);
            }),
            { numRuns: 300 },
        );
    });
});

describe("the checker and the validator agree", () => {
    test.each(caseFiles())("%s: what has no error is a valid form, and prints to the same form", (name) => {
        let compared = 0;
        for (const one of readCases(name)) {
            const program = check(load(one.files, one.entry));
            if (program.diagnostics.some((d) => d.severity === "error")) continue;
            compared++;
            const form = lower(program, (func) => program.info.functions.get(func)?.effects ?? []);
            const found = validateProgram(form);
            expect([one.title, found.ok ? [] : found.errors]).toEqual([one.title, []]);
            expect([one.title, canonicalJson(noEffects(reread(form)))]).toEqual([one.title, canonicalJson(noEffects(form))]);
        }
        expect(compared).toBeGreaterThan(0);
    });
});

/** Places, effects and links are not in a text. */
function noEffects(program: Program): Json {
    return JSON.parse(
        JSON.stringify(program, (key, value) => (key === "at" || key === "effects" || key === "from" ? undefined : value)),
    ) as Json;
}

function lowered(text: string, func = 0): readonly StmtForm[] {
    const file = parse(source(`func f(a, b, x) {\n${text}\n}`));
    expect(file.diagnostics).toEqual([]);
    return plain(lowerFiles([file]).files[0]?.funcs[func]?.body ?? []);
}

describe("L1", () => {
    const name = (of: string): ExprForm => ({ kind: "name", name: of });
    const literal = (value: string | number | boolean | null): ExprForm => ({ kind: "literal", value });
    test.each<[string, ExprForm]>([
        ["(a)", name("a")],
        ["x = -1", literal(-1)],
        ["x = -(1)", { kind: "unary", op: "-", value: literal(1) }],
        ["x = - -1", { kind: "unary", op: "-", value: literal(-1) }],
        ["x = -0", { kind: "unary", op: "-", value: literal(0) }],
        ["x = 2.50", { kind: "literal", value: 2.5, text: "2.50" }],
        ["x = -2.0", { kind: "literal", value: -2, text: "-2.0" }],
        ["x = none", literal(null)],
        ['x = """\n    a\n      b\n    """', literal("a\n  b")],
        ["x = a ?? b", { kind: "binary", op: "??", left: name("a"), right: name("b") }],
        ["x = a?.b", { kind: "member", object: name("a"), name: "b", safe: true }],
        [
            "x = a.map(b => b)",
            {
                kind: "call",
                callee: { kind: "member", object: name("a"), name: "map" },
                args: [{ value: { kind: "lambda", params: ["b"], body: name("b") } }],
            },
        ],
    ])("%s", (text, form) => {
        const [statement] = lowered(text);
        expect(statement?.kind === "expr" || statement?.kind === "assign" ? statement.value : statement).toEqual(form);
    });

    test("`else if` stays flat", () => {
        expect(lowered("if a { 1 } else if b { 2 } else { 3 }")).toEqual([
            {
                kind: "if",
                branches: [
                    { test: name("a"), body: [{ kind: "expr", value: literal(1) }] },
                    { test: name("b"), body: [{ kind: "expr", value: literal(2) }] },
                ],
                otherwise: [{ kind: "expr", value: literal(3) }],
            },
        ]);
    });

    test("options of generate, budgets, names of what has none, places", () => {
        const text =
            'main agent {\n    use "x" max 4k tokens keep end priority 2 as q\n    main func(input { n?: number = 1 "how many" }) {\n        generate({ input: "hi", timeout: 2 min, max_output: 2.5k, think: "low", tools: [], attempts: 3 }) -> { a, b?: list }\n    }\n}\n';
        const form = lowerFiles([parse(source(text, "m.remit"))]);
        expect(form.entry).toEqual({ file: 0, agent: "__main_agent", func: "__main" });
        expect(form.files[0]?.agents[0]).toEqual({
            name: "__main_agent",
            main: true,
            config: [
                {
                    kind: "use",
                    value: { kind: "literal", value: "x", at: [2, 9, 2, 12] },
                    max: { amount: 4000, unit: "tokens", keep: "end", text: "4k tokens keep end" },
                    priority: 2,
                    label: "q",
                    at: [2, 5, 2, 51],
                },
            ],
            funcs: [
                {
                    name: "__main",
                    main: true,
                    params: [
                        {
                            name: "input",
                            contract: {
                                type: "object",
                                fields: [{ name: "n", contract: { type: "number" }, optional: true, default: 1, description: "how many" }],
                            },
                        },
                    ],
                    effects: [],
                    body: [
                        {
                            kind: "expr",
                            value: {
                                kind: "generate",
                                input: { kind: "literal", value: "hi", at: [4, 27, 4, 31] },
                                timeout: 120_000,
                                max_output: 2500,
                                think: "low",
                                tools: [],
                                attempts: 3,
                                contract: {
                                    type: "object",
                                    fields: [
                                        { name: "a", contract: { type: "string" } },
                                        { name: "b", contract: { type: "list" }, optional: true },
                                    ],
                                },
                                at: [4, 9, 4, 125],
                            },
                            at: [4, 9, 4, 125],
                        },
                    ],
                    at: [3, 5, 5, 6],
                },
            ],
            at: [1, 1, 6, 2],
        });
    });

    test("imported files come first, and agents name the file that declares them", () => {
        const files = new Map([
            ["main.remit", 'import agent W from "./lib/w.remit"\nmain agent A { main func(input) { W(input) } }\n'],
            ["lib/w.remit", "agent W { main func(x: string) { x } }\n"],
        ]);
        const program = check(load(files, "main.remit"));
        const form = lower(program, (func) => program.info.functions.get(func)?.effects ?? []);
        expect(form.files.map((file) => file.file)).toEqual(["lib/w.remit", "main.remit"]);
        expect(form.files[1]?.imports[0]).toMatchObject({ what: "agent", name: "W", uri: "./lib/w.remit", from: 0 });
        expect(form.files[1]?.agents[0]?.funcs[0]?.effects).toEqual(["agent:W"]);
        expect(form.entry).toEqual({ file: 1, agent: "A", func: "__main" });
        expect(validateProgram(form).ok).toBe(true);
    });

    test("a file without agents and without a main func is a library", () => {
        expect(lowerFiles([parse(source("func f(x) { x }\n"))]).entry).toBeUndefined();
        expect(lowerFiles([parse(source("main func f(x) { x }\n"))]).entry).toEqual({ file: 0, func: "f" });
    });
});

test("a parameter with an object contract is printed as it is documented, with a colon", () => {
    const [text] = printForm(
        lowerFiles([parse(source('func f(a { x: number }, b { y: string } = { y: "z" }, c: number) { a }', "main.remit"))]),
    );
    expect(text).toContain('func f(a: { x: number }, b: { y: string } = { y: "z" }, c: number) {');
});

describe("expressions on one line", () => {
    test.each([
        "a.b[0]",
        '{ k: a, "odd key": [a, b] }',
        "a + b * x",
        "(a + b) * x",
        '"q\\"q"',
        "none",
        "not (a and b)",
        "a?.b ?? 2.50",
        "[...a, -1]",
        "{}",
    ])("%s", (text) => {
        const [statement] = lowered(`x = ${text}`);
        if (statement?.kind !== "assign") throw new Error(text);
        expect(printFormExpr(statement.value)).toBe(text);
    });
});
