/** The registry of verbs, their code, and what a program gets of it. */
import { describe, expect, test } from "vitest";
import {
    check,
    contractOf,
    DuplicateVerb,
    FLOWING,
    format,
    LENT,
    lower,
    NATIVE_VERBS,
    readAnswer,
    registryOf,
    shownUse,
    source,
    type tree,
    validateProgram,
    type Verb,
} from "../../src/index.ts";
import { parse } from "../../src/syntax/parse/parse.ts";
import { preludeFor, preludeOf } from "../../src/verbs/prelude.ts";
import { load } from "../check/cases.ts";

const STOCK: Verb = {
    name: "stock",
    description: "The price of a share.",
    params: [
        { name: "symbol", contract: { type: "string" }, description: "its symbol" },
        { name: "currency", contract: { type: "string" }, description: "its currency", default: "USD" },
        { name: FLOWING, contract: { type: "json" }, description: "context", optional: true, flows: true },
    ],
    result: { type: "number" },
    effects: ["tool:Verb_stock.call"],
    backends: ["memory"],
    example: 'stock "ACME"',
    uri: "verb:stock",
};

const compiled = (text: string) => {
    const program = check(load(new Map([["main.remit", text]]), "main.remit"));
    expect(program.diagnostics.filter((d) => d.severity === "error")).toEqual([]);
    return lower(program, (func) => program.info.functions.get(func)?.effects ?? []);
};
const funcs = (file: tree.File): ReadonlyMap<string, tree.Func> =>
    new Map(file.items.flatMap((item) => (item.kind === "func" ? [[item.name?.text ?? "", item] as const] : [])));

describe("a registry is a value", () => {
    test("VRB1: two verbs of one name are refused", () => {
        expect(() => registryOf([STOCK], [STOCK])).toThrow(DuplicateVerb);
        expect([...registryOf([...NATIVE_VERBS.values()], [STOCK]).keys()].at(-1)).toBe("stock");
    });

    test("every entry is whole: a sentence, an example that a block can hold, a way to perform it, parameters with defaults last", () => {
        for (const { name, description, params, example, code, native, uri, backends } of NATIVE_VERBS.values()) {
            expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)]);
            expect([name, [code, native, uri].filter((one) => one !== undefined).length]).toEqual([name, 1]);
            expect([name, backends]).toEqual([name, ["memory", "temporal"]]);
            const optional = params.map((param) => param.default !== undefined || param.optional === true);
            if (native === undefined) expect([name, optional]).toEqual([name, optional.toSorted((a, b) => Number(a) - Number(b))]);
            expect([name, params.filter((param) => param.flows === true).map((param) => param.name)]).toEqual([
                name,
                params.some((param) => param.name === FLOWING) ? [FLOWING] : [],
            ]);
            const file = check(
                load(new Map([["main.remit", `import tool Files from "file://workspace"\nmemory static ( ${example} )`]]), "main.remit"),
            );
            expect([name, file.diagnostics.filter((d) => d.severity !== "note").map((d) => d.message)]).toEqual([name, []]);
        }
    });

    test("an entry says of a func's parameters what the func says", () => {
        const code = funcs(preludeOf(NATIVE_VERBS));
        for (const verb of NATIVE_VERBS.values()) {
            if (verb.code === undefined) continue;
            const func = code.get(verb.name) as tree.Func;
            expect([verb.name, func.params.map((param) => param.name.text)]).toEqual([verb.name, verb.params.map((param) => param.name)]);
            func.params.forEach((param, i) => {
                const said = verb.params[i] as Verb["params"][number];
                const isThing = said.takes === "agent";
                const own = param.contract === undefined ? undefined : contractOf(param.contract);
                const wanted =
                    said.optional === true && said.contract.type !== "json" ? { type: "optional", of: said.contract } : said.contract;
                expect([verb.name, said.name, own]).toEqual([verb.name, said.name, isThing ? undefined : wanted]);
                const hasDefault = said.default !== undefined || said.optional === true;
                expect([verb.name, said.name, param.default !== undefined]).toEqual([verb.name, said.name, hasDefault]);
            });
        }
    });
});

describe("the code of verbs", () => {
    test("is laid out as fmt lays it out", () => {
        const file = preludeOf(NATIVE_VERBS);
        expect(format(file)).toBe(file.source.text);
    });

    test("has no finding but what a stage hands over", () => {
        const file = preludeOf(NATIVE_VERBS);
        const { file: name } = file.source;
        const loaded = { entry: name, files: new Map([[name, file]]), order: [name], links: new Map(), readOnly: new Set<tree.Import>() };
        // Shown only where the file is taken for an ordinary one.
        const found = check({ ...loaded, diagnostics: [] }).diagnostics.filter((d) => d.severity === "error" && d.code !== "NOT_CALLABLE");
        expect(found).toEqual([]);
    });

    test("what the code of a verb does is told by the verb's name", () => {
        for (const { name, effects } of [...NATIVE_VERBS.values(), STOCK])
            for (const effect of effects.filter((one) => one.startsWith("tool:")))
                expect(shownUse(effect.slice("tool:".length))).toBe(name);
        expect(["Verb_files.write", "Mail.send"].map((use) => shownUse(use))).toEqual(["save", "Mail.send"]);
    });

    test("what a client lends is told by its own name and the lender's, where the import is the one of lent tools", () => {
        expect(shownUse("Lent.desk_3fa2b1__read__page", LENT)).toBe("read__page (lent by desk-3fa2b1)");
        expect([shownUse("Lent.owner__click"), shownUse("Lent.owner__click", "mcp://x")]).toEqual([
            "Lent.owner__click",
            "Lent.owner__click",
        ]);
    });

    test("PRL1: a program gets what it uses, at places that do not depend on what else it uses", () => {
        const names = (used: readonly string[]) =>
            preludeFor(NATIVE_VERBS, used, "v.remit")?.items.map((item) => (item.kind === "flow" ? "" : item.name?.text));
        expect(names(["read"])).toEqual(["Verb_files", "read"]);
        expect(names(["echo", "save"])).toEqual(["Verb_files", "echo", "is_text", "save"]);
        expect(names(["wait", "approve", "map"])).toBeUndefined();
        expect(names(["supervisor"])).toEqual(expect.arrayContaining(["Verb_model", "Verdict", "converge", "converge_judge"]));
        const at = (used: readonly string[]) => preludeFor(NATIVE_VERBS, used, "v.remit")?.items.at(-1)?.range;
        expect(at(["save"])).toEqual(at(["echo", "read", "save"]));
    });

    test("PRL2: declarations of one name that differ are refused", () => {
        const other: Verb = { ...STOCK, uri: undefined, code: "func stock() { 1 } func is_text(x) { true }" };
        expect(() => preludeOf(registryOf([...NATIVE_VERBS.values()], [other]))).toThrow(/is_text/);
    });

    test("a verb of the host is a tool with one method, called with the arguments by name", () => {
        const file = preludeOf(registryOf([STOCK]));
        expect(file.source.text).toBe(
            'import tool Verb_stock from "verb:stock"\n\nfunc stock(symbol: string, currency: string = "USD", input: json = none) -> number {\n' +
                "    Verb_stock.call({ symbol: symbol, currency: currency, input: input })\n}\n",
        );
    });
});

describe("a program with blocks", () => {
    test("has one more file, with the code of the verbs that its blocks use", () => {
        const { files, entry } = compiled('memory static ( read "a.md" >=> save "b.md" )');
        expect(files.map((file) => [file.file, file.prelude, file.funcs.map((func) => func.name)])).toEqual([
            ["verbs.remit", true, ["is_text", "read", "save"]],
            ["main.remit", undefined, []],
        ]);
        expect(files[0]?.funcs[1]?.effects).toEqual(["tool:Verb_files.read"]);
        expect(entry).toEqual({ file: 1, func: "__blocks" });
    });

    test("has none where a function of the file has the name of the verb, or what is used is the machine's", () => {
        expect(compiled('func read(x) { x }\nmemory static ( read "a" >=> wait 1s )').files).toHaveLength(1);
        expect(compiled("memory static ( echo [1] >=> map summarize )").files[0]?.funcs.map((func) => func.name)).toEqual([
            "echo",
            "summarize",
        ]);
    });

    test("keeps a file that has the name of that file", () => {
        const files = new Map([
            ["main.remit", 'import agent A from "./verbs.remit"\nmemory static ( echo "x" >=> A )'],
            ["verbs.remit", "agent A { main func(x) { x } }"],
        ]);
        const program = check(load(files, "main.remit"));
        expect([program.order, program.prelude]).toEqual([["verbs-2.remit", "verbs.remit", "main.remit"], "verbs-2.remit"]);
        expect(lower(program).files.map((file) => [file.file, file.prelude])).toEqual([
            ["verbs-2.remit", true],
            ["verbs.remit", undefined],
            ["main.remit", undefined],
        ]);
    });

    test("is a valid form, the code of the verbs included", () => {
        const form = compiled(
            'agent A { main func(question) { question } }\nmemory static ( converge "q" (researcher: A) >=> wait 5 min )',
        );
        expect(validateProgram(form)).toEqual({ ok: true, program: form });
    });

    test("is no answer of an agent", () => {
        const block = 'memory static ( read "secret.txt" )';
        const answers = [
            `\`\`\`remit\nfunc answer(agent) { 1 }\n${block}\n\`\`\``,
            `\`\`\`json\n${JSON.stringify({ ...compiled(`func answer(agent) { 1 }\n${block}`), entry: undefined, files: [compiled(`func answer(agent) { 1 }\n${block}`).files[1]] })}\n\`\`\``,
        ];
        for (const text of answers) {
            const read = readAnswer(text, [], { file: "answer.remit", params: [], bytes: 65_536 });
            expect(read).toMatchObject({ ok: false, kind: "signature", errors: [expect.stringMatching(/block/)] });
        }
    });

    test("s-expressions lead nowhere", () => {
        const program = check(load(new Map([["main.remit", "(pipe a b)"]]), "main.remit"));
        expect(program.diagnostics.map((d) => d.code)).toEqual(["SYNTAX"]);
        expect(parse(source("(pipe a b)")).items).toEqual([]);
    });
});
