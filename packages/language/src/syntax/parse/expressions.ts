import { fix } from "../../text/fix.ts";
import { isLiteral } from "../nodes.ts";
import { INFIX, SYMBOLS, T } from "../tokens.ts";
import type { Arg, Binary, BinaryOp, Expr, Lambda, Name, ObjectEntry, Spread } from "../tree.ts";
import { endorseFollows, parseEndorse, parseNarrow } from "./authority.ts";
import { separated, bracketed, several } from "./brackets.ts";
import { skipFunctionValue, skipLambdaBlock, skipTextPrefix } from "./foreign-parts.ts";
import { parseGenerate, parseYieldEnd, parseIfExpr, parseParallel, parseTryExpr, tryFollows } from "./forms.ts";
import { parseString, parseNumber, parseKey } from "./literals.ts";
import {
    advance,
    bind,
    chainMayGrow,
    end,
    enter,
    expected,
    expectName,
    giveUp,
    isBound,
    isWord,
    jump,
    LINE_ENDS,
    leave,
    missing,
    lineBreakBefore,
    OLD_BUDGET,
    onNewLine,
    peek,
    prevEnd,
    report,
    type State,
    start,
    takeName,
    tokenRange,
    tokenText,
    take,
} from "./state.ts";
import { isTemplate, parseTemplate } from "./templates.ts";
import { skipCallOptions } from "./unsupported.ts";

/** Operators by token kind. */
const OPERATORS: Record<number, BinaryOp> = { [T.Or]: "or", [T.And]: "and" };
for (const kind of [T.Coalesce, T.Eq, T.Ne, T.Lt, T.Le, T.Gt, T.Ge, T.Plus, T.Minus, T.Star, T.Slash, T.Percent]) {
    OPERATORS[kind] = SYMBOLS[kind] as BinaryOp;
}

/** `x?[key]`, `x?.[key]`. */
const ABSENT_KEY = "A key that may be absent: `x.get(key)` gives none then, `x.get(key, 0)` gives 0.";

/** What people write from other languages. */
const FOREIGN: Readonly<Record<number, string>> = {
    [T.Bang]: "Write `not` for a negation.",
    [T.FatArrow]: "A lambda stands in parentheses here: `(x => x.name)`.",
    [T.Assign]: "An assignment is a statement; compare with `==`.",
    [T.Question]: "A choice is written `if a { b } else { c }`.",
    [T.Dot]: "A number begins with a digit: `0.5`.",
    [T.Bar]: "Write `or`.",
    [T.Spread]:
        "Only a list or an object takes `...`. The largest of a list is `xs.reduce((most, x) => max(most, x), xs[0])`, its sum `xs.sum()`.",
};

/** What to write in place of the present token, where an expression is wanted. */
function hintOf(p: State): string | undefined {
    if (p.k === T.Question && p.kinds[p.pos + 1] === T.LBracket) return ABSENT_KEY;
    return twoSigns(p) ?? (Object.hasOwn(FOREIGN, p.k) ? FOREIGN[p.k] : undefined);
}

/** `x *= 2`, `x++`: the operator is read, and this stands where its right side should. */
function twoSigns(p: State): string | undefined {
    const before = p.kinds[p.pos - 1] ?? 0;
    const meets = p.pos > 0 && prevEnd(p) === start(p);
    if (meets && before === T.Assign && p.k === T.Plus) return "Write `x += 1`: the sign stands before `=`.";
    if (meets && before === T.Lt && p.k === T.Gt) return "Write `!=`.";
    if (p.pos === 0 || prevEnd(p) !== start(p) || (INFIX[before] as number) === 0 || before >= T.Word) return undefined;
    const sign = SYMBOLS[before] as string;
    if (p.k === T.Assign) return `Write \`x = x ${sign} y\`; only \`+=\` and \`-=\` join with it.`;
    if (before === T.Plus && p.k === T.Plus) return "Write `x += 1`.";
    if (before === T.Star && p.k === T.Star) return "Write `x * x`: there are no powers.";
    return undefined;
}

export function parseExpr(p: State): Expr {
    if (p.k >= T.Word) {
        if (isLambdaArrow(p.kinds[p.pos + 1])) return parseLambda(p);
    } else if (p.k === T.LParen) {
        const close = p.tokens.match[p.pos] as number;
        if (close > 0 && isLambdaArrow(p.kinds[close + 1])) return parseLambda(p);
    }
    return parseBinary(p, 1);
}

/** `->` is a mistake that the lambda reports. */
function isLambdaArrow(kind: number | undefined): boolean {
    return kind === T.FatArrow || kind === T.Arrow;
}

function parseBinary(p: State, least: number): Expr {
    let left = parseUnary(p);
    let height = p.height;
    for (;;) {
        const precedence = INFIX[p.k] as number;
        if (precedence < least || precedence === 0) return left;
        if ((p.mode & OLD_BUDGET) !== 0 && p.k === T.Lt && isOldBudget(p, left)) return left;
        // `and:` is the next key or candidate.
        if (p.k >= T.Word && p.kinds[p.pos + 1] === T.Colon) return left;
        const op = OPERATORS[p.k] as BinaryOp;
        const grows = chainMayGrow(p, height);
        advance(p);
        const right: Expr = parseBinary(p, precedence + 1);
        if (!grows) continue;
        height = (height > p.height ? height : p.height) + 1;
        p.height = height;
        const node: Binary = { kind: "binary", range: { start: left.range.start, end: right.range.end }, op, left, right };
        left = node;
    }
}

/** Whether the present `<` after what is used is the old spelling of `max`: always where a unit follows, else in a file of earlier spellings alone, or where nothing is compared. */
function isOldBudget(p: State, left: Expr): boolean {
    const next = p.kinds[p.pos + 1];
    if (next === T.Quantity) return true;
    const after = p.kinds[p.pos + 2] as number;
    const ends = after === T.EOF || after === T.RBrace || after === T.As || lineBreakBefore(p, 2);
    if (next !== T.Number || !ends || (INFIX[after] as number) > 0) return false;
    if (p.isOld || isNoNumber(p, left)) return true;
    p.compares = true;
    return false;
}

/** For certain. */
function isNoNumber(p: State, e: Expr): boolean {
    if (e.kind === "ident") return p.noNumbers.has(e.name) && !givenAnew(p).has(e.name);
    return e.kind === "string" || e.kind === "list" || e.kind === "object";
}

/** Names that a value is assigned to, or that a loop gives one, in any function of the file. */
function givenAnew(p: State): ReadonlySet<string> {
    // Once for a file: an agent's answer may ask for it at each of its statements.
    if (p.givenAnew === null) {
        const names = new Set<string>();
        for (const [at, kind] of p.kinds.entries()) {
            const next = p.kinds[at + 1];
            const isGiven = next === T.Assign || next === T.PlusAssign || next === T.MinusAssign || p.kinds[at - 1] === T.For;
            if (isGiven && isWord(kind)) names.add(tokenText(p, at));
        }
        p.givenAnew = names;
    }
    return p.givenAnew;
}

function parseUnary(p: State): Expr {
    if (p.k !== T.Not && p.k !== T.Minus) return parsePostfix(p);
    const from = start(p);
    const op = p.k === T.Not ? "not" : "-";
    if (!enter(p)) return missing(p);
    advance(p);
    const value = parseUnary(p);
    leave(p);
    p.height++;
    return { kind: "unary", range: { start: from, end: value.range.end }, op, value };
}

const RANGES = "A loop goes over a list: `for x in [0, 1, 2] max 3`; `repeat * 3 { … }` only repeats.";

/** What `model` takes; also the operand of every operator. */
export function parsePostfix(p: State): Expr {
    let node = parsePrimary(p);
    for (;;) {
        const k = p.k;
        if (k === T.Dot || k === T.SafeDot) {
            const grows = chainMayGrow(p, p.height);
            const height = p.height;
            advance(p);
            if (node.kind === "number" && p.k === T.Dot) {
                report(p, "SYNTAX", "There are no ranges.", { start: node.range.start, end: end(p) }, RANGES);
                advance(p);
                if (p.k === T.Number || isWord(p.k)) advance(p);
                continue;
            }
            if (node.kind === "number" && onNewLine(p)) {
                expected(p, "digits after the point", "Leave the point out, or write `1.0`.");
                continue;
            }
            if (p.k === T.Number && node.kind !== "missing") {
                expected(p, "a property name after the dot", "An element of a list is read with an index: `[0]`.");
                advance(p);
                continue;
            }
            const name = expectName(p, "a property name after the dot", k === T.SafeDot && p.k === T.LBracket ? ABSENT_KEY : undefined);
            if (!grows) continue;
            p.height = height + 1;
            node = { kind: "member", range: { start: node.range.start, end: name.range.end }, object: node, name, safe: k === T.SafeDot };
        } else if (k === T.LParen || k === T.LBracket) {
            if (onNewLine(p) && !joinsLine(p, node)) return node;
            const grows = chainMayGrow(p, p.height);
            const grown: Expr = k === T.LParen ? (parseNarrow(p, node) ?? parseCall(p, node)) : parseIndex(p, node);
            if (grows) node = grown;
        } else if (node.kind === "call" && (k === T.With || k === T.Arrow)) {
            const isYield = node.callee.kind === "member" && node.callee.name.text === "yield";
            if (isYield) return parseYieldEnd(p, node);
            skipCallOptions(p);
            return node;
        } else return node;
    }
}

/** D6: the present `(` or `[` begins a line. Whether it applies to `node` all the same. */
function joinsLine(p: State, node: Expr): boolean {
    const call = p.k === T.LParen;
    // `[]` on a line of its own is an empty list: an index holds a value.
    const possible = call ? node.kind === "ident" || node.kind === "member" : !LITERALS.has(node.kind) && peek(p, 1) !== T.RBracket;
    const what = call ? "a call" : "an index";
    const gap = { start: prevEnd(p), end: start(p) };
    const blank = p.text.slice(gap.start, gap.end).trim() === "";
    if ((p.mode & LINE_ENDS) !== 0) {
        if (possible) {
            const fixes = blank ? [fix(`Join the lines to make it ${what}`, gap, "")] : undefined;
            const hint = `Put the \`${SYMBOLS[p.k]}\` on the line above if ${what} is meant.`;
            report(p, "LINE_CONTINUATION", `This line is a statement of its own, not ${what}.`, tokenRange(p, p.pos), hint, fixes);
        }
        return false;
    }
    if (!possible) return false;
    const fixes = blank ? [fix("Join the lines", gap, "", true)] : undefined;
    const message = `${call ? "A call" : "An index"} begins on the line of what it applies to.`;
    report(p, "LINE_CONTINUATION", message, tokenRange(p, p.pos), `Put the \`${SYMBOLS[p.k]}\` on the line above.`, fixes);
    return true;
}

const LITERALS: ReadonlySet<string> = new Set(["string", "number", "bool", "none", "missing"]);

function parseCall(p: State, callee: Expr): Expr {
    const { height } = p;
    const args = bracketed(p, T.RParen, (_, open) => several(p, open, T.RParen, parseArg));
    if (args === undefined) return callee;
    p.height = Math.max(height, p.height) + 1;
    return { kind: "call", range: { start: callee.range.start, end: prevEnd(p) }, callee, args };
}

function parseArg(p: State): Arg {
    if (isWord(p.k) && p.kinds[p.pos + 1] === T.Colon) {
        const name = takeName(p);
        advance(p);
        const value = parseExpr(p);
        return { range: { start: name.range.start, end: value.range.end }, name, value };
    }
    const value = parseExpr(p);
    return { range: value.range, value };
}

function parsePosition(p: State): Expr {
    const index = parseExpr(p);
    if (p.k !== T.Colon) return index;
    report(p, "SYNTAX", "A part of a list or a text is no index.", tokenRange(p, p.pos), "Write `.slice(from, to)` after it.");
    advance(p);
    if (p.k !== T.RBracket) parseExpr(p);
    return missing(p);
}

function parseIndex(p: State, object: Expr): Expr {
    const { height } = p;
    const index = bracketed(p, T.RBracket, parsePosition);
    if (index === undefined) return object;
    p.height = Math.max(height, p.height) + 1;
    return { kind: "index", range: { start: object.range.start, end: prevEnd(p) }, object, index };
}

/** `= for x in xs`, also as an argument, item or field; not the `[x.a for x in xs]` of other languages, which is told as such. */
function isLoopValue(p: State): boolean {
    const before = p.kinds[p.pos - 1] as number;
    const wanted = before === T.Return || before === T.Assign || before === T.Colon || before === T.Comma || before === T.LParen;
    return wanted && isWord(peek(p, 1)) && peek(p, 2) === T.In && !onNewLine(p) && !lineBreakBefore(p, 1);
}

/** `x =` with nothing after it, then a statement: its word `k` could only be an unknown name. No statement begins in brackets. */
function noOperand(p: State, k: number): boolean {
    if ((p.mode & LINE_ENDS) === 0 || !onNewLine(p) || isBound(p, k)) return false;
    expected(p, "an expression");
    return true;
}

function parsePrimary(p: State): Expr {
    p.height = 1;
    const k = p.k;
    if (k >= T.Word) {
        switch (k) {
            case T.Word:
                break;
            case T.True:
            case T.False: {
                const range = tokenRange(p, p.pos);
                advance(p);
                return { kind: "bool", range, value: k === T.True };
            }
            case T.None: {
                const range = tokenRange(p, p.pos);
                advance(p);
                return { kind: "none", range };
            }
            case T.Generate:
                return parseGenerate(p);
            case T.Parallel:
                return parseParallel(p);
            case T.If:
                if (!isBound(p, k)) return parseIfExpr(p);
                break;
            case T.Try:
                if (tryFollows(p)) return parseTryExpr(p);
                break;
            case T.Endorse:
                if (endorseFollows(p)) return parseEndorse(p);
                break;
            case T.For:
                if (isLoopValue(p)) return parseParallel(p);
                if (noOperand(p, k)) return missing(p);
                break;
            case T.Return:
            case T.Use:
            case T.Repeat:
            case T.Loop:
                if (noOperand(p, k)) return missing(p);
                break;
            default:
                break;
        }
        return parseName(p);
    }
    if (isTemplate(p)) return parseTemplate(p);
    switch (k) {
        case T.String:
        case T.Block:
            return parseString(p);
        case T.Number:
        case T.Quantity:
            return parseNumber(p);
        case T.LBrace:
            return parseObject(p);
        case T.LBracket:
            return parseList(p);
        case T.LParen:
            return parseParen(p);
        default:
            expected(p, "an expression", hintOf(p), undefined, k !== T.RBrace);
            if (k === T.Dot && p.kinds[p.pos + 1] === T.Number && p.ends[p.pos] === p.starts[p.pos + 1]) {
                advance(p);
                return parseNumber(p);
            }
            if (twoSigns(p) !== undefined) {
                advance(p);
                return k === T.Plus ? missing(p) : parseUnary(p);
            }
            if (k === T.Bang) {
                advance(p);
                return parseUnary(p);
            }
            return missing(p);
    }
}

function parseName(p: State): Expr {
    if (p.k === T.Word || p.k === T.Func) {
        if (skipFunctionValue(p)) return missing(p);
        skipTextPrefix(p);
        if (p.k === T.String) return parseString(p);
    }
    const range = tokenRange(p, p.pos);
    advance(p);
    return { kind: "ident", range, name: p.text.slice(range.start, range.end) };
}

function parseParen(p: State): Expr {
    const from = start(p);
    const value = bracketed(p, T.RParen, parseExpr);
    if (value === undefined) return missing(p);
    p.height++;
    return { kind: "paren", range: { start: from, end: prevEnd(p) }, value };
}

export function parseList(p: State): Expr {
    const from = start(p);
    const items = bracketed(p, T.RBracket, (_, open) => several(p, open, T.RBracket, () => parseSpread(p) ?? parseExpr(p)));
    if (items === undefined) return missing(p);
    p.height++;
    return { kind: "list", range: { start: from, end: prevEnd(p) }, items };
}

function parseSpread(p: State): Spread | undefined {
    const from = start(p);
    if (!take(p, T.Spread)) return undefined;
    const value = parseExpr(p);
    return { kind: "spread", range: { start: from, end: value.range.end }, value };
}

export function parseObject(p: State): Expr {
    const from = start(p);
    const entries = bracketed(p, T.RBrace, (_, open) => several(p, open, T.RBrace, () => parseSpread(p) ?? parseEntry(p)));
    if (entries === undefined) return missing(p);
    p.height++;
    return { kind: "object", range: { start: from, end: prevEnd(p) }, entries };
}

function parseEntry(p: State): ObjectEntry | undefined {
    const head = parseKey(p);
    if (head === undefined) return undefined;
    const value = parseExpr(p);
    return { kind: "entry", range: { start: head.key.range.start, end: value.range.end }, key: head.key, quoted: head.quoted, value };
}

/** `x => e`, `(a, b) => e`; the caller has seen the arrow. */
function parseLambda(p: State): Lambda | Expr {
    const from = start(p);
    if (!enter(p)) {
        giveUp(p);
        return missing(p);
    }
    const bound = p.bound;
    const params: Name[] = [];
    if (p.k === T.LParen) {
        const open = p.pos;
        const close = p.tokens.match[open] as number;
        advance(p);
        while (p.pos < close) {
            if (!isWord(p.k)) {
                expected(p, "the name of a parameter", "A lambda takes plain names: `(a, b) => a + b`.");
                jump(p, close);
                break;
            }
            bind(p, p.k);
            params.push(takeName(p));
            if (!separated(p, open, T.RParen, false)) break;
        }
        jump(p, close + 1);
    } else {
        bind(p, p.k);
        params.push(takeName(p));
    }
    if (p.k === T.Arrow) {
        const range = tokenRange(p, p.pos);
        const fixes = [fix("Write `=>`", range, "=>", true)];
        report(p, "SYNTAX", "The arrow of a lambda is `=>`.", range, "Write `(x) => x.name`.", fixes);
    }
    advance(p);
    const body = p.k === T.LBrace && skipLambdaBlock(p) ? missing(p) : parseExpr(p);
    p.bound = bound;
    leave(p);
    p.height++;
    return { kind: "lambda", range: { start: from, end: body.range.end }, params, body };
}

/** A literal after `=`: what a default may be. An operator on a new line belongs to what follows. */
export function parseDefault(p: State): Expr {
    const value = parseUnary(p);
    const more = INFIX[p.k] !== 0 && !onNewLine(p);
    if (more || !isLiteral(value)) {
        const range = more ? tokenRange(p, p.pos) : value.range;
        report(p, "SYNTAX", "A default is a literal.", range, "Write a string, a number, true, false, none, or a list or object of these.");
    }
    while (INFIX[p.k] !== 0 && !onNewLine(p)) {
        advance(p);
        parseUnary(p);
    }
    return value;
}
