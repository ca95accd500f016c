/**
 * What an agent outside the program tells of a turn: entries in order, notes while it works, and its reply.
 *
 * Boundary: shapes only. What agents send becomes these in the host.
 */
import { any, count, flag, is, json, list, number, one, ref, says, shape, type Told, text } from "../shape/build.ts";
import type { Usage } from "./usage.ts";

const usage = ref<Usage>("Usage");
const MEDIA = shape({ mediaType: text, data: text }, {});
/** A picture or sound that the agent gave: base64, or the name of a blob. */
export type AgentMedia = Told<typeof MEDIA>;

/** Which call of the agent's model it belongs to, from 0 in each turn, as far as what was told lets that be seen. */
const round = says(count, "call of the agent's model that it belongs to, from 0 in each turn");
const DIFF = shape({ path: text, new: text }, { old: says(text, "absent: there was no such file, or it was not said") });
/** What a call changes in a file, as the agent shows it. */
export type AgentDiff = Told<typeof DIFF>;

const ENTRY = any(
    shape({ kind: is("thought"), text }, { time: text, round }),
    shape({ kind: is("message"), text }, { time: text, round, media: list(MEDIA) }),
    shape(
        {
            kind: is("call"),
            id: text,
            name: says(text, "as the agent named its tool first"),
            status: one(["pending", "in_progress", "completed", "failed"]),
        },
        {
            title: text,
            /** As the protocol has it: read, edit, delete, move, search, execute, think, fetch, switch_mode, other. */
            toolKind: text,
            input: json,
            output: json,
            raw: says(json, "what the tool gave in the agent's own form, where that says other things than `output`"),
            diffs: list(DIFF),
            made: says(text, "tool and method of the program that did what the call asks for, whatever the agent says came of it"),
            locations: list(text),
            /** What was decided about it, and by whom: `remit`, `person`, `nobody`. */
            permission: shape({ allowed: flag, by: text }, { why: text }),
            time: text,
            ended: says(text, "when it was completed or failed"),
            round,
        },
    ),
    shape({ kind: is("plan"), items: list(shape({ content: text, status: text }, {})) }, { time: text, round }),
    shape({ kind: is("compaction") }, { id: text, status: text, summary: text, error: text, time: text }),
    shape({ kind: is("usage"), usage }, { time: text, round }),
);
/** What happened during a turn, in order, as far as the agent told: the trajectory is made of it. `time` in ISO 8601. */
export type AgentEntry = Told<typeof ENTRY>;

/** What an agent reports while it works, as it comes. `more`: the text goes on in its last entry of the same kind; a call stands for all that was said of it. */
export type AgentNote =
    | { readonly entry: AgentEntry; readonly more?: true }
    /** What the turn used so far. */
    | { readonly usage: Usage }
    /** How the agent calls itself, and how its process is kept. */
    | { readonly about: Pick<AgentReply, "agent" | "confinement"> }
    /** How it calls the session, which another process can take up, and what that cost so far in US dollars. It is kept in the continuation, and is in no event. */
    | { readonly loads: string; readonly usd?: number };

export const AGENT_REPLY = shape(
    {
        /** The messages of the turn, joined. */
        text,
        stop: one(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]),
        entries: list(ENTRY),
        /** How its process was kept: in a sandbox of the operating system, without one, or it is none of ours (a server, a stub). */
        confinement: one(["sandbox", "unconfined", "remote"]),
        /** Steps and tool calls that were counted. */
        spent: shape({ steps: count, calls: count, ms: number }, {}),
    },
    {
        resources: list(shape({ uri: text, mediaType: text, text }, {})),
        unkept: says(count, "what it told beyond what is kept of a turn"),
        /** As the agent calls itself. */
        agent: shape({ name: text, version: text }, { model: text }),
    },
);
/** Outcome value of a turn. A turn that ended by a limit, a crash or a cancel fails; `failure.detail.reply` then holds what there was of this. */
export type AgentReply = Told<typeof AGENT_REPLY>;
