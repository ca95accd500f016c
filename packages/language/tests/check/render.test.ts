/** How diagnostics look, and which names are near. */
import { expect, test } from "vitest";
import { CODES, type Diagnostic, nearest, renderDiagnostic, source } from "../../src/index.ts";
import { load, run } from "./cases.ts";
import { check } from "../../src/index.ts";

function first(text: string): string {
    const program = run(text);
    const d = program.diagnostics[0] as Diagnostic;
    return renderDiagnostic(d, program.files.get(d.file)?.source);
}

test.each([
    ["[1].push(2)", "add"],
    ['"a".toUpperCase()', "upper"],
    ['"a".includes("b")', "contains"],
    ["{ a: 1 }.items()", "entries"],
])("%s: what other languages call a built-in has its name here as a fix", (call, name) => {
    const [told] = run(`main func() { x = ${call}\n x }`).diagnostics;
    expect(told).toMatchObject({ code: "UNKNOWN_METHOD", hint: `did you mean '${name}'?` });
});

test("place, code, message, line, underline, hint, fix", () => {
    expect(first("main func(count) {\n    total = cuont + 1\n    total\n}")).toBe(
        [
            "main.remit:2:13: error UNKNOWN_IDENTIFIER: 'cuont' is not defined here",
            "  2 |     total = cuont + 1",
            "    |             ^^^^^",
            "  hint: did you mean 'count'?",
            "  fix: write 'count'",
        ].join("\n"),
    );
});

test("on few columns a long line is shown around the place, and its underline stays below it", () => {
    const text = `main func(count) {\n    total = count + ${"count + ".repeat(20)}cuont + ${"count + ".repeat(20)}1\n    total\n}`;
    const d = run(text).diagnostics[0] as Diagnostic;
    for (const columns of [40, 80]) {
        const [, line = "", under = ""] = renderDiagnostic(d, run(text).files.get(d.file)?.source, { columns }).split("\n");
        expect(line.length).toBeLessThan(columns);
        expect(line.slice(under.indexOf("^"), under.lastIndexOf("^") + 1)).toBe("cuont");
    }
});

test("another place in the same file, and in another", () => {
    expect(first("main agent A { main func(a) { a } }\nagent A { func f() { 1 } }")).toContain("  see: main.remit:1:12: the other one");
    const files = new Map([
        ["main.remit", 'import agent W from "./w.as"\nmain agent A { main func() { W(Repo) } }'],
        ["w.as", 'import tool Repo from "file://workspace"\nagent W { main func(x) { Repo.read({}) } }'],
    ]);
    const program = check(load(files, "main.remit"));
    const d = program.diagnostics.find((one) => one.code === "IMPORT_NOT_SHARED") as Diagnostic;
    expect(renderDiagnostic(d, program.files.get(d.file)?.source)).toContain("  see: w.as: imported here");
});

test("colours only where asked for", () => {
    const d: Diagnostic = { code: "UNKNOWN_IDENTIFIER", severity: "error", message: "m", file: "a", range: { start: 0, end: 1 } };
    expect(renderDiagnostic(d, source("x", "a"))).not.toContain("\u001b");
    expect(renderDiagnostic(d, source("x", "a"), { color: true })).toContain("\u001b[31merror UNKNOWN_IDENTIFIER\u001b[0m");
});

test("control characters of the source stay on the page, tabs keep the underline in place", () => {
    const text = "\ta\u001b[2J\u202e = y";
    const at = text.indexOf("y");
    const d: Diagnostic = {
        code: "UNKNOWN_IDENTIFIER",
        severity: "error",
        message: "bad\u0007\nname",
        file: "a\u001b",
        range: { start: at, end: at + 1 },
    };
    expect(renderDiagnostic(d, source(text, "a")).split("\n").slice(0, 3)).toEqual([
        "a·:1:11: error UNKNOWN_IDENTIFIER: bad··name",
        "  1 |  a·[2J· = y",
        "    |           ^",
    ]);
});

test("a range of several lines, at the end of the text, without a source", () => {
    const d: Diagnostic = { code: "SYNTAX", severity: "error", message: "m", file: "a", range: { start: 2, end: 9 } };
    expect(renderDiagnostic(d, source("ab cd\nefg\n", "a")).split("\n")[2]).toBe("    |   ^^^");
    expect(renderDiagnostic({ ...d, range: { start: 10, end: 10 } }, source("ab cd\nefg\n", "a")).split("\n")[2]).toBe("    | ^");
    expect(renderDiagnostic(d)).toBe("a: error SYNTAX: m");
});

test("long lines are cut around the range", () => {
    const text = `x = "${"a".repeat(400)}" + y`;
    const d: Diagnostic = {
        code: "SYNTAX",
        severity: "error",
        message: "m",
        file: "a",
        range: { start: text.length - 1, end: text.length },
    };
    const [, line, under] = renderDiagnostic(d, source(text, "a")).split("\n") as [string, string, string];
    expect(line.length).toBeLessThan(200);
    expect(line[under.indexOf("^")]).toBe("y");
});

test("near names", () => {
    expect(nearest("cuont", ["count", "amount"])).toBe("count");
    expect(nearest("temprature", ["attempts", "temperature"])).toBe("temperature");
    expect(nearest("Repo", ["repo", "report"])).toBe("repo");
    expect(nearest("x", ["y", "zz"])).toBe(null);
    expect(nearest("x", ["y", "X"])).toBe("X");
    expect(nearest("alpha", ["omega", "alpha"])).toBe(null);
    expect(nearest("", ["a"])).toBe(null);
    expect(nearest("a".repeat(100), ["a".repeat(99)])).toBe(null);
});

test("every code has a summary that ends in a full stop and a severity", () => {
    for (const [code, row] of Object.entries(CODES)) {
        expect(code).toMatch(/^[A-Z][A-Z0-9_]*$/);
        expect(row.summary).toMatch(/\.$/);
        expect(["error", "warning", "note"]).toContain(row.severity);
    }
});
