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
 * | memory query | `retrieval MEMORY` | CLIENT |
 * | question, input | `ask`, `input` | INTERNAL |
 *
 * X1: content (prompts, replies, arguments, results) is left out unless asked for.
 * X2: span names have few values: no path, no index, no text of a prompt.
 */
import type { Json } from "@remit/language";
import type { LedgerEvent } from "./events.ts";
import { field, type Happening, type JsonObject, listIn, millis, numberIn, objectIn, textIn, treeOf, type TreeNode } from "./read.ts";

export interface OtelOptions {
    /** Prompts, replies, arguments and results as attributes. */
    readonly content?: boolean;
    readonly service?: string;
}

const INTERNAL = 1;
const CLIENT = 3;
const ERROR = 2;

/** An OTLP `ExportTraceServiceRequest` in its JSON form (ids in hex, times in nanoseconds as strings). */
export function otlp(events: Iterable<LedgerEvent>, options: OtelOptions = {}): Json {
    const all = [...events];
    const spans: JsonObject[] = [];
    const starts = startsOf(all);
    for (const root of treeOf(all)) collect(root, null, { content: options.content === true, spans, starts });
    return {
        resourceSpans: [
            {
                resource: { attributes: attributes({ "service.name": options.service ?? "remit" }) },
                scopeSpans: [{ scope: { name: "remit" }, spans }],
            },
        ],
    };
}

interface Collecting {
    readonly content: boolean;
    readonly spans: JsonObject[];
    /** When the effect of a path was first begun. */
    readonly starts: ReadonlyMap<string, string>;
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
    let above = parent;
    node.happenings.forEach((one, nth) => {
        const about = SPANS[one.family]?.(one, c.content);
        if (about === undefined) return;
        const event = (one.start ?? one.single ?? one.end) as LedgerEvent;
        const id = idOf(`${event.run} ${node.path} ${nth}`, 16);
        const begun = one.single === undefined ? event.time : (c.starts.get(node.path) ?? event.time);
        const failed = textIn(about.attributes["error.type"]);
        c.spans.push({
            traceId: idOf(event.run, 32),
            spanId: id,
            ...(parent === null ? {} : { parentSpanId: parent }),
            name: about.name,
            kind: about.kind,
            startTimeUnixNano: nanos(begun),
            endTimeUnixNano: nanos((one.end ?? event).time),
            attributes: attributes({ ...about.attributes, "remit.path": node.path }),
            status: failed === undefined ? {} : { code: ERROR, message: textIn(about.attributes["remit.error.message"]) ?? failed },
        });
        if (above === parent) above = id;
    });
    for (const child of node.children) collect(child, above, c);
}

// ---- spans -------------------------------------------------------------------------------------------------------------

interface Span {
    readonly name: string;
    readonly kind: number;
    readonly attributes: { readonly [name: string]: Json | undefined };
}

const get = (one: Happening, key: string): Json | undefined => {
    for (const event of [one.end, one.single, one.start]) {
        const value = event === undefined ? undefined : field(event, key);
        if (value !== undefined && value !== null) return value;
    }
    return undefined;
};
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

function modelName(uri: string): string {
    return uri.replace(/^[a-z0-9+.-]+:(\/\/)?/i, "") || uri;
}

const SPANS: { readonly [family: string]: ((one: Happening, content: boolean) => Span) | undefined } = {
    run: (one, content) => {
        const name = text(one, "name") ?? text(one, "agent") ?? text(one, "file") ?? text(one, "program") ?? "program";
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
                "gen_ai.usage.input_tokens": numberIn(usage.input),
                "gen_ai.usage.cache_read.input_tokens": numberIn(usage.cached),
                "gen_ai.usage.output_tokens": numberIn(usage.output),
                "gen_ai.usage.reasoning.output_tokens": numberIn(usage.reasoning),
                "remit.usage.usd": numberIn(usage.usd),
                "remit.attempt": numberIn(get(one, "attempt")),
                ...(error === undefined ? {} : { "error.type": finish === undefined ? "_OTHER" : "contract" }),
                ...(content ? { ...messages(one), "remit.error.message": error } : {}),
            },
        };
    },
    tool: (one, content) => {
        const name = [text(one, "tool"), text(one, "method")].filter((part) => part !== undefined).join(".");
        return {
            name: `execute_tool ${name}`,
            kind: INTERNAL,
            attributes: {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.type": "function",
                ...failure(one, content),
                ...(content
                    ? {
                          "gen_ai.tool.call.arguments": jsonText(get(one, "args")),
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
    ask: (one, content) => ({ name: "ask", kind: INTERNAL, attributes: failure(one, content) }),
    input: (one, content) => ({ name: "input", kind: INTERNAL, attributes: failure(one, content) }),
};

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
    const parts = listIn(message.content).map(objectIn);
    return [
        ...said,
        ...parts.map(
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

// ---- OTLP/JSON ---------------------------------------------------------------------------------------------------------

function attributes(values: Span["attributes"]): Json[] {
    return Object.entries(values).flatMap(([key, value]) =>
        value === undefined || value === null ? [] : [{ key, value: anyValue(value) }],
    );
}

function anyValue(value: Json): Json {
    if (typeof value === "string") return { stringValue: value };
    if (typeof value === "boolean") return { boolValue: value };
    if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
    return { stringValue: JSON.stringify(value) };
}

function nanos(time: string): string {
    const ms = millis(time);
    return ms === null ? "0" : `${ms}000000`;
}

/** `digits` hex digits made from a text: FNV-1a with a different start for every eight, finished as in MurmurHash3. */
function idOf(of: string, digits: number): string {
    let out = "";
    for (let part = 0; out.length < digits; part++) {
        let h = Math.imul(0x811c9dc5 ^ (part + 1), 0x01000193);
        for (let at = 0; at < of.length; at++) h = Math.imul(h ^ of.charCodeAt(at), 0x01000193);
        h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
        h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
        out += ((h ^ (h >>> 16)) >>> 0).toString(16).padStart(8, "0");
    }
    return out.slice(0, digits);
}
