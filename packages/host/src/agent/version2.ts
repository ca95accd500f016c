/**
 * Version 2 of the Agent Client Protocol, a draft, in the words of version 1: one stream of messages becomes another.
 *
 * Boundary: translates and decides nothing. What a session does is `session.ts`, whichever version is spoken. Source: the protocol's schema of
 * version 2 as the SDK publishes it (`schema/v2`).
 *
 * VR1: in version 2 the answer to a prompt only says that it was taken; its end is the state `idle`. Here the answer waits for that state, of work
 *     that began after the prompt was sent.
 * VR2: version 2 has no files and no terminals of the client; its agents are announced none.
 * VR3: what is not translated passes as it is: version 1 has rules for what it does not know.
 */
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { type Given, objectOf } from "./given.ts";
import { weightOf } from "./reported.ts";

type Id = string | number;

const VERSION = 2;
const INTERNAL = -32603;
/** Messages that came in pieces, and content of a call that comes in pieces: what is beyond is not remembered. */
const MAX_PIECES = 10_000;
const MAX_ID = 1_000;
const MAX_CALLS = 1_000;
const MAX_CONTENT = 256 * 1024;

interface Prompt {
    readonly id: Id;
    /** Work was seen since it was sent. */
    began: boolean;
    taken: boolean;
    /** How its work ended. */
    over: Given | null;
}

export function version2(raw: Stream): Stream {
    const words = new Translation();
    const outward = new TransformStream<AnyMessage, AnyMessage>({ transform: (message, out) => out.enqueue(words.outward(message)) });
    const inward = new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, out) => {
            for (const one of words.inward(message)) out.enqueue(one as AnyMessage);
        },
    });
    // A pipe that breaks ends the connection, which its client is told.
    outward.readable.pipeTo(raw.writable).catch(() => undefined);
    return { writable: outward.writable, readable: raw.readable.pipeThrough(inward) };
}

class Translation {
    /** Requests of ours without an answer, by id. */
    private readonly asked = new Map<Id, string>();
    private prompt: Prompt | null = null;
    private takesStdio = false;
    /** Messages that came in pieces: the whole that follows says nothing new. */
    private readonly pieces = new Set<string>();
    private readonly contents = new Map<string, readonly unknown[]>();

    outward(message: AnyMessage): AnyMessage {
        const { id, method, params } = objectOf(message);
        if (typeof method !== "string" || !isId(id)) return message;
        this.asked.set(id, method);
        if (method === "session/prompt") this.prompt = { id, began: false, taken: false, over: null };
        return { ...objectOf(message), ...this.request(method, objectOf(params)) } as AnyMessage;
    }

    inward(message: AnyMessage): unknown[] {
        const told = this.told(objectOf(message));
        const { prompt } = this;
        if (prompt?.taken !== true || prompt.over === null) return told;
        this.prompt = null;
        return [...told, { jsonrpc: "2.0", id: prompt.id, ...prompt.over }];
    }

    private request(method: string, params: Given): Given {
        switch (method) {
            case "initialize": {
                const { clientInfo, clientCapabilities } = params;
                const { elicitation } = objectOf(clientCapabilities);
                const capabilities = elicitation === undefined ? {} : { elicitation };
                return { params: { protocolVersion: VERSION, info: clientInfo, capabilities } };
            }
            case "session/new":
                return { params: this.placed(params) };
            case "session/load":
                return { method: "session/resume", params: this.placed(params) };
            case "session/set_config_option":
                return { params: { ...params, type: typeof params.value === "boolean" ? "boolean" : "id" } };
            default:
                return {};
        }
    }

    private placed(params: Given): Given {
        const servers = Array.isArray(params.mcpServers) ? params.mcpServers.map(objectOf) : [];
        const named = servers.map((one) => (one.type === undefined ? { type: "stdio", ...one } : one));
        return { ...params, mcpServers: named.filter((one) => one.type !== "stdio" || this.takesStdio) };
    }

    private told(given: Given): unknown[] {
        const { id, method, params } = given;
        if (method === "session/update") {
            const { update, ...rest } = objectOf(params);
            const { sessionUpdate } = objectOf(update);
            if (sessionUpdate === "state_update") this.state(objectOf(update));
            return this.updates(objectOf(update)).map((one) => ({ ...given, params: { ...rest, update: one } }));
        }
        if (method === "session/request_permission") return [{ ...given, params: permission(objectOf(params)) }];
        const question = method === undefined && isId(id) ? this.asked.get(id) : undefined;
        if (question === undefined) return [given];
        this.asked.delete(id as Id);
        const { prompt } = this;
        if (question !== "session/prompt" || prompt === null || prompt.id !== id || !("result" in given))
            return ["result" in given ? this.answer(question, given) : given];
        prompt.taken = true;
        return [];
    }

    private answer(question: string, given: Given): Given {
        const result = objectOf(given.result);
        switch (question) {
            case "initialize": {
                const { protocolVersion, info, capabilities, authMethods } = result;
                const said = typeof protocolVersion === "number" ? protocolVersion : "nothing";
                const message = `it speaks version ${said} of the Agent Client Protocol, and its configuration says ${VERSION}`;
                if (protocolVersion !== VERSION) return { jsonrpc: "2.0", id: given.id, error: { code: INTERNAL, message } };
                const { prompt: prompts, mcp } = objectOf(objectOf(capabilities).session);
                this.takesStdio = isGiven(objectOf(mcp).stdio);
                const agentCapabilities = {
                    loadSession: true,
                    promptCapabilities: { embeddedContext: isGiven(objectOf(prompts).embeddedContext) },
                    mcpCapabilities: { http: isGiven(objectOf(mcp).http), sse: false },
                };
                return { ...given, result: { protocolVersion: 1, agentInfo: info, agentCapabilities, authMethods } };
            }
            case "session/new":
            case "session/load":
            case "session/set_config_option":
                return { ...given, result: { ...result, ...optionsOf(result.configOptions) } };
            default:
                return given;
        }
    }

    private state({ state, stopReason, error }: Given): void {
        const { prompt } = this;
        if (prompt === null) return;
        if (state !== "idle") prompt.began = true;
        else if (prompt.began || prompt.taken)
            prompt.over =
                stopReason === "error"
                    ? { error: { code: INTERNAL, message: String(objectOf(error).message ?? "it failed") } }
                    : { result: { stopReason: stopReason ?? "end_turn" } };
    }

    private updates(update: Given): readonly Given[] {
        const { pieces } = this;
        const { sessionUpdate: kind, messageId, content, toolCallId } = update;
        const id = String(toolCallId);
        switch (kind) {
            case "agent_message_chunk":
            case "agent_thought_chunk":
                if (pieces.size < MAX_PIECES && String(messageId).length <= MAX_ID) pieces.add(`${kind} ${String(messageId)}`);
                return [update];
            case "agent_message":
            case "agent_thought":
                if (pieces.has(`${kind}_chunk ${String(messageId)}`) || !Array.isArray(content)) return [];
                return content.map((one: unknown) => ({ sessionUpdate: `${kind}_chunk`, messageId, content: one }));
            case "tool_call_update":
                if (Array.isArray(content)) this.keep(id, content);
                return [called(update)];
            case "tool_call_content_chunk": {
                const all = [...(this.contents.get(id) ?? []), content];
                this.keep(id, all);
                return [called({ sessionUpdate: "tool_call_update", toolCallId, content: all })];
            }
            case "plan_update": {
                const { type, entries } = objectOf(update.plan);
                return type === "items" ? [{ sessionUpdate: "plan", entries }] : [];
            }
            // A sign of life, and nothing to tell.
            case "state_update":
                return [{ sessionUpdate: "session_info_update" }];
            default:
                return [update];
        }
    }

    /** Remembered as far as there is room for it. */
    private keep(id: string, all: readonly unknown[]): void {
        const { contents } = this;
        if (id.length > MAX_ID || (!contents.has(id) && contents.size >= MAX_CALLS)) return;
        if ((weightOf(all, MAX_CONTENT) ?? MAX_CONTENT) < MAX_CONTENT) contents.set(id, all);
    }
}

/**
 * A call of a tool. In version 2 a difference is a list of changes: their places are told, and one that takes something away is no mere edit. Their
 * new content is not there to be told.
 */
function called(update: Given): Given {
    const { status, content, locations } = update;
    const changes = Array.isArray(content) ? content.flatMap(changesOf) : [];
    const paths = changes.map(({ path }) => path).filter((path) => typeof path === "string");
    return {
        ...update,
        ...(changes.some(({ operation }) => operation !== "add" && operation !== "modify") ? { kind: "delete" } : {}),
        ...(status === "cancelled" ? { status: "failed" } : status === "paused" ? { status: "in_progress" } : {}),
        ...(Array.isArray(content) ? { content: content.flatMap(partsOf) } : {}),
        ...(paths.length === 0 ? {} : { locations: [...(Array.isArray(locations) ? locations : []), ...paths.map((path) => ({ path }))] }),
    };
}

function changesOf(part: unknown): readonly Given[] {
    const { type, changes } = objectOf(part);
    return type === "diff" && Array.isArray(changes) ? changes.map(objectOf) : [];
}

function partsOf(part: unknown): readonly unknown[] {
    const changes = changesOf(part);
    if (changes.length === 0) return [part];
    return changes.map(({ operation, path }) => ({
        type: "content",
        content: { type: "text", text: `${String(operation)} ${String(path)}` },
    }));
}

/** A question about a command is one about a call that executes it. */
function permission(params: Given): Given {
    const { subject, title, ...rest } = params;
    const { type, toolCall, command, cwd, toolCallId } = objectOf(subject);
    if (type === "tool_call") return { ...rest, toolCall: called(objectOf(toolCall)) };
    if (type === "command")
        return {
            ...rest,
            toolCall: {
                toolCallId: typeof toolCallId === "string" ? toolCallId : `command ${String(command)}`,
                title,
                kind: "execute",
                rawInput: { command, cwd },
            },
        };
    return { ...rest, toolCall: { toolCallId: `question ${String(title)}`, title } };
}

/** Options as version 1 names them, and the mode among them as its modes. */
function optionsOf(given: unknown): Given {
    if (!Array.isArray(given)) return {};
    const configOptions = given.map(objectOf).map((one) => ({ ...one, id: one.configId }) as Given);
    const mode = configOptions.find((one) => one.category === "mode");
    return { configOptions, ...(mode === undefined ? {} : { modes: { currentModeId: mode.currentValue, availableModes: [] } }) };
}

function isId(id: unknown): id is Id {
    return typeof id === "string" || typeof id === "number";
}

function isGiven(value: unknown): boolean {
    return value !== undefined && value !== null;
}
