/**
 * What the tests' agent does, wherever it runs: made with the SDK's agent side. What it does in a turn is a list of acts: given as JSON in the
 * prompt's last text block, or, for each turn of the session, in the parameter `acts` of the handshake that opened it.
 */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { agent, type AgentApp, type AgentContext, RequestError } from "@agentclientprotocol/sdk";

export type Act = { readonly do: string; readonly [key: string]: unknown };

/** Where it runs. */
export interface Stage {
    /** What it does wrong. */
    readonly fault?: string;
    /** Folder in which it keeps its sessions; absent where it keeps none. */
    readonly home?: string;
    readonly raw: (text: string | Uint8Array) => void;
    /** Ends what carries it, in the middle of whatever is done. */
    readonly crash: () => unknown;
    /** Told of the requests and notices that open, use and end a session. */
    readonly log?: (method: string) => void;
}

const later = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

interface Session {
    cancelled: boolean;
    wake: () => void;
    turns: number;
    readonly cwd: string;
    readonly servers: unknown;
    /** Acts of the turns to come. */
    script: Act[][] | null;
}

/** The acts that the handshake in a prompt holds for each turn. */
function scriptOf(prompt: readonly unknown[]): Act[][] | null {
    for (const { resource } of prompt as readonly { resource?: { uri: string; text: string } }[]) {
        if (resource?.uri.startsWith("remit:") !== true) continue;
        const { params = [] } = JSON.parse(resource.text) as { params?: { name: string; value: string }[] };
        const given = params.find(({ name }) => name === "acts");
        if (given !== undefined) return JSON.parse(given.value) as Act[][];
    }
    return null;
}

export function actor(stage: Stage): AgentApp {
    const { fault = "", log = () => undefined } = stage;
    const sessions = new Map<string, Session>();
    const file = stage.home === undefined ? null : join(stage.home, "sessions.json");
    const known = (): Record<string, number> => (file !== null && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});
    return agent({ name: "tester" })
        .onRequest("initialize", async ({ params }) => {
            log("initialize");
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
            log("session/new");
            sessions.set(id, {
                cancelled: false,
                wake: () => undefined,
                turns: 0,
                cwd: params.cwd,
                servers: params.mcpServers,
                script: null,
            });
            if (file !== null) writeFileSync(file, JSON.stringify({ ...known(), [id]: 0 }));
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
                        ...(fault === "modes of codex" ? ["read-only", "agent-full-access"].map((id) => ({ id, name: id })) : []),
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
            sessions.set(params.sessionId, {
                cancelled: false,
                wake: () => undefined,
                turns: 7,
                cwd: params.cwd,
                servers: params.mcpServers,
                script: null,
            });
            const content = { type: "text", text: "what was said before" } as const;
            await client.notify("session/update", {
                sessionId: params.sessionId,
                update: { sessionUpdate: "agent_message_chunk", content },
            });
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
            log("session/cancel");
            const session = sessions.get(params.sessionId);
            if (session === undefined || fault === "ignores cancel") return;
            session.cancelled = true;
            session.wake();
        })
        .onRequest("session/prompt", async ({ params, client }) => {
            const session = sessions.get(params.sessionId);
            if (session === undefined) throw new RequestError(-32002, "no such session");
            log("session/prompt");
            session.cancelled = false;
            session.turns++;
            session.script ??= scriptOf(params.prompt);
            const last = params.prompt.at(-1);
            const given: Act[] =
                last?.type === "text" && last.text.startsWith("[") ? JSON.parse(last.text) : [{ do: "say", text: "Hello." }];
            const acts = session.script?.shift() ?? given;
            const hand = handsOf(client, params.sessionId, session, params, stage);
            let more: object = {};
            for (const act of acts) {
                if (session.cancelled) break;
                const gave = await hand(act);
                if (act.do === "stop") more = { ...more, ...(gave as object) };
            }
            return { stopReason: session.cancelled ? "cancelled" : "end_turn", ...more };
        });
}

/** What it can do. What an act finds out it says as a message: JSON. */
function handsOf(client: AgentContext, sessionId: string, session: Session, prompt: unknown, { raw, crash }: Stage) {
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
                    if (session.cancelled) return;
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
            // in pieces
            case "spell":
                for (const piece of (process.env[String(act.name)] ?? "").match(/.{1,5}/g) ?? []) await say(piece);
                return;
            case "run": {
                const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", text], { encoding: "utf8", timeout: 300_000 });
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
                return raw(act.encoding === undefined ? text : Buffer.from(text, String(act.encoding) as BufferEncoding));
            case "huge":
                return raw(`{"jsonrpc":"2.0","method":"x","params":"${"y".repeat(Number(act.bytes))}"}\n`);
            case "complain":
                return void process.stderr.write(text);
            case "crash":
                return crash();
        }
        throw new Error(`no act '${act.do}'`);
    };
}
