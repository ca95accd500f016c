/** `file:` (J1–J5 of the jail, JU1–JU2 of the journal) and `sh://`. */
import { execFileSync } from "node:child_process";
import {
    chmodSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    statSync,
    symlinkSync,
    unlinkSync,
    utimesSync,
    writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globMatches } from "../../src/tool/glob.ts";
import { fold } from "../../src/process/own-folders.ts";
import { jail } from "../../src/tool/jail.ts";
import { call, failure, perform, work } from "./setup.ts";

const FILES = "file://workspace";

describe("read, list, write, patch", () => {
    test("give AgentScript's results", async () => {
        await using here = work();
        const tools = here.tools();
        const written = await call(tools, FILES, "write", { path: "a/b.txt", content: "one two two" }, { name: "Files" });
        expect(written).toEqual({
            ok: true,
            effects: [
                {
                    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
                    tool: "Files",
                    action: "write",
                    path: "a/b.txt",
                    undoable: true,
                    existed: false,
                    previous: null,
                },
            ],
        });
        const patched = await call(tools, FILES, "patch", { path: "a/b.txt", search: "two", replace: "2" });
        expect(patched).toMatchObject({
            ok: true,
            effects: [{ action: "patch", path: "a/b.txt", undoable: true, previous: "one two two" }],
        });
        expect(await call(tools, FILES, "read", { path: "a/b.txt" })).toEqual({ ok: true, content: "one 2 two" });
        expect(await call(tools, FILES, "list", { path: "." })).toEqual({ ok: true, entries: ["a"] });
        expect(await call(tools, "file:a", "list", {})).toEqual({ ok: true, entries: ["b.txt"] });
    });
    test("J6: what a writer that was killed left is removed by a later write into the folder, and nothing else is", async () => {
        await using here = work();
        const old = new Date(Date.now() - 3_600_000);
        const left = ["a/.b.txt.remit-0123456789ab.tmp", "a/.b.txt.remit-ba9876543210.tmp", "a/.notes.tmp", "a/x.remit-0123456789ab.tmp"];
        for (const name of left) here.write(name, "half");
        for (const name of [left[0], left[2], left[3]]) utimesSync(join(here.workspace, name as string), old, old);
        await call(here.tools(), FILES, "write", { path: "a/b.txt", content: "whole" });
        expect(readdirSync(join(here.workspace, "a")).sort()).toEqual([
            ".b.txt.remit-ba9876543210.tmp",
            ".notes.tmp",
            "b.txt",
            "x.remit-0123456789ab.tmp",
        ]);
    });
    test("what a tool gives carries its origin", async () => {
        await using here = work();
        here.write("a.txt", "x");
        expect(await perform(here.tools(), FILES, "read", [{ path: "a.txt" }], { name: "Files" })).toEqual({
            ok: true,
            value: { ok: true, content: "x" },
            origins: ["tool:Files"],
        });
    });
    test("failures say which call failed and why", async () => {
        await using here = work();
        here.write("bin", new Uint8Array([0xff, 0xfe, 0, 1]));
        here.write("nul", "a\0b");
        const tools = here.tools();
        expect((await failure(tools, FILES, "read", { path: "nope" }, { name: "F" })).message).toBe(
            "Tool F.read (file://workspace) failed: 'nope' does not exist",
        );
        // which file was meant depends on where paths begin; names of others are not told
        for (const method of ["read", "patch", "list"])
            expect(
                (await failure(tools, FILES, method, { path: "nope", ...(method === "patch" ? { search: "a", replace: "b" } : {}) })).hint,
            ).toBe("a path begins at the workspace: --workspace, else the folder in which the run was started");
        expect((await failure(tools, FILES, "read", { path: "bin" })).message).toContain("'bin' is not UTF-8 text");
        expect((await failure(tools, FILES, "read", { path: "nul" })).message).toContain("'nul' is not UTF-8 text");
        expect((await failure(tools, FILES, "read", { path: "." })).message).toContain("is a folder");
        expect((await failure(tools, FILES, "read", "a.txt", { name: "F" })).message).toContain("F.read expects one json object argument");
        expect((await failure(tools, FILES, "list", { pth: "." })).message).toContain("there is no field 'pth'");
        expect((await failure(tools, FILES, "list", { pth: "." })).hint).toContain("did you mean 'path'?");
        expect((await failure(tools, FILES, "list", { path: ".", depth: 2 })).message).toContain("there is no field 'depth'");
        expect((await failure(tools, FILES, "erase", {})).hint).toContain("read, list, write, patch, undo");
        expect((await failure(tools, FILES, "constructor", {})).message).toContain("there is no method 'constructor'");
        expect((await failure(tools, FILES, "patch", { path: "nul", search: "", replace: "" })).kind).toBe("tool");
        expect((await failure(tools, FILES, "write", { path: "x", content: "\ud800" })).message).toContain("half a character");
        expect(existsSync(join(here.workspace, "x"))).toBe(false);
        expect((await failure(tools, "file:///etc", "list", {})).message).toContain("names no folder");
    });
    test("a patch keeps a byte order mark and the mode of the file", async () => {
        await using here = work();
        const path = here.write("run.sh", "\ufeffa");
        chmodSync(path, 0o755);
        await call(here.tools(), FILES, "patch", { path: "run.sh", search: "a", replace: "b" });
        expect(readFileSync(path)).toEqual(Buffer.from("\ufeffb"));
        expect(statSync(path).mode & 0o777).toBe(0o755);
        expect(readdirSync(here.workspace)).toEqual(["run.sh"]);
    });
});

describe("undo", () => {
    test("takes back several changes of one file, latest first, also in another process", async () => {
        await using here = work();
        const path = here.write("a.txt", "0");
        const tools = here.tools();
        const one = await call(tools, FILES, "write", { path: "a.txt", content: "1" });
        const two = await call(tools, FILES, "patch", { path: "a.txt", search: "1", replace: "2" });
        const made = await call(tools, FILES, "write", { path: "new.txt", content: "n" });
        const effects = [one, two, made].flatMap((result) => result.effects as { id: string }[]);
        expect(await call(here.tools(), FILES, "undo", effects)).toEqual({ ok: true });
        expect(readFileSync(path, "utf8")).toBe("0");
        expect(existsSync(join(here.workspace, "new.txt"))).toBe(false);
        expect((await failure(tools, FILES, "undo", effects)).message).toContain("could be undone");
    });
    test("refuses when the file was changed since, and then undoes nothing", async () => {
        await using here = work();
        const a = here.write("a.txt", "0");
        here.write("b.txt", "0");
        const tools = here.tools();
        const effects = [
            ...((await call(tools, FILES, "write", { path: "a.txt", content: "1" })).effects as { id: string }[]),
            ...((await call(tools, FILES, "write", { path: "b.txt", content: "1" })).effects as { id: string }[]),
        ];
        writeFileSync(a, "by hand");
        expect((await failure(tools, FILES, "undo", effects)).message).toContain("'a.txt' was changed since; nothing was undone");
        expect([readFileSync(a, "utf8"), readFileSync(join(here.workspace, "b.txt"), "utf8")]).toEqual(["by hand", "1"]);
    });
    test("what a program hands back is an id and nothing else", async () => {
        await using here = work();
        const path = here.write("a.txt", "0");
        const tools = here.tools();
        const [effect] = (await call(tools, FILES, "write", { path: "a.txt", content: "1" })).effects as { id: string }[];
        await call(tools, FILES, "undo", [{ ...effect, id: effect?.id ?? "", path: "evil.txt", previous: "forged", existed: true }]);
        expect(readFileSync(path, "utf8")).toBe("0");
        expect(existsSync(join(here.workspace, "evil.txt"))).toBe(false);
        for (const id of ["../../../x", "a".repeat(36), "00000000-0000-4000-8000-000000000000"])
            expect((await failure(tools, FILES, "undo", [{ id }])).message).toContain("could be undone");
    });
    test("the journal is private", async () => {
        await using here = work();
        here.write("a.txt", "was here");
        await call(here.tools(), FILES, "write", { path: "a.txt", content: "1" });
        const folder = join(here.folder, "state", "undo");
        const [one] = readdirSync(folder);
        const [entry] = readdirSync(join(folder, one as string));
        expect(statSync(join(folder, one as string)).mode & 0o077).toBe(0);
        expect(statSync(join(folder, one as string, entry as string)).mode & 0o077).toBe(0);
    });
});

describe("F27: the jail", () => {
    const attacks = [
        "../secret",
        "a/../../secret",
        "/etc/passwd",
        "..",
        "a\0b",
        "../work2/x",
        "./../secret",
        "a/b/../../../secret",
        "\\\\server\\share",
        "C:\\x",
        "/",
    ];
    test.each(attacks)("a path cannot leave: %j", async (path) => {
        await using here = work();
        writeFileSync(join(here.folder, "secret"), "top");
        mkdirSync(join(here.folder, "work2"));
        here.write("a/b/c", "x");
        const tools = here.tools();
        for (const [method, arg] of [
            ["read", { path }],
            ["list", { path }],
            ["write", { path, content: "x" }],
            ["patch", { path, search: "top", replace: "x" }],
        ] as const)
            expect((await failure(tools, FILES, method, arg)).kind).toMatch(/denied|tool/);
        for (const [uri, arg] of [
            ["sh://find", { path }],
            ["sh://grep", { path, pattern: "t" }],
            ["sh://read-range", { path }],
        ] as const)
            expect((await failure(tools, uri, "run", arg)).kind).toMatch(/denied|tool/);
        expect(readFileSync(join(here.folder, "secret"), "utf8")).toBe("top");
    });
    test("a link cannot lead out: to a file, to a folder, to nothing yet, through several", async () => {
        await using here = work();
        writeFileSync(join(here.folder, "secret"), "top");
        mkdirSync(join(here.folder, "out"));
        symlinkSync(join(here.folder, "secret"), join(here.workspace, "file"));
        symlinkSync("../out", join(here.workspace, "folder"));
        symlinkSync("folder", join(here.workspace, "again"));
        symlinkSync(join(here.folder, "made-later"), join(here.workspace, "dangling"));
        symlinkSync("loop", join(here.workspace, "loop"));
        const tools = here.tools();
        for (const path of ["file", "folder", "folder/x", "again/x", "dangling", "loop"]) {
            for (const [method, arg] of [
                ["read", { path }],
                ["list", { path }],
                ["write", { path, content: "x" }],
            ] as const)
                expect((await perform(tools, FILES, method, [arg])).ok, `${method} ${path}`).toBe(false);
        }
        expect(readFileSync(join(here.folder, "secret"), "utf8")).toBe("top");
        expect([existsSync(join(here.folder, "out/x")), existsSync(join(here.folder, "made-later"))]).toEqual([false, false]);
    });
    test("a link inside is followed: the file it leads to is changed, the link stays", async () => {
        await using here = work();
        here.write("real.txt", "1");
        symlinkSync("real.txt", join(here.workspace, "link.txt"));
        const tools = here.tools();
        expect(await call(tools, FILES, "read", { path: "link.txt" })).toEqual({ ok: true, content: "1" });
        await call(tools, FILES, "write", { path: "link.txt", content: "2" });
        expect(readFileSync(join(here.workspace, "real.txt"), "utf8")).toBe("2");
    });
    test("devices and pipes are not opened", async () => {
        await using here = work();
        execFileSync("mkfifo", [join(here.workspace, "pipe")]);
        const tools = here.tools();
        expect((await failure(tools, FILES, "read", { path: "pipe" })).message).toContain("not a regular file");
        expect((await failure(tools, FILES, "write", { path: "pipe", content: "x" })).message).toContain("not a regular file");
    });
    test("Remit's own folder is out of reach, git's cannot be written, however they are spelled", async () => {
        await using here = work();
        here.write(".remit/ledger.db", "x");
        here.write(".git/config", "[core]");
        symlinkSync(".git", join(here.workspace, "dotgit"));
        const tools = here.tools();
        expect((await failure(tools, FILES, "read", { path: ".remit/ledger.db" })).kind).toBe("denied");
        expect(await call(tools, FILES, "list", { path: "." })).toEqual({ ok: true, entries: [".git", "dotgit"] });
        for (const path of [
            ".git/hooks/pre-commit",
            ".GIT/config",
            "sub/.git/config",
            "dotgit/config",
            ".gi\u200ct/config",
            "git~1/config",
            ".git./config",
        ])
            expect((await failure(tools, FILES, "write", { path, content: "x" })).kind, path).toBe("denied");
        expect((await call(tools, FILES, "read", { path: ".git/config" })).content).toBe("[core]");
        expect(["․git", ".ＧＩＴ", ".Remit"].map(fold)).toEqual([".git", ".git", ".remit"]);
    });
    test("a file that somebody changes meanwhile is not overwritten", async () => {
        await using here = work();
        const path = here.write("a.txt", "1");
        const inside = jail(here.workspace);
        const place = inside.target("a.txt");
        const before = inside.before(place);
        writeFileSync(path, "theirs");
        expect(() => inside.replace(place, Buffer.from("mine"), before)).toThrow("changed by another program");
        expect(readFileSync(path, "utf8")).toBe("theirs");
        expect(readdirSync(here.workspace)).toEqual(["a.txt"]);
    });
    test("a place that became a link after it was found is not followed", async () => {
        await using here = work();
        writeFileSync(join(here.folder, "secret"), "top");
        const path = here.write("a.txt", "1");
        mkdirSync(join(here.folder, "out"));
        here.write("dir/x", "1");
        const inside = jail(here.workspace);
        const [place, below] = [inside.existing("a.txt"), inside.target("dir/new")];
        unlinkSync(path);
        symlinkSync(join(here.folder, "secret"), path);
        expect(() => inside.read(place)).toThrow();
        unlinkSync(join(here.workspace, "dir/x"));
        execFileSync("rmdir", [join(here.workspace, "dir")]);
        symlinkSync(join(here.folder, "out"), join(here.workspace, "dir"));
        expect(() => inside.replace(below, Buffer.from("x"), null)).toThrow();
        expect(readdirSync(join(here.folder, "out"))).toEqual([]);
    });
    test("no path of any characters leads out", async () => {
        await using here = work();
        mkdirSync(join(here.workspace, "a"));
        symlinkSync("..", join(here.workspace, "a", "up"));
        symlinkSync(here.folder, join(here.workspace, "out"));
        const inside = jail(here.workspace);
        const part = fc.oneof(fc.constantFrom("..", ".", "a", "up", "out", "", "\0", "...", "~"), fc.string({ maxLength: 4 }));
        fc.assert(
            fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
                for (const find of [(path: string) => inside.existing(path), (path: string) => inside.target(path)]) {
                    try {
                        expect(`${find(parts.join("/")).real}/`.startsWith(`${inside.root}/`)).toBe(true);
                    } catch (error) {
                        if (!(error instanceof Error) || error.name !== "ToolFail") throw error;
                    }
                }
            }),
        );
    });
});

// Elsewhere file systems take no such name.
test.runIf(process.platform === "linux")("what has a name that is not UTF-8 is left out and told", async () => {
    await using here = work();
    here.write("src/a.txt", "error");
    const bytes = (...parts: readonly number[]): Buffer => Buffer.concat([Buffer.from(`${here.workspace}/src/`), Buffer.from(parts)]);
    writeFileSync(bytes(0x63, 0xe9), "error");
    mkdirSync(bytes(0xff));
    writeFileSync(bytes(...Array<number>(200).fill(0xff)), "error");
    here.write("src/\ufffd.txt", "no");
    const tools = here.tools();
    const note = "left out, as their names are not UTF-8: 3 in 'src'";
    expect(await call(tools, "sh://find", "run", {})).toEqual({ ok: true, files: ["src", "src/a.txt", "src/\ufffd.txt"], note });
    expect(await call(tools, "sh://grep", "run", { pattern: "error" })).toMatchObject({ matches: [{ path: "src/a.txt" }], note });
    expect(await call(tools, FILES, "list", { path: "src" })).toEqual({ ok: true, entries: ["a.txt", "\ufffd.txt"], note });
});

describe("sh", () => {
    test("find, grep and read-range", async () => {
        await using here = work();
        here.write("src/a.ts", "one\ntwo error\nthree\n");
        here.write("src/deep/b.ts", "error here\r\nend");
        here.write("readme.md", "no");
        here.write("big.log", `${"x".repeat(1024 * 1024)}error`);
        here.write("bin.dat", new Uint8Array([0xff, 0x65, 0x72, 0x72, 0x6f, 0x72]));
        symlinkSync("..", join(here.workspace, "src", "loop"));
        const tools = here.tools();
        expect(await call(tools, "sh://find", "run", { path: "." })).toEqual({
            ok: true,
            files: ["big.log", "bin.dat", "readme.md", "src", "src/a.ts", "src/deep", "src/deep/b.ts"],
        });
        expect((await call(tools, "sh://find", "run", { path: "src", name: "*.ts", type: "file", max: 1 })).files).toEqual(["src/a.ts"]);
        expect((await call(tools, "sh://find", "run", { path: ".", type: "dir" })).files).toEqual(["src", "src/deep"]);
        expect(await call(tools, "sh://grep", "run", { path: ".", pattern: "error" })).toEqual({
            ok: true,
            matches: [
                { path: "src/a.ts", line: 2, text: "two error" },
                { path: "src/deep/b.ts", line: 1, text: "error here" },
            ],
            note: "not searched, as no UTF-8 text or larger than 1048576 bytes: 'big.log', 'bin.dat'",
        });
        expect((await call(tools, "sh://grep", "run", { path: "src/a.ts", pattern: "o", max: 1 })).matches).toEqual([
            { path: "src/a.ts", line: 1, text: "one" },
        ]);
        expect((await call(tools, "sh://grep", "run", { path: ".", pattern: "error", include: "deep/*.ts" })).matches).toHaveLength(1);
        expect(await call(tools, "sh://read-range", "run", { path: "src/a.ts", start: 2, max: 1 })).toEqual({
            ok: true,
            text: "two error",
            start: 2,
            end: 2,
        });
        expect(await call(tools, "sh://read-range", "run", { path: "src/a.ts" })).toEqual({
            ok: true,
            text: "one\ntwo error\nthree",
            start: 1,
            end: 3,
        });
        expect((await call(tools, "sh://read-range", "run", { path: "src/a.ts", start: 9 })).text).toBe("");
    });
    test("a shell is never started, whatever is asked", async () => {
        await using here = work();
        const tools = here.tools();
        for (const shell of ["sh", "bash", "zsh", "fish"])
            expect((await failure(tools, `sh://${shell}`, "run", { path: "." })).message).toContain("is forbidden");
        expect((await failure(tools, "sh://ls", "run", {})).message).toContain("there is no sh://ls");
        expect((await failure(tools, "sh://find", "exec", {})).hint).toContain("run");
        expect((await failure(tools, "sh://find", "run", { path: ".", max: 0 })).message).toContain("'max' must be a positive integer");
        expect((await call(tools, "sh://find", "run", { path: ".", name: "$(touch hacked)" })).files).toEqual([]);
        expect(readdirSync(here.workspace)).toEqual([]);
    });
    test("globs match from the start of a part to the end of the path, in linear time", () => {
        const cases: [string, string, boolean][] = [
            ["*.ts", "a/b.ts", true],
            ["b.ts", "a/b.ts", true],
            ["b.t?", "a/b.ts", true],
            ["a*ts", "a/b/c.ts", true],
            [".ts", "a/b.ts", false],
            ["a", "a/b", false],
            ["", "a", false],
            ["*", "a/b", true],
            ["b*", "ab/c", false],
            ["a.c", "abc", false],
        ];
        for (const [pattern, path, wanted] of cases) expect(globMatches(pattern, path), `${pattern} ${path}`).toBe(wanted);
        expect(globMatches(`${"*a".repeat(50)}b`, "a".repeat(5000))).toBe(false);
    });
});
