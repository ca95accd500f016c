/**
 * Projection **explain**: for each `generate` of a run, why each character of its prompt is there, and what was in scope and not used.
 *
 * Boundary: reads `generate.started` and `generate.attempt`; builds the prompt again with the same layout (`../prompt/layers.ts`) to know
 * where each piece stands, and says so where the prompt that was sent is not the one it built.
 *
 * W1: the pieces of a message cover it from its first character to its last, without gaps, in order.
 */
import type { Json, Site } from "@remit/language";
import { CONTRACT_HEAD, contextOpening, INSTRUCTION_HEAD, itemText, type ShownItem } from "../prompt/layers.ts";
import type { LedgerEvent } from "./events.ts";
import { field, generatePath, type JsonObject, listIn, numberIn, objectIn, plainText, textIn } from "./read.ts";
import type { Paint } from "./trace.ts";

export type Layer = "identity" | "context" | "instruction" | "contract" | "layout" | "unknown";

/** A stretch of one message: UTF-16 offsets into its text. */
export interface Piece {
    readonly message: "system" | "user";
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

export interface Explanation {
    readonly path: string;
    readonly label: string;
    readonly model: string;
    readonly items: readonly ItemExplanation[];
    /** Pieces of the first attempt's prompt; of a redacted event none. */
    readonly pieces: readonly Piece[];
    /** The texts the pieces refer to. */
    readonly system: string;
    readonly user: string;
    /** Names that were visible and are in no item; null where the events do not say. */
    readonly unused: readonly string[] | null;
    /** The model was not shown the schema of its contract: decoding was bound to it. `user` and `pieces` are what it was shown. */
    readonly bound: boolean;
    /** False where the prompt sent is not the one this version would have built. */
    readonly exact: boolean;
}

export function explainRun(events: Iterable<LedgerEvent>, path?: string): Explanation[] {
    const starts: LedgerEvent[] = [];
    const firsts = new Map<string, LedgerEvent>();
    for (const event of events) {
        if (event.kind === "generate.started" && (path === undefined || event.path === path)) starts.push(event);
        if (event.kind === "generate.attempt") {
            const of = generatePath(event.path);
            if (!firsts.has(of)) firsts.set(of, event);
        }
    }
    return starts.map((start) => explain(start, firsts.get(start.path)));
}

function explain(start: LedgerEvent, first: LedgerEvent | undefined): Explanation {
    const items = listIn(field(start, "items")).map(objectIn);
    const identity = objectIn(field(start, "identity"));
    const instruction = objectIn(field(start, "instruction"));
    const model = objectIn(field(start, "model"));
    const messages = listIn(first === undefined ? undefined : field(first, "messages")).map(objectIn);
    const system = textIn(messages.find((message) => message.role === "system")?.content) ?? "";
    const sent = userText(messages.find((message) => message.role === "user"));
    const schema = field(start, "schema") ?? null;
    const full = pieces(identity, items, instruction, schema);
    const exact = full.system.text === system && full.user.text === sent;
    const bound = exact && schema !== null && textIn(objectIn(field(first as LedgerEvent, "reply") ?? null).without) === "contract";
    const built = bound ? pieces(identity, items, instruction, null) : full;
    const user = bound ? built.user.text : sent;
    const covering: Piece[] = [
        ...(exact ? built.system.pieces : whole("system", system)),
        ...(exact ? built.user.pieces : whole("user", user)),
    ];
    return {
        path: start.path,
        label: textIn(field(start, "label")) ?? start.path,
        model: `${textIn(model.name) ?? "?"} (${textIn(model.uri) ?? "?"})`,
        items: items.map(explainItem),
        pieces: covering,
        system,
        user,
        bound,
        unused: unusedNames(start, items),
        exact: exact && first !== undefined,
    };
}

function whole(message: "system" | "user", text: string): Piece[] {
    const why = "the prompt was built by another version, or a part of the event was removed";
    return text === "" ? [] : [{ message, from: 0, to: text.length, layer: "unknown", why, origins: [] }];
}

/** The text of a user message; a file part stands for itself as nothing. */
function userText(message: JsonObject | undefined): string {
    return listIn(message?.content)
        .map((part) => textIn(objectIn(part).text) ?? "")
        .join("");
}

class Builder {
    text = "";
    readonly pieces: Piece[] = [];
    private readonly message: "system" | "user";
    constructor(message: "system" | "user") {
        this.message = message;
    }
    add(text: string, layer: Layer, why: string, origins: readonly string[] = [], item?: number): void {
        if (text === "") return;
        this.pieces.push({
            message: this.message,
            from: this.text.length,
            to: this.text.length + text.length,
            layer,
            why,
            origins,
            ...(item === undefined ? {} : { item }),
        });
        this.text += text;
    }
}

function pieces(
    identity: JsonObject,
    items: readonly JsonObject[],
    instruction: JsonObject,
    schema: Json,
): { system: Builder; user: Builder } {
    const system = new Builder("system");
    system.add("You are ", "layout", "layout of the identity layer");
    system.add(textIn(identity.role) ?? "", "identity", "role");
    system.add(".\n", "layout", "layout of the identity layer");
    system.add(textIn(identity.description) ?? "", "identity", "description");
    const user = new Builder("user");
    const shown = items.filter((item) => item.shown === true);
    if (shown.length > 0) user.add(contextOpening(), "layout", "opening of the context layer");
    for (const item of shown) addItem(user, item, items.indexOf(item));
    if (shown.length > 0) user.add("\n\n", "layout", "between context and instruction");
    user.add(`${INSTRUCTION_HEAD}\n`, "layout", "heading of the instruction layer");
    const origins = origin(instruction.labels);
    user.add(
        textIn(instruction.text) ?? "",
        "instruction",
        origins.length === 0 ? "input of generate" : "input of generate, with data spliced in",
        origins,
    );
    if (schema !== null) {
        user.add(`\n\n${CONTRACT_HEAD}\n`, "layout", "heading of the contract layer");
        user.add(JSON.stringify(schema, null, 2), "contract", "the contract after ->, as JSON Schema");
    }
    return { system, user };
}

function addItem(user: Builder, item: JsonObject, at: number): void {
    const text = textIn(item.text) ?? "";
    const file = objectIn(item.file ?? null);
    const shown: ShownItem = {
        heading: textIn(item.heading) ?? "",
        source: textIn(item.source) ?? "",
        text,
        ...(textIn(file.media_type) === undefined ? {} : { file: { mediaType: textIn(file.media_type) as string, data: "" } }),
    };
    const block = itemText(shown);
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

// ---- text --------------------------------------------------------------------------------------------------------------

const SHOWN = 60;

export function explainText(explanations: readonly Explanation[], options: { readonly paint?: Paint } = {}): string {
    const paint: Paint = options.paint ?? ((_, text) => text);
    const out: string[] = [];
    for (const one of explanations) {
        out.push(paint("bold", `${plainText(one.label)}  ${plainText(one.path)}  ${plainText(one.model)}`));
        if (!one.exact)
            out.push(
                paint(
                    "yellow",
                    "  the prompt cannot be explained piece by piece: it was built by another version, or parts of it were removed",
                ),
            );
        for (const item of one.items) {
            const place = item.declared === null ? "" : `  ${plainText(item.declared.file)}:${item.declared.line}:${item.declared.column}`;
            const name = item.label === null ? `[${item.index}]` : `"${plainText(item.label)}"`;
            out.push(`  ${item.shown ? "use" : "not shown"} ${plainText(item.source)} as ${name}${paint("dim", place)}`);
            if (item.variant !== null) out.push(paint("dim", `      variant ${plainText(item.variant)}`));
            out.push(
                paint(
                    "dim",
                    `      ${plainText(item.clip)}; from ${item.origins.length === 0 ? "the program itself" : item.origins.map(plainText).join(", ")}`,
                ),
            );
        }
        for (const piece of one.pieces) {
            const text = (piece.message === "system" ? one.system : one.user).slice(piece.from, piece.to);
            const head = plainText(text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text);
            out.push(
                `  ${piece.message} ${String(piece.from).padStart(6)}–${String(piece.to).padEnd(6)} ${piece.layer.padEnd(11)} ${plainText(piece.why)}`,
            );
            out.push(paint("dim", `      ${head}`));
        }
        if (one.bound)
            out.push("  the schema of the contract is not in it: the model could write nothing that the contract does not allow");
        if (one.unused !== null)
            out.push(`  in scope and not used: ${one.unused.length === 0 ? "nothing" : one.unused.map(plainText).join(", ")}`);
        out.push("");
    }
    return out.join("\n").trimEnd();
}
