/**
 * Ranges of numbers in a bound: `0..500`, `-1..1, 10..20`.
 *
 * Boundary: from the argument's colon on. The bounds around them are in `authority.ts`.
 */
import { rangeText } from "../../authority/range.ts";
import { fix } from "../../text/fix.ts";
import { T } from "../tokens.ts";
import type { Name, StringLit } from "../tree.ts";
import { advance, expected, peek, prevEnd, report, skip, type State, start, take, tokenText } from "./state.ts";

/** `in amount: (0; 60)`: one mistake, whatever stands in the brackets. */
export function inBrackets(p: State, { text }: Name): void {
    const from = start(p);
    skip(p);
    const range = { start: from, end: prevEnd(p) };
    const ends = p.text.slice(range.start, range.end).match(/-?\d+(?:\.\d+)?/g) ?? [];
    const write = ends.length === 2 ? ends.join("..") : null;
    const fixes = write === null ? undefined : [fix(`Write \`${write}\``, range, write)];
    report(p, "SYNTAX", "A range stands in no brackets.", range, `Write both ends: \`in ${text}: ${write ?? "0..500"}\`.`, fixes);
}

export function beginsNumber(p: State, ahead = 0): boolean {
    const kind = peek(p, ahead);
    return kind === T.Number || (kind === T.Minus && peek(p, ahead + 1) === T.Number);
}

/** `0..500`, `-1..1, 10..20`: ranges with commas between them. */
export function parseRanges(p: State): StringLit[] {
    const out: StringLit[] = [];
    for (;;) {
        const from = start(p);
        const low = parseEnd(p);
        const dots = take(p, T.Dot) && take(p, T.Dot);
        if (!dots || !beginsNumber(p)) {
            expected(p, "the other end of the range", "Write both ends: `in amount: 0..500`.");
            return out;
        }
        const value = rangeText(low, parseEnd(p));
        out.push({ kind: "string", range: { start: from, end: prevEnd(p) }, value, style: "double" });
        if (p.k !== T.Comma || !beginsNumber(p, 1)) return out;
        advance(p);
    }
}

function parseEnd(p: State): number {
    const sign = take(p, T.Minus) ? -1 : 1;
    // `-0` is 0.
    const value = sign * Number(tokenText(p)) + 0;
    advance(p);
    return value;
}
