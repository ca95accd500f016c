/**
 * One session with an agent over the Agent Client Protocol, version 1: opened at its first turn, ended by its owner.
 *
 * Boundary: order of requests, limits and ends. What is served is in `serve.ts`, what was told in `transcript.ts`, the process in `confine.ts`.
 *
 * C1: only capabilities are announced that are served, and the version that counts is the one in the answer.
 * C2: a turn that is to end is cancelled first; an agent that does not answer within its grace time is killed, with all it started.
 * C3: a turn that ended early fails with what there was of its reply in `detail.reply`.
 * C4: a mode that asks for nothing is chosen only in a sandbox.
 * C5: a limit on tokens or cost with an agent that reports none of it fails after the first turn, unless steps or time are bounded, too.
 */
import type { Stream } from "@agentclientprotocol/sdk";
import type { Json } from "@remit/language";
import type { AgentReply, AgentTurn, Effect, FailureKind, Outcome, Usage } from "@remit/machine";
import type { PerformIO } from "../run/host.ts";
import { AgentFail, failureOf } from "./fail.ts";
import { fileHands, gateOf } from "./hands.ts";
import { type Link, link, refusedBy, type Sdk, type Trace } from "./link.ts";
import { serving, type Serving } from "./serve.ts";
import { objectOf, Transcript } from "./transcript.ts";

/** What carries the messages, and what ends it. */
export interface Carrier {
    readonly stream: Stream;
    readonly confinement: AgentReply["confinement"];
    readonly cwd: string;
    /** Why nothing more comes, once it is so: the end of a process, the last of its standard error. */
    lost(): Promise<{ readonly message: string; readonly stderr?: string }>;
    alive(): boolean;
    stop(graceMs: number): Promise<void>;
}

export interface SessionOptions {
    readonly sdk: Sdk;
    /** Opens it; again where it was lost. */
    readonly carry: () => Promise<Carrier>;
    readonly name: string;
    readonly workspace: string;
    readonly mode: string | undefined;
    readonly options: { readonly [id: string]: string | boolean };
    readonly graceMs: number;
    /** Servers of tools that are passed on, as far as the agent takes them. */
    readonly servers: (capabilities: { readonly http: boolean; readonly sse: boolean }, turn: AgentTurn) => readonly Json[];
    readonly meta?: ((effect: Effect) => { readonly [key: string]: string } | undefined) | undefined;
    readonly trace?: Trace | undefined;
    /** What whoever watches is told before its first turn, a sentence each. */
    readonly notices?: readonly string[];
    /** Milliseconds for an agent to start and say hello. */
    readonly startMs?: number;
    readonly close: () => Promise<void>;
}

export interface AgentSession {
    turn(turn: AgentTurn, effect: Effect, io: PerformIO): Promise<Outcome>;
    end(): Promise<void>;
}

const START_MS = 60_000;
const STOPS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] as const;
const VERSION = 1;
/** Modes in which an agent asks nobody. */
const ASKS_NOBODY = /bypass|yolo|full.?access|dangerous|never.?ask|auto.?(approve|edit|accept)|accept.?(all|edits)|don.?t.?ask/i;

interface Open {
    readonly carrier: Carrier;
    readonly link: Link;
    readonly capabilities: Given;
    readonly auth: readonly string[];
    agent: AgentReply["agent"];
}
interface Given {
    readonly [key: string]: unknown;
}

export function acpSession(options: SessionOptions): AgentSession {
    const { sdk, name, graceMs } = options;
    let open: Open | null = null;
    let id: string | null = null;
    let current: (Serving & { readonly changed: () => void }) | null = null;
    let cost: number | undefined;
    let over = false;
    let noticed = false;
    /** Begun, and not in a session yet. */
    let starting: Carrier | null = null;

    const serve = serving({ sdk, name, session: () => id, current: () => current });

    function update(params: unknown): void {
        const { sessionId, update: said } = objectOf(params);
        if (current === null || sessionId !== id) return;
        current.transcript.update(said);
        const { sessionUpdate, content } = objectOf(said);
        const { type, text } = objectOf(content);
        if (sessionUpdate === "agent_message_chunk" && type === "text" && typeof text === "string")
            current.io.emit({ type: "text", delta: text });
        current.changed();
    }

    async function connected(turn: AgentTurn): Promise<Open> {
        const carrier = await options.carry();
        starting = carrier;
        const made = link({ sdk, stream: carrier.stream, serve, update, life: () => current?.changed(), trace: options.trace });
        try {
            const files = fileHands(turn.hands, options.workspace);
            const has = (method: string): boolean => files.some(({ hand }) => gateOf(hand, method) !== null);
            const said = await answer(carrier, made, "initialize", "to begin", {
                protocolVersion: VERSION,
                clientInfo: { name: "remit", title: "Remit", version: "0.1.0" },
                clientCapabilities: {
                    fs: { readTextFile: has("read"), writeTextFile: has("write") },
                    terminal: turn.hands.some((hand) => hand.uri.startsWith("shell:") && gateOf(hand, "run") !== null),
                    elicitation: { form: {} },
                },
            });
            if (said.protocolVersion !== VERSION)
                throw new AgentFail(
                    "unreachable",
                    `it speaks version ${shown(said.protocolVersion)} of the Agent Client Protocol, not ${VERSION}`,
                );
            const { name: title, version } = objectOf(said.agentInfo);
            const auth = Array.isArray(said.authMethods) ? said.authMethods.map(objectOf) : [];
            return {
                carrier,
                link: made,
                capabilities: objectOf(said.agentCapabilities),
                auth: auth.map((one) => String(one.name ?? one.id ?? "")).filter((one) => one !== ""),
                agent: typeof title === "string" ? { name: title, version: typeof version === "string" ? version : "" } : undefined,
            };
        } catch (error) {
            made.close();
            await carrier.stop(graceMs);
            throw error;
        }
    }

    /** Asks, and gives up when the agent is lost. */
    async function answer(
        carrier: Carrier,
        to: Link,
        method: string,
        what: string,
        params: unknown,
        auth: readonly string[] = [],
    ): Promise<Given> {
        const gone = to.closed.then(() => "gone" as const);
        try {
            const said = await Promise.race([to.request(method, params), gone]);
            if (said === "gone") throw await lostBy(carrier);
            return objectOf(said);
        } catch (error) {
            if (error instanceof AgentFail) throw error;
            if (!carrier.alive() || !(error instanceof sdk.RequestError)) throw await lostBy(carrier, error);
            if (error.code === -32000)
                throw new AgentFail("unreachable", "it wants to be authenticated first", {
                    hint: `${auth.length === 0 ? "" : `it offers: ${auth.join(", ").slice(0, 500)}. `}Give it its key: agents.NAME.env in remit.json, {"KEY": "$KEY"}`,
                });
            throw refusedBy(sdk, error, what);
        }
    }
    async function lostBy(carrier: Carrier, error?: unknown): Promise<AgentFail> {
        if (error instanceof sdk.MessageTooLargeError)
            return new AgentFail("unreachable", `it sent a message of more than ${error.maxMessageBytes} bytes`);
        const { message, stderr } = await carrier.lost();
        return new AgentFail("unreachable", message, {
            ...(stderr === undefined || stderr === "" ? {} : { detail: { stderr }, hint: `it wrote: ${stderr.slice(-1000)}` }),
        });
    }

    /** A session in a connection: a new one, or the one that was lost. */
    async function begin(at: Open, turn: AgentTurn): Promise<void> {
        const { http, sse } = objectOf(at.capabilities.mcpCapabilities);
        const mcpServers = options.servers({ http: http === true, sse: sse === true }, turn);
        const place = { cwd: at.carrier.cwd, mcpServers };
        if (id !== null) {
            await answer(at.carrier, at.link, "session/load", "to take the session up again", { sessionId: id, ...place }, at.auth);
            return;
        }
        const said = await answer(at.carrier, at.link, "session/new", "a session", place, at.auth);
        if (typeof said.sessionId !== "string") throw new AgentFail("unreachable", "it opened no session");
        id = said.sessionId;
        await chosen(at, said, turn);
    }

    /** Modes and options, as far as somebody wishes them. */
    async function chosen(at: Open, said: Given, turn: AgentTurn): Promise<void> {
        const modes = objectOf(said.modes);
        const known = Array.isArray(modes.availableModes) ? modes.availableModes.map(objectOf) : [];
        const confined = at.carrier.confinement === "sandbox";
        const askless = (mode: unknown): boolean => {
            const row = known.find((one) => one.id === mode);
            return ASKS_NOBODY.test(`${String(mode)} ${String(row?.name ?? "")}`);
        };
        let config = Array.isArray(said.configOptions) ? said.configOptions.map(objectOf) : [];
        const ask = (method: string, what: string, params: Given): Promise<Given> =>
            answer(at.carrier, at.link, method, what, { sessionId: id, ...params }, at.auth);
        const set = async (configId: string, value: string | boolean): Promise<void> => {
            const given = { configId, value, ...(typeof value === "boolean" ? { type: "boolean" } : {}) };
            const after = await ask("session/set_config_option", `the option ${configId}`, given);
            if (Array.isArray(after.configOptions)) config = after.configOptions.map(objectOf);
        };
        if (options.mode !== undefined) {
            if (!confined && askless(options.mode))
                throw new AgentFail("denied", `in the mode '${options.mode}' it asks for nothing, which takes a sandbox`, {
                    hint: "choose another mode in agents.NAME.mode",
                });
            const asOption = config.find((one) => one.category === "mode");
            if (asOption !== undefined && typeof asOption.id === "string") await set(asOption.id, options.mode);
            else if (known.some((one) => one.id === options.mode))
                await ask("session/set_mode", `the mode ${options.mode}`, { modeId: options.mode });
            else
                throw new AgentFail("unreachable", `it has no mode '${options.mode}'`, {
                    hint: `it has ${known.map((one) => String(one.id)).join(", ") || "none"}`,
                });
        } else if (!confined && askless(modes.currentModeId))
            throw new AgentFail(
                "denied",
                `it begins in the mode '${shown(modes.currentModeId)}', in which it asks for nothing: that takes a sandbox`,
                {
                    hint: "choose a mode in agents.NAME.mode of remit.json",
                },
            );
        for (const [option, value] of Object.entries(options.options)) {
            if (!confined && ASKS_NOBODY.test(`${option} ${String(value)}`))
                throw new AgentFail(
                    "denied",
                    `its option '${option}' would be '${String(value)}', with which it asks for nothing: that takes a sandbox`,
                );
            await set(option, value);
        }
        const model = config.find((one) => one.category === "model");
        if (turn.model !== undefined && typeof model?.id === "string" && offers(model, turn.model)) await set(model.id, turn.model);
        const now = config.find((one) => one.category === "model")?.currentValue ?? objectOf(said.models).currentModelId;
        if (typeof now === "string" && at.agent !== undefined) at.agent = { ...at.agent, model: now };
    }

    async function ready(turn: AgentTurn): Promise<Open> {
        if (over) throw new AgentFail("unreachable", "its session is over");
        if (open?.carrier.alive() === true) return open;
        const before = open;
        open = null;
        if (before !== null) {
            before.link.close();
            await before.carrier.stop(graceMs);
        }
        if (id === null && turn.turn > 0 && turn.fresh !== true)
            throw new AgentFail("unreachable", "its process was lost, and its session with it", {
                hint: "run it again from the beginning of the yield",
            });
        const made = await connected(turn);
        try {
            if (id !== null && made.capabilities.loadSession !== true)
                throw new AgentFail("unreachable", "its process was lost, and it cannot take a session up again");
            await begin(made, turn);
        } catch (error) {
            made.link.close();
            await made.carrier.stop(graceMs);
            throw error;
        }
        open = made;
        starting = null;
        return made;
    }

    async function drop(): Promise<void> {
        const was = open;
        const begun = starting;
        open = null;
        starting = null;
        was?.link.close();
        await Promise.all([was?.carrier.stop(graceMs), begun?.stop(graceMs)]);
    }

    async function prompted(at: Open, turn: AgentTurn, effect: Effect, io: PerformIO): Promise<Outcome> {
        const { limits } = turn;
        const said = new Transcript({ limits, costBefore: cost, note: io.note });
        io.note?.({ about: { confinement: at.carrier.confinement, ...(at.agent === undefined ? {} : { agent: at.agent }) } });
        const stopping = new AbortController();
        let halted: { readonly kind: FailureKind; readonly message: string } | null = null;
        /** Requests of the agent that are being answered. */
        const works = new Set<Promise<unknown>>();
        let silence: NodeJS.Timeout | undefined;
        let grace: NodeJS.Timeout | undefined;
        let killed = false;

        const halt = (kind: FailureKind, message: string): void => {
            if (halted !== null) return;
            halted = { kind, message };
            stopping.abort();
            // Where it cannot be told any more, it has ended.
            at.link.notify("session/cancel", { sessionId: id }).catch(() => undefined);
            grace = setTimeout(() => {
                killed = true;
                void drop();
            }, graceMs);
        };
        const listen = (): void => {
            clearTimeout(silence);
            if (limits.silence === undefined || works.size > 0 || stopping.signal.aborted) return;
            silence = setTimeout(() => halt("timeout", `it gave no sign of life for ${limits.silence} ms`), limits.silence);
        };
        const onAbort = (): void => halt("cancelled", io.signal.reason instanceof Error ? io.signal.reason.message : "it was cancelled");
        current = {
            effect,
            io,
            hands: turn.hands,
            files: fileHands(turn.hands, options.workspace),
            workspace: options.workspace,
            cwd: at.carrier.cwd,
            transcript: said,
            stopped: stopping.signal,
            busy: (work) => {
                const over = (): void => {
                    works.delete(work);
                    listen();
                };
                works.add(work);
                listen();
                work.then(over, over);
            },
            flooded: () => halt("limit.calls", "it asked for more than anybody can answer in a turn"),
            changed: () => {
                const breach = said.breach;
                if (breach !== null) halt(breach.kind, breach.message);
                listen();
            },
        };
        const reply = (stop: AgentReply["stop"]): AgentReply => said.reply({ stop, confinement: at.carrier.confinement, agent: at.agent });
        const failed = (kind: FailureKind, message: string, hint?: string): AgentFail =>
            new AgentFail(kind, message, {
                detail: { reply: reply("cancelled") as unknown as Json },
                ...(hint === undefined ? {} : { hint }),
                ...usageOf(said.usage()),
            });
        try {
            if (io.signal.aborted) onAbort();
            else io.signal.addEventListener("abort", onAbort, { once: true });
            // Ends with the turn or with the run's time; a wait that is cut short says what the signal says.
            if (limits.ms !== undefined)
                io.wait(limits.ms).then(
                    () => halt("limit.time", `it may take ${limits.ms} ms`),
                    () => undefined,
                );
            listen();
            const traced = io.traceparent === undefined ? undefined : { traceparent: io.traceparent };
            const meta = options.meta?.(effect) ?? traced;
            let response: Given;
            try {
                response = await answer(
                    at.carrier,
                    at.link,
                    "session/prompt",
                    "the prompt",
                    { sessionId: id, prompt: blocks(turn, at.capabilities), ...(meta === undefined ? {} : { _meta: meta }) },
                    at.auth,
                );
            } catch (error) {
                const why = halted as { kind: FailureKind; message: string } | null;
                if (why !== null) throw failed(why.kind, why.message);
                if (!(error instanceof AgentFail)) throw error;
                const detail = { ...error.detail, reply: reply("cancelled") as unknown as Json };
                throw new AgentFail(error.kind, error.message, {
                    detail,
                    ...(error.hint === undefined ? {} : { hint: error.hint }),
                    ...usageOf(said.usage()),
                });
            }
            said.answered(response);
            cost = said.cost;
            const why = (halted as { kind: FailureKind; message: string } | null) ?? said.breach;
            if (why !== null) throw failed(why.kind, why.message);
            const stop = STOPS.find((one) => one === response.stopReason);
            if (stop === undefined)
                throw failed("invalid_payload", `it ended its turn with '${shown(response.stopReason)}', which is no reason to stop`);
            const usage = said.usage();
            const unsaid =
                limits.tokens !== undefined && usage?.input === undefined
                    ? "tokens"
                    : limits.usd !== undefined && usage?.usd === undefined
                      ? "cost"
                      : null;
            if (unsaid !== null && limits.ms === undefined && limits.steps === undefined)
                throw failed(
                    unsaid === "tokens" ? "limit.tokens" : "limit.cost",
                    `it does not report its ${unsaid}, so that a limit on them bounds nothing`,
                    "bound its turns or its time as well",
                );
            return { ok: true, value: reply(stop) as unknown as Json, origins: [`agent:${turn.agent.name}`], ...usageOf(usage) };
        } finally {
            current = null;
            stopping.abort();
            clearTimeout(silence);
            clearTimeout(grace);
            io.signal.removeEventListener("abort", onAbort);
            if (killed) await drop();
            // What it left under way stops with its turn; each tells how it ended before the turn does.
            await settled(works, graceMs);
        }
    }

    return {
        turn: async (turn, effect, io) => {
            if (!noticed) for (const text of options.notices ?? []) io.emit({ type: "notice", text });
            noticed = true;
            try {
                return await prompted(await within(ready(turn), io.signal, options.startMs ?? START_MS), turn, effect, io);
            } catch (error) {
                if (!(error instanceof AgentFail)) throw error;
                if (open === null || !open.carrier.alive()) await drop();
                return { ok: false, failure: failureOf(error, turn.agent.name, effect), ...usageOf(error.usage) };
            }
        },
        end: async () => {
            over = true;
            await drop();
            await options.close();
        },
    };

    /** The start of an agent, which may take long, or be called off. What comes too late is ended. */
    async function within(work: Promise<Open>, signal: AbortSignal, ms: number): Promise<Open> {
        let late = false;
        const started = Promise.withResolvers<Open>();
        const give = (error: AgentFail): void => {
            late = true;
            started.reject(error);
            void drop();
        };
        const onAbort = (): void => give(new AgentFail("cancelled", "it was cancelled while it started"));
        const timer = setTimeout(() => give(new AgentFail("unreachable", `it did not say hello within ${ms} ms`)), ms);
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
        work.then((made) => (late ? drop() : started.resolve(made)), started.reject);
        try {
            return await started.promise;
        } finally {
            clearTimeout(timer);
            signal.removeEventListener("abort", onAbort);
        }
    }
}

async function settled(works: ReadonlySet<Promise<unknown>>, ms: number): Promise<void> {
    if (works.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([Promise.allSettled(works), new Promise((done) => (timer = setTimeout(done, ms)))]);
    clearTimeout(timer);
}

function usageOf(usage: Usage | undefined): { readonly usage?: Usage } {
    return usage === undefined ? {} : { usage };
}

function offers(option: Given, value: string): boolean {
    const all = Array.isArray(option.options) ? option.options.map(objectOf) : [];
    return all.some(
        (one) => one.value === value || (Array.isArray(one.options) && one.options.map(objectOf).some((inner) => inner.value === value)),
    );
}

/** Embedded documents where the agent takes them, else as text. */
function blocks({ prompt }: AgentTurn, capabilities: Given): Json[] {
    const embedded = objectOf(capabilities.promptCapabilities).embeddedContext === true;
    return prompt.map((part): Json => {
        if (part.type === "text") return { type: "text", text: part.text };
        const { uri, mediaType, text } = part;
        if (embedded) return { type: "resource", resource: { uri, mimeType: mediaType, text } };
        return { type: "text", text: `Document ${uri} (${mediaType}):\n${text}` };
    });
}

function shown(value: unknown): string {
    return typeof value === "string" || typeof value === "number" ? String(value).slice(0, 100) : "nothing";
}
