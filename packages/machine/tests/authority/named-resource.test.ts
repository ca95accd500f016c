/** A bound or a count that names the path or URL of a tool compares it as one that names nothing: by where it leads, not as a word. */
import { describe, expect, test } from "vitest";
import { did, outcome, run, trying } from "./running.ts";

const FILES = "file://w";
const PAGES = "https://x.example/app/";

const clerk = (uri: string, lines: string, use: string): string => `import tool T from "${uri}"
agent Clerk {
    remit {
        ${lines}
    }
    func go() { ${use} }
}
main agent Main { main func() { Clerk.go() } }
`;
const reached = (uri: string, lines: string, use: string): string[] => did(run(clerk(uri, lines, use)));

describe.each([
    ["nothing", ""],
    ["the resource", "path: "],
])("a bound that names %s", (_what, name) => {
    test.each([
        ["src/a", true],
        ["./src/x/../a", true],
        ["src/../etc", false],
        ["/src/a", false],
    ])("may write %s: %s", (path, passes) => {
        expect(reached(FILES, `may T.write in ${name}"src/**"`, `T.write({ path: "${path}", content: "x" })`).length > 0).toBe(passes);
    });

    test.each([
        ["etc/a", false],
        ["./etc/a", false],
        ["src/../etc/a", false],
        ["src/a", true],
    ])("never the rest, write %s: %s", (path, passes) => {
        const lines = `may T\n        never T.write in ${name}"etc/**"`;
        expect(reached(FILES, lines, `T.write({ path: "${path}", content: "x" })`).length > 0).toBe(passes);
    });

    test("says to the one who opens it where that may lead", () => {
        const lines = `may T.write in ${name}"src/**"`;
        const { effects } = run(clerk(FILES, lines, 'T.write({ path: "src/a", content: "x" })'));
        expect(effects.find(({ kind, request }) => kind === "tool" && (request as { op?: string }).op === "call")?.request).toMatchObject({
            within: [["src/**"]],
        });
    });

    test("narrows what is passed", () => {
        const text = `import tool T from "${FILES}"
agent Clerk {
    remit { }
    func go(place) { place.write({ path: "src/../etc", content: "x" }) }
}
main agent Main { main func() { Clerk.go(T.only(write in ${name}"src/**")) } }
`;
        expect([outcome(run(text)), did(run(text))]).toEqual(["violation.remit", []]);
    });
});

test("a URL is read against the import, whether the bound names it or not", () => {
    for (const name of ["", "url: "]) {
        const lines = `may T\n        never T.get in ${name}"https://x.example/app/secret/*"`;
        const passes = (url: string): boolean => reached(PAGES, lines, `T.get({ url: "${url}" })`).length > 0;
        expect([name, passes("open/a"), passes("secret/a"), passes("/app/x/../secret/a")]).toEqual([name, true, false, false]);
    }
});

describe("once by", () => {
    const times = (uri: string, clause: string, method: string, args: readonly string[]): number => {
        const uses = args.map((one, i) => `x${i} = ${trying(`T.${method}({ ${one} })`)}`).join("\n");
        return did(run(`import tool T from "${uri}" { ${clause} }\nmain agent Main { main func() {\n${uses}\nx0 } }`)).length;
    };

    test.each([
        ["one path however it is written", ["a", "./a", "x/../a", "a/"], 1],
        ["paths that differ", ["a", "b", "A", "a/b"], 4],
        ["what leads nowhere certain as its text", ["../a", "../a", "../b"], 2],
    ])("path: %s", (_what, paths, uses) => {
        expect(
            times(
                FILES,
                "write: once by path",
                "write",
                paths.map((path) => `path: "${path}", content: "x"`),
            ),
        ).toBe(uses);
    });

    test.each([
        ["one URL however it is written", ["b", "/app/b", "https://X.example:443/app/b", "c/../b", "b#end"], 1],
        ["queries that differ", ["b", "b?x=1", "b?x=2"], 3],
    ])("url: %s", (_what, urls, uses) => {
        expect(
            times(
                PAGES,
                "post: once by url",
                "post",
                urls.map((url) => `url: "${url}"`),
            ),
        ).toBe(uses);
    });

    test.each([
        ["a path", FILES, "read", ['"a"', '"./a"', '"b"'], 2],
        ["a URL", PAGES, "get", ['"b"', '"/app/b"', '"c"'], 2],
        ["a text", "mcp://mail", "send", ['"a"', '"./a"', '"b"'], 3],
    ])("1, where that is %s", (_what, uri, method, args, uses) => {
        const calls = args.map((one, i) => `x${i} = ${trying(`T.${method}(${one})`)}`).join("\n");
        expect(
            did(run(`import tool T from "${uri}" { ${method}: once by 1 }\nmain agent Main { main func() {\n${calls}\nx0 } }`)).length,
        ).toBe(uses);
    });

    test("another argument as it is written", () => {
        expect(times(FILES, "write: once by content", "write", ['path: "p", content: "a"', 'path: "p", content: "./a"'])).toBe(2);
    });
});
