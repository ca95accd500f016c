/**
 * A text in backticks: a sum of texts, of which each expression in it is one as `text(x)` gives it.
 *
 * Boundary: from one token to a tree. An expression inside is read by the grammar, over the tokens of its own piece.
 *
 * TPP1: the tree is that of ordinary operators, marked as written so (`template`), so that whatever goes through trees goes through it.
 */
import { lexPart } from "../lexer.ts";
import { decodeEscapes } from "../strings.ts";
import { type Piece, piecesOf } from "../templates.ts";
import { T } from "../tokens.ts";
import type { Binary, Expr, StringLit } from "../tree.ts";
import { advance, chainMayGrow, enter, expected, leave, missing, newState, parseExpr, report, type State, tokenRange } from "./state.ts";

export function isTemplate(p: State): boolean {
    return p.k === T.String && p.text.charCodeAt(p.starts[p.pos] as number) === 96;
}

/** At a token that is one. */
export function parseTemplate(p: State): Expr {
    const range = tokenRange(p, p.pos);
    const [first, ...pieces] = piecesOf(p.text, range);
    if (first === undefined) {
        // It has been reported.
        advance(p);
        return { kind: "string", range, value: "", style: "double" };
    }
    if (!enter(p)) return missing(p);
    let made: Expr = plain(p, first);
    let height = 1;
    for (const { kind, start } of pieces) if (kind === "hole" && p.text.charCodeAt(start - 2) === DOLLAR) dollar(p, start - 2);
    for (const piece of pieces) {
        if (piece.kind === "text" && piece.start === piece.end) continue;
        if (!chainMayGrow(p, height)) break;
        const right = piece.kind === "text" ? plain(p, piece) : hole(p, piece);
        height = Math.max(height, piece.kind === "text" ? 1 : p.height + 1) + 1;
        const node: Binary = { kind: "binary", range: { start: range.start, end: piece.end }, op: "+", left: made, right, template: true };
        made = node;
    }
    leave(p);
    advance(p);
    p.height = height;
    return pieces.length === 0 ? made : { ...made, range };
}

const DOLLAR = 36;

/** As a template of JavaScript is written. */
function dollar(p: State, at: number): void {
    const range = { start: at, end: at + 1 };
    const fix = { title: "leave the `$` out", safe: false, edits: [{ range, text: "" }] };
    const hint = 'Leave the `$` out. Where a dollar sign is meant: `{"$"}{x}`.';
    report(p, "DOLLAR_BRACE", "This `$` is part of the text: a value in backticks is written `{x}`.", range, hint, [fix]);
}

function plain(p: State, { start, end }: Piece): StringLit {
    return { kind: "string", range: { start, end }, value: decodeEscapes(p.text.slice(start, end)), style: "double" };
}

function hole(p: State, { start, end }: Piece): Expr {
    const { tokens, diagnostics } = lexPart(p.src, start, end);
    const range = { start, end };
    if (tokens.count === 1 && diagnostics.length === 0) {
        report(p, "SYNTAX", "An expression stands between the braces.", { start: start - 1, end: end + 1 }, "`\\{` is a brace.");
        return { kind: "missing", range };
    }
    const inner: State = {
        ...newState(p.src, tokens, p.grammar),
        ...{ diagnostics: p.diagnostics, damaged: p.damaged, foreign: p.foreign, errors: p.errors, quiet: p.quiet },
        ...{ depth: p.depth, tooDeep: p.tooDeep, bound: p.bound, declared: Math.max(0, p.declared), statement: p.statement },
        given: { func: 0, until: 0, names: new Set(p.given?.names) },
    };
    p.diagnostics.push(...diagnostics);
    const value = parseExpr(inner);
    if (inner.k !== T.EOF) expected(inner, "`}`", "One expression stands between the braces; `\\{` is a brace.");
    p.errors = inner.errors;
    p.quiet = inner.quiet;
    p.tooDeep = inner.tooDeep;
    p.height = inner.height;
    return { kind: "unary", range, op: "text", value };
}
