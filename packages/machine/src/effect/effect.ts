/**
 * Effects, outcomes and failures: everything that passes between the machine and a host.
 *
 * Boundary: shapes and tables only. A host performs an effect and answers with an outcome; it decides nothing.
 *
 * EF1: an effect's `path` is unique in a run and depends on the program and its effect results alone, never on time.
 * EF2: `request` and `value` are plain JSON; a capability inside is written as a reference (`{"$capability": …}` never occurs in data).
 */
import type { Contract, Json, Site } from "@remit/language";

export type EffectKind = "model" | "tool" | "agent" | "author" | "ask" | "input" | "recall" | "remember" | "sleep" | "clock" | "random";

export interface Effect {
    /** `main/fix#0/for[2]/generate#1/attempt[0]`. */
    readonly path: string;
    readonly kind: EffectKind;
    readonly principal: string;
    readonly site: Site | null;
    readonly request: Json;
    /** Origins of everything in `request`, sorted. */
    readonly labels: readonly string[];
    /** Milliseconds the effect may take; silence is bounded by the host. */
    readonly deadline?: number;
    /** Which attempt it is, from 2 on, after the owner of the run had what failed asked for again. */
    readonly attempt?: number;
    /**
     * Hash of what its tool said of the method when a person allowed the call: it is made only while the tool says the same, else its performer
     * says `changed` first.
     */
    readonly allowed?: string;
}

/** What a provider says was used. Counts of tokens; `usd` where the price is known. */
export interface Usage {
    readonly input?: number;
    readonly cached?: number;
    readonly output?: number;
    readonly reasoning?: number;
    readonly usd?: number;
}

/** The sum of two usages, field by field; a field that neither has stays absent. */
export function addUsage(a: Usage, b: Usage | undefined): Usage {
    if (b === undefined) return a;
    const out: { -readonly [K in keyof Usage]: Usage[K] } = { ...a };
    for (const key of USAGE_FIELDS) if (b[key] !== undefined) out[key] = (a[key] ?? 0) + b[key];
    return out;
}
export const USAGE_FIELDS = ["input", "cached", "output", "reasoning", "usd"] as const satisfies readonly (keyof Usage)[];

export type Outcome =
    /** `parts`: further origins of parts of the value, by JSON Pointer (RFC 6901). */
    | {
          readonly ok: true;
          readonly value: Json;
          readonly origins: readonly string[];
          readonly parts?: { readonly [pointer: string]: readonly string[] };
          readonly usage?: Usage;
      }
    /** `origins`: of what the failure tells, besides what it came from. */
    | { readonly ok: false; readonly failure: Failure; readonly origins?: readonly string[]; readonly usage?: Usage };

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

export interface Failure {
    readonly kind: FailureKind;
    readonly message: string;
    readonly site?: Site | null;
    readonly detail?: Json;
    /** What a person can do about it. */
    readonly hint?: string;
}

// ---- requests, by kind -----------------------------------------------------------------------------------------------

/** Which of the requests of its kind it is: the `op` of those that have one. */
export function opOf(request: Json): Json | undefined {
    return (request as { readonly op?: Json } | null)?.op;
}

export type Part =
    | { readonly type: "text"; readonly text: string }
    /** `data` is base64, or `ref` names a blob. */
    | { readonly type: "file"; readonly mediaType: string; readonly data: string };

export type Message =
    | { readonly role: "system"; readonly content: string }
    | { readonly role: "user"; readonly content: readonly Part[] }
    | { readonly role: "assistant"; readonly content: string; readonly calls?: readonly ToolCall[] }
    | { readonly role: "tool"; readonly call: string; readonly name: string; readonly result: Json };

export interface ToolCall {
    readonly id: string;
    /** As offered in `ToolOffer.name`. */
    readonly name: string;
    readonly args: Json;
    /** What the provider wants to see again beside this call (a signature); handed back unread. */
    readonly provider?: Json;
}

export interface ToolOffer {
    /** Name shown to the model, e.g. `Repo_read`. */
    readonly name: string;
    readonly description?: string;
    /** JSON Schema of the arguments. */
    readonly input: Json;
}

/** One provider turn. */
export interface ModelTurn {
    readonly op: "turn";
    /** The model import: name in the program, URI. */
    readonly model: { readonly name: string; readonly uri: string };
    readonly messages: readonly Message[];
    /** Contract the reply is read against, with the shapes it refers to; absent for free text. */
    readonly contract?: Contract;
    readonly shapes?: { readonly [name: string]: Contract };
    readonly strict: boolean;
    readonly maxOutput?: number;
    readonly temperature?: number;
    readonly think?: boolean | "auto" | "low" | "medium" | "high";
    readonly tools?: readonly ToolOffer[];
    readonly stream: boolean;
    readonly debug: boolean;
    /** `Agent.func[n]`, for scripted models that answer by label. */
    readonly label: string;
}

/** How the host read the reply against the contract. The machine checks the value again. */
export interface Reading {
    /** Where the value was found: the whole reply, a fence, prose around it, a tool call … */
    readonly from: string;
    /** What was mended on the way, in words; empty where the reply was right as it stood. */
    readonly repairs: readonly string[];
    /** The provider's own constraint was used (JSON schema, grammar). */
    readonly constrained: boolean;
}

/** Outcome value of a `model` turn. Exactly one of `value` and `error` is set where a contract was given and no calls were made. */
export interface ModelReply {
    readonly text: string;
    readonly value?: Json;
    readonly error?: {
        readonly kind: "not_json" | "truncated" | "ambiguous" | "refused" | "empty" | "shape";
        readonly message: string;
        readonly rejected?: Json;
    };
    readonly reading?: Reading;
    readonly calls?: readonly ToolCall[];
    readonly finish: "stop" | "length" | "tool" | "refusal" | "other";
    readonly model: string;
    readonly thinking?: string;
    /** Further tries that passing errors of the provider made necessary. */
    readonly retries?: number;
    /** What the provider did not take of the request, in words. */
    readonly notes?: readonly string[];
    /** The layer that the model was not shown: decoding was bound to the contract, so its schema was left out of the prompt. */
    readonly without?: "contract";
}

/** Token counting with a recorded outcome: how much of each text fits. `keep` says which end stays. */
export interface ModelCount {
    readonly op: "count";
    readonly model: { readonly name: string; readonly uri: string };
    /** A text that may be cut anywhere, or pieces of which a prefix (suffix with keep end) of whole ones is kept. `max` in tokens. */
    readonly items: readonly {
        readonly pieces: readonly string[];
        readonly whole: boolean;
        readonly max: number;
        readonly keep: "start" | "end";
    }[];
}
/** `fits`: number of UTF-16 units (text) or of pieces kept; `tokens`: of what is kept; `total`: of all of it. */
export interface CountReply {
    readonly tokenizer: string;
    readonly items: readonly { readonly fits: number; readonly tokens: number; readonly total: number }[];
}

/** Patterns for a resource (the path of a file, a URL): what lies within them matches one of each list. */
export type Within = readonly (readonly string[])[];

/** Where a call may lead. To be kept by whoever performs it, too: where links and redirects go is known only there. */
export interface Reach {
    /** All of it lies within these. */
    readonly within?: Within;
    /** Nothing of it lies within one of these. */
    readonly without?: readonly Within[];
}

export interface ToolRequest extends Reach {
    readonly op: "call" | "describe";
    /** Import name in the program and its URI. */
    readonly tool: string;
    readonly uri: string;
    /** File that imports it, as named in the program form: relative URIs and configuration belong to it. */
    readonly file: string;
    readonly method?: string;
    /** Absent: the member is read, not called (modules only). */
    readonly args?: Json[];
    /** Who chose the call: the program's own text, or a model in a `generate` with tools. */
    readonly chosenBy?: "program" | "model";
}

/** Outcome value of `op: "describe"`. */
export interface ToolDescription {
    readonly methods: readonly {
        readonly name: string;
        readonly description?: string;
        readonly input: Json;
        /** The tool itself, or its server, marks the method as reading only. */
        readonly readOnly: boolean;
        /** It says that the method changes something. Absent beside `readOnly: false`: it says nothing. */
        readonly writes?: boolean;
    }[];
}

export interface MemoryRequest {
    readonly memory: string;
    readonly uri: string;
    readonly file: string;
    /** `remember`: the record; `recall`: the query. */
    readonly arg: Json;
}

export interface InputRequest {
    /** `input.question`. */
    readonly name: string;
    readonly contract: Contract;
    readonly description?: string;
}

/** Outcome value: the option that was chosen, a string. Anything that is not an option that allows is a no. */
export interface AskRequest {
    readonly question: string;
    readonly detail: Json;
    readonly options: readonly string[];
}

/** Answers to a question about a use, in the order in which they are offered. */
export const ANSWERS = ["once", "session", "deny", "deny session", "abort"] as const;

/** Anything that is not one of the answers is a no. */
export function verdictOf(outcome: Outcome): (typeof ANSWERS)[number] {
    const said = outcome.ok ? outcome.value : "deny";
    return ANSWERS.find((answer) => answer === said) ?? "deny";
}

// ---- agents outside the program (PROTOCOLS 4) ---------------------------------------------------------------------------

/** A part of a prompt to an agent. `resource` is an embedded document. */
export type AgentPart =
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "resource"; readonly uri: string; readonly mediaType: string; readonly text: string };

/** A tool that the agent's own hands may reach while it works: what its remit and the call give it at this moment. */
export interface AgentHand {
    /** Import name in the program, its URI, and the file that imports it. */
    readonly tool: string;
    readonly uri: string;
    readonly file: string;
    /**
     * `method` null: every method that is not named beside it. What it may not use at all is left out, or stands among them as one that is asked
     * about and not whole: the ruling on a use refuses it.
     */
    readonly methods: readonly {
        readonly method: string | null;
        readonly gate: "may" | "ask";
        /**
         * True: the gate holds for every call, whatever its arguments, and what it gives is for anybody to read. False: some calls are outside it
         * (bounds on paths, hosts, values; flows). Absent: not known, which counts against writing and not against reading.
         */
        readonly whole?: boolean;
    }[];
}

/** What a session may use, counted by the host while a turn runs. Absent: not bounded here. */
export interface AgentLimits {
    /** Messages and tool calls of the agent. */
    readonly steps?: number;
    /** Tool calls. */
    readonly calls?: number;
    /** Milliseconds of this turn. */
    readonly ms?: number;
    /** Milliseconds without any sign of life. */
    readonly silence?: number;
    /** Tokens, input and cached ones counted, as far as the agent reports usage. */
    readonly tokens?: number;
    readonly usd?: number;
    /** Bytes (UTF-8) of the agent's text. */
    readonly bytes?: number;
}

/** One prompt turn of a session with an agent. The host opens the session at its first turn and ends it once the session's call is over. */
export interface AgentTurn {
    readonly op: "turn";
    /** The agent's import: name in the program, URI, and the file that imports it. */
    readonly agent: { readonly name: string; readonly uri: string; readonly file: string; readonly unconfined?: true };
    /** Path of the call that opened the session: one session, one process, by this id. */
    readonly session: string;
    /** From 0. */
    readonly turn: number;
    /** The session begins with it, though others of the same call came before: a further try. */
    readonly fresh?: true;
    readonly prompt: readonly AgentPart[];
    readonly hands: readonly AgentHand[];
    readonly limits: AgentLimits;
    /** A wish, which the agent may not be able to fulfil. */
    readonly model?: string;
}

/** What happened during a turn, in order, as far as the agent told: the trajectory is made of it. `time` in ISO 8601. */
export type AgentEntry =
    | { readonly kind: "thought"; readonly text: string; readonly time?: string }
    | { readonly kind: "message"; readonly text: string; readonly time?: string; readonly media?: readonly AgentMedia[] }
    | {
          readonly kind: "call";
          readonly id: string;
          readonly name: string;
          readonly title?: string;
          /** As the protocol has it: read, edit, delete, move, search, execute, think, fetch, switch_mode, other. */
          readonly toolKind?: string;
          readonly input?: Json;
          readonly output?: Json;
          readonly status: "pending" | "in_progress" | "completed" | "failed";
          readonly locations?: readonly string[];
          /** What was decided about it, and by whom: `remit`, `person`, `nobody`. */
          readonly permission?: { readonly allowed: boolean; readonly by: string; readonly why?: string };
          readonly time?: string;
      }
    | { readonly kind: "plan"; readonly items: readonly { readonly content: string; readonly status: string }[]; readonly time?: string }
    | { readonly kind: "compaction"; readonly summary?: string; readonly time?: string };

/** What an agent reports while it works, as it comes. `more`: the text goes on in its last entry of the same kind; a call stands for all that was said of it. */
export type AgentNote =
    | { readonly entry: AgentEntry; readonly more?: true }
    /** What the turn used so far. */
    | { readonly usage: Usage }
    /** How the agent calls itself, and how its process is kept. */
    | { readonly about: Pick<AgentReply, "agent" | "confinement"> };

/** A picture or sound that the agent gave: base64, or the name of a blob. */
export interface AgentMedia {
    readonly mediaType: string;
    readonly data: string;
}

/** Outcome value of a turn. A turn that ended by a limit, a crash or a cancel fails; `failure.detail.reply` then holds what there was of this. */
export interface AgentReply {
    /** The messages of the turn, joined. */
    readonly text: string;
    readonly resources?: readonly { readonly uri: string; readonly mediaType: string; readonly text: string }[];
    readonly stop: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";
    readonly entries: readonly AgentEntry[];
    /** As the agent calls itself. */
    readonly agent?: { readonly name: string; readonly version: string; readonly model?: string };
    /** How its process was kept: in a sandbox of the operating system, without one, or it is none of ours (a server, a stub). */
    readonly confinement: "sandbox" | "unconfined" | "remote";
    /** Steps and tool calls that were counted. */
    readonly spent: { readonly steps: number; readonly calls: number; readonly ms: number };
}
