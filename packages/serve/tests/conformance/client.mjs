// A user of Remit before a server of the MCP conformance suite: `client.mjs URL` runs a program that calls every tool of the server at URL; where the run
// waits for a login, it gives the command that the run names, with a browser that says yes by itself. What a scenario tells comes by the suite's variables.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScrubber, createTools, load, loadConfig } from "@remit/host";

const REMIT = join(import.meta.dirname, "../../../cli/bin/remit.mjs");
const SOURCE = `import tool Server from "mcp://server" { call: may }
main func(tool: string, args) { Server.call({ tool: tool, args: args }) }`;
/** A scenario whose logins never help has to end. */
const MAX_LOGINS = 2;

const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const protocol = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === "2026-07-28" ? "modern" : "legacy";
const room = mkdtempSync(join(tmpdir(), "remit-mcp-client-"));
const env = { ...process.env, HOME: room, CLIENT_SECRET: context.client_secret ?? "" };
writeFileSync(join(room, "remit.json"), JSON.stringify({ mcpServers: { server: { url, protocol } } }));

/** Scenarios whose server has tools to be read, and answers no call. */
const READS = new Set(["json-schema-ref-no-deref"]);

/** Scenarios whose server takes a client by the address of its metadata: the user says that as its id. */
const METADATA = { "auth/basic-cimd": "https://conformance-test.local/client-metadata.json" };

/** What the schema of a tool wants, and nothing that it does not; a schema is wanted back as it came. */
function argumentsOf({ properties = {}, required = [] }, schemas) {
    const value = (name, { type, enum: among }) =>
        name === "schema" ? schemas[0] : (among?.[0] ?? { number: 1, integer: 1, boolean: true, object: {}, array: [] }[type] ?? "text");
    return Object.fromEntries(required.map((name) => [name, value(name, properties[name] ?? {})]));
}

/** The calls to be made; or how to log in first. */
async function wanted() {
    const tools = createTools(loadConfig({ env, from: room, folder: room, trust: true }), { workspace: room, env, secrets: createScrubber() });
    try {
        const server = (await tools.list()).find(({ uri }) => uri.startsWith("mcp:"));
        if (server.reachable !== true) return { failure: server };
        if (context.toolCalls !== undefined) return { calls: context.toolCalls.map(({ name: tool, arguments: args }) => ({ tool, args })) };
        if (READS.has(process.env.MCP_CONFORMANCE_SCENARIO)) return { calls: [] };
        const methods = server.methods.filter(({ name }) => name !== "call");
        const schemas = methods.map(({ input }) => input);
        return { calls: methods.map(({ name: tool, input }) => ({ tool, args: argumentsOf(input, schemas) })) };
    } finally {
        await tools.close();
    }
}

/** The last failure, null where all went well. */
async function attempt() {
    const { failure, calls = [] } = await wanted();
    if (failure !== undefined) return failure;
    // A person who is shown a form that is filled in, and agrees.
    const on = { ask: () => "once", input: ({ default: usual }) => usual ?? null };
    const program = await load({ source: SOURCE }, { on, root: room, workspace: room, cache: false, env, trust: true });
    try {
        for (const call of calls) {
            const result = await program.run(call).result;
            if (!result.ok) return result.missing ?? result.failure;
        }
        return null;
    } finally {
        await program.close();
    }
}

/** True where a token was got. */
async function login(line) {
    const [, ...args] = line.split(" ");
    if (context.client_id !== undefined) args.push("--client-id", context.client_id, "--client-secret", "env:CLIENT_SECRET");
    const metadata = METADATA[process.env.MCP_CONFORMANCE_SCENARIO];
    if (metadata !== undefined) args.push("--client-id", metadata);
    const child = spawn(process.execPath, [REMIT, ...args], { env, cwd: room, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk) => {
        const before = said;
        said += String(chunk);
        const [, where] = /^ {2}(http\S+)\n/mu.exec(said) ?? [];
        if (where !== undefined && !/^ {2}(http\S+)\n/mu.test(before)) void fetch(where).then((page) => page.text());
    });
    const code = await new Promise((done) => child.once("exit", done));
    process.stderr.write(said);
    return code === 0;
}

try {
    let failure = await attempt();
    for (let logins = 0; failure?.hint?.startsWith("remit login") && logins < MAX_LOGINS; logins++) {
        if (!(await login(failure.hint))) break;
        failure = await attempt();
    }
    if (failure !== null) process.stderr.write(`${JSON.stringify(failure)}\n`);
    process.exitCode = failure === null ? 0 : 1;
} finally {
    rmSync(room, { recursive: true, force: true });
}
