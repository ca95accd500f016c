/**
 * What selects and bounds context: `use`, `use one of`, `context max`, budgets and labels.
 *
 * USE1: the order is fixed: expression, `max`, `keep`, `priority`, `as`. `keep` belongs to the budget; `priority` stands after it.
 * USE2: `tokens`, `keep`, `priority` and `image` are qualifiers only on the line of what they qualify and where no variable of that name
 *     is in scope; there AgentScript would read a statement of its own, and so does this reader, with a warning.
 */
import { nearest } from "../../diagnostics/nearest.ts";
import { fix } from "../../text/fix.ts";
import { BUDGET_UNITS, T } from "../tokens.ts";
import type { Budget, Candidate, ContextBudget, Expr, Label, NumberLit, Use, UseOneOf } from "../tree.ts";
import { closed } from "./brackets.ts";
import { isForeign } from "./foreign-parts.ts";
import { parseString, parseCount, spacedMax } from "./literals.ts";
import {
    quantity,
    advance,
    expected,
    insertion,
    isBound,
    isWord,
    jump,
    LINE_ENDS,
    lineBreakBefore,
    OLD_BUDGET,
    oldSpelling,
    onNewLine,
    peek,
    prevEnd,
    report,
    type State,
    start,
    take,
    takeName,
    tokenRange,
    tokenText,
    parseExpr,
    skip,
} from "./state.ts";

/** The present token is `use`. */
export function parseUse(p: State): Use | UseOneOf {
    const from = start(p);
    advance(p);
    if (p.k === T.One && peek(p, 1) === T.Of && peek(p, 2) === T.LBrace) return parseOneOf(p, from);
    const image = p.k === T.Image && imageFollows(p);
    if (image) advance(p);
    const value = parseUsed(p);
    const height = p.height;
    const max = parseItemBudget(p);
    const priority = parsePriority(p, false);
    const label = parseAs(p);
    p.height = height + 1;
    return { kind: "use", range: { start: from, end: prevEnd(p) }, image, value, max, priority, label };
}

function parseUsed(p: State): Expr {
    const mode = p.mode;
    p.mode = LINE_ENDS | OLD_BUDGET;
    const value = parseExpr(p);
    p.mode = mode;
    return value;
}

/** `use image EXPR`: an expression begins after the word on its line. */
function imageFollows(p: State): boolean {
    if (lineBreakBefore(p, 1)) return false;
    const next = peek(p, 1);
    const begins =
        next === T.String ||
        next === T.Block ||
        next === T.LBrace ||
        next === T.LParen ||
        next === T.LBracket ||
        (isWord(next) && next !== T.Max && next !== T.As && next !== T.And && next !== T.Or && next !== T.Priority);
    return begins && unbound(p, "`use image`");
}

/** A qualifier is a word only where no variable has its name (USE2). */
function unbound(p: State, what: string): boolean {
    if (!isBound(p, p.k)) return true;
    const message = `\`${tokenText(p)}\` is a variable here, so this is read as AgentScript reads it, not as ${what}.`;
    report(p, "WORD_IS_NAME", message, tokenRange(p, p.pos), "Rename the variable if the word is meant.");
    return false;
}

function parseItemBudget(p: State): Budget | undefined {
    // `max:` is the next candidate of a `use one of`.
    if (p.k === T.Max && peek(p, 1) !== T.Colon) {
        advance(p);
        return parseBudget(p);
    }
    const next = peek(p, 1);
    if (p.k === T.Lt && (next === T.Quantity || next === T.Number)) {
        const sign = tokenRange(p, p.pos);
        const { old } = p;
        oldSpelling(p, "A budget is written with `max`.", sign, "Write `max`", [{ range: sign, text: spacedMax(p, sign) }]);
        // AgentScript of today takes it, and fails at the comparison.
        if (next === T.Number) p.old = old;
        advance(p);
        return parseBudget(p);
    }
    // Nothing else takes `4k` after a word of its line: `use log maximum 4k`.
    if (p.k === T.Word && next === T.Quantity && !onNewLine(p) && !lineBreakBefore(p, 1)) {
        const word = tokenRange(p, p.pos);
        const isMax = tokenText(p).toLowerCase().startsWith("max");
        expected(p, "`max` and a budget", "A budget is written with `max`: `use log max 4k`.", [fix("Write `max`", word, "max", isMax)]);
        advance(p);
        return parseBudget(p);
    }
    if (p.k === T.Keep && keepFollows(p) && unbound(p, "a qualifier")) {
        expected(p, "`max` and a budget before `keep`", "`keep` says what a budget leaves: `max 4k keep end`.");
        jump(p, p.pos + 2);
    }
    return undefined;
}

function keepFollows(p: State): boolean {
    return !onNewLine(p) && !lineBreakBefore(p, 1) && (peek(p, 1) === T.Start || peek(p, 1) === T.End);
}

/** Whether the present word stands in the file behind numbers alone. */
function isNoName(p: State): boolean {
    return isForeign(p, "unit", (at) => p.kinds[at - 1] === T.Number || p.kinds[at - 1] === T.Quantity);
}

/** `4k`, `4k tokens`, `4k tokens keep end`; the word `max` has been read. A unit that is none is kept for the checker. */
export function parseBudget(p: State): Budget {
    const from = start(p);
    if (p.k !== T.Number && p.k !== T.Quantity) {
        expected(p, "a budget", "A budget is a number: `max 800`, `max 4k`, `max 4k tokens`.");
        if (isWord(p.k) && !onNewLine(p) && p.k !== T.As) advance(p);
        return { range: { start: from, end: from }, text: "1", amount: 1, unit: "chars", keep: "start", suffix: "" };
    }
    const written = tokenText(p);
    const { digits, suffix } = quantity(written);
    // Shifting the point in the text keeps `2.3k` exact.
    const amount = suffix === "k" ? Number(`${digits}e3`) : Number(digits) * (BUDGET_UNITS[suffix] ?? 1);
    advance(p);
    let text = written;
    let unit: Budget["unit"] = "chars";
    let keep: Budget["keep"] = "start";
    if (p.k === T.Tokens && !onNewLine(p) && !goesOn(p) && unbound(p, "a unit")) {
        unit = "tokens";
        text += " tokens";
        advance(p);
    } else if (isWord(p.k) && !onNewLine(p) && p.k !== T.As && nearest(tokenText(p), ["tokens"]) !== null && !goesOn(p) && isNoName(p)) {
        const range = tokenRange(p, p.pos);
        report(p, "SYNTAX", `\`${tokenText(p)}\` is no unit of a budget.`, range, "Write `tokens`; a number alone counts characters.", [
            fix("Write `tokens`", range, "tokens"),
        ]);
        advance(p);
    }
    if (
        p.k === T.Keep &&
        !onNewLine(p) &&
        !keepFollows(p) &&
        !goesOn(p) &&
        isWord(peek(p, 1)) &&
        !lineBreakBefore(p, 1) &&
        !isBound(p, T.Keep)
    ) {
        advance(p);
        expected(p, "`start` or `end` after `keep`", "`keep end` leaves the end of what is too long: `max 4k keep end`.");
        if (p.k !== T.As && p.k !== T.Priority) advance(p);
    } else if (p.k === T.Keep && keepFollows(p) && unbound(p, "a qualifier")) {
        keep = peek(p, 1) === T.End ? "end" : "start";
        text += ` keep ${keep}`;
        jump(p, p.pos + 2);
    }
    return { range: { start: from, end: prevEnd(p) }, text, amount, unit, keep, suffix };
}

/** The present word begins a statement of its own: `tokens = 1`, `tokens.x`, `tokens(x)`. */
function goesOn(p: State): boolean {
    const next = peek(p, 1);
    if (next === T.LParen || next === T.LBracket) return !lineBreakBefore(p, 1);
    return next === T.Assign || next === T.PlusAssign || next === T.MinusAssign || next === T.Dot;
}

/** `asked`: a label has to follow, so that no name can stand here. */
function parsePriority(p: State, asked: boolean): NumberLit | undefined {
    if (p.k !== T.Priority || onNewLine(p) || lineBreakBefore(p, 1) || peek(p, 1) !== T.Number) return undefined;
    if (!asked && !unbound(p, "a qualifier")) return undefined;
    advance(p);
    return parseCount(p, "A priority is a number: `priority 3`.");
}

function parseAs(p: State): Label | undefined {
    if (p.k !== T.As) return undefined;
    advance(p);
    return parseLabel(p);
}

/** A name or a string that ends its line. Bare words up to the end of the line are the old spelling. */
function parseLabel(p: State): Label | undefined {
    let label: Label;
    const first = p.pos;
    // On the next line only where it has that line for itself: else the line is a statement, and the label is missing.
    const next = peek(p, 1);
    if (onNewLine(p) && next !== T.EOF && next !== T.RBrace && !lineBreakBefore(p, 1)) {
        expected(p, "a label after `as`", 'A label is one name, or text in quotes: `as "build log"`.');
        return undefined;
    }
    if (p.k === T.String) {
        const literal = parseString(p);
        label = { range: literal.range, text: literal.value, quoted: true };
    } else if (isWord(p.k)) {
        const name = takeName(p);
        label = { range: name.range, text: name.text, quoted: false };
    } else {
        expected(p, "a label after `as`", 'A label is one name, or text in quotes: `as "build log"`.');
        return undefined;
    }
    if (p.k === T.EOF || p.k === T.RBrace || onNewLine(p)) return label;
    const misplaced = p.k === T.Max || p.k === T.Priority || p.k === T.Keep || p.k === T.Lt;
    if (!label.quoted && !misplaced && (isWord(p.k) || p.k === T.Number || p.k === T.Quantity || p.k === T.Minus)) {
        while (!onNewLine(p) && (isWord(p.k) || p.k === T.Number || p.k === T.Quantity || p.k === T.Minus)) advance(p);
        const range = { start: p.starts[first] as number, end: prevEnd(p) };
        const text = p.text.slice(range.start, range.end);
        if (p.k === T.EOF || p.k === T.RBrace || onNewLine(p)) {
            oldSpelling(p, "A label of several words stands in quotes.", range, "Put it in quotes", [{ range, text: `"${text}"` }]);
            return { range, text, quoted: true };
        }
    }
    const hint = misplaced ? "The order is: expression, `max`, `keep`, `priority`, `as`." : "A label ends its line.";
    // A label in quotes is whole: what follows is the next statement.
    const whole = label.quoted && !misplaced;
    expected(p, "the end of the line after the label", hint, whole ? insertion("Begin a new line", prevEnd(p), "\n") : undefined);
    while (!whole && p.k !== T.EOF && p.k !== T.RBrace && !onNewLine(p)) skip(p);
    return label;
}

/** The present token is `one`. */
function parseOneOf(p: State, from: number): UseOneOf {
    jump(p, p.pos + 2);
    const open = p.pos;
    advance(p);
    const candidates: Candidate[] = [];
    let height = 0;
    while (p.k !== T.RBrace && p.k !== T.EOF) {
        if (candidates.length > 0 && p.k === T.Comma) {
            const range = tokenRange(p, p.pos);
            const text = lineBreakBefore(p, 1) ? "" : "\n";
            const hint = "Candidates are separated by line breaks, not by commas.";
            expected(p, "a new line between candidates", hint, [fix("Begin a new line", range, text, true)]);
            advance(p);
            if (p.k === T.RBrace) break;
        } else if (candidates.length > 0 && !onNewLine(p)) {
            expected(p, "a new line between candidates", undefined, insertion("Begin a new line", prevEnd(p), "\n"));
        }
        const before = p.pos;
        const candidate = parseCandidate(p);
        if (candidate !== undefined) candidates.push(candidate);
        if (p.height > height) height = p.height;
        if (p.pos === before || candidate === undefined) skipCandidate(p, before);
    }
    closed(p, open, T.RBrace);
    const priority = parsePriority(p, true);
    if (p.k !== T.As) expected(p, "`as` and the label of the slot", "Write `} as evidence` after the candidates.");
    const label = parseAs(p);
    p.height = height + 1;
    return { kind: "use.one", range: { start: from, end: prevEnd(p) }, candidates, priority, label };
}

function skipCandidate(p: State, before: number): void {
    if (p.pos === before) advance(p);
    while (p.k !== T.EOF && p.k !== T.RBrace && !onNewLine(p)) {
        skip(p);
    }
}

function parseCandidate(p: State): Candidate | undefined {
    if (!isWord(p.k)) {
        expected(p, "the name of a candidate", "Write `name: expression` or `name: empty`.", undefined, true);
        return undefined;
    }
    const name = takeName(p);
    if (!take(p, T.Colon)) {
        expected(p, `\`:\` after the candidate \`${name.text}\``, "Write `name: expression` or `name: empty`.");
        return undefined;
    }
    let value: Expr | undefined;
    let max: Budget | undefined;
    const next = peek(p, 1);
    if (p.k === T.Empty && (next === T.Selected || next === T.RBrace || next === T.Max || lineBreakBefore(p, 1))) {
        advance(p);
        if (p.k === T.Max && peek(p, 1) !== T.Colon) expected(p, "a new line after `empty`", "An empty candidate has no budget.");
    } else {
        value = parseUsed(p);
        max = parseItemBudget(p);
    }
    let selected = false;
    if (p.k === T.Selected && !onNewLine(p)) {
        selected = true;
        advance(p);
    }
    return { range: { start: name.range.start, end: prevEnd(p) }, name, value, max, selected };
}

/** The present token is `context`. */
export function parseContextBudget(p: State): ContextBudget {
    const from = start(p);
    advance(p);
    if (!take(p, T.Max)) expected(p, "`max` after `context`", "Write `context max 20k tokens`.");
    const max = parseBudget(p);
    p.height = 1;
    return { kind: "context", range: { start: from, end: max.range.end }, max };
}

/** Whether the present word `context` begins `context max …`. A plain number with both words bound is AgentScript's three statements. */
export function contextFollows(p: State): boolean {
    const next = peek(p, 1);
    if (lineBreakBefore(p, 1)) return false;
    if (next !== T.Max) return (next === T.Quantity || next === T.Number) && !isBound(p, T.Context);
    const amount = peek(p, 2);
    if (lineBreakBefore(p, 2)) return !isBound(p, T.Context);
    return amount === T.Quantity || ((amount === T.Number || amount === T.RBrace) && !isBound(p, T.Context));
}
