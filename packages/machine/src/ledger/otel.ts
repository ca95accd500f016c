/**
 * Projection **OpenTelemetry**: a run as OTLP/JSON spans with the GenAI semantic conventions (v1.41.1, all "Development").
 *
 * Boundary: from events to the body of `POST /v1/traces`. Ids are made from run id and path, so that the same run gives the same spans.
 *
 * | happening | span | kind |
 * | --- | --- | --- |
 * | run | `invoke_workflow NAME` | INTERNAL |
 * | agent | `invoke_agent NAME` | INTERNAL |
 * | generate | `generate LABEL` | INTERNAL |
 * | provider turn | `chat MODEL` | CLIENT |
 * | tool call | `execute_tool TOOL.METHOD` | INTERNAL |
 * | call of an agent's own tool | `execute_tool NAME` | INTERNAL |
 * | memory query | `retrieval MEMORY` | CLIENT |
 * | session with an agent | `yield AGENT`, `agent AGENT` … | INTERNAL |
 * | turn of an agent outside the program | `invoke_agent AGENT` | CLIENT |
 * | function that an agent gave | `invoke_workflow payload` | INTERNAL |
 * | run of a Re in Act program | `invoke_workflow NAME`, NAME that of the Riff; its `reason()` is `reason` with `chat MODEL` below | INTERNAL |
 * | question, input | `ask`, `input` | INTERNAL |
 *
 * OL1: content (prompts, replies, arguments, results) is left out unless asked for.
 * OL2: span names have few values: no path, no index, no text of a prompt.
 * OL3: `traceparent` names the span of an effect before there is one: hosts hand it on in requests, and what is done there belongs to the span.
 * OL4: ids of conversations begin with the run: no two runs have one in common.
 */
import type { Json } from "@remit/language";
import type { LedgerEvent } from "./events.ts";
import { type RasRun, rasRunOf } from "./ras.ts";
import {
    called,
    eventOf,
    get,
    type Happening,
    type JsonObject,
    listIn,
    modelName,
    numberIn,
    objectIn,
    partsIn,
    type TreeNode,
    textIn,
    treeOf,
} from "./read.ts";
import { attributes, nanos, spanId, traceId } from "./otlp-json.ts";
import { withEntries } from "./told.ts";

export interface OtelOptions {
    /** Prompts, replies, arguments and results as attributes. */
    readonly content?: boolean;
    readonly service?: string;
    /** Of Remit, as the version of the scope. */
    readonly version?: string;
    /** Further attributes of the resource. */
    readonly resource?: { readonly [name: string]: string };
}

/** A span, and whether it will not change any more. */
export interface OtelSpan {
    readonly id: string;
    readonly isOver: boolean;
    readonly span: Json;
}

const INTERNAL = 1;
const CLIENT = 3;
const ERROR = 2;

/** An OTLP `ExportTraceServiceRequest` in its JSON form (ids in hex, times in nanoseconds as strings). */
export function otlp(events: Iterable<LedgerEvent>, options: OtelOptions = {}): Json {
    return otlpOf(
        otelSpans(events, options).map(({ span }) => span),
        options,
    );
}

/** The spans of a run as far as it went, those of calls that agents made themselves among them. */
export function otelSpans(events: Iterable<LedgerEvent>, options: OtelOptions = {}): OtelSpan[] {
    const all = withEntries([...events]);
    const spans: OtelSpan[] = [];
    const starts = startsOf(all);
    const ras = rasRunOf(all);
    for (const root of treeOf(all)) collect(root, null, { content: options.content === true, spans, starts, ras });
    return spans;
}

/** Spans as the body of one request. */
export function otlpOf(spans: readonly Json[], { service, version, resource }: OtelOptions): Json {
    const about = {
        "telemetry.sdk.name": "remit",
        "telemetry.sdk.language": "nodejs",
        ...(version === undefined ? {} : { "telemetry.sdk.version": version }),
        ...resource,
        "service.name": service ?? resource?.["service.name"] ?? "remit",
    };
    return {
        resourceSpans: [
            {
                resource: { attributes: attributes(about) },
                scopeSpans: [{ scope: { name: "remit", ...(version === undefined ? {} : { version }) }, spans: [...spans] }],
            },
        ],
    };
}

interface Collecting {
    readonly content: boolean;
    readonly spans: OtelSpan[];
    /** When the effect of a path was first begun. */
    readonly starts: ReadonlyMap<string, string>;
    readonly ras: RasRun | null;
}

/** A provider turn has one event of its own, at its end; it began when its effect did. */
function startsOf(events: readonly LedgerEvent[]): Map<string, string> {
    const starts = new Map<string, string>();
    for (const event of events)
        if (event.kind === "model.started" || event.kind === "effect.started")
            if (!starts.has(event.path)) starts.set(event.path, event.time);
    return starts;
}

function collect(node: TreeNode, parent: string | null, c: Collecting): void {
    /** Spans of this place, each with the number of its first event. */
    const made: { readonly id: string; readonly seq: number }[] = [];
    let nth = -1;
    for (const one of node.happenings) {
        if (one.family === "agent.noted") {
            ownCall(one, node, made.at(-1)?.id ?? parent, c);
            continue;
        }
        nth++;
        const plain = SPANS[one.family]?.(one, c.content);
        const about = plain === undefined || c.ras === null ? plain : asRas(plain, one, node.path, c.ras);
        if (about === undefined) continue;
        const event = eventOf(one);
        const id = spanId(event.run, node.path, nth);
        const begun = one.single === undefined ? event.time : (c.starts.get(node.path) ?? event.time);
        const failed = textIn(about.attributes["error.type"]);
        const span: JsonObject = {
            traceId: traceId(event.run),
            spanId: id,
            ...(parent === null ? {} : { parentSpanId: parent }),
            name: about.name,
            kind: about.kind,
            startTimeUnixNano: nanos(about.runs === true ? event.time : begun),
            endTimeUnixNano: nanos(about.runs === true ? lastOf(node, event) : (one.end ?? event).time),
            attributes: attributes({ ...about.attributes, "remit.path": node.path }),
            status: failed === undefined ? {} : { code: ERROR, message: textIn(about.attributes["remit.error.message"]) ?? failed },
        };
        c.spans.push({ id, isOver: about.runs !== true && (one.end !== undefined || one.single !== undefined), span });
        made.push({ id, seq: event.seq });
    }
    // what happens below belongs to what was begun last before it
    for (const child of node.children) collect(child, (made.findLast((one) => one.seq < child.seq) ?? made[0])?.id ?? parent, c);
}

/** A call of an agent's own tool: under the turn in which the agent told of it. */
function ownCall(one: Happening, { path }: TreeNode, parent: string | null, { content, spans }: Collecting): void {
    if (text(one, "kind") !== "call") return;
    const { run, time } = eventOf(one);
    const [id, said, status] = [text(one, "id") ?? "", text(one, "name") ?? "", text(one, "status")];
    // OL2: some agents have no name for a tool but a title with a path in it
    const name = /^[\w.:-]{1,64}$/.test(said) ? said : (text(one, "toolKind") ?? "tool");
    const isOver = status === "completed" || status === "failed";
    const permission = objectIn(get(one, "permission") ?? null);
    const begun = text(one, "time") ?? time;
    const span = spanId(run, `${path} ${id}`, numberIn(get(one, "nth")) ?? 0);
    spans.push({
        id: span,
        isOver,
        span: {
            traceId: traceId(run),
            spanId: span,
            ...(parent === null ? {} : { parentSpanId: parent }),
            name: `execute_tool ${name}`,
            kind: INTERNAL,
            startTimeUnixNano: nanos(begun),
            endTimeUnixNano: nanos(text(one, "ended") ?? (isOver ? begun : time)),
            attributes: attributes({
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": id,
                "remit.tool.kind": text(one, "toolKind"),
                "remit.permission": permission.allowed === undefined ? undefined : permission.allowed === true ? "allowed" : "refused",
                "remit.permission.by": textIn(permission.by),
                "error.type": status === "failed" ? "tool" : undefined,
                ...(content
                    ? {
                          "gen_ai.tool.call.arguments": jsonText(get(one, "input")),
                          "gen_ai.tool.call.result": jsonText(get(one, "output")),
                          "remit.tool.diffs": jsonText(get(one, "diffs")),
                      }
                    : {}),
                "remit.path": path,
            }),
            status: status === "failed" ? { code: ERROR, message: "tool" } : {},
        },
    });
}

/** A span of a Re in Act program under its own name; none for what only runs it. */
function asRas(span: Span, one: Happening, path: string, ras: RasRun): Span | undefined {
    const { name } = ras;
    if (one.family === "tool" && ras.runner(path)) return undefined;
    const agent = textIn(span.attributes["gen_ai.agent.name"]);
    if (one.family === "run")
        return { ...span, name: `invoke_workflow ${name}`, attributes: { ...span.attributes, "gen_ai.workflow.name": name } };
    if (!ras.answers(agent)) return span;
    if (one.family === "agent") return undefined;
    const attributes = { ...span.attributes, "gen_ai.agent.name": name };
    return { ...span, ...(one.family === "generate" ? { name: "reason" } : {}), attributes };
}

/** Time of the last event below, of those after `since`. */
function lastOf(node: TreeNode, since: LedgerEvent): string {
    let last = since;
    const look = (one: TreeNode): void => {
        for (const { start, single, end } of one.happenings)
            for (const event of [start, single, end]) if (event !== undefined && event.seq > last.seq) last = event;
        for (const child of one.children) look(child);
    };
    for (const child of node.children) look(child);
    return last.time;
}

// ---- spans -------------------------------------------------------------------------------------------------------------

interface Span {
    readonly name: string;
    readonly kind: number;
    readonly attributes: { readonly [name: string]: Json | undefined };
    /** Its one event says that it begins; it lasts as long as what is below. */
    readonly runs?: true;
}

const text = (one: Happening, key: string): string | undefined => textIn(get(one, key));

/** `error.type` is the kind of the failure. A message may quote data, so it counts as content. */
function failure(one: Happening, content: boolean): Span["attributes"] {
    const failed = objectIn(get(one, "failure") ?? null);
    if (get(one, "ok") !== false && failed.kind === undefined) return {};
    const message = textIn(failed.message) ?? text(one, "error");
    return { "error.type": textIn(failed.kind) ?? text(one, "kind") ?? "_OTHER", ...(content ? { "remit.error.message": message } : {}) };
}

/** A provider by the scheme of the model's URI, by the names the convention has for them. */
const PROVIDERS: { readonly [scheme: string]: string } = {
    google: "gcp.gemini",
    gemini: "gcp.gemini",
    openai: "openai",
    anthropic: "anthropic",
};

function provider(uri: string): string {
    const scheme = uri.split(":")[0] ?? "";
    return PROVIDERS[scheme] ?? (scheme === "" ? "_OTHER" : scheme);
}

const SPANS: { readonly [family: string]: ((one: Happening, content: boolean) => Span) | undefined } = {
    run: (one, content) => {
        const entry = objectIn(get(one, "entry") ?? null);
        const name = textIn(entry.agent) ?? textIn(entry.file) ?? "program";
        return {
            name: `invoke_workflow ${name}`,
            kind: INTERNAL,
            attributes: { "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name, ...failure(one, content) },
        };
    },
    agent: (one, content) => {
        const name = text(one, "agent") ?? "agent";
        return {
            name: `invoke_agent ${name}`,
            kind: INTERNAL,
            attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, ...failure(one, content) },
        };
    },
    generate: (one, content) => ({
        name: `generate ${text(one, "label") ?? ""}`.trim(),
        kind: INTERNAL,
        attributes: {
            "gen_ai.agent.name": text(one, "agent"),
            "remit.generate.attempts": numberIn(get(one, "attempts")),
            ...failure(one, content),
        },
    }),
    "generate.attempt": (one, content) => {
        const asked = objectIn(get(one, "model") ?? null);
        const uri = textIn(asked.uri) ?? "";
        const usage = objectIn(get(one, "usage") ?? null);
        const finish = text(one, "finish");
        const error = text(one, "error");
        return {
            name: `chat ${modelName(uri)}`,
            kind: CLIENT,
            attributes: {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": provider(uri),
                "gen_ai.request.model": modelName(uri),
                "gen_ai.response.model": text(one, "answered_by"),
                "gen_ai.agent.name": text(one, "agent"),
                "gen_ai.response.finish_reasons": finish === undefined ? undefined : [finish],
                ...usageOf(usage),
                "remit.attempt": numberIn(get(one, "attempt")),
                ...(error === undefined ? {} : { "error.type": finish === undefined ? "_OTHER" : "contract" }),
                ...(content ? { ...messages(one), "remit.error.message": error } : {}),
            },
        };
    },
    tool: (one, content) => {
        const name = [textIn(called(one, "tool")), textIn(called(one, "method"))].filter((part) => part !== undefined).join(".");
        return {
            name: `execute_tool ${name}`,
            kind: INTERNAL,
            attributes: {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.type": "function",
                "mcp.method.name": /^mcp:/i.test(textIn(called(one, "uri")) ?? "") ? "tools/call" : undefined,
                ...failure(one, content),
                ...(content
                    ? {
                          "gen_ai.tool.call.arguments": jsonText(called(one, "args")),
                          "gen_ai.tool.call.result": jsonText(get(one, "result") ?? get(one, "value")),
                      }
                    : {}),
            },
        };
    },
    memory: (one, content) => {
        const name = text(one, "memory") ?? "memory";
        return {
            name: `retrieval ${name}`,
            kind: CLIENT,
            attributes: {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.provider.name": "remit",
                "gen_ai.data_source.id": name,
                ...failure(one, content),
            },
        };
    },
    yield: (one, content) => {
        const name = text(one, "agent") ?? "agent";
        return {
            name: `${text(one, "by") ?? "yield"} ${name}`,
            kind: INTERNAL,
            attributes: {
                "gen_ai.agent.name": name,
                "gen_ai.conversation.id": conversation(one, eventOf(one).path),
                "remit.turns": numberIn(get(one, "turns")),
                ...failure(one, content),
            },
        };
    },
    "agent.turn": (one, content) => {
        const name = text(one, "agent") ?? "agent";
        const reply = objectIn(get(one, "reply") ?? null);
        const said = objectIn(reply.agent);
        const usage = objectIn(get(one, "usage") ?? null);
        const stop = textIn(reply.stop);
        return {
            name: `invoke_agent ${name}`,
            kind: CLIENT,
            attributes: {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": textIn(said.name) ?? "_OTHER",
                "gen_ai.agent.name": name,
                "gen_ai.agent.version": textIn(said.version),
                "gen_ai.conversation.id": conversation(one, text(one, "session")),
                "gen_ai.response.model": textIn(said.model),
                "gen_ai.response.finish_reasons": stop === undefined ? undefined : [stop],
                ...usageOf(usage),
                "remit.turn": numberIn(get(one, "turn")),
                "remit.confinement": textIn(reply.confinement),
                ...failure(one, content),
                ...(content ? spoken(one, reply) : {}),
            },
        };
    },
    "yield.payload": (one, content) => ({
        name: "invoke_workflow payload",
        kind: INTERNAL,
        runs: true,
        attributes: {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "payload",
            "gen_ai.agent.name": text(one, "agent"),
            ...(get(one, "ok") === false ? { "error.type": "invalid_payload" } : {}),
            ...(content ? { "remit.payload": text(one, "text"), "remit.error.message": textIn(listIn(get(one, "errors"))[0]) } : {}),
        },
    }),
    ask: (one, content) => ({ name: "ask", kind: INTERNAL, attributes: failure(one, content) }),
    input: (one, content) => ({ name: "input", kind: INTERNAL, attributes: failure(one, content) }),
};

/** OL4. */
function conversation(one: Happening, session: string | undefined): string | undefined {
    return session === undefined ? undefined : `${eventOf(one).run}/${session}`;
}

/** Tokens; those read from a cache are counted in the input, as the convention has it. */
function usageOf(usage: JsonObject): Span["attributes"] {
    return {
        "gen_ai.usage.input_tokens": numberIn(usage.input),
        "gen_ai.usage.cache_read.input_tokens": numberIn(usage.cached),
        "gen_ai.usage.output_tokens": numberIn(usage.output),
        "gen_ai.usage.reasoning.output_tokens": numberIn(usage.reasoning),
        "remit.usage.usd": numberIn(usage.usd),
    };
}

/** What an agent was asked and what it said. */
function spoken(one: Happening, reply: JsonObject): Span["attributes"] {
    const asked = listIn(get(one, "prompt")).map((part): Json => ({ type: "text", content: textIn(objectIn(part).text) ?? "" }));
    const said = textIn(reply.text);
    return {
        "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: asked }]),
        "gen_ai.output.messages":
            said === undefined
                ? undefined
                : JSON.stringify([
                      { role: "assistant", parts: [{ type: "text", content: said }], finish_reason: textIn(reply.stop) ?? "stop" },
                  ]),
    };
}

/** The conversation in the convention's form: a role and its parts, as JSON strings. */
function messages(one: Happening): Span["attributes"] {
    const sent = listIn(get(one, "messages")).map(objectIn);
    const system = sent.filter((message) => message.role === "system").map((message) => ({ type: "text", content: message.content ?? "" }));
    const input = sent
        .filter((message) => message.role !== "system")
        .map((message) => ({ role: message.role ?? "user", parts: partsOf(message) }));
    const given = objectIn(get(one, "reply") ?? null);
    const reply = textIn(given.text);
    const calls = listIn(given.calls).map(objectIn);
    const output: Json[] = [];
    if (reply !== undefined || calls.length > 0)
        output.push({
            role: "assistant",
            parts: [
                ...(reply === undefined ? [] : [{ type: "text", content: reply }]),
                ...calls.map((call) => ({ type: "tool_call", id: call.id ?? "", name: call.name ?? "", arguments: call.args ?? null })),
            ],
            finish_reason: text(one, "finish") ?? "stop",
        });
    return {
        ...(system.length === 0 ? {} : { "gen_ai.system_instructions": JSON.stringify(system) }),
        "gen_ai.input.messages": JSON.stringify(input),
        "gen_ai.output.messages": JSON.stringify(output),
    };
}

function partsOf(message: JsonObject): Json[] {
    if (message.role === "tool") return [{ type: "tool_call_response", id: message.call ?? "", response: message.result ?? null }];
    const calls = listIn(message.calls).map(objectIn);
    const said = typeof message.content === "string" ? [{ type: "text", content: message.content }] : [];
    return [
        ...said,
        ...partsIn(message.content).map(
            (part): Json =>
                part.type === "text"
                    ? { type: "text", content: part.text ?? "" }
                    : { type: "blob", mime_type: part.mediaType ?? "", content: "" },
        ),
        ...calls.map((call): Json => ({ type: "tool_call", id: call.id ?? "", name: call.name ?? "", arguments: call.args ?? null })),
    ];
}

function jsonText(value: Json | undefined): string | undefined {
    return value === undefined ? undefined : JSON.stringify(value);
}
