/** Every fix that the checker offers cures what it is offered for, in the file that it is offered in. */
import { expect, test } from "vitest";
import { applyFixes, check, describedSchema, type Diagnostic } from "../../src/index.ts";
import type { Import } from "../../src/syntax/tree.ts";
import { caseFiles, load, readCases, run } from "./cases.ts";

const cases = caseFiles().flatMap(readCases);
const offered = cases.flatMap((one) =>
    check(load(one.files, one.entry))
        .diagnostics.filter((d) => (d.fixes?.length ?? 0) > 0)
        .map((d) => [`${one.title}: ${d.code} ${d.message}`, one, d] as const),
);

function count(all: readonly Diagnostic[], d: Diagnostic): number {
    return all.filter((one) => one.code === d.code && one.file === d.file && one.message === d.message).length;
}

test("there are fixes", () => {
    expect(offered.length).toBeGreaterThan(20);
});

test.each(offered)("%s", (_title, one, d) => {
    const before = check(load(one.files, one.entry)).diagnostics;
    for (const fix of d.fixes ?? []) {
        const files = new Map(one.files).set(d.file, applyFixes(one.files.get(d.file) as string, [fix]));
        const after = check(load(files, one.entry));
        expect(count(after.diagnostics, d)).toBeLessThan(count(before, d));
        const syntax = before.filter((x) => x.code === "SYNTAX").length - (d.code === "SYNTAX" ? 1 : 0);
        expect(after.diagnostics.filter((x) => x.code === "SYNTAX")).toHaveLength(syntax);
    }
});

function fixed(text: string): string {
    const d = run(text).diagnostics.find((one) => one.fixes !== undefined) as Diagnostic;
    return applyFixes(text, d.fixes?.slice(0, 1) ?? []);
}

test("the import to add stands after the imports, with its path as this file has to write it (D2)", () => {
    const files = new Map([
        ["sub/main.remit", 'import agent W from "../lib/w.as"\nmain agent A { main func() { use Doc\n W(Helper(1)) } }\n'],
        [
            "lib/w.as",
            'import file Doc from "./texts/doc.md"\nagent W { main func(x) { Helper(Doc) } }\nagent Helper { main func(x) { x } }\n',
        ],
    ]);
    const program = check(load(files, "sub/main.remit"));
    const found = program.diagnostics.filter((d) => d.code === "IMPORT_NOT_SHARED");
    expect(found.map((d) => d.fixes?.[0]?.title)).toEqual([
        'add import file Doc from "../lib/texts/doc.md"',
        'add import agent Helper from "../lib/w.as"',
    ]);
    const fix = found[1]?.fixes?.[0];
    expect(applyFixes(files.get("sub/main.remit") as string, fix === undefined ? [] : [fix]).split("\n")[1]).toBe(
        'import agent Helper from "../lib/w.as"',
    );
});

test("near names", () => {
    expect(fixed("func total(x) { x }\nmain func(count) { total(cuont) }")).toContain("total(count)");
    expect(fixed("func total(x) { x }\nmain func(count) { totl(count) }")).toContain("{ total(count)");
    expect(fixed('main func() { " a ".tirm() }')).toContain('" a ".trim()');
    expect(fixed('main func() { " a ".trim }')).toContain('" a ".trim()');
    expect(fixed("func f(a: strng) { a }")).toContain("a: string");
    expect(fixed('func f(a: "high" | low) { a }')).toContain('"high" | "low"');
});

test("a method that is no word gets its quotes and its point inside `.only`, and a word gets neither", () => {
    const fixedWith = (narrowed: string): string => {
        const text = `import tool T from "mcp://t"\nfunc g(x) { x }\nmain func() { g(T.only(${narrowed})) }\n`;
        const program = load(new Map([["main.remit", text]]), "main.remit");
        const node = program.files.get("main.remit")?.items[0] as Import;
        const described = new Map([[node, { schema: describedSchema({ "list-issues": {}, send: {} }), file: "t.json", text: "{}" }]]);
        const found = check({ ...program, described }).diagnostics.filter((d) => d.code === "REMIT_UNKNOWN_METHOD");
        expect(found).toHaveLength(1);
        const after = applyFixes(text, found[0]?.fixes ?? []);
        expect(run(after).diagnostics.filter((d) => d.severity === "error")).toEqual([]);
        return after;
    };
    expect(fixedWith("list_issues")).toContain('T.only(."list-issues")');
    expect(fixedWith('."list-isues"')).toContain('T.only(."list-issues")');
    expect(fixedWith('."sned"')).toContain("T.only(send)");
    expect(fixedWith("sned")).toContain("T.only(send)");
});

test("`only` is told of as what it is", () => {
    const hint = (text: string) =>
        run(`import tool Repo from "file://workspace"\nmain func() { ${text} }\n`).diagnostics.find((d) => d.code === "UNKNOWN_METHOD")
            ?.hint;
    expect(hint('Repo.only("read")')).toBe("what is passed on is narrowed by names alone: Repo.only(read, list)");
    expect(hint("Repo.onyl(1)")).toBe("did you mean 'only'?");
});
