/** Spellings of AgentScript before its current one: read with a warning, and a fix that leaves current text. */
import { describe, expect, test } from "vitest";
import { applyFixes } from "../../src/index.ts";
import { codes, read, readBody, showBody } from "./show.ts";

/** Old text of a body, its tree, the text after the fixes. */
const SPELLINGS: readonly (readonly [string, string, string])[] = [
    ["use x < 2k", "(use x max:2000c)", "use x max 2k"],
    ["use x.y<1.5k", "(use (. x y) max:1500c)", "use x.y max 1.5k"],
    ["use a + b < 2k as c", "(use (+ a b) max:2000c as:c)", "use a + b max 2k as c"],
    ["loop until c < 6 { a }", "(loop c 6 {a})", "loop until c max 6 { a }"],
    ["loop until a == b <6 { a }", "(loop (== a (< b 6)) 1 {a})", ""],
    ["for a in b < 4 { a }", "(for a b 4 {a})", "for a in b max 4 { a }"],
    ["for a in b.c()<4 { a }", "(for a (call (. b c)) 4 {a})", "for a in b.c() max 4 { a }"],
    ["x = {\n a: 1\n b: 2\n}", "(= x {a:1 b:2})", "x = {\n a: 1,\n b: 2\n}"],
    ["x = {\n a: f()\n 'b': [1]\n}", "(= x {a:(call f) b:[1]})", "x = {\n a: f(),\n 'b': [1]\n}"],
    [`generate({\n input: "q"\n limit: 800\n})`, `(generate input:"q" max_output:800t)`, `generate({\n input: "q",\n max_output: 800\n})`],
    ["generate({ input: q, limit: 2k })", "(generate input:q max_output:2000t)", "generate({ input: q, max_output: 2k })"],
    [
        "generate({ input: q }) -> {\n ok boolean\n tags list[string]\n text\n}",
        "(generate input:q -> {ok:boolean tags:list[string] text})",
        "generate({ input: q }) -> {\n ok: boolean\n tags: list[string]\n text\n}",
    ],
    [
        "generate({ input: q }) -> { ok boolean  title string }",
        "(generate input:q -> {ok:boolean title:string})",
        "generate({ input: q }) -> { ok: boolean,  title: string }",
    ],
    [
        "generate({ input: q }) { return { ok: boolean } }",
        "(generate input:q -> {ok:boolean})",
        "generate({ input: q }) -> { ok: boolean }",
    ],
    [
        "generate({ input: q }) {\n return {\n ok boolean\n }\n}",
        "(generate input:q -> {ok:boolean})",
        "generate({ input: q }) -> {\n ok: boolean\n }",
    ],
    ["use x as user question", `(use x as:"user question")`, `use x as "user question"`],
    ["use x max 2k as step 2 - notes // why", `(use x max:2000c as:"step 2 - notes")`, `use x max 2k as "step 2 - notes" // why`],
    ["if a { use x as the end }", `(if a {(use x as:"the end")})`, `if a { use x as "the end" }`],
];

describe("old spellings", () => {
    test.each(SPELLINGS.filter(([, , fixed]) => fixed !== ""))("%s", (text, tree, fixed) => {
        const file = readBody(text);
        expect(new Set(codes(file).split(" "))).toEqual(new Set(["OLD_SPELLING"]));
        expect(showBody(file)).toBe(tree);
        const repaired = applyFixes(
            file.source.text,
            file.diagnostics.flatMap((diagnostic) => (diagnostic.fixes ?? []).filter((fix) => fix.safe)),
        );
        expect(repaired).toBe(`func f() {\n${fixed}\n}`);
        const again = read(repaired);
        expect([codes(again), showBody(again)]).toEqual(["", tree]);
    });

    test("every old spelling is a warning with a safe fix", () => {
        for (const [text, , fixed] of SPELLINGS) {
            if (fixed === "") continue;
            for (const diagnostic of readBody(text).diagnostics) {
                expect(diagnostic.severity).toBe("warning");
                expect(diagnostic.fixes?.every((fix) => fix.safe)).toBe(true);
            }
        }
    });
});

/** Where the current spelling gives the text a meaning, that meaning stands. */
const CURRENT: readonly (readonly [string, string])[] = [
    ["use x < 200", "(use (< x 200))"],
    ["use x < y", "(use (< x y))"],
    ["loop until c < 6 max 3 { a }", "(loop (< c 6) 3 {a})"],
    ["for a in b < 4 max 2 { a }", "(for a (< b 4) 2 {a})"],
    ["generate({ input: q }) { a: 1 }", "(generate input:q) {a:1}"],
    ["if generate({ input: q }) { return { a: 1 } }", "(if (generate input:q) {(return {a:1})})"],
    ["use x as user\nquestion", "(use x as:user) question"],
    ["x = { limit: 3 }", "(= x {limit:3})"],
];

describe("what is current is not taken for old", () => {
    test.each(CURRENT)("%s", (text, tree) => {
        const file = readBody(text);
        expect([codes(file), showBody(file)]).toEqual(["", tree]);
    });
});

test("an order that was never accepted is an error: the budget stands before the label", () => {
    expect(codes(readBody("use x as a max 2k"))).toBe("SYNTAX");
    expect(codes(readBody("use x as a < 2k"))).toBe("SYNTAX");
    expect(codes(readBody("use x as a priority 2"))).toBe("SYNTAX");
});

test("a comparison of several parts has no limit in it", () => {
    expect(codes(readBody("loop until a == b <6 { a }"))).toBe("SYNTAX");
});

test("fixes that overlap are not both applied, and a second round brings the other", () => {
    const edit = (start: number, end: number, text: string) => ({ title: "t", safe: true, edits: [{ range: { start, end }, text }] });
    expect(applyFixes("abcdef", [edit(1, 3, "X"), edit(2, 4, "Y"), edit(4, 4, "-"), edit(4, 4, "-"), edit(5, 6, "")])).toBe("aXd-e");
});

test("the tool that was called sh://sed is sh://read-range", () => {
    const text = `import tool Sed from 'sh://sed' { run: may }\nimport file S from "sh://sed"\nfunc f() { Sed.run({ path: "a" }) }`;
    const file = read(text);
    expect(codes(file)).toBe("OLD_SPELLING");
    const repaired = applyFixes(
        text,
        file.diagnostics.flatMap(({ fixes = [] }) => fixes),
    );
    expect(repaired).toBe(text.replace("'sh://sed'", '"sh://read-range"'));
    const uris = (of: string): unknown => read(of).items.map((item) => item.kind === "import" && item.uri.value);
    expect(uris(text)).toEqual(uris(repaired));
});

test("names with hyphens, as earlier AgentScript had them, get a hint", () => {
    const hints = (text: string): (string | undefined)[] => read(text).diagnostics.map(({ hint }) => hint);
    const said = (name: string): string => `A name holds no hyphen: write \`${name}\`, wherever it stands.`;
    expect(hints('import llm my-model from "mock:"')).toEqual([said("my_model")]);
    expect(hints("main agent support-desk { main func(input) { 1 } }")).toEqual([said("support_desk")]);
    expect(codes(readBody("x = a - b\ny = a-b\nz = a -b"))).toBe("");
});
