/**
 * ATIF: sessions with an agent outside the program.
 *
 * Boundary: from prompts and replies (`AgentReply`) to steps.
 *
 * SEI2: a step is one call of the agent's model, as far as its reports let that be seen (`round`); of a recording without rounds it is a thought, a
 *     message, or both, with the calls that follow. `llm_call_count` is there only where the agent said what that call used.
 * SEI1: a call and its result stand in one step; of several reports of one call the last input, output and status that say something count.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentPart, AgentReply, Failure } from "../../effect/effect.ts";
import type { Usage } from "../../effect/usage.ts";
import { entriesOf } from "../notes.ts";
import { listIn, objectIn, textIn } from "../read.ts";
import {
    account,
    addCall,
    addExtra,
    addResult,
    addStep,
    type Building,
    building,
    contentOf,
    finished,
    isPart,
    MEDIA_FOLDER,
    mediaPart,
    metricsOf,
    resultContent,
    type Written,
} from "./build.ts";
import type { ContentPart, JsonObject, Step, TrajectoryAgent } from "./types.ts";

/** One prompt and what came of it. */
export interface SessionTurn {
    readonly prompt: readonly AgentPart[];
    /** Also of a turn that failed, as far as there was one. */
    readonly reply?: AgentReply;
    readonly usage?: Usage;
    readonly failure?: Pick<Failure, "kind" | "message">;
}

/** How a session ended; everything here is in the trajectory's `extra`, under names in the manner of the format. */
export interface SessionEnd {
    /** The agent's own word: `end_turn`, `refusal` … */
    readonly stop?: string;
    /** Why nothing more was asked: `done`, the kind of a failure … */
    readonly reason: string;
    readonly message?: string;
    readonly limits?: Json;
    readonly spent?: Json;
}

export interface SessionOf {
    /** As the program names it; what the agent calls itself is taken from its replies. */
    readonly agent: { readonly name: string; readonly version?: string; readonly model?: string; readonly tools?: readonly JsonObject[] };
    /** Path of the call that opened it. */
    readonly session: string;
    /** Of the run. */
    readonly run?: string;
    readonly turns: readonly SessionTurn[];
    readonly end: SessionEnd;
    /** Folder of its files, beside the trajectory. */
    readonly mediaFolder?: string;
}

/** The trajectory of a session. */
export function trajectoryOf(of: SessionOf): Written {
    const media = { folder: of.mediaFolder ?? MEDIA_FOLDER, files: [] };
    const made = building({
        id: of.run === undefined ? of.session : `${of.run}:${of.session}`,
        session: of.run ?? of.session,
        agent: sessionAgent(of.agent, of.turns.find((turn) => turn.reply?.agent !== undefined)?.reply),
        media,
    });
    for (const turn of of.turns) {
        addPrompt(made, turn.prompt);
        addReply(made, turn);
    }
    addEnd(made, of.end);
    return { trajectory: finished(made), media: media.files };
}

/** `unknown` where no version was said: the format wants a text there. */
export function sessionAgent(asked: SessionOf["agent"], reply: AgentReply | undefined): TrajectoryAgent {
    const said = reply?.agent;
    const model = said?.model ?? asked.model;
    return {
        name: said?.name ?? asked.name,
        version: said?.version ?? asked.version ?? "unknown",
        ...(model === undefined ? {} : { model_name: model }),
        ...(asked.tools === undefined ? {} : { tool_definitions: [...asked.tools] }),
        ...(said === undefined || said.name === asked.name ? {} : { extra: { imported_as: asked.name } }),
    };
}

export function addEnd(to: Building, end: SessionEnd): void {
    addExtra(to, {
        stop_reason: end.stop,
        termination_reason: end.reason,
        termination_message: end.message,
        limits: end.limits,
        spent: end.spent,
    });
}

export function addPrompt(to: Building, prompt: readonly AgentPart[], time?: string): Step {
    const { content } = contentOf(
        to.media,
        prompt.map(({ text }) => ({ text })),
    );
    const made = addStep(to, { source: "user", message: content }, time);
    const resources = prompt.flatMap((part, index): Json[] =>
        part.type === "resource" ? [{ part: index, uri: part.uri, media_type: part.mediaType }] : [],
    );
    if (resources.length > 0) addExtra(made, { resources });
    return made;
}

/**
 * The steps of a turn. Where the agent says what each call of its model used, each step has that; else `metrics` are those of the whole turn, on its
 * last step.
 */
export function addReply(to: Building, turn: Omit<SessionTurn, "prompt">, time?: string): void {
    const { reply, failure } = turn;
    const before = to.steps.length;
    const steps = new Steps(to);
    for (const entry of entriesOf((reply?.entries ?? []).map((one) => ({ entry: one })))) steps.add(entry);
    const metrics = steps.hasUsage ? costAlone(turn.usage) : metricsOf(turn.usage);
    const resources = reply?.resources ?? [];
    // a reply whose entries say nothing of it: its text, or what it cost, has a step of its own
    const said = reply !== undefined && reply.text !== "" && !reply.entries.some((entry) => entry.kind === "message");
    let last = to.steps.slice(before).findLast(({ source }) => source === "agent");
    if (said || (last === undefined && (metrics !== undefined || resources.length > 0)))
        last = addStep(to, { source: "agent", message: reply?.text ?? "" }, time);
    if (last !== undefined) {
        if (metrics !== undefined) last.metrics = { ...last.metrics, ...metrics };
        if (resources.length > 0)
            addExtra(last, { resources: resources.map((one) => ({ uri: one.uri, media_type: one.mediaType, text: one.text })) });
    }
    account(to, turn.usage);
    const end = last ?? to.steps.at(-1) ?? addStep(to, { source: "system", message: "" }, time);
    addExtra(end, {
        stop_reason: reply?.stop,
        confinement: reply?.confinement,
        spent: reply === undefined ? undefined : { ...reply.spent },
        not_kept: reply?.unkept,
        error: failure === undefined ? undefined : { kind: failure.kind, message: failure.message },
    });
}

function costAlone(usage: Usage | undefined): ReturnType<typeof metricsOf> {
    return usage?.usd === undefined ? undefined : metricsOf({ usd: usage.usd });
}

type Call = Extract<AgentEntry, { kind: "call" }>;

/** Steps of one reply, entry by entry. */
class Steps {
    /** The agent said what each call of its model used. */
    hasUsage = false;
    private readonly to: Building;
    private open: Step | null = null;
    private round: number | undefined;

    constructor(to: Building) {
        this.to = to;
    }

    add(entry: AgentEntry): void {
        const { to } = this;
        switch (entry.kind) {
            case "thought": {
                const step = this.stepOf(entry, true);
                step.reasoning_content = step.reasoning_content === undefined ? entry.text : `${step.reasoning_content}\n${entry.text}`;
                return;
            }
            case "message": {
                const step = this.stepOf(entry, true);
                const files = (entry.media ?? []).map((one) => mediaPart(to.media, one));
                const parts = files.filter(isPart);
                const other = files.filter((one): one is JsonObject => !isPart(one));
                step.message = together(step.message, entry.text, parts);
                if (other.length > 0) addExtra(step, { media: other });
                return;
            }
            case "call":
                addToolCall(to, this.stepOf(entry, false), entry);
                return;
            case "plan":
                addExtra(this.stepOf(entry, false), { plan: entry.items.map((item) => ({ content: item.content, status: item.status })) });
                return;
            case "usage": {
                const step = this.stepOf(entry, false);
                const metrics = metricsOf(entry.usage);
                this.hasUsage = true;
                step.llm_call_count = 1;
                if (metrics !== undefined) step.metrics = metrics;
                return;
            }
            case "compaction":
                addCompaction(to, entry);
                this.open = null;
        }
    }

    /** SEI2. `isText`: in a recording without rounds it begins a step where something was said or done before. */
    private stepOf({ time, round }: Exclude<AgentEntry, { kind: "compaction" }>, isText: boolean): Step {
        const { open } = this;
        const goesOn = round === undefined ? !isText || (open?.tool_calls === undefined && open?.message === "") : this.round === round;
        if (open !== null && goesOn) return open;
        this.round = round;
        this.open = addStep(this.to, { source: "agent", message: "" }, time);
        return this.open;
    }
}

/** A message and what goes on in it after something else. */
function together(before: Step["message"], text: string, parts: readonly ContentPart[]): Step["message"] {
    if (parts.length === 0 && typeof before === "string") return before === "" || text === "" ? before + text : `${before}\n\n${text}`;
    const words = (said: string): ContentPart[] => (said === "" ? [] : [{ type: "text", text: said }]);
    return [...(typeof before === "string" ? words(before) : before), ...words(text), ...parts];
}

function addCompaction(to: Building, entry: Extract<AgentEntry, { kind: "compaction" }>): void {
    const { id, status, summary, error, time } = entry;
    // what stands in place of what was before is known only where the agent told it
    const known = summary !== undefined && status !== "failed" && status !== "cancelled";
    const step = addStep(to, { source: "system", message: "" }, time);
    addExtra(step, {
        context_management: { type: "compaction", ...(known ? { boundary: "replace" } : {}) },
        compaction_id: id,
        status: status === "completed" ? undefined : status,
        error,
    });
    if (summary !== undefined) addResult(step, { content: summary });
}

function addToolCall(to: Building, step: Step, entry: Call): void {
    const call = addCall(step, { id: entry.id, name: entry.name || entry.title || entry.toolKind || "tool", args: entry.input });
    const done = entry.status === "completed" || entry.status === "failed";
    const { output, raw, diffs = [] } = entry;
    addExtra(call, {
        title: entry.title === entry.name ? undefined : entry.title,
        kind: entry.toolKind,
        locations: entry.locations === undefined || entry.locations.length === 0 ? undefined : [...entry.locations],
        permission: entry.permission === undefined ? undefined : { ...entry.permission },
        status: done ? undefined : entry.status,
        made_by: entry.made,
        diffs:
            diffs.length === 0
                ? undefined
                : diffs.map(({ path, old, new: text }) => ({ path, ...(old === undefined ? {} : { old_text: old }), new_text: text })),
    });
    if (!done && output === undefined) return;
    const made = addResult(step, { source_call_id: call.tool_call_id });
    addExtra(made, {
        is_error: done ? entry.status === "failed" : undefined,
        raw_output: raw,
        ended: entry.ended,
    });
    const changed = entry.status === "completed" && diffs.length > 0 ? diffs.map(({ path }) => `changed ${path}`).join("\n") : undefined;
    if (output === undefined && changed === undefined) return;
    const { content, other } = resultContent(to.media, output ?? (changed as string));
    made.content = content;
    if (other.length > 0) addExtra(made, { media: [...other] });
}

/** What the call that hands over was given, as the agent was told first: the text, or the values and names of what was passed. */
export function argumentsIn(prompt: readonly AgentPart[], by: string | undefined): JsonObject {
    const handed = by === "yield" ? prompt.find((part) => part.type === "resource" && part.uri === "remit:yield") : undefined;
    if (handed === undefined)
        return { [by === "send" ? "text" : "prompt"]: prompt.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n") };
    const read: unknown = JSON.parse(handed.text);
    const args: JsonObject = {};
    for (const param of listIn(objectIn(read as Json).params).map(objectIn)) {
        const value =
            param.value ?? (param.handle === undefined ? null : { handle: listIn(param.handle).map((one) => objectIn(one).name ?? null) });
        Object.defineProperty(args, textIn(param.name) ?? "", { value, enumerable: true, writable: true, configurable: true });
    }
    return args;
}
