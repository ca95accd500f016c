/**
 * Blocks (LANGUAGE 8): `temporal static ( read "a.md" >=> Reviewer ) as verdict`, and what people write in their place.
 *
 * Boundary: stages are names and literals here; what a name stands for is the checker's.
 *
 * PSG1: a name among the positional arguments stands on the line of its stage, so that a missing `>=>` before the next line is seen.
 */
import { fix } from "../../text/fix.ts";
import { nearest } from "../../diagnostics/nearest.ts";
import type { Range } from "../../text/source.ts";
import { DURATION_UNITS, T, timeMeant } from "../tokens.ts";
import type { BlockDecl, Expr, Flow, GenerateOption, Stage, StageArg } from "../tree.ts";
import { closed, separated, bracketed } from "./brackets.ts";
import { parseExpr, parseList, parseObject } from "./expressions.ts";
import { parseKey, parseNumber, parseString } from "./literals.ts";
import { sExpression, takeJoin } from "./joins.ts";
import {
    advance,
    end,
    enter,
    expected,
    expectName,
    insertion,
    isWord,
    jump,
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
    tokenRange,
    tokenText,
} from "./state.ts";
import { noUnitOfTime } from "./times.ts";

const BACKENDS = ["memory", "temporal"] as const;
const MODES = ["static", "dynamic"] as const;

function isBackend(k: number): boolean {
    return k === T.Memory || k === T.Temporal;
}

function isMode(k: number): boolean {
    return k === T.Static || k === T.Dynamic;
}

// ---- the head --------------------------------------------------------------------------------------------------------

/** Whether a block begins here, at the top level: its two words, one of them, or one of them and a word in place of the other. */
export function atBackendBlock(p: State): boolean {
    const next = peek(p, 1);
    if (isBackend(p.k)) return isMode(next) || next === T.LParen || (isWord(next) && peek(p, 2) === T.LParen);
    if (isMode(p.k)) return isBackend(next) || next === T.LParen;
    return p.k === T.Word && isMode(next) && peek(p, 2) === T.LParen;
}

/** The same among stages, where a word before a bracket may be a call. */
function atNestedBlock(p: State): boolean {
    if (!isBackend(p.k) && !isMode(p.k)) return false;
    const next = peek(p, 1);
    return isBackend(next) || isMode(next) || (next === T.LParen && !namesFollow(p, 1));
}

export function parseBackendBlock(p: State): BlockDecl {
    const from = start(p);
    const head = parseHead(p);
    const open = p.pos;
    let body: Flow;
    if (p.k !== T.LParen) {
        expected(p, "`(` and the stages of the block", 'Write `memory static ( read "a.md" >=> summarize )`.');
        body = missing(p);
    } else body = parseGroup(p);
    let name: BlockDecl["name"];
    if (p.pos > open && p.k === T.As) {
        advance(p);
        if (isWord(p.k) && !onNewLine(p)) name = takeName(p);
        else expected(p, "the name of the block's value, on the line of `as`");
    }
    return { kind: "block", range: { start: from, end: prevEnd(p) }, ...head, body, ...(name === undefined ? {} : { name }) };
}

/** Where it runs, then how. */
function parseHead(p: State): Pick<BlockDecl, "backend" | "mode"> {
    const first = tokenRange(p, p.pos);
    const next = peek(p, 1);
    if (isMode(p.k) && isBackend(next)) {
        const [mode, backend] = [tokenText(p), tokenText(p, p.pos + 1)];
        const range = { start: first.start, end: p.ends[p.pos + 1] as number };
        const fixes = [fix(`Write \`${backend} ${mode}\``, range, `${backend} ${mode}`, true)];
        report(p, "SYNTAX", "The backend of a block stands before its mode.", range, `Write \`${backend} ${mode}\`.`, fixes);
        jump(p, p.pos + 2);
        return { backend: backend as BlockDecl["backend"], mode: mode as BlockDecl["mode"] };
    }
    const backend = parseHeadWord(p, BACKENDS, isBackend(p.k), !isMode(p.k), "A block says where it runs: `memory` or `temporal`.");
    const mode = parseHeadWord(
        p,
        MODES,
        isMode(p.k),
        isWord(p.k),
        "A block says how it runs: `static`, as a plan that is known before it starts, or `dynamic`.",
    );
    return { backend, mode };
}

/** `known`: the word is one of those; `other`: another word stands in its place. */
function parseHeadWord<X extends string>(p: State, words: readonly [X, ...X[]], known: boolean, other: boolean, rule: string): X {
    const range = tokenRange(p, p.pos);
    const text = tokenText(p);
    if (known || other) advance(p);
    if (known) return text as X;
    if (!other) {
        const at = isWord(p.k) ? start(p) : prevEnd(p);
        const word = isWord(p.k) ? `${words[0]} ` : ` ${words[0]}`;
        report(
            p,
            "SYNTAX",
            rule,
            range,
            `Both words are needed: \`memory static ( … )\`.`,
            insertion(`Write \`${words[0]}\``, at, word, false),
        );
        return words[0];
    }
    // What the backend was called in the original.
    const near = text === "sibyl" ? "temporal" : nearest(text, words);
    const fixes = near === null ? undefined : [fix(`Write \`${near}\``, range, near)];
    report(p, "SYNTAX", rule, range, near === null ? undefined : `Did you mean \`${near}\`?`, fixes);
    return (near ?? words[0]) as X;
}

/** A bracket at the top level: a block without its two words, or a program in the s-expressions of the original. */
export function parseBareBody(p: State): BlockDecl | undefined {
    if (sExpression(p)) return undefined;
    const range = tokenRange(p, p.pos);
    const fixes = insertion("Write `memory static`", range.start, "memory static ", false);
    report(
        p,
        "SYNTAX",
        "A block begins with where and how it runs.",
        range,
        "Write `memory static ( … )` or `temporal static ( … )`.",
        fixes,
    );
    const body = parseGroup(p);
    if (p.k === T.As) jump(p, Math.min(p.pos + 2, p.tokens.count - 1));
    return { kind: "block", range: { start: range.start, end: prevEnd(p) }, backend: "memory", mode: "static", body };
}

/** Whether the line that begins here is one of stages, outside a block. */
export function atStages(p: State): boolean {
    if (!isWord(p.k)) return false;
    for (let ahead = 1; !lineBreakBefore(p, ahead); ahead++) {
        const k = peek(p, ahead);
        if (k === T.Arrow || (k === T.Ge && peek(p, ahead + 1) === T.Gt)) return true;
    }
    return false;
}

// ---- pipes and fan-outs ----------------------------------------------------------------------------------------------

/** `( body )`; the present token is the bracket. */
function parseGroup(p: State): Flow {
    const from = start(p);
    const body = bracketed(p, T.RParen, (_, open) => {
        const read = parseBody(p, open);
        const partner = p.tokens.match[open] as number;
        if (p.k !== T.RParen && partner > p.pos) {
            expected(p, "`>=>`, `<*>` or `)`");
            jump(p, partner);
        }
        return read;
    });
    // Of a fan-out the brackets are its own.
    return body?.kind === "fan" ? { ...body, range: { start: from, end: prevEnd(p) } } : (body ?? missing(p));
}

function parseBody(p: State, open: number): Flow {
    const branches: Flow[] = [];
    let stages: Flow[] = [parseStage(p)];
    for (let join = takeJoin(p, open); join !== null; join = takeJoin(p, open)) {
        if (join === "fan") {
            branches.push(pipeOf(stages));
            stages = [];
        }
        stages.push(parseStage(p));
    }
    branches.push(pipeOf(stages));
    return branches.length === 1 ? (branches[0] as Flow) : { kind: "fan", range: spanOf(branches), branches };
}

function pipeOf(parts: readonly Flow[]): Flow {
    const stages = parts.flatMap((one) => (one.kind === "pipe" ? one.stages : [one]));
    return stages.length === 1 ? (stages[0] as Flow) : { kind: "pipe", range: spanOf(stages), stages };
}

function spanOf(parts: readonly Flow[]): Range {
    return { start: (parts[0] as Flow).range.start, end: (parts.at(-1) as Flow).range.end };
}

function parseStage(p: State): Flow {
    if (p.k === T.LParen) return parseGroup(p);
    if (atNestedBlock(p)) return parseBackendBlock(p);
    if (isWord(p.k)) return parseCall(p);
    if (startsLiteral(p)) {
        const range = tokenRange(p, p.pos);
        const fixes = insertion("Write `echo`", range.start, "echo ", false);
        report(p, "SYNTAX", "A stage begins with what it calls, not with a value.", range, 'A text stands in `echo "…"`.', fixes);
        parseValue(p);
        return missing(p);
    }
    expected(p, "a stage", 'A stage is a verb, function, agent or tool with its arguments: `read "a.md"`.', undefined, p.k !== T.RParen);
    return missing(p);
}

// ---- a stage ---------------------------------------------------------------------------------------------------------

function parseCall(p: State): Stage {
    const call = takeName(p);
    let method: Stage["method"];
    if (p.k === T.Dot && !onNewLine(p) && peek(p, 1) !== T.Number) {
        advance(p);
        method = expectName(p, "the name of a method after the dot");
    }
    const args: StageArg[] = [];
    while (startsArgument(p)) {
        const arg = parseArgument(p);
        args.push(arg);
    }
    if (p.k === T.LParen && (namesFollow(p, 0) || (!onNewLine(p) && p.starts[p.pos] === prevEnd(p)))) parseNamed(p, args);
    const options = p.k === T.With && peek(p, 1) === T.LBrace ? parseOptions(p) : undefined;
    return {
        kind: "stage",
        range: { start: call.range.start, end: prevEnd(p) },
        call,
        ...(method === undefined ? {} : { method }),
        args,
        ...(options === undefined || options.length === 0 ? {} : { options }),
    };
}

/** Whether the bracket `ahead` holds arguments by name, or nothing. */
function namesFollow(p: State, ahead: number): boolean {
    const first = peek(p, ahead + 1);
    return first === T.RParen || ((isWord(first) || first === T.String) && peek(p, ahead + 2) === T.Colon);
}

function startsLiteral(p: State): boolean {
    return (p.k >= T.Number && p.k <= T.LBrace) || p.k === T.LBracket || p.k === T.Minus;
}

function startsArgument(p: State): boolean {
    if (!isWord(p.k)) return startsLiteral(p);
    return !onNewLine(p) && p.k !== T.As && !(p.k === T.With && peek(p, 1) === T.LBrace);
}

function parseArgument(p: State): StageArg {
    const from = start(p);
    const read = parseValue(p);
    return { range: { start: from, end: prevEnd(p) }, ...read };
}

/** A literal or a name, without an operator: what follows may be `>=>`. */
function parseValue(p: State): Pick<StageArg, "value" | "duration"> {
    p.height = 1;
    if (p.k === T.Number || p.k === T.Quantity) return parseAmount(p);
    if (p.k === T.String || p.k === T.Block) return { value: parseString(p) };
    if (p.k === T.LBracket) return { value: parseList(p) };
    if (p.k === T.LBrace) return { value: parseObject(p) };
    const from = start(p);
    if (p.k === T.Minus) {
        advance(p);
        if (p.k !== T.Number && p.k !== T.Quantity) {
            expected(p, "a number after `-`");
            return { value: missing(p) };
        }
        const value = parseNumber(p);
        return { value: { kind: "unary", range: { start: from, end: value.range.end }, op: "-", value } };
    }
    const range = tokenRange(p, p.pos);
    const { k } = p;
    advance(p);
    if (k === T.True || k === T.False) return { value: { kind: "bool", range, value: k === T.True } };
    if (k === T.None) return { value: { kind: "none", range } };
    const object: Expr = { kind: "ident", range, name: p.text.slice(range.start, range.end) };
    if (p.k !== T.Dot || onNewLine(p)) return { value: object };
    advance(p);
    const name = expectName(p, "the name of a method after the dot");
    return { value: { kind: "member", range: { start: from, end: name.range.end }, object, name, safe: false } };
}

/** A number, or a time: `30s`, `2 min`. `named`: an argument does not follow it, so that the word after it is its unit. */
function parseAmount(p: State, named = false): Pick<StageArg, "value" | "duration"> {
    const { digits, suffix } = quantity(tokenText(p));
    const spaced = suffix === "" && isWord(peek(p, 1)) && !lineBreakBefore(p, 1) ? tokenText(p, p.pos + 1) : "";
    const apart = Object.hasOwn(DURATION_UNITS, spaced) || (named && timeMeant(digits, spaced) !== null);
    const unit = apart ? spaced : suffix;
    const range = { start: start(p), end: apart ? (p.ends[p.pos + 1] as number) : end(p) };
    if (!Object.hasOwn(DURATION_UNITS, unit)) {
        if (!apart && !/^(?!e\d|k$)[a-z]+$/i.test(suffix)) return { value: parseNumber(p) };
        noUnitOfTime(p, digits, unit, range);
    }
    jump(p, p.pos + (apart ? 2 : 1));
    const milliseconds = Number(digits) * (DURATION_UNITS[unit] ?? 1);
    const text = digits + unit;
    return { value: { kind: "number", range, value: milliseconds, text }, duration: { range, text, milliseconds } };
}

/** `(question: "…", max_rounds: 3)`. */
function parseNamed(p: State, args: StageArg[]): void {
    const open = p.pos;
    const named = namesFollow(p, 0);
    advance(p);
    if (!named) {
        const close = Math.max(open, p.tokens.match[open] as number);
        const [opening, closing] = [tokenRange(p, open), tokenRange(p, close)];
        const fixes = [
            {
                title: "Leave the brackets out",
                safe: true,
                edits: [
                    { range: opening, text: " " },
                    { range: closing, text: "" },
                ],
            },
        ];
        const range = { start: opening.start, end: closing.end };
        const single = close === p.pos + 1;
        const hint = 'Write `read "a.md"` or `read(path: "a.md")`.';
        report(p, "SYNTAX", "Arguments in brackets have names.", range, hint, single ? fixes : undefined);
        while (startsArgument(p)) {
            args.push(parseArgument(p));
            take(p, T.Comma);
        }
        if ((p.tokens.match[open] as number) > p.pos) jump(p, p.tokens.match[open] as number);
    } else if (p.k !== T.RParen) {
        for (const { key, ...rest } of parseEntries(p, open, T.RParen)) args.push({ ...rest, name: key });
    }
    closed(p, open, T.RParen);
}

/** `with { timeout: 30s, retries: 2 }`. */
function parseOptions(p: State): GenerateOption[] {
    advance(p);
    const open = p.pos;
    if (!enter(p)) return [];
    advance(p);
    const options = p.k === T.RBrace ? [] : parseEntries(p, open, T.RBrace);
    closed(p, open, T.RBrace);
    leave(p);
    return options;
}

/** `timeout: 30s, retries: 2`. */
function parseEntries(p: State, open: number, close: number): GenerateOption[] {
    const entries: GenerateOption[] = [];
    do {
        const head = parseKey(p);
        if (head === undefined) continue;
        const read = p.k === T.Number || p.k === T.Quantity ? parseAmount(p, true) : { value: parseExpr(p) };
        entries.push({ range: { start: head.key.range.start, end: prevEnd(p) }, key: head.key, ...read });
    } while (nextEntry(p, open, close));
    return entries;
}

/** After an entry: a comma or a line break separates it from the next. */
function nextEntry(p: State, open: number, close: number): boolean {
    if (onNewLine(p) && (isWord(p.k) || p.k === T.String) && peek(p, 1) === T.Colon) return true;
    return separated(p, open, close, false);
}
