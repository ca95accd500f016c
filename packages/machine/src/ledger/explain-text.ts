/**
 * The printed form of the projection **explain**: for people, one line a piece and the beginning of its text below.
 *
 * Boundary: text from explanations. What a turn shares with the first message of an earlier one is printed once.
 */
import type { Explanation, Piece, ShownMessage, ShownTurn } from "./explain.ts";
import { LENT, shownUse } from "@remit/language";
import { chooserIn } from "../value/label.ts";
import { shortened } from "../value/text.ts";
import { plainText } from "./read.ts";
import type { Paint } from "./trace.ts";

export interface ExplainOptions {
    readonly paint?: Paint;
    /** The messages before their pieces, uncut: control characters of data made plain by `plain`, which keeps line breaks. */
    readonly full?: (text: string) => string;
}

const SHOWN = 60;

export function explainText(explanations: readonly Explanation[], options: ExplainOptions = {}): string {
    const paint: Paint = options.paint ?? ((_, text) => text);
    return explanations
        .map((one) => oneText(one, paint, options.full))
        .join("\n\n")
        .trimEnd();
}

function oneText(one: Explanation, paint: Paint, full: ExplainOptions["full"]): string {
    const out = [paint("bold", `${plainText(one.label)}  ${plainText(one.path)}  ${plainText(one.model)}`)];
    for (const item of one.items) {
        const place = item.declared === null ? "" : `  ${plainText(item.declared.file)}:${item.declared.line}:${item.declared.column}`;
        const name = item.label === null ? `[${item.index}]` : `"${plainText(item.label)}"`;
        out.push(`  ${item.shown ? "use" : "not shown"} ${plainText(item.source)} as ${name}${paint("dim", place)}`);
        if (item.variant !== null) out.push(paint("dim", `      variant ${plainText(item.variant)}`));
        out.push(paint("dim", `      ${plainText(item.clip)}; ${from(item.origins, "from the program itself")}`));
    }
    for (const tool of one.tools) {
        const use =
            tool.uri === LENT
                ? `, which is ${plainText(shownUse(tool.source, tool.uri))},`
                : `: ${plainText(tool.source)} of ${plainText(tool.uri)},`;
        out.push(`  tool ${plainText(tool.name)}${use} as it describes itself`);
        if (tool.description !== null) out.push(paint("dim", `      ${cut(tool.description, full)}`));
        if (tool.input !== null) out.push(paint("dim", `      ${cut(JSON.stringify(tool.input), full)}`));
    }
    if (one.turns.length === 0) out.push("  nothing was sent");
    const several = one.turns.length > 1;
    one.turns.forEach((turn, at) => {
        if (several) out.push(paint("bold", `  ${turnName(turn)}${turn.because === null ? "" : `, because ${plainText(turn.because)}`}`));
        out.push(...turnLines(turn, one.turns.slice(0, at), paint, full));
    });
    if (one.unused !== null)
        out.push(`  in scope and not used: ${one.unused.length === 0 ? "nothing" : one.unused.map(plainText).join(", ")}`);
    return out.join("\n");
}

function turnName(turn: Pick<ShownTurn, "attempt" | "turn">): string {
    return turn.turn === 0 ? `attempt ${turn.attempt + 1}` : `attempt ${turn.attempt + 1}, turn ${turn.turn + 1}`;
}

function turnLines(turn: ShownTurn, earlier: readonly ShownTurn[], paint: Paint, full: ExplainOptions["full"]): string[] {
    const out: string[] = [];
    const last = earlier.at(-1);
    if (turn.carried > 0 && last !== undefined)
        out.push(`  the ${turn.carried === 1 ? "message" : `${turn.carried} messages`} of ${turnName(last)} again, then`);
    if (full !== undefined)
        for (const { role, text } of turn.messages) out.push(paint("bold", `--- ${role}, as it was sent`), full(text), "");
    if (!turn.exact)
        out.push(
            paint(
                "yellow",
                "  the prompt cannot be explained piece by piece: it was built by another version, or parts of it were removed",
            ),
        );
    for (const message of turn.messages) {
        const like = turn.carried > 0 ? undefined : earlier.find((one) => one.carried === 0);
        const same =
            like === undefined
                ? 0
                : shared(
                      message,
                      like.messages.find((one) => one.role === message.role),
                  );
        const end = message.pieces[same - 1]?.to;
        if (like !== undefined && end !== undefined) out.push(`  ${place(message, 0, end)} as in ${turnName(like)}`);
        for (const piece of message.pieces.slice(same)) {
            const origins = piece.layer === "result" || piece.layer === "feedback" ? from(piece.origins, "") : "";
            out.push(
                `  ${place(message, piece.from, piece.to)} ${piece.layer.padEnd(11)} ${plainText(piece.why)}${origins === "" ? "" : `; ${origins}`}`,
            );
            out.push(paint("dim", `      ${cut(message.text.slice(piece.from, piece.to))}`));
        }
    }
    if (turn.bound) out.push("  the schema of the contract is not in it: the model could write nothing that the contract does not allow");
    return out;
}

function place(message: ShownMessage, from: number, to: number): string {
    return `${message.role} ${String(from).padStart(6)}–${String(to).padEnd(6)}`;
}

/** Where it came from, and who decided that it is there (LA9). */
function from(labels: readonly string[], nothing: string): string {
    const origins = labels.filter((label) => chooserIn(label) === null);
    // What a text came from decided over it, too.
    const choosers = labels.flatMap((label) => chooserIn(label) ?? []).filter((one) => !origins.includes(one));
    const data = origins.length === 0 ? nothing : `from ${origins.map(plainText).join(", ")}`;
    return choosers.length === 0 ? data : `${data}; ${choosers.map(plainText).join(", ")} decided over it`;
}

/** How many pieces at the beginning are the same. */
function shared(message: ShownMessage, other: ShownMessage | undefined): number {
    if (other === undefined) return 0;
    const differs = (piece: Piece, at: number): boolean => {
        const its = other.pieces[at];
        return its === undefined || its.why !== piece.why || its.to !== piece.to;
    };
    const first = message.pieces.findIndex(
        (piece, at) => differs(piece, at) || message.text.slice(piece.from, piece.to) !== other.text.slice(piece.from, piece.to),
    );
    return first < 0 ? message.pieces.length : first;
}

/** One line; uncut where everything is asked for. */
function cut(text: string, full?: ExplainOptions["full"]): string {
    return plainText(full === undefined ? shortened(text, SHOWN) : text);
}
