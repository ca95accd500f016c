/**
 * What an agent reported while it worked, joined: pieces of a text become one, reports of a call become one, of usage the last counts.
 *
 * Boundary: pure. What is told is hostile, and bounded by the performer that tells it.
 */
import type { Json } from "@remit/language";
import type { AgentEntry, AgentNote, AgentReply, Outcome } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";

export interface Notes {
    readonly list: readonly AgentNote[];
    add(note: AgentNote): void;
}

export function notes(before: Iterable<AgentNote> = []): Notes {
    const list: AgentNote[] = [];
    /** Where in the list stands what the next note may go on with. */
    const places = new Map<string, number>();
    const add = (note: AgentNote): void => {
        const key = keyOf(note);
        const at = key === null ? undefined : places.get(key);
        const joined = at === undefined ? null : joinedTo(list[at] as AgentNote, note);
        if (at !== undefined && joined !== null) {
            list[at] = joined;
            return;
        }
        if (key !== null) places.set(key, list.length);
        list.push(note);
    };
    for (const note of before) add(note);
    return { list, add };
}

/** The entries, each told once. */
export function entriesOf(list: Iterable<AgentNote>): AgentEntry[] {
    return notes(list).list.flatMap((note) => ("entry" in note ? [note.entry] : []));
}

/** Of a whole turn so far, as its agent said last. */
export function usageNoted(list: Iterable<AgentNote>): Usage | undefined {
    return [...list].findLast((note) => "usage" in note)?.usage;
}

/** What there was of a turn that gave no reply; null where nothing was noted. */
export function replyNoted(list: Iterable<AgentNote>): { readonly reply: AgentReply; readonly usage: Usage | undefined } | null {
    const all = notes(list).list;
    if (all.length === 0) return null;
    const entries = entriesOf(all);
    const texts = entries.flatMap((entry) => (entry.kind === "message" && entry.text !== "" ? [entry.text] : []));
    const calls = entries.filter(({ kind }) => kind === "call").length;
    const steps = calls + entries.filter(({ kind }) => kind === "message").length;
    const about = all.find((note) => "about" in note)?.about;
    const reply: AgentReply = {
        text: texts.join("\n\n"),
        stop: "cancelled",
        entries,
        confinement: "remote",
        ...about,
        spent: { steps, calls, ms: 0 },
    };
    return { reply, usage: usageNoted(all) };
}

/** Notes told to a machine: the path of the turn, and what is new; null for every other outcome. */
export function notedIn({
    path,
    outcome,
}: {
    readonly path: string;
    readonly outcome: Outcome;
}): { turn: string; nth: number; notes: AgentNote[] } | null {
    const said = outcome.ok ? (outcome.value as { readonly notes?: Json } | null)?.notes : undefined;
    // Every outcome is asked, several times: few hold notes.
    if (!Array.isArray(said)) return null;
    const found = /^(.*)\/note\[(\d+)\]$/.exec(path);
    return found === null ? null : { turn: found[1] as string, nth: Number(found[2]), notes: said as unknown as AgentNote[] };
}

function keyOf(note: AgentNote): string | null {
    if (!("entry" in note)) return "usage" in note ? "usage" : null;
    const { entry } = note;
    if (entry.kind === "call") return `call ${entry.id}`;
    if (entry.kind === "compaction") return entry.id === undefined ? null : `compaction ${entry.id}`;
    return entry.kind === "message" || entry.kind === "thought" ? entry.kind : null;
}

/** Null: it is something new. */
function joinedTo(last: AgentNote, note: AgentNote): AgentNote | null {
    if (!("entry" in note) || !("entry" in last)) return note;
    const [before, entry] = [last.entry, note.entry];
    if (before.kind === "call" && entry.kind === "call") return { entry: later(before, entry) };
    if (before.kind === "compaction" && entry.kind === "compaction") return { entry: { ...before, ...entry } };
    if (note.more !== true) return null;
    if (before.kind === "thought" && entry.kind === "thought") return { ...last, entry: { ...before, text: before.text + entry.text } };
    if (before.kind !== "message" || entry.kind !== "message") return null;
    const media = [...(before.media ?? []), ...(entry.media ?? [])];
    return { ...last, entry: { ...before, text: before.text + entry.text, ...(media.length === 0 ? {} : { media }) } };
}

type Call = Extract<AgentEntry, { kind: "call" }>;

const isEmpty = (value: Json | undefined): boolean =>
    value === undefined || value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/** Of several reports of one call the last input, output and status that say something count. */
function later(first: Call, next: Call): Call {
    const kept: { -readonly [K in keyof Call]: Call[K] } = { ...first, ...next };
    if (isEmpty(next.input) && first.input !== undefined) kept.input = first.input;
    if (isEmpty(next.output) && first.output !== undefined) kept.output = first.output;
    if (next.name === "") kept.name = first.name;
    if (first.time !== undefined) kept.time = first.time;
    return kept;
}
