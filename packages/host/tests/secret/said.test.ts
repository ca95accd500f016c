/** CUT1 of what the world says: wherever a longer text is cut, nothing of a known secret is left at the cut. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { Effect, Outcome, Up } from "@remit/machine";
import { expect, test } from "vitest";
import { children } from "../../src/process/child.ts";
import { RAS_LIMITS, startRas } from "../../src/ras/process.ts";
import { rasSource } from "../../src/ras/source.ts";
import type { Host } from "../../src/run/host.ts";
import { performing } from "../../src/run/performing.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { Transcript } from "../../src/agent/transcript.ts";
import { ChannelError } from "../../src/channel/channel.ts";
import { postMessage } from "../../src/channel/slack.ts";
import { fetchLocal } from "../../src/model/fetch.ts";
import { openProcess } from "../../src/process/process.ts";
import { createTools } from "../../src/tool/tools.ts";
import { web } from "../channel/setup.ts";
import { perform, type Work, work } from "../tool/setup.ts";

const SECRET = "sk-0123456789abcdefABCDEFGHIJ";
const secrets = createScrubber([{ name: "env:API_KEY", value: SECRET }]);

/** As what performs an effect lets it out: what is whole is taken out there. */
function expectNothingIn(told: unknown): void {
    const text = JSON.stringify(secrets.scrub(JSON.parse(JSON.stringify(told)) as Json));
    for (let at = 0; at + 8 <= SECRET.length; at++) expect(text).not.toContain(SECRET.slice(at, at + 8));
}

/** Says the variable where its one argument says, with so many letters before and behind it. */
const SERVER = `import { createInterface } from "node:readline";
const [, , how, before, behind] = process.argv;
const said = "y".repeat(before) + process.env.API_KEY + "y".repeat(behind);
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
let call;
createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = (result) => send({ id, result });
    if (method === "initialize") result({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    else if (method === "tools/list") result({ tools: [{ name: "note", inputSchema: { type: "object" }, ...(how === "description" ? { description: said } : {}) }] });
    else if (method !== "tools/call") send({ id: call, result: { content: [] } });
    else if (how === "error") send({ id, error: { code: -32000, message: said } });
    else if (how === "stray") process.stdout.write(said + "\\n", () => process.exit(3));
    else {
        if (how === "progress") send({ method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1, message: said } });
        // The result comes when the client has answered, so behind the progress.
        if (how === "progress") send({ id: 98, method: "ping" });
        if (how === "question") send({ id: 99, method: "elicitation/create", params: { mode: "form", message: said, requestedSchema: { type: "object", properties: {} } } });
        call = id;
        if (how === "description") result({ content: [] });
    }
});
`;

function toolsIn(here: Work, how: readonly string[]) {
    here.write("server.mjs", SERVER);
    const config = here.config({ mcpServers: { far: { command: "node", args: ["server.mjs", ...how], env: { API_KEY: "$API_KEY" } } } });
    return createTools(config, { env: { ...here.env, API_KEY: SECRET }, workspace: here.workspace, root: here.workspace, secrets });
}

test.each([
    ["an error", "error", "0", "990"],
    ["its progress", "progress", "0", "490"],
    ["a question to a person", "question", "1990", "0"],
    ["a line that is no message", "stray", "190", "0"],
])("of %s of a tool server", async (_, ...how) => {
    await using here = work();
    const tools = toolsIn(here, how);
    const told: Json[] = [];
    const outcome = await perform(tools, "mcp://far", "note", [{}], {
        emit: (part) => void told.push(part),
        child: async (effect) => {
            told.push(effect.request);
            return { ok: true, value: "deny", origins: [] };
        },
    });
    await tools.close();
    expect(JSON.stringify([told, outcome])).toContain("yyyyyyyy");
    expectNothingIn([told, outcome]);
});

test("of a tool server's description of its tool, also where the tools are listed", async () => {
    await using here = work();
    const tools = toolsIn(here, ["description", "4080", "0"]);
    const listed = await tools.list([{ name: "Far", uri: "mcp://far", file: "main.remit" }]);
    await tools.close();
    expect(JSON.stringify(listed)).toContain("yyyyyyyy");
    expectNothingIn(listed);
});

test("of what a tool server says where the tools are listed, nothing is told with a secret, cut or not", async () => {
    await using here = work();
    const tools = toolsIn(here, ["description", "10", "10"]);
    const listed = await tools.list([{ name: "Far", uri: "mcp://far", file: "main.remit" }]);
    await tools.close();
    expect(JSON.stringify(listed)).toContain("yyyyyyyyyy[secret env:API_KEY]yyyyyyyyyy");
});

test.each([
    [
        "the standard error",
        "import os, sys\nsys.stderr.write(os.environ['RIFF_PARAMS'][1:-1] + 'y' * 3990)\nsys.stderr.flush()\nos._exit(3)\n",
    ],
    ["the error", "import os\nraise Exception('y' * 8 + (os.environ['RIFF_PARAMS'][1:-1] + ' ') * 150)\n"],
    ["the output", "import os\nprint('y' * 990 + os.environ['RIFF_PARAMS'][1:-1] + 'y' * 900)\n"],
])("of %s of a Re in Act program", async (_, source) => {
    const folder = mkdtempSync(join(tmpdir(), "remit-said-"));
    const owner = children();
    try {
        const file = join(folder, "p.py");
        writeFileSync(file, source);
        const options = { inputs: SECRET, unconfined: false, env: process.env, children: owner, secrets };
        const running = await startRas(rasSource(file), { ...options, limits: { ...RAS_LIMITS, output: 1000 } });
        const step = await running.step([], new AbortController().signal);
        await running.end();
        expect(JSON.stringify(step)).toContain("yyyyyyyy");
        expectNothingIn(step);
    } finally {
        await owner.close();
        rmSync(folder, { recursive: true, force: true });
    }
});

test("of what a command prints: before what is left out, behind it, and in pieces between those of the other stream", async () => {
    await using here = work();
    const tools = createTools(undefined, { env: here.env, workspace: here.workspace, secrets });
    const half = 32_768;
    const told: Json[] = [];
    const print = (text: string): string => `process.stdout.write(${text});`;
    const head = `${print(`"y".repeat(${half - 12}) + ${JSON.stringify(SECRET)} + "y".repeat(${3 * half})`)}`;
    const tail = `${print(`${JSON.stringify(SECRET)} + "y".repeat(${half - 12})`)}`;
    const command = (program: string): Json[] => [{ command: "node", args: ["-e", program] }];
    const cut = await perform(tools, "shell: unconfined", "run", command(head + tail));
    expect(JSON.stringify(cut)).toContain("characters left out");
    expectNothingIn(cut);
    // They come in pieces where the machine is not too busy: else nothing is looked at.
    const [first, rest] = [SECRET.slice(0, 14), SECRET.slice(14)];
    await perform(
        tools,
        "shell: unconfined",
        "run",
        command(`${print(`"-${first}"`)} process.stderr.write("."); setTimeout(() => { ${print(`"${rest}-"`)} }, 100);`),
        {
            emit: (part) => void told.push(part),
        },
    );
    await tools.close();
    expectNothingIn(told);
});

test("of a long line in which a pattern is found", async () => {
    await using here = work();
    here.write("a.txt", `find${"y".repeat(10_000 - 16)}${SECRET}\n`);
    const tools = createTools(undefined, { env: here.env, workspace: here.workspace, secrets });
    const found = await perform(tools, "sh://grep", "run", [{ pattern: "find" }]);
    await tools.close();
    expect(JSON.stringify(found)).toContain("yyyyyyyy");
    expectNothingIn(found);
});

test.each([
    ["at once", { content: [{ type: "content", content: { type: "text", text: `${"y".repeat(65_526)}${SECRET}` } }] }],
    ["as it came", { rawOutput: `${"y".repeat(65_526)}${SECRET}` }],
    ["piece by piece", { _meta: { terminal_output: { data: `${"y".repeat(65_526)}${SECRET}` } } }],
])("of what a call of an agent gave %s", (_, gave) => {
    const transcript = new Transcript({ limits: {}, secrets });
    transcript.update({ sessionUpdate: "tool_call", toolCallId: "c", title: "run", status: "completed", ...gave });
    const reply = transcript.reply({ stop: "end_turn", confinement: "none" } as unknown as Parameters<Transcript["reply"]>[0]);
    expect(JSON.stringify(reply)).toContain("yyyyyyyy");
    expectNothingIn(reply);
});

const [FIRST, REST] = [SECRET.slice(0, 14), SECRET.slice(14)];
const chunk = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: "text", text } });

function replied(updates: readonly object[], stop: string) {
    const transcript = new Transcript({ limits: {}, secrets });
    for (const one of updates) transcript.update(one);
    return transcript.reply({ stop, confinement: "none" } as unknown as Parameters<Transcript["reply"]>[0]);
}

test.each(["cancelled", "max_tokens", "refusal"])("of the last message and thought of an agent whose turn ends as %s", (stop) => {
    const updates = [
        chunk("agent_thought_chunk", `yyyyyyyy ${FIRST}`),
        chunk("agent_message_chunk", "the key is "),
        chunk("agent_message_chunk", FIRST),
    ];
    const reply = replied(updates, stop);
    expect(reply.text).toBe("the key is ");
    expect(JSON.stringify(reply)).toContain("yyyyyyyy");
    expectNothingIn(reply);
    // Else it ends as the agent ended it, also where that is how a secret begins.
    expect(replied([chunk("agent_message_chunk", "two tests")], "end_turn").text).toBe("two tests");
});

test("of a message of an agent that is longer than what is kept, and nothing comes behind it", () => {
    const long = "y".repeat(16 * 1024 * 1024 - FIRST.length - 8);
    const reply = replied(
        [chunk("agent_message_chunk", `${long}${FIRST}`), chunk("agent_message_chunk", REST), chunk("agent_message_chunk", "-")],
        "end_turn",
    );
    expect(reply.text.length).toBe(long.length);
});

test.each([
    ["an agent that fails", "agent", { ok: false, failure: { kind: "cancelled", message: "it was cancelled" } }, ""],
    ["an agent that was stopped", "agent", { ok: true, value: { stop: "max_tokens" }, origins: [] }, ""],
    ["an agent that ended", "agent", { ok: true, value: { stop: "end_turn" }, origins: [] }, FIRST],
    ["a tool that fails", "tool", { ok: false, failure: { kind: "tool", message: "it failed" } }, ""],
    ["a tool that ended", "tool", { ok: true, value: null, origins: [] }, FIRST],
] as const)("PA4: of what %s told, what was held back is given where it is whole", async (_, kind, outcome, rest) => {
    const told: Up[] = [];
    const effect = { kind, path: "main/x#1", request: {}, labels: {}, site: null } as unknown as Effect;
    await new Promise<void>((done) => {
        const host: Host = {
            perform: async (_effect, io) => {
                io.note?.({ entry: { kind: "message", text: `yyyyyyyy${FIRST}` } });
                io.emit({ type: "text", delta: `yyyyyyyy${FIRST}` });
                return outcome as unknown as Outcome;
            },
        };
        performing(effect, { host, secrets, up: (one) => void told.push(one), answered: () => done() });
    });
    const parts = told.flatMap((one) => ("part" in one ? [(one.part as { readonly delta: string }).delta] : []));
    const notes = told.flatMap((one) => ("note" in one && "entry" in one.note && "text" in one.note.entry ? [one.note.entry.text] : []));
    expect(parts.join("")).toBe(`yyyyyyyy${rest}`);
    if (kind === "agent") expect(notes.join("")).toBe(`yyyyyyyy${rest}`);
});

test("of what Slack answers", async () => {
    await using there = await web();
    there.answers({ body: JSON.stringify({ ok: false, error: `${"y".repeat(70)}${SECRET}` }) });
    const channel = postMessage({ token: "env:T", channel: "C", api: there.url }, () => "t", secrets);
    const message = { text: "q", why: [], arguments: [], lasts: {}, options: [], approvers: [], answer: { command: "c" } };
    const error: unknown = await channel.send(message as never, new AbortController().signal).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChannelError);
    expect((error as Error).message).toContain("yyyyyyyy");
    expectNothingIn((error as Error).message);
});

test("of what an installer says of why it failed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-said-"));
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const program = `process.stderr.write(process.env.API_KEY + "y".repeat(7990)); process.exitCode = 1;`;
    writeFileSync(join(bin, "python3"), `#!${process.execPath}\n${program}\n`);
    chmodSync(join(bin, "python3"), 0o755);
    const on = openProcess({ env: { PATH: bin, HOME: folder, XDG_CACHE_HOME: folder, API_KEY: SECRET }, cwd: folder });
    try {
        const error: unknown = await fetchLocal(on, () => undefined).catch((reason: unknown) => reason);
        expect((error as Error).message).toContain("yyyyyyyy");
        expectNothingIn((error as Error).message);
    } finally {
        await on.close();
        rmSync(folder, { recursive: true, force: true });
    }
});
