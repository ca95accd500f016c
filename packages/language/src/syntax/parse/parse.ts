/**
 * `parse`: text to tree and diagnostics.
 *
 * Boundary: reads one file; nothing here knows names, contracts or other files beyond what the grammar needs.
 *
 * PS1: never throws, whatever the text. PS2: takes time linear in the text.
 */
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Source } from "../../text/source.ts";
import { lex, MAX_ERRORS } from "../lexer.ts";
import type { File } from "../tree.ts";
import { parseFunc, parseItems } from "./declarations.ts";
import { parseDefault, parseExpr } from "./expressions.ts";
import { S_EXPRESSION, sExpressionAt } from "./joins.ts";
import { type Grammar, newState } from "./state.ts";
import { parseBlock, parseStatement } from "./statements.ts";

const GRAMMAR: Grammar = { expr: parseExpr, fallback: parseDefault, block: parseBlock, statement: parseStatement, func: parseFunc };

/**
 * Reads one source. The tree holds all that could be read; diagnostics are in source order. A file with an error among them has
 * `Missing` nodes or skipped text and must not be lowered.
 */
export function parse(src: Source): File {
    const at = sExpressionAt(src.text);
    if (at >= 0) return unread(src, at);
    const { tokens, comments, diagnostics } = lex(src);
    let p = newState(src, tokens, GRAMMAR);
    let items = parseItems(p);
    if (p.old && p.compares) {
        p = newState(src, tokens, GRAMMAR, true);
        items = parseItems(p);
    }
    const all = merged(src, diagnostics, p.diagnostics);
    const lexical = diagnostics.flatMap(({ severity, range }) => (severity === "error" ? [range] : []));
    // Where the braces do not add up, it cannot be told what stands in what.
    if (!tokens.balanced) p.damaged.push({ start: 0, end: src.text.length });
    const damaged = lexical.length === 0 ? p.damaged : [...p.damaged, ...lexical];
    return { source: src, items, comments, diagnostics: all, ...(damaged.length === 0 ? {} : { damaged }) };
}

/** A program in the s-expressions of the original: that is all that is said of it. */
function unread(src: Source, at: number): File {
    const whole = { start: 0, end: src.text.length };
    const { message, hint } = S_EXPRESSION;
    const one: Diagnostic = { code: "SYNTAX", severity: "error", message, file: src.file, range: { start: at, end: at + 1 }, hint };
    return { source: src, items: [], comments: [], diagnostics: [one], damaged: [whole] };
}

function lineEnd(text: string, from: number): number {
    const at = text.slice(from).search(/[\n\r]/);
    return at < 0 ? text.length : from + at;
}

function merged(src: Source, lexical: readonly Diagnostic[], syntactic: readonly Diagnostic[]): readonly Diagnostic[] {
    // What one error covers is not told again.
    const covered = ({ range: { start, end } }: Diagnostic): boolean =>
        syntactic.some(({ severity, range }) => severity === "error" && range.start <= start && end <= range.end);
    // The rest of the line was read as the text of a string: what is missing there may stand in it.
    const cut = lexical.flatMap(({ code, range }) => (code === "UNTERMINATED_STRING" ? [lineEnd(src.text, range.start)] : []));
    const told = cut.length === 0 ? syntactic : syntactic.filter(({ code, range }) => code !== "SYNTAX" || !cut.includes(range.start));
    const all = lexical.length === 0 ? told : [...lexical.filter((one) => !covered(one)), ...told];
    const sorted = all.length < 2 ? all : all.toSorted((a, b) => a.range.start - b.range.start);
    if (sorted.length <= MAX_ERRORS) return sorted;
    let errors = 0;
    for (let i = 0; i < sorted.length; i++) {
        const { severity, range } = sorted[i] as Diagnostic;
        if (severity !== "error" || ++errors <= MAX_ERRORS) continue;
        const message = `Reading stopped after ${MAX_ERRORS} errors.`;
        return [...sorted.slice(0, i), { code: "TOO_MANY_ERRORS", severity: "error", message, file: src.file, range }];
    }
    return sorted;
}
