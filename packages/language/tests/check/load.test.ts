/** Following imports: order, links, what is read and what is never asked for. */
import { expect, test } from "vitest";
import { check, entryOf, loadProgram } from "../../src/index.ts";
import { load } from "./cases.ts";

const agent = (name: string, imports = ""): string => `${imports}\nagent ${name} { main func(x) { x } }`;

test("files come after those they import, the entry last, each read once", () => {
    const files = new Map([
        ["main.remit", 'import agent B from "./b.as"\nimport agent C from "./lib/c.as"\nmain agent A { main func() { B(C(1)) } }'],
        ["b.as", agent("B", 'import agent D from "./lib/d.as"')],
        ["lib/c.as", agent("C", 'import agent D from "d.as"')],
        ["lib/d.as", `${agent("D")}${agent("E")}`],
    ]);
    const read: string[] = [];
    const counted = new Map(files);
    counted.get = (path) => {
        read.push(path);
        return files.get(path);
    };
    const program = load(counted, "main.remit");
    expect(program.order).toEqual(["lib/d.as", "b.as", "lib/c.as", "main.remit"]);
    expect(program.links.get("main.remit")).toEqual(
        new Map([
            ["B", "b.as"],
            ["C", "lib/c.as"],
        ]),
    );
    expect(program.links.get("lib/c.as")).toEqual(new Map([["D", "lib/d.as"]]));
    expect(read.sort()).toEqual(["b.as", "lib/c.as", "lib/d.as", "main.remit"]);
    expect(program.diagnostics).toEqual([]);
});

test("a file that imports from itself is told once", () => {
    for (const uri of ["./self.as", "./lib/../self.as", "self.as"]) {
        const files = new Map([["self.as", `import agent S from "${uri}"\nmain agent S { main func(x) { 1 } }`]]);
        const { diagnostics } = check(load(files, "self.as"));
        expect(diagnostics.map((d) => `${d.code} ${d.message}`)).toEqual(["IMPORT_CYCLE the file imports from itself"]);
    }
});

test("files in a circle are told once, by the file that closes it", () => {
    const files = new Map([
        ["a.as", 'import agent B from "./b.as"\nmain agent A { main func(x) { B(x) } }'],
        ["b.as", agent("B", 'import agent C from "./c.as"').replace("{ x }", "{ C(x) }")],
        ["c.as", agent("C", 'import agent A from "./a.as"').replace("{ x }", "{ A(x) }")],
    ]);
    const { diagnostics } = check(load(files, "a.as"));
    expect(diagnostics.map((d) => `${d.file} ${d.code}`)).toEqual(["c.as IMPORT_CYCLE"]);
});

test("one file by two spellings is one file", () => {
    const files = new Map([
        ["main.as", 'import agent V from "./w.as"\nimport agent W from "./lib/../w.as"\nmain agent A { main func(x) { V(W(x)) } }'],
        ["w.as", `${agent("V")}${agent("W")}`],
    ]);
    const program = check(load(files, "main.as"));
    expect(program.order).toEqual(["w.as", "main.as"]);
    expect(program.diagnostics).toEqual([]);
});

test("a chain of 2,000 files, and a file of 5,000 lines", () => {
    const files = new Map<string, string>();
    for (let i = 0; i < 2000; i++) {
        const next = i < 1999 ? `import agent C${i + 1} from "./c${i + 1}.as"` : "";
        files.set(`c${i}.as`, agent(`C${i}`, next).replace("{ x }", i < 1999 ? `{ C${i + 1}(x) }` : "{ x }"));
    }
    const chain = check(load(files, "c0.as"));
    expect([chain.order.length, chain.order[0], chain.diagnostics]).toEqual([2000, "c1999.as", []]);
    const lines = Array.from({ length: 5000 }, (_, i) => `x${i} = { a: ${i}, b: [x${Math.max(0, i - 1)}, "t"] }`);
    lines[0] = "x0 = 1";
    const long = check(load(new Map([["m.as", `main func(input) {\n${lines.join("\n")}\nnope\n}`]]), "m.as"));
    expect(long.diagnostics.map((d) => d.code)).toEqual(["UNKNOWN_IDENTIFIER"]);
});

test("a missing entry is an error and nothing else", () => {
    const program = load(new Map(), "nope.remit");
    expect(program.diagnostics.map((d) => `${d.code} ${d.message}`)).toEqual(["IMPORT_NOT_FOUND there is no file nope.remit"]);
    expect(program.order).toEqual([]);
});

test("files outside the tree and file imports are never read", () => {
    const asked: string[] = [];
    const text = 'import agent A from "./out.as"\nimport file B from "./in.md"\nimport file C from "./out.md"\nmain func() { 1 }';
    const program = loadProgram("main.remit", {
        read: (path) => {
            asked.push(path);
            return path === "main.remit" ? text : null;
        },
        resolve: (_from, uri) => (uri.includes("out") ? null : uri),
    });
    expect(asked).toEqual(["main.remit"]);
    expect(program.diagnostics.map((d) => d.code)).toEqual(["IMPORT_OUTSIDE_TREE", "IMPORT_OUTSIDE_TREE"]);
});

test("without an allow list no module is allowed; the reason is told", () => {
    const text = 'import tool A from "npm:yaml"\nimport tool B from "node:fs"\nimport tool C from "./c.mjs"\nmain func() { 1 }';
    const closed = loadProgram("main.remit", { read: () => text, resolve: (_from, uri) => uri });
    expect(closed.diagnostics.map((d) => d.code)).toEqual([
        "UNAUTHORIZED_TOOL_IMPORT",
        "UNAUTHORIZED_TOOL_IMPORT",
        "UNAUTHORIZED_TOOL_IMPORT",
    ]);
    const open = loadProgram("main.remit", {
        read: () => text,
        resolve: (_from, uri) => uri,
        allowTool: (uri) => (uri === "npm:yaml" ? { allowed: false, reason: "version 3 is not in ^2" } : { allowed: true }),
    });
    expect(open.diagnostics.map((d) => d.message)).toEqual(["'npm:yaml' is not allowed: version 3 is not in ^2"]);
    const told = loadProgram("main.remit", {
        read: () => 'import tool A from "npm:yaml"\nmain func() { 1 }',
        resolve: (_from, uri) => uri,
        allowTool: () => ({ allowed: false, reason: "its configuration is not trusted", hint: "trust it" }),
    });
    expect(told.diagnostics.map((d) => [d.message, d.hint])).toEqual([
        ["'npm:yaml' is not allowed: its configuration is not trusted", "trust it"],
    ]);
});

test("a long line of imports", () => {
    const count = 3000;
    const files = new Map<string, string>();
    for (let i = 0; i < count; i++)
        files.set(`f${i}.as`, agent(`A${i}`, i + 1 < count ? `import agent A${i + 1} from "./f${i + 1}.as"` : ""));
    const program = load(files, "f0.as");
    expect(program.diagnostics).toEqual([]);
    expect(program.order.length).toBe(count);
    expect(program.order[0]).toBe(`f${count - 1}.as`);
});

test("the entry is the main agent, the only agent, or the main func of a file without agents", () => {
    const entry = (text: string): string | null => {
        const found = entryOf(load(new Map([["a", text]]), "a").files.get("a") as Parameters<typeof entryOf>[0]);
        return found === null ? null : `${found.agent?.name?.text ?? "-"}.${found.func.name?.text ?? "-"}`;
    };
    expect(entry("agent A { main func go() { 1 } }")).toBe("A.go");
    expect(entry("agent A { main func() { 1 } } main agent B { main func() { 1 } }")).toBe("B.-");
    expect(entry("main func go() { 1 } func f() { 2 }")).toBe("-.go");
    expect(entry("agent A { main func() { 1 } } agent B { main func() { 1 } }")).toBe(null);
    expect(entry("func f() { 2 }")).toBe(null);
});
