/**
 * The reader's state and its small moves: looking at tokens, reporting, nesting, names that are bound.
 *
 * Boundary: knows tokens, not the grammar.
 *
 * STA1: nothing here or above it throws; every loop of the parser moves forward or ends.
 * STA2: at one token at most one error is reported, so that one mistake is one message.
 * STA3: no tree is deeper than `MAX_NESTING` brackets, blocks and signs plus `MAX_CHAIN` operators.
 */
import { fix } from "../../text/fix.ts";
import type { Diagnostic, Fix } from "../../diagnostics/diagnostic.ts";
import type { Range, Source } from "../../text/source.ts";
import { SYNTAX_CODES, type SyntaxCodeName } from "../codes.ts";
import { withoutHyphens } from "../hyphens.ts";
import { MAX_ERRORS, type Tokens } from "../lexer.ts";
import { SYMBOLS, T } from "../tokens.ts";
import type { Block, Expr, Func, Missing, Name, Stmt } from "../tree.ts";

export const MAX_NESTING = 256;
export const MAX_CHAIN = 1000;

/** The present expression may end a statement: a `(` or `[` on a new line begins the next one (D6). */
export const LINE_ENDS = 1;
/** The present expression stands after `use`: `< 2k` is the old spelling of its budget, and so may `< 10` be. */
export const OLD_BUDGET = 2;
/** Among the fields of a contract, where `[` can only belong to the `list` before it. */
export const FIELDS = 4;

/** What the parts of the grammar need of one another, in a ring; `parse.ts` gives it. */
export interface Grammar {
    readonly expr: (p: State) => Expr;
    readonly fallback: (p: State) => Expr;
    readonly block: (p: State, what: string) => Block;
    readonly statement: (p: State) => Stmt | undefined;
    readonly func: (p: State, given?: Name) => Func;
}

export interface State {
    readonly grammar: Grammar;
    readonly src: Source;
    readonly text: string;
    readonly tokens: Tokens;
    readonly kinds: Uint8Array;
    readonly starts: Int32Array;
    readonly ends: Int32Array;
    readonly diagnostics: Diagnostic[];
    /** Index of the present token. */
    pos: number;
    /** Kind of the present token. */
    k: number;
    /** `LINE_ENDS`, `OLD_BUDGET`. */
    mode: number;
    depth: number;
    /** Height of the node read last. */
    height: number;
    tooDeep: boolean;
    errors: number;
    /** Token of the last error. */
    errorAt: number;
    /** A separator was missing before the present element, so that a further one after it, on the same line, is the same mistake. */
    run: boolean;
    /** Where the statement, line of an agent or declaration begins that is being read. */
    statement: number;
    /** For each error: from the beginning of its statement to its own end. */
    readonly damaged: { readonly start: number; end: number }[];
    /** Reading has been given up: say nothing more. */
    quiet: boolean;
    /** Bit per word (from `BOUND_FIRST`) that is a variable in scope. */
    bound: number;
    /** The same for names declared anywhere at top level, -1 while not looked for. */
    declared: number;
    /** Token at which the function begins that is read. */
    func: number;
    /** Names that the function has given to something, up to the token `until`; made when first asked for. */
    given: { readonly func: number; until: number; readonly names: Set<string> } | null;
    /** AgentScript of today refuses the file, for an earlier spelling that was met: `use x < 10` bounds an item in it. */
    old: boolean;
    /** Known before: the file is read again. */
    readonly isOld: boolean;
    /** `use x < 10` was read as a comparison. */
    compares: boolean;
    /** Imported texts, and parameters of the present function whose contract takes no number. */
    noNumbers: ReadonlySet<string>;
    /** Names that are given a value anew; null: not looked for yet. */
    givenAnew: ReadonlySet<string> | null;
    /** Bodies of `if` and of `try` that are being read: an `else` or a `catch` would belong to the innermost. */
    ifs: number;
    tries: number;
    /** Words of other languages that were met: whether the file uses them as such (`foreign.ts`). */
    readonly foreign: Map<string, boolean>;
}

export function newState(src: Source, tokens: Tokens, grammar: Grammar, isOld = false): State {
    return {
        grammar,
        src,
        text: src.text,
        tokens,
        kinds: tokens.kind,
        starts: tokens.start,
        ends: tokens.end,
        diagnostics: [],
        pos: 0,
        k: tokens.kind[0] as number,
        mode: 0,
        depth: 0,
        height: 0,
        tooDeep: false,
        errors: 0,
        errorAt: -1,
        run: false,
        statement: 0,
        damaged: [],
        quiet: false,
        bound: 0,
        old: isOld,
        isOld,
        compares: false,
        noNumbers: new Set(),
        givenAnew: null,
        foreign: new Map(),
        declared: -1,
        func: 0,
        given: null,
        ifs: 0,
        tries: 0,
    };
}

// ---- the ring ----------------------------------------------------------------------------------------------------

export function parseExpr(p: State): Expr {
    return p.grammar.expr(p);
}

/** The literal behind `=`. */
export function parseDefault(p: State): Expr {
    return p.grammar.fallback(p);
}

/** `what`: how it is called where it is missing. */
export function parseBlock(p: State, what: string): Block {
    return p.grammar.block(p, what);
}

export function parseStatement(p: State): Stmt | undefined {
    return p.grammar.statement(p);
}

export function parseFunc(p: State, given?: Name): Func {
    return p.grammar.func(p, given);
}

// ---- tokens ------------------------------------------------------------------------------------------------------

export function advance(p: State): void {
    if (p.k !== T.EOF) p.k = p.kinds[++p.pos] as number;
}

export function jump(p: State, index: number): void {
    p.pos = index;
    p.k = p.kinds[index] as number;
}

/** Kind of the token `ahead` of the present one; `EOF` past the end. */
export function peek(p: State, ahead: number): number {
    const index = p.pos + ahead;
    return index < p.tokens.count ? (p.kinds[index] as number) : T.EOF;
}

/** Past the present token, or past the bracket that it opens; `limit`: no further than this. */
export function skip(p: State, limit = p.tokens.count): void {
    const partner = p.tokens.match[p.pos] as number;
    if (partner > p.pos && partner < limit) jump(p, partner + 1);
    else advance(p);
}

export function start(p: State): number {
    return p.starts[p.pos] as number;
}

/** End of the present token. */
export function end(p: State): number {
    return p.ends[p.pos] as number;
}

/** End of the token before the present one. */
export function prevEnd(p: State): number {
    return p.pos === 0 ? 0 : (p.ends[p.pos - 1] as number);
}

export function onNewLine(p: State): boolean {
    return p.tokens.newline[p.pos] === 1;
}

/** Whether a line break stands before the token `ahead` of the present one. */
export function lineBreakBefore(p: State, ahead: number): boolean {
    const index = p.pos + ahead;
    return index >= p.tokens.count || p.tokens.newline[index] === 1;
}

export function isWord(k: number): boolean {
    return k >= T.Word;
}

export function tokenRange(p: State, index: number): Range {
    return { start: p.starts[index] as number, end: p.ends[index] as number };
}

export function tokenText(p: State, index = p.pos): string {
    return p.text.slice(p.starts[index] as number, p.ends[index] as number);
}

/** A number with what is written on it: `200` and `k` of `200k`. */
export function quantity(text: string): { readonly digits: string; readonly suffix: string } {
    const digits = /^[0-9.]*/.exec(text)?.[0] ?? "";
    return { digits, suffix: text.slice(digits.length) };
}

/** The present word, or number, as a name. */
export function takeName(p: State): Name {
    const from = p.starts[p.pos] as number;
    const to = p.ends[p.pos] as number;
    advance(p);
    return { range: { start: from, end: to }, text: p.text.slice(from, to) };
}

/** A name is wanted here; keywords are names too. */
export function expectName(p: State, what: string, hint?: string): Name {
    if (p.k >= T.Word) return takeName(p);
    expected(p, what, hint);
    return { range: here(p), text: "" };
}

/** Consumes the token if it is of this kind. */
export function take(p: State, kind: number): boolean {
    if (p.k !== kind) return false;
    advance(p);
    return true;
}

/** An empty range after the token before. */
export function here(p: State): Range {
    const at = Math.min(prevEnd(p), start(p));
    return { start: at, end: at };
}

export function missing(p: State): Missing {
    p.height = 1;
    return { kind: "missing", range: here(p) };
}

// ---- reports -----------------------------------------------------------------------------------------------------

/** Why so many: they are the parts of a diagnostic, of which most callers give four. */
export function report(p: State, code: SyntaxCodeName, message: string, range: Range, hint?: string, fixes?: readonly Fix[]): void {
    const severity = SYNTAX_CODES[code].severity;
    if (severity === "error") {
        if (p.errorAt === p.pos && code === "SYNTAX") return;
        p.errorAt = p.pos;
        p.damaged.push({ start: Math.min(p.statement, range.start), end: range.end });
    }
    if (p.quiet) return;
    p.diagnostics.push({ code, severity, message, file: p.src.file, range, hint, fixes });
    if (severity === "error" && ++p.errors > MAX_ERRORS) giveUp(p);
}

/** An earlier spelling with the edits that write it as it is written now. */
export function oldSpelling(p: State, message: string, range: Range, title: string, edits: Fix["edits"]): void {
    p.old = true;
    const hint = `${title}; \`remit fmt --fix\` does it.`;
    report(p, "OLD_SPELLING", message, range, hint, [{ title, safe: true, edits }]);
}

/** What stands at the present token, for "found …". */
function describe(p: State): string {
    const kind = p.k;
    // Before the end of the file, an expression in a text in backticks ends.
    if (kind === T.EOF) return start(p) < p.text.length ? "`}`" : "the end of the file";
    if (kind === T.String || kind === T.Block) return "a string";
    const text = tokenText(p);
    if (kind === T.Number || kind === T.Quantity) return `the number \`${cut(text)}\``;
    return `\`${kind < T.Word ? SYMBOLS[kind] : cut(text)}\``;
}

function cut(text: string): string {
    return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/**
 * `what` was expected at the present token. Where that begins a line, the place is the end of the line before it, which lacks
 * something; `begins`: unless what is expected would begin here, so that the token itself is wrong.
 */
export function expected(p: State, what: string, hint?: string, fixes?: readonly Fix[], begins = false): void {
    const range = p.k === T.EOF || (onNewLine(p) && !begins) ? here(p) : tokenRange(p, p.pos);
    const name = p.k === T.Minus ? withoutHyphens(p.text, start(p)) : null;
    const more = name === null ? hint : `A name holds no hyphen: write \`${name}\`, wherever it stands.`;
    report(p, "SYNTAX", `Expected ${what}, found ${describe(p)}.`, range, more, fixes);
}

/** Reports the closing bracket at the present token, and goes past it. */
export function closesNothing(p: State, hint: string): void {
    report(p, "SYNTAX", `This \`${SYMBOLS[p.k]}\` closes nothing.`, tokenRange(p, p.pos), hint);
    advance(p);
}

/** What is reported from here on belongs to a statement, or a line of an agent, that begins at the present token. Gives the one around. */
export function beginStatement(p: State): number {
    const outer = p.statement;
    p.statement = start(p);
    return outer;
}

/** `whole`: nothing inside it was a statement of its own, so that an error anywhere in it casts doubt on all of it. */
export function endStatement(p: State, outer: number, whole: boolean): void {
    if (whole)
        for (let i = p.damaged.length - 1; i >= 0; i--) {
            const one = p.damaged[i] as State["damaged"][number];
            if (one.start < p.statement) break;
            if (one.start === p.statement) one.end = Math.max(one.end, prevEnd(p));
        }
    p.statement = outer;
}

export function insertion(title: string, at: number, text: string, safe = true): readonly Fix[] {
    return [fix(title, { start: at, end: at }, text, safe)];
}

/** Reads nothing more and says nothing more. */
export function giveUp(p: State): void {
    p.quiet = true;
    jump(p, p.tokens.count - 1);
}

// ---- nesting -----------------------------------------------------------------------------------------------------

/**
 * One level deeper. False: too deep; the error has been reported and the bracket at the present token, if there is one, skipped
 * whole.
 */
export function enter(p: State): boolean {
    if (p.depth < MAX_NESTING) {
        p.depth++;
        return true;
    }
    reportDepth(p, `Brackets, blocks and signs may stand ${MAX_NESTING} deep inside one another, not more.`);
    const partner = p.tokens.match[p.pos] as number;
    if (partner > p.pos) jump(p, partner + 1);
    else giveUp(p);
    return false;
}

export function leave(p: State): void {
    p.depth--;
}

/** Whether a chain of operators, members or calls that is `height` high may grow by one. */
export function chainMayGrow(p: State, height: number): boolean {
    if (height < MAX_CHAIN) return true;
    reportDepth(p, `A chain of operators, members and calls may be ${MAX_CHAIN} long, not more.`);
    return false;
}

function reportDepth(p: State, message: string): void {
    if (p.tooDeep) return;
    p.tooDeep = true;
    report(p, "TOO_DEEP", message, tokenRange(p, p.pos), "Give the inner parts names of their own.");
}

// ---- names that are bound ----------------------------------------------------------------------------------------

// Words with a second reading where AgentScript reads a name. A name that is bound in scope stays a name ("new words never take old
// ones away"), so the reader follows which of these few are bound.
const BOUND: readonly number[] = [
    T.Break,
    T.Continue,
    T.Raise,
    T.Try,
    T.If,
    T.Else,
    T.Context,
    T.Image,
    T.Tokens,
    T.Keep,
    T.Priority,
    T.With,
    T.Delegate,
    T.Spend,
    T.Endorse,
    T.Define,
    T.Debugger,
    T.Catch,
    T.Func,
    T.Agent,
    T.Main,
    T.Import,
    T.Return,
    T.Use,
    T.Repeat,
    T.For,
    T.Loop,
];
const BIT = new Int32Array(128);
BOUND.forEach((kind, index) => {
    BIT[kind] = 1 << index;
});

/** Marks the name of a word token of this kind as bound in the present scope. */
export function bind(p: State, kind: number): void {
    p.bound |= BIT[kind] as number;
}

/** Whether the word of this kind is a variable, parameter, import, agent or function in scope. */
export function isBound(p: State, kind: number): boolean {
    const bit = BIT[kind] as number;
    if ((p.bound & bit) !== 0) return true;
    if (p.declared < 0) p.declared = declaredWords(p);
    return (p.declared & bit) !== 0;
}

/** Names of imports, agents, functions, shapes and blocks of the whole file: they are visible before they are written. */
function declaredWords(p: State): number {
    let bits = 0;
    let depth = 0;
    let inAgent = false;
    const { kinds } = p;
    for (let i = 0; i + 2 < p.tokens.count; i++) {
        const kind = kinds[i] as number;
        if (kind === T.LBrace) {
            // Functions stand at top level and one step inside an agent.
            if (depth === 0) inAgent = kinds[i - 1] === T.Agent || kinds[i - 2] === T.Agent;
            depth++;
        } else if (kind === T.RBrace) depth--;
        else if (kind === T.LParen || kind === T.LBracket) i = Math.max(i, p.tokens.match[i] as number);
        else if (kind === T.Func && (depth === 0 || (depth === 1 && inAgent)) && kinds[i + 2] === T.LParen)
            bits |= BIT[kinds[i + 1] as number] as number;
        else if ((kind === T.Agent || kind === T.Shape) && depth === 0) bits |= BIT[kinds[i + 1] as number] as number;
        else if (kind === T.As && depth === 0) bits |= BIT[kinds[i + 1] as number] as number;
        else if (kind === T.Import && depth === 0) bits |= BIT[kinds[i + 2] as number] as number;
    }
    return bits;
}

/** Whether the function has given this name to something before the present token: a parameter, a variable, an item, a failure, or a file. */
export function isGiven(p: State, name: string): boolean {
    if (p.given === null || p.given.func !== p.func || p.given.until > p.pos)
        p.given = { func: p.func, until: p.func, names: fileNames(p) };
    const { given, kinds } = p;
    for (; given.until < p.pos; given.until++) {
        const i = given.until;
        const next = kinds[i + 1] as number;
        if (!isWord(kinds[i] as number)) {
            // Parameters of the function, and of lambdas.
            const partner = p.tokens.match[i] as number;
            if (kinds[i] !== T.LParen || (i > p.func + 3 && kinds[partner + 1] !== T.FatArrow)) continue;
            for (let at = i + 1; at < partner && at < p.pos; at++) if (isWord(kinds[at] as number)) given.names.add(tokenText(p, at));
        } else if (next === T.Assign || next === T.FatArrow || kinds[i - 1] === T.For || kinds[i - 1] === T.Catch)
            given.names.add(tokenText(p, i));
    }
    return given.names.has(name);
}

function fileNames(p: State): Set<string> {
    const names = new Set<string>();
    for (let i = 0; i + 3 < p.tokens.count; i++)
        if (p.kinds[i] === T.Import && p.kinds[i + 3] === T.From && tokenText(p, i + 1) === "file") names.add(tokenText(p, i + 2));
    return names;
}
