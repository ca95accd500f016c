/**
 * Expressions that begin with a word of their own: `generate`, `parallel for`, `if` and `try`.
 *
 * FM1: `if` and `try` are words here only where no variable of that name is in scope; `generate` and `parallel` always are.
 */
import { fix } from "../../text/fix.ts";
import { DURATION_UNITS, T } from "../tokens.ts";
import { noUnitOfTime } from "./times.ts";
import type {
    Block,
    Budget,
    Call,
    ContractNode,
    Duration,
    Expr,
    Generate,
    GenerateOption,
    If,
    IfExpr,
    Name,
    NumberLit,
    ParallelFor,
    Try,
    TryExpr,
} from "../tree.ts";
import { isText } from "./authority.ts";
import { bracketed, closed, leaveBrace, several } from "./brackets.ts";
import { parseContract } from "./contracts.ts";
import { isForeign, skipForHead } from "./foreign-parts.ts";
import { noNumber, parseCount, parseKey, spacedMax } from "./literals.ts";
import {
    quantity,
    advance,
    bind,
    end,
    enter,
    expected,
    expectName,
    here,
    insertion,
    isBound,
    isWord,
    jump,
    LINE_ENDS,
    OLD_BUDGET,
    leave,
    lineBreakBefore,
    missing,
    oldSpelling,
    onNewLine,
    peek,
    report,
    type State,
    start,
    take,
    tokenRange,
    tokenText,
    parseExpr,
    parseBlock,
    prevEnd,
} from "./state.ts";
import { parseBudget } from "./use.ts";

// ---- generate ----------------------------------------------------------------------------------------------------

export function parseGenerate(p: State): Expr {
    const from = start(p);
    advance(p);
    let to = from + 8;
    let options: GenerateOption[] = [];
    let height = 0;
    const bare = p.k !== T.LParen;
    if (bare) expected(p, "`(` after `generate`", 'Write `generate({ input: "…" })`.');
    // Without the bracket the options are read all the same.
    if ((!bare || (p.k === T.LBrace && !onNewLine(p))) && enter(p)) {
        const mode = p.mode;
        p.mode = 0;
        const paren = p.pos;
        if (!bare) advance(p);
        if (p.k === T.LBrace) {
            const open = p.pos;
            advance(p);
            options = several(p, open, T.RBrace, parseOption);
            height = p.height;
            closed(p, open, T.RBrace);
            take(p, T.Comma);
        } else {
            expected(p, "`{` and the options", 'Write `generate({ input: "…" })`.');
            if ((p.tokens.match[paren] as number) > 0) jump(p, p.tokens.match[paren] as number);
        }
        if (!bare) to = closed(p, paren, T.RParen);
        else {
            take(p, T.RParen);
            to = p.ends[p.pos - 1] as number;
        }
        p.mode = mode;
        leave(p);
    }
    let contract: ContractNode | undefined;
    if (p.k === T.Arrow || foreignArrow(p)) {
        advance(p);
        contract = parseContract(p);
        to = contract.range.end;
        if (p.height > height) height = p.height;
    } else if (p.k === T.LBrace && peek(p, 1) === T.Return && peek(p, 2) === T.LBrace && (p.mode & LINE_ENDS) !== 0) {
        // In a header (`if generate(…) { return { … } }`) the brace opens the block.
        contract = parseReturnContract(p);
        to = p.ends[p.pos - 1] as number;
    }
    p.height = height + 1;
    const node: Generate = { kind: "generate", range: { start: from, end: to }, options, contract };
    return node;
}

/**
 * `generate({…}) => T`, `: T` or `as T`: says what to write; the contract is read all the same. An `endorse` around it goes on with
 * `as trusted`, and `use generate({…}) as name` names the item.
 */
function foreignArrow(p: State): boolean {
    const next = peek(p, 1);
    const contract = isWord(next) || next === T.LBrace;
    if (onNewLine(p) || lineBreakBefore(p, 1) || !contract || (p.mode & LINE_ENDS) === 0) return false;
    if (p.k !== T.FatArrow && p.k !== T.Colon && (p.k !== T.As || (p.mode & OLD_BUDGET) !== 0 || isBound(p, T.As) || next === T.Trusted))
        return false;
    const range = tokenRange(p, p.pos);
    const fixes = [fix("Write `->`", range, p.k === T.Colon ? " ->" : "->", true)];
    report(p, "SYNTAX", "The contract of an answer stands behind `->`.", range, "Write `generate({ … }) -> Name`.", fixes);
    return true;
}

/** `generate({…}) { return { ok boolean } }`: the first spelling of an output contract. */
function parseReturnContract(p: State): ContractNode {
    const open = p.pos;
    const first = tokenRange(p, open);
    const head = { start: first.start, end: p.ends[open + 1] as number };
    jump(p, open + 2);
    const contract = parseContract(p);
    const edits = [{ range: head, text: "->" }];
    if (p.k === T.RBrace) {
        const gap = { start: contract.range.end, end: end(p) };
        edits.push({ range: gap, text: "" });
        advance(p);
    } else expected(p, "`}`");
    oldSpelling(p, "An output contract stands after `->`.", head, "Write `-> {…}`", edits);
    return contract;
}

/** `with { turns: 4, … }` and `-> contract` behind a yield; the present token is `with` or `->`. */
export function parseYieldEnd(p: State, call: Call): Call {
    let to = call.range.end;
    let options: GenerateOption[] | undefined;
    const { height } = p;
    if (p.k === T.With && !onNewLine(p) && peek(p, 1) === T.LBrace) {
        advance(p);
        options = bracketed(p, T.RBrace, (_, open) => several(p, open, T.RBrace, parseYieldOption));
        to = prevEnd(p);
        p.height = Math.max(p.height, height);
    }
    let contract: ContractNode | undefined;
    if (p.k === T.Arrow) {
        advance(p);
        contract = parseContract(p);
        to = contract.range.end;
    }
    p.height++;
    if (options === undefined && contract === undefined) return call;
    const more = { ...(options === undefined ? {} : { options }), ...(contract === undefined ? {} : { contract }) };
    return { ...call, range: { start: call.range.start, end: to }, ...more };
}

/** Keys of `with { … }` whose value is a time. */
const TIMES: ReadonlySet<string> = new Set(["time", "silence"]);

function parseYieldOption(p: State): GenerateOption | undefined {
    const head = parseKey(p);
    if (head === undefined) return undefined;
    const { key } = head;
    if (p.k === T.Number || p.k === T.Quantity) {
        if (TIMES.has(key.text)) {
            const option = durationOption(p, key);
            if (option !== undefined) return option;
        }
        const text = tokenText(p);
        if (quantity(text).suffix === "k") {
            const range = tokenRange(p, p.pos);
            advance(p);
            p.height = 1;
            const value: NumberLit = { kind: "number", range, value: Number(`${quantity(text).digits}e3`), text };
            return { range: { start: key.range.start, end: range.end }, key, value };
        }
    }
    const value = parseExpr(p);
    return { range: { start: key.range.start, end: value.range.end }, key, value };
}

function parseOption(p: State): GenerateOption | undefined {
    const head = parseKey(p);
    if (head === undefined) return undefined;
    let key = head.key;
    if (key.text === "limit") {
        oldSpelling(p, "`limit` is called `max_output`.", key.range, "Write `max_output`", [{ range: key.range, text: "max_output" }]);
        key = { range: key.range, text: "max_output" };
    }
    if (p.k === T.Number || p.k === T.Quantity) {
        if (key.text === "max_output" && endsValue(p, peek(p, 1) === T.Tokens ? 2 : 1)) return budgetOption(p, key);
        if (key.text === "timeout") {
            const option = durationOption(p, key);
            if (option !== undefined) return option;
        }
    }
    const value = parseExpr(p);
    return { range: { start: key.range.start, end: value.range.end }, key, value };
}

/** Whether the value of an entry ends before the token `ahead`. */
function endsValue(p: State, ahead: number): boolean {
    const next = peek(p, ahead);
    return next === T.Comma || next === T.RBrace || next === T.EOF || lineBreakBefore(p, ahead);
}

/** Output is counted in tokens, whether the word stands there or not. */
function budgetOption(p: State, key: GenerateOption["key"]): GenerateOption {
    const read = parseBudget(p);
    const budget: Budget = { ...read, unit: "tokens" };
    const value: NumberLit = { kind: "number", range: read.range, value: read.amount, text: read.text };
    p.height = 1;
    return { range: { start: key.range.start, end: read.range.end }, key, value, budget };
}

function durationOption(p: State, key: GenerateOption["key"]): GenerateOption | undefined {
    const from = start(p);
    const { digits, suffix } = quantity(tokenText(p));
    let unit = suffix;
    let to = end(p);
    let size = 1;
    if (unit === "" && isWord(peek(p, 1)) && !lineBreakBefore(p, 1)) {
        unit = tokenText(p, p.pos + 1);
        to = p.ends[p.pos + 1] as number;
        size = 2;
    }
    if (unit === "" || !endsValue(p, size)) return undefined;
    const range = { start: from, end: to };
    jump(p, p.pos + size);
    const factor = Object.hasOwn(DURATION_UNITS, unit) ? (DURATION_UNITS[unit] as number) : undefined;
    if (factor === undefined) noUnitOfTime(p, digits, unit, range);
    const duration: Duration = { range, text: digits + unit, milliseconds: Number(digits) * (factor ?? 1) };
    p.height = 1;
    const value: NumberLit = { kind: "number", range, value: duration.milliseconds, text: duration.text };
    return { range: { start: key.range.start, end: to }, key, value, duration };
}

// ---- parallel for ------------------------------------------------------------------------------------------------

/** The present token is `parallel`, or the `for` of `x = for …` that lacks it. */
export function parseParallel(p: State): Expr {
    const from = start(p);
    if (!enter(p)) return missing(p);
    if (p.k === T.For) {
        const hint = "Write `parallel for`, which gives the list of what its passes give, or `items.map(item => …)`.";
        report(p, "SYNTAX", "`for` gives no value.", tokenRange(p, p.pos), hint, insertion("Insert `parallel`", from, "parallel ", false));
    } else advance(p);
    if (!take(p, T.For)) {
        expected(p, "`for` after `parallel`", "Write `parallel for item in items max 10 { … }`.");
        if (peek(p, 1) !== T.In) return skipIteration(p, from);
    }
    const node = parseIteration(p, true);
    leave(p);
    const expr: ParallelFor = { kind: "parallel", range: { start: from, end: node.body.range.end }, ...node };
    return expr;
}

/** On to the block on this line, which is read for the errors in it. */
function skipIteration(p: State, from: number): Expr {
    while (p.k !== T.LBrace && p.k !== T.RBrace && p.k !== T.EOF && !onNewLine(p)) advance(p);
    if (p.k === T.LBrace) parseBlock(p, "`{`");
    leave(p);
    return { ...missing(p), range: { start: from, end: from } };
}

export interface Iteration {
    readonly item: ParallelFor["item"];
    readonly list: Expr;
    readonly max: NumberLit;
    readonly stop?: NumberLit;
    readonly body: Block;
}

/** `x in LIST max N { … }`, shared by `for` and `parallel for`; `stops`: `stop after N failures` may stand behind the limit. */
export function parseIteration(p: State, stops = false): Iteration {
    const lost: Name = { range: here(p), text: "" };
    if (skipForHead(p)) return { item: lost, list: missing(p), max: noNumber(p), body: parseBlock(p, "`{`") };
    const itemKind = p.k;
    const item = expectName(p, "the name of the item");
    if (!take(p, T.In)) {
        const name = item.text || "item";
        expected(p, `\`in\` and the list after \`${name}\``, `Write \`for ${name} in items max 10 { … }\`.`);
        // Another word in its place.
        if (isWord(p.k) && p.k !== T.Max && isWord(peek(p, 1)) && peek(p, 1) !== T.Max && !lineBreakBefore(p, 1)) advance(p);
    }
    const mode = p.mode;
    p.mode = 0;
    const { expr: list, height, max } = parseLimited(p, "for");
    const stop = stops && isText(p, "stop") && !onNewLine(p) ? parseStop(p) : undefined;
    p.mode = mode;
    const bound = p.bound;
    bind(p, itemKind);
    const body = parseBlock(p, "`{` and the body of `for`");
    p.bound = bound;
    if (height >= p.height) p.height = height + 1;
    return { item, list, max, ...(stop === undefined ? {} : { stop }), body };
}

/** `stop after 20 failures` of a `parallel for`; the present token is `stop`. */
function parseStop(p: State): NumberLit {
    const how = "Write `stop after 20 failures`.";
    advance(p);
    if (isText(p, "after")) advance(p);
    else expected(p, "`after` and a number behind `stop`", how);
    const count = parseCount(p, how);
    if (isText(p, "failures") || isText(p, "failure")) advance(p);
    else expected(p, "`failures` behind the number", how);
    return count;
}

/** `for a in b < 4 {` and `loop until c < 6 {`: the limit as it was written before `max`. */
function oldLimit(p: State, expr: Expr): [Expr, NumberLit] | undefined {
    if (p.k !== T.LBrace || expr.kind !== "binary" || expr.op !== "<" || expr.right.kind !== "number") return undefined;
    const range = { start: expr.left.range.end, end: expr.right.range.start };
    const at = range.start + p.text.slice(range.start, range.end).indexOf("<");
    const sign = { start: at, end: at + 1 };
    oldSpelling(p, "A limit is written with `max`.", sign, "Write `max`", [{ range: sign, text: spacedMax(p, sign) }]);
    return [expr.left, expr.right];
}

/** `EXPR max N` of a loop; `height` is the expression's. */
export function parseLimited(p: State, what: string): { readonly expr: Expr; readonly height: number; readonly max: NumberLit } {
    const expr = parseExpr(p);
    const { height } = p;
    const [inner, max] = oldLimit(p, expr) ?? [expr, parseLimit(p, what)];
    return { expr: inner, height, max };
}

function parseLimit(p: State, what: string): NumberLit {
    if (!take(p, T.Max)) {
        expected(p, "`max` and a limit", `Every \`${what}\` names its limit: \`max 10\`.`);
        if (p.k !== T.Number) return noNumber(p);
    }
    return parseCount(p, `Every \`${what}\` names its limit as a number: \`max 10\`.`);
}

// ---- if ----------------------------------------------------------------------------------------------------------

/** `if … { } else if … { } else { }`; the present token is `if`. */
export function parseBranches(p: State): Pick<If, "branches" | "otherwise" | "range"> {
    const from = start(p);
    const branches: { test: Expr; body: Block }[] = [];
    let otherwise: Block | undefined;
    let height = 0;
    for (;;) {
        advance(p);
        const mode = p.mode;
        p.mode = 0;
        const test = parseExpr(p);
        p.mode = mode;
        if (p.height > height) height = p.height;
        p.ifs++;
        const body = parseBlock(p, "`{` and the body of `if`");
        p.ifs--;
        if (p.height > height) height = p.height;
        branches.push({ test, body });
        if (p.k !== T.Else || peek(p, 1) === T.Colon) break;
        advance(p);
        if (p.k === T.If) continue;
        otherwise = parseBlock(p, "`{` or `if` after `else`");
        if (p.height > height) height = p.height;
        break;
    }
    p.height = height + 1;
    const last = otherwise ?? (branches.at(-1) as { body: Block }).body;
    return { range: { start: from, end: last.range.end }, branches, otherwise };
}

export function parseIfExpr(p: State): Expr {
    if (!enter(p)) return missing(p);
    const node: IfExpr = { kind: "if.expr", ...parseBranches(p) };
    leave(p);
    return node;
}

// ---- try ---------------------------------------------------------------------------------------------------------

/**
 * Whether the present word `try` begins a try: a block follows on its line, and either no variable is called `try`, or the block is
 * followed by `catch` and could not be an object literal.
 */
export function tryFollows(p: State): boolean {
    if (peek(p, 1) !== T.LBrace || lineBreakBefore(p, 1)) return false;
    if (!isBound(p, T.Try)) return true;
    const close = p.tokens.match[p.pos + 1] as number;
    const first = peek(p, 2);
    const object = first === T.RBrace || ((isWord(first) || first === T.String) && peek(p, 3) === T.Colon);
    return close > 0 && p.kinds[close + 1] === T.Catch && !object;
}

/** `try { } catch name { }`; the present token is `try`. */
export function parseTryParts(p: State): Pick<Try, "body" | "name" | "handler" | "range"> {
    const from = start(p);
    advance(p);
    p.tries++;
    const body = parseBlock(p, "`{` after `try`");
    p.tries--;
    let height = p.height;
    const bound = p.bound;
    let name: Try["name"];
    let handler: Block;
    if (p.k === T.Catch) {
        advance(p);
        // `catch (e) {`.
        const brackets = p.k === T.LParen && isWord(peek(p, 1)) && peek(p, 2) === T.RParen && peek(p, 3) === T.LBrace;
        if (brackets) {
            const at = start(p);
            advance(p);
            const text = tokenText(p);
            const range = { start: at, end: p.ends[p.pos + 1] as number };
            const fixes = [fix("Leave the parentheses out", range, text, true)];
            report(p, "SYNTAX", "The name of the failure stands without parentheses.", range, `Write \`catch ${text} { … }\`.`, fixes);
        }
        if (isWord(p.k) && !(onNewLine(p) && peek(p, 1) !== T.LBrace)) {
            bind(p, p.k);
            name = expectName(p, "a name");
        }
        if (brackets) advance(p);
        handler = parseBlock(p, "`{` and the body of `catch`");
        p.bound = bound;
        if (p.height > height) height = p.height;
        if (p.k === T.Word && tokenText(p) === "finally" && isForeign(p, "finally", (at) => p.kinds[at + 1] === T.LBrace)) {
            report(
                p,
                "SYNTAX",
                "There is no `finally`.",
                tokenRange(p, p.pos),
                "What has to be done in both cases stands behind the `try`.",
            );
            advance(p);
            leaveBrace(p, p.pos);
        }
    } else {
        expected(p, "`catch` after the block of `try`", "Write `try { … } catch failure { … }`.");
        handler = { range: { start: body.range.end, end: body.range.end }, statements: [] };
    }
    p.height = height + 1;
    return { range: { start: from, end: handler.range.end }, body, name, handler };
}

export function parseTryExpr(p: State): Expr {
    if (!enter(p)) return missing(p);
    const node: TryExpr = { kind: "try.expr", ...parseTryParts(p) };
    leave(p);
    return node;
}
