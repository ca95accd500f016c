/** Contracts of a project's `./tools.ts` from its types, read by the project's own TypeScript: real ones of both versions. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Json, showContract } from "@remit/language";
import { expect, test } from "vitest";
import { checkFile } from "../../src/load/check.ts";
import { typesOf } from "../../src/tool/types.ts";
import { perform, type Work, work } from "./setup.ts";

const MODULES = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
const TOOLS = `import type { Item } from "./item.ts";
/** Adds two numbers. */
export function add(a: number, b = 2): number { return a + b; }
/** Doubles a number. */
export const twice = (n: number): number => n * 2;
export async function find({ id, how }: { id: string; how: "fast" | "slow" }): Promise<Item | undefined> {
    return id === "lie" ? ({ name: 3 } as unknown as Item) : id === "" ? undefined : { name: id, price: how.length };
}
export const all = (...names: string[]): Item[] => names.map((name) => ({ name, price: 1 }));
export function either(a: string): string; export function either(a: number): number; export function either(a: unknown): unknown { return a; }
export function odd<T>(x: T, at: Date, made: Map<string, T>, call: () => void): Record<string, number> { return {}; }
export const VERSION = "1";
export default { later: (flag?: boolean, limit?: 1 | 2 | null): void => {}, add: () => "hidden" };
`;

/** What a project says whose types need nothing of a browser, which is most of what the compiler reads else. */
const LEAN = { lib: ["es2022"], types: [] };

/** A project with these packages. `options`: of its compiler; null: it has no configuration. */
function project(packages: { readonly [name: string]: string }, options: object | null = LEAN): Work {
    const here = work();
    if (options !== null) here.write("tsconfig.json", JSON.stringify({ compilerOptions: options }));
    here.write("package.json", '{ "type": "module" }');
    here.write("tools.ts", TOOLS);
    here.write("item.ts", "export interface Item { name: string; price: number; parent?: Item }\n");
    here.write("remit.json", '{ "allow": { "local": ["tools.ts"] } }');
    mkdirSync(join(here.workspace, "node_modules"));
    for (const [name, target] of Object.entries(packages)) symlinkSync(join(MODULES, target), join(here.workspace, "node_modules", name));
    return here;
}

function read(here: Work): readonly string[] | string | null {
    const typed = typesOf(join(here.workspace, "tools.ts"), here.env);
    if (!("members" in typed)) return typed.why;
    const lines = typed.members.signatures.map(({ name, params, result }) => {
        const list = params.map(
            (one) => `${one.rest === true ? "..." : ""}${one.name}${one.optional === true ? "?" : ""}: ${showContract(one.contract)}`,
        );
        return `${name}(${list.join(", ")}) ${showContract(result)}`;
    });
    return lines.sort();
}
const checked = async (here: Work, text: string): Promise<string[]> => {
    const { diagnostics } = await checkFile(here.write("main.remit", text), { env: here.env, trust: true, workspace: here.workspace });
    return diagnostics.map((one) => `${one.severity} ${one.code} ${one.message}`);
};

const SIGNATURES = [
    "add(a: number, b?: number) number",
    "all(...names: string) list[{ name: string, price: number, parent?: json }]",
    "either(...arguments: json) json",
    'find(input: { id: string, how: "fast" | "slow" }) { name: string, price: number, parent?: json }?',
    "later(flag?: boolean, limit?: (1 | 2)?) none",
    "odd(x: json, at: json, made: json, call: json) json",
    "twice(n: number) number",
];

test("a call is held to the types of a module, by the checker and at run time; a model is shown them", async () => {
    await using here = project({ typescript: "typescript" }, null);
    expect(read(here)).toEqual(SIGNATURES);
    expect(await checked(here, 'import tool T from "./tools.ts"\nmain func() { T.add("1") }\n')).toEqual([
        "error CONTRACT_MISMATCH 'a' of T.add(): a string is given where a number is wanted",
    ]);

    const tools = here.tools(here.config());
    const said = async (method: string, ...args: Json[]): Promise<Json> => {
        const outcome = await perform(tools, "./tools.ts", method, args);
        return outcome.ok ? outcome.value : outcome.failure.message.replace("Tool T.", "").replace(" (./tools.ts) failed", "");
    };
    expect(await said("add", 1)).toBe(3);
    expect(await said("twice", { n: 4 })).toBe(8);
    expect(await said("find", { id: "a", how: "fast" })).toEqual({ name: "a", price: 4 });
    expect(await said("find", { id: "", how: "fast" })).toBe(null);
    expect(await said("all", "a", "b")).toHaveLength(2);
    expect(await said("later", true, null)).toBe(null);
    expect(await said("add", "1")).toMatch(/^add: T\.add\(a\) must be a number/);
    expect(await said("add")).toBe("add: T.add takes 1 to 2 arguments, not 0");
    expect(await said("twice", { m: 4 })).toMatch(/^twice: the argument of T\.twice .*n/);
    // a rule that names the second place would not see it
    expect(await said("add", { a: 1, b: 4 })).toMatch(/^add: T\.add\(a\) must be a number/);
    expect(await said("find", { id: "a", how: "soon" })).toMatch(/^find: T\.find\(input\) .*"fast", "slow".*how/);
    expect(await said("find", { id: "lie", how: "slow" })).toMatch(/^find: the result of T\.find .*a string.*name/);
    const { methods } = await tools.describe({ name: "T", uri: "./tools.ts", file: "main.remit" });
    expect(methods.find((one) => one.name === "add")).toMatchObject({ description: "Adds two numbers.", input: { type: "object" } });
    expect(methods.find((one) => one.name === "twice")).toMatchObject({
        description: "Doubles a number.",
        input: { properties: { n: { type: "number" } }, required: ["n"] },
    });
});

test("TYP1: a program may read what a type lets stand under any name", async () => {
    await using here = project({ typescript: "typescript" });
    here.write(
        "tools.ts",
        `export const counts = (): Record<string, number> => ({ a: 1 });
export const more = (x: { n: number; [name: string]: unknown }): { n: number; [name: string]: unknown } => x;
export const any = (): {} => ({ a: 1 });
`,
    );
    const text = 'import tool T from "./tools.ts"\nmain func() { [T.counts().a, T.more({ n: 1, z: 2 }).z, T.any().a] }\n';
    expect(await checked(here, text)).toEqual([]);
});

test("types are read once, and again when a file of theirs changes", async () => {
    await using here = project({});
    here.write("node_modules/typescript/package.json", '{ "name": "typescript", "version": "6.0.3", "main": "index.cjs" }');
    here.write(
        "node_modules/typescript/index.cjs",
        `const real = require(${JSON.stringify(join(MODULES, "typescript"))});
exports.asked = 0;
Object.assign(exports, real, { createProgram: (...all) => (exports.asked++, real.createProgram(...all)) });`,
    );
    const asked = (): number => createRequire(join(here.workspace, "tools.ts"))("typescript").asked;
    expect(read(here)).toEqual(SIGNATURES);
    expect(read(here)).toEqual(SIGNATURES);
    expect(asked()).toBe(1);
    here.write("item.ts", "export interface Item { name: string }\n");
    expect(read(here)).toContain("all(...names: string) list[{ name: string }]");
    expect(asked()).toBe(2);
    // what could not be found may come, as code that is generated does
    rmSync(join(here.workspace, "item.ts"));
    expect(read(here)).toContain("all(...names: string) list[json]");
    here.write("item.ts", "export interface Item { id: number }\n");
    expect(read(here)).toContain("all(...names: string) list[{ id: number }]");
});

test("they are read again when a package that they come from changes its version, or a configuration that theirs extends", async () => {
    await using here = project({ typescript: "typescript" });
    here.write("tools.ts", 'import type { A } from "dep";\nimport type { B } from "b";\nexport const a = (x: A): B => x as never;\n');
    const dep = (version: string, type: string): void => {
        here.write("node_modules/dep/package.json", JSON.stringify({ name: "dep", version, types: "./lib/index.d.ts" }));
        here.write("node_modules/dep/lib/index.d.ts", `export type A = ${type};\n`);
    };
    const base = (file: string): string => here.write("base.json", JSON.stringify({ compilerOptions: { ...LEAN, paths: { b: [file] } } }));
    dep("1.0.0", "string");
    here.write("b1.ts", "export type B = string;\n");
    here.write("b2.ts", "export type B = boolean;\n");
    base("./b1.ts");
    here.write("tsconfig.json", '{ "extends": "./base.json" }');
    expect(read(here)).toEqual(["a(x: string) string"]);
    dep("1.1.0", "number");
    expect(read(here)).toEqual(["a(x: number) string"]);
    base("./b2.ts");
    expect(read(here)).toEqual(["a(x: number) boolean"]);
});

test("TYP3: a file of the cache that is none is a miss", async () => {
    await using here = project({ typescript: "typescript" });
    const cache = join(here.workspace, "cache");
    const path = join(here.workspace, "tools.ts");
    const first = typesOf(path, here.env, cache);
    const [kept] = readdirSync(join(cache, "signatures"));
    for (const text of ["null", '{"files":[null]}']) {
        writeFileSync(join(cache, "signatures", kept as string), text);
        expect(typesOf(path, here.env, cache), text).toEqual(first);
    }
});

test("where there is no TypeScript, or 7 alone, the checker says in a note what to install", async () => {
    await using none = project({});
    const program = 'import tool T from "./tools.ts"\nmain func() { T.add("1") }\n';
    expect(await checked(none, program)).toEqual([
        expect.stringMatching(/^note TOOL_TYPES_UNREAD .*TypeScript 5 or 6, which is not installed/),
    ]);
    await using seven = project({ typescript: "typescript-7" });
    expect(await checked(seven, program)).toEqual([expect.stringContaining("npm install --save-dev typescript-6@npm:typescript@6")]);
    await using both = project({ typescript: "typescript-7", "typescript-6": "typescript" });
    expect(await checked(both, program)).toEqual([expect.stringContaining("error CONTRACT_MISMATCH")]);
    // JavaScript has no types to read.
    expect(typesOf(none.write("plain.mjs", "export const x = () => 1;\n"), none.env)).toEqual({ why: null });
});

test("nothing is asked of a project that is not trusted", async () => {
    await using here = project({});
    here.write("node_modules/typescript/package.json", '{ "name": "typescript", "version": "6.0.3", "main": "index.cjs" }');
    here.write("node_modules/typescript/index.cjs", "globalThis.remitTestRan = true;");
    const main = here.write("main.remit", 'import tool T from "./tools.ts"\nmain func() { T.add("1") }\n');
    const { diagnostics } = await checkFile(main, { env: here.env, workspace: here.workspace });
    expect(diagnostics.map((one) => one.code)).toEqual(["UNAUTHORIZED_TOOL_IMPORT"]);
    expect("remitTestRan" in globalThis).toBe(false);
});
