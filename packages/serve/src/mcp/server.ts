/**
 * A program as a server of the Model Context Protocol: its main func, functions and agents are tools, long ones as tasks. Both eras of the protocol,
 * over standard input and output and over HTTP.
 *
 * Boundary: the SDK's server around calls (`calls.ts`) and tasks (`tasks.ts`); HTTP is `http.ts`'s.
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
    isInputRequiredResult,
    type McpServerFactory,
    ProtocolError,
    ProtocolErrorCode,
    Server,
    type ServerContext,
    type StandardSchemaWithJSON,
    type Tool,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { load, type LoadOptions, openLedger, openProcess, type Process, RemitError } from "@remit/host";
import { isObject, type Json, plainLine } from "@remit/language";
import type { LedgerEvent, Limits } from "@remit/machine";
import { brainSource, IDLE_MS, SESSION_TOOLS } from "../brain/program.ts";
import { person } from "../session/given.ts";
import { entriesOf, type ProgramEntry } from "../faces/entries.ts";
import { ServeError } from "../faces/error.ts";
import { type Call, Calls, type Listening, type Round, sealOf, type Step } from "./calls.ts";
import { callerOf } from "./client.ts";
import { fieldOf, formOf } from "./forms.ts";
import { httpOf, type HttpFace, type HttpOptions } from "./http.ts";
import type { Settled } from "../session/asks.ts";
import { answerTaskMethods, createdOf, TASK_CAPABILITIES } from "./task-methods.ts";
import { Tasks } from "./tasks.ts";
import { failed, failedBy, resultOf } from "./told.ts";

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
    /** A client's word that a person allowed a use counts (MCC6). Default: it does not. */
    readonly clientApproves?: boolean | undefined;
    /** Over HTTP in place of standard input and output. */
    readonly http?: HttpOptions;
    /** Default: standard input. @internal */
    readonly input?: Readable;
    /** @internal */
    readonly output?: Writable;
    readonly log?: (message: string) => void;
}

const ASK_MS = 10 * 60_000;
const MAX_CALLS = 32;
const MAX_ROUNDS = 200;

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
    const { program: file, model, limits = {}, bounds = {}, clientApproves: approves = false } = options;
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
        // The program is loaded before its calls are there; it asks in one of them.
        let calls: Calls | undefined;
        const asking = async (question: string, signal: AbortSignal, run: string | undefined): Promise<Settled | null> => {
            const answer = (run === undefined ? null : await calls?.question(run, question, signal)) ?? null;
            return answer === null ? null : { answer, by: "client" };
        };
        const source = file === undefined ? { source: brainSource(), file: "brain.remit" } : { path: file };
        const given = {
            idle: IDLE_MS,
            ...options.load,
            process: on,
            ledger: ledger.store,
            tools: { ...SESSION_TOOLS, person: person(asking) },
            ...(model === undefined ? {} : { model }),
        };
        const program = await load(source, given);
        ends.push(() => program.close());
        const entries = entriesOf(program.form);
        if (entries.length === 0)
            throw new ServeError(`${program.file} has no function and no agent`, "a server gives what a program declares");
        const made = new Calls(program, { limits, ask: bounds.ask ?? ASK_MS, most: bounds.calls ?? MAX_CALLS, approves });
        calls = made;
        ends.push(() => made.close());
        const tasks = new Tasks(made, doingOf);
        ends.push(async () => tasks.close());
        const factory = factoryOf({ entries, calls: made, tasks, options, title: program.file });
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
    const { promise: closed, resolve: gone } = Promise.withResolvers<void>();
    // It ends with the input; and by itself where a message is too large, or the output takes no more.
    class Transport extends StdioServerTransport {
        override async close(): Promise<void> {
            await super.close();
            gone();
        }
    }
    const handle = serveStdio(factory, { transport: new Transport(input, output), onerror: (error) => log?.(error.message) });
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
    readonly tasks: Tasks;
    readonly options: McpOptions;
    readonly title: string;
}

/** One server a connection, or a request over HTTP; what runs is shared by all. */
function factoryOf(served: Served): McpServerFactory {
    const { entries, options, title, tasks } = served;
    // MCS3.
    const codec = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: Math.ceil((options.bounds?.ask ?? ASK_MS) / 1000) });
    const tools = new Map(entries.map((entry) => [entry.name, toolOf(entry)]));
    return () => {
        const server = new Server(
            { name: "remit", title: `Remit: ${title}`, version: options.version ?? "0" },
            {
                capabilities: { tools: {}, logging: {}, ...TASK_CAPABILITIES },
                instructions: `The functions and agents of ${title}. Each call is a run of its own.`,
                inputRequired: { maxRounds: MAX_ROUNDS, roundTimeoutMs: options.bounds?.ask ?? ASK_MS },
                requestState: { verify: codec.verify },
            },
        );
        server.setRequestHandler("tools/list", () => ({ tools: [...tools.values()].map(({ listed }) => listed) }));
        server.setRequestHandler("tools/call", async ({ params }, context) => {
            const tool = tools.get(params.name);
            if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${params.name}`);
            const asTask = (params as { readonly task?: unknown }).task !== undefined;
            const fits = await tool.schema["~standard"].validate(params.arguments ?? {});
            if (fits.issues !== undefined) {
                const said = fits.issues.map(({ message }) => message).join("; ");
                return failed(`the arguments of ${params.name} do not fit: ${said}`, { "remit/kind": "contract" });
            }
            const result = await called({ ...served, server, mint: codec.mint }, { ...tool, args: fits.value, asTask }, context);
            return isInputRequiredResult(result) ? result : server.projectCallToolResult(result, tool.entry.output);
        });
        answerTaskMethods(server, tasks);
        return server;
    };
}

interface ToolEntry {
    readonly entry: ProgramEntry;
    readonly listed: Tool;
    readonly schema: StandardSchemaWithJSON<unknown, { [name: string]: Json }>;
    /** It can take a while: what it reaches is more than the clock. */
    readonly isLong: boolean;
}

const AT_ONCE: ReadonlySet<string> = new Set(["clock", "random"]);

function toolOf(entry: ProgramEntry): ToolEntry {
    const isLong = entry.effects.some((one) => !AT_ONCE.has(one));
    const listed = {
        ...{ name: entry.name, description: entry.description, inputSchema: entry.input },
        ...(entry.output === undefined ? {} : { outputSchema: entry.output }),
        ...(entry.readOnly ? { annotations: { readOnlyHint: true } } : {}),
        // the SDK keeps it from clients of the later era, whose server decides
        ...(isLong ? { execution: { taskSupport: "optional" as const } } : {}),
    };
    return { entry, listed: listed as unknown as Tool, schema: fromJsonSchema<{ [name: string]: Json }>(entry.input as never), isLong };
}

interface Serving extends Served {
    readonly server: Server;
    readonly mint: (round: Round) => string | Promise<string>;
}

interface Called extends ToolEntry {
    readonly args: { readonly [name: string]: Json };
    /** A client of an earlier revision wants a task. */
    readonly asTask: boolean;
}

async function called(serving: Serving, tool: Called, context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
    const { calls, tasks, options } = serving;
    const { entry, args, isLong } = tool;
    const caller = callerOf(serving.server, context);
    const asTask = tool.asTask && !caller.isModern;
    if (asTask && !isLong) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `the tool ${entry.name} is no task`);
    const call: Call = { entry, args, canAsk: caller.canAsk, client: caller.name, origins: options.inputOrigins ?? [`mcp:${caller.name}`] };
    const round = context.mcpReq.requestState<Round>();
    try {
        if (round === undefined && calls.isFull) return failed("too many calls are under way; try again later");
        if (round === undefined && isLong && (asTask || caller.takesTasks)) {
            if (tasks.isFull) return failed("too many tasks are kept; try again later");
            return createdOf(await tasks.begin(call), caller);
        }
        const listening = listeningOf(context);
        const step =
            round === undefined ? calls.begin(call, listening) : calls.answer(round, call, context.mcpReq.inputResponses, listening);
        if (step === null) return failed("there is no call that waits for this answer: its time is up, or it was answered");
        return await toldOf(await step, call, serving);
    } catch (error) {
        // MCS2.
        if (error instanceof RemitError) return failedBy(error);
        throw error;
    }
}

async function toldOf(step: Step, call: Call, { mint }: Serving): Promise<CallToolResult | InputRequiredResult> {
    const { run } = step;
    if ("result" in step) return resultOf(run, step, call);
    return inputRequired({
        inputRequests: { [fieldOf(step.question.wanted)]: inputRequired.elicit(formOf(step.question.wanted)) },
        requestState: await mint({ run, ask: step.question.id, call: sealOf(call) }),
    });
}

/** Kinds that a client is told of as progress, and the words for them. */
const STEPS: { readonly [kind: string]: (data: { readonly [key: string]: Json }) => string } = {
    "generate.started": ({ label }) => `generate ${String(label ?? "")}`,
    "tool.started": ({ tool, method }) => `${String(tool)}.${String(method)}`,
    "agent.started": ({ agent }) => `agent ${String(agent)}`,
    "plan.node.started": ({ id }) => String(id),
};

function doingOf({ kind, data }: Pick<LedgerEvent, "kind" | "data">): string | undefined {
    const said = STEPS[kind]?.(isObject(data) ? data : {});
    return said === undefined ? undefined : plainLine(said).slice(0, 200);
}

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
            const message = doingOf({ kind, data });
            if (message === undefined) return;
            mcpReq.log("debug", { run, begins: message }, "remit").catch(dropped);
            if (token === undefined) return;
            const params = { progressToken: token, progress: ++progress, message };
            mcpReq.notify({ method: "notifications/progress", params }).catch(dropped);
        },
    };
}
