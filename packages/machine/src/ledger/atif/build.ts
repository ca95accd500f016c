/**
 * ATIF: putting a trajectory together step by step, and the files that it names.
 *
 * Boundary: pure. Pictures and sounds come back beside the trajectory; who writes the trajectory writes them too.
 *
 * BI1: a number or a time that was not reported is left out. What was reported and cannot be true is kept in `extra`, under its own name.
 * BI2: what is built passes `checkTrajectory` as a writer's, whatever the data: every text becomes valid Unicode, arguments that are no object
 *     are wrapped as `{"_raw": …}`, ids of calls in a step differ.
 */
import { isObject, type Json } from "@remit/language";
import type { Usage } from "../../effect/usage.ts";
import { isTimestamp } from "./time.ts";
import {
    type AtifToolCall,
    audioType,
    type Content,
    type ContentPart,
    type FinalMetrics,
    IMAGE_TYPES,
    type JsonObject,
    type Metrics,
    type ObservationResult,
    type Step,
    TOTALS,
    type Trajectory,
    type TrajectoryAgent,
} from "./types.ts";

/** A file that the trajectory names: `path` relative to it, `data` in base64. */
export interface AtifMedia {
    readonly path: string;
    readonly mediaType: string;
    readonly data: string;
}

export interface Written {
    readonly trajectory: Json;
    readonly media: readonly AtifMedia[];
}

/** Files of a trajectory and of all within it. */
export interface MediaFolder {
    readonly folder: string;
    readonly files: AtifMedia[];
}

export const MEDIA_FOLDER = "media";

export interface Building {
    readonly id: string | undefined;
    readonly session: string | undefined;
    readonly agent: TrajectoryAgent;
    readonly steps: Step[];
    readonly inside: Building[];
    readonly media: MediaFolder;
    readonly extra: JsonObject;
    /** Turns and what they used: reported, and not. */
    readonly used: Usage[];
    unreported: number;
}

export function building(of: Pick<Building, "agent" | "media"> & { readonly id?: string; readonly session?: string }): Building {
    return { id: of.id, session: of.session, agent: of.agent, steps: [], inside: [], media: of.media, extra: {}, used: [], unreported: 0 };
}

export function addStep(to: Building, step: Omit<Step, "step_id" | "timestamp">, time?: string): Step {
    const made: Step = { step_id: to.steps.length + 1, ...step };
    if (time !== undefined && isTimestamp(time)) made.timestamp = time;
    to.steps.push(made);
    return made;
}

/** Adds to what a step or a call holds of its own. */
export function addExtra(to: { extra?: JsonObject }, more: { readonly [key: string]: Json | undefined }): void {
    for (const [key, value] of Object.entries(more)) if (value !== undefined) to.extra = { ...to.extra, [key]: value };
}

export function addCall(to: Step, call: { readonly id: string; readonly name: string; readonly args: Json | undefined }): AtifToolCall {
    to.tool_calls ??= [];
    const taken = new Set(to.tool_calls.map((one) => one.tool_call_id));
    let id = call.id;
    for (let n = 2; taken.has(id); n++) id = `${call.id}~${n}`;
    const { args } = call;
    const made: AtifToolCall = {
        tool_call_id: id,
        function_name: call.name,
        arguments: args === undefined ? {} : isObject(args) ? args : { _raw: args },
    };
    to.tool_calls.push(made);
    return made;
}

export function addResult(to: Step, result: ObservationResult): ObservationResult {
    to.observation ??= { results: [] };
    to.observation.results.push(result);
    return result;
}

// ---- media -------------------------------------------------------------------------------------------------------------

const ENDINGS: { readonly [type: string]: string } = {
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
};

/** A file among those of the trajectory: a part of a message, or null where ATIF has no part of its type (it is named in `extra` then). */
export function mediaPart(media: MediaFolder, given: { readonly mediaType: string; readonly data: string }): ContentPart | JsonObject {
    const named = given.mediaType.trim().toLowerCase();
    const image = IMAGE_TYPES.find((one) => one === named);
    const type = image ?? audioType(named);
    const ending = ENDINGS[type ?? named] ?? /^[a-z]+\/(?:x-)?([a-z0-9]{1,8})$/.exec(type ?? named)?.[1] ?? "bin";
    const mediaType = type ?? given.mediaType;
    // what a prompt shows again is one file
    const known = media.files.find((one) => one.mediaType === mediaType && one.data === given.data);
    const path = known?.path ?? `${media.folder}/${media.files.length + 1}.${ending}`;
    if (known === undefined) media.files.push({ path, mediaType, data: given.data });
    if (type === null) return { media_type: given.mediaType, path };
    return { type: image === undefined ? "audio" : "image", source: { media_type: type, path } };
}

export const isPart = (one: ContentPart | JsonObject): one is ContentPart => one.type === "image" || one.type === "audio";

/** Texts and files as the content of a message or a result; `other`: files of types that ATIF has no part for. */
export function contentOf(
    media: MediaFolder,
    parts: readonly ({ readonly text: string } | { readonly mediaType: string; readonly data: string })[],
): { readonly content: Content; readonly other: readonly JsonObject[] } {
    const made = parts.map((part) => ("text" in part ? ({ type: "text", text: part.text } as ContentPart) : mediaPart(media, part)));
    const shown = made.filter((one): one is ContentPart => one.type === "text" || isPart(one));
    const other = made.filter((one): one is JsonObject => !shown.includes(one as ContentPart));
    const content = shown.length === 0 ? "" : shown.length === 1 && shown[0]?.type === "text" ? (shown[0].text as string) : shown;
    return { content, other };
}

/**
 * A result as content: a text as it is; a list of content blocks as MCP and ACP have them (texts, pictures, sounds), by itself or in `content`;
 * everything else as JSON.
 */
export function resultContent(media: MediaFolder, value: Json): { readonly content: Content; readonly other: readonly JsonObject[] } {
    if (typeof value === "string") return { content: value, other: [] };
    const held = Array.isArray(value) ? value : value !== null && typeof value === "object" ? value.content : undefined;
    const blocks = Array.isArray(held) ? held.map(block) : [];
    const known = blocks.filter((one) => one !== null);
    // without a file the JSON says more than the texts in it do
    if (known.length === 0 || known.length < blocks.length || (!Array.isArray(value) && !known.some((one) => "data" in one)))
        return { content: JSON.stringify(value), other: [] };
    return contentOf(media, known);
}

function block(value: Json): { readonly text: string } | { readonly mediaType: string; readonly data: string } | null {
    if (!isObject(value)) return null;
    if (value.type === "content" && value.content !== undefined) return block(value.content);
    if (value.type === "text" && typeof value.text === "string") return { text: value.text };
    if ((value.type === "image" || value.type === "audio") && typeof value.data === "string" && typeof value.mimeType === "string")
        return { mediaType: value.mimeType, data: value.data };
    return null;
}

// ---- usage -------------------------------------------------------------------------------------------------------------

const isCount = (value: number | undefined): value is number => value !== undefined && Number.isSafeInteger(value) && value >= 0;
const isMoney = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value) && value >= 0;

/** What a turn used, as a step's metrics; undefined where nothing was reported. `input` counts cached tokens, as `prompt_tokens` does. */
export function metricsOf(usage: Usage | undefined): Metrics | undefined {
    if (usage === undefined) return undefined;
    const { input, cached, output, reasoning, usd } = usage;
    const made: Metrics = {};
    const odd: JsonObject = {};
    if (isCount(input)) made.prompt_tokens = input;
    else if (input !== undefined) odd.reported_input = plainNumber(input);
    if (isCount(output)) made.completion_tokens = output;
    else if (output !== undefined) odd.reported_output = plainNumber(output);
    if (isCount(cached) && (made.prompt_tokens === undefined || cached <= made.prompt_tokens)) made.cached_tokens = cached;
    else if (cached !== undefined) odd.reported_cached = plainNumber(cached);
    if (isMoney(usd)) made.cost_usd = usd;
    else if (usd !== undefined) odd.reported_usd = plainNumber(usd);
    if (reasoning !== undefined) odd.reasoning_tokens = plainNumber(reasoning);
    if (usage.partial === true) odd.partial = true;
    if (Object.keys(odd).length > 0) made.extra = odd;
    return Object.keys(made).length === 0 ? undefined : made;
}

const plainNumber = (value: number): Json => (Number.isFinite(value) ? value : String(value));

/** Notes what a turn used, reported or not. */
export function account(to: Building, usage: Usage | undefined): void {
    if (usage === undefined || metricsOf(usage) === undefined) to.unreported += 1;
    else to.used.push(usage);
}

function totals(of: Building): { readonly metrics: FinalMetrics; readonly unreported: number; readonly partial: number } {
    const own: FinalMetrics = {};
    const inside = of.inside.map(totals);
    const unreported = inside.reduce((sum, one) => sum + one.unreported, of.unreported);
    const partial = inside.reduce((sum, one) => sum + one.partial, of.used.filter((usage) => usage.partial === true).length);
    for (const [total, one] of TOTALS)
        for (const value of [...of.used.map((usage) => metricsOf(usage)?.[one]), ...inside.map(({ metrics }) => metrics[total])])
            if (value !== undefined) own[total] = (own[total] ?? 0) + value;
    // cached ones may have been reported where the whole was not
    const { total_cached_tokens: cached, total_prompt_tokens: prompt } = own;
    if (cached !== undefined && prompt !== undefined && cached > prompt) delete own.total_cached_tokens;
    return { metrics: own, unreported, partial };
}

// ---- the whole ---------------------------------------------------------------------------------------------------------

/** The trajectory as JSON: version 1.7, which every reader of 1.7 takes, or 1.8 where there is sound in it. */
export function finished(of: Building): Json {
    return wellFormed(whole(of) as unknown as Json);
}

function whole(of: Building): Trajectory {
    const inside = of.inside.map(whole);
    // a trajectory has at least one step
    if (of.steps.length === 0) addStep(of, { source: "system", message: "" });
    const { metrics, unreported, partial } = totals(of);
    const counts = {
        ...(unreported === 0 ? {} : { turns_without_usage: unreported }),
        ...(partial === 0 ? {} : { turns_with_partial_usage: partial }),
    };
    const audio = inside.some((one) => one.schema_version === "ATIF-v1.8") || of.steps.some(hasAudio);
    return {
        schema_version: audio ? "ATIF-v1.8" : "ATIF-v1.7",
        ...(of.session === undefined ? {} : { session_id: of.session }),
        ...(of.id === undefined ? {} : { trajectory_id: of.id }),
        agent: of.agent,
        steps: of.steps,
        final_metrics: {
            ...metrics,
            total_steps: of.steps.length,
            ...(Object.keys(counts).length === 0 ? {} : { extra: counts }),
        },
        ...(Object.keys(of.extra).length === 0 ? {} : { extra: of.extra }),
        ...(inside.length === 0 ? {} : { subagent_trajectories: inside }),
    };
}

function hasAudio(step: Step): boolean {
    const sounds = (content: Content | undefined): boolean => Array.isArray(content) && content.some((part) => part.type === "audio");
    return sounds(step.message) || (step.observation?.results.some((one) => sounds(one.content)) ?? false);
}

function wellFormed(value: Json): Json {
    if (typeof value === "string") return value.toWellFormed();
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(wellFormed);
    const out: JsonObject = {};
    for (const key of Object.keys(value)) {
        const held = value[key];
        if (held === undefined) continue;
        Object.defineProperty(out, key.toWellFormed(), { value: wellFormed(held), enumerable: true, writable: true, configurable: true });
    }
    return out;
}
