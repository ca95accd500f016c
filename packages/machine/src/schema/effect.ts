/**
 * The JSON Schema of effects and outcomes: what passes between the machine and a host.
 *
 * Boundary: the shapes of `effect.ts` as tables. What the value of an outcome has to be follows from the effect that it answers: the
 * definitions `ModelReply`, `CountReply` and `ToolDescription` say it where the machine reads the value.
 */
import type { Contract, Field, Site } from "@remit/language";
import {
    type AgentEntry,
    type AgentHand,
    type AgentLimits,
    type AgentMedia,
    type AgentPart,
    type AgentReply,
    type AgentTurn,
    type AskRequest,
    type CountReply,
    type Effect,
    type EffectKind,
    FAILURE_KINDS,
    type Failure,
    type InputRequest,
    type MemoryRequest,
    type Message,
    type ModelCount,
    type ModelReply,
    type ModelTurn,
    type Outcome,
    type Part,
    type Reading,
    type ToolCall,
    type ToolDescription,
    type ToolOffer,
    type ToolRequest,
    type Usage,
} from "../effect/effect.ts";
import {
    any,
    count,
    flag,
    is,
    json,
    list,
    named,
    number,
    one,
    orNull,
    record,
    ref,
    type Schema,
    says,
    schemaOf,
    text,
} from "../shape/build.ts";

type Of<T, K extends string> = Extract<T, { readonly type: K }>;
type Said<K extends string> = Extract<Message, { readonly role: K }>;

export const SITE: Schema = record<Site>({ file: text, line: count, column: count }, { endLine: count, endColumn: count });

const CONTRACT: Schema = any(
    record<{ type: string }>({ type: one(["string", "number", "boolean", "json", "none"]) }, {}),
    record<Of<Contract, "list">>({ type: is("list") }, { item: ref("Contract") }),
    record<Of<Contract, "object">>({ type: is("object"), fields: list(ref("Field")) }, {}),
    record<Of<Contract, "literal">>({ type: is("literal"), value: { type: ["string", "number", "boolean", "null"] } }, {}),
    record<Of<Contract, "union">>({ type: is("union"), of: list(ref("Contract")) }, {}),
    record<Of<Contract, "optional">>({ type: is("optional"), of: ref("Contract") }, {}),
    record<Of<Contract, "ref">>({ type: is("ref"), name: text }, {}),
);

const MODEL = record<ModelTurn["model"]>({ name: text, uri: text }, {});

const MESSAGE: Schema = any(
    record<Said<"system">>({ role: is("system"), content: text }, {}),
    record<Said<"user">>({ role: is("user"), content: list(ref("Part")) }, {}),
    record<Said<"assistant">>({ role: is("assistant"), content: text }, { calls: list(ref("ToolCall")) }),
    record<Said<"tool">>({ role: is("tool"), call: text, name: text, result: json }, {}),
);

const TURN = record<ModelTurn>(
    { op: is("turn"), model: MODEL, messages: list(ref("Message")), strict: flag, stream: flag, debug: flag, label: text },
    {
        contract: ref("Contract"),
        shapes: named(ref("Contract")),
        maxOutput: number,
        temperature: number,
        think: any(flag, one(["auto", "low", "medium", "high"])),
        tools: list(ref("ToolOffer")),
    },
);

const COUNT = record<ModelCount>(
    {
        op: is("count"),
        model: MODEL,
        items: list(record<ModelCount["items"][number]>({ pieces: list(text), whole: flag, max: number, keep: one(["start", "end"]) }, {})),
    },
    {},
);

const MEMORY = record<MemoryRequest>({ memory: text, uri: text, file: text, arg: json }, {});

const AGENT = record<AgentTurn>(
    {
        op: is("turn"),
        agent: record<AgentTurn["agent"]>({ name: text, uri: text, file: text }, { unconfined: is(true) }),
        session: says(text, "path of the call that opened it"),
        turn: says(count, "of the call that opened the session"),
        prompt: list(ref("AgentPart")),
        hands: list(
            record<AgentHand>(
                {
                    tool: text,
                    uri: text,
                    file: text,
                    methods: list(
                        record<AgentHand["methods"][number]>(
                            { method: says(orNull(text), "null: every method"), gate: one(["may", "ask"]) },
                            { whole: says(flag, "whether the gate holds whatever the arguments are") },
                        ),
                    ),
                },
                {},
            ),
        ),
        limits: record<AgentLimits>(
            {},
            { steps: number, calls: number, ms: number, silence: number, tokens: number, usd: number, bytes: number },
        ),
    },
    { fresh: says(is(true), "the session begins with it: a further try of the same call"), model: text },
);

/** The request of each kind of effect. */
export const REQUESTS: { readonly [K in EffectKind]: Schema } = {
    model: any(TURN, COUNT),
    tool: record<ToolRequest>(
        { op: one(["call", "describe"]), tool: text, uri: text, file: text },
        {
            method: text,
            args: list(json),
            chosenBy: one(["program", "model"]),
            within: says(list(list(text)), "patterns for the resource, one of each list"),
            without: says(list(list(list(text))), "patterns that the resource must not match, all lists of one"),
        },
    ),
    agent: AGENT,
    author: json,
    ask: record<AskRequest>({ question: text, detail: json, options: list(text) }, {}),
    input: record<InputRequest>({ name: text, contract: ref("Contract") }, { description: text }),
    recall: MEMORY,
    remember: MEMORY,
    sleep: json,
    clock: json,
    random: json,
};

const KINDS = Object.keys(REQUESTS) as EffectKind[];

export function effectOf(kind: EffectKind, request: Schema = REQUESTS[kind]): Schema {
    return record<Effect>(
        {
            path: says(text, "unique in a run"),
            kind: is(kind),
            principal: text,
            site: orNull(ref("Site")),
            request,
            labels: says(list(text), "origins of everything in the request, sorted"),
        },
        {
            deadline: says(number, "milliseconds"),
            attempt: says(count, "from 2 on, after a retry of what failed"),
            allowed: says(text, "hash of the description under which a person allowed the call"),
        },
    );
}

const REPLY = record<ModelReply>(
    { text, finish: one(["stop", "length", "tool", "refusal", "other"]), model: text },
    {
        value: json,
        error: record<NonNullable<ModelReply["error"]>>(
            { kind: one(["not_json", "truncated", "ambiguous", "refused", "empty", "shape"]), message: text },
            { rejected: json },
        ),
        reading: record<Reading>({ from: text, repairs: list(text), constrained: flag }, {}),
        calls: list(ref("ToolCall")),
        thinking: text,
        retries: count,
        notes: list(text),
        without: one(["contract"]),
    },
);

/** What the continuation has in common with an effect as it is handed out. */
export const EFFECT_DEFS: { readonly [name: string]: Schema } = {
    Effect: any(...KINDS.map((kind) => ref(`Effect.${kind}`))),
    ...Object.fromEntries(KINDS.map((kind) => [`Effect.${kind}`, effectOf(kind)])),
    Outcome: any(
        record<Extract<Outcome, { readonly ok: true }>>(
            { ok: is(true), value: json, origins: says(list(text), "origins of the value") },
            {
                parts: says({ type: "object", additionalProperties: list(text) }, "further origins of parts, by JSON Pointer"),
                usage: ref("Usage"),
            },
        ),
        record<Extract<Outcome, { readonly ok: false }>>(
            { ok: is(false), failure: ref("Failure") },
            { origins: says(list(text), "of what the failure tells, besides what it came from"), usage: ref("Usage") },
        ),
    ),
    Failure: record<Failure>({ kind: ref("FailureKind"), message: text }, { site: orNull(ref("Site")), detail: json, hint: text }),
    FailureKind: one(Object.keys(FAILURE_KINDS)),
    Usage: says(
        record<Usage>({}, { input: number, cached: number, output: number, reasoning: number, usd: number }),
        "tokens; usd where the price is known",
    ),
    Site: SITE,
    Contract: CONTRACT,
    Field: record<Field>({ name: text, contract: ref("Contract") }, { optional: flag, default: json, description: text }),
    Message: MESSAGE,
    AgentPart: any(
        record<Of<AgentPart, "text">>({ type: is("text"), text }, {}),
        record<Of<AgentPart, "resource">>({ type: is("resource"), uri: text, mediaType: text, text }, {}),
    ),
    Part: any(
        record<Of<Part, "text">>({ type: is("text"), text }, {}),
        record<Of<Part, "file">>({ type: is("file"), mediaType: text, data: says(text, "base64") }, {}),
    ),
    ToolCall: record<ToolCall>({ id: text, name: text, args: json }, { provider: json }),
    ToolOffer: record<ToolOffer>({ name: text, input: says(json, "JSON Schema of the arguments") }, { description: text }),
};

type Entry<K extends string> = Extract<AgentEntry, { readonly kind: K }>;

const ENTRY: Schema = any(
    record<Entry<"thought">>({ kind: is("thought"), text }, { time: text }),
    record<Entry<"message">>(
        { kind: is("message"), text },
        { time: text, media: list(record<AgentMedia>({ mediaType: text, data: text }, {})) },
    ),
    record<Entry<"call">>(
        { kind: is("call"), id: text, name: text, status: one(["pending", "in_progress", "completed", "failed"]) },
        {
            title: text,
            toolKind: text,
            input: json,
            output: json,
            locations: list(text),
            permission: record<NonNullable<Entry<"call">["permission"]>>({ allowed: flag, by: text }, { why: text }),
            time: text,
        },
    ),
    record<Entry<"plan">>(
        { kind: is("plan"), items: list(record<Entry<"plan">["items"][number]>({ content: text, status: text }, {})) },
        { time: text },
    ),
    record<Entry<"compaction">>({ kind: is("compaction") }, { summary: text, time: text }),
);

const AGENT_REPLY = record<AgentReply>(
    {
        text,
        stop: one(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]),
        entries: list(ENTRY),
        confinement: one(["sandbox", "unconfined", "remote"]),
        spent: record<AgentReply["spent"]>({ steps: count, calls: count, ms: number }, {}),
    },
    {
        resources: list(record<NonNullable<AgentReply["resources"]>[number]>({ uri: text, mediaType: text, text }, {})),
        agent: record<NonNullable<AgentReply["agent"]>>({ name: text, version: text }, { model: text }),
    },
);

/** Outcome values that the machine reads. */
const VALUES: { readonly [name: string]: Schema } = {
    AgentReply: says(AGENT_REPLY, "value of an agent's turn"),
    ModelReply: says(REPLY, "value of a model turn"),
    CountReply: says(
        record<CountReply>(
            {
                tokenizer: text,
                items: list(record<CountReply["items"][number]>({ fits: number, tokens: number, total: number }, {})),
            },
            {},
        ),
        "value of a count of tokens",
    ),
    ToolDescription: says(
        record<ToolDescription>(
            {
                methods: list(
                    record<ToolDescription["methods"][number]>(
                        { name: text, input: json, readOnly: flag },
                        { description: text, writes: flag },
                    ),
                ),
            },
            {},
        ),
        "value of a tool's description",
    ),
};

export function effectJsonSchema(): Schema {
    return schemaOf("effect-1", "Remit effect or outcome", ["Effect", "Outcome"], { ...EFFECT_DEFS, ...VALUES });
}
