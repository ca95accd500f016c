/**
 * Statements and blocks.
 *
 * ST1: where a word that Remit added could also be a name, it is the name if one is bound in scope, and AgentScript's reading stands.
 * ST2: after a syntax error reading goes on at the next line outside brackets or at the closing brace.
 */
import { FOREIGN_NAMES } from "../foreign.ts";
import { T } from "../tokens.ts";
import type { Define, Assign, Block, Config, Stmt } from "../tree.ts";
import { delegateFollows, parseDelegate, parseSpend, spendFollows } from "./authority.ts";
import { closed, skipLine, startsDeclaration } from "./brackets.ts";
import { parseExpr, parsePostfix } from "./expressions.ts";
import { foreignStart, parseForeign } from "./foreign.ts";
import { skipPattern } from "./foreign-parts.ts";
import { parseBranches, parseIteration, parseLimited, parseTryParts, tryFollows } from "./forms.ts";
import { parseCount } from "./literals.ts";
import {
    advance,
    closesNothing,
    beginStatement,
    bind,
    end,
    endStatement,
    enter,
    expected,
    here,
    insertion,
    isBound,
    isWord,
    jump,
    LINE_ENDS,
    leave,
    lineBreakBefore,
    missing,
    onNewLine,
    peek,
    prevEnd,
    report,
    type State,
    start,
    takeName,
    tokenRange,
    tokenText,
    parseFunc,
} from "./state.ts";
import { contextFollows, parseContextBudget, parseUse } from "./use.ts";

export function parseBlock(p: State, what: string): Block {
    const open = p.pos;
    const from = start(p);
    // In a file whose braces do not add up this one is missing, and what follows on the next line stands in the block.
    const lacking = p.k !== T.LBrace;
    if (lacking) {
        expected(p, what, bodyHint(p, what));
        if (p.tokens.balanced || !onNewLine(p) || p.k === T.RBrace || startsDeclaration(p)) {
            p.height = 1;
            return { range: here(p), statements: [] };
        }
    }
    if (!enter(p)) return { range: { start: from, end: prevEnd(p) }, statements: [] };
    const { mode, bound } = p;
    p.mode = LINE_ENDS;
    if (!lacking) advance(p);
    const statements: Stmt[] = [];
    let height = 0;
    while (p.k !== T.RBrace && p.k !== T.EOF) {
        if (!p.tokens.balanced && (startsDeclaration(p) || endsBody(p))) break;
        const before = p.pos;
        const statement = parseStatement(p);
        if (statement !== undefined) statements.push(statement);
        if (p.height > height) height = p.height;
        if (p.pos === before) skipLine(p, true);
        else if (p.errorAt === p.pos && !onNewLine(p) && p.k !== T.RBrace) skipLine(p, false);
    }
    const to = lacking && p.k !== T.RBrace ? prevEnd(p) : closed(p, open, T.RBrace);
    p.mode = mode;
    p.bound = bound;
    leave(p);
    p.height = height + 1;
    return { range: { start: Math.min(from, to), end: to }, statements };
}

/** What to write in place of the present token, which stands where the brace of a body is wanted. */
function bodyHint(p: State, what: string): string {
    const compares = what.endsWith("`if`") || what.endsWith("`loop`");
    if (p.k === T.In) return `For a membership, ${FOREIGN_NAMES.get("in")?.hint}.`;
    if (compares && p.k === T.Assign) return "An assignment is a statement; compare with `==`.";
    if (compares && !onNewLine(p) && (p.k === T.Not || (isWord(p.k) && tokenText(p) === "is")))
        return peek(p, 1) === T.Not || p.k === T.Not ? "Compare with `!=`." : "Compare with `==`.";
    if (isWord(p.k) && !onNewLine(p) && peek(p, 1) === T.LBrace) return `Leave \`${tokenText(p)}\` out: a body stands in braces.`;
    return "A body stands in braces: `{ … }`.";
}

/** Undefined for a construct that was reported and skipped. */
export function parseStatement(p: State): Stmt | undefined {
    const { errors } = p;
    const outer = beginStatement(p);
    const statement = readStatement(p);
    endStatement(p, outer, p.errors > errors && statement !== undefined && !BLOCKS.has(statement.kind));
    return statement;
}

/** Statements with statements inside. */
const BLOCKS: ReadonlySet<Stmt["kind"]> = new Set<Stmt["kind"]>(["if", "for", "loop", "repeat", "try"]);

/** Why it is long: one case for each word that begins a statement. */
function readStatement(p: State): Stmt | undefined {
    const from = start(p);
    switch (p.k) {
        case T.Word:
        case T.Func: {
            const foreign = foreignStart(p);
            if (foreign !== undefined) return parseForeign(p, foreign);
            break;
        }
        case T.Use:
            return parseUse(p);
        case T.Return:
            return parseReturn(p);
        case T.Repeat:
            return parseRepeat(p);
        case T.For: {
            if (!enter(p)) return undefined;
            advance(p);
            const loop = parseIteration(p);
            leave(p);
            return { kind: "for", range: { start: from, end: loop.body.range.end }, ...loop };
        }
        case T.Loop:
            return parseLoop(p);
        case T.If: {
            const parts = parseBranches(p);
            return { kind: "if", ...parts };
        }
        case T.Else:
            if (elseFollows(p)) return strayElse(p);
            break;
        case T.Model:
        case T.Role:
        case T.Description:
            return parseConfig(p);
        case T.Context:
            if (contextFollows(p)) return parseContextBudget(p);
            break;
        case T.Try:
            if (tryFollows(p)) return { kind: "try", ...parseTryParts(p) };
            break;
        case T.Raise:
            if (raiseFollows(p)) return parseRaise(p);
            break;
        case T.Break:
        case T.Continue:
        case T.Debugger:
            if (bareFollows(p)) {
                const kind = p.k === T.Break ? "break" : p.k === T.Continue ? "continue" : "debugger";
                const range = tokenRange(p, p.pos);
                advance(p);
                p.height = 1;
                return { kind, range };
            }
            break;
        case T.Catch:
            if (catchFollows(p)) return strayCatch(p);
            break;
        case T.Delegate:
            if (delegateFollows(p)) return parseDelegate(p);
            break;
        case T.Spend:
            if (spendFollows(p)) return parseSpend(p);
            break;
        case T.Define:
            if (defineFollows(p)) return parseDefine(p);
            break;
        case T.RParen:
        case T.RBracket:
            closesNothing(p, "Leave it out, or open the bracket before it.");
            p.height = 1;
            return undefined;
        case T.Comma:
        case T.Assign:
        case T.PlusAssign:
        case T.MinusAssign:
            expected(
                p,
                "a statement",
                p.k === T.Comma ? "Statements need no separator." : "The line before may lack a value, or this one a name.",
                undefined,
                true,
            );
            skipLine(p, true);
            p.height = 1;
            return undefined;
        default:
            break;
    }
    if (skipPattern(p)) return undefined;
    const word = p.k;
    const target = parseExpr(p);
    const op = p.k === T.Assign ? "=" : p.k === T.PlusAssign ? "+=" : p.k === T.MinusAssign ? "-=" : undefined;
    if (op === undefined) return { kind: "expr", range: target.range, value: target };
    const height = p.height;
    advance(p);
    const next = peek(p, 1);
    // A name with its own assignment on the next line is the next statement.
    const nothing = p.k === T.RBrace || (onNewLine(p) && (next === T.Assign || next === T.PlusAssign || next === T.MinusAssign));
    const spends = p.k === T.Spend && spendFollows(p);
    const hint = spends
        ? "`spend … { … }` is a statement and gives no value: assign `name = none` before it, and the value inside its block."
        : undefined;
    const value = nothing || spends ? nothingAfter(p, `a value after \`${op}\``, hint) : parseExpr(p);
    if (target.kind === "ident") bind(p, word);
    p.height = (height > p.height ? height : p.height) + 1;
    const node: Assign = { kind: "assign", range: { start: from, end: value.range.end }, target, op, value };
    return node;
}

function nothingAfter(p: State, what: string, hint?: string) {
    expected(p, what, hint);
    return missing(p);
}

function parseReturn(p: State): Stmt {
    const from = start(p);
    const to = end(p);
    advance(p);
    if (p.k === T.RBrace || p.k === T.EOF) {
        expected(p, "a value after `return`", "Write `return none` to return nothing.", insertion("Write `return none`", to, " none"));
        const value = missing(p);
        return { kind: "return", range: { start: from, end: to }, value };
    }
    const value = parseExpr(p);
    return { kind: "return", range: { start: from, end: value.range.end }, value };
}

function parseRepeat(p: State): Stmt {
    const from = start(p);
    const word = end(p);
    advance(p);
    if (p.k === T.Star) advance(p);
    else
        expected(
            p,
            "`*` and a number after `repeat`",
            "Write `repeat * 3 { … }`.",
            p.k === T.Number ? insertion("Insert `*`", word, " *") : undefined,
        );
    const times = parseCount(p, "Write `repeat * 3 { … }`.");
    const body = parseBlock(p, "`{` and the body of `repeat`");
    return { kind: "repeat", range: { start: from, end: body.range.end }, times, body };
}

function parseLoop(p: State): Stmt {
    const from = start(p);
    advance(p);
    if (p.k === T.Until) advance(p);
    else expected(p, "`until` and a condition after `loop`", "Write `loop until done max 10 { … }`.");
    const mode = p.mode;
    p.mode = 0;
    const { expr: until, height, max } = parseLimited(p, "loop");
    p.mode = mode;
    const body = parseBlock(p, "`{` and the body of `loop`");
    p.height = Math.max(p.height, height) + 1;
    return { kind: "loop", range: { start: from, end: body.range.end }, until, max, body };
}

export function parseConfig(p: State): Config {
    const from = start(p);
    const key = p.k === T.Model ? "model" : p.k === T.Role ? "role" : "description";
    advance(p);
    const declared = p.k === T.Main && peek(p, 1) === T.Func;
    if (declared || p.k < T.Number || (p.k >= T.Comma && p.k < T.Word && p.k !== T.Minus) || p.k === T.RBrace || p.k === T.RParen) {
        const named = `\`${key}\` at the start of a statement sets the ${key}. A variable of that name can only be read: \`x = ${key}\`.`;
        const hint = p.k === T.Assign || p.k === T.Dot ? named : key === "model" ? "Write `model NAME`." : `Write \`${key} "…"\`.`;
        expected(p, `a value after \`${key}\``, hint);
        const value = missing(p);
        return { kind: "config", range: { start: from, end: prevEnd(p) }, key, value };
    }
    const value = key === "model" ? parsePostfix(p) : parseExpr(p);
    return { kind: "config", range: { start: from, end: value.range.end }, key, value };
}

/** `break`, `continue`, `debugger`: nothing on the line or after it goes on with the word as a name. */
function bareFollows(p: State): boolean {
    if (isBound(p, p.k)) return false;
    const next = peek(p, 1);
    if (next === T.EOF || next === T.RBrace) return true;
    if (isWord(next)) return next !== T.And && next !== T.Or;
    if (next === T.LParen || next === T.LBracket) return lineBreakBefore(p, 1);
    return next === T.LBrace || next === T.String || next === T.Block || next === T.Number || next === T.Quantity;
}

/** `raise EXPR`: a value begins after the word on its line. */
function raiseFollows(p: State): boolean {
    if (lineBreakBefore(p, 1) || isBound(p, T.Raise)) return false;
    const next = peek(p, 1);
    if (isWord(next)) return next !== T.And && next !== T.Or;
    return (
        next === T.String ||
        next === T.Block ||
        next === T.Number ||
        next === T.Quantity ||
        next === T.LBrace ||
        next === T.LParen ||
        next === T.LBracket ||
        next === T.Minus
    );
}

function parseRaise(p: State): Stmt {
    const from = start(p);
    advance(p);
    const value = parseExpr(p);
    return { kind: "raise", range: { start: from, end: value.range.end }, value };
}

/** In a file whose braces do not add up: the brace that ends the body of an `if` or a `try` is missing before this word. */
function endsBody(p: State): boolean {
    return (p.ifs > 0 && p.k === T.Else && elseFollows(p)) || (p.tries > 0 && p.k === T.Catch && catchFollows(p));
}

function elseFollows(p: State): boolean {
    return (peek(p, 1) === T.LBrace || peek(p, 1) === T.If) && !isBound(p, T.Else);
}

function catchFollows(p: State): boolean {
    return !isBound(p, T.Catch) && (peek(p, 1) === T.LBrace || (isWord(peek(p, 1)) && peek(p, 2) === T.LBrace));
}

function strayElse(p: State): undefined {
    report(p, "SYNTAX", "This `else` has no `if`.", tokenRange(p, p.pos), "`else` follows the closing brace of an `if`.");
    if (peek(p, 1) === T.If) parseBranchesAfterElse(p);
    else {
        advance(p);
        parseBlock(p, "`{`");
    }
    return undefined;
}

function parseBranchesAfterElse(p: State): void {
    advance(p);
    parseBranches(p);
}

function strayCatch(p: State): undefined {
    report(p, "SYNTAX", "This `catch` has no `try`.", tokenRange(p, p.pos), "`catch` follows the closing brace of a `try`.");
    jump(p, p.pos + (peek(p, 1) === T.LBrace ? 1 : 2));
    parseBlock(p, "`{`");
    return undefined;
}

// ---- define ------------------------------------------------------------------------------------------------------

/** `define name = func …`: three words that nothing else begins with. */
function defineFollows(p: State): boolean {
    return !isBound(p, p.k) && isWord(peek(p, 1)) && !lineBreakBefore(p, 1) && peek(p, 2) === T.Assign && peek(p, 3) === T.Func;
}

function parseDefine(p: State): Define {
    const from = start(p);
    const { bound, func } = p;
    advance(p);
    const name = takeName(p);
    advance(p);
    const node = parseFunc(p, name);
    p.bound = bound;
    p.func = func;
    let to = node.range.end;
    const keep = p.k === T.Keep && !onNewLine(p);
    if (keep) {
        to = end(p);
        advance(p);
    }
    p.height++;
    return { kind: "define", range: { start: from, end: to }, func: node, keep };
}
