/** `remit.tools.json`: calls of a server's tools are checked by what was pinned of them, without a server (KS1, KS2). */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { RemitError } from "../../src/failure/error.ts";
import { checkFile } from "../../src/load/check.ts";
import { lockPrograms } from "../../src/lock/project.ts";
import { SAID_FILE } from "../../src/lock/said.ts";
import { load } from "../../src/run/program.ts";
import { type Work, work } from "../tool/setup.ts";

/** A server with one tool, `note`; as `argv` says, it has another field. */
const SERVER = `import { createInterface } from "node:readline";
const out = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const field = process.argv[2];
const inputSchema = { type: "object", properties: { [field]: { type: "string" }, max: { type: "integer" } }, required: [field], additionalProperties: false };
createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") out(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    else if (method === "tools/list") out(id, { tools: [{ name: "note", description: "Keeps a note.", inputSchema }] });
    else if (method === "tools/call") out(id, { content: [{ type: "text", text: "kept" }] });
});
`;

async function pinned(here: Work, body = 'Far.note({ text: "a" })', clauses = ""): Promise<string> {
    here.write("server.mjs", SERVER);
    here.config({ mcpServers: { far: { command: "node", args: ["server.mjs", "text"] } } });
    const path = here.write("main.remit", 'import tool Far from "mcp://far"\nmain func() { Far.note({ text: "a" }) }\n');
    await lockPrograms([path], { env: here.env, trust: true, workspace: here.workspace });
    here.write("main.remit", `import tool Far from "mcp://far"${clauses}\nmain func() { ${body} }\n`);
    return path;
}

async function found(here: Work, path: string) {
    const { diagnostics, slips } = await checkFile(path, { env: here.env, workspace: here.workspace });
    return { errors: diagnostics.flatMap(({ severity, code, hint }) => (severity === "error" ? [`${code}: ${hint}`] : [])), slips };
}

/** Of an error that is told to a person; any other is a defect. */
function kindOf(error: unknown): string {
    return error instanceof RemitError ? error.kind : "a defect";
}

function digestOf(path: string): string {
    return Object.keys(JSON.parse(readFileSync(path, "utf8")).said)[0] as string;
}

const PINS = "remit.lock pins the tool so, and `remit lock` asks the server again";

test("SR7: a server that writes its key and quits leaves nothing of it in what the lock says", async () => {
    const key = "sk-0123456789abcdefABCDEFGHIJ";
    await using here = work();
    here.write(
        "server.mjs",
        `process.stderr.write("no access with " + process.env.API_KEY + " " + "y ".repeat(245), () => process.exit(3));`,
    );
    here.config({ mcpServers: { far: { command: "node", args: ["server.mjs"], env: { API_KEY: "$API_KEY" } } } });
    const path = here.write("main.remit", `import tool Far from "mcp://far"\nmain func() { Far.note({}) }\n`);
    const setting = { env: { ...here.env, API_KEY: key }, trust: true, workspace: here.workspace };
    const error = await lockPrograms([path], setting).then(null, (one: unknown) => one);
    expect(kindOf(error)).toBe("unreachable");
    const said = JSON.stringify((error as RemitError).failure);
    expect(said).toContain("y y y");
    for (let at = 0; at + 8 <= key.length; at++) expect(said).not.toContain(key.slice(at, at + 8));
});

describe("a call is held against what was pinned", () => {
    test.each([
        ['Far.note({ text: "a", max: 3 })', "", []],
        ['Far.call({ tool: "note", args: { text: "a" } })', "", []],
        ['Far.noet({ text: "a" })', "", [`UNKNOWN_METHOD: did you mean 'note'? ${PINS}`]],
        ['Far.note({ txt: "a" })', "", [`UNKNOWN_FIELD: did you mean 'text'? ${PINS}`]],
        ['Far.note({ text: "a", colour: "red" })', "", [`UNKNOWN_FIELD: it has text, max; ${PINS}`]],
        ["Far.note({ max: 3 })", "", [`MISSING_FIELD: ${PINS}`]],
        ['Far.note({ text: "a", max: "3" })', "", ["CONTRACT_MISMATCH: give a value of that shape, or change the contract"]],
        ['Far.note({ text: "a" })', " { noet: ask }", ["REMIT_UNKNOWN_METHOD: did you mean 'note'?"]],
    ])("%s%s", async (body, clauses, errors) => {
        await using here = work();
        expect(await found(here, await pinned(here, body, clauses))).toEqual({ errors, slips: [] });
    });
});

test.each<[string, (path: string) => void, RegExp]>([
    ["is missing", (path) => rmSync(path), /remit\.tools\.json is not there/],
    ["is a link", (path) => (rmSync(path), symlinkSync("/etc/passwd", path)), /remit\.tools\.json is no file/],
    [
        "was changed",
        (path) => writeFileSync(path, readFileSync(path, "utf8").replace('"max"', '"most"')),
        /remit\.tools\.json does not have what remit\.lock pins of note/,
    ],
    [
        "is nested too deep to be read",
        (path) => writeFileSync(path, `{"format":"remit-tools/1","said":{"${digestOf(path)}":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`),
        /remit\.tools\.json does not have what remit\.lock pins of note/,
    ],
])("a file that %s says so once, and nothing is checked", async (_, change, why) => {
    await using here = work();
    const path = await pinned(here, "Far.noet({})  Far.noet({})");
    change(join(here.workspace, SAID_FILE));
    const { errors, slips } = await found(here, path);
    expect(errors).toEqual([]);
    expect(slips).toEqual([expect.stringMatching(why)]);
    expect(slips[0]).toMatch(/^calls of Far are not checked: .*remit lock main\.remit$/);
});

test("without a lock nothing is said", async () => {
    await using here = work();
    const path = await pinned(here, "Far.noet({})");
    rmSync(join(here.workspace, "remit.lock"));
    expect(await found(here, path)).toEqual({ errors: [], slips: [] });
});

test("a run goes by what the server says, and not by the file", async () => {
    await using here = work();
    const path = await pinned(here, 'Far.note({ body: "a" }).text');
    here.config({ mcpServers: { far: { command: "node", args: ["server.mjs", "body"] } } });
    expect((await found(here, path)).errors).toHaveLength(1);
    const program = await load<null, string>(path, { env: here.env, trust: true, workspace: here.workspace });
    expect(await program(null)).toBe("kept");
    await program.close();
});

test("the file is written anew with the lock, and goes with the last server", async () => {
    await using here = work();
    const path = await pinned(here);
    const lock = () => lockPrograms([path], { env: here.env, trust: true, workspace: here.workspace });
    const file = join(here.workspace, SAID_FILE);
    const before = readFileSync(file, "utf8");
    rmSync(file);
    await lock();
    expect(readFileSync(file, "utf8")).toBe(before);
    here.write("main.remit", "main func() { 1 }\n");
    await lock();
    expect(existsSync(file)).toBe(false);
});

const TOKEN = "tok-0123456789abcdef";

/** A lock of a program whose server is given a secret. */
function lockedWith(here: Work, server: string) {
    here.write("server.mjs", server);
    here.config({ mcpServers: { far: { command: "node", args: ["server.mjs", "text"], env: { FAR_KEY: "$FAR_VALUE" } } } });
    const path = here.write("main.remit", 'import tool Far from "mcp://far"\nmain func() { Far.note({ text: "a" }) }\n');
    return lockPrograms([path], { env: { ...here.env, FAR_VALUE: TOKEN }, trust: true, workspace: here.workspace });
}

test("words of a server that hold a secret are not kept, the others are; a description is without it", async () => {
    await using here = work();
    const plain = '{ name: "plain", inputSchema: { type: "object" } }';
    const telling = '{ name: "telling", inputSchema: { type: "object", title: process.env.FAR_KEY } }';
    await lockedWith(here, SERVER.replace('"Keeps a note."', "process.env.FAR_KEY").replace("tools: [", `tools: [${plain}, ${telling}, `));
    const text = readFileSync(join(here.workspace, SAID_FILE), "utf8");
    const kept = Object.values(JSON.parse(text).said as { [digest: string]: { name: string } }).sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(kept).toMatchObject([{ name: "note", description: "[secret env:FAR_VALUE]" }, { name: "plain" }]);
    expect(text).not.toContain(TOKEN);
});

test("the failure of a server that cannot be asked tells no secret", async () => {
    await using here = work();
    const failed = lockedWith(here, "console.error(`no ${process.env.FAR_KEY}`); process.exit(1);");
    const message = await failed.then(String, (error) => `${error.message} ${JSON.stringify(error.failure)}`);
    expect(message).toMatch(/it wrote: no \[secret/);
    expect(message).not.toContain(TOKEN);
});

test.each<[string, Json]>([
    ["no methods", { uri: "mcp://far" }],
    ["methods that are none", { uri: "mcp://far", methods: { note: 3 } }],
    ["no URI", { methods: {} }],
    ["a list of methods", { uri: "mcp://far", methods: [null] }],
])("a lock of another author whose tool has %s ends neither a check nor a new lock in a defect", async (_, tool) => {
    await using here = work();
    const path = await pinned(here);
    const programs = { "main.remit": { agents: {}, skills: {}, tools: { "main.remit#Far": tool } } };
    const other = { "other.remit": programs["main.remit"] };
    here.write("remit.lock", JSON.stringify({ format: "remit-lock/1", programs: { ...programs, ...other } }));
    expect(await found(here, path).catch(kindOf)).toMatchObject({ errors: [] });
    expect(await lockPrograms([path], { env: here.env, trust: true, workspace: here.workspace }).catch(kindOf)).not.toBe("a defect");
});
