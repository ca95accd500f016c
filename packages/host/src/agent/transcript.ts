/**
 * What an agent told during a turn, as entries in order, and what it used of its limits.
 *
 * Boundary: from updates of the protocol, which are hostile, to `AgentReply`; sends nothing.
 *
 * TN1: messages and thoughts are grouped by `messageId`, or until something else comes. An update of a call changes the entry of that call.
 * TN2: nothing is invented: what the agent did not report is not there. Arguments are the last that were not empty.
 * TN3: what counts against a limit is counted when it comes, so that a limit ends a turn while it runs.
 * TN4: whatever an agent tells, a turn keeps no more than `MAX_KEPT` of it; one that tells more is ended as one that passed a limit.
 * TN5: each report is noted as it comes: a new entry, a piece of text, a call whose arguments, state or permission changed. What is noted is bounded
 *     like what is kept, however often a call changes.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentLimits, AgentMedia, AgentNote, AgentReply, FailureKind, Usage } from "@remit/machine";
import { costOf, mostOfTokens, sumOfTokens, type Tokens, tokensOf, usageOf } from "./usage.ts";

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

export interface TranscriptOptions {
    readonly limits: AgentLimits;
    /** What the session cost before this turn, US dollars. */
    readonly costBefore?: number | undefined;
    readonly note?: ((note: AgentNote) => void) | undefined;
    readonly now?: () => Date;
}

export class Transcript {
    private readonly options: TranscriptOptions;
    private readonly began = performance.now();
    private readonly entries: Entry[] = [];
    private readonly calls = new Map<string, CallEntry>();
    private readonly resources: { uri: string; mediaType: string; text: string }[] = [];
    private steps = 0;
    private bytes = 0;
    private kept = 0;
    private all = 0;
    /** What was counted for each call, whose entry changes: its arguments, and all else; and the call as it was noted last. */
    private readonly weights = new Map<
        CallEntry,
        { readonly input: number; readonly rest: number; readonly isTold: boolean; noted?: string }
    >();
    private noted = 0;
    private reported: Tokens | null = null;
    private summed: Tokens | null = null;
    /** Sum of the session's cost so far, US dollars: the next turn's begins there. */
    cost: number | undefined;
    /** US dollars of this turn before the sum was told as less than it was, and where it has stood since. */
    private settled = 0;
    private costBase: number;
    /** The first limit that was passed. */
    breach: Breach | null = null;

    constructor(options: TranscriptOptions) {
        this.options = options;
        this.cost = options.costBefore;
        this.costBase = options.costBefore ?? 0;
    }

    /** Takes an update of the session; anything at all may come. */
    update(update: unknown): void {
        const given = objectOf(update);
        switch (given.sessionUpdate) {
            case "agent_message_chunk":
                this.chunk("message", given);
                return;
            case "agent_thought_chunk":
                this.chunk("thought", given);
                return;
            case "tool_call":
            case "tool_call_update":
                this.called(given);
                return;
            case "plan":
                this.aside({ kind: "plan", items: itemsOf(given.entries), time: this.time() });
                return;
            case "compaction_update":
                this.aside({ kind: "compaction", time: this.time() });
                return;
            case "usage_update": {
                const said = costOf(given.cost);
                if (said !== undefined) this.costs(said);
                const spent = this.spent();
                this.over("limit.cost", "US dollars", this.options.limits.usd, spent ?? 0);
                this.noteUsage();
                return;
            }
            default:
        }
    }

    /** What was decided about a call. */
    decided(id: string, permission: NonNullable<CallEntry["permission"]>): void {
        const entry = this.calls.get(id);
        if (entry === undefined) return;
        entry.permission = permission;
        this.noteCall(entry);
    }

    /** The call as it is known by now. */
    call(id: string): CallEntry | undefined {
        return this.calls.get(id);
    }

    /** Takes what the answer to the prompt says of usage. */
    answered(response: unknown): void {
        const said = objectOf(response);
        const { usage, quota } = objectOf(said._meta);
        this.reported = tokensOf(objectOf(said.usage)) ?? tokensOf(objectOf(usage)) ?? tokensOf(objectOf(objectOf(quota).token_count));
        this.tokensLeft();
    }

    usage(): Usage | undefined {
        const spent = this.spent();
        return usageOf(mostOfTokens(this.reported, this.summed), spent);
    }

    reply({ stop, confinement, agent }: Pick<AgentReply, "stop" | "confinement" | "agent">): AgentReply {
        const { entries, resources, steps, calls } = this;
        return {
            text: entries.flatMap((entry) => (entry.kind === "message" && entry.text !== "" ? [entry.text] : [])).join("\n\n"),
            ...(resources.length === 0 ? {} : { resources }),
            stop,
            entries: entries.map(told),
            ...(agent === undefined ? {} : { agent }),
            confinement,
            spent: { steps, calls: calls.size, ms: Math.round(performance.now() - this.began) },
        };
    }

    private time(): string {
        return (this.options.now?.() ?? new Date()).toISOString();
    }

    private note(note: AgentNote): void {
        this.options.note?.(note);
    }

    private over(kind: FailureKind, what: string, limit: number | undefined, used: number): void {
        if (limit !== undefined && used > limit) this.breach ??= { kind, message: `it may use ${limit} ${what}, and used ${used}` };
    }

    private step(): void {
        this.steps++;
        this.over("limit.steps", "steps", this.options.limits.steps, this.steps);
    }

    /** TN4. Whether there is room for as much. */
    private room(units: number): boolean {
        this.over("limit.bytes", "UTF-16 units that are kept", MAX_KEPT, this.all + units);
        if (this.all + units > MAX_KEPT) return false;
        this.all += units;
        return true;
    }

    private counted(bytes: number): void {
        this.bytes += bytes;
        this.over("limit.bytes", "bytes of text", this.options.limits.bytes, this.bytes);
    }

    private add(entry: Entry, units = 0): boolean {
        const fits = this.entries.length < MAX_ENTRIES && this.room(PER_ENTRY + units);
        if (fits) this.entries.push(entry);
        return fits;
    }

    private aside(entry: Extract<AgentEntry, { kind: "plan" | "compaction" }>): void {
        if (this.add(entry, entry.kind === "plan" ? (weightOf(entry.items, MAX_KEPT) ?? 0) : 0)) this.note({ entry });
    }

    private chunk(kind: "thought" | "message", given: Given): void {
        const id = typeof given.messageId === "string" ? given.messageId : undefined;
        const last = this.entries.at(-1);
        const goesOn = last?.kind === kind && (id === undefined || last.id === undefined || last.id === id);
        const entry: TextEntry = goesOn ? last : { kind, text: "", time: this.time(), ...(id === undefined ? {} : { id }) };
        const isKept = goesOn || this.add(entry);
        if (!goesOn && kind === "message") this.step();
        const more = this.content(entry, objectOf(given.content));
        if (isKept && (more !== null || !goesOn))
            this.note({ entry: { kind, text: "", time: entry.time, ...more }, ...(goesOn ? { more: true } : {}) });
        const used = tokensOf(objectOf(objectOf(given._meta).usage));
        if (used === null) return;
        this.summed = sumOfTokens(this.summed, used);
        this.tokensLeft();
        this.noteUsage();
    }

    /** What a piece of a message or thought adds to its entry; null: nothing. */
    private content(entry: TextEntry, content: Given): { text: string } | { media: readonly AgentMedia[] } | null {
        const text = typeof content.text === "string" ? content.text : "";
        const { data, mimeType, type } = content;
        if (type === "text") {
            if (entry.kind === "message") this.counted(Buffer.byteLength(text));
            if (this.kept + text.length > MAX_TEXT) {
                this.over("limit.bytes", "UTF-16 units of text that are kept", MAX_TEXT, this.kept + text.length);
                return null;
            }
            this.kept += text.length;
            if (text === "" || !this.room(text.length)) return null;
            entry.text += text;
            return { text };
        }
        if (type === "image" || type === "audio") {
            if (entry.kind !== "message" || typeof data !== "string" || typeof mimeType !== "string") return null;
            this.counted(data.length);
            if (this.breach !== null || !this.room(data.length + mimeType.length)) return null;
            const media = [{ mediaType: mimeType, data }];
            entry.media = [...(entry.media ?? []), ...media];
            return { media };
        }
        if (type === "resource") this.resource(objectOf(content.resource));
        return null;
    }

    private resource({ uri, mimeType, text }: Given): void {
        if (typeof uri !== "string" || typeof text !== "string") return;
        this.counted(Buffer.byteLength(text));
        const mediaType = typeof mimeType === "string" ? mimeType : "text/plain";
        if (this.breach === null && this.room(PER_ENTRY + uri.length + mediaType.length + text.length))
            this.resources.push({ uri, mediaType, text });
    }

    private called(given: Given): void {
        const id = typeof given.toolCallId === "string" ? given.toolCallId : "";
        // What was told before the limit was passed is enough.
        if (id === "" || this.all > MAX_KEPT) return;
        let entry = this.calls.get(id);
        if (entry === undefined) {
            entry = { kind: "call", id, name: "", status: "pending", time: this.time() };
            if (this.calls.size < MAX_ENTRIES) {
                this.calls.set(id, entry);
                this.weights.set(entry, { input: 0, rest: 0, isTold: this.add(entry) });
            }
            this.step();
            this.over("limit.calls", "tool calls", this.options.limits.calls, this.calls.size);
        }
        describe(entry, given);
        const input = isFilled(given.rawInput) ? weightOf(given.rawInput, MAX_KEPT) : undefined;
        if (input === null) delete entry.input;
        else if (input !== undefined && input <= MAX_KEPT) entry.input = given.rawInput as Json;
        this.weigh(entry, input);
        this.noteCall(entry);
    }

    /** `input`: what its arguments weigh; undefined where they did not change, null where they were too deep. */
    private weigh(entry: CallEntry, input: number | null | undefined): void {
        const before = this.weights.get(entry) ?? { input: 0, rest: 0, isTold: false };
        const { id, name, title, toolKind, locations, output } = entry;
        const after = {
            ...before,
            input: input === undefined ? before.input : (input ?? 0),
            rest: PER_ENTRY + (weightOf([id, title, toolKind, name, locations, output], MAX_KEPT) ?? 0),
        };
        this.all += after.input + after.rest - before.input - before.rest;
        if (this.weights.has(entry)) this.weights.set(entry, after);
        this.over("limit.bytes", "UTF-16 units that are kept", MAX_KEPT, this.all);
    }

    /** TN5. A result that grows is noted with the next state. */
    private noteCall(entry: CallEntry): void {
        const weight = this.weights.get(entry);
        if (weight?.isTold !== true) return;
        const { status, name, title = null, permission = null } = entry;
        const as = JSON.stringify([status, name, title, permission, weight.input]);
        if (weight.noted === as) return;
        weight.noted = as;
        this.noted += weight.input + weight.rest;
        this.over("limit.bytes", "UTF-16 units of reports", MAX_KEPT, this.noted);
        if (this.noted <= MAX_KEPT) this.note({ entry: { ...entry } });
    }

    private noteUsage(): void {
        const usage = this.usage();
        if (usage !== undefined) this.note({ usage });
    }

    private tokensLeft(): void {
        const used = mostOfTokens(this.reported, this.summed);
        if (used !== null) this.over("limit.tokens", "tokens", this.options.limits.tokens, used.total);
    }

    /** One that says less than before counts anew from there (a process that was begun again does), and keeps what it had spent. */
    private costs(said: number): void {
        if (this.cost !== undefined && said < this.cost) {
            this.settled = this.spent() ?? 0;
            this.costBase = said;
        }
        this.cost = said;
    }

    /** US dollars of this turn. */
    private spent(): number | undefined {
        return this.cost === undefined ? undefined : this.settled + this.cost - this.costBase;
    }
}

/** What an update says of a call, its arguments aside. */
function describe(entry: CallEntry, given: Given): void {
    if (typeof given.title === "string" && given.title !== "") entry.title = given.title;
    if (typeof given.kind === "string") entry.toolKind = given.kind;
    // Some agents say it where the protocol leaves room for what is their own.
    const name = [given.name, objectOf(given._meta).toolName].find((one): one is string => typeof one === "string" && one !== "");
    if (name !== undefined || entry.name === "" || entry.name === entry.title || entry.name === entry.toolKind)
        entry.name = name ?? (entry.name !== "" && entry.name !== entry.toolKind ? entry.name : (entry.title ?? entry.toolKind ?? ""));
    if (STATES.some((state) => state === given.status)) entry.status = given.status as CallEntry["status"];
    if (Array.isArray(given.locations))
        entry.locations = given.locations.map((one: unknown) => objectOf(one).path).filter((path) => typeof path === "string");
    const output = outputOf(given);
    if (output !== undefined) entry.output = output;
}

function told(entry: Entry): AgentEntry {
    if (entry.kind !== "thought" && entry.kind !== "message") return entry;
    const { kind, text, time, media } = entry;
    return kind === "thought" || media === undefined ? { kind, text, time } : { kind, text, time, media };
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
