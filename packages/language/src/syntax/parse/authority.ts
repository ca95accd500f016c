/**
 * Authority: remits, `delegate`, `spend`, `.only(…)`, `endorse`, `flow strict` (LANGUAGE 5). Clauses at imports are in `clauses.ts`.
 *
 * AH1: each word here is a word only where AgentScript rejects the text; a name that is bound in scope stays a name.
 */
import { nearest } from "../../diagnostics/nearest.ts";
import { fix } from "../../text/fix.ts";
import type { Range } from "../../text/source.ts";
import { DURATION_UNITS, METERS, T } from "../tokens.ts";
import type {
    Amount,
    Bound,
    Count,
    Delegate,
    Endorse,
    Expr,
    FlowDecl,
    Grant,
    Name,
    Narrow,
    NumberLit,
    Ref,
    RemitBody,
    RemitDecl,
    RemitUse,
    Spend,
    StringLit,
} from "../tree.ts";
import { closed, separated } from "./brackets.ts";
import { beginsNumber, inBrackets, parseRanges } from "./ranges.ts";
import { parseString } from "./literals.ts";
import {
    advance,
    enter,
    expected,
    expectName,
    here,
    isBound,
    isGiven,
    isWord,
    LINE_ENDS,
    leave,
    lineBreakBefore,
    missing,
    onNewLine,
    peek,
    prevEnd,
    quantity,
    report,
    type State,
    start,
    take,
    takeName,
    tokenText,
    parseExpr,
    parseBlock,
    skip,
} from "./state.ts";

// ---- remits ------------------------------------------------------------------------------------------------------

/** `remit NAME { … }`; the present token is `remit`. */
export function parseRemit(p: State): RemitDecl {
    const from = start(p);
    advance(p);
    const name = expectName(p, "the name of the remit");
    const body = parseRemitBody(p);
    return { kind: "remit", range: { start: from, end: body.range.end }, name, body };
}

/** `remit { … }`, `remit NAME`; the present token is `remit`. */
export function parseRemitUse(p: State): RemitUse {
    const from = start(p);
    advance(p);
    if (p.k === T.LBrace) return parseRemitBody(p);
    const hint = p.k === T.Colon ? "Leave the colon out: `remit { … }`." : undefined;
    const name = expectName(p, "`{` and the clauses, or the name of a remit", hint);
    return { kind: "remit.use", range: { start: from, end: prevEnd(p) }, name };
}

/** A name of a method, an argument or a field: a word, or in quotes where it is none, `"list-issues"`. */
export function atName(p: State, ahead = 0): boolean {
    const kind = peek(p, ahead);
    return isWord(kind) || kind === T.String;
}

/** The present token is one (`atName`). */
export function takeNamed(p: State): Name {
    if (p.k !== T.String) return takeName(p);
    const { range, value } = parseString(p);
    if (value === "") report(p, "SYNTAX", "A name has at least one character.", range, "Write the name that the tool gives it.");
    return { range, text: value };
}

export function expectNamed(p: State, what: string): Name {
    return atName(p) ? takeNamed(p) : expectName(p, what);
}

export const GATES: readonly number[] = [T.May, T.Ask, T.Never];

function parseRemitBody(p: State): RemitBody {
    const open = p.pos;
    const from = start(p);
    const clauses: RemitBody["clauses"][number][] = [];
    if (p.k !== T.LBrace) {
        expected(p, "`{` and what may be done", "Write `remit { may Repo.read }`.");
        return { kind: "remit.body", range: { start: from, end: prevEnd(p) }, clauses };
    }
    advance(p);
    while (p.k !== T.RBrace && p.k !== T.EOF) {
        const at = start(p);
        if (GATES.includes(p.k)) {
            const grant = parseGrant(p);
            clauses.push({ kind: "remit.grant", range: grant.range, grant });
        } else if (p.k === T.Spend) {
            advance(p);
            const amounts = parseAmounts(p);
            clauses.push({ kind: "remit.spend", range: { start: at, end: prevEnd(p) }, amounts });
        } else if (p.k === T.Flow && peek(p, 1) === T.Strict) {
            advance(p);
            advance(p);
            clauses.push({ kind: "remit.flow", range: { start: at, end: prevEnd(p) } });
        } else {
            const meant = isWord(p.k) ? (GATE_WORDS.get(tokenText(p)) ?? nearest(tokenText(p), REMIT_WORDS)) : null;
            const fixes = meant === null ? undefined : [fix(`Write \`${meant}\``, { start: at, end: at + tokenText(p).length }, meant)];
            const hint = meant === null ? clauseHint(p, clauses.at(-1)?.kind) : `Did you mean \`${meant}\`?`;
            expected(p, "`may`, `ask`, `never`, `spend` or `flow strict`", hint, fixes, true);
            skipClause(p, open, beginsClause);
        }
        // What stands behind a mistake on its line belongs to it.
        if (p.errorAt === p.pos && !onNewLine(p)) skipClause(p, open, beginsClause);
        take(p, T.Comma);
    }
    const to = closed(p, open, T.RBrace);
    return { kind: "remit.body", range: { start: from, end: to }, clauses };
}

const REMIT_WORDS: readonly string[] = ["may", "ask", "never", "spend", "flow"];
/** What the gates are called elsewhere. */
const GATE_WORDS: ReadonlyMap<string, string> = new Map([
    ["allow", "may"],
    ["can", "may"],
    ["permit", "may"],
    ["deny", "never"],
    ["forbid", "never"],
    ["confirm", "ask"],
]);

/** What to write where no clause begins; `before`: the kind of the clause before it. */
function clauseHint(p: State, before: RemitBody["clauses"][number]["kind"] | undefined): string {
    if (before === "remit.grant" && !onNewLine(p)) {
        if (p.k === T.String || (isWord(p.k) && peek(p, 1) === T.String))
            return 'Which calls are meant is written with `in`: `Repo.write in "src/**"`.';
        if (p.k === T.LParen) return "A method is named without parentheses: `may Repo.read`.";
    }
    if (before === "remit.spend" && (p.k === T.Number || p.k === T.Quantity))
        return "A comma stands between amounts: `spend 6 turns, 10 min`.";
    return "A remit names what may be done: `may Repo.read`, `spend 10k tokens`.";
}

/** On to the comma after which the next clause begins, to the next line, or to the end of the braces. */
export function skipClause(p: State, open: number, begins: (p: State, ahead: number) => boolean): void {
    const limit = p.tokens.match[open] as number;
    while (p.k !== T.EOF && p.k !== T.RBrace && !(p.k === T.Comma && begins(p, 1))) {
        skip(p, limit);
        if (onNewLine(p)) return;
    }
}

/** Whether the token `ahead` begins a clause of a remit. */
function beginsClause(p: State, ahead: number): boolean {
    const kind = peek(p, ahead);
    const next = peek(p, ahead + 1);
    if (GATES.includes(kind)) return isWord(next) && next !== T.In && !lineBreakBefore(p, ahead + 1);
    return kind === T.Spend ? next === T.Number || next === T.Quantity : kind === T.Flow && next === T.Strict;
}

function parseGrant(p: State): Grant {
    const from = start(p);
    const gate = tokenText(p) as Grant["gate"];
    advance(p);
    if (p.k === T.All && peek(p, 1) !== T.Dot) {
        advance(p);
        return { range: { start: from, end: prevEnd(p) }, gate, all: true, refs: [] };
    }
    const refs = parseRefs(p);
    return { range: { start: from, end: prevEnd(p) }, gate, all: false, refs };
}

/** `Repo.read, Repo.write in "src/**", "docs/**"`: a string after a comma goes on with the patterns, a name begins the next thing. */
function parseRefs(p: State): Ref[] {
    const refs: Ref[] = [];
    do {
        if (!isWord(p.k) || (onNewLine(p) && beginsClause(p, 0))) {
            const hint = p.k === T.Colon ? "Leave the colon out: `may Repo.read`." : "Write `Repo` or `Repo.read`.";
            expected(p, "the name of a tool, or a method of one", hint);
            break;
        }
        const name = takeName(p);
        const method = take(p, T.Dot) ? expectNamed(p, "the name of a method") : undefined;
        const bounds = parseBounds(p);
        const counts = parseCounts(p);
        refs.push({
            range: { start: name.range.start, end: prevEnd(p) },
            name,
            ...(method === undefined ? {} : { method }),
            bounds,
            ...(counts.length === 0 ? {} : { counts }),
        });
    } while (!beginsClause(p, 1) && take(p, T.Comma));
    return refs;
}

/** `in "src/**"`, `in to: "*@example.com"`, several after one another. */
function parseBounds(p: State): Bound[] {
    const bounds: Bound[] = [];
    while (p.k === T.In) {
        const from = start(p);
        advance(p);
        let arg: Name | undefined;
        if (atName(p) && peek(p, 1) === T.Colon) {
            arg = takeNamed(p);
            advance(p);
        }
        if (arg !== undefined && (p.k === T.LParen || p.k === T.LBracket)) {
            inBrackets(p, arg);
            bounds.push({ range: { start: from, end: prevEnd(p) }, arg, patterns: [], numbers: true });
            continue;
        }
        const numbers = arg !== undefined && beginsNumber(p);
        const patterns = numbers ? parseRanges(p) : parseStrings(p, 'a pattern: `in "src/**"`, or a range: `in amount: 0..500`');
        bounds.push({ range: { start: from, end: prevEnd(p) }, ...(arg === undefined ? {} : { arg }), patterns, numbers });
    }
    return bounds;
}

export function isText(p: State, word: string, ahead = 0): boolean {
    return isWord(peek(p, ahead)) && tokenText(p, p.pos + ahead) === word;
}

export function atCount(p: State, ahead = 0): boolean {
    return (isText(p, "at", ahead) && isText(p, "most", ahead + 1)) || (isText(p, "once", ahead) && isText(p, "by", ahead + 1));
}

/** `at most 3 at most 20 per day once by order_id`. */
export function parseCounts(p: State): Count[] {
    const counts: Count[] = [];
    while (atCount(p)) {
        const from = start(p);
        const once = isText(p, "once");
        advance(p);
        advance(p);
        const range = () => ({ start: from, end: prevEnd(p) });
        if (once) {
            const by = p.k === T.Number ? takeName(p) : expectNamed(p, "the argument by which uses are told apart");
            counts.push({ range: range(), by });
        } else if (p.k === T.Number) {
            const text = tokenText(p);
            const most: NumberLit = { kind: "number", range: { start: start(p), end: start(p) + text.length }, value: Number(text), text };
            advance(p);
            const isPer = isText(p, "per") && !onNewLine(p);
            if (isPer) advance(p);
            const isDaily = isPer && isText(p, "day");
            if (isDaily) advance(p);
            else if (isPer) expected(p, "`day`", "Write `at most 20 per day`, or `at most 20` for a run.");
            counts.push({ range: range(), most, ...(isDaily ? { per: "day" } : {}) });
        } else {
            expected(p, "how many uses", "Write `at most 3`.");
            break;
        }
    }
    return counts;
}

/** Strings with commas between them; a comma before something else is left standing. */
export function parseStrings(p: State, what: string): StringLit[] {
    const out: StringLit[] = [];
    for (;;) {
        if (p.k !== T.String && p.k !== T.Block) {
            expected(p, what);
            return out;
        }
        // Names and patterns are words, whatever quotes they came in.
        out.push({ ...parseString(p), style: "double" });
        if (p.k !== T.Comma || (peek(p, 1) !== T.String && peek(p, 1) !== T.Block)) return out;
        // `reads: "ann", "list-issues": ask`: the name of a method begins another clause.
        if (peek(p, 2) === T.Colon) return out;
        advance(p);
    }
}

const UNITS = "The amounts are `tokens`, `usd`, `ms`, `s`, `min`, `h`, `steps`, `calls`, `turns` and `bytes`.";

function unknownUnit(p: State, unit: string, range: Range): void {
    const meant = nearest(unit, [...METERS.filter((one) => one !== "time"), ...Object.keys(DURATION_UNITS)]);
    const place = { start: range.end - unit.length, end: range.end };
    report(
        p,
        "INVALID_NUMBER",
        `\`${unit}\` is nothing that is spent.`,
        range,
        meant === null ? UNITS : `Did you mean \`${meant}\`? ${UNITS}`,
        meant === null ? undefined : [fix(`Write \`${meant}\``, place, meant)],
    );
}

/** `200k tokens, 10 min, 2 usd` */
function parseAmounts(p: State): Amount[] {
    const amounts: Amount[] = [];
    do {
        if (p.k !== T.Number && p.k !== T.Quantity) {
            expected(p, "an amount", "Write `spend 200k tokens, 10 min, 2 usd`.");
            break;
        }
        const from = start(p);
        const written = tokenText(p);
        const { digits, suffix } = quantity(written);
        const factor = suffix === "k" ? 1e3 : suffix === "M" ? 1e6 : 1;
        const glued = suffix !== "" && suffix !== "k" && suffix !== "M";
        advance(p);
        let unit = suffix;
        if (!glued) {
            if (!isWord(p.k) || onNewLine(p)) {
                expected(p, "what the amount is of", UNITS);
                break;
            }
            unit = tokenText(p);
            advance(p);
        }
        const range = { start: from, end: prevEnd(p) };
        const text = glued ? written : `${written} ${unit}`;
        const ms = Object.hasOwn(DURATION_UNITS, unit) ? (DURATION_UNITS[unit] as number) : undefined;
        const meter = METERS.find((one) => one === unit && one !== "time");
        if (ms === undefined && meter === undefined) unknownUnit(p, unit, range);
        // Shifting the point in the text keeps `2.3k` exact.
        const amount = (factor === 1 ? Number(digits) : Number(`${digits}e${factor === 1e3 ? 3 : 6}`)) * (ms ?? 1);
        if (!Number.isFinite(amount) || (meter !== "usd" && !Number.isInteger(amount)))
            report(p, "INVALID_NUMBER", `\`${text}\` is no whole amount.`, range, "Write a whole number; only `usd` may have a fraction.");
        amounts.push({ range, meter: ms === undefined ? (meter ?? "steps") : "time", amount, text });
    } while (!beginsClause(p, 1) && take(p, T.Comma));
    return amounts;
}

// ---- flow strict -------------------------------------------------------------------------------------------------

export function atFlow(p: State): boolean {
    return p.k === T.Flow && peek(p, 1) === T.Strict && !lineBreakBefore(p, 1);
}

export function parseFlow(p: State): FlowDecl {
    const from = start(p);
    advance(p);
    advance(p);
    return { kind: "flow", range: { start: from, end: prevEnd(p) } };
}

// ---- statements --------------------------------------------------------------------------------------------------

/** Two words on a line after one another are no statement in AgentScript. */
export function delegateFollows(p: State): boolean {
    const next = peek(p, 1);
    return !isBound(p, T.Delegate) && isWord(next) && next !== T.And && next !== T.Or && !lineBreakBefore(p, 1);
}

export function spendFollows(p: State): boolean {
    const next = peek(p, 1);
    return !isBound(p, T.Spend) && (next === T.Number || next === T.Quantity) && !lineBreakBefore(p, 1);
}

export function parseDelegate(p: State): Delegate {
    const from = start(p);
    advance(p);
    const all = p.k === T.All && peek(p, 1) === T.To;
    if (all) advance(p);
    const refs = all ? [] : parseRefs(p);
    if (!take(p, T.To)) expected(p, "`to` and the name of an agent", "Write `delegate Repo.write to Fixer { … }`.");
    const to = expectName(p, "the name of an agent");
    const onward = p.k === T.Onward;
    if (onward) advance(p);
    const body = parseBlock(p, "`{` and what is done with it");
    p.height++;
    return { kind: "delegate", range: { start: from, end: body.range.end }, all, refs, to, onward, body };
}

export function parseSpend(p: State): Spend {
    const from = start(p);
    advance(p);
    const amounts = parseAmounts(p);
    const body = parseBlock(p, "`{` and what may spend it");
    p.height++;
    return { kind: "spend", range: { start: from, end: body.range.end }, amounts, body };
}

// ---- expressions -------------------------------------------------------------------------------------------------

/**
 * `(read, write in "src/**")` after `X.only`; the present token is `(`. Undefined for a call: of anything else, with anything but names
 * in it, with names of values alone, or without arguments.
 */
export function parseNarrow(p: State, callee: Expr): Narrow | undefined {
    if (callee.kind !== "member" || callee.safe || callee.name.text !== "only") return undefined;
    const { object } = callee;
    const { height } = p;
    const open = p.pos;
    const close = p.tokens.match[open] as number;
    if (close <= open + 1) return undefined;
    // AgentScript calls the method `only` of a tool with values that have names.
    let values = true;
    for (let i = open + 1; i < close; i += 2) {
        // No value begins with a point: `.only(."list-issues")` names a method that is no word.
        if (p.kinds[i] === T.Dot && p.kinds[i + 1] === T.String) {
            values = false;
            i++;
        } else if (!isWord(p.kinds[i] as number)) return undefined;
        const after = p.kinds[i + 1] as number;
        if (after !== T.Comma && after !== T.In && i + 1 !== close) return undefined;
        values = values && after !== T.In && p.kinds[i] !== T.String && isGiven(p, tokenText(p, i));
        if (after === T.In) break;
    }
    if (values) return undefined;
    advance(p);
    const methods: Narrow["methods"][number][] = [];
    do {
        const method = take(p, T.Dot) ? expectNamed(p, "the name of a method") : expectName(p, "the name of a method");
        methods.push({ method, bounds: parseBounds(p) });
    } while (separated(p, open, T.RParen, false));
    const to = closed(p, open, T.RParen);
    p.height = height;
    return { kind: "narrow", range: { start: object.range.start, end: to }, object, methods };
}

/** `endorse EXPR as trusted because …`: an expression begins after the word, on its line or, as a call would (D6), in brackets. */
export function endorseFollows(p: State): boolean {
    if (isBound(p, T.Endorse)) return false;
    const next = peek(p, 1);
    const joins = (p.mode & LINE_ENDS) === 0 && (next === T.LParen || next === T.LBracket);
    if (lineBreakBefore(p, 1) && !joins) return false;
    // `endorse()`: a call of what is not there.
    if (next === T.LParen) return peek(p, 2) !== T.RParen;
    if (isWord(next)) return next !== T.And && next !== T.Or && next !== T.As && next !== T.Max && next !== T.Selected;
    return next === T.String || next === T.Block || next === T.Number || next === T.LBracket || next === T.LBrace;
}

export function parseEndorse(p: State): Expr {
    const from = start(p);
    if (!enter(p)) return missing(p);
    advance(p);
    const value = parseExpr(p);
    let height = p.height;
    let readers: StringLit[] | undefined;
    if (take(p, T.For)) readers = parseStrings(p, "who may read it, in quotes");
    else if (!(take(p, T.As) && take(p, T.Trusted)))
        expected(p, "`as trusted` or `for` and who may read it", 'Write `endorse x as trusted because "…"`.');
    let because: Expr;
    if (take(p, T.Because)) because = parseExpr(p);
    else {
        expected(p, "`because` and the reason", "The reason is kept in the ledger.");
        because = { kind: "missing", range: here(p) };
    }
    if (p.height > height) height = p.height;
    leave(p);
    p.height = height + 1;
    const node: Endorse = {
        kind: "endorse",
        range: { start: from, end: prevEnd(p) },
        value,
        ...(readers === undefined ? {} : { readers }),
        because,
    };
    return node;
}
