/**
 * Words of the printer that stand on one line whatever is around them: literals, keys, and which expressions need parentheses.
 *
 * FL1: parentheses are written where the tree needs them; those of the source are kept by the formatter and dropped by `printExpr`.
 */
import { isIdentifier } from "../../contract/open.ts";
import { numberText } from "../../contract/show.ts";
import type { Range } from "../../text/source.ts";
import { decodeQuoted, quoteString } from "../strings.ts";
import { POSTFIX_PRECEDENCE, PRECEDENCE, UNARY_PRECEDENCE } from "../tokens.ts";
import type { Call, ContractLiteral, ContractNode, Expr, Name, NumberLit, StringLit } from "../tree.ts";
import type { Writer } from "./writer.ts";

/** How tightly a node holds together; 0 for a lambda, which takes everything to its right. */
function precedenceOf(node: Expr): number {
    switch (node.kind) {
        case "lambda":
        case "endorse":
            return 0;
        case "binary":
            return node.template === true ? POSTFIX_PRECEDENCE : PRECEDENCE[node.op];
        case "unary":
            return UNARY_PRECEDENCE;
        case "number":
            return node.value < 0 ? UNARY_PRECEDENCE : POSTFIX_PRECEDENCE;
        default:
            return POSTFIX_PRECEDENCE;
    }
}

/** Whether a node needs parentheses where at least `least` is wanted. */
export function needsParens(node: Expr, least: number): boolean {
    if (precedenceOf(node) < least) return true;
    // What stands behind a yield ends it: nothing goes on from there.
    if (least >= POSTFIX_PRECEDENCE && node.kind === "call" && (node.contract !== undefined || node.options !== undefined)) return true;
    return least >= POSTFIX_PRECEDENCE && node.kind === "generate" && node.contract !== undefined && opensFurther(node.contract);
}

/** A contract that would take a following `[` or `.` for its own. */
function opensFurther(contract: ContractNode): boolean {
    if (contract.kind === "c.name") return contract.name.text === "list";
    if (contract.kind === "c.union") return opensFurther(contract.members.at(-1) as ContractNode);
    return contract.kind === "c.optional";
}

export function unwrapped(node: Expr): Expr {
    return node.kind === "paren" ? unwrapped(node.value) : node;
}

/** What an expression begins with. */
export function leftmost(node: Expr): Expr {
    let at = node;
    for (;;) {
        if (at.kind === "binary" && at.template !== true) at = at.left;
        else if (at.kind === "member" || at.kind === "index" || at.kind === "narrow") at = at.object;
        else if (at.kind === "call") at = at.callee;
        else return at;
    }
}

/** Without the parentheses around one of them, names behind `.only` would be methods. */
export function readsAsNarrow({ callee, args }: Call): boolean {
    const called = unwrapped(callee);
    return (
        called.kind === "member" &&
        !called.safe &&
        called.name.text === "only" &&
        args.length > 0 &&
        args.every((arg) => arg.name === undefined && unwrapped(arg.value).kind === "ident")
    );
}

const NOT_ENDORSED: ReadonlySet<string> = new Set(["and", "or", "as", "max", "selected"]);

/** Whether the value can stand right behind `endorse`: not where the word would be read as a name with an operator behind it. */
export function endorsesBare(node: Expr): boolean {
    const first = leftmost(node);
    if (first.kind === "ident") return !NOT_ENDORSED.has(first.name);
    return !isSigned(first) && first.kind !== "missing" && first.kind !== "lambda";
}

/** It begins with a sign. */
export function isSigned(node: Expr): boolean {
    return (node.kind === "unary" && node.op === "-") || (node.kind === "number" && node.value < 0);
}

// ---- literals and names ------------------------------------------------------------------------------------------

export function keyText(w: Writer, key: Name, quoted: boolean): string {
    if (isIdentifier(key.text) && (!quoted || w.display)) return key.text;
    return w.display ? JSON.stringify(key.text) : written(w, key.range, key.text, '"');
}

/** The literal as it stands in the source if it is that one, else a new one. */
function written({ text }: Writer, range: Range, value: string, quote: '"' | "'"): string {
    const closed = range.end - range.start > 1 && text[range.start] === quote && text[range.end - 1] === quote;
    if (closed && decodeQuoted(text, range.start, range.end) === value) return text.slice(range.start, range.end);
    return quoteString(value, quote);
}

/** A string of one of the quoted styles. A block string is handled by the layout. */
export function stringText(w: Writer, { value, range, style }: StringLit): string {
    return w.display ? JSON.stringify(value) : written(w, range, value, style === "single" ? "'" : '"');
}

/** A number as the lexer reads it. Values that come from elsewhere may have an exponent, or be too large for an integer literal. */
export function numberLiteral({ text, value }: Pick<NumberLit, "text" | "value">): string {
    return /^\d+(\.\d+)?[A-Za-z_]*\w*$/.test(text) ? text : numberText(value);
}

export function contractLiteral(w: Writer, { value, range }: ContractLiteral): string {
    if (typeof value === "string")
        return w.display ? JSON.stringify(value) : written(w, range, value, w.text[range.start] === "'" ? "'" : '"');
    return typeof value === "number" ? numberText(value) : value === null ? "none" : String(value);
}
