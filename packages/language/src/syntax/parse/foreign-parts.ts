/** Expressions, heads and assignments of other languages: each is one report that says what to write, and is skipped whole. */
import { FOREIGN_STARTS } from "../foreign.ts";
import { T } from "../tokens.ts";
import { skipLine } from "./brackets.ts";
import { advance, isBound, isWord, jump, parseExpr, report, type State, tokenRange, tokenText } from "./state.ts";

/** FE1. `fits`: whether a place is one where another language has the present word; `use` tells the kinds of places apart. */
export function isForeign(p: State, use: string, fits: (at: number) => boolean): boolean {
    if (isBound(p, p.k)) return false;
    const word = tokenText(p);
    const key = `${use} ${word}`;
    let foreign = p.foreign.get(key);
    if (foreign === undefined) {
        foreign = true;
        for (let i = 0; i < p.tokens.count && foreign; i++)
            if (p.kinds[i] === p.k && p.k === T.Word && tokenText(p, i) === word && !fits(i)) foreign = false;
        p.foreign.set(key, foreign);
    }
    return foreign;
}

/** `func (x) { … }`, `function (x) { … }`, `fn (x) { … }` or `lambda x: …` where a value stands: told, and skipped whole. */
export function skipFunctionValue(p: State): boolean {
    const open = p.pos + 1;
    if (p.kinds[open] === T.LParen ? !bodyAfter(p, open) : !isWord(p.kinds[open] ?? T.EOF) || p.kinds[open + 1] !== T.Colon) return false;
    const word = tokenText(p);
    const lambda = p.kinds[open] !== T.LParen;
    if (lambda ? word !== "lambda" : FOREIGN_STARTS.get(word) !== "function") return false;
    if (!isForeign(p, "value", (at) => p.kinds[at - 1] !== T.Func && isFunctionAt(p, at))) return false;
    const hint = "Write `x => x.name`: one expression. More goes into a `func` of the file, which it calls: `x => f(x)`.";
    report(p, "SYNTAX", "A function inside an expression is a lambda.", tokenRange(p, p.pos), hint);
    if (lambda) {
        jump(p, open + 2);
        parseExpr(p);
    } else jump(p, (p.tokens.match[(p.tokens.match[open] as number) + 1] as number) + 1);
    return true;
}

/** `fn (x) { … }`, `fn name(…` or `lambda x:`. */
function isFunctionAt(p: State, at: number): boolean {
    if (p.kinds[at + 1] === T.LParen) return bodyAfter(p, at + 1);
    const after = p.kinds[at + 2];
    return isWord(p.kinds[at + 1] ?? T.EOF) && (after === T.Colon || after === T.LParen);
}

/** A text begins right behind the token. */
function meetsText(p: State, at: number): boolean {
    return p.kinds[at + 1] === T.String && p.ends[at] === p.starts[at + 1];
}

/** `f"hi {name}"`: the letter is told, and left behind. */
export function skipTextPrefix(p: State): void {
    if (!meetsText(p, p.pos) || !/^[fr]$/i.test(tokenText(p)) || !isForeign(p, "text", (at) => meetsText(p, at))) return;
    report(
        p,
        "SYNTAX",
        "No letter stands before a text.",
        tokenRange(p, p.pos),
        "A text with values in it stands in backticks: `hi {name}`.",
    );
    advance(p);
}

/** The brackets at `open` are followed on their line by a block that is no object. */
function bodyAfter(p: State, open: number): boolean {
    const close = p.tokens.match[open] as number;
    return close > 0 && p.tokens.newline[close + 1] !== 1 && statementsAt(p, close + 1);
}

/** A whole block of statements opens there, no object. */
function statementsAt(p: State, brace: number): boolean {
    const end = p.tokens.match[brace] as number;
    if (p.kinds[brace] !== T.LBrace || end <= brace + 1) return false;
    const first = p.kinds[brace + 1] as number;
    const second = p.kinds[brace + 2] as number;
    const entry = (isWord(first) || first === T.String) && (second === T.Colon || second === T.Comma || second === T.RBrace);
    return first !== T.Spread && !entry;
}

/** `x => { return x }`: the present token is the brace. Told, and skipped whole. */
export function skipLambdaBlock(p: State): boolean {
    if (!statementsAt(p, p.pos)) return false;
    const hint = "Write `x => x.name`. More goes into a `func` of the file, which it calls: `x => f(x)`.";
    report(p, "SYNTAX", "The body of a lambda is one expression.", tokenRange(p, p.pos), hint);
    jump(p, (p.tokens.match[p.pos] as number) + 1);
    return true;
}

/** `for (x of xs) {` and `for (i = 0; …) {`: told, and skipped to the body. The present token is the bracket. */
export function skipForHead(p: State): boolean {
    const after = p.k === T.LParen ? p.kinds[(p.tokens.match[p.pos] as number) + 1] : undefined;
    if (after === T.Max && isWord(p.kinds[p.pos + 1] ?? T.EOF)) return skipHeadInBrackets(p);
    if (p.k !== T.LParen || !braceAfter(p, p.pos)) return false;
    const hint = "Write `for x in items max 10 { … }`; `repeat * 10 { … }` only repeats.";
    const close = p.tokens.match[p.pos] as number;
    const range = { start: tokenRange(p, p.pos).start, end: tokenRange(p, close).end };
    report(p, "SYNTAX", "A `for` goes over the items of a list.", range, hint);
    jump(p, close + 1);
    return true;
}

/** `for (x in xs) max 10 {`: the present token is the bracket. */
function skipHeadInBrackets(p: State): boolean {
    const close = p.tokens.match[p.pos] as number;
    const range = { start: tokenRange(p, p.pos).start, end: tokenRange(p, close).end };
    report(p, "SYNTAX", "The item and the list of a `for` stand without parentheses.", range, "Write `for x in items max 10 { … }`.");
    jump(p, close + 1);
    while (p.k !== T.EOF && p.k !== T.LBrace && p.tokens.newline[p.pos] !== 1) advance(p);
    return true;
}

/** `{ a, b } = x`, `[a, b] = xs`, `x: string = y`, `x := y`: told, and skipped to the end of the line. */
export function skipPattern(p: State): boolean {
    let message: string;
    let hint: string;
    if (p.k === T.LBrace || p.k === T.LBracket) {
        const close = p.tokens.match[p.pos] as number;
        if (close < 0 || p.kinds[close + 1] !== T.Assign || p.tokens.newline[close + 1] === 1) return false;
        for (let i = p.pos + 1; i < close; i++) if (!isWord(p.kinds[i] as number) && p.kinds[i] !== T.Comma) return false;
        message = "An assignment gives one name a value.";
        hint = p.k === T.LBrace ? "Write `a = x.a`, and a line for each name." : "Write `a = xs[0]`, and a line for each name.";
    } else {
        if (!isWord(p.k) || p.kinds[p.pos + 1] !== T.Colon || p.tokens.newline[p.pos + 1] === 1) return false;
        const walrus = p.kinds[p.pos + 2] === T.Assign;
        if (!walrus && !(isWord(p.kinds[p.pos + 2] ?? T.EOF) && p.kinds[p.pos + 3] === T.Assign)) return false;
        message = walrus ? "A name is assigned with `=`." : "A variable has no type of its own.";
        hint = "Write `x = …`.";
    }
    const first = tokenRange(p, p.pos);
    report(p, "SYNTAX", message, first, hint);
    skipLine(p, true);
    p.height = 1;
    return true;
}

/** A brace follows the brackets at `open`. */
export function braceAfter(p: State, open: number): boolean {
    const close = p.tokens.match[open] as number;
    return close > 0 && p.kinds[close + 1] === T.LBrace;
}
