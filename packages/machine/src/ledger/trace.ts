/**
 * Projection **trace**: a run as a tree for people, one line a happening, two spaces a level.
 *
 * Boundary: pure text from events. Colours are given by the caller (`paint`); control characters of data never reach the text.
 *
 * TR1: a line says what happened, what came of it, how long it took and what it used, and is at most `WIDTH` characters of data.
 * TR2: an event that was redacted, or of a kind that is not listed, still has its line.
 */
import { type Json, shownUse } from "@remit/language";
import { refusalIn, refusalText } from "../authority/refusal.ts";
import { withoutAlike } from "./alike.ts";
import type { LedgerEvent } from "./events.ts";
import { shortened } from "../value/text.ts";
import { learnOffered, offeredIn } from "./offered.ts";
import {
    called,
    eventOf,
    familyOf,
    field,
    get,
    type Happening,
    happeningsOf,
    listIn,
    millis,
    numberIn,
    objectIn,
    partsIn,
    plainText,
    siteText,
    type TreeNode,
    textIn,
    treeOf,
} from "./read.ts";
import { beginsTurn, notesIn, withEntries } from "./told.ts";

/** Style names are those of Node's `util.styleText`: `bold dim red green yellow cyan`. */
export type Paint = (style: string, text: string) => string;

export interface TraceOptions {
    /** Values, prompts and replies uncut, and passes that failed alike each by itself. */
    readonly full?: boolean;
    readonly paint?: Paint;
}

const WIDTH = 72;

/** A line of the trace, before it is text. */
export interface TraceRow {
    readonly depth: number;
    readonly path: string;
    /** What kind of thing it is: `run`, `generate`, `generate.attempt`, `tool`, `plan.node` …; `iteration` for a pass of a `parallel for`. */
    readonly family: string;
    readonly what: string;
    /** What came of it; empty where nothing is to be said. */
    readonly came: string;
    readonly bad: boolean;
    /** How long it took and what it used. */
    readonly aside: string;
    /** Numbers of its events. */
    readonly seqs: readonly number[];
    /** Of its first event, and of its last one where it is over: milliseconds since 1970. */
    readonly from: number | null;
    readonly to: number | null;
    /** Shown in full traces. */
    readonly detail: readonly (readonly [string, string])[];
}

export function traceText(events: Iterable<LedgerEvent>, options: TraceOptions = {}): string {
    const all = traceRows(events, options);
    const rows = options.full === true ? all : withoutAlike(all);
    return rows.length === 0 ? "(empty trace)" : rows.flatMap((row) => linesOf(row, options)).join("\n");
}

/** In the order of the trace, each after the one that it stands under. */
export function traceRows(events: Iterable<LedgerEvent>, options: TraceOptions = {}): TraceRow[] {
    const out: TraceRow[] = [];
    const all = [...events];
    const [offered, waiting] = [offeredIn(all), waitingIn(all)];
    const writer: Writer = { full: options.full === true, paint: options.paint ?? asItIs, out, waiting, offered };
    for (const node of treeOf(withEntries(all).filter(isShown))) writeNode(node, 0, writer);
    return out;
}

/**
 * For a run that is watched: takes its events in order, and gives the lines that each tells. What takes time is told when it begins, with `…`, and again
 * with what came of it. Pieces of an agent's text are told as they come. `[2]` before a line: the pass of a `parallel for` that it is of.
 */
export function watching(): (event: LedgerEvent) => string[] {
    const told = telling();
    return (event) => {
        const passes = [...event.path.matchAll(/\/parallel(\[\d+\])(?=\/|$)/g)].map(([, pass]) => pass).join("");
        return told(event).map((line) => (passes === "" ? line : `${passes} ${line}`));
    };
}

function telling(): (event: LedgerEvent) => string[] {
    const w: Writer = { full: false, paint: asItIs, out: [], waiting: [], offered: new Map() };
    const open = new Map<string, LedgerEvent>();
    const turns = new Set<string>();
    const lineOf = ({ what, came = "" }: Line, aside = ""): string =>
        [what, came, aside === "" ? "" : `(${aside})`].filter((part) => part !== "").join(" ");
    return (event) => {
        if (event.kind === "agent.noted") {
            const again = turns.has(event.path) && beginsTurn(event) ? [{ kind: "again" }] : [];
            turns.add(event.path);
            const entries = notesIn(event).flatMap((note) => ("entry" in note ? [note.entry as unknown as { [key: string]: Json }] : []));
            return [...again, ...entries].filter(({ kind }) => kind !== "usage").map((entry) => lineOf(entryLine(entry, w)));
        }
        learnOffered(event, w.offered);
        const key = `${familyOf(event)} ${event.path}`;
        const begun = open.get(key);
        const [one] = happeningsOf(begun === undefined ? [event] : [begun, event]);
        if (one === undefined) return [];
        const line = (LINES[one.family] ?? plainLine)(one, w);
        if (one.start === event) {
            open.set(key, event);
            return [`${line.what} …`];
        }
        open.delete(key);
        return [lineOf(line, [duration(one), used(one)].filter((part) => part !== "").join(", "))];
    };
}

const asItIs: Paint = (_, text) => text;

/** What a call of an agent's model used stands in the sum of its turn. */
const isShown = (event: LedgerEvent): boolean => event.kind !== "agent.noted" || field(event, "kind") !== "usage";

interface Writer {
    readonly full: boolean;
    readonly paint: Paint;
    readonly out: TraceRow[];
    /** Paths of questions without an answer, in a run that has not ended. */
    readonly waiting: readonly string[];
    /** How people know lent tools, by the names that models have for them. */
    readonly offered: Map<string, string>;
}

function waitingIn(events: readonly LedgerEvent[]): string[] {
    const open = new Set<string>();
    for (const { kind, path } of events) {
        if (kind === "ask.requested") open.add(path);
        else if (kind === "ask.decided" || kind === "ask.withdrawn") open.delete(path);
        else if (kind === "run.ended") return [];
    }
    return [...open];
}

function writeNode(node: TreeNode, depth: number, w: Writer): void {
    if (node.iteration !== undefined) {
        const none = { came: "", bad: false, aside: "", seqs: [], from: null, to: null, detail: [] };
        w.out.push({ depth, path: node.path, family: "iteration", what: `iteration [${node.iteration}]`, ...none });
        for (const child of node.children) writeNode(child, depth + 1, w);
        return;
    }
    const [first, ...more] = node.happenings;
    if (first === undefined) return;
    const before = more.filter((one) => eventOf(one).seq < firstChild(node));
    const after = more.filter((one) => eventOf(one).seq >= firstChild(node));
    for (const one of [first, ...before]) writeLine(one, depth, w);
    for (const child of node.children) writeNode(child, depth + 1, w);
    for (const one of after) writeLine(one, depth, w);
}

function firstChild(node: TreeNode): number {
    return node.children[0]?.seq ?? Number.POSITIVE_INFINITY;
}

function writeLine(one: Happening, depth: number, w: Writer): void {
    const describe = LINES[one.family] ?? plainLine;
    const { what, came = "", bad = false, detail = [] } = describe(one, w);
    const isEntry = one.family === "agent.noted";
    const aside = [isEntry ? spanText(text(one, "time"), text(one, "ended")) : duration(one), used(one)]
        .filter((text) => text !== "")
        .join(", ");
    const { start, single, end } = one;
    const first = eventOf(one);
    w.out.push({
        ...{ depth: isEntry ? depth + 1 : depth, path: first.path, family: one.family, what, came, bad, aside, detail },
        seqs: [start, single, end].flatMap((event) => (event === undefined ? [] : [event.seq])),
        from: millis(first.time),
        to: start === undefined ? millis(first.time) : end === undefined ? null : millis(end.time),
    });
}

function linesOf({ depth, what, came, bad, aside, detail }: TraceRow, { full = false, paint = asItIs }: TraceOptions): string[] {
    const indent = "  ".repeat(depth);
    const parts = [what, ...(came === "" ? [] : [bad ? paint("red", came) : came]), ...(aside === "" ? [] : [paint("dim", `(${aside})`)])];
    const line = `${indent}${bad ? paint("red", "-") : "-"} ${parts.join(" ")}`;
    if (!full) return [line];
    const more = detail.flatMap(([name, text]) => block(name, text));
    return [line, ...more.map((one) => `${indent}    ${paint("dim", one)}`)];
}

function block(name: string, text: string): string[] {
    const lines = text.split("\n").map(plainText);
    return lines.length === 1 ? [`${plainText(name)}: ${lines[0]}`] : [`${plainText(name)}:`, ...lines.map((line) => `  ${line}`)];
}

// ---- one line a kind ---------------------------------------------------------------------------------------------------

interface Line {
    readonly what: string;
    readonly came?: string;
    readonly bad?: boolean;
    /** Shown in full traces. */
    readonly detail?: readonly (readonly [string, string])[];
}

type Describe = (one: Happening, w: Writer) => Line;

const text = (one: Happening, key: string, otherwise = ""): string => textIn(get(one, key)) ?? otherwise;

const calledText = (one: Happening, key: string, otherwise = ""): string => textIn(called(one, key)) ?? otherwise;

/** What came of something that has an end: its value, its failure, or that it did not end. */
function outcome(one: Happening, w: Writer, key: string): Pick<Line, "came" | "bad"> {
    if (one.end === undefined) {
        if (one.start === undefined) return {};
        const { path } = one.start;
        const waits = w.waiting.some((asked) => asked === path || asked.startsWith(`${path}/`));
        return waits ? { came: "waits for an answer" } : { came: "did not end", bad: true };
    }
    const failure = objectIn(get(one, "failure") ?? null);
    if (get(one, "ok") === false || textIn(failure.message) !== undefined) {
        const message = textIn(failure.message) ?? (text(one, "error") || text(one, "message") || text(one, "kind", "failed"));
        return { came: `failed: ${shown(message, w)}`, bad: true };
    }
    const value = get(one, key) ?? get(one, "value");
    return value === undefined ? {} : { came: `→ ${shown(value, w)}` };
}

const call =
    (name: (one: Happening) => string): Describe =>
    (one, w) => {
        const given = get(one, "args") ?? get(one, "arg") ?? called(one, "args");
        const values = given === undefined ? "" : Array.isArray(given) ? given.map((value) => shown(value, w)).join(", ") : shown(given, w);
        return { what: `${name(one)}(${values})`, ...outcome(one, w, "result") };
    };

const LINES: { readonly [family: string]: Describe } = {
    run: (one, w) => ({ what: w.paint("bold", `run ${plainText(eventOf(one).run)}`), ...outcome(one, w, "value") }),
    use: (one) => {
        const variant = objectIn(get(one, "variant") ?? null);
        const budget = objectIn(get(one, "budget") ?? null);
        const max = textIn(budget.text) ?? (numberIn(budget.amount) === undefined ? "" : `${numberIn(budget.amount)}`);
        const label = textIn(get(one, "label"));
        const picked = textIn(variant.picked);
        const source = picked === undefined ? text(one, "source") : `one of: ${picked}${variant.empty === true ? " (empty)" : ""}`;
        return {
            what: `use ${plainText(source)}${max === "" ? "" : ` max ${max}`}${label === undefined ? "" : ` as ${JSON.stringify(plainText(label))}`}`,
        };
    },
    generate: (one, w) => {
        const start = one.start;
        const model = objectIn(get(one, "model") ?? null);
        const instruction = textIn(objectIn(get(one, "instruction") ?? null).text) ?? "";
        const attempts = numberIn(get(one, "attempts")) ?? 0;
        const tries = attempts > 1 ? ` in ${attempts} attempts` : "";
        const came = outcome(one, w, "result");
        const items = start === undefined ? [] : listIn(field(start, "items")).map(objectIn);
        return {
            what: `generate ${shown(instruction, w)} with ${plainText(textIn(model.name) ?? "a model")}${tries}`,
            ...came,
            detail: items.map((item) => [itemTitle(item), textIn(item.text) ?? ""] as const),
        };
    },
    "generate.attempt": (one, w) => {
        const attempt = (numberIn(get(one, "attempt")) ?? 0) + 1;
        const turn = numberIn(get(one, "turn")) ?? 0;
        const error = textIn(get(one, "error"));
        const reply = objectIn(get(one, "reply") ?? null);
        const calls = listIn(reply.calls).map((made) => {
            const name = textIn(objectIn(made).name) ?? "?";
            return w.offered.get(name) ?? name;
        });
        const name = turn === 0 ? `attempt ${attempt}` : `attempt ${attempt}, turn ${turn + 1}`;
        const repairs = listIn(objectIn(reply.reading ?? null).repairs).length;
        const good =
            calls.length > 0
                ? `calls ${calls.map(plainText).join(", ")}`
                : repairs > 0
                  ? `ok, ${repairs} ${repairs === 1 ? "repair" : "repairs"}`
                  : "ok";
        return {
            what: name,
            came: [
                error === undefined ? good : plainText(error),
                ...listIn(reply.notes).map((note) => `(${plainText(textIn(note) ?? "")})`),
            ].join(" "),
            bad: error !== undefined,
            detail: [
                ...listIn(get(one, "messages")).map((message) => messageBlock(objectIn(message))),
                ["reply", textIn(reply.text) ?? ""] as const,
            ],
        };
    },
    tool: call(
        (one) => `tool ${plainText(shownUse(`${calledText(one, "tool")}.${calledText(one, "method", "?")}`, calledText(one, "uri")))}`,
    ),
    memory: call((one) => `memory ${plainText(text(one, "memory"))}.${plainText(text(one, "operation") || text(one, "op", "?"))}`),
    agent: call((one) => `agent ${plainText(text(one, "agent"))}.${plainText(text(one, "function", "main"))}`),
    "agent.turn": (one, w) => {
        const reply = objectIn(get(one, "reply") ?? null);
        const said = listIn(get(one, "prompt")).map((part) => textIn(objectIn(part).text) ?? "");
        const { came, bad } = outcome(one, w, "");
        const stop = textIn(reply.stop);
        const answer = textIn(reply.text);
        return {
            what: `${plainText(text(one, "agent"))} asked ${shown(said[0] ?? "", w)}`,
            came:
                came ??
                (answer === undefined
                    ? ""
                    : `→ ${shown(answer, w)}${stop === undefined || stop === "end_turn" ? "" : ` (${plainText(stop)})`}`),
            ...(bad === undefined ? {} : { bad }),
            detail: [...said.map((part) => ["prompt", part] as const), ["reply", answer ?? ""] as const],
        };
    },
    "agent.noted": (one, w) => entryLine(objectIn(eventOf(one).data), w),
    yield: (one, w) => ({ what: `${plainText(text(one, "by", "yield"))} to ${plainText(text(one, "agent"))}`, ...outcome(one, w, "") }),
    "yield.payload": (one, w) => {
        const errors = listIn(get(one, "errors")).map((error) => textIn(error) ?? "");
        return {
            what: `${plainText(text(one, "agent"))} gave a function`,
            ...(get(one, "ok") === false ? { came: `not valid: ${shown(errors[0] ?? "", w)}`, bad: true } : {}),
            detail: [["function", text(one, "text")] as const, ...errors.map((error) => ["error", error] as const)],
        };
    },
    for: (one, w) => ({
        what: `for ${plainText(text(one, "item", "item"))}[${numberIn(get(one, "index")) ?? "?"}]`,
        came: get(one, "value") === undefined ? "" : shown(get(one, "value") as Json, w),
    }),
    parallel: (one, w) => {
        const count = numberIn(get(one, "items")) ?? listIn(get(one, "items")).length;
        const limit = numberIn(get(one, "concurrency"));
        return {
            what: `parallel for ${plainText(text(one, "item"))} (${count} ${count === 1 ? "item" : "items"}${limit === undefined ? "" : `, concurrency ${limit}`})`,
            ...outcome(one, w, ""),
        };
    },
    plan: (one, w) => {
        const block = objectIn(get(one, "plan") ?? null);
        const nodes = listIn(block.nodes).length;
        const name = textIn(block.name);
        const kind = [textIn(block.backend), textIn(block.mode), "block"].filter((part) => part !== undefined).join(" ");
        return {
            what: plainText(`${kind}${name === undefined ? "" : ` as ${name}`} (${nodes} ${nodes === 1 ? "node" : "nodes"})`),
            ...outcome(one, w, ""),
        };
    },
    "plan.node": (one, w) => {
        const state = text(one, "state");
        const came = state === "skipped" || state === "cancelled" ? { came: state } : outcome(one, w, "value");
        return {
            what: plainText(text(one, "id")),
            ...came,
            ...(state === "failed" ? { came: `failed: ${shown(text(one, "error"), w)}`, bad: true } : {}),
        };
    },
    input: (one, w) => ({ what: `input ${plainText(text(one, "name") || text(one, "path"))}`, ...outcome(one, w, "value") }),
    ask: (one, w) => ({ what: `ask ${shown(calledText(one, "question"), w)}`, ...outcome(one, w, "decision") }),
    failure: (one, w) => ({
        what: `failed ${plainText(text(one, "kind"))}: ${shown(text(one, "message"), w)}`,
        came: plainText(siteText(eventOf(one))),
        bad: true,
    }),
    budget: (one, w) => ({ what: `budget ${shown(eventOf(one).data, w)}` }),
    "policy.denied": (one, w) => {
        const { data } = eventOf(one);
        const refusal = w.full ? null : refusalIn(data);
        return { what: refusal === null ? `denied ${shown(data, w)}` : `denied: ${plainText(refusalText(refusal))}`, bad: true };
    },
};

/** What an agent told: a call of a tool of its own, what it said or thought, its plan, a compaction. */
function entryLine(entry: { [key: string]: Json }, w: Writer): Line {
    const kind = textIn(entry.kind) ?? "";
    if (kind === "call") return callLine(entry, w);
    if (kind === "plan") {
        const items = listIn(entry.items).map(objectIn);
        const shownItems = items.map((item) => `${textIn(item.content) ?? ""} (${(textIn(item.status) ?? "").replaceAll("_", " ")})`);
        return { what: `plan ${shown(shownItems.join(", "), w)}` };
    }
    const said = textIn(entry.text) ?? textIn(entry.summary) ?? "";
    const words: { readonly [kind: string]: string } = {
        ...{ message: "said", thought: "thought", compaction: "compacted its context" },
        again: "was told its turn again",
    };
    const what = `${words[kind] ?? `reported ${plainText(kind)}`}${said === "" ? "" : ` ${shown(said, w)}`}`;
    const status = textIn(entry.status);
    return { what, ...(status === undefined || status === "completed" ? {} : { came: plainText(status) }) };
}

/** The name and the arguments; of a call whose arguments the agent did not tell, its title. */
function calledAs({ name: given, title, input }: { [key: string]: Json }, w: Writer): string {
    const name = textIn(given) || "tool";
    if (input !== undefined) return `${plainText(name)}(${shown(input, w)})`;
    const plain = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
    const said = textIn(title) ?? "";
    return `${plainText(name)}()${said === "" || plain(said) === plain(name) ? "" : ` ${shown(said, w)}`}`;
}

function callLine(entry: { [key: string]: Json }, w: Writer): Line {
    const permission = objectIn(entry.permission);
    const status = textIn(entry.status) ?? "";
    const diffs = listIn(entry.diffs).map(objectIn);
    const { output } = entry;
    const failed = status === "failed";
    const made = textIn(entry.made);
    const but = failed && made !== undefined ? `, and ${plainText(made)} did it` : "";
    const refused = permission.allowed === false ? ` refused by ${plainText(textIn(permission.by) ?? "")}` : "";
    // What a failed call says that it changes is what it was to change, unless the program's tool had done it.
    const change = failed && made === undefined ? "was to change" : "changed";
    const done = output === undefined ? diffs.map(({ path }) => `${change} ${plainText(textIn(path) ?? "")}`).join(", ") : shown(output, w);
    const came = failed
        ? `failed:${refused}${refused === "" || done === "" || output !== undefined ? "" : ","} ${done}`.trimEnd() + but
        : status === "completed"
          ? done === ""
              ? "done"
              : `→ ${done}`
          : plainText(status);
    return {
        what: calledAs(entry, w),
        came,
        bad: failed,
        detail: [
            ...(entry.raw === undefined ? [] : [["raw output", JSON.stringify(entry.raw)] as const]),
            ...diffs.map(
                (diff) => [`change of ${textIn(diff.path) ?? ""}`, changeText(textIn(diff.old) ?? "", textIn(diff.new) ?? "")] as const,
            ),
        ],
    };
}

/** What differs between two texts: the lines that go and those that come, without those that both begin or end with. */
function changeText(old: string, now: string): string {
    const [before, after] = [old, now].map((text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"))) as [string[], string[]];
    let head = 0;
    while (head < before.length && head < after.length && before[head] === after[head]) head++;
    let tail = 0;
    while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
    const cutOf = (lines: readonly string[], mark: string): string[] =>
        lines.slice(head, lines.length - tail).map((line) => `${mark}${line}`);
    return [...cutOf(before, "-"), ...cutOf(after, "+")].join("\n");
}

const plainLine: Describe = (one, w) => {
    const event = eventOf(one);
    return { what: `${plainText(one.family)} ${plainText(event.path.split("/").at(-1) ?? "")}`, ...outcome(one, w, "result") };
};

function itemTitle(item: { [key: string]: Json }): string {
    const clipped = item.clipped === true ? `, clipped from ${item.original_size} to ${item.clipped_size}` : "";
    return `[${plainText(textIn(item.heading) ?? "?")}] ${plainText(textIn(item.source) ?? "")}${clipped}`;
}

function messageBlock(message: { [key: string]: Json }): readonly [string, string] {
    const role = textIn(message.role) ?? "message";
    const { content } = message;
    if (typeof content === "string") return [role, content];
    if (role === "tool") return ["tool result", JSON.stringify(message.result ?? null)];
    return [
        role,
        partsIn(content)
            .map((part) => textIn(part.text) ?? `(${textIn(part.mediaType) ?? "file"})`)
            .join("\n"),
    ];
}

// ---- values, times, usage ----------------------------------------------------------------------------------------------

function shown(value: Json, w: Writer): string {
    const whole = typeof value === "string" ? (w.full ? JSON.stringify(value) : `"${value}"`) : JSON.stringify(value);
    return w.full ? plainText(whole) : shortened(plainText(whole), WIDTH);
}

function duration(one: Happening): string {
    if (one.start === undefined || one.end === undefined) return "";
    return spanText(one.start.time, one.end.time);
}

function spanText(start: string, end: string): string {
    const [from, to] = [millis(start), millis(end)];
    return from === null || to === null ? "" : timeText(to - from);
}

export function timeText(ms: number): string {
    if (ms < 1000) return `${ms} ms`;
    if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
    return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

function used(one: Happening): string {
    const usage = objectIn(get(one, "usage") ?? null);
    const [input, output, usd] = [numberIn(usage.input), numberIn(usage.output), numberIn(usage.usd)];
    const part = usage.partial === true ? " in its last call alone" : "";
    const tokens = input === undefined && output === undefined ? "" : `${input ?? "?"} tokens in, ${output ?? "?"} out${part}`;
    return [tokens, usd === undefined || usd === 0 ? "" : `$${usd.toFixed(4)}`].filter((part) => part !== "").join(", ");
}
