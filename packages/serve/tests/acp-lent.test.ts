/** CUT1 of what tool servers of an editor say. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScrubber } from "@remit/host";
import { expect, test } from "vitest";
import { LentServers } from "../src/acp/lent.ts";
import type { Session } from "../src/session/session.ts";
import type { CallResult } from "../src/wire/messages.ts";

const SECRET = "sk-0123456789abcdefABCDEFGHIJ";
const SERVER = `import { createInterface } from "node:readline";
const [, , how] = process.argv;
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const error = (length) => ({ error: { code: -32000, message: "y".repeat(length) + "${SECRET}" + "y".repeat(99) } });
createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
    else if (method === "tools/list") send({ id, ...(how === "list" ? error(985) : { result: { tools: [{ name: "note", inputSchema: { type: "object" } }] } }) });
    else if (method !== "tools/call") send({ id, error: { code: -32601, message: "unknown" } });
    else if (how === "error") send({ id, ...error(985) });
    else send({ id, result: { isError: true, content: [{ type: "text", text: "y".repeat(9_990) + "${SECRET}" }] } });
});
`;

test.each(["list", "error", "result"])("where it is an error of its %s, nothing of a secret is left at the cut", async (how) => {
    const folder = mkdtempSync(join(tmpdir(), "remit-lent-"));
    writeFileSync(join(folder, "server.mjs"), SERVER);
    const secrets = createScrubber([{ name: "env:API_KEY", value: SECRET }]);
    const servers = new LentServers({ by: "editor", cwd: folder, version: "0", log: () => undefined, secrets });
    const session = { lend: async () => undefined } as unknown as Session;
    const server = { name: "far", command: process.execPath, args: [join(folder, "server.mjs"), how], env: [] };
    try {
        let told: unknown = null;
        try {
            await servers.open(session, [server]);
            const settle = (_id: string, result: CallResult): void => {
                told = result;
            };
            await servers.call({ id: "1", tool: "far_note", args: {}, client: servers.client }, settle);
        } catch (error) {
            if (!(error instanceof Error)) throw error;
            told = error.message;
        }
        const text = JSON.stringify(told);
        expect(text).toContain("yyyyyyyy");
        for (let at = 0; at + 5 <= SECRET.length; at++) expect(text).not.toContain(SECRET.slice(at, at + 5));
    } finally {
        await servers.close();
        rmSync(folder, { recursive: true, force: true });
    }
});
