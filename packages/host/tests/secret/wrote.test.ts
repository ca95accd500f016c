/** SR7 of what a process wrote to its standard error: a failure's message has the end of it on one line, and nothing of a secret. */
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { load } from "../../src/run/program.ts";
import { rig } from "../agent/rig.ts";
import { work } from "../tool/setup.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

/** Each 8 characters of it would tell. */
const SECRETS = {
    "a key": "sk-0123456789abcdefABCDEFGHIJ",
    "a key of several lines": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END KEY-----",
};

/** Ends with as much behind the secret as cuts it in a message, and in what is kept of the text, where those are cut by length. */
const ENDS = [300, 490, 7_990];

function expectNothingOf(secret: string, told: unknown): void {
    const text = JSON.stringify(told);
    for (const line of secret.split("\n")) for (let at = 0; at + 8 <= line.length; at++) expect(text).not.toContain(line.slice(at, at + 8));
}

/** Quits at its first call, with the variable in its standard error. */
const SERVER = `import { createInterface } from "node:readline";
const out = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") out(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    else if (method === "tools/list") out(id, { tools: [{ name: "note", inputSchema: { type: "object" } }] });
    else if (method === "tools/call") process.stderr.write("no access with " + process.env.API_KEY + " " + "y ".repeat(process.argv[2] / 2), () => process.exit(3));
});
`;

test.each(Object.entries(SECRETS))("SR7: of a server that writes %s and quits", async (_, secret) => {
    await using here = work();
    here.write("server.mjs", SERVER);
    const path = here.write("main.remit", `import tool Far from "mcp://far"\nmain func() { Far.note({}) }\n`);
    for (const end of ENDS) {
        here.config({ mcpServers: { far: { command: "node", args: ["server.mjs", String(end)], env: { API_KEY: "$API_KEY" } } } });
        const env = { ...here.env, API_KEY: secret };
        const program = await load(path, { env, trust: true, workspace: here.workspace, on: { ask: async () => "once" } });
        const { failure } = await program.run(null).result;
        expect(failure).toMatchObject({ kind: "unreachable", message: expect.stringMatching(/; it wrote: .*y y y$/) });
        expectNothingOf(secret, failure);
        await program.close();
    }
});

test.each(Object.entries(SECRETS))("SR7: of an agent that writes %s and ends", async (_, secret) => {
    for (const end of ENDS) {
        const setting = { secrets: createScrubber() };
        const env = { PATH: process.env.PATH ?? "", HOME: tmpdir(), API_KEY: secret };
        await using at = rig({ agent: { env: { API_KEY: "$API_KEY", AFTER: ` ${"y ".repeat(end / 2)}` } }, setting: { ...setting, env } });
        const failure = await at.failure([{ do: "crash" }]);
        expect(failure).toMatchObject({ kind: "unreachable", message: expect.stringMatching(/; it wrote: .*y y y$/) });
        expectNothingOf(secret, failure);
    }
});
