/**
 * What an update of the protocol says of a call: its name, its output, what it changed in files.
 *
 * Boundary: from hostile JSON to parts of an entry; counts nothing and keeps nothing. What is kept of a turn is `transcript.ts`.
 *
 * RPD1: a call keeps the name that it was told of first; only a name of its own (`name`, or where the agent puts it in `_meta`) replaces a title.
 * RPD3: as the protocol has it, content takes the place of what was there before, also where it is empty.
 * RPD2: what an agent gave is in the entry, or the entry says that it was left out: a text that is cut, a picture that is not kept.
 */
import type { Json } from "@remit/language";
import type { AgentDiff, AgentEntry } from "@remit/machine";
import type { Scrubber } from "../secret/scrub.ts";
import { type Given, objectOf } from "./given.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type CallEntry = Writable<Extract<AgentEntry, { kind: "call" }>>;

/** Larger results of the agent's own tools are cut, UTF-16 units: they are told, not used. */
const MAX_OUTPUT = 64 * 1024;
/** Changes of a call that are kept, and lists of a plan. */
const MAX_DIFFS = 100;
const MAX_ITEMS = 10_000;
/** What is nested deeper is not told: no tool takes it. */
const MAX_DEPTH = 500;
/** Beyond the texts in it, what each value in an entry takes. */
const PER_VALUE = 4;
const STATES = ["pending", "in_progress", "completed", "failed"] as const;

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** gemini says the name of a tool and the place among the calls of one reply in the call's id alone: `read_file__read_file_1795871490734_0`. */
const NAMING_ID = /^(.+)__\1_\d{10,}_(\d+)$/;
/** No id of gemini's is longer; matching a text of megabytes would take the whole stack. */
const MAX_NAMING_ID = 400;

function naming(id: string): RegExpExecArray | null {
    return id.length > MAX_NAMING_ID ? null : NAMING_ID.exec(id);
}

/** Its place among the calls of one reply, where its id says so. */
export function placeOf(id: string): number | undefined {
    const found = naming(id);
    return found === null ? undefined : Number(found[2]);
}

/** What an update says of a call, its arguments aside. */
export function describe(entry: CallEntry, given: Given, secrets: Scrubber): void {
    const title = textOf(given.title);
    const meta = objectOf(given._meta);
    // RPD1. Some agents say it where the protocol leaves room for what is their own.
    const name = textOf(given.name) ?? textOf(meta.toolName) ?? textOf(objectOf(meta.claudeCode).toolName);
    if (name !== undefined) entry.name = name;
    else if (entry.name === "") entry.name = naming(entry.id)?.[1] ?? title ?? textOf(given.kind) ?? "";
    if (title !== undefined) entry.title = title;
    if (typeof given.kind === "string" && entry.toolKind !== DELETE) entry.toolKind = given.kind;
    if (removes(given)) entry.toolKind = DELETE;
    const status = STATES.find((state) => state === given.status);
    if (status !== undefined) entry.status = status;
    if (Array.isArray(given.locations))
        entry.locations = given.locations.map((one: unknown) => objectOf(one).path).filter((path) => typeof path === "string");
    const { output, raw } = outputOf(given, secrets);
    // RPD3: what gemini shows while a call is about to run is no result of it
    if (status === "completed" && Array.isArray(given.content) && given.content.length === 0 && raw === undefined) delete entry.output;
    const known = entry.output;
    if (output !== undefined && !(pointsToTerminal(output) && known !== undefined)) {
        entry.output = output;
        delete entry.raw;
    }
    // what was told in words stays
    if (raw !== undefined && entry.output === undefined) entry.output = raw;
    else if (raw !== undefined) entry.raw = raw;
    const piece = pieceOf(meta);
    if (piece !== "") entry.output = joined(entry.output, piece, secrets);
    const diffs = diffsOf(given);
    if (diffs.length > 0) entry.diffs = diffs;
}

/** Stands for output that is in a terminal: what a terminal of the program's gave is with the use that it stands for. */
const TERMINAL = "(in the terminal ";

/** codex and claude say what their own terminals show piece by piece, where the protocol leaves room for what is their own. */
function pieceOf(meta: Given): string {
    const { data } = objectOf(meta.terminal_output_delta ?? meta.terminal_output);
    return typeof data === "string" ? data : "";
}

const pointsToTerminal = (output: Json): boolean => typeof output === "string" && output.startsWith(TERMINAL);

function joined(before: Json | undefined, piece: string, secrets: Scrubber): string {
    const text = typeof before === "string" && !before.startsWith(TERMINAL) ? before : "";
    // what was cut once stays as it is
    return text.length > MAX_OUTPUT ? text : cut(text + piece, secrets);
}

/** A kind of the protocol's, which no tool of a program stands for. */
const DELETE = "delete";

/** codex tells of a file that it deletes as of one that it edits: what is its own in the difference says so. */
function removes({ content }: Given): boolean {
    return Array.isArray(content) && content.some((one: unknown) => objectOf(objectOf(one)._meta).kind === "delete");
}

/** Changes of files that a call shows. */
export function diffsOf({ content }: Given): AgentDiff[] {
    if (!Array.isArray(content)) return [];
    return content.slice(0, MAX_DIFFS).flatMap((one: unknown): AgentDiff[] => {
        const { type, path, oldText, newText } = objectOf(one);
        if (type !== "diff" || typeof path !== "string" || typeof newText !== "string") return [];
        return [{ path, ...(typeof oldText === "string" ? { old: oldText } : {}), new: newText }];
    });
}

/** What a call gave: its content, else its raw output, which is kept beside the content where it says more. */
function outputOf(given: Given, secrets: Scrubber): { readonly output?: Json; readonly raw?: Json } {
    const parts: unknown[] = Array.isArray(given.content) ? given.content : [];
    const said = parts.map(partOf).filter((part) => part !== null);
    const raw = rawOf(given.rawOutput, secrets);
    if (said.length === 0) return raw === undefined || raw === "" ? {} : { raw };
    const texts = said.filter((part) => typeof part === "string");
    const output: Json = texts.length === said.length ? cut(texts.join("\n"), secrets) : said.map((part) => blockOf(part, secrets));
    const isMore = raw !== undefined && raw !== "" && raw !== output && objectOf(raw).output !== output && objectOf(raw).error !== output;
    return isMore || Object.keys(objectOf(raw)).length > 1 ? { output, raw: raw as Json } : { output };
}

/** A part of a call's content: a text, or the block of a picture or sound. Null: it says nothing here (a change of a file is in `diffs`). */
function partOf(given: unknown): string | Json | null {
    const part = objectOf(given);
    if (part.type === "diff") return null;
    if (part.type === "terminal") return `${TERMINAL}${textOf(part.terminalId) ?? "?"})`;
    const content = objectOf(part.content);
    const { type, text, data, mimeType, uri, resource } = content;
    if (typeof text === "string") return text === "" ? null : text;
    if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string") return { type, data, mimeType };
    const held = objectOf(resource);
    if (typeof held.text === "string") return held.text;
    const named = textOf(uri) ?? textOf(held.uri);
    if (named !== undefined) return `(${textOf(content.name) ?? "resource"}: ${named})`;
    return part.type === undefined ? null : `(${textOf(type) ?? String(part.type)}, not kept)`;
}

const blockOf = (part: Json, secrets: Scrubber): Json => (typeof part === "string" ? { type: "text", text: cut(part, secrets) } : part);

function rawOf(raw: unknown, secrets: Scrubber): Json | undefined {
    if (raw === undefined || raw === null) return undefined;
    if (typeof raw === "string") return cut(raw, secrets);
    const weight = weightOf(raw, MAX_OUTPUT * PER_VALUE);
    if (weight === null) return "(not kept: it is nested too deep)";
    if (weight > MAX_OUTPUT * PER_VALUE) return `(not kept: more than ${MAX_OUTPUT * PER_VALUE} UTF-16 units)`;
    const text = JSON.stringify(raw);
    return text.length > MAX_OUTPUT ? cut(text, secrets) : (raw as Json);
}

/** A copy: a mere part would keep the whole text in memory. */
function cut(text: string, secrets: Scrubber): string {
    if (text.length <= MAX_OUTPUT) return text;
    const begun = secrets.beginning(text, MAX_OUTPUT).text.slice(0, MAX_OUTPUT);
    return `${Buffer.from(begun).toString()}… (${text.length - MAX_OUTPUT} more)`;
}

export function itemsOf(given: unknown): { content: string; status: string }[] {
    if (!Array.isArray(given)) return [];
    return given.slice(0, MAX_ITEMS).map((one: unknown) => {
        const { content, status } = objectOf(one);
        return { content: typeof content === "string" ? content : "", status: typeof status === "string" ? status : "pending" };
    });
}

/** About how many UTF-16 units a value takes; no more than a little over `most` is looked at. Null: it is nested deeper than `MAX_DEPTH`. */
export function weightOf(value: unknown, most: number): number | null {
    let weight = 0;
    const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
        weight += PER_VALUE + (typeof one.value === "string" ? one.value.length : 0);
        if (one.value === null || typeof one.value !== "object") continue;
        if (one.depth >= MAX_DEPTH) return null;
        for (const [key, inner] of Object.entries(one.value)) {
            if (!Array.isArray(one.value)) weight += key.length;
            open.push({ value: inner, depth: one.depth + 1 });
        }
        if (weight > most) return weight;
    }
    return weight;
}
