/** `node:`, `npm:`, local modules (MU1, MU2) and functions of the calling program. */
import { join } from "node:path";
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { inRange, packageFile, packageName } from "../../src/tool/packages.ts";
import { allowTool } from "../../src/tool/tools.ts";
import { call, failure, perform, toolEffect, work, type Work } from "./setup.ts";

/** Packages as an installer leaves them. */
function install(here: Work): void {
    here.write("node_modules/plain/package.json", JSON.stringify({ name: "plain", version: "2.3.4", main: "lib/main.js" }));
    here.write(
        "node_modules/plain/lib/main.js",
        "module.exports = { double: (n) => n * 2, VERSION: '2.3.4' }; module.exports.__proto__ = { inherited: () => 'bad' };",
    );
    here.write(
        "node_modules/@scope/modern/package.json",
        JSON.stringify({
            name: "@scope/modern",
            version: "1.0.0",
            type: "module",
            exports: {
                ".": { browser: "./no.js", import: "./index.js", default: "./no.js" },
                "./sub": "./sub.js",
                "./parts/*": "./parts/*.js",
                "./out": "./../plain/lib/main.js",
            },
        }),
    );
    here.write(
        "node_modules/@scope/modern/index.js",
        "export const hello = async (who) => ({ hello: who }); export default { late: () => new Promise((r) => setTimeout(r, 5, 'done')), hello: () => 'shadowed' };",
    );
    here.write("node_modules/@scope/modern/sub.js", "export const sub = () => 'sub';");
    here.write("node_modules/@scope/modern/parts/one.js", "export const part = () => 1;");
}

describe("the allow list", () => {
    test("denies by default, and everything of a file that is not trusted", async () => {
        await using here = work();
        install(here);
        here.write("tools.ts", "export const run = () => 1;");
        const allow = { allow: { node: ["path"], npm: { plain: {} }, local: ["tools.ts"] } };
        for (const uri of ["node:path", "npm:plain", "./tools.ts"]) {
            expect(await failure(here.tools(), uri, "x", {})).toMatchObject({ kind: "denied", hint: expect.stringContaining("allow.") });
            expect(await failure(here.tools(here.config(allow, false)), uri, "x", {})).toMatchObject({
                kind: "denied",
                message: expect.stringContaining("not trusted"),
            });
            expect((await failure(here.tools(here.config(allow)), uri, "x", {})).message).toContain("there is no method 'x'");
        }
        const about = { config: here.config(allow), root: here.workspace };
        const said = [
            "node:path",
            "node:fs",
            "npm:plain",
            "npm:plain/lib",
            "npm:other",
            "./tools.ts",
            "./other.ts",
            "file://workspace",
            "mcp://x",
        ].map((uri) => allowTool(uri, "main.remit", about).ok);
        expect(said).toEqual([true, false, true, false, false, true, false, true, true]);
        expect(allowTool("../tools.ts", "sub/main.remit", about).ok).toBe(true);
        expect(allowTool("npm:../../etc", "main.remit", about)).toMatchObject({ ok: false });
    });
    test("of AgentScript is read from its own file", async () => {
        await using here = work();
        install(here);
        here.write("agentscript.npm.json", JSON.stringify({ allow: { node: ["path"], npm: { plain: { version: "^2.3" } } } }));
        const tools = here.tools(here.config());
        expect((await perform(tools, "npm:plain", "double", [21])).ok).toBe(true);
        expect(await perform(tools, "node:path", "basename", ["/a/b.ts", ".ts"])).toMatchObject({ value: "b" });
    });
    test("holds the version and the subpaths of a package", async () => {
        await using here = work();
        install(here);
        const tools = here.tools(
            here.config({
                allow: { npm: { plain: { version: "^3.0.0" }, "@scope/modern": { exports: ["sub", "parts/one", "out"] }, missing: {} } },
            }),
        );
        expect((await failure(tools, "npm:plain", "double", 1)).message).toContain("plain 2.3.4 is installed");
        expect(await perform(tools, "npm:@scope/modern/sub", "sub", [])).toMatchObject({ value: "sub" });
        expect(await perform(tools, "npm:@scope/modern/parts/one", "part", [])).toMatchObject({ value: 1 });
        expect((await failure(tools, "npm:@scope/modern/out", "double", 1)).message).toContain("has no 'out'");
        expect((await failure(tools, "npm:@scope/modern/index.js", "hello", 1)).kind).toBe("denied");
        expect(await failure(tools, "npm:missing", "x", 1)).toMatchObject({ kind: "unreachable", hint: "npm install missing" });
    });
});

describe("calls", () => {
    test("take positional arguments, wait for promises, read members, fall back to the default export", async () => {
        await using here = work();
        install(here);
        const tools = here.tools(here.config({ allow: { npm: { plain: {}, "@scope/modern": {} } } }));
        const value = async (uri: string, method: string, args?: Json[]) => {
            const outcome = await perform(tools, uri, method, args);
            return outcome.ok ? outcome.value : outcome.failure.message;
        };
        expect(await value("npm:plain", "double", [4])).toBe(8);
        expect(await value("npm:plain", "VERSION")).toBe("2.3.4");
        expect(await value("npm:plain", "VERSION", [])).toContain("'VERSION' is not a function");
        expect(await value("npm:@scope/modern", "hello", ["Ada"])).toEqual({ hello: "Ada" });
        expect(await value("npm:@scope/modern", "late", [])).toBe("done");
    });
    test("reach own members only", async () => {
        await using here = work();
        install(here);
        const tools = here.tools(here.config({ allow: { npm: { plain: {} } } }));
        for (const name of [
            "inherited",
            "constructor",
            "__proto__",
            "toString",
            "hasOwnProperty",
            "prototype",
            "__defineGetter__",
            "valueOf",
        ])
            expect((await failure(tools, "npm:plain", name, {})).message, name).toContain("there is no method");
    });
    test("give JSON or say where it is not", async () => {
        await using here = work();
        here.write(
            "tools.ts",
            `export const bad: Record<string, () => unknown> = {};
             export const nothing = (): void => undefined;
             export const inner = (): unknown => ({ a: [1, { b: [undefined] }] });
             export const optional = (): unknown => ({ a: 1, b: undefined });
             export const fn = (): unknown => ({ f: () => 1 });
             export const map = (): unknown => [new Map()];
             export const date = (): unknown => ({ at: new Date(0) });
             export const big = (): unknown => 10n;
             export const nan = (): unknown => ({ x: NaN });
             export const bytes = (): unknown => new Uint8Array(2);
             class Point { x = 1; }
             export const point = (): unknown => new Point();
             export const cycle = (): unknown => { const a: { a?: unknown } = {}; a.a = a; return a; };
             export const shared = (): unknown => { const one = { n: 1 }; return [one, one, Object.create(null)]; };
             export const proto = (): unknown => JSON.parse('{"__proto__": {"polluted": true}}');
             export const fails = (): unknown => { throw new Error("out of luck"); };`,
        );
        const tools = here.tools(here.config({ allow: { local: ["./tools.ts"] } }));
        const said = async (method: string) => {
            const outcome = await perform(tools, "./tools.ts", method, [], { name: "T" });
            return outcome.ok ? outcome.value : outcome.failure.message.replace(/^.* failed: /, "");
        };
        expect(await said("nothing")).toBe(null);
        expect(await said("inner")).toBe("T.inner.a[1].b[0] is undefined, which is not plain JSON");
        expect(await said("optional")).toEqual({ a: 1 });
        expect(await said("fn")).toBe("T.fn.f is a function, which is not plain JSON");
        expect(await said("map")).toBe("T.map[0] is a Map, which is not plain JSON");
        expect(await said("date")).toBe("T.date.at is a Date, which is not plain JSON");
        expect(await said("big")).toBe("T.big is a bigint, which is not plain JSON");
        expect(await said("nan")).toBe("T.nan.x is NaN, which is not plain JSON");
        expect(await said("bytes")).toBe("T.bytes is a Uint8Array, which is not plain JSON");
        expect(await said("point")).toBe("T.point is a Point, which is not plain JSON");
        expect(await said("cycle")).toBe("T.cycle.a contains itself, which is not plain JSON");
        expect(await said("shared")).toEqual([{ n: 1 }, { n: 1 }, {}]);
        expect(Object.keys((await said("proto")) as object)).toEqual(["__proto__"]);
        expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
        expect(await said("fails")).toBe("out of luck");
    });
    test("are repeated after a crash only where the allow list says that they change nothing", async () => {
        await using here = work();
        install(here);
        const tools = here.tools(here.config({ allow: { npm: { plain: { effectful: false }, "@scope/modern": {} }, node: ["fs"] } }));
        const repeatable = (uri: string, method: string) => tools.repeatable(toolEffect(uri, method, []));
        expect([
            await repeatable("npm:plain", "double"),
            await repeatable("npm:@scope/modern", "hello"),
            await repeatable("node:fs", "rmSync"),
        ]).toEqual([true, false, false]);
        expect(await Promise.all(["read", "list", "write", "undo"].map((method) => repeatable("file://workspace", method)))).toEqual([
            true,
            true,
            false,
            false,
        ]);
        expect([
            await repeatable("sh://grep", "run"),
            await repeatable("env://process", "get"),
            await repeatable("mcp://gone", "x"),
        ]).toEqual([true, true, false]);
    });
});

test("functions of the calling program are tools, by the import's name or by host:", async () => {
    await using here = work();
    const parts: Json[] = [];
    const tools = here.tools(undefined, {
        Search: {
            find: async (args: { text: string }, about: { emit(part: Json): void }) => {
                about.emit("looking");
                return [args.text];
            },
            count: { call: () => 3, readOnly: true, description: "How many.", input: { type: "object", properties: {} } },
        },
    });
    expect(
        await perform(tools, "https://anything.example", "find", [{ text: "x" }], {
            name: "Search",
            emit: (part) => void parts.push(part),
        }),
    ).toEqual({ ok: true, value: ["x"], origins: ["tool:Search"] });
    expect(parts).toEqual(["looking"]);
    expect(await perform(tools, "host:Search", "count", [{}], { name: "Mine" })).toMatchObject({ value: 3 });
    expect((await tools.describe({ name: "Search", uri: "host:Search", file: "" })).methods).toMatchObject([
        { name: "find", readOnly: false },
        { name: "count", readOnly: true, description: "How many." },
    ]);
    expect(await tools.repeatable(toolEffect("host:Search", "count", [{}], { name: "Search" }))).toBe(true);
    expect((await failure(tools, "host:Search", "toString", {})).message).toContain("there is no method");
    expect(await failure(tools, "host:Other", "x", {})).toMatchObject({ kind: "unreachable", hint: "it brings Search" });
    expect(await failure(tools, "ftp://x", "x", {})).toMatchObject({
        kind: "unreachable",
        message: expect.stringContaining("nothing here opens 'ftp://x'"),
    });
    await expect(call(tools, "host:Search", "find", { text: "y" })).resolves.toEqual(["y"]);
});

describe("packages", () => {
    test("ranges", () => {
        const cases: [string, string, boolean][] = [
            ["2.3.4", "*", true],
            ["2.3.4", "2.3.4", true],
            ["2.3.5", "2.3.4", false],
            ["2.3.4", "2.3", true],
            ["2.9.0", "^2.3", true],
            ["3.0.0", "^2.3", false],
            ["2.2.9", "^2.3", false],
            ["0.2.9", "^0.2.3", true],
            ["0.3.0", "^0.2.3", false],
            ["0.0.4", "^0.0.3", false],
            ["2.3.9", "~2.3.4", true],
            ["2.4.0", "~2.3.4", false],
            ["2.9.0", "~2", true],
            ["9.0.0", ">=1.2.3", true],
            ["1.2.2", ">=1.2.3", false],
            ["2.4.0-beta.1", "^2.3", false],
            ["2.3.0-beta.2", "^2.3.0-beta.1", true],
            ["nonsense", "^1", false],
        ];
        for (const [version, range, wanted] of cases) expect(inRange(version, range), `${version} ${range}`).toBe(wanted);
    });
    test("names", () => {
        expect(packageName("yaml")).toEqual({ name: "yaml", sub: "" });
        expect(packageName("@a/b/c/d")).toEqual({ name: "@a/b", sub: "c/d" });
        for (const bad of ["", "..", "../x", "a/../b", "a//b", "/etc", "a b", "@a", "a/./b", "a/"])
            expect(packageName(bad), bad).toBe(null);
    });
    test("a manifest cannot point out of its package", async () => {
        await using here = work();
        install(here);
        const folder = join(here.workspace, "node_modules/@scope/modern");
        for (const target of ["./../plain/lib/main.js", "../plain/lib/main.js", "/etc/passwd"])
            expect(() => packageFile({ folder, version: "1.0.0", manifest: { exports: target } }, "modern", "")).toThrow(
                "nothing to import",
            );
        expect(() => packageFile({ folder, version: "1.0.0", manifest: { main: "../../plain/lib/main.js" } }, "modern", "")).toThrow(
            "nothing to import",
        );
    });
});
