/**
 * An agent for tests, made with the SDK's agent side. What it does in a turn is a list of acts, given as JSON in the prompt's last text block;
 * what it does wrong before that is said by `FAULT` in its environment. Its home and its working folder are whatever it was started in.
 */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { agent, type AgentContext, ndJsonStream, RequestError } from "@agentclientprotocol/sdk";

type Act = { readonly do: string; readonly [key: string]: unknown };

const fault = process.env.FAULT ?? "";
const ignoresCancel = fault === "ignores cancel";
const raw = (line: string): void => void process.stdout.write(line);
const later = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const sessions = new Map<string, { cancelled: boolean; wake: () => void; turns: number; cwd: string; servers: unknown }>();
const file = join(process.env.HOME ?? "/nowhere", "sessions.json");
const known = (): Record<string, number> => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});

if (fault === "dies at once") {
    process.stderr.write(`fatal: no licence ${process.env.API_KEY ?? ""}\n`);
    process.exit(3);
}
if (fault === "garbage") raw('warning: this is no JSON\n[1,2]\n"text"\n{"jsonrpc":"2.0","id":99,"result":{}}\n{"foo":1}\nnull\n');
if (fault === "ignores the end") {
    process.stdin.on("end", () => undefined);
    process.on("SIGTERM", () => undefined);
    setInterval(() => undefined, 1000);
}

const app = agent({ name: "tester" })
    .onRequest("initialize", async ({ params }) => {
        if (fault === "hangs") await new Promise(() => undefined);
        return {
            protocolVersion: fault === "protocol 99" ? 99 : fault === "protocol 2" ? 2 : 1,
            agentInfo: { name: "tester", version: "1.2.3" },
            agentCapabilities: {
                loadSession: fault !== "no load",
                promptCapabilities: { embeddedContext: fault !== "no embedding" },
                mcpCapabilities: { http: true },
            },
            authMethods: fault === "auth" ? [{ id: "login", name: "Log in with the browser" }] : [],
            _meta: { client: params.clientCapabilities },
        };
    })
    .onRequest("session/new", async ({ params, client }) => {
        if (fault === "auth") throw RequestError.authRequired();
        const id = `s${process.pid}`;
        sessions.set(id, { cancelled: false, wake: () => undefined, turns: 0, cwd: params.cwd, servers: params.mcpServers });
        writeFileSync(file, JSON.stringify({ ...known(), [id]: 0 }));
        await client.notify("session/update", {
            sessionId: id,
            update: { sessionUpdate: "available_commands_update", availableCommands: [] },
        });
        return {
            sessionId: id,
            modes: {
                currentModeId: fault === "begins askless" ? "yolo" : "ask",
                availableModes: [
                    { id: "ask", name: "Ask" },
                    { id: "code", name: "Code" },
                    { id: "yolo", name: "Yolo" },
                ],
            },
            configOptions: [
                {
                    id: "model",
                    name: "Model",
                    category: "model",
                    type: "select",
                    currentValue: "small",
                    options: [
                        { value: "small", name: "Small" },
                        { value: "large", name: "Large" },
                    ],
                },
            ],
        };
    })
    .onRequest("session/load", async ({ params, client }) => {
        if (!(params.sessionId in known())) throw new RequestError(-32002, "no such session");
        sessions.set(params.sessionId, { cancelled: false, wake: () => undefined, turns: 7, cwd: params.cwd, servers: params.mcpServers });
        const content = { type: "text", text: "what was said before" } as const;
        await client.notify("session/update", { sessionId: params.sessionId, update: { sessionUpdate: "agent_message_chunk", content } });
        return {};
    })
    .onRequest("session/set_mode", async ({ params, client }) => {
        await client.notify("session/update", {
            sessionId: params.sessionId,
            update: { sessionUpdate: "current_mode_update", currentModeId: params.modeId },
        });
        return {};
    })
    .onRequest("session/set_config_option", async ({ params }) => ({
        configOptions: [
            {
                id: "model",
                name: "Model",
                category: "model",
                type: "select",
                currentValue: String(params.value),
                options: [
                    { value: "small", name: "Small" },
                    { value: "large", name: "Large" },
                ],
            },
        ],
    }))
    .onNotification("session/cancel", ({ params }) => {
        const session = sessions.get(params.sessionId);
        if (session === undefined || ignoresCancel) return;
        session.cancelled = true;
        session.wake();
    })
    .onRequest("session/prompt", async ({ params, client }) => {
        const session = sessions.get(params.sessionId);
        if (session === undefined) throw new RequestError(-32002, "no such session");
        session.cancelled = false;
        session.turns++;
        const last = params.prompt.at(-1);
        const acts: Act[] = last?.type === "text" && last.text.startsWith("[") ? JSON.parse(last.text) : [{ do: "say", text: "Hello." }];
        const hand = handsOf(client, params.sessionId, session, params);
        let more: object = {};
        for (const act of acts) {
            if (session.cancelled) break;
            const gave = await hand(act);
            if (act.do === "stop") more = { ...more, ...(gave as object) };
        }
        return { stopReason: session.cancelled ? "cancelled" : "end_turn", ...more };
    });

/** What it can do. What an act finds out it says as a message: JSON. */
function handsOf(
    client: AgentContext,
    sessionId: string,
    session: { wake: () => void; turns: number; cwd: string; servers: unknown },
    prompt: unknown,
) {
    const update = (update: object): Promise<void> => client.notify("session/update", { sessionId, update } as never);
    const say = (text: string, more: object = {}): Promise<void> =>
        update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...more });
    const tell = (what: unknown): Promise<void> => say(`${JSON.stringify(what)}\n`);
    const tried = async (work: () => unknown): Promise<void> => {
        try {
            await tell({ ok: (await work()) ?? null });
        } catch (error) {
            const { code, message } = error as { code?: unknown; message: string };
            await tell({ no: code ?? message });
        }
    };
    return async (act: Act): Promise<unknown> => {
        const text = String(act.text ?? "");
        const path = String(act.path ?? "");
        switch (act.do) {
            case "say":
                return say(text, (act.more ?? {}) as object);
            case "think":
                return update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
            case "update":
                return update(act.update as object);
            case "stop":
                return act.with as object;
            case "about":
                return tell({ cwd: session.cwd, turns: session.turns, servers: session.servers, prompt });
            case "wait":
                return new Promise((done) => {
                    session.wake = () => done(undefined);
                    setTimeout(done, Number(act.ms ?? 60_000));
                });
            case "spin":
                for (;;) {
                    await say("x");
                    await later(1);
                    if ((sessions.get(sessionId) as { cancelled: boolean }).cancelled) return;
                }
            case "permission":
                for (let i = 0; i < Number(act.times ?? 1); i++)
                    await tried(async () => {
                        const options = (act.options ?? [
                            { optionId: "A", name: "Always", kind: "allow_always" },
                            { optionId: "a", name: "Yes", kind: "allow_once" },
                            { optionId: "r", name: "No", kind: "reject_once" },
                        ]) as never;
                        const asked = client.request("session/request_permission", { sessionId, toolCall: act.call as never, options });
                        return ((await asked) as { outcome: object }).outcome;
                    });
                return;
            case "request":
                return tried(() => client.request(String(act.method), { sessionId, ...(act.params as object) }));
            // the same until the answer's output holds a text
            case "poll":
                return tried(async () => {
                    for (;;) {
                        const said = (await client.request(String(act.method), { sessionId, ...(act.params as object) })) as {
                            output: string;
                        };
                        if (said.output.includes(text)) return said;
                        await new Promise((done) => setTimeout(done, 20));
                    }
                });
            case "notify":
                return client.notify(String(act.method), act.params);
            case "file":
                return tried(() => readFileSync(path, "utf8"));
            case "folder":
                return tried(() => readdirSync(path));
            case "write":
                return tried(() => writeFileSync(path, text));
            case "append":
                return tried(() => appendFileSync(path, text));
            case "env":
                return tell(process.env[String(act.name)] ?? null);
            case "run": {
                const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", text], { encoding: "utf8", timeout: 20_000 });
                return tell({ status, stdout, stderr });
            }
            case "leave": {
                const left = spawn("sleep", [String(act.seconds ?? 600)], { detached: true, stdio: "ignore" });
                left.unref();
                return tell({ pid: left.pid });
            }
            case "dial":
                return tried(
                    () =>
                        new Promise((done, fail) => {
                            const socket = connect(Number(act.port), String(act.host ?? "127.0.0.1"));
                            socket.setTimeout(3000, () => socket.destroy(new Error("timeout")));
                            socket.once("connect", () => {
                                socket.destroy();
                                done("connected");
                            });
                            socket.once("error", fail);
                        }),
                );
            case "fetch":
                return tried(async () => {
                    const answer = await fetch(String(act.url));
                    return `${answer.status} ${await answer.text()}`;
                });
            case "kill":
                return tried(() => process.kill(Number(act.pid), String(act.signal ?? "SIGKILL") as NodeJS.Signals));
            case "raw":
                return raw(text);
            case "huge":
                return raw(`{"jsonrpc":"2.0","method":"x","params":"${"y".repeat(Number(act.bytes))}"}\n`);
            case "complain":
                return void process.stderr.write(text);
            case "crash":
                process.stderr.write(`panic: out of luck ${process.env.API_KEY ?? ""}\n`);
                await later(50);
                process.exit(7);
        }
        throw new Error(`no act '${act.do}'`);
    };
}

app.connect(
    ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
);
