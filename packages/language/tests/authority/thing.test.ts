/** When two URIs lead to one thing (TH5), and what only looks alike. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOf, methodName, resourceOf, schemeOf } from "../../src/index.ts";

test.each<[string, string, readonly string[]]>([
    [
        "tool",
        "file://workspace",
        ["file://workspace/", "file://workspace/.", "FILE://workspace", "file:.", "file:./", "file:src/..", " file://workspace"],
    ],
    ["tool", "file://workspace/src", ["file:src", "file:./src/", "file://workspace//src", "file://workspace/a/../src", "file:src/."]],
    ["tool", "mcp://mail", ["mcp:mail", "MCP://mail", "mcp://mail/"]],
    ["tool", "sh://grep", ["sh:grep", "SH://grep/"]],
    ["tool", "env://process", ["env://process/"]],
    ["tool", "host:lookup", ["host://lookup", "HOST:lookup"]],
    ["tool", "./lib/tools.ts", ["././lib/tools.ts", "./lib//tools.ts", "./x/../lib/tools.ts"]],
    [
        "tool",
        "https://api.example.com/v1/",
        [
            "https://api.example.com/v1",
            "HTTPS://API.Example.COM/v1/",
            "https://api.example.com:443/v1",
            "https://api.example.com./v1",
            "https://api.example.com/./v1",
            "https://api.example.com/a/../v1",
            "https://api.example.com/%76%31",
            "https://%61pi.example.com/v1",
            "https:\\\\api.example.com\\v1",
            "https://api\t.example.com/v1",
            "https://api.example.com/v1?x=1#y",
            "https://ａpi.example。com/v1",
            "https://api.example.com",
            "https://api.example.com/v2",
            "https://api.example.com/a%2Fb",
        ],
    ],
    [
        "llm",
        "https://api.example.com/v1#big",
        ["https://api.example.com/v1/#big", "https://API.example.com:443/v1#big", "https://api.example.com/./%76%31#big"],
    ],
    ["llm", "openai://gpt-5", ["OPENAI://gpt-5", " openai://gpt-5 "]],
    ["llm", "local:", ["local://", "local:/"]],
    ["memory", "file://notes.jsonl", ["file:notes.jsonl", "file://./notes.jsonl", "file://x/../notes.jsonl", "FILE:notes.jsonl"]],
    ["memory", "sqlite://notes.db", ["sqlite:notes.db", "sqlite://notes.db#", "sqlite://notes.db#memory", "sqlite://notes.db#m%65mory"]],
    ["memory", "sqlite://notes.db#a b", ["sqlite:notes.db#a b"]],
])("%s %s is also %j", (what, uri, others) => {
    for (const other of others) expect(keyOf(what, other, "main.remit"), other).toBe(keyOf(what, uri, "main.remit"));
});

test.each([
    ["tool", "file://workspace", "file://workspace/src"],
    ["tool", "file:src", "file:SRC"],
    ["tool", "file://workspace", "file:.."],
    ["tool", "file:../src", "file:src"],
    ["tool", "mcp://mail", "mcp://Mail"],
    ["tool", "https://api.example.com/v1", "http://api.example.com/v1"],
    ["tool", "https://api.example.com/v1", "https://api.example.com:444/v1"],
    ["llm", "https://api.example.com/a%2Fb", "https://api.example.com/a/b"],
    ["tool", "https://api.example.com", "https://api.example.org"],
    ["tool", "npm:zod", "npm:zod/mini"],
    ["tool", "node:fs", "node:fs/promises"],
    ["llm", "https://api.example.com/v1#big", "https://api.example.com/v1#small"],
    ["llm", "openai://gpt-5", "openai://GPT-5"],
    ["memory", "sqlite://notes.db", "sqlite://notes.db#other"],
    ["memory", "file://notes.jsonl", "file:///notes.jsonl"],
])("%s %s is not %s", (what, one, other) => {
    expect(keyOf(what, one, "main.remit")).not.toBe(keyOf(what, other, "main.remit"));
});

test("places are taken from the file that names them", () => {
    expect(keyOf("memory", "file://../notes.jsonl", "sub/a.remit")).toBe(keyOf("memory", "file://notes.jsonl", "main.remit"));
    expect(keyOf("memory", "file://notes.jsonl", "sub/a.remit")).not.toBe(keyOf("memory", "file://notes.jsonl", "main.remit"));
    expect(keyOf("tool", "../tools.ts", "sub/a.remit")).toBe(keyOf("tool", "./tools.ts", "main.remit"));
    expect(keyOf("tool", "file:src", "sub/a.remit")).toBe(keyOf("tool", "file:src", "main.remit"));
    expect(keyOf("tool", "./a", "main.remit")).not.toBe(keyOf("memory", "./a", "main.remit"));
});

test("a key is the key of what it names", () => {
    const before = fc.constantFrom("https://host/", "HTTP://Host:80", "file:", "file://workspace/", "mcp:", "./", "sqlite:", "openai://");
    const part = fc.constantFrom("/", ".", "..", "workspace", "a", "B", "%61", "%2f", "#", "?", "x y");
    fc.assert(
        fc.property(fc.constantFrom("tool", "llm", "memory"), before, fc.array(part, { maxLength: 9 }), (what, scheme, parts) => {
            const key = keyOf(what, `${scheme}/${parts.join("")}`, "main.remit");
            expect(keyOf(what, key.slice(what.length + 1), "main.remit")).toBe(key);
        }),
        { numRuns: 3000 },
    );
});

test("schemes, resources, methods", () => {
    expect(["FILE:x", "c:\\x", "./x", "acp+http://x", "x"].map(schemeOf)).toEqual(["file", "", "", "acp+http", ""]);
    expect(["file:x", "sh://grep", "HTTPS://x", "env://process", "mcp://x", "./x.ts"].map((uri) => resourceOf(uri)?.kind ?? null)).toEqual([
        "path",
        "path",
        "url",
        "word",
        null,
        null,
    ]);
    expect([methodName("https://x", "GET"), methodName("mcp://x", "GET")]).toEqual(["get", "GET"]);
});
