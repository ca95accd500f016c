/**
 * ATIF, the Agent Trajectory Interchange Format, as of version 1.8 (Harbor RFC 0001): the shapes, a table from which the types follow and that checks by.
 *
 * Boundary: shapes only. Reading, checking, writing and showing are beside this file.
 *
 * TY1: every object refuses fields that are not in its table; `null` stands for an absent optional field.
 */
import type { Json } from "@remit/language";

export type JsonObject = { [key: string]: Json };

/** Oldest first. */
export const ATIF_VERSIONS = [
    "ATIF-v1.0",
    "ATIF-v1.1",
    "ATIF-v1.2",
    "ATIF-v1.3",
    "ATIF-v1.4",
    "ATIF-v1.5",
    "ATIF-v1.6",
    "ATIF-v1.7",
    "ATIF-v1.8",
] as const;
export const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
export const AUDIO_TYPES = [
    "audio/wav",
    "audio/mpeg",
    "audio/mp4",
    "audio/aac",
    "audio/ogg",
    "audio/flac",
    "audio/webm",
    "audio/aiff",
] as const;

/** Other spellings of types of sound, which a reader takes for the registered ones. */
export const AUDIO_ALIASES: { readonly [alias: string]: (typeof AUDIO_TYPES)[number] } = {
    "audio/mp3": "audio/mpeg",
    "audio/mpga": "audio/mpeg",
    "audio/x-mpeg": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/x-m4a": "audio/mp4",
    "audio/m4a": "audio/mp4",
    "audio/x-aac": "audio/aac",
    "audio/x-flac": "audio/flac",
    "audio/x-aiff": "audio/aiff",
};

/** The registered name of a type of sound, null where it is none. */
export function audioType(given: string): (typeof AUDIO_TYPES)[number] | null {
    const name = given.trim().toLowerCase();
    if (Object.hasOwn(AUDIO_ALIASES, name)) return AUDIO_ALIASES[name] as (typeof AUDIO_TYPES)[number];
    return AUDIO_TYPES.find((one) => one === name) ?? null;
}

export type ShapeName = keyof typeof TABLE;

export type Kind =
    | "string"
    | "integer"
    | "number"
    | "boolean"
    | "object"
    | "effort"
    | "content"
    | { readonly list: Kind }
    | { readonly shape: string }
    | { readonly of: readonly string[] };

export interface Field {
    readonly kind: Kind;
    readonly required?: true;
    /** Least value of a number. */
    readonly least?: number;
    /** Index in `ATIF_VERSIONS` of the version that brought it. */
    readonly since?: number;
    /** Only on steps of an agent. */
    readonly agentOnly?: true;
    /** A token count: negative ones are accepted by readers, and wrong. */
    readonly counts?: true;
}

export type Fields = { readonly [name: string]: Field };

const TEXT = { kind: "string" } as const;
const OBJECT = { kind: "object" } as const;
const TOKENS = { kind: "integer", counts: true } as const;

const TABLE = {
    Trajectory: {
        schema_version: { kind: { of: ATIF_VERSIONS } },
        /** Of the run: several trajectories may share one. */
        session_id: TEXT,
        /** Of this document. */
        trajectory_id: { kind: "string", since: 7 },
        agent: { kind: { shape: "Agent" }, required: true },
        steps: { kind: { list: { shape: "Step" } }, required: true },
        notes: TEXT,
        final_metrics: { kind: { shape: "FinalMetrics" } },
        continued_trajectory_ref: TEXT,
        extra: { kind: "object", since: 1 },
        subagent_trajectories: { kind: { list: { shape: "Trajectory" } }, since: 7 },
    },
    Agent: {
        name: { kind: "string", required: true },
        version: { kind: "string", required: true },
        model_name: TEXT,
        /** Function definitions as OpenAI has them. */
        tool_definitions: { kind: { list: "object" }, since: 5 },
        extra: OBJECT,
    },
    Step: {
        /** From 1, without gaps. */
        step_id: { kind: "integer", required: true, least: 1 },
        /** ISO 8601. */
        timestamp: TEXT,
        source: { kind: { of: ["system", "user", "agent"] }, required: true },
        model_name: { kind: "string", agentOnly: true },
        reasoning_effort: { kind: "effort", agentOnly: true },
        message: { kind: "content", required: true },
        reasoning_content: { kind: "string", agentOnly: true },
        tool_calls: { kind: { list: { shape: "ToolCall" } }, agentOnly: true },
        observation: { kind: { shape: "Observation" } },
        metrics: { kind: { shape: "Metrics" }, agentOnly: true },
        is_copied_context: { kind: "boolean", since: 5 },
        /** Absent: not known. 0: no model was asked. */
        llm_call_count: { kind: "integer", least: 0, since: 7 },
        extra: OBJECT,
    },
    ToolCall: {
        tool_call_id: { kind: "string", required: true },
        function_name: { kind: "string", required: true },
        arguments: { kind: "object", required: true },
        extra: { kind: "object", since: 7 },
    },
    Observation: { results: { kind: { list: { shape: "ObservationResult" } }, required: true } },
    ObservationResult: {
        /** A `tool_call_id` of the same step. */
        source_call_id: TEXT,
        content: { kind: "content" },
        subagent_trajectory_ref: { kind: { list: { shape: "SubagentTrajectoryRef" } } },
        extra: { kind: "object", since: 7 },
    },
    SubagentTrajectoryRef: {
        trajectory_id: { kind: "string", since: 7 },
        session_id: TEXT,
        trajectory_path: TEXT,
        extra: OBJECT,
    },
    Metrics: {
        /** Cached ones counted. */
        prompt_tokens: TOKENS,
        completion_tokens: TOKENS,
        cached_tokens: TOKENS,
        cost_usd: { kind: "number" },
        prompt_token_ids: { kind: { list: "integer" }, since: 4 },
        completion_token_ids: { kind: { list: "integer" }, since: 3 },
        logprobs: { kind: { list: "number" } },
        extra: OBJECT,
    },
    FinalMetrics: {
        total_prompt_tokens: TOKENS,
        total_completion_tokens: TOKENS,
        total_cached_tokens: TOKENS,
        total_cost_usd: { kind: "number" },
        total_steps: { kind: "integer", least: 0 },
        extra: OBJECT,
    },
    ContentPart: {
        type: { kind: { of: ["text", "image", "audio"] }, required: true },
        text: TEXT,
        source: { kind: { shape: "Source" } },
    },
    /** `path`: a file relative to the trajectory's, an absolute one, or a URL. */
    Source: {
        media_type: { kind: "string", required: true },
        path: { kind: "string", required: true },
        duration_sec: { kind: "number", least: 0 },
    },
} as const satisfies { readonly [name: string]: Fields };

export const SHAPES: { readonly [name in ShapeName]: Fields } = TABLE;

// ---- the types -----------------------------------------------------------------------------------------------------------

interface Plain {
    readonly string: string;
    readonly integer: number;
    readonly number: number;
    readonly boolean: boolean;
    readonly object: JsonObject;
    readonly effort: string | number;
    readonly content: Content;
}
type Held<K> = K extends keyof Plain
    ? Plain[K]
    : K extends { readonly list: infer Item }
      ? Held<Item>[]
      : K extends { readonly shape: "Trajectory" }
        ? Trajectory
        : K extends { readonly shape: infer N extends ShapeName }
          ? Shaped<N>
          : K extends { readonly of: readonly (infer Word)[] }
            ? Word
            : never;
type Row<N extends ShapeName> = (typeof TABLE)[N];
type Always<N extends ShapeName> = { [F in keyof Row<N>]: Row<N>[F] extends { readonly required: true } ? F : never }[keyof Row<N>];
type HeldBy<N extends ShapeName, F extends keyof Row<N>> = Row<N>[F] extends { readonly kind: infer K } ? Held<K> : never;
type Shaped<N extends ShapeName> = { -readonly [F in keyof Pick<Row<N>, Always<N>>]: HeldBy<N, F> } & {
    -readonly [F in keyof Omit<Row<N>, Always<N>>]?: HeldBy<N, F & keyof Row<N>>;
};

export type AtifVersion = (typeof ATIF_VERSIONS)[number];
/** A reader takes one without a version; one that is written has it. */
export type Trajectory = Shaped<"Trajectory"> & { schema_version: AtifVersion };
export type TrajectoryAgent = Shaped<"Agent">;
export type Step = Shaped<"Step">;
export type Content = string | ContentPart[];
export type ContentPart = Shaped<"ContentPart">;
export type AtifToolCall = Shaped<"ToolCall">;
export type ObservationResult = Shaped<"ObservationResult">;
export type Metrics = Shaped<"Metrics">;
export type FinalMetrics = Shaped<"FinalMetrics">;

/** Sums of a trajectory, and what of each step they are of. */
export const TOTALS = [
    ["total_prompt_tokens", "prompt_tokens"],
    ["total_completion_tokens", "completion_tokens"],
    ["total_cached_tokens", "cached_tokens"],
    ["total_cost_usd", "cost_usd"],
] as const satisfies readonly (readonly [keyof FinalMetrics, keyof Metrics])[];
