/** What is kept between two checks of one process: a program that changed is what a process that begins with it makes of it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, loadProgram, lower, parse, source } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkFile } from "../../src/load/check.ts";
import { parsed } from "../../src/load/kept.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-kept-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const agent = (name: string, body: string, imports = ""): string =>
    `${imports}import tool Files from "file://workspace"\nagent ${name} {\n    func more(x) { x.n = 1 }\n    main func(x: json) {\n        ${body}\n    }\n}\n`;
const main = (imports: string): string => `${imports}main agent Main {\n    main func(x: json) {\n        A({ n: B(x) })\n    }\n}\n`;
const A = 'import agent A from "./a.remit"\n';
const B = 'import agent B from "./b.remit"\n';

/** One after the other, each in place of what was there. The files that did not change mean something else in some of them. */
const CHANGES: readonly (readonly [file: string, text: string])[] = [
    ["a.remit", agent("A", "x.n")],
    ["b.remit", agent("B", "x")],
    ["main.remit", main(A + B)],
    // the files come in another order, so that forms name others by another index
    ["main.remit", main(B + A)],
    ["b.remit", agent("B", "A(x)", A)],
    // an error of the imported file, and one of a file that imports it
    ["a.remit", agent("A", "y")],
    ["a.remit", agent("C", "x.n")],
    ["a.remit", agent("A", "Files.write({ path: x.n })")],
    ["a.remit", agent("A", "more(x)")],
    ["a.remit", agent("A", "{ n: B(x) }", B)],
    ["a.remit", agent("A", "x.n")],
    ["main.remit", main(A + B).replace("A({", "parallel for i in [1, 2] max 2 { A(x) }\n        A({")],
];

test("each change is seen, with all that follows from it in files that did not change", async () => {
    const texts = new Map<string, string>();
    const seen = new Set<string>();
    for (const [file, text] of CHANGES) {
        writeFileSync(join(folder, file), text);
        texts.set(file, text);
        if (!texts.has("main.remit")) continue;
        const anew = check(
            loadProgram("main.remit", { read: (name) => texts.get(name) ?? null, resolve: (_, uri) => uri.replace("./", "") }),
        );
        const { diagnostics, form } = await checkFile(join(folder, "main.remit"), { root: folder, env: { HOME: folder } });
        expect(diagnostics).toEqual(anew.diagnostics);
        // effects that a caller names are no reason to use a form that was made without them
        if (form !== null) expect(form).toEqual(lower(anew, () => []));
        seen.add(JSON.stringify([diagnostics, form]));
    }
    // each change shows, but for that which gives back what was there
    expect(seen.size).toBeGreaterThan(8);
});

test("a text that was parsed is not parsed again, under its own name alone; nothing that reads a tree changes it", () => {
    const text = `${agent("A", "x.n")}flow strict\nmain func(x) { A(x) }\n`;
    const kept = parsed(text, "a.remit");
    expect(parsed(text, "a.remit")).toBe(kept);
    expect(parsed(text, "b.remit").source.file).toBe("b.remit");
    frozen(kept);
    const once = (): unknown => {
        const checked = check(loadProgram("a.remit", { read: () => text, resolve: () => null, parse: () => kept }));
        return [checked.diagnostics, lower(checked)];
    };
    expect(once()).toEqual(once());
    expect(kept).toEqual(parse(source(text, "a.remit")));
});

test("a secret that became known since is found in a file that did not change", async () => {
    const path = join(folder, "main.remit");
    writeFileSync(path, 'main func() { "sk-live-\\u{30}123456789abcdef" }\n');
    await checkFile(path, { root: folder, env: { HOME: folder } });
    const known = checkFile(path, { root: folder, env: { HOME: folder, API_KEY: "sk-live-0123456789abcdef" } });
    await expect(known).rejects.toMatchObject({ failure: { kind: "denied", message: expect.stringContaining("env:API_KEY") } });
});

function frozen(value: unknown): void {
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
}

test("what was used least recently is let go, and a text that is larger than all that is kept is not kept", () => {
    const text = (at: number, length: number): string => `main func() { "${at}${"x".repeat(length)}" }\n`;
    const first = parsed(text(0, 300_000), "main.remit");
    for (let at = 1; at < 3; at++) parsed(text(at, 300_000), "main.remit");
    expect(parsed(text(0, 300_000), "main.remit")).toBe(first);
    const second = parsed(text(1, 300_000), "main.remit");
    parsed(text(3, 300_000), "main.remit");
    expect(parsed(text(0, 300_000), "main.remit")).toBe(first);
    parsed(text(4, 300_000), "main.remit");
    parsed(text(5, 300_000), "main.remit");
    expect(parsed(text(1, 300_000), "main.remit")).not.toBe(second);
    expect(parsed(text(6, 2_000_000), "main.remit")).not.toBe(parsed(text(6, 2_000_000), "main.remit"));
});
