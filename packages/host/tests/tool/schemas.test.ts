/** SN1, TLR1: what the checker knows of the runtime's own tools is what they say of themselves, and what they give. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { checkValue, type Contract, type Json, schemeOf, TOOL_RESULTS, toolSchema } from "@remit/language";
import { expect, test } from "vitest";
import { scriptAt } from "../script.ts";
import { call, work } from "./setup.ts";

const URIS = [
    "sh://find",
    "sh://grep",
    "sh://read-range",
    "env://process",
    "file://workspace",
    "shell:",
    "webfetch:",
    "skills:",
    "http://127.0.0.1:1",
    "https://api.example.com",
];

test.each(URIS)("%s", async (uri) => {
    await using room = work();
    const { methods } = await room.tools(room.config({})).describe({ name: "T", uri, file: "main.remit" });
    const known = toolSchema("tool", uri);
    expect([...(known?.methods.keys() ?? [])]).toEqual(methods.map(({ name }) => name));
    for (const { name, input } of methods) {
        const { properties, required = [] } = input as {
            readonly properties: { readonly [name: string]: Json };
            readonly required?: string[];
        };
        const params = known?.params?.get(name) ?? [];
        expect(known?.methods.get(name)).toEqual(new Set(Object.keys(properties)));
        for (const { name: field, hasDefault, kinds } of params) {
            const { type } = properties[field] as { readonly type?: string };
            // An `sh:` or `file:` tool is held to the kinds of its fields, too.
            if (kinds !== undefined) expect([...kinds]).toEqual([type === "integer" ? "number" : type]);
            if (/^(sh|file):/.test(uri)) expect([name, field, hasDefault]).toEqual([name, field, !required.includes(field)]);
        }
    }
});

const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");

/** The server of the test. */
const WEB = "http://127.0.0.1";
/** What `write` gives. */
const WRITTEN = "written";

interface Tried {
    readonly uri: string;
    readonly method: string;
    readonly given: Json;
    /** Of its result, where that is not the name of the method. */
    readonly row?: string;
}

const CALLS: readonly Tried[] = [
    { uri: "file://workspace", method: "read", given: { path: "a.txt" } },
    { uri: "file://workspace", method: "read", given: { path: "p.png", as: "image" }, row: "read image" },
    { uri: "file://workspace", method: "list", given: {} },
    { uri: "file://workspace", method: "write", given: { path: "new.txt", content: "b" } },
    { uri: "file://workspace", method: "patch", given: { path: "a.txt", search: "one", replace: "two" } },
    { uri: "file://workspace", method: "undo", given: WRITTEN },
    { uri: "sh://find", method: "run", given: {} },
    { uri: "sh://grep", method: "run", given: { pattern: "n" } },
    { uri: "sh://read-range", method: "run", given: { path: "a.txt" } },
    { uri: "env://process", method: "get", given: { name: "NOT_SET" } },
    { uri: "shell: unconfined", method: "run", given: { command: "echo hi; echo no >&2" } },
    { uri: WEB, method: "get", given: { url: "/" } },
    { uri: "mcp://notes", method: "add", given: { note: "a" } },
    { uri: "skills:", method: "activate", given: { name: "tides" } },
    { uri: "skills:", method: "file", given: { name: "tides", path: "more.md" } },
];

type Row = Contract & { readonly type: "object" };

function rowOf({ uri, method, row = method }: Tried): Row {
    const rows = TOOL_RESULTS[schemeOf(uri) === "sh" ? uri : schemeOf(uri)] ?? {};
    return (rows[row] ?? rows["*"]) as Row;
}

test("TLR1: each row is tried, or is the same as one that is", () => {
    const tried = new Set<Contract>(CALLS.map(rowOf));
    const rows = Object.entries(TOOL_RESULTS).flatMap(([tool, methods]) =>
        Object.entries(methods).map(([method, contract]) => ({ name: `${tool} ${method}`, contract })),
    );
    expect(rows.filter(({ contract }) => !tried.has(contract)).map(({ name }) => name)).toEqual([]);
});

test.each(CALLS)("TLR1: $uri gives by $method what its row says", async (one) => {
    const { method, given } = one;
    await using here = work();
    here.write("a.txt", "one\n");
    here.write("p.png", PICTURE);
    // Beside the workspace, in the user's own folder: those are trusted.
    here.write("../.agents/skills/tides/SKILL.md", "---\nname: tides\ndescription: About tides.\n---\nRead.\n");
    here.write("../.agents/skills/tides/more.md", "More.\n");
    const server = createServer((_request, response) => response.end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
        const uri = one.uri === WEB ? `${WEB}:${(server.address() as AddressInfo).port}` : one.uri;
        const script = scriptAt("packages/host/tests/tool/mcp-server.ts");
        const config = here.config({ mcpServers: { notes: { command: "node", args: [script, join(here.folder, "notes.txt")] } } });
        const tools = here.tools(config);
        const arg = given === WRITTEN ? await call(tools, uri, "write", { path: "b.txt", content: "b" }) : given;
        const value = await call(tools, uri, method, arg);
        const row = rowOf(one);
        expect(checkValue(row, value, {})).toMatchObject({ ok: true });
        expect(Object.keys(value).filter((key) => !row.fields.some(({ name }) => name === key))).toEqual([]);
    } finally {
        server.close();
    }
});
