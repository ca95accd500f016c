/**
 * What an agent told during a turn, as entries in order, and what it used of its limits.
 *
 * Boundary: from updates of the protocol, which are hostile, to `AgentReply`; sends nothing.
 *
 * T1: messages and thoughts are grouped by `messageId`, or until something else comes. An update of a call changes the entry of that call.
 * T2: nothing is invented: what the agent did not report is not there. Arguments are the last that were not empty.
 * T3: what counts against a limit is counted when it comes, so that a limit ends a turn while it runs.
 * T4: whatever an agent tells, a turn keeps no more than `MAX_KEPT` of it; one that tells more is ended as one that passed a limit.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentLimits, AgentMedia, AgentReply, FailureKind, Usage } from "@remit/machine";
import { costOf, type Tokens, tokensOf, usageOf } from "./usage.ts";

export interface Breach {
    readonly kind: FailureKind;
    readonly message: string;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type CallEntry = Writable<Extract<AgentEntry, { kind: "call" }>>;
interface TextEntry {
    kind: "thought" | "message";
    text: string;
    time: string;
    media?: readonly AgentMedia[];
    /** As the protocol has it; not told. */
    id?: string;
}
type Entry = CallEntry | TextEntry | Extract<AgentEntry, { kind: "plan" | "compaction" }>;

export interface Transcript {
    /** Takes an update of the session; anything at all may come. */
    update(update: unknown): void;
    /** What was decided about a call. */
    decided(id: string, permission: NonNullable<CallEntry["permission"]>): void;
    /** The call as it is known by now. */
    call(id: string): CallEntry | undefined;
    /** Takes what the answer to the prompt says of usage. */
    answered(response: unknown): void;
    /** The first limit that was passed. */
    breach(): Breach | null;
    usage(): Usage | undefined;
    reply(more: Pick<AgentReply, "stop" | "confinement" | "agent">): AgentReply;
    /** Sum of the session's cost so far, US dollars: the next turn's begins there. */
    cost(): number | undefined;
}

/** Larger results of the agent's own tools are cut, UTF-16 units: they are told, not used. */
const MAX_OUTPUT = 64 * 1024;
/** Entries that are kept; what comes after them is counted only. */
const MAX_ENTRIES = 10_000;
/** What is kept of a turn: of all messages and thoughts, and with all else that was told, UTF-16 units. */
const MAX_TEXT = 16 * 1024 * 1024;
const MAX_KEPT = 2 * MAX_TEXT;
/** What is nested deeper is not told: no tool takes it. */
const MAX_DEPTH = 500;
/** Beyond the texts in it, what an entry takes, and what each value in it does. */
const PER_ENTRY = 100;
const PER_VALUE = 4;
const STATES = ["pending", "in_progress", "completed", "failed"] as const;

export function transcript(limits: AgentLimits, costBefore: number | undefined, now: () => Date = () => new Date()): Transcript {
    const began = performance.now();
    const entries: Entry[] = [];
    const calls = new Map<string, CallEntry>();
    const resources: { uri: string; mediaType: string; text: string }[] = [];
    let steps = 0;
    let bytes = 0;
    let kept = 0;
    let all = 0;
    /** What was counted for each call, whose entry changes: its arguments, and all else. */
    const weights = new Map<CallEntry, { readonly input: number; readonly rest: number }>();
    let reported: Tokens | null = null;
    let summed: Tokens | null = null;
    let cost: number | undefined = costBefore;
    let breach: Breach | null = null;

    const over = (kind: FailureKind, what: string, limit: number | undefined, used: number): void => {
        if (limit !== undefined && used > limit) breach ??= { kind, message: `it may use ${limit} ${what}, and used ${used}` };
    };
    const step = (): void => {
        steps++;
        over("limit.steps", "steps", limits.steps, steps);
    };
    /** T4. Whether there is room for as much. */
    const room = (units: number): boolean => {
        over("limit.bytes", "UTF-16 units that are kept", MAX_KEPT, all + units);
        if (all + units > MAX_KEPT) return false;
        all += units;
        return true;
    };
    const add = (entry: Entry): void => {
        const units = PER_ENTRY + (entry.kind === "plan" ? (weightOf(entry.items, MAX_KEPT) ?? 0) : 0);
        if (entries.length < MAX_ENTRIES && room(units)) entries.push(entry);
    };
    function chunk(kind: "thought" | "message", given: Given): void {
        const content = objectOf(given.content);
        const id = typeof given.messageId === "string" ? given.messageId : undefined;
        const last = entries.at(-1);
        const goesOn = last?.kind === kind && (id === undefined || last.id === undefined || last.id === id);
        const entry: TextEntry = goesOn ? last : { kind, text: "", time: now().toISOString(), ...(id === undefined ? {} : { id }) };
        if (!goesOn) {
            add(entry);
            if (kind === "message") step();
        }
        const text = typeof content.text === "string" ? content.text : "";
        switch (content.type) {
            case "text":
                if (kind === "message") {
                    bytes += Buffer.byteLength(text);
                    over("limit.bytes", "bytes of text", limits.bytes, bytes);
                }
                if (kept + text.length <= MAX_TEXT) {
                    if (room(text.length)) entry.text += text;
                    kept += text.length;
                } else over("limit.bytes", "UTF-16 units of text that are kept", MAX_TEXT, kept + text.length);
                break;
            case "image":
            case "audio":
                if (kind === "message" && typeof content.data === "string" && typeof content.mimeType === "string") {
                    bytes += content.data.length;
                    over("limit.bytes", "bytes of text", limits.bytes, bytes);
                    if (entry.kind === "message" && breach === null && room(content.data.length + content.mimeType.length))
                        entry.media = [...(entry.media ?? []), { mediaType: content.mimeType, data: content.data }];
                }
                break;
            case "resource": {
                const { uri, mimeType, text: whole } = objectOf(content.resource);
                if (typeof uri !== "string" || typeof whole !== "string") break;
                bytes += Buffer.byteLength(whole);
                over("limit.bytes", "bytes of text", limits.bytes, bytes);
                const mediaType = typeof mimeType === "string" ? mimeType : "text/plain";
                if (breach === null && room(PER_ENTRY + uri.length + mediaType.length + whole.length))
                    resources.push({ uri, mediaType, text: whole });
                break;
            }
            default:
        }
        const used = tokensOf(objectOf(objectOf(given._meta).usage));
        if (used !== null) {
            summed = summed === null ? used : sumOf(summed, used);
            tokensLeft();
        }
    }
    function tokensLeft(): void {
        const used = reported ?? summed;
        if (used !== null) over("limit.tokens", "tokens", limits.tokens, used.total);
    }
    function costLeft(): void {
        const spent = cost === undefined ? undefined : cost - (costBefore ?? 0);
        if (spent !== undefined) over("limit.cost", "US dollars", limits.usd, spent);
    }
    function call(given: Given): void {
        const id = typeof given.toolCallId === "string" ? given.toolCallId : "";
        // What was told before the limit was passed is enough.
        if (id === "" || all > MAX_KEPT) return;
        let entry = calls.get(id);
        if (entry === undefined) {
            entry = { kind: "call", id, name: "", status: "pending", time: now().toISOString() };
            if (calls.size < MAX_ENTRIES) {
                calls.set(id, entry);
                add(entry);
            }
            step();
            over("limit.calls", "tool calls", limits.calls, calls.size);
        }
        if (typeof given.title === "string" && given.title !== "") entry.title = given.title;
        if (typeof given.kind === "string") entry.toolKind = given.kind;
        // Some agents say it where the protocol leaves room for what is their own.
        const name = [given.name, objectOf(given._meta).toolName].find((one): one is string => typeof one === "string" && one !== "");
        if (name !== undefined || entry.name === "" || entry.name === entry.title || entry.name === entry.toolKind)
            entry.name = name ?? (entry.name !== "" && entry.name !== entry.toolKind ? entry.name : (entry.title ?? entry.toolKind ?? ""));
        if (STATES.some((state) => state === given.status)) entry.status = given.status as CallEntry["status"];
        const input = isFilled(given.rawInput) ? weightOf(given.rawInput, MAX_KEPT) : undefined;
        if (input === null) delete entry.input;
        else if (input !== undefined && input <= MAX_KEPT) entry.input = given.rawInput as Json;
        if (Array.isArray(given.locations))
            entry.locations = given.locations.map((one: unknown) => objectOf(one).path).filter((path) => typeof path === "string");
        const output = outputOf(given);
        if (output !== undefined) entry.output = output;
        const before = weights.get(entry) ?? { input: 0, rest: 0 };
        const { title, toolKind, locations } = entry;
        const after = {
            input: input === undefined ? before.input : (input ?? 0),
            rest: PER_ENTRY + (weightOf([id, title, toolKind, entry.name, locations, entry.output], MAX_KEPT) ?? 0),
        };
        all += after.input + after.rest - before.input - before.rest;
        weights.set(entry, after);
        over("limit.bytes", "UTF-16 units that are kept", MAX_KEPT, all);
    }

    return {
        update: (update) => {
            const given = objectOf(update);
            switch (given.sessionUpdate) {
                case "agent_message_chunk":
                    return chunk("message", given);
                case "agent_thought_chunk":
                    return chunk("thought", given);
                case "tool_call":
                case "tool_call_update":
                    return call(given);
                case "plan":
                    return add({ kind: "plan", items: itemsOf(given.entries), time: now().toISOString() });
                case "compaction_update":
                    return add({ kind: "compaction", time: now().toISOString() });
                case "usage_update": {
                    const said = costOf(given.cost);
                    if (said !== undefined) cost = said;
                    return costLeft();
                }
                default:
            }
        },
        decided: (id, permission) => {
            const entry = calls.get(id);
            if (entry !== undefined) entry.permission = permission;
        },
        call: (id) => calls.get(id),
        answered: (response) => {
            const said = objectOf(response);
            const { usage, quota } = objectOf(said._meta);
            reported = tokensOf(objectOf(said.usage)) ?? tokensOf(objectOf(usage)) ?? tokensOf(objectOf(objectOf(quota).token_count));
            tokensLeft();
        },
        breach: () => breach,
        usage: () => usageOf(reported ?? summed, cost === undefined ? undefined : Math.max(0, cost - (costBefore ?? 0))),
        cost: () => cost,
        reply: ({ stop, confinement, agent }) => ({
            text: entries.flatMap((entry) => (entry.kind === "message" && entry.text !== "" ? [entry.text] : [])).join("\n\n"),
            ...(resources.length === 0 ? {} : { resources }),
            stop,
            entries: entries.map(told),
            ...(agent === undefined ? {} : { agent }),
            confinement,
            spent: { steps, calls: calls.size, ms: Math.round(performance.now() - began) },
        }),
    };
}

function told(entry: Entry): AgentEntry {
    if (entry.kind !== "thought" && entry.kind !== "message") return entry;
    const { kind, text, time, media } = entry;
    return kind === "thought" || media === undefined ? { kind, text, time } : { kind, text, time, media };
}

function sumOf(a: Tokens, b: Tokens): Tokens {
    return {
        input: a.input + b.input,
        output: a.output + b.output,
        cached: a.cached + b.cached,
        reasoning: a.reasoning + b.reasoning,
        total: a.total + b.total,
    };
}

interface Given {
    readonly [key: string]: unknown;
}

export function objectOf(value: unknown): Given {
    return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Given) : {};
}

function isFilled(value: unknown): boolean {
    if (value === undefined || value === null) return false;
    return typeof value !== "object" || Object.keys(value).length > 0;
}

function itemsOf(given: unknown): { content: string; status: string }[] {
    if (!Array.isArray(given)) return [];
    return given.slice(0, MAX_ENTRIES).map((one: unknown) => {
        const { content, status } = objectOf(one);
        return { content: typeof content === "string" ? content : "", status: typeof status === "string" ? status : "pending" };
    });
}

/** Text of a call's content, else its raw output. */
function outputOf(given: Given): Json | undefined {
    const parts = Array.isArray(given.content) ? given.content.map(partOf).filter((text) => text !== "") : [];
    if (parts.length > 0) return cut(parts.join("\n"));
    if (given.rawOutput === undefined || given.rawOutput === null) return undefined;
    const raw = given.rawOutput as Json;
    if (typeof raw === "string") return cut(raw);
    const weight = weightOf(raw, MAX_TEXT);
    if (weight === null || weight > MAX_TEXT) return undefined;
    const text = JSON.stringify(raw);
    return text.length > MAX_OUTPUT ? cut(text) : raw;
}

function partOf(given: unknown): string {
    const part = objectOf(given);
    if (part.type === "diff" && typeof part.path === "string") return `changed ${part.path}`;
    const content = objectOf(part.content);
    return typeof content.text === "string" ? content.text : "";
}

/** A copy: a mere part would keep the whole text in memory. */
function cut(text: string): string {
    if (text.length <= MAX_OUTPUT) return text;
    return `${Buffer.from(text.slice(0, MAX_OUTPUT)).toString()}… (${text.length - MAX_OUTPUT} more)`;
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
