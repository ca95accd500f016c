/**
 * What stands between stages: `>=>` and `<*>`, and what people write in their place.
 *
 * Boundary: the operators are several tokens without a gap; no other part of the grammar knows them.
 */
import { fix } from "../../text/fix.ts";
import { T } from "../tokens.ts";
import { advance, expected, insertion, isWord, jump, onNewLine, peek, prevEnd, report, type State, start, tokenRange } from "./state.ts";

export type Join = "pipe" | "fan";

const SIGNS: Readonly<Record<Join, string>> = { pipe: ">=>", fan: "<*>" };

/** What people write from elsewhere, as tokens; the longer first. */
const OTHERS: readonly (readonly [join: Join, ...kinds: number[]])[] = [
    ["pipe", T.Bar, T.Gt],
    ["pipe", T.Gt, T.Gt, T.Gt],
    ["pipe", T.Gt, T.Ge],
    ["pipe", T.Gt, T.Gt],
    ["pipe", T.Ge],
    ["pipe", T.Arrow],
    ["pipe", T.FatArrow],
    ["pipe", T.Bar],
    ["fan", T.Lt, T.Bar, T.Gt],
    ["fan", T.Lt, T.Gt],
    ["fan", T.Star],
];

/** The operators with a gap in them. */
const APART: readonly (readonly [join: Join, ...kinds: number[]])[] = [
    ["pipe", T.Ge, T.Gt],
    ["pipe", T.Gt, T.FatArrow],
    ["pipe", T.Gt, T.Assign, T.Gt],
    ["fan", T.Lt, T.Star, T.Gt],
];

/** Whether these tokens stand here without a gap. */
function follow(p: State, kinds: readonly number[]): boolean {
    return kinds.every((k, i) => peek(p, i) === k && (i === 0 || p.ends[p.pos + i - 1] === p.starts[p.pos + i]));
}

/** Takes the operator before the next stage. One of other languages, and one that is missing, are reported; null: the stages end here. */
export function takeJoin(p: State, open: number): Join | null {
    if (p.k === T.RParen || p.k === T.EOF) return null;
    if (follow(p, [T.Ge, T.Gt])) {
        jump(p, p.pos + 2);
        return "pipe";
    }
    if (follow(p, [T.Lt, T.Star, T.Gt])) {
        jump(p, p.pos + 3);
        return "fan";
    }
    const other = APART.find(([, ...kinds]) => kinds.every((k, i) => peek(p, i) === k)) ?? OTHERS.find(([, ...kinds]) => follow(p, kinds));
    if (other !== undefined) {
        const [join, ...kinds] = other;
        const range = { start: start(p), end: p.ends[p.pos + kinds.length - 1] as number };
        const sign = SIGNS[join];
        const fixes = [fix(`Write \`${sign}\``, range, sign, true)];
        const found = p.text.slice(range.start, range.end);
        report(p, "SYNTAX", `\`${found}\` joins no stages.`, range, `Write \`${sign}\`: ${JOINS[join]}.`, fixes);
        jump(p, p.pos + kinds.length);
        return join;
    }
    if (p.k === T.Comma) {
        report(
            p,
            "SYNTAX",
            "Stages are not separated by commas.",
            tokenRange(p, p.pos),
            `Write \`>=>\` (${JOINS.pipe}) or \`<*>\` (${JOINS.fan}).`,
        );
        advance(p);
        return "pipe";
    }
    // In a bracket that is never closed, the next declaration begins on a line of its own.
    const apart = (p.tokens.match[open] as number) < 0 && onNewLine(p);
    if (apart || !(isWord(p.k) || p.k === T.LParen) || p.k === T.As) return null;
    const fixes = insertion("Insert `>=>`", prevEnd(p), " >=>", false);
    expected(p, "`>=>`, `<*>` or `)`", `Before the next stage stands \`>=>\` (${JOINS.pipe}) or \`<*>\` (${JOINS.fan}).`, fixes);
    return "pipe";
}

const JOINS: Readonly<Record<Join, string>> = { pipe: "one after the other", fan: "side by side" };

const HEADS = /^\(\s*(?:block|script|pipe|par)(?![A-Za-z0-9_])/;
const STAGES = />=>|<\*>/;
/** White space and comments of a program in s-expressions, up to its first bracket. */
const BEFORE = /^(?:\s|(?:;|\/\/)[^\n]*(?:\n|$))*\(/;

export const S_EXPRESSION = {
    message: "Pipelines are not written as s-expressions here.",
    hint: 'Write `temporal static ( ( echo "a" <*> echo "b" ) >=> merge )`: backend and mode first, `>=>` for `pipe`, `<*>` for `par`.',
};

/** Where the first bracket of a text stands that is a program in the s-expressions of the original; -1 for any other. */
export function sExpressionAt(text: string): number {
    const before = BEFORE.exec(text);
    if (before === null) return -1;
    const at = before[0].length - 1;
    return HEADS.test(text.slice(at, at + 200)) || !STAGES.test(text) ? at : -1;
}

/** The bracket here, at the top level, is an s-expression: the first is reported, each is skipped. */
export function sExpression(p: State): boolean {
    const partner = p.tokens.match[p.pos] as number;
    const text = p.text.slice(start(p), partner > 0 ? (p.ends[partner] as number) : p.text.length);
    if (!HEADS.test(text) && STAGES.test(text)) return false;
    if (!p.foreign.has("(")) report(p, "SYNTAX", S_EXPRESSION.message, tokenRange(p, p.pos), S_EXPRESSION.hint);
    p.foreign.set("(", true);
    if (partner > p.pos) jump(p, partner + 1);
    else jump(p, p.tokens.count - 1);
    return true;
}
