/**
 * A program as a server of the Model Context Protocol: its main func, functions and agents are tools. Both eras of the protocol, over standard input
 * and output and over HTTP.
 *
 * Boundary: the SDK's server around calls (`calls.ts`); HTTP is `http.ts`'s.
 *
 * MCS1: what a client sends is the word of its model, not of the user: its origin is `mcp:CLIENT`, unless the caller that starts the server
 *     says otherwise.
 * MCS2: a failure of a run is a result that says so, with its kind; no text of this process but that goes out.
 * MCS3: what a client keeps between rounds is sealed with a key of this process and bound to the call.
 */
import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import {
    type CallToolResult,
    createRequestStateCodec,
    fromJsonSchema,
    inputRequired,
    type InputRequiredResult,
    McpServer,
    type McpServerFactory,
    type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { load, type LoadOptions, openLedger, openProcess, type Process, RemitError } from "@remit/host";
import { isObject, type Json, plain, plainLine, safeJson } from "@remit/language";
import type { LedgerEvent, Limits } from "@remit/machine";
import { brainSource, SESSION_TOOLS } from "../brain/program.ts";
import { entriesOf, type JsonObject, type ProgramEntry } from "../faces/entries.ts";
import { ServeError } from "../faces/error.ts";
import { reasonOf } from "../faces/reason.ts";
import { type Call, Calls, type Listening, type Round, sealOf, type Step } from "./calls.ts";
import { httpOf, type HttpFace, type HttpOptions } from "./http.ts";

export interface McpOptions {
    /** Default: the one that comes with the server. */
    readonly program?: string;
    readonly model?: string;
    readonly ledger?: string;
    readonly process?: Process;
    /** For the program, as for `load`. */
    readonly load?: Omit<LoadOptions, "ledger" | "process" | "model" | "tools">;
    /** Of each call. */
    readonly limits?: Limits;
    /** Of what a client sends; default: `mcp:CLIENT`. */
    readonly inputOrigins?: readonly string[];
    readonly bounds?: { readonly ask?: number; readonly calls?: number };
    readonly version?: string;
    /** Over HTTP in place of standard input and output. */
    readonly http?: HttpOptions;
    readonly input?: Readable;
    readonly output?: Writable;
    readonly log?: (message: string) => void;
}

const ASK_MS = 10 * 60_000;
const MAX_CALLS = 32;
const MAX_ROUNDS = 200;
const MAX_SHOWN = 4000;

export interface McpServing {
    /** Of HTTP. */
    readonly url?: string;
    /** Resolves when the client is gone; over HTTP when it is closed. */
    readonly closed: Promise<void>;
    close(): Promise<void>;
}

/** Rejects with `ServeError`, `LedgerError`, or `RemitError` where the program has errors. */
export async function serveMcp(options: McpOptions): Promise<McpServing> {
    const on = options.process ?? openProcess();
    const ledger = await openLedger(options.ledger, { process: on });
    const { program: file, model, limits = {}, bounds = {} } = options;
    const ends: (() => Promise<void>)[] = [
        async () => {
            await ledger.close();
            if (options.process === undefined) await on.close();
        },
    ];
    const end = async (): Promise<void> => {
        for (const one of ends.splice(0).reverse()) await one();
    };
    try {
        const source = file === undefined ? { source: brainSource(), file: "brain.remit" } : { path: file };
        const given = {
            ...options.load,
            process: on,
            ledger: ledger.store,
            tools: SESSION_TOOLS,
            ...(model === undefined ? {} : { model }),
        };
        const program = await load(source, given);
        ends.push(() => program.close());
        const entries = entriesOf(program.form);
        if (entries.length === 0)
            throw new ServeError(`${program.file} has no function and no agent`, "a server gives what a program declares");
        const calls = new Calls(program, { limits, ask: bounds.ask ?? ASK_MS, most: bounds.calls ?? MAX_CALLS });
        ends.push(() => calls.close());
        const factory = factoryOf({ entries, calls, options, title: program.file });
        const face: Face = options.http === undefined ? stdioOf(factory, options) : await httpOf(factory, options.http, options.log);
        ends.push(() => face.close());
        const closed = face.closed.then(end);
        return { ...(face.url === undefined ? {} : { url: face.url }), closed, close: async () => (await face.close(), await closed) };
    } catch (error) {
        await end();
        throw error;
    }
}

type Face = Omit<HttpFace, "url"> & Partial<Pick<HttpFace, "url">>;

function stdioOf(factory: McpServerFactory, { input = process.stdin, output = process.stdout, log }: McpOptions): Face {
    const closed = new Promise<void>((resolve) => {
        input.once("end", resolve);
        input.once("close", resolve);
    });
    const handle = serveStdio(factory, {
        transport: new StdioServerTransport(input, output),
        onerror: (error) => log?.(error.message),
    });
    return {
        closed,
        close: async () => {
            await handle.close();
            input.destroy();
            await closed;
        },
    };
}

interface Served {
    readonly entries: readonly ProgramEntry[];
    readonly calls: Calls;
    readonly options: McpOptions;
    readonly title: string;
}

/** One server a connection, or a request over HTTP; what runs is shared by all. */
function factoryOf(served: Served): McpServerFactory {
    const { entries, options, title } = served;
    // MCS3.
    const codec = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: Math.ceil((options.bounds?.ask ?? ASK_MS) / 1000) });
    return () => {
        const server = new McpServer(
            { name: "remit", title: `Remit: ${title}`, version: options.version ?? "0" },
            {
                capabilities: { tools: {}, logging: {} },
                instructions: `The functions and agents of ${title}. Each call is a run of its own.`,
                inputRequired: { maxRounds: MAX_ROUNDS, roundTimeoutMs: options.bounds?.ask ?? ASK_MS },
                requestState: { verify: codec.verify },
            },
        );
        for (const entry of entries)
            server.registerTool(
                entry.name,
                {
                    description: entry.description,
                    inputSchema: fromJsonSchema<{ [name: string]: Json }>(entry.input as never),
                    ...(entry.output === undefined ? {} : { outputSchema: fromJsonSchema(entry.output as never) }),
                    ...(entry.effects.every((one) => one === "model") ? { annotations: { readOnlyHint: true } } : {}),
                },
                (args, context) => called({ ...served, server, mint: codec.mint }, entry, args, context),
            );
        return server;
    };
}

interface Serving extends Served {
    readonly server: McpServer;
    readonly mint: (round: Round) => string | Promise<string>;
}

async function called(
    serving: Serving,
    entry: ProgramEntry,
    args: { [name: string]: Json },
    context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
    const { calls, options } = serving;
    const client = clientOf(serving.server, context);
    const call: Call = { entry, args, canAsk: client.canAsk, origins: options.inputOrigins ?? [`mcp:${client.name}`] };
    const listening = listeningOf(context);
    const round = context.mcpReq.requestState<Round>();
    try {
        if (round === undefined && calls.isFull) return failed("too many calls are under way; try again later");
        const step = round === undefined ? calls.begin(call, listening) : calls.answer(round, call, decisionIn(context), listening);
        if (step === null) return failed("there is no call that waits for this answer: its time is up, or it was answered");
        return await toldOf(await step, call, serving);
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        // MCS2.
        return failed(error.failure.hint === undefined ? error.failure.message : `${error.failure.message}\n${error.failure.hint}`, {
            "remit/kind": error.kind,
        });
    }
}

async function toldOf(step: Step, call: Call, { mint }: Serving): Promise<CallToolResult | InputRequiredResult> {
    const { run } = step;
    if ("question" in step) {
        const { id, request } = step.question;
        const requestedSchema = {
            type: "object" as const,
            properties: { decision: { type: "string" as const, title: "Decision", enum: [...request.options] } },
            required: ["decision"],
        };
        return inputRequired({
            inputRequests: { decision: inputRequired.elicit({ message: messageOf(request.question, request.detail), requestedSchema }) },
            requestState: await mint({ run, ask: id, call: sealOf(call) }),
        });
    }
    const { result } = step;
    const about = { "remit/run": run };
    if (!result.ok) {
        const { kind = "error", message = "it failed", hint } = result.failure ?? {};
        return failed(hint === undefined ? message : `${message}\n${hint}`, { ...about, "remit/kind": kind });
    }
    const value = result.value ?? null;
    const text = typeof value === "string" ? value : safeJson(value, 2);
    const structuredContent = stated(call.entry.outputOf(value), call.entry.output ?? {}) as JsonObject;
    return { content: [{ type: "text", text }], structuredContent, _meta: about };
}

function failed(message: string, about?: { readonly [key: string]: string }): CallToolResult {
    return { isError: true, content: [{ type: "text", text: plain(message) }], ...(about === undefined ? {} : { _meta: { ...about } }) };
}

/** Fields that hold nothing are left out where the schema lets them be absent: there it has no word for nothing. */
function stated(value: Json, schema: Json): Json {
    if (!isObject(schema)) return value;
    if (Array.isArray(value)) return value.map((one) => stated(one, schema["items"] ?? {}));
    const { properties, required } = schema;
    if (!isObject(value) || !isObject(properties)) return value;
    const must = Array.isArray(required) ? required : [];
    const kept = Object.entries(value).filter(([name, one]) => one !== null || must.includes(name));
    return Object.fromEntries(
        kept.map(([name, one]) => [name, stated(one, Object.hasOwn(properties, name) ? (properties[name] as Json) : {})]),
    );
}

/** What the person answered; whatever is no answer that is offered is a no, and a cancel ends the run. */
function decisionIn({ mcpReq }: ServerContext): string {
    const { decision: said } = (mcpReq.inputResponses ?? {}) as {
        readonly decision?: { readonly action?: unknown; readonly content?: unknown };
    };
    if (said?.action === "cancel") return "abort";
    const { content } = said ?? {};
    return said?.action === "accept" && isObject(content) ? String(content["decision"]) : "deny";
}

function messageOf(question: string, detail: Json): string {
    const args = isObject(detail) && Array.isArray(detail["args"]) ? detail["args"] : [];
    const shown = safeJson(args.length === 1 ? (args[0] as Json) : args, 2);
    const cut = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}\n… ${shown.length - MAX_SHOWN} more characters` : shown;
    return `${reasonOf(question, detail)}\n${plain(cut)}`;
}

/** Who calls. Over HTTP a client of the earlier era says in no request what it can do: it is asked nothing. */
function clientOf({ server }: McpServer, { mcpReq }: ServerContext): { readonly name: string; readonly canAsk: boolean } {
    const envelope = (mcpReq.envelope ?? {}) as { readonly [key: string]: unknown };
    const isModern = mcpReq.envelope !== undefined;
    const capabilities = (isModern ? envelope["io.modelcontextprotocol/clientCapabilities"] : server.getClientCapabilities()) as
        | { readonly elicitation?: { readonly form?: object; readonly url?: object } }
        | undefined;
    const info = (isModern ? envelope["io.modelcontextprotocol/clientInfo"] : server.getClientVersion()) as
        | { readonly name?: unknown }
        | undefined;
    const { elicitation } = capabilities ?? {};
    const name =
        String(info?.name ?? "")
            .replace(/[^A-Za-z0-9._-]/g, "-")
            .slice(0, 40) || "client";
    return { name, canAsk: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined) };
}

/** Kinds that a client is told of as progress, and the words for them. */
const STEPS: { readonly [kind: string]: (data: { readonly [key: string]: Json }) => string } = {
    "generate.started": ({ label }) => `generate ${String(label ?? "")}`,
    "tool.started": ({ tool, method }) => `${String(tool)}.${String(method)}`,
    "agent.started": ({ agent }) => `agent ${String(agent)}`,
    "plan.node.started": ({ id }) => String(id),
};

function listeningOf({ mcpReq }: ServerContext): Listening {
    const token = mcpReq._meta?.progressToken;
    let progress = 0;
    // a client that is gone hears nothing; its signal ends the run
    const dropped = (): void => undefined;
    return {
        signal: mcpReq.signal,
        event: ({ kind, data, run }: LedgerEvent) => {
            const fields = isObject(data) ? data : {};
            if (kind === "run.started") mcpReq.log("info", { run }, "remit").catch(dropped);
            if (kind === "policy.denied")
                mcpReq.log("warning", { run, refused: String(fields["message"] ?? fields["why"] ?? "") }, "remit").catch(dropped);
            const said = STEPS[kind]?.(fields);
            if (said === undefined || token === undefined) return;
            const params = { progressToken: token, progress: ++progress, message: plainLine(said).slice(0, 200) };
            mcpReq.notify({ method: "notifications/progress", params }).catch(dropped);
        },
    };
}
