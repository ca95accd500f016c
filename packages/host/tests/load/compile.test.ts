/** What a project's configuration changes in what is compiled: effects in the form, packages that only read, imports that are not allowed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkFile } from "../../src/load/check.ts";
import { LoadError } from "../../src/load/error.ts";
import { load } from "../../src/run/program.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-compile-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const write = (path: string, text: string): string => {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
};
const options = (more: object = {}) => ({
    root: folder,
    workspace: folder,
    env: { HOME: folder, REMIT_MODEL: "mock:" },
    folders: { cache: join(folder, "cache"), config: join(folder, "config") },
    ...more,
});

test("a form says which effects each function reaches, and is valid", async () => {
    const path = write(
        "main.remit",
        `import llm Model from "mock:"
import tool Repo from "file://workspace"
import memory Notes from "file://notes.jsonl"
agent Other { main func(x) { Notes.add({ x: x }) } }
func read(path) { Repo.read({ path: path }) }
main agent {
    model Model
    role "reader"
    description "Reads."
    main func(input: { path: string }) {
        Other(input.path)
        found = read(input.path)
        use found
        generate({ input: "What is in it?" })
    }
}
`,
    );
    const program = await load(path, options());
    const file = program.form.files.at(-1);
    const effects = (agent: string | null) =>
        (agent === null ? file?.funcs : file?.agents.find((one) => one.name === agent)?.funcs)?.map((one) => one.effects);
    expect(effects(null)).toEqual([["tool:Repo.read"]]);
    expect(effects("Other")).toEqual([["memory:Notes.add"]]);
    expect(effects("__main_agent")).toEqual([["agent:Other", "memory:Notes.add", "model", "tool:Repo.read"]]);
    const again = await load({ form: JSON.parse(JSON.stringify(program.form)) }, options());
    expect(again.hash).toBe(program.hash);
});

test("a package that only reads may be called in parallel, as long as the configuration says so", async () => {
    write("node_modules/pure/package.json", JSON.stringify({ name: "pure", version: "1.0.0", main: "main.js" }));
    write("node_modules/pure/main.js", "module.exports = { twice: (n) => n * 2 };");
    const config = (effectful: boolean) => write("remit.json", JSON.stringify({ allow: { npm: { pure: { effectful } } } }));
    const path = write(
        "main.remit",
        'import tool Pure from "npm:pure"\nmain func(input: { items: list[number] }) { parallel for n in input.items max 9 { Pure.twice(n) } }\n',
    );
    config(false);
    const program = await load(path, options({ trust: true }));
    expect(await program({ items: [1, 2] })).toEqual([2, 4]);
    await program.close();
    config(true);
    const refused = await load(path, options({ trust: true })).catch((error: unknown) => error);
    expect((refused as LoadError).diagnostics.map((one) => one.code)).toEqual(["PARALLEL_FOR_EFFECTFUL_CALL"]);
});

test("members of modules are read without a call; of other tools that is a failure", async () => {
    write("node_modules/pure/package.json", JSON.stringify({ name: "pure", version: "1.2.3", main: "main.js" }));
    write("node_modules/pure/main.js", "module.exports = { VERSION: '1.2.3', table: { a: [1] }, twice: (n) => n * 2 };");
    write("own.mjs", "export const LIMIT = 7;");
    write("remit.json", JSON.stringify({ allow: { node: ["path"], npm: { pure: {} }, local: ["own.mjs"] } }));
    const text = (last: string) => `import tool Path from "node:path"
import tool Pure from "npm:pure"
import tool Own from "./own.mjs"
import tool Files from "file://workspace"
main func() { [Path.sep + Pure.VERSION, Pure.table.a, Own.LIMIT + Pure.twice(Own.LIMIT), ${last}] }
`;
    const read = await load(write("main.remit", text("1")), options({ trust: true }));
    expect(await read(null)).toEqual(["/1.2.3", [1], 21, 1]);
    await read.close();
    const missing = await load(write("main.remit", text("Pure.absent")), options({ trust: true }));
    expect(await missing.run(null).result).toMatchObject({ failure: { kind: "tool", message: expect.stringContaining("absent") } });
    await missing.close();
    const other = await load(write("main.remit", text("Files.read")), options({ trust: true }));
    expect(await other.run(null).result).toMatchObject({ failure: { kind: "value", message: "Files.read is a method: call it" } });
    await other.close();
});

test("an import that is not allowed has one hint: the one that helps", async () => {
    write("remit.json", JSON.stringify({ allow: { node: ["path"] } }));
    const path = write("main.remit", 'import tool P from "node:path"\nmain func() { P.basename("/a/b") }\n');
    const refused = await load(path, options()).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LoadError);
    const [first] = (refused as LoadError).diagnostics;
    expect(first).toMatchObject({ code: "UNAUTHORIZED_TOOL_IMPORT", hint: expect.stringContaining("remit trust") });
    expect(first?.message).not.toContain("remit trust");
    expect(await (await load(path, options({ trust: true })))(null)).toBe("b");
});

test("a program's files are of a length that is read in seconds, all of them together", async () => {
    const half = `// ${"x".repeat(9 * 1024 * 1024)}\n`;
    const too = { failure: { kind: "limit.bytes", message: expect.stringContaining("may hold 16777216 characters together") } };
    await expect(load({ source: `${half}${half}main func() { 1 }\n` }, options())).rejects.toMatchObject(too);
    write("other.remit", `${half}agent Other {\n    main func() {\n        1\n    }\n}\n`);
    const main = write("main.remit", `${half}import agent Other from "./other.remit"\n\nmain func() { Other.main({}) }\n`);
    await expect(load(main, options())).rejects.toMatchObject(too);
});

test("a check says at the import what a run refuses of a file beside the program", async () => {
    write("broken.json", "{");
    write("folder/a.md", "a");
    const uris = ["./nothing.md", "./folder", "./broken.json", "./folder/a.md"];
    const path = write(
        "main.remit",
        `${uris.map((uri, i) => `import file F${i} from "${uri}"\n`).join("")}main func() { [F0, F1, F2, F3] }\n`,
    );
    const { diagnostics } = await checkFile(path, { root: folder, env: { HOME: folder } });
    expect(diagnostics.filter((one) => one.severity === "error").map(({ code, message, hint }) => [code, message, hint ?? ""])).toEqual([
        ["INVALID_IMPORT_URI", "there is no file nothing.md", "name the path from the importing file, such as ./rules.md"],
        ["INVALID_IMPORT_URI", "folder is a folder", "name a file; a folder is read by a tool: file://workspace"],
        ["INVALID_IMPORT_URI", expect.stringContaining("broken.json"), expect.any(String)],
    ]);
    await expect(load(path, options())).rejects.toThrow("there is no file nothing.md");
});

test("a check says at the import what a yield to a stub would fail with", async () => {
    write("answer.remit", "func fix(log) { log }\n");
    write("rules.md", "a");
    const uris = ["stub:source:anwser.remit", "stub:sequence:other.json", "stub:nop", "stub:source:answer.remit", "stub:noop"];
    const path = write(
        "main.remit",
        `${uris.map((uri, i) => `import agent S${i} from "${uri}"\n`).join("")}import file R from "./rulse.md"
main func() {\n    [${uris.map((_, i) => `S${i}.yield(log: R)`).join(", ")}]\n}\n`,
    );
    const { diagnostics } = await checkFile(path, { root: folder, env: { HOME: folder } });
    const errors = diagnostics.filter((one) => one.severity === "error");
    expect(errors.map(({ code, message, hint, range }) => [code, message, hint ?? "", range.start])).toEqual([
        ["INVALID_IMPORT_URI", "there is no file rulse.md", "did you mean 'rules.md'?", expect.any(Number)],
        ["INVALID_IMPORT_URI", "there is no file anwser.remit", "did you mean 'answer.remit'?", 21],
        ["INVALID_IMPORT_URI", "there is no file other.json", "a stub's file is named from the file that imports it", expect.any(Number)],
        ["INVALID_IMPORT_URI", "'stub:nop' is no stub agent", expect.stringContaining("stub:noop"), expect.any(Number)],
    ]);
});
