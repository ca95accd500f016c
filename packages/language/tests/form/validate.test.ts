/** Forms of a wrong structure: the code and the place of each; caps; random JSON. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/contract/contract.ts";
import { MAX_ERRORS } from "../../src/form/errors.ts";
import { DEFAULT_CAPS } from "../../src/form/measure.ts";
import { validateFunc, validateProgram } from "../../src/answer/validate.ts";
import {
    type Obj,
    lit,
    name,
    expr,
    set,
    call,
    member,
    use,
    generate,
    func,
    file,
    program,
    body,
    BODY,
    blocks,
    stage,
    refuses,
    accepts,
} from "./build.ts";

describe("F1: structure", () => {
    const cases: [string, unknown, ...[string, string][]][] = [
        ["nothing", undefined, ["FORM_JSON", ""]],
        ["no JSON", "{", ["FORM_JSON", ""]],
        ["a key twice", `{"format":"remit-program/1","files":[{"funcs":[1],"funcs":[2]}]}`, ["FORM_TWICE", "/files/0/funcs"]],
        [
            "a key twice, the second in escapes",
            String.raw`{"format":"remit-program/1","a":{"x":[]},"\u0066ormat":"x"}`,
            ["FORM_TWICE", "/format"],
        ],
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
        ["a fan-out of one branch", blocks({ kind: "fan", branches: [stage("echo")] }), ["FORM_VALUE", "/files/0/blocks/0/body/branches"]],
        ["a pipe of one stage", blocks({ kind: "pipe", stages: [stage("echo")] }), ["FORM_VALUE", "/files/0/blocks/0/body/stages"]],
        ["an expression as a stage", blocks(name("x")), ["FORM_KIND", "/files/0/blocks/0/body/kind"]],
        ["no blocks", program(file({ blocks: [] })), ["FORM_VALUE", "/files/0/blocks"]],
        ["a stage as a block", program(file({ blocks: [stage("echo")] })), ["FORM_KIND", "/files/0/blocks/0/kind"]],
        ["an unknown backend", blocks(stage("echo"), { backend: "sibyl" }), ["FORM_VALUE", "/files/0/blocks/0/backend"]],
        [
            "an argument that is an expression",
            blocks({ ...stage("echo"), args: [{ value: name("x") }] }),
            ["FORM_KIND", "/files/0/blocks/0/body/args/0/value/kind"],
        ],
        [
            "an unknown option of a stage",
            blocks({ ...stage("echo"), with: { speed: 1 } }),
            ["FORM_KEY", "/files/0/blocks/0/body/with/speed"],
        ],
        [
            "a credential from nowhere",
            blocks({ ...stage("echo"), with: { credential: { source: "vault", arg: "x" } } }),
            ["FORM_VALUE", "/files/0/blocks/0/body/with/credential/source"],
        ],
        [
            "an entry of blocks without blocks",
            { ...program(file()), entry: { file: 0, func: "__blocks" } },
            ["FORM_REFERENCE", "/entry/func"],
        ],
        [
            "a main that does not exist",
            { ...blocks(stage("echo")), entry: { file: 0, func: "__blocks" }, main: { file: 0, agent: "A", func: "main" } },
            ["FORM_REFERENCE", "/main/agent"],
        ],
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

describe("F2: caps come before everything else", () => {
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
        expect(found.ok ? [] : found.errors.map((e) => [e.code, e.pointer])).toEqual([["UNKNOWN_IDENTIFIER", "/body/0/value"]]);
    });
    test("knows the shapes it is given", () => {
        const form = func("f", [{ kind: "return", value: lit("a") }], [], { result: { type: "ref", name: "S" } });
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
