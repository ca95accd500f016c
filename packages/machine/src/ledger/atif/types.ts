/**
 * ATIF, the Agent Trajectory Interchange Format, as of version 1.8 (Harbor RFC 0001): the shapes, and the same as a table that checks by.
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
export type AtifVersion = (typeof ATIF_VERSIONS)[number];

export interface Trajectory {
    schema_version: AtifVersion;
    /** Of the run: several trajectories may share one. */
    session_id?: string;
    /** Of this document. */
    trajectory_id?: string;
    agent: TrajectoryAgent;
    steps: Step[];
    notes?: string;
    final_metrics?: FinalMetrics;
    continued_trajectory_ref?: string;
    extra?: JsonObject;
    subagent_trajectories?: Trajectory[];
}

export interface TrajectoryAgent {
    name: string;
    version: string;
    model_name?: string;
    /** Function definitions as OpenAI has them. */
    tool_definitions?: JsonObject[];
    extra?: JsonObject;
}

export interface Step {
    /** From 1, without gaps. */
    step_id: number;
    /** ISO 8601. */
    timestamp?: string;
    source: "system" | "user" | "agent";
    model_name?: string;
    reasoning_effort?: string | number;
    message: Content;
    reasoning_content?: string;
    tool_calls?: AtifToolCall[];
    observation?: { results: ObservationResult[] };
    metrics?: Metrics;
    is_copied_context?: boolean;
    /** Absent: not known. 0: no model was asked. */
    llm_call_count?: number;
    extra?: JsonObject;
}

export type Content = string | ContentPart[];

export interface ContentPart {
    type: "text" | "image" | "audio";
    text?: string;
    source?: MediaSource;
}

/** `path`: a file relative to the trajectory's, an absolute one, or a URL. */
export interface MediaSource {
    media_type: string;
    path: string;
    duration_sec?: number;
}

export interface AtifToolCall {
    tool_call_id: string;
    function_name: string;
    arguments: JsonObject;
    extra?: JsonObject;
}

export interface ObservationResult {
    /** A `tool_call_id` of the same step. */
    source_call_id?: string;
    content?: Content;
    subagent_trajectory_ref?: SubagentRef[];
    extra?: JsonObject;
}

export interface SubagentRef {
    trajectory_id?: string;
    session_id?: string;
    trajectory_path?: string;
    extra?: JsonObject;
}

export interface Metrics {
    /** Cached ones counted. */
    prompt_tokens?: number;
    completion_tokens?: number;
    cached_tokens?: number;
    cost_usd?: number;
    prompt_token_ids?: number[];
    completion_token_ids?: number[];
    logprobs?: number[];
    extra?: JsonObject;
}

export interface FinalMetrics {
    total_prompt_tokens?: number;
    total_completion_tokens?: number;
    total_cached_tokens?: number;
    total_cost_usd?: number;
    total_steps?: number;
    extra?: JsonObject;
}

// ---- the same as a table -----------------------------------------------------------------------------------------------

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

export type ShapeName =
    | "Trajectory"
    | "Agent"
    | "Step"
    | "ToolCall"
    | "Observation"
    | "ObservationResult"
    | "SubagentTrajectoryRef"
    | "Metrics"
    | "FinalMetrics"
    | "ContentPart"
    | "Source";

export type Kind =
    | "string"
    | "integer"
    | "number"
    | "boolean"
    | "object"
    | "effort"
    | "content"
    | { readonly list: Kind }
    | { readonly shape: ShapeName }
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

const TEXT: Field = { kind: "string" };
const OBJECT: Field = { kind: "object" };
const TOKENS: Field = { kind: "integer", counts: true };

export const SHAPES: { readonly [name in ShapeName]: Fields } = {
    Trajectory: {
        schema_version: { kind: { of: ATIF_VERSIONS } },
        session_id: TEXT,
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
        tool_definitions: { kind: { list: "object" }, since: 5 },
        extra: OBJECT,
    },
    Step: {
        step_id: { kind: "integer", required: true, least: 1 },
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
    Source: {
        media_type: { kind: "string", required: true },
        path: { kind: "string", required: true },
        duration_sec: { kind: "number", least: 0 },
    },
};
