// A session of `remit serve` to which two public MCP servers lend their tools: `servers.mjs FOLDER`, where FOLDER holds their `node_modules`. It prints
// what a turn came to, as JSON.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProcess } from "@remit/host";
import { ServeClient, Server } from "@remit/serve";

const PROGRAM = `import tool Everything from "mcp://everything" { call: may }
import tool Files from "mcp://files" { write_file: ask }
main func(input: { text: string }) {
    Files.write_file({ path: "note.txt", content: Everything.echo({ message: input.text }).text })
    {
        sum: Everything.call({ tool: "get-sum", args: { a: 2, b: 3 } }).text,
        list: Files.list_directory({ path: "." }).text,
        note: Files.read_text_file({ path: "note.txt" }).text,
        image: Everything.call({ tool: "get-tiny-image", args: {} }).content[1].type,
        link: Everything.call({ tool: "get-resource-links", args: { count: 1 } }).content[1].type,
        resource: Everything.call({ tool: "get-resource-reference", args: { resourceType: "Blob", resourceId: 1 } }).content[1].resource.uri,
        structured: Everything.call({ tool: "get-structured-content", args: { location: "New York" } }).structured.conditions,
        long: Everything.call({ tool: "trigger-long-running-operation", args: { duration: 1, steps: 2 } }).ok,
        form: Everything.call({ tool: "trigger-elicitation-request", args: {} }).content[1].text,
        task: Everything.call({ tool: "simulate-research-query", args: { topic: "cats" } }).ok,
        outside: try { Files.read_text_file({ path: "/etc/hostname" }).text } catch problem { problem.kind },
    }
}
`;

const servers = join(process.argv.at(-1), "node_modules", "@modelcontextprotocol");
const room = mkdtempSync(join(tmpdir(), "remit-mcp-servers-"));
const work = join(room, "work");
mkdirSync(work);
const command = (name, ...args) => ({ command: "node", args: [join(servers, name, "dist", "index.js"), ...args], cwd: work });
const mcpServers = { everything: command("server-everything"), files: command("server-filesystem", work) };
writeFileSync(join(room, "remit.json"), JSON.stringify({ mcpServers }));
writeFileSync(join(room, "main.remit"), PROGRAM);
const own = openProcess({ env: { ...process.env, HOME: room }, cwd: room });
const server = await Server.start({
    program: join(room, "main.remit"),
    ledger: join(room, "ledger.db"),
    process: own,
    load: { trust: true, workspace: work, cache: false },
});
try {
    const client = new ServeClient({ url: server.url, token: server.ownerToken });
    const { id } = await client.open();
    const turn = await client.submit(id, { input: { text: "hello" } });
    const asked = [];
    for await (const { event, data } of client.events(id)) {
        if (event === "ask.requested") {
            asked.push(data.question);
            await client.request("POST", `/v1/sessions/${id}/asks/${data.ask}/decision`, { decision: data.question.startsWith("The tool server") ? "deny" : "once" });
        }
        if (event === "turn.ended" && data.turn === turn.id) break;
    }
    const { status, value, failure } = (await client.request("GET", `/v1/sessions/${id}/turns/${turn.id}`)) ?? {};
    process.stdout.write(`${JSON.stringify({ status, value, failure, asked })}\n`);
} finally {
    await server.stop();
    await own.close();
    rmSync(room, { recursive: true, force: true });
}
