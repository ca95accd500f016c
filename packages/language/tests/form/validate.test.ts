import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/contract/contract.ts";
import { canonicalJson } from "../../src/form/canonical.ts";
import { MAX_ERRORS } from "../../src/form/errors.ts";
import { DEFAULT_CAPS } from "../../src/form/measure.ts";
import { validateFunc, validateProgram } from "../../src/form/validate.ts";

type Obj = { [key: string]: Json };

const lit = (value: string | number | boolean | null): Obj => ({ kind: "literal", value });
const name = (of: string): Obj => ({ kind: "name", name: of });
const expr = (value: Json): Obj => ({ kind: "expr", value });
const set = (target: string, value: Json, op = "="): Obj => ({ kind: "assign", target: name(target), op, value });
const call = (callee: Json, ...args: Json[]): Obj => ({ kind: "call", callee, args: args.map((value) => ({ value })) });
const member = (object: Json, of: string): Obj => ({ kind: "member", object, name: of });
const lambda = (body: Json, ...params: string[]): Obj => ({ kind: "lambda", params, body });
const use = (value: Json, more: Obj = {}): Obj => ({ kind: "use", value, ...more });
const config = (key: string, value: Json): Obj => ({ kind: "config", key, value });
const SETTINGS = [config("model", name("Llm")), config("role", lit("r")), config("description", lit("d"))];
const generate = (more: Obj = {}): Obj => ({ kind: "generate", input: lit("hi"), ...more });
const func = (of: string, body: Json, params: Json = [], more: Obj = {}): Obj => ({ name: of, params, effects: [], body, ...more });

const IMPORTS = [
    { what: "llm", name: "Llm", uri: "mock:" },
    { what: "tool", name: "Repo", uri: "file://workspace" },
    { what: "file", name: "Doc", uri: "./doc.md" },
    { what: "memory", name: "Notes", uri: "file://notes.jsonl" },
];

function file(more: Obj = {}): Obj {
    return { file: "main.remit", imports: IMPORTS, shapes: [], funcs: [], agents: [], ...more };
}
function program(...files: Json[]): Obj {
    return { format: "remit-program/1", files };
}
/** A program whose only agent has a main func `(x, items)` with this body. */
function body(...statements: Json[]): Obj {
    return program(
        file({
            agents: [
                {
                    name: "A",
                    main: true,
                    config: SETTINGS,
                    funcs: [
                        func("main", statements, [{ name: "x" }, { name: "items" }], { main: true }),
                        func("helper", [], [{ name: "a" }]),
                    ],
                },
            ],
        }),
    );
}
const BODY = "/files/0/agents/0/funcs/0/body";

function refuses(form: unknown, ...expected: [code: string, pointer: string][]): void {
    const found = validateProgram(form);
    expect(found.ok ? "accepted" : found.errors.map((e) => [e.code, e.pointer])).toEqual(expected);
    // The same as text, unless it is text already or no JSON.
    if (typeof form === "string" || expected[0]?.[0] === "FORM_JSON") return;
    const text = validateProgram(JSON.stringify(form));
    expect(text.ok ? "accepted" : text.errors.map((e) => [e.code, e.pointer])).toEqual(expected);
}
function accepts(form: Json): void {
    const found = validateProgram(form);
    expect(found.ok ? [] : found.errors).toEqual([]);
    expect(validateProgram(JSON.stringify(form)).ok).toBe(true);
}

describe("structure", () => {
    const cases: [string, unknown, ...[string, string][]][] = [
        ["nothing", undefined, ["FORM_JSON", ""]],
        ["no JSON", "{", ["FORM_JSON", ""]],
        ["a list", [], ["FORM_VERSION", "/format"]],
        ["no version", { files: [] }, ["FORM_VERSION", "/format"]],
        ["another version", { ...program(file()), format: "remit-program/2" }, ["FORM_VERSION", "/format"]],
        ["a version that is inherited", Object.create({ format: "remit-program/1" }), ["FORM_JSON", ""]],
        ["no files", program(), ["FORM_VALUE", "/files"]],
        ["files that are no list", { format: "remit-program/1", files: {} }, ["FORM_TYPE", "/files"]],
        ["a key too many", { ...program(file()), author: "me" }, ["FORM_KEY", "/author"]],
        ["a key too few", program({ file: "a", imports: [], shapes: [], agents: [] }), ["FORM_MISSING", "/files/0"]],
        [
            "an unknown kind of import",
            program(file({ imports: [{ what: "shell", name: "S", uri: "x" }] })),
            ["FORM_VALUE", "/files/0/imports/0/what"],
        ],
        ["an unknown statement", body({ kind: "while", test: lit(1), body: [] }), ["FORM_KIND", `${BODY}/0/kind`]],
        ["a statement as an expression", body(expr({ kind: "break" })), ["FORM_KIND", `${BODY}/0/value/kind`]],
        ["an expression as a statement", body(name("x")), ["FORM_KIND", `${BODY}/0/kind`]],
        ["a statement without a kind", body({ value: lit(1) }), ["FORM_MISSING", `${BODY}/0`]],
        ["a kind of an object's own prototype", body({ kind: "toString" }), ["FORM_KIND", `${BODY}/0/kind`]],
        ["text where a statement stands", body("x"), ["FORM_TYPE", `${BODY}/0`]],
        ["an unknown key of a node", body({ kind: "break", label: "outer" }), ["FORM_KEY", `${BODY}/0/label`]],
        ["a missing key of a node", body({ kind: "return" }), ["FORM_MISSING", `${BODY}/0`]],
        [
            "an unknown operator",
            body(expr({ kind: "binary", op: "**", left: lit(1), right: lit(2) })),
            ["FORM_VALUE", `${BODY}/0/value/op`],
        ],
        ["a limit of nothing", body({ kind: "for", item: "i", list: name("items"), max: 0, body: [] }), ["FORM_VALUE", `${BODY}/0/max`]],
        ["a limit that is no whole number", body({ kind: "repeat", times: 1.5, body: [] }), ["FORM_VALUE", `${BODY}/0/times`]],
        ["a limit below nothing", body({ kind: "loop", until: lit(true), max: -1, body: [] }), ["FORM_VALUE", `${BODY}/0/max`]],
        ["a limit that is a text", body({ kind: "repeat", times: "3", body: [] }), ["FORM_TYPE", `${BODY}/0/times`]],
        ["an object as a literal", body(expr({ kind: "literal", value: {} })), ["FORM_TYPE", `${BODY}/0/value/value`]],
        ["a spread outside a list", body(expr({ kind: "spread", value: name("x") })), ["FORM_KIND", `${BODY}/0/value/kind`]],
        [
            "an entry in a list",
            body(expr({ kind: "list", items: [{ kind: "entry", key: "a", value: lit(1) }] })),
            ["FORM_KIND", `${BODY}/0/value/items/0/kind`],
        ],
        ["safe: false", body(expr({ ...member(name("x"), "a"), safe: false })), ["FORM_VALUE", `${BODY}/0/value/safe`]],
        ["think: loud", body(expr(generate({ think: "loud" }))), ["FORM_VALUE", `${BODY}/0/value/think`]],
        ["no attempts", body(expr(generate({ attempts: 0 }))), ["FORM_VALUE", `${BODY}/0/value/attempts`]],
        ["an option that does not exist", body(expr(generate({ top_p: 1 }))), ["FORM_KEY", `${BODY}/0/value/top_p`]],
        ["a place of three numbers", body({ ...expr(lit(1)), at: [1, 2, 3] }), ["FORM_VALUE", `${BODY}/0/at`]],
        ["an unknown contract", body(expr(generate({ contract: { type: "date" } }))), ["FORM_KIND", `${BODY}/0/value/contract/type`]],
        [
            "a union of nothing",
            body(expr(generate({ contract: { type: "union", of: [] } }))),
            ["FORM_VALUE", `${BODY}/0/value/contract/of`],
        ],
        [
            "none as a literal of a contract",
            body(expr(generate({ contract: { type: "literal", value: null } }))),
            ["FORM_TYPE", `${BODY}/0/value/contract/value`],
        ],
        [
            "a budget of nothing",
            body(use(name("x"), { max: { amount: 0, unit: "chars", text: "0" } })),
            ["FORM_VALUE", `${BODY}/0/max/amount`],
        ],
        [
            "a budget in words",
            body(use(name("x"), { max: { amount: 1, unit: "chars", text: "a lot" } })),
            ["FORM_VALUE", `${BODY}/0/max/text`],
        ],
        ["one candidate", body({ kind: "use.one", label: "l", candidates: [{ name: "a" }] }), ["FORM_VALUE", `${BODY}/0/candidates`]],
        ["a function that is no JSON", program(file({ funcs: [(() => 1) as unknown as Json] })), ["FORM_JSON", "/files/0/funcs/0"]],
        ["a date", program(file({ file: new Date(0) as unknown as Json })), ["FORM_JSON", "/files/0/file"]],
        ["not a number", body(expr(lit(Number.NaN))), ["FORM_JSON", `${BODY}/0/value/value`]],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });

    test("all errors of one form are told, in its order, with what is known", () => {
        const found = validateProgram(body({ kind: "brek" }, { kind: "return" }, expr({ kind: "name", name: "1x" })));
        expect(found.ok ? [] : found.errors).toEqual([
            { pointer: `${BODY}/0/kind`, code: "FORM_KIND", message: `"brek" is not a statement; did you mean 'break'?` },
            { pointer: `${BODY}/1`, code: "FORM_MISSING", message: `'return' needs the key "value"` },
            { pointer: `${BODY}/2/value/name`, code: "FORM_NAME", message: `"1x" is no name: a letter or _, then letters, digits and _` },
        ]);
    });

    test("errors are bounded in number", () => {
        const found = validateProgram(body(...Array.from({ length: 1000 }, () => ({ kind: "nothing" }))));
        expect(found.ok ? 0 : found.errors.length).toBe(MAX_ERRORS);
    });

    test("a pointer escapes `/` and `~`", () => {
        refuses({ ...program(file()), "a/b~c": 1 }, ["FORM_KEY", "/a~1b~0c"]);
    });
});

describe("names that are refused", () => {
    const cases: [string, unknown, ...[string, string][]][] = [
        ["a variable", body(set("constructor", lit(1))), ["FORM_NAME", `${BODY}/0/target/name`]],
        ["a property", body(expr(member(name("x"), "__proto__"))), ["FORM_NAME", `${BODY}/0/value/name`]],
        [
            "a key of an object",
            body(expr({ kind: "object", entries: [{ kind: "entry", key: "prototype", value: lit(1) }] })),
            ["FORM_NAME", `${BODY}/0/value/entries/0/key`],
        ],
        [
            "a field of a contract",
            body(expr(generate({ contract: { type: "object", fields: [{ name: "__proto__", contract: { type: "string" } }] } }))),
            ["FORM_NAME", `${BODY}/0/value/contract/fields/0/name`],
        ],
        [
            "a key of a default",
            program(file({ funcs: [func("f", [], [{ name: "x", default: [{ constructor: 1 }] }])] })),
            ["FORM_NAME", "/files/0/funcs/0/params/0/default/0/constructor"],
        ],
        [
            "an import",
            program(file({ imports: [{ what: "llm", name: "constructor", uri: "mock:" }] })),
            ["FORM_NAME", "/files/0/imports/0/name"],
        ],
        ["a word that cannot be a variable", body(set("none", lit(1))), ["FORM_NAME", `${BODY}/0/target/name`]],
        ["a name with a hyphen", body(set("a-b", lit(1))), ["FORM_NAME", `${BODY}/0/target/name`]],
        ["an empty name", body(expr(member(name("x"), ""))), ["FORM_NAME", `${BODY}/0/value/name`]],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });
    test("as a key of the form itself", () => {
        const text = JSON.stringify(body()).replace('"format"', '"__proto__": {}, "format"');
        refuses(text, ["FORM_KEY", "/__proto__"]);
    });
    test("are ordinary in what the author wrote", () => {
        const form = body(
            expr(member(name("x"), "constructor")),
            expr({ kind: "object", entries: [{ kind: "entry", key: "prototype", value: lit(1) }] }),
        );
        expect(validateProgram(form, { authored: true }).ok).toBe(true);
        expect(validateProgram(form).ok).toBe(false);
    });
});

describe("scope", () => {
    const cases: [string, unknown, ...[string, string][]][] = [
        ["an unknown name", body(expr(name("y"))), ["UNKNOWN_IDENTIFIER", `${BODY}/0/value/name`]],
        ["a name used before it is assigned", body(expr(name("y")), set("y", lit(1))), ["UNKNOWN_IDENTIFIER", `${BODY}/0/value/name`]],
        [
            "a name in its own first value",
            body(set("y", { kind: "binary", op: "+", left: name("y"), right: lit(1) })),
            ["UNKNOWN_IDENTIFIER", `${BODY}/0/value/left/name`],
        ],
        ["adding to a name that is not there", body(set("y", lit(1), "+=")), ["UNKNOWN_IDENTIFIER", `${BODY}/0/target/name`]],
        [
            "a name of a block that has ended",
            body({ kind: "if", branches: [{ test: lit(true), body: [set("y", lit(1))] }] }, expr(name("y"))),
            ["UNKNOWN_IDENTIFIER", `${BODY}/1/value/name`],
        ],
        [
            "the name of a loop after it",
            body({ kind: "for", item: "i", list: name("items"), max: 3, body: [] }, expr(name("i"))),
            ["UNKNOWN_IDENTIFIER", `${BODY}/1/value/name`],
        ],
        [
            "the name of a failure outside its handler",
            body({ kind: "try", body: [expr(name("e"))], name: "e", handler: [expr(name("e"))] }),
            ["UNKNOWN_IDENTIFIER", `${BODY}/0/body/0/value/name`],
        ],
        [
            "a shape as a value",
            program(file({ shapes: [{ name: "S", contract: { type: "string" } }], funcs: [func("f", [expr(name("S"))])] })),
            ["UNKNOWN_IDENTIFIER", "/files/0/funcs/0/body/0/value/name"],
        ],
        ["an unknown function", body(expr(call(name("helpr"), lit(1)))), ["UNKNOWN_FUNCTION", `${BODY}/0/value/callee/name`]],
        ["a variable that is called", body(expr(call(name("x")))), ["NOT_CALLABLE", `${BODY}/0/value/callee/name`]],
        ["a tool that is called by itself", body(expr(call(name("Repo")))), ["NOT_CALLABLE", `${BODY}/0/value/callee/name`]],
        ["the result of a call that is called", body(expr(call(call(name("helper"), lit(1))))), ["NOT_CALLABLE", `${BODY}/0/value/callee`]],
        ["too few arguments", body(expr(call(name("helper")))), ["INVALID_ARGUMENT_COUNT", `${BODY}/0/value/callee/name`]],
        [
            "a named argument",
            body(expr({ kind: "call", callee: name("helper"), args: [{ name: "a", value: lit(1) }] })),
            ["NAMED_ARGUMENT", `${BODY}/0/value/args/0/name`],
        ],
        ["an import that is assigned", body(set("Doc", lit(1))), ["IMMUTABLE_ASSIGNMENT", `${BODY}/0/target/name`]],
        ["a function that is assigned", body(set("helper", lit(1))), ["IMMUTABLE_ASSIGNMENT", `${BODY}/0/target/name`]],
        [
            "a literal that is assigned",
            body({ kind: "assign", target: lit(1), op: "=", value: lit(2) }),
            ["INVALID_ASSIGNMENT_TARGET", `${BODY}/0/target`],
        ],
        [
            "a safe member that is assigned",
            body({ kind: "assign", target: { ...member(name("x"), "a"), safe: true }, op: "=", value: lit(2) }),
            ["INVALID_ASSIGNMENT_TARGET", `${BODY}/0/target`],
        ],
        ["break outside a loop", body({ kind: "break" }), ["BREAK_OUTSIDE_LOOP", `${BODY}/0`]],
        [
            "continue in a parallel for inside a loop",
            body({
                kind: "repeat",
                times: 2,
                body: [set("y", { kind: "parallel", item: "i", list: name("items"), max: 2, body: [{ kind: "continue" }, expr(lit(1))] })],
            }),
            ["BREAK_OUTSIDE_LOOP", `${BODY}/0/body/0/value/body/0`],
        ],
        ["a lambda that is a value", body(set("f", lambda(lit(1)))), ["LAMBDA_PLACE", `${BODY}/0/value`]],
        [
            "a model in a lambda",
            body(expr(call(member(name("items"), "map"), lambda(generate(), "i")))),
            ["LAMBDA_EFFECT", `${BODY}/0/value/args/0/value/body`],
        ],
        [
            "return in a lambda",
            body(
                expr(
                    call(
                        member(name("items"), "map"),
                        lambda({ kind: "if.expr", branches: [{ test: lit(true), body: [{ kind: "return", value: lit(1) }] }] }, "i"),
                    ),
                ),
            ),
            ["LAMBDA_RETURN", `${BODY}/0/value/args/0/value/body/branches/0/body/0`],
        ],
        [
            "break in a lambda inside a loop",
            body({
                kind: "repeat",
                times: 1,
                body: [expr(call(member(name("items"), "map"), lambda({ kind: "try.expr", body: [{ kind: "break" }], handler: [] }, "i")))],
            }),
            ["BREAK_OUTSIDE_LOOP", `${BODY}/0/body/0/value/args/0/value/body/body/0`],
        ],
        [
            "a parallel for that assigns outside",
            body(
                set("n", lit(0)),
                expr({ kind: "parallel", item: "i", list: name("items"), max: 2, body: [set("n", name("i")), expr(name("i"))] }),
            ),
            ["PARALLEL_FOR_OUTER_ASSIGNMENT", `${BODY}/1/value/body/0/target/name`],
        ],
        [
            "a parallel for without a value",
            body(expr({ kind: "parallel", item: "i", list: name("items"), max: 2, body: [set("n", name("i"))] })),
            ["INVALID_PARALLEL_FOR_BODY", `${BODY}/0/value/body`],
        ],
        ["a number that cannot be kept", body(expr(lit(2 ** 53 + 2))), ["NUMBER_TOO_LARGE", `${BODY}/0/value/value`]],
        ["a number written otherwise", body(expr({ ...lit(2), text: "3.0" })), ["FORM_VALUE", `${BODY}/0/value/text`]],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });
});

describe("context and models", () => {
    const cases: [string, unknown, ...[string, string][]][] = [
        ["a call in use", body(use(call(name("helper"), lit(1)))), ["INVALID_USE_CALL", `${BODY}/0/value`]],
        ["a tool in use", body(use({ kind: "list", items: [name("Repo")] })), ["INVALID_USE_RESOURCE", `${BODY}/0/value/items/0/name`]],
        [
            "a statement in use",
            body(use({ kind: "if.expr", branches: [{ test: lit(true), body: [set("y", lit(1))] }] })),
            ["INVALID_USE_CALL", `${BODY}/0/value`],
        ],
        ["a reserved label", body(use(name("x"), { label: "system" })), ["RESERVED_CONTEXT_LABEL", `${BODY}/0/label`]],
        [
            "a budget that says two things",
            body(use(name("x"), { max: { amount: 9, unit: "tokens", text: "4k tokens" } })),
            ["INVALID_BUDGET", `${BODY}/0/max/text`],
        ],
        [
            "two candidates of one name",
            body({ kind: "use.one", label: "l", candidates: [{ name: "a" }, { name: "a", value: name("x") }] }),
            ["DUPLICATE_USE_ONE_OF_CANDIDATE", `${BODY}/0/candidates/1/name`],
        ],
        [
            "two that are selected",
            body({
                kind: "use.one",
                label: "l",
                candidates: [
                    { name: "a", selected: true },
                    { name: "b", selected: true },
                ],
            }),
            ["MULTIPLE_USE_ONE_OF_SELECTED", `${BODY}/0/candidates/1/selected`],
        ],
        ["a role that is computed", body(config("role", name("x"))), ["INVALID_CONFIG_VALUE_TYPE", `${BODY}/0/value`]],
        ["a model that is a tool", body(config("model", name("Repo"))), ["INVALID_MODEL_BINDING", `${BODY}/0/value/name`]],
        ["a model that is a variable", body(config("model", name("x"))), ["INVALID_MODEL_BINDING", `${BODY}/0/value/name`]],
        ["a model that is not there", body(config("model", name("Gpt"))), ["UNKNOWN_MODEL", `${BODY}/0/value/name`]],
        ["tools that are none", body(expr(generate({ tools: [name("Notes")] }))), ["INVALID_GENERATE_TOOLS", `${BODY}/0/value/tools/0`]],
        [
            "a generate without a role",
            program(file({ funcs: [func("f", [config("model", name("Llm")), config("description", lit("d")), expr(generate())])] })),
            ["MISSING_GENERATE_CONFIG", "/files/0/funcs/0/body/2/value"],
        ],
        [
            "a role of a block that has ended",
            program(
                file({
                    funcs: [
                        func("f", [
                            config("model", name("Llm")),
                            config("description", lit("d")),
                            { kind: "if", branches: [{ test: lit(true), body: [config("role", lit("r"))] }] },
                            expr(generate()),
                        ]),
                    ],
                }),
            ),
            ["MISSING_GENERATE_CONFIG", "/files/0/funcs/0/body/3/value"],
        ],
        [
            "an agent's use of what is no file",
            program(file({ agents: [{ name: "A", config: [use(name("helper"))], funcs: [func("helper", [])] }] })),
            ["INVALID_USE_RESOURCE", "/files/0/agents/0/config/0/value/name"],
        ],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });
});

describe("declarations", () => {
    const agent = (of: string, more: Obj = {}): Obj => ({ name: of, config: [], funcs: [], ...more });
    const cases: [string, unknown, ...[string, string][]][] = [
        ["an import twice", program(file({ imports: [...IMPORTS, IMPORTS[0] as Json] })), ["DUPLICATE_IMPORT", "/files/0/imports/4/name"]],
        ["two agents of one name", program(file({ agents: [agent("A"), agent("A")] })), ["DUPLICATE_AGENT", "/files/0/agents/1/name"]],
        [
            "two main agents",
            program(file({ agents: [agent("A", { main: true }), agent("B", { main: true })] })),
            ["DUPLICATE_MAIN_AGENT", "/files/0/agents/1/main"],
        ],
        [
            "two functions of one name",
            program(file({ agents: [agent("A", { funcs: [func("f", []), func("f", [])] })] })),
            ["DUPLICATE_FUNCTION", "/files/0/agents/0/funcs/1/name"],
        ],
        [
            "a function with the name of an import",
            program(file({ funcs: [func("Repo", [])] })),
            ["DUPLICATE_BINDING", "/files/0/funcs/0/name"],
        ],
        [
            "an agent's function with the name of an import",
            program(file({ agents: [agent("A", { funcs: [func("Repo", [])] })] })),
            ["DUPLICATE_BINDING", "/files/0/agents/0/funcs/0/name"],
        ],
        [
            "two parameters of one name",
            program(file({ funcs: [func("f", [], [{ name: "a" }, { name: "a" }])] })),
            ["DUPLICATE_PARAM", "/files/0/funcs/0/params/1/name"],
        ],
        [
            "a parameter with the name of an import",
            program(file({ funcs: [func("f", [], [{ name: "Repo" }])] })),
            ["PARAM_SHADOWS_IMPORT", "/files/0/funcs/0/params/0/name"],
        ],
        [
            "a parameter without a default after one with",
            program(file({ funcs: [func("f", [], [{ name: "a", default: 1 }, { name: "b" }])] })),
            ["INVALID_PARAM_CONTRACT", "/files/0/funcs/0/params/1"],
        ],
        [
            "a default that does not hold its contract",
            program(file({ funcs: [func("f", [], [{ name: "a", contract: { type: "string" }, default: 1 }])] })),
            ["INVALID_PARAM_CONTRACT", "/files/0/funcs/0/params/0/default"],
        ],
        [
            "a shape that is not there",
            program(file({ funcs: [func("f", [], [], { result: { type: "list", item: { type: "ref", name: "S" } } })] })),
            ["UNKNOWN_CONTRACT_TYPE", "/files/0/funcs/0/result/item/name"],
        ],
        [
            "a shape with the name of a contract",
            program(file({ shapes: [{ name: "string", contract: { type: "number" } }] })),
            ["DUPLICATE_BINDING", "/files/0/shapes/0/name"],
        ],
        [
            "a shape that is nothing but itself",
            program(file({ shapes: [{ name: "S", contract: { type: "ref", name: "S" } }] })),
            ["ENDLESS_SHAPE", "/files/0/shapes/0"],
        ],
        [
            "a field twice",
            program(
                file({
                    shapes: [
                        {
                            name: "S",
                            contract: {
                                type: "object",
                                fields: [
                                    { name: "a", contract: { type: "string" } },
                                    { name: "a", contract: { type: "number" } },
                                ],
                            },
                        },
                    ],
                }),
            ),
            ["DUPLICATE_CONTRACT_FIELD", "/files/0/shapes/0/contract/fields/1/name"],
        ],
        [
            "a field's default that does not hold",
            program(
                file({
                    shapes: [
                        { name: "S", contract: { type: "object", fields: [{ name: "a", contract: { type: "string" }, default: [] }] } },
                    ],
                }),
            ),
            ["INVALID_CONTRACT_DEFAULT", "/files/0/shapes/0/contract/fields/0/default"],
        ],
        ["an entry file that is not there", { ...program(file()), entry: { file: 3, func: "f" } }, ["FORM_REFERENCE", "/entry/file"]],
        [
            "an entry agent that is not there",
            { ...program(file()), entry: { file: 0, agent: "A", func: "f" } },
            ["FORM_REFERENCE", "/entry/agent"],
        ],
        ["an entry function that is not there", { ...program(file()), entry: { file: 0, func: "f" } }, ["FORM_REFERENCE", "/entry/func"]],
        [
            "an agent from a later file",
            program(file({ imports: [{ what: "agent", name: "W", uri: "./w.remit", from: 1 }] }), file({ agents: [agent("W")] })),
            ["FORM_REFERENCE", "/files/0/imports/0/from"],
        ],
        [
            "an agent that its file does not declare",
            program(file(), file({ imports: [{ what: "agent", name: "W", uri: "./w.remit", from: 0 }] })),
            ["IMPORT_AGENT_MISSING", "/files/1/imports/0/from"],
        ],
        [
            "a tool from a file",
            program(file(), file({ imports: [{ what: "tool", name: "W", uri: "./w.ts", from: 0 }] })),
            ["FORM_REFERENCE", "/files/1/imports/0/from"],
        ],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });
});

describe("what is valid", () => {
    const parallel = (...inner: Json[]): Obj => ({ kind: "parallel", item: "i", list: name("items"), max: 2, body: inner });
    const cases: [string, Json][] = [
        ["an empty file", program(file())],
        ["no statements", body()],
        ["a parameter read", body(expr(name("x")))],
        ["assigned, then read", body(set("y", lit(1)), expr(name("y")))],
        [
            "assigned in a block from outside it",
            body(set("y", lit(1)), { kind: "if", branches: [{ test: lit(true), body: [set("y", lit(2), "+=")] }], otherwise: [] }),
        ],
        [
            "break and continue in loops",
            body({
                kind: "repeat",
                times: 2,
                body: [{ kind: "if", branches: [{ test: lit(true), body: [{ kind: "break" }] }], otherwise: [{ kind: "continue" }] }],
            }),
        ],
        [
            "repeat and loop that never run",
            body({ kind: "repeat", times: 0, body: [] }, { kind: "loop", until: lit(true), max: 0, body: [] }),
        ],
        ["the item of a loop", body({ kind: "for", item: "i", list: name("items"), max: 3, body: [expr(name("i"))] })],
        [
            "a failure in its handler",
            body({
                kind: "try",
                body: [{ kind: "raise", value: lit("x") }],
                name: "e",
                handler: [{ kind: "return", value: member(name("e"), "message") }],
            }),
        ],
        ["a handler without a name", body({ kind: "try", body: [], handler: [] })],
        [
            "if and try as values",
            body(
                set("y", { kind: "if.expr", branches: [{ test: lit(true), body: [expr(lit(1))] }] }),
                set("z", { kind: "try.expr", body: [], name: "e", handler: [expr(name("e"))] }),
            ),
        ],
        [
            "a lambda for a built-in",
            body(expr(call(member(name("items"), "map"), lambda({ kind: "binary", op: "+", left: name("i"), right: name("x") }, "i")))),
        ],
        ["a function of the agent", body(expr(call(name("helper"), lit(1))))],
        ["a recursive call", body(expr(call(name("main"), lit(1), lit(2))))],
        ["an agent that is called", body(expr(call(name("A"), lit(1))), expr(call(member(name("A"), "helper"), lit(1))))],
        [
            "a tool, a memory, a built-in",
            body(
                expr(call(member(name("Repo"), "read"), { kind: "object", entries: [] })),
                expr(call(member(name("Notes"), "query"), { kind: "object", entries: [] })),
                expr(call(member(name("json"), "parse"), lit("1"))),
                expr(call(name("text"), lit(1))),
            ),
        ],
        ["a variable that hides a built-in", body(set("max", lit(1)), expr(name("max")))],
        ["a capability passed on", body(expr(call(name("helper"), name("Repo"))))],
        [
            "named arguments of a yield",
            body(expr({ kind: "call", callee: member(name("A"), "yield"), args: [{ name: "log", value: name("x") }] })),
        ],
        [
            "a file in use",
            body(
                use(name("Doc")),
                use(member(name("x"), "a"), {
                    label: "user",
                    priority: 0,
                    max: { amount: 4000, unit: "tokens", keep: "end", text: "4k tokens keep end" },
                }),
            ),
        ],
        [
            "a condition in use",
            body(use({ kind: "if.expr", branches: [{ test: name("x"), body: [expr(lit(1))] }], otherwise: [expr(lit(2))] })),
        ],
        [
            "use one of",
            body({
                kind: "use.one",
                label: "l",
                candidates: [
                    { name: "none" },
                    { name: "x", value: name("x"), max: { amount: 500, unit: "chars", text: "500" }, selected: true },
                ],
            }),
        ],
        ["a total budget", body({ kind: "context", max: { amount: 2300, unit: "chars", text: "2.3k" } })],
        [
            "every option of generate",
            body(
                expr(
                    generate({
                        max_output: 1,
                        attempts: 1,
                        temperature: 0,
                        think: "auto",
                        strict: true,
                        debug: false,
                        stream: true,
                        turns: 1,
                        timeout: 0.5,
                        model: name("Llm"),
                        tools: [name("Repo"), member(name("Repo"), "read")],
                        contract: { type: "json" },
                    }),
                ),
            ),
        ],
        [
            "a generate with a model of its own",
            program(
                file({
                    funcs: [func("f", [config("role", lit("r")), config("description", lit("d")), expr(generate({ model: name("Llm") }))])],
                }),
            ),
        ],
        ["parallel for with names of its own", body(expr(parallel(set("y", name("i")), set("y", lit(1), "+="), expr(name("y")))))],
        ["return in a parallel for", body(expr(parallel({ kind: "return", value: name("i") }, expr(lit(1)))))],
        ["a loop in a parallel for", body(expr(parallel({ kind: "repeat", times: 1, body: [{ kind: "break" }] }, expr(lit(1)))))],
        [
            "spread, index, safe members",
            body(
                expr({
                    kind: "list",
                    items: [
                        { kind: "spread", value: name("items") },
                        { kind: "index", object: name("items"), index: lit(0) },
                    ],
                }),
                expr({ ...member(name("x"), "a"), safe: true }),
            ),
        ],
        [
            "words as properties and keys",
            body(
                expr(member(name("x"), "generate")),
                expr({
                    kind: "object",
                    entries: [
                        { kind: "entry", key: "odd key", value: lit(null) },
                        { kind: "entry", key: "", value: lit(1) },
                    ],
                }),
            ),
        ],
        [
            "words as parameters",
            program(file({ funcs: [func("f", [expr(name("use"))], [{ name: "use" }, { name: "if" }, { name: "list" }])] })),
        ],
        [
            "numbers as written",
            body(expr({ ...lit(2.5), text: "2.50" }), expr({ ...lit(2 ** 53 + 2), text: "9007199254740994.0" }), expr(lit(-(2 ** 53)))),
        ],
        [
            "shapes that hold themselves in a list",
            program(
                file({
                    shapes: [
                        {
                            name: "T",
                            contract: {
                                type: "object",
                                fields: [{ name: "of", contract: { type: "list", item: { type: "ref", name: "T" } } }],
                            },
                        },
                    ],
                    funcs: [
                        func("f", [], [{ name: "t", contract: { type: "ref", name: "T" }, default: { of: [] } }], {
                            result: { type: "optional", of: { type: "ref", name: "T" } },
                        }),
                    ],
                }),
            ),
        ],
        ["an entry", { ...program(file({ funcs: [func("f", [], [], { main: true })] })), entry: { file: 0, func: "f" } }],
        ["effects", program(file({ funcs: [func("f", [], [], { effects: ["agent:W", "memory:Notes.add", "model", "tool:Repo.read"] })] }))],
        [
            "an agent of an earlier file",
            program(
                file({ agents: [{ name: "W", config: [], funcs: [func("__main", [], [], { main: true })] }] }),
                file({ imports: [{ what: "agent", name: "W", uri: "./w.remit", from: 0 }], funcs: [func("f", [expr(call(name("W")))])] }),
            ),
        ],
        ["places", body({ ...expr({ ...lit(1), at: [1, 1, 1, 2] }), at: [1, 1, 1, 2] })],
    ];
    test.each(cases)("%s", (_, form) => {
        accepts(form);
    });
});

describe("caps come before everything else", () => {
    const codes = (form: unknown, caps = {}): string[] => {
        const found = validateProgram(form, { caps });
        return found.ok ? [] : found.errors.map((e) => e.code);
    };
    test("depth, as a text and as a value", () => {
        expect(codes("[".repeat(10_000))).toEqual(["FORM_DEPTH"]);
        expect(codes(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`)).toEqual(["FORM_DEPTH"]);
        let deep: Json = lit(1);
        for (let i = 0; i < 10_000; i++) deep = { kind: "unary", op: "-", value: deep };
        expect(codes(body(expr(deep)))).toEqual(["FORM_DEPTH"]);
        const circle: Obj = program();
        circle.files = [circle];
        expect(codes(circle)).toEqual(["FORM_DEPTH"]);
    });
    test("values that are shared over and over", () => {
        let laughs: Json = [lit(1), lit(1)];
        for (let i = 0; i < 50; i++) laughs = [laughs, laughs, laughs];
        expect(codes({ format: "remit-program/1", files: laughs })).toEqual(["FORM_NODES"]);
    });
    test("bytes, nodes and texts", () => {
        expect(codes("x".repeat(DEFAULT_CAPS.bytes + 1))).toEqual(["FORM_BYTES"]);
        expect(codes(`"${"é".repeat(600_000)}"`)).toEqual(["FORM_BYTES"]);
        expect(codes(body(...Array.from({ length: 50_000 }, () => ({ kind: "break" }))))).toEqual(["FORM_NODES"]);
        expect(codes(body(expr(lit("x".repeat(DEFAULT_CAPS.string + 1)))))).toEqual(["FORM_STRING"]);
        expect(codes(body(expr(lit("x".repeat(100)))), { string: 50 })).toEqual(["FORM_STRING"]);
        expect(codes(body(expr(lit(1))), { bytes: 10 })).toEqual(["FORM_BYTES"]);
        expect(codes({ ["k".repeat(DEFAULT_CAPS.string + 1)]: 1 })).toEqual(["FORM_STRING"]);
    });
    test("what is as deep as it may be is walked without trouble", () => {
        let deep: Json = lit(1);
        for (let i = 0; i < DEFAULT_CAPS.depth - 20; i++) deep = { kind: "binary", op: "+", left: deep, right: lit(1) };
        accepts(body(expr(deep)));
    });
});

describe("one function", () => {
    const answer = func(
        "fix",
        [expr(call(member(name("repo"), "read"), name("log")))],
        [{ name: "agent" }, { name: "log" }, { name: "repo" }],
    );
    test("with the parameters that were asked for", () => {
        expect(validateFunc(answer, { params: ["agent", "log", "repo"] })).toEqual({ ok: true, func: answer });
        expect(validateFunc(JSON.stringify(answer), { params: ["agent", "log", "repo"] }).ok).toBe(true);
        const found = validateFunc(answer, { params: ["agent", "repo", "log"] });
        expect(found.ok ? [] : found.errors).toEqual([
            { pointer: "/params", code: "INVALID_ARGUMENT_COUNT", message: "the parameters must be (agent, repo, log)" },
        ]);
    });
    test("knows nothing but its parameters, built-ins and what it is given", () => {
        const form = func("f", [expr(name("secret")), expr(call(name("text"), name("a")))], [{ name: "a" }]);
        const found = validateFunc(form, { params: ["a"] });
        expect(found.ok ? [] : found.errors.map((e) => [e.code, e.pointer])).toEqual([["UNKNOWN_IDENTIFIER", "/body/0/value/name"]]);
        expect(validateFunc(form, { params: ["a"], names: new Map([["secret", { kind: "file", imported: true }]]) }).ok).toBe(true);
    });
    test("knows the shapes it is given", () => {
        const form = func("f", [], [], { result: { type: "ref", name: "S" } });
        expect(validateFunc(form).ok).toBe(false);
        expect(validateFunc(form, { shapes: { S: { type: "string" } } }).ok).toBe(true);
    });
});

describe("nothing throws", () => {
    test("whatever is called a form", () => {
        fc.assert(
            fc.property(
                fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withTypedArray: true }),
                (value) => {
                    expect(typeof validateProgram(value).ok).toBe("boolean");
                    expect(typeof validateFunc(value).ok).toBe("boolean");
                    expect(typeof validateProgram({ format: "remit-program/1", files: [value] }).ok).toBe("boolean");
                },
            ),
            { numRuns: 500 },
        );
        fc.assert(
            fc.property(fc.string(), (text) => !validateProgram(text).ok),
            { numRuns: 300 },
        );
    });
});

describe("canonical JSON", () => {
    test("the example of RFC 8785", () => {
        const value = JSON.parse(
            String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
        ) as Json;
        expect(canonicalJson(value)).toBe(
            String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
        );
    });
    test("keys are sorted by UTF-16 code units", () => {
        const keys = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u00f6"];
        const value = Object.fromEntries(keys.map((key, i) => [key, i]));
        expect(Object.keys(JSON.parse(canonicalJson(value)) as Obj)).toEqual(["1", "\r", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"]);
        expect(canonicalJson({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
    });
    test("N1: the order of keys makes no difference, and reading it back gives the value", () => {
        fc.assert(
            fc.property(fc.jsonValue(), (value) => {
                const text = canonicalJson(value as Json);
                expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
                expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
            }),
        );
    });
});
