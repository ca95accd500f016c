/**
 * ATIF: sessions with an agent outside the program.
 *
 * Boundary: from prompts and replies (`AgentReply`) to steps. An agent does not say where one call of its model ends and the next begins, so
 * `llm_call_count` is left out; a step is a thought, a message, or both, with the calls that follow.
 *
 * SEI1: a call and its result stand in one step; of several reports of one call the last input, output and status that say something count.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentPart, AgentReply, Failure } from "../../effect/effect.ts";
import type { Usage } from "../../effect/usage.ts";
import { entriesOf } from "../notes.ts";
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

/** The steps of a turn. `metrics` are those of the whole turn, on its last step; the agent does not say them of each. */
export function addReply(to: Building, turn: Omit<SessionTurn, "prompt">, time?: string): void {
    const { reply, failure } = turn;
    const before = to.steps.length;
    let open: Step | null = null;
    const begin = (when: string | undefined): Step => {
        open = addStep(to, { source: "agent", message: "" }, when);
        return open;
    };
    for (const entry of entriesOf((reply?.entries ?? []).map((one) => ({ entry: one })))) open = addEntry(to, entry, open, begin);
    const of = (source: Step["source"]): Step | undefined => to.steps.slice(before).findLast((step) => step.source === source);
    const metrics = metricsOf(turn.usage);
    const resources = reply?.resources ?? [];
    // a reply whose entries say nothing of it: its text, or what it cost, has a step of its own
    const said = reply !== undefined && reply.text !== "" && !reply.entries.some((entry) => entry.kind === "message");
    let last = of("agent");
    if (said || (last === undefined && (metrics !== undefined || resources.length > 0)))
        last = addStep(to, { source: "agent", message: reply?.text ?? "" }, time);
    if (last !== undefined) {
        if (metrics !== undefined) last.metrics = metrics;
        if (resources.length > 0)
            addExtra(last, { resources: resources.map((one) => ({ uri: one.uri, media_type: one.mediaType, text: one.text })) });
    }
    account(to, turn.usage);
    const end = last ?? to.steps.at(-1) ?? addStep(to, { source: "system", message: "" }, time);
    addExtra(end, {
        stop_reason: reply?.stop,
        confinement: reply?.confinement,
        spent: reply === undefined ? undefined : { ...reply.spent },
        error: failure === undefined ? undefined : { kind: failure.kind, message: failure.message },
    });
}

type Call = Extract<AgentEntry, { kind: "call" }>;

/** Gives the step that is open afterwards. */
function addEntry(to: Building, entry: AgentEntry, open: Step | null, begin: (time: string | undefined) => Step): Step | null {
    const { time } = entry;
    const acted = open?.tool_calls !== undefined;
    switch (entry.kind) {
        case "thought": {
            const step = open === null || acted || open.message !== "" ? begin(time) : open;
            step.reasoning_content = step.reasoning_content === undefined ? entry.text : `${step.reasoning_content}\n${entry.text}`;
            return step;
        }
        case "message": {
            const step = open === null || acted || open.message !== "" ? begin(time) : open;
            const files = (entry.media ?? []).map((one) => mediaPart(to.media, one));
            const parts = files.filter(isPart);
            const words: ContentPart[] = entry.text === "" ? [] : [{ type: "text", text: entry.text }];
            step.message = parts.length === 0 ? entry.text : [...words, ...parts];
            const other = files.filter((one): one is JsonObject => !isPart(one));
            if (other.length > 0) addExtra(step, { media: other });
            return step;
        }
        case "call": {
            const step = open ?? begin(time);
            addToolCall(to, step, entry);
            return step;
        }
        case "plan": {
            const step = open ?? begin(time);
            addExtra(step, { plan: entry.items.map((item) => ({ content: item.content, status: item.status })) });
            return step;
        }
        case "compaction": {
            // what stands in place of what was before is known only where the agent told it
            const known = entry.summary !== undefined;
            const step = addStep(to, { source: "system", message: "" }, time);
            step.extra = { context_management: { type: "compaction", ...(known ? { boundary: "replace" } : {}) } };
            if (entry.summary !== undefined) addResult(step, { content: entry.summary });
            return null;
        }
    }
}

function addToolCall(to: Building, step: Step, entry: Call): void {
    const call = addCall(step, { id: entry.id, name: entry.name || entry.title || entry.toolKind || "tool", args: entry.input });
    const done = entry.status === "completed" || entry.status === "failed";
    addExtra(call, {
        title: entry.title === entry.name ? undefined : entry.title,
        kind: entry.toolKind,
        locations: entry.locations === undefined || entry.locations.length === 0 ? undefined : [...entry.locations],
        permission: entry.permission === undefined ? undefined : { ...entry.permission },
        status: done ? undefined : entry.status,
    });
    if (!done) return;
    const made = addResult(step, { source_call_id: call.tool_call_id });
    addExtra(made, { is_error: entry.status === "failed" });
    if (entry.output === undefined) return;
    const { content, other } = resultContent(to.media, entry.output);
    made.content = content;
    if (other.length > 0) addExtra(made, { media: [...other] });
}
