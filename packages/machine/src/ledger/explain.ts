/**
 * Projection **explain**: for each `generate` of a run and each of its turns, why each character that the model was shown is there, and
 * what was in scope and not used.
 *
 * Boundary: reads events; builds each prompt again with the same layout (`../prompt/layers.ts`, `../prompt/feedback.ts`) to know where each
 * piece stands, and says so where what was sent is not what it built. The printed form is in `explain-text.ts`.
 *
 * EP1: the pieces of a message cover it from its first character to its last, without gaps, in order.
 * EP2: what a turn carries over (`carried`) is the messages of the turn before it, which is explained as well.
 */
import { type Json, shownUse, type Site } from "@remit/language";
import { feedbackStretches, type Instruction, instructionStretches, type Rejection, type Stretch } from "../prompt/feedback.ts";
import { NUDGE } from "../prompt/narration.ts";
import { CONTRACT_HEAD, contextOpening, INSTRUCTION_HEAD, itemTexts, type ShownItem } from "../prompt/layers.ts";
import type { LedgerEvent } from "./events.ts";
import { field, generatePath, type JsonObject, listIn, numberIn, objectIn, plainText, textIn } from "./read.ts";

/** `feedback`: what a further attempt is told; `reply`: the model's own words and calls; `result`: what came of a call. */
export type Layer = "identity" | "context" | "instruction" | "contract" | "feedback" | "reply" | "result" | "layout" | "unknown";

/** A stretch of one message: UTF-16 offsets into its text. */
export interface Piece {
    readonly from: number;
    readonly to: number;
    readonly layer: Layer;
    /** Why it is there, in words. */
    readonly why: string;
    /** Sorted origins of what stands there. */
    readonly origins: readonly string[];
    /** For an item: its index in `items`. */
    readonly item?: number;
}

export interface ShownMessage {
    readonly role: "system" | "user" | "assistant" | "tool";
    /** A result is its JSON; the calls of an assistant follow its words, one a line, as JSON. A file stands for itself as nothing. */
    readonly text: string;
    readonly pieces: readonly Piece[];
}

/** One provider turn. */
export interface ShownTurn {
    readonly path: string;
    /** From 0. */
    readonly attempt: number;
    readonly turn: number;
    /** So many messages are sent again before `messages`: those of the turn before. */
    readonly carried: number;
    /** What is new in this turn, the model's reply to the turn before among it. */
    readonly messages: readonly ShownMessage[];
    /** What was wrong with the answer that made this attempt necessary; null for a first attempt. */
    readonly because: string | null;
    /** The model was not shown the schema of its contract: decoding was bound to it. `messages` are what it was shown. */
    readonly bound: boolean;
    /** False where what was sent is not what this version would have built. */
    readonly exact: boolean;
}

export interface ItemExplanation {
    readonly index: number;
    readonly label: string | null;
    readonly source: string;
    readonly declared: Site | null;
    readonly origins: readonly string[];
    readonly shown: boolean;
    /** What the budgets did, in words. */
    readonly clip: string;
    readonly variant: string | null;
    readonly text: string;
}

/** A method that the model may call: shown in every turn, beside the messages. */
export interface OfferedTool {
    /** As the model calls it. */
    readonly name: string;
    /** As the program does: `Repo.read`. */
    readonly source: string;
    readonly uri: string;
    /** As its tool describes it; null where it does not, or where that was removed. */
    readonly description: string | null;
    /** JSON Schema of its arguments; null where it was removed. */
    readonly input: Json | null;
}

export interface Explanation {
    readonly path: string;
    readonly label: string;
    readonly model: string;
    readonly items: readonly ItemExplanation[];
    readonly tools: readonly OfferedTool[];
    /** In the order in which they were sent; none where nothing was. */
    readonly turns: readonly ShownTurn[];
    /** Names that were visible and are in no item; null where the events do not say. */
    readonly unused: readonly string[] | null;
}

export function explainRun(events: Iterable<LedgerEvent>, path?: string): Explanation[] {
    const starts: LedgerEvent[] = [];
    const within = new Map<string, LedgerEvent[]>();
    for (const event of events) {
        if (event.kind === "generate.started") starts.push(event);
        const of = generatePath(event.path);
        if (of === event.path) continue;
        const list = within.get(of);
        if (list === undefined) within.set(of, [event]);
        else list.push(event);
    }
    return starts.filter((start) => path === undefined || start.path === path).map((start) => explain(start, within.get(start.path) ?? []));
}

function explain(start: LedgerEvent, within: readonly LedgerEvent[]): Explanation {
    const items = listIn(field(start, "items")).map(objectIn);
    const model = objectIn(field(start, "model"));
    const turns: ShownTurn[] = [];
    let before: LedgerEvent | null = null;
    for (const event of within) {
        if (event.kind !== "generate.attempt") continue;
        turns.push(explainTurn(start, items, event, before, within));
        before = event;
    }
    return {
        path: start.path,
        label: textIn(field(start, "label")) ?? start.path,
        model: `${textIn(model.name) ?? "?"} (${textIn(model.uri) ?? "?"})`,
        items: items.map(explainItem),
        tools: listIn(field(start, "tools")).map((tool) => offered(objectIn(tool), start.path, within)),
        turns,
        unused: unusedNames(start, items),
    };
}

function offered(tool: JsonObject, path: string, within: readonly LedgerEvent[]): OfferedTool {
    const method = textIn(tool.method) ?? "?";
    const from = textIn(tool.tool) ?? "?";
    const event = within.find((one) => one.path === `${path}/describe[${from}]` && field(one, "uri") === tool.uri);
    const described = event === undefined ? {} : objectIn(field(event, "result"));
    const own = listIn(described.methods)
        .map(objectIn)
        .find((one) => one.name === method);
    return {
        name: textIn(tool.name) ?? "?",
        source: `${from}.${method}`,
        uri: textIn(tool.uri) ?? "?",
        description: textIn(own?.description) ?? null,
        input: own?.input ?? null,
    };
}

// ---- one turn ----------------------------------------------------------------------------------------------------------

function explainTurn(
    start: LedgerEvent,
    items: readonly JsonObject[],
    event: LedgerEvent,
    before: LedgerEvent | null,
    within: readonly LedgerEvent[],
): ShownTurn {
    const sent = listIn(field(event, "messages")).map(objectIn);
    const carried = numberIn(field(event, "carried")) ?? 0;
    const turn = numberIn(field(event, "turn")) ?? 0;
    const because = before === null || turn > 0 ? null : (textIn(field(before, "error")) ?? null);
    const reply = objectIn(field(event, "reply") ?? null);
    const common = { path: event.path, attempt: numberIn(field(event, "attempt")) ?? 0, turn, because };
    if (carried > 0 && before !== null) {
        const said = saidIn(before);
        const rest = sent.map((message, at) => (message.role === "tool" ? resultOf(message, at, before, within) : toldOf(message, before)));
        const messages = [said, ...rest];
        const exact = sent.length > 0 && messages.every((one) => one.pieces.every((piece) => piece.layer !== "unknown"));
        // the reply is new in this turn, and is counted as carried in the event because the event before has it
        return { ...common, carried: carried - 1, messages, bound: false, exact };
    }
    const system = textIn(sent.find((message) => message.role === "system")?.content) ?? "";
    const user = userText(sent.find((message) => message.role === "user"));
    const schema = field(start, "schema") ?? null;
    for (const rejection of before === null ? [null] : rejectionsOf(before)) {
        const built = build(start, items, before, rejection, schema);
        if (built.system.text !== system || built.user.text !== user) continue;
        const bound = schema !== null && textIn(reply.without) === "contract";
        const shown = bound ? build(start, items, before, rejection, null) : built;
        return { ...common, carried: 0, messages: [shown.system, shown.user], bound, exact: true };
    }
    const messages = [whole("system", system), whole("user", user)].filter((one) => one.text !== "");
    return { ...common, carried: 0, messages, bound: false, exact: false };
}

/** What may have been wrong with a reply: the value that was read, or the one that the reading refused, or no value. */
function rejectionsOf(before: LedgerEvent): Rejection[] {
    const message = textIn(field(before, "error")) ?? "";
    const reply = objectIn(field(before, "reply") ?? null);
    const refused = objectIn(reply.error ?? null).rejected;
    return [
        ...(reply.value === undefined ? [] : [{ message, rejected: reply.value }]),
        ...(refused === undefined ? [] : [{ message, rejected: refused }]),
        { message },
    ];
}

function modelOrigin(event: LedgerEvent): string[] {
    const name = textIn(objectIn(field(event, "model") ?? null).name);
    return name === undefined ? [] : [`model:${name}`];
}

/** The model's reply to the turn before, as it is sent back to it. */
function saidIn(before: LedgerEvent): ShownMessage {
    const reply = objectIn(field(before, "reply") ?? null);
    const made = new Message("assistant");
    const origins = modelOrigin(before);
    made.add(textIn(reply.text) ?? "", "reply", "what the model said before", origins);
    for (const call of listIn(reply.calls).map(objectIn)) {
        const { id, name, args } = call;
        if (made.text !== "") made.add("\n", "layout", "between calls");
        made.add(JSON.stringify({ id, name, args: args ?? {} }), "reply", "a call that the model made before", origins);
    }
    return made;
}

/** What came of the call at a place of the turn before. */
function resultOf(message: JsonObject, at: number, before: LedgerEvent, within: readonly LedgerEvent[]): ShownMessage {
    const made = new Message("tool");
    const text = JSON.stringify(message.result ?? null);
    const name = textIn(message.name) ?? "?";
    const turn = numberIn(field(before, "turn")) ?? 0;
    const path = `${turn === 0 ? `${before.path}/turn[0]` : before.path}/call[${at}]`;
    const ended = within.find((one) => one.path === path && one.kind === "tool.ended");
    const asked = within.find((one) => one.path === `${path}/ask` && one.kind === "ask.decided");
    if (ended === undefined) {
        made.add(text, "result", asked === undefined ? `why ${name} was not called` : `that ${name} was not allowed`, []);
        return made;
    }
    const cut = objectIn(field(ended, "shown"));
    const size = numberIn(cut.original_size);
    const hidden = textIn(cut.hidden);
    const shown = size === undefined ? "whole" : `${numberIn(cut.clipped_size) ?? "?"} of ${size} characters`;
    const words = hidden === undefined ? shown : `hidden: its reference ${hidden}`;
    const what = field(ended, "ok") === true ? "result" : "failure";
    const use = `${textIn(field(ended, "tool")) ?? "?"}.${textIn(field(ended, "method")) ?? "?"}`;
    made.add(text, "result", `${what} of ${shownUse(use, textIn(field(ended, "uri")))}, ${words}`, ended.labels);
    return made;
}

/** What a further attempt is told after tools were called: the conversation goes on. */
function toldOf(message: JsonObject, before: LedgerEvent): ShownMessage {
    const text = userText(message);
    if (text === NUDGE) {
        const made = new Message("user");
        made.add(text, "feedback", "the model called no tool");
        return made;
    }
    for (const rejection of rejectionsOf(before)) {
        const made = new Message("user");
        for (const one of feedbackStretches(rejection)) addStretch(made, one, before, []);
        if (made.text === text) return made;
    }
    return whole("user", text);
}

function whole(role: "system" | "user", text: string): ShownMessage {
    const made = new Message(role);
    made.add(text, "unknown", "the prompt was built by another version, or a part of the event was removed");
    return made;
}

/** The text of a user message; a file part stands for itself as nothing. */
function userText(message: JsonObject | undefined): string {
    return listIn(message?.content)
        .map((part) => textIn(objectIn(part).text) ?? "")
        .join("");
}

// ---- the first message of an attempt -----------------------------------------------------------------------------------

/** A message that is built piece by piece. */
class Message implements ShownMessage {
    text = "";
    readonly pieces: Piece[] = [];
    readonly role: ShownMessage["role"];
    constructor(role: ShownMessage["role"]) {
        this.role = role;
    }
    add(text: string, layer: Layer, why: string, origins: readonly string[] = [], item?: number): void {
        if (text === "") return;
        const from = this.text.length;
        this.pieces.push({ from, to: from + text.length, layer, why, origins, ...(item === undefined ? {} : { item }) });
        this.text += text;
    }
}

interface Built {
    readonly system: ShownMessage;
    readonly user: ShownMessage;
}

/** `rejection` is of the answer in `before`. */
function build(
    start: LedgerEvent,
    items: readonly JsonObject[],
    before: LedgerEvent | null,
    rejection: Rejection | null,
    schema: Json,
): Built {
    const identity = objectIn(field(start, "identity"));
    const instruction = objectIn(field(start, "instruction"));
    const system = new Message("system");
    system.add("You are ", "layout", "layout of the identity layer");
    system.add(textIn(identity.role) ?? "", "identity", "role");
    system.add(".\n", "layout", "layout of the identity layer");
    system.add(textIn(identity.description) ?? "", "identity", "description");
    const user = new Message("user");
    const shown = items.filter((item) => item.shown === true);
    if (shown.length > 0) user.add(contextOpening(), "layout", "opening of the context layer");
    const blocks = itemTexts(shown.map(shownItem));
    for (const [at, item] of shown.entries()) addItem(user, item, items.indexOf(item), blocks[at] as string);
    if (shown.length > 0) user.add("\n\n", "layout", "between context and instruction");
    user.add(`${INSTRUCTION_HEAD}\n`, "layout", "heading of the instruction layer");
    const given: Instruction = {
        kind: (textIn(instruction.kind) ?? "string") as Instruction["kind"],
        text: textIn(instruction.text) ?? "",
    };
    for (const one of instructionStretches(given, rejection)) addStretch(user, one, before, origin(instruction.labels));
    if (schema !== null) {
        user.add(`\n\n${CONTRACT_HEAD}\n`, "layout", "heading of the contract layer");
        user.add(JSON.stringify(schema, null, 2), "contract", "the contract after ->, as JSON Schema");
    }
    return { system, user };
}

/** `before`: the event of the answer that feedback is about. */
function addStretch(made: Message, one: Stretch, before: LedgerEvent | null, origins: readonly string[]): void {
    if (one.kind === "input") {
        made.add(one.text, "instruction", origins.length === 0 ? "input of generate" : "input of generate, with data spliced in", origins);
        return;
    }
    const why = {
        feedback: "wording of what a further attempt is told",
        answer: "the answer that was refused",
        error: "what was wrong with it",
    }[one.kind];
    made.add(one.text, "feedback", why, one.kind === "feedback" || before === null ? [] : modelOrigin(before));
}

function shownItem(item: JsonObject): ShownItem {
    const file = objectIn(item.file ?? null);
    return {
        heading: textIn(item.heading) ?? "",
        source: textIn(item.source) ?? "",
        text: textIn(item.text) ?? "",
        ...(textIn(file.media_type) === undefined ? {} : { file: { mediaType: textIn(file.media_type) as string, data: "" } }),
    };
}

/** `block`: as it stands in the prompt. */
function addItem(user: Message, item: JsonObject, at: number, block: string): void {
    const shown = shownItem(item);
    const { text } = shown;
    const name = `item ${at} (${plainText(shown.source)})`;
    user.add("\n\n", "layout", "between items");
    if (shown.file !== undefined) {
        user.add(block, "context", `heading of ${name}, a file`, origin(item.labels), at);
        return;
    }
    const tail = block.slice(block.lastIndexOf("\n</"));
    const head = block.slice(0, block.length - tail.length - text.length);
    user.add(head, "layout", `heading and fence of ${name}`, [], at);
    user.add(text, "context", `${name}: ${clipWords(item)}`, origin(item.labels), at);
    user.add(tail, "layout", `fence of ${name}`, [], at);
}

function origin(labels: Json | undefined): string[] {
    return listIn(labels).filter((label): label is string => typeof label === "string");
}

function explainItem(item: JsonObject): ItemExplanation {
    const variant = objectIn(item.variant ?? null);
    const picked = textIn(variant.picked);
    return {
        index: numberIn(item.index) ?? 0,
        label: textIn(item.label) ?? null,
        source: textIn(item.source) ?? "",
        declared: item.site === undefined ? null : (item.site as unknown as Site),
        origins: origin(item.labels),
        shown: item.shown === true,
        clip: clipWords(item),
        variant:
            picked === undefined
                ? null
                : `${picked} of ${listIn(variant.available).join(", ")} (${textIn(variant.reason) ?? "chosen"}${variant.empty === true ? ", empty" : ""})`,
        text: textIn(item.text) ?? "",
    };
}

function clipWords(item: JsonObject): string {
    const budget = objectIn(item.budget ?? null);
    const max = textIn(budget.text);
    const cut = objectIn(item.cut ?? null);
    const unit = budget.unit === "tokens" ? "tokens" : "characters";
    const total =
        cut.unit === undefined
            ? ""
            : `; the prompt's total budget ${item.shown === false ? "left no room for it" : `left ${cut.to} ${cut.unit === "tokens" ? "tokens" : "characters"}`}`;
    if (item.clipped !== true) return max === undefined ? "whole, no budget" : `whole, ${item.original_size} ${unit} within max ${max}`;
    const kept = { start: "its beginning kept", end: "its end kept", dropped: "nothing of it kept" }[textIn(item.strategy) ?? ""] ?? "cut";
    return `${kept}, ${item.clipped_size} of ${item.original_size} ${unit}${max === undefined ? "" : ` (max ${max})`}${total}`;
}

/** Names in scope that no item's source mentions. */
function unusedNames(start: LedgerEvent, items: readonly JsonObject[]): string[] | null {
    const scope = field(start, "scope");
    if (scope === undefined) return null;
    const used = new Set(items.flatMap((item) => (textIn(item.source) ?? "").match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []));
    return listIn(scope).filter((name): name is string => typeof name === "string" && !used.has(name));
}
