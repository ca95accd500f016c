/**
 * What an agent told during a turn, as entries in order, and what it used of its limits.
 *
 * Boundary: from updates of the protocol, which are hostile, to `AgentReply`; sends nothing.
 *
 * TN1: messages and thoughts are grouped by `messageId`, or until something else comes. An update of a call or a compaction changes its entry.
 * TN2: nothing is invented: what the agent did not report is not there. Arguments are the last that were not empty.
 * TN3: what counts against a limit is counted when it comes, so that a limit ends a turn while it runs.
 * TN4: whatever an agent tells, a turn keeps no more than `MAX_KEPT` of it; one that tells more is ended as one that passed a limit.
 * TN6: an agent that says at the end of a turn of several calls of its model no more than what its context holds then has told of the last alone:
 *     its usage is `partial`.
 * TN7: where a turn was stopped, or no more text of it is kept, the last message and the last thought of its reply end before what may be the beginning
 *     of a secret.
 * TN5: each report is noted as it comes: a new entry, a piece of text, a call whose arguments, state or permission changed. What is noted is bounded
 *     like what is kept, however often a call changes.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentLimits, AgentMedia, AgentNote, AgentReply, FailureKind, Usage } from "@remit/machine";
import { type Given, objectOf } from "./given.ts";
import { headOf, stopped, stopsWithin } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type CallEntry, describe, itemsOf, weightOf } from "./reported.ts";
import { Rounds } from "./rounds.ts";
import { costOf, mostOfTokens, sumOfTokens, type Tokens, tokensOf, usageOf } from "./usage.ts";

export interface Breach {
    readonly kind: FailureKind;
    readonly message: string;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type CompactionEntry = Writable<Extract<AgentEntry, { kind: "compaction" }>>;
interface TextEntry {
    kind: "thought" | "message";
    text: string;
    time: string;
    round: number;
    media?: readonly AgentMedia[];
    /** As the protocol has it; not told. */
    id?: string;
}
type Entry = CallEntry | TextEntry | CompactionEntry | Extract<AgentEntry, { kind: "plan" | "usage" }>;

/** Entries that are kept; of what comes after them the number is told. */
const MAX_ENTRIES = 10_000;
/** What is kept of a turn: of all messages and thoughts, and with all else that was told, UTF-16 units. */
const MAX_TEXT = 16 * 1024 * 1024;
const MAX_KEPT = 2 * MAX_TEXT;
/** Beyond the texts in it, what an entry takes. */
const PER_ENTRY = 100;

export interface TranscriptOptions {
    readonly limits: AgentLimits;
    readonly secrets: Scrubber;
    /** What the session cost before this turn, US dollars. */
    readonly costBefore?: number | undefined;
    readonly note?: ((note: AgentNote) => void) | undefined;
    readonly now?: () => Date;
}

/** In `_meta` of a notice: id of the message of a try that failed. A Remit program that is an agent says so (`remit acp`). */
export const RESTART = "remit/restart";

export class Transcript {
    private readonly options: TranscriptOptions;
    private readonly began = performance.now();
    private readonly entries: Entry[] = [];
    private readonly calls = new Map<string, CallEntry>();
    private readonly compactions = new Map<string, CompactionEntry>();
    private readonly rounds = new Rounds();
    /** Messages of tries that failed, by id: they are on record, and no part of the reply. */
    private readonly takenBack = new Set<string>();
    private unkept = 0;
    /** Tokens that its context held when it said so last. */
    private context: number | undefined;
    private readonly resources: { uri: string; mediaType: string; text: string }[] = [];
    private steps = 0;
    private bytes = 0;
    private kept = 0;
    /** A text was not kept: none that comes later is, so that nothing follows what was cut. */
    private isFull = false;
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
    /** In this turn. */
    private isCostTold = false;
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
                this.aside({ kind: "plan", items: itemsOf(given.entries), time: this.time(), round: this.rounds.at });
                return;
            case "notice": {
                const taken = objectOf(given._meta)[RESTART];
                // Of a message that it said: others would be kept without a bound.
                if (this.entries.some((one) => one.kind === "message" && one.id === taken)) this.takenBack.add(taken as string);
                return;
            }
            case "compaction_update":
            case "compaction_summary_chunk":
                this.compacted(given);
                return;
            case "usage_update": {
                if (typeof given.used === "number" && given.used > 0) this.context = given.used;
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

    /** A call that the agent asks about. What its model said stays: opencode asks with a patch in place of the arguments of `write`. */
    asked(call: Given): void {
        const { input, ended } = this.calls.get(String(call.toolCallId)) ?? {};
        const isOver = ended !== undefined;
        this.called({ ...call, ...(isFilled(input) ? { rawInput: undefined } : {}), ...(isOver ? { status: undefined } : {}) });
    }

    /** What was decided about a call. */
    decided(id: string, permission: NonNullable<CallEntry["permission"]>): void {
        const entry = this.calls.get(id);
        if (entry === undefined) return;
        entry.permission = permission;
        this.noteCall(entry);
    }

    /** The call that was allowed to change the file to this. It may be over: opencode sends what it wrote beside its call, in no order. */
    changing(path: string, content: string): CallEntry | undefined {
        return this.entries.find(
            (entry): entry is CallEntry =>
                entry.kind === "call" &&
                entry.permission?.allowed === true &&
                entry.diffs?.some((diff) => diff.path === path && diff.new === content) === true,
        );
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
        // codex ends its turn at a refusal, and tells no more of the call.
        for (const [id, { status, permission }] of this.calls)
            if (permission?.allowed === false && status !== "completed" && status !== "failed")
                this.called({ toolCallId: id, status: "failed" });
    }

    usage(): Usage | undefined {
        const spent = this.spent();
        const usage = usageOf(mostOfTokens(this.reported, this.summed), spent);
        return usage !== undefined && this.isPartial() ? { ...usage, partial: true } : usage;
    }

    /** TN6. */
    private isPartial(): boolean {
        const { reported, summed, context } = this;
        if (reported === null || summed !== null || context === undefined || this.rounds.at === 0 || this.calls.size === 0) return false;
        return reported.total <= context + reported.output;
    }

    reply({ stop, confinement, agent }: Pick<AgentReply, "stop" | "confinement" | "agent">): AgentReply {
        const { resources, steps, calls, unkept } = this;
        const entries = stopsWithin(stop) || this.isFull ? this.stopped() : this.entries;
        return {
            text: entries
                .flatMap((one) => (one.kind === "message" && one.text !== "" && !this.takenBack.has(one.id ?? "") ? [one.text] : []))
                .join("\n\n"),
            ...(resources.length === 0 ? {} : { resources }),
            stop,
            entries: entries.map(told),
            ...(unkept === 0 ? {} : { unkept }),
            ...(agent === undefined ? {} : { agent }),
            confinement,
            spent: { steps, calls: calls.size, ms: Math.round(performance.now() - this.began) },
        };
    }

    /** TN7. */
    private stopped(): readonly Entry[] {
        const last = (["message", "thought"] as const).map((kind) => this.entries.findLast((one) => one.kind === kind));
        return this.entries.map((one) =>
            "text" in one && last.includes(one) ? { ...one, text: stopped(one.text, this.options.secrets) } : one,
        );
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
        else this.unkept++;
        return fits;
    }

    private aside(entry: Extract<AgentEntry, { kind: "plan" | "usage" }>): void {
        if (this.add(entry, entry.kind === "plan" ? (weightOf(entry.items, MAX_KEPT) ?? 0) : 0)) this.note({ entry });
    }

    /** A compaction keeps its place; what is told of it later changes it. */
    private compacted(given: Given): void {
        const id = typeof given.compactionId === "string" ? given.compactionId : "";
        const known = this.compactions.get(id);
        const entry: CompactionEntry = known ?? { kind: "compaction", ...(id === "" ? {} : { id }), time: this.time() };
        if (known === undefined && !this.add(entry)) return;
        if (id !== "") this.compactions.set(id, entry);
        const { status, error, summary } = given;
        if (typeof status === "string") entry.status = headOf(status, PER_ENTRY, this.options.secrets);
        if (typeof error === "string") this.keep(error, (text) => (entry.error = text));
        if (Array.isArray(summary) || summary === null) delete entry.summary;
        const blocks: readonly unknown[] =
            given.sessionUpdate === "compaction_update" ? (Array.isArray(summary) ? summary : []) : [given.content];
        for (const one of blocks) {
            const { text } = objectOf(one);
            if (typeof text === "string" && text !== "") this.keep(text, () => (entry.summary = (entry.summary ?? "") + text));
        }
        const units = PER_ENTRY + (entry.summary?.length ?? 0) + (entry.error?.length ?? 0);
        if (given.sessionUpdate === "compaction_update") this.noteWhole(entry, units);
    }

    private keep(text: string, put: (text: string) => void): void {
        if (this.room(text.length)) put(text);
    }

    private chunk(kind: "thought" | "message", given: Given): void {
        const content = objectOf(given.content);
        // an empty text says nothing: it comes with what was used
        if (content.type !== "text" || content.text !== "") this.said(kind, given, content);
        const used = tokensOf(objectOf(objectOf(given._meta).usage));
        if (used === null) return;
        this.summed = sumOfTokens(this.summed, used);
        const usage = usageOf(used, undefined);
        if (usage !== undefined) this.aside({ kind: "usage", usage, time: this.time(), round: this.rounds.used() });
        this.tokensLeft();
        this.noteUsage();
    }

    private said(kind: "thought" | "message", given: Given, content: Given): void {
        if (this.isFull) return;
        const id = typeof given.messageId === "string" ? given.messageId : undefined;
        const round = this.rounds.text(kind, id);
        const last = this.entries.at(-1);
        const goesOn = last?.kind === kind && last.id === id && last.round === round;
        const entry: TextEntry = goesOn ? last : { kind, text: "", time: this.time(), round, ...(id === undefined ? {} : { id }) };
        const isKept = goesOn || this.add(entry);
        if (!goesOn && kind === "message") this.step();
        const more = this.content(entry, content);
        if (isKept && (more !== null || !goesOn))
            this.note({ entry: { kind, text: "", time: entry.time, round, ...more }, ...(goesOn ? { more: true } : {}) });
    }

    /** What a piece of a message or thought adds to its entry; null: nothing. */
    private content(entry: TextEntry, content: Given): { text: string } | { media: readonly AgentMedia[] } | null {
        const text = typeof content.text === "string" ? content.text : "";
        const { data, mimeType, type } = content;
        if (type === "text") {
            if (entry.kind === "message") this.counted(Buffer.byteLength(text));
            if (this.kept + text.length > MAX_TEXT) {
                this.over("limit.bytes", "UTF-16 units of text that are kept", MAX_TEXT, this.kept + text.length);
                this.isFull = true;
                return null;
            }
            this.kept += text.length;
            if (text === "") return null;
            if (!this.room(text.length)) {
                this.isFull = true;
                return null;
            }
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
            const round = this.rounds.call(id, objectOf(given._meta).phase === "preparing");
            entry = { kind: "call", id, name: "", status: "pending", time: this.time(), round };
            if (this.calls.size < MAX_ENTRIES) {
                this.calls.set(id, entry);
                this.weights.set(entry, { input: 0, rest: 0, isTold: this.add(entry) });
            } else this.unkept++;
            this.step();
            this.over("limit.calls", "tool calls", this.options.limits.calls, this.calls.size);
        }
        describe(entry, given, this.options.secrets);
        if (entry.status === "completed" || entry.status === "failed") {
            entry.ended ??= this.time();
            this.rounds.ended(id);
        } else delete entry.ended;
        const input = isFilled(given.rawInput) ? weightOf(given.rawInput, MAX_KEPT) : undefined;
        if (input === null) delete entry.input;
        else if (input !== undefined && input <= MAX_KEPT) entry.input = given.rawInput as Json;
        this.weigh(entry, input);
        this.noteCall(entry);
    }

    /** `input`: what its arguments weigh; undefined where they did not change, null where they were too deep. */
    private weigh(entry: CallEntry, input: number | null | undefined): void {
        const before = this.weights.get(entry) ?? { input: 0, rest: 0, isTold: false };
        const { id, name, title, toolKind, locations, output, raw, diffs } = entry;
        const after = {
            ...before,
            input: input === undefined ? before.input : (input ?? 0),
            rest: PER_ENTRY + (weightOf([id, title, toolKind, name, locations, output, raw, diffs], MAX_KEPT) ?? 0),
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
        this.noteWhole(entry, weight.input + weight.rest);
    }

    /** TN5: an entry that changed is noted with all that it holds. */
    private noteWhole(entry: CallEntry | CompactionEntry, units: number): void {
        this.noted += units;
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

    /** One that says less than before counts anew from there, and keeps what it had spent; from nothing where the turn begins so, as after another process. */
    private costs(said: number): void {
        if (this.cost !== undefined && said < this.cost) {
            this.settled = this.spent() ?? 0;
            this.costBase = this.isCostTold ? said : 0;
        }
        this.cost = said;
        this.isCostTold = true;
    }

    /** US dollars of this turn. */
    private spent(): number | undefined {
        return this.cost === undefined ? undefined : this.settled + this.cost - this.costBase;
    }
}

function told(entry: Entry): AgentEntry {
    if (entry.kind !== "thought" && entry.kind !== "message") return entry;
    const { kind, text, time, round, media } = entry;
    return kind === "thought" || media === undefined ? { kind, text, time, round } : { kind, text, time, round, media };
}

function isFilled(value: unknown): boolean {
    if (value === undefined || value === null) return false;
    return typeof value !== "object" || Object.keys(value).length > 0;
}
