/** `remit types`: declarations beside the programs, or in a folder of their own, and whether they are up to date. */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
    at.write("package.json", '{ "type": "module" }\n');
    at.write("main.remit", "main func(a: number) { a * 2 }\n");
    at.write("src/desk.remit", "func f(a: string) { a }\n");
    at.write("node_modules/other/other.remit", "not a program\n");
    at.write(".hidden/other.remit", "not a program\n");
});
afterEach(() => at.clear());
const text = (path: string): string => readFileSync(join(at.folder, path), "utf8");

test("declarations are written, and checked: one that is missing, old, or of a program that is gone", () => {
    expect(at.remit("types", "--check")).toMatchObject({
        code: 1,
        err: "main.d.remit.ts: not up to date\nsrc/desk.d.remit.ts: not up to date\nwrite them with: remit types\n",
    });
    expect(existsSync(join(at.folder, "main.d.remit.ts"))).toBe(false);
    expect(at.remit("types")).toMatchObject({ code: 0, err: "main.d.remit.ts: written\nsrc/desk.d.remit.ts: written\n" });
    expect(text("src/desk.d.remit.ts")).toContain('readonly "src/desk.remit": $Program;');
    expect(at.remit("types", "--check")).toMatchObject({ code: 0, err: "the types of 2 programs are up to date\n" });
    // the path begins at the package, wherever the command is typed
    expect(at.remitWith({ cwd: "src" }, "types", "--check")).toMatchObject({ code: 0 });

    at.write("main.remit", "main func(a: string) { a }\n");
    expect(at.remit("types", "src", "--check").code).toBe(0);
    expect(at.remit("types", "--check")).toMatchObject({ code: 1, err: expect.stringContaining("main.d.remit.ts: not up to date\n") });
    at.write("gone.d.remit.ts", text("main.d.remit.ts"));
    at.write("mine.d.remit.ts", "export {};\n");
    expect(at.remit("types", "--check").err).toContain("gone.d.remit.ts: its program is gone\n");
    expect(at.remit("types")).toMatchObject({ code: 0, err: "main.d.remit.ts: written\ngone.d.remit.ts: removed, its program is gone\n" });
    expect(existsSync(join(at.folder, "mine.d.remit.ts"))).toBe(true);
});

test("--out writes them into a folder with the layout of the project", () => {
    expect(at.remit("types", "--out", "types").code).toBe(0);
    expect(text("types/src/desk.d.remit.ts")).toContain('"src/desk.remit"');
    expect(existsSync(join(at.folder, "src/desk.d.remit.ts"))).toBe(false);
    expect(at.remit("types", "--out", "types", "--check").code).toBe(0);
});

test("a program with errors is told of and keeps its declaration; the others are written", () => {
    at.remit("types");
    const before = text("main.d.remit.ts");
    at.write("main.remit", "main func(a: number) { missing }\n");
    at.write("src/desk.remit", "func f(a: number) { a }\n");
    const said = at.remit("types");
    expect(said).toMatchObject({
        code: 1,
        err: expect.stringMatching(/main\.remit:1:24: error UNKNOWN_IDENTIFIER[\s\S]*desk\.d\.remit\.ts: written/),
    });
    expect(text("main.d.remit.ts")).toBe(before);
});

test("what is not there is told, and a link is not written through", () => {
    expect(at.remit("types", "nowhere.remit")).toMatchObject({
        code: 1,
        err: expect.stringContaining("there is no file or folder nowhere.remit"),
    });
    at.write("empty/note.md", "nothing\n");
    expect(at.remit("types", "empty").code).toBe(2);
    writeFileSync(join(at.folder, "precious"), "mine\n");
    symlinkSync(join(at.folder, "precious"), join(at.folder, "main.d.remit.ts"));
    expect(at.remit("types", "main.remit")).toMatchObject({ code: 2, err: expect.stringContaining("is a link") });
    expect(text("precious")).toBe("mine\n");
});

test("DCF4: a linked folder leads no declaration out of the project", () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "remit-elsewhere-"));
    at.write("package.json", "{}\n");
    at.write("sub/main.remit", "main func(a: number) { a * 2 }\n");
    symlinkSync(elsewhere, join(at.folder, "out"));
    const said = { code: 1, err: expect.stringContaining("lies behind a link that leads out of") };
    expect(at.remit("types", "sub", "--out", "out")).toMatchObject(said);
    expect(existsSync(join(elsewhere, "sub"))).toBe(false);
    // Nor is one removed there that a program gone by now had.
    writeFileSync(join(elsewhere, "gone.d.remit.ts"), "// Written by `remit types` from gone.remit\n");
    expect(at.remit("types", "sub", "--out", "out")).toMatchObject(said);
    expect(existsSync(join(elsewhere, "gone.d.remit.ts"))).toBe(true);
    // A folder outside that is named itself is the user's wish.
    expect(at.remit("types", "sub", "--out", elsewhere).code).toBe(0);
    rmSync(elsewhere, { recursive: true });
});

test("DCF2: no file of a person is written over, and none that is no file is in the way", () => {
    at.write("main.prog", "main func(a: number) { a * 2 }\n");
    expect(at.remit("types", "main.prog")).toMatchObject({
        code: 1,
        err: expect.stringContaining("main.prog does not end with .remit or .as"),
    });
    expect(text("main.prog")).toBe("main func(a: number) { a * 2 }\n");
    at.write("main.d.remit.ts", "export {};\n");
    at.write("a.d.remit.ts/note.txt", "a folder\n");
    at.write("b.remit/c.remit", "func f(a: string) { a }\n");
    expect(at.remit("types")).toMatchObject({
        code: 1,
        err: expect.stringMatching(
            /^b\.remit\/c\.d\.remit\.ts: written\n.*main\.d\.remit\.ts was not written by remit types.*\nsrc\/desk\.d\.remit\.ts: written\n$/,
        ),
    });
    expect(text("main.d.remit.ts")).toBe("export {};\n");
});

test("DCF3: --out keeps the programs of several packages apart, also in a folder of no package", () => {
    for (const name of ["a", "b"]) {
        at.write(`packages/${name}/package.json`, "{}\n");
        at.write(`packages/${name}/x.remit`, `func ${name}(a: string) { a }\n`);
    }
    const elsewhere = mkdtempSync(join(tmpdir(), "remit-types-"));
    for (const out of ["types", elsewhere]) {
        expect(at.remit("types", "--out", out).code).toBe(0);
        for (const name of ["a", "b"])
            expect(readFileSync(resolve(at.folder, out, `packages/${name}/x.d.remit.ts`), "utf8")).toContain(
                `export declare const ${name}:`,
            );
        expect(at.remit("types", "--out", out, "--check")).toMatchObject({ code: 0, err: "the types of 4 programs are up to date\n" });
    }
    rmSync(elsewhere, { recursive: true });
});
