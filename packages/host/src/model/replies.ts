/**
 * Files of replies: scripts and recordings. What is in them is told in `scripted.ts`, `recorded.ts` and `agent/recorded.ts`.
 *
 * Boundary: reads and checks; a file that is none is a text that says why, so that it can be told before anything runs.
 */
import { readFileSync } from "node:fs";
import { isObject, type Json } from "@remit/language";
import type { Failure, Usage } from "@remit/machine";
import type { AgentLine } from "../agent/recorded.ts";
import { systemWords } from "../failure/system.ts";
import type { Raw } from "./engine.ts";

export interface Script {
    readonly replies: readonly Json[];
    readonly labels: { readonly [label: string]: Json };
    readonly rules: readonly { readonly when: readonly string[]; readonly reply: Json }[];
}

/** Whose file it is, and how it comes to be. */
export const SCRIPT_HINT = 'write that file: a scripted model is a JSON file of replies, such as ["the first answer", "the second answer"]';
export const RECORDING_HINT = "make that file with --record FILE, which keeps what a model answers";

/** A script, or what is wrong with its file. */
export function readScript(file: string): Script | string {
    const found = textOf(file, "the scripted model's file");
    if (typeof found === "string") return found;
    let json: Json;
    try {
        json = JSON.parse(found.text) as Json;
    } catch (error) {
        return `the scripted model's file '${file}' is not JSON: ${(error as Error).message}`;
    }
    return scriptOf(json) ?? `the scripted model's file '${file}' is neither a list of replies nor an object with replies, labels or rules`;
}

/** A script from its JSON; null where it is none. */
export function scriptOf(json: Json): Script | null {
    if (Array.isArray(json)) return { replies: json, labels: {}, rules: [] };
    if (json === null || typeof json !== "object") return null;
    if (!("replies" in json || "labels" in json || "rules" in json)) return { replies: [], labels: json, rules: [] };
    const { replies = [], labels = {}, rules = [], ...others } = json;
    if (Object.keys(others).length > 0 || !Array.isArray(replies) || !Array.isArray(rules)) return null;
    if (!isObject(labels)) return null;
    const read: { when: string[]; reply: Json }[] = [];
    for (const rule of rules) {
        if (!isObject(rule) || rule.reply === undefined) return null;
        const when = typeof rule.when === "string" ? [rule.when] : rule.when;
        if (!Array.isArray(when) || !when.every((words): words is string => typeof words === "string")) return null;
        read.push({ when, reply: rule.reply });
    }
    return { replies, labels, rules: read };
}

/** One line of a recording: what a model answered. */
export interface Line {
    readonly v: 1;
    readonly request: string;
    readonly label: string;
    readonly reply?: Omit<Raw, "usage">;
    readonly failure?: Failure;
    readonly usage?: Usage;
}

/** Its lines by the hash of the request. */
export type Recording = ReadonlyMap<string, readonly Line[]>;

/** The answers of models in a recording, or what is wrong with its file. */
export function readRecording(file: string): Recording | string {
    const lines = recordedLines(file);
    return typeof lines === "string" ? lines : byRequest(lines.filter((line) => !isAgent(line)) as unknown as Line[]);
}

/** The answers of agents in a recording, or what is wrong with its file. */
export function readRecordedAgents(file: string): ReadonlyMap<string, readonly AgentLine[]> | string {
    const lines = recordedLines(file);
    return typeof lines === "string" ? lines : byRequest(lines.filter(isAgent) as unknown as AgentLine[]);
}

function recordedLines(file: string): readonly JsonLine[] | string {
    const found = textOf(file, "the recording");
    if (typeof found === "string") return found;
    const lines: JsonLine[] = [];
    for (const [index, written] of found.text.split("\n").entries()) {
        if (written.trim() === "") continue;
        const line = lineOf(written);
        if (line === null) return `the recording '${file}' cannot be read: line ${index + 1} is no reply`;
        lines.push(line);
    }
    return lines;
}

function byRequest<T extends { readonly request: string }>(lines: readonly T[]): ReadonlyMap<string, readonly T[]> {
    const known = new Map<string, T[]>();
    for (const line of lines) {
        const same = known.get(line.request);
        if (same === undefined) known.set(line.request, [line]);
        else same.push(line);
    }
    return known;
}

type JsonLine = { readonly [key: string]: Json };

function isAgent(line: JsonLine): boolean {
    return line.kind === "agent";
}

function lineOf(text: string): JsonLine | null {
    let json: Json;
    try {
        json = JSON.parse(text) as Json;
    } catch {
        // The caller says which line.
        return null;
    }
    if (!isObject(json) || json.v !== 1 || typeof json.request !== "string") return null;
    const { kind, reply, failure } = json;
    if (kind !== undefined && !(kind === "agent" && isObject(json.parts) && typeof json.label === "string")) return null;
    const good = isObject(reply)
        ? typeof reply.text === "string" && typeof reply[kind === "agent" ? "stop" : "finish"] === "string"
        : isObject(failure) && typeof failure.kind === "string";
    return good ? json : null;
}

function textOf(file: string, what: string): { text: string } | string {
    try {
        return { text: readFileSync(file, "utf8") };
    } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return code === "ENOENT" ? `${what} '${file}' is not there` : `${what} '${file}' cannot be read: ${systemWords(error)}`;
    }
}

/** What keeps a file from answering; null where nothing does. */
export function repliesProblem(kind: "scripted" | "recorded", file: string): string | null {
    const found = kind === "scripted" ? readScript(file) : readRecording(file);
    return typeof found === "string" ? found : null;
}
