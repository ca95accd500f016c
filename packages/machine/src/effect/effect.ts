/**
 * Effects, outcomes and failures: everything that passes between the machine and a host.
 *
 * Boundary: shapes and tables only. A host performs an effect and answers with an outcome; it decides nothing.
 *
 * EF1: an effect's `path` is unique in a run and depends on the program and its effect results alone, never on time.
 * EF3: what a stage says of credentials goes with every effect that is sent somewhere: where it comes from, never its value.
 * EF4: what a stage says of where, in which order and how often its effects are performed goes with them; it changes no value.
 * EF2: `request` and `value` are plain JSON; a capability inside is written as a reference (`{"$capability": …}` never occurs in data).
 */
import type { Contract, Json, Site } from "@remit/language";
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
    ref,
    type Shape,
    says,
    shape,
    type Told,
    text,
} from "../shape/build.ts";
import { GIVEN, PART_USED, RUN_REQUEST } from "./elsewhere.ts";
import { OF_STAGE } from "./stage.ts";
import type { Usage } from "./usage.ts";

const usage = ref<Usage>("Usage");
const site = orNull(ref<Site>("Site"));
const contract = ref<Contract>("Contract");

/** What a server states of what it gives. It restricts, and grants nothing. */
export const CLAIMS = shape(
    {},
    {
        untrusted: says(is(true), "others may have written it, whatever the import says"),
        private: says(is(true), "only the person of the run may read it"),
    },
);
export type Claims = Told<typeof CLAIMS>;

/** What a server states of all that it gives, where the import says `labels from server`: nothing without that. */
export const GRANTS = shape({}, { trusted: is(true), public: says(is(true), "every person may read it") });
export type Grants = Told<typeof GRANTS>;

/** What uses that an agent made with its own hands gave it. */
export const READ = shape({ tool: text, origins: list(text) }, { claims: CLAIMS });
export type Read = Told<typeof READ>;
const READS = says(list(READ), "of a turn of an agent, or of a budget's time that is up: what agents' own uses gave them by then, by tool");

export const OUTCOMES = {
    done: shape(
        { ok: is(true), value: json, origins: says(list(text), "origins of the value") },
        {
            parts: says(named(list(text)), "further origins of parts, by JSON Pointer"),
            claims: CLAIMS,
            grants: GRANTS,
            usage,
            described: says(text, "of the answer to a question about a call: hash of what the tool said of its method when it was asked"),
            bindings: says(named(GIVEN), "of a part of the program that ran elsewhere: what blocks in it with a name gave"),
            ...PART_USED,
            read: READS,
        },
    ),
    failed: shape(
        { ok: is(false), failure: ref<Failure>("Failure") },
        { origins: says(list(text), "of what the failure tells"), claims: CLAIMS, usage, ...PART_USED, read: READS },
    ),
};
export type Outcome = Told<(typeof OUTCOMES)[keyof typeof OUTCOMES]>;

/** Whether a call was certainly not made: its performer refused it before anything of it left. `made` in the detail says that something did. */
export function isUnmade(outcome: Outcome): boolean {
    if (outcome.ok || outcome.failure.kind !== "denied") return false;
    const { detail } = outcome.failure;
    return !(detail !== null && typeof detail === "object" && !Array.isArray(detail) && detail["made"] === true);
}

// ---- failures (LANGUAGE 7) -------------------------------------------------------------------------------------------

export type FailureClass = "failure" | "limit" | "violation";

/** Every kind of failure and its class. `failure` can be caught anywhere, `limit` outside its region, `violation` by the author's code. */
export const FAILURE_KINDS = {
    refusal: "failure",
    unreachable: "failure",
    timeout: "failure",
    rate_limited: "failure",
    invalid_payload: "failure",
    contract: "failure",
    tool: "failure",
    model: "failure",
    value: "failure",
    denied: "failure",
    raised: "failure",
    cancelled: "limit",
    "limit.steps": "limit",
    "limit.time": "limit",
    "limit.tokens": "limit",
    "limit.cost": "limit",
    "limit.turns": "limit",
    "limit.calls": "limit",
    "limit.bytes": "limit",
    "limit.depth": "limit",
    "violation.remit": "violation",
    "violation.flow": "violation",
    "violation.capability": "violation",
    "violation.revoked": "violation",
    "violation.payload": "violation",
} as const satisfies Record<string, FailureClass>;

export type FailureKind = keyof typeof FAILURE_KINDS;

export const FAILURE = shape(
    { kind: ref<FailureKind>("FailureKind"), message: text },
    {
        site,
        detail: json,
        /** What a person can do about it. */
        hint: text,
    },
);
export type Failure = Told<typeof FAILURE>;

// ---- requests, by kind -----------------------------------------------------------------------------------------------

/** Which of the requests of its kind it is: the `op` of those that have one. */
export function opOf(request: Json): Json | undefined {
    return (request as { readonly op?: Json } | null)?.op;
}

export const PART = any(
    shape({ type: is("text"), text }, {}),
    shape(
        { type: is("file"), mediaType: text, data: says(text, "base64") },
        {
            /** A model that takes no such part is sent a text that says so, in its place. */
            optional: is(true),
        },
    ),
);
export type Part = Told<typeof PART>;

export const TOOL_CALL = shape(
    {
        id: text,
        /** As offered in `ToolOffer.name`. */
        name: text,
        args: json,
    },
    {
        /** What the provider wants to see again beside this call (a signature); handed back unread. */
        provider: json,
        unread: says(text, "why it could not be read; it is not made, and the model is told this"),
    },
);
export type ToolCall = Told<typeof TOOL_CALL>;
const calls = list(ref<ToolCall>("ToolCall"));

export const MESSAGE = any(
    shape({ role: is("system"), content: text }, {}),
    shape({ role: is("user"), content: list(ref<Part>("Part")) }, {}),
    shape({ role: is("assistant"), content: text }, { calls }),
    shape({ role: is("tool"), call: text, name: text, result: json }, {}),
);
export type Message = Told<typeof MESSAGE>;

export const TOOL_OFFER = shape(
    {
        /** Name shown to the model, e.g. `Repo_read`. */
        name: text,
        input: says(json, "JSON Schema of the arguments"),
    },
    { description: text },
);
export type ToolOffer = Told<typeof TOOL_OFFER>;

/** The model import: name in the program, URI. */
const MODEL = shape({ name: text, uri: text }, {});

const TURN = shape(
    {
        op: is("turn"),
        model: MODEL,
        messages: list(ref<Message>("Message")),
        strict: flag,
        stream: flag,
        debug: flag,
        /** `Agent.func[n]`, for scripted models that answer by label. */
        label: text,
    },
    {
        /** Contract the reply is read against, with the shapes it refers to; absent for free text. */
        contract,
        shapes: named(contract),
        maxOutput: number,
        temperature: number,
        think: any(flag, one(["auto", "low", "medium", "high"])),
        tools: list(ref<ToolOffer>("ToolOffer")),
    },
);
/** One provider turn. */
export type ModelTurn = Told<typeof TURN>;

const READING = shape(
    {
        /** Where the value was found: the whole reply, a fence, prose around it, a tool call … */
        from: text,
        /** What was mended on the way, in words; empty where the reply was right as it stood. */
        repairs: list(text),
        /** The provider's own constraint was used (JSON schema, grammar). */
        constrained: flag,
    },
    {},
);
/** How the host read the reply against the contract. The machine checks the value again. */
export type Reading = Told<typeof READING>;

export const MODEL_REPLY = shape(
    { text, finish: one(["stop", "length", "tool", "refusal", "other"]), model: text },
    {
        value: json,
        error: shape({ kind: one(["not_json", "truncated", "ambiguous", "refused", "empty", "shape"]), message: text }, { rejected: json }),
        reading: READING,
        calls,
        thinking: text,
        /** Further tries that passing errors of the provider made necessary. */
        retries: count,
        /** What the provider did not take of the request, in words. */
        notes: list(text),
        /** The layer that the model was not shown: decoding was bound to the contract, so its schema was left out of the prompt. */
        without: one(["contract"]),
    },
);
/** Outcome value of a `model` turn. Exactly one of `value` and `error` is set where a contract was given and no calls were made. */
export type ModelReply = Told<typeof MODEL_REPLY>;

const COUNT = shape(
    {
        op: is("count"),
        model: MODEL,
        /** A text that may be cut anywhere, or pieces of which a prefix (suffix with keep end) of whole ones is kept. `max` in tokens. */
        items: list(shape({ pieces: list(text), whole: flag, max: number, keep: one(["start", "end"]) }, {})),
    },
    {},
);
/** Token counting with a recorded outcome: how much of each text fits. `keep` says which end stays. */
export type ModelCount = Told<typeof COUNT>;

export const COUNT_REPLY = shape({ tokenizer: text, items: list(shape({ fits: number, tokens: number, total: number }, {})) }, {});
/** `fits`: number of UTF-16 units (text) or of pieces kept; `tokens`: of what is kept; `total`: of all of it. */
export type CountReply = Told<typeof COUNT_REPLY>;

/** Patterns for a resource (the path of a file, a URL): what lies within them matches one of each list. */
export type Within = readonly (readonly string[])[];

/** What a call is allowed as, and where it may lead. To be kept by its performer, too: where links and redirects go is known only there. */
const REACH = {
    within: says(list(list(text)), "patterns for the resource, one of each list"),
    without: says(list(list(list(text))), "patterns that the resource must not match, all lists of one"),
    daily: says(
        list(shape({ counter: text }, { most: count, rule: text })),
        "what the ledger counts the call for before it is made; beyond `most` in any 24 hours the call is `denied`",
    ),
    allowed: says(
        text,
        "a person allowed the call while the tool said this of the method (a hash, empty where it is not known): where it says something else now, the performer says `changed` before the call",
    ),
};
export type Reach = { readonly [K in keyof typeof REACH]?: Told<(typeof REACH)[K]> };

const TOOL = shape(
    {
        op: one(["call", "describe"]),
        /** Import name in the program and its URI. */
        tool: text,
        uri: text,
        /** File that imports it, as named in the program form: relative URIs and configuration belong to it. */
        file: text,
    },
    {
        method: text,
        /** Absent: the member is read, not called (modules only). */
        args: list(json) as Shape<Json[]>,
        /** Who chose the call: the program's own text, or a model in a `generate` with tools. */
        chosenBy: one(["program", "model"]),
        ...REACH,
    },
);
export type ToolRequest = Told<typeof TOOL>;

export const TOOL_DESCRIPTION = shape(
    {
        methods: list(
            shape(
                {
                    name: text,
                    input: json,
                    /** The tool itself, or its server, marks the method as reading only. */
                    readOnly: flag,
                },
                {
                    description: text,
                    /** It says that the method changes something. Absent beside `readOnly: false`: it says nothing. */
                    writes: flag,
                },
            ),
        ),
    },
    {
        pinned: says(
            flag,
            "whether what it says of itself is as a person has it: as `remit.lock` has it, or in the code of the caller that brings the tool",
        ),
    },
);
/** Outcome value of `op: "describe"`. */
export type ToolDescription = Told<typeof TOOL_DESCRIPTION>;

const MEMORY = shape(
    {
        memory: text,
        uri: text,
        file: text,
        /** `remember`: the record; `recall`: the query. */
        arg: json,
    },
    { daily: REACH.daily },
);
export type MemoryRequest = Told<typeof MEMORY>;

const INPUT = shape(
    {
        /** `input.question`. */
        name: text,
        contract,
    },
    { description: text, default: says(json, "what an answer with nothing means, where who asks says so; a form shows it filled in") },
);
export type InputRequest = Told<typeof INPUT>;

const ASK = shape(
    { question: text, detail: json, options: list(text) },
    { within: says(number, "milliseconds in which it can be answered, where the program says so") },
);
/** Outcome value: the option that was chosen, a string. Anything that is not an option that allows is a no. */
export type AskRequest = Told<typeof ASK>;

/** Answers to a question about a use, in the order in which they are offered. */
export const ANSWERS = ["once", "session", "deny", "deny session", "abort"] as const;

/** Anything that is not one of the answers is a no. */
export function verdictOf(outcome: Outcome): (typeof ANSWERS)[number] {
    const said = outcome.ok ? outcome.value : "deny";
    return ANSWERS.find((answer) => answer === said) ?? "deny";
}

// ---- agents outside the program (PROTOCOLS 4) ---------------------------------------------------------------------------

export const AGENT_PART = any(shape({ type: is("text"), text }, {}), shape({ type: is("resource"), uri: text, mediaType: text, text }, {}));
/** A part of a prompt to an agent. `resource` is an embedded document. */
export type AgentPart = Told<typeof AGENT_PART>;

const HAND = shape(
    {
        /** Import name in the program, its URI, and the file that imports it. */
        tool: text,
        uri: text,
        file: text,
        /** What it may not use at all is left out, or stands among them as one that is asked about and not whole: the ruling on a use refuses it. */
        methods: list(
            shape(
                {
                    /** Null: every method that is not named beside it. */
                    method: says(orNull(text), "null: every method"),
                    gate: one(["may", "ask"]),
                },
                {
                    /**
                     * True: the gate holds for every call, whatever its arguments, and every principal may read what it gives. False: some calls are
                     * outside it (bounds on paths, hosts, values; flows). Absent: not known, which counts against writing and not against reading.
                     */
                    whole: says(flag, "whether the gate holds whatever the arguments are"),
                },
            ),
        ),
    },
    {},
);
/** A tool that the agent's own hands may reach while it works: what its remit and the call give it at this moment. */
export type AgentHand = Told<typeof HAND>;

const LIMITS = shape(
    {},
    {
        /** Messages and tool calls of the agent. */
        steps: number,
        /** Tool calls. */
        calls: number,
        /** Milliseconds of this turn. */
        ms: number,
        /** Milliseconds without any sign of life. */
        silence: number,
        /** Tokens, input and cached ones counted, as far as the agent reports usage. */
        tokens: number,
        usd: number,
        /** Bytes (UTF-8) of the agent's text. */
        bytes: number,
    },
);
/** What a session may use, counted by the host while a turn runs. Absent: not bounded here. */
export type AgentLimits = Told<typeof LIMITS>;

const AGENT_TURN = shape(
    {
        op: is("turn"),
        /** The agent's import: name in the program, URI, and the file that imports it. */
        agent: shape({ name: text, uri: text, file: text }, { unconfined: is(true) }),
        /** One session, one process, by this id. */
        session: says(text, "path of the call that opened it"),
        /** From 0. */
        turn: says(count, "of the call that opened the session"),
        prompt: list(ref<AgentPart>("AgentPart")),
        hands: list(HAND),
        limits: LIMITS,
    },
    {
        fresh: says(is(true), "the session begins with it: a further try of the same call"),
        load: says(
            shape({ id: text }, { usd: number }),
            "how the agent calls the session, which is taken up where the process that had it has ended, and the US dollars of it that were counted by then",
        ),
        /** A wish, which the agent may not be able to fulfil. */
        model: text,
    },
);
/** One prompt turn of a session with an agent. The host opens the session at its first turn and ends it once the session's call is over. */
export type AgentTurn = Told<typeof AGENT_TURN>;

export {
    AGENT_REPLY,
    type AgentDiff,
    type AgentEntry,
    type AgentMedia,
    type AgentNote,
    type AgentReply,
} from "./told.ts";

// ---- effects -----------------------------------------------------------------------------------------------------------

/** The request of each kind of effect. */
export const REQUESTS = {
    model: any(TURN, COUNT),
    tool: TOOL,
    agent: AGENT_TURN,
    author: json,
    ask: ASK,
    input: INPUT,
    recall: MEMORY,
    remember: MEMORY,
    run: RUN_REQUEST,
    sleep: json,
    clock: json,
    random: json,
};
export type EffectKind = keyof typeof REQUESTS;
export const EFFECT_KINDS = Object.keys(REQUESTS) as readonly EffectKind[];

/** An effect of one kind, or of any: `request` is as that kind has it. */
export const effectShape = (kind: Shape<EffectKind>, request: Shape<Json>) =>
    shape(
        {
            /** `main/fix#0/for[2]/generate#1/attempt[0]`. */
            path: says(text, "unique in a run"),
            kind,
            principal: text,
            site,
            request,
            labels: says(list(text), "origins of everything in the request, sorted"),
        },
        {
            /** What the effect may take; silence is bounded by the host. */
            deadline: says(number, "milliseconds"),
            attempt: says(count, "from 2 on, after a retry of what failed"),
            ...OF_STAGE,
        },
    );
export type Effect = Told<ReturnType<typeof effectShape>>;
