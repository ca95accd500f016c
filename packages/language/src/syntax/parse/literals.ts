/**
 * Strings, numbers and keys as they stand in a text.
 *
 * Boundary: one token, or a key with its colon; no expressions.
 */
import { decodeBlock, decodeQuoted } from "../strings.ts";
import { T } from "../tokens.ts";
import type { Name, NumberLit, StringLit } from "../tree.ts";
import {
    advance,
    end,
    expected,
    insertion,
    jump,
    prevEnd,
    quantity,
    report,
    type State,
    start,
    takeName,
    tokenRange,
    tokenText,
} from "./state.ts";

export function parseString(p: State): StringLit {
    const from = start(p);
    const to = end(p);
    const block = p.k === T.Block;
    if (p.text.charCodeAt(from) === 96)
        report(
            p,
            "SYNTAX",
            "Only a text that is known beforehand can stand here.",
            { start: from, end: to },
            "Write it in quotes, without values in it.",
        );
    const value = block ? decodeBlock(p.text.slice(from, to)) : decodeQuoted(p.text, from, to);
    advance(p);
    return {
        kind: "string",
        range: { start: from, end: to },
        value,
        style: block ? "block" : p.text.charCodeAt(from) === 39 ? "single" : "double",
    };
}

/** A plain number; one with letters on it is reported. */
export function parseNumber(p: State): NumberLit {
    const range = tokenRange(p, p.pos);
    const text = p.text.slice(range.start, range.end);
    let value: number;
    if (p.k === T.Quantity) {
        value = Number.parseFloat(text);
        const unit = quantity(text).suffix;
        const hint =
            unit === "k"
                ? "A unit follows `max`: `use log max 4k`. Elsewhere write the number out."
                : /^(?:e\d|x|b|o|_)/i.test(unit)
                  ? "Write the number out in decimal digits."
                  : "Units belong to budgets and time limits.";
        report(p, "INVALID_NUMBER", `Invalid number literal '${text}'.`, range, hint);
    } else value = Number(text);
    advance(p);
    return { kind: "number", range, value, text };
}

/** The key of an entry with its colon; undefined when there is none. */
export function parseKey(p: State): { key: Name; quoted: boolean } | undefined {
    let key: Name;
    const quoted = p.k === T.String;
    if (quoted) {
        const literal = parseString(p);
        key = { range: literal.range, text: literal.value };
    } else if (p.k >= T.Word) key = takeName(p);
    else {
        const hint =
            p.k === T.LBracket
                ? "A key that is computed is set by its index: `made = {}`, then `made[key] = value`."
                : p.k === T.Number || p.k === T.Quantity || p.k === T.Block
                  ? "A key is a name or a string in quotes."
                  : p.k === T.Star || p.k === T.Dot
                    ? "An object is spread with `...`: `{ ...other, key: value }`."
                    : undefined;
        expected(p, "a key", hint, undefined, true);
        return undefined;
    }
    if (p.k === T.Colon) {
        advance(p);
        return { key, quoted };
    }
    const lone = !quoted && (p.k === T.Comma || p.k === T.RBrace);
    expected(
        p,
        `\`:\` after the key \`${key.text}\``,
        undefined,
        lone ? insertion(`Write \`${key.text}: ${key.text}\``, prevEnd(p), `: ${key.text}`, false) : undefined,
    );
    if (p.k !== T.Assign) return undefined;
    advance(p);
    return { key, quoted };
}

/** An integer that is written out. */
export function parseCount(p: State, hint: string): NumberLit {
    const range = tokenRange(p, p.pos);
    const text = tokenText(p);
    if (p.k === T.Quantity) report(p, "INVALID_NUMBER", `Invalid number literal '${text}'.`, range, hint);
    if (p.k === T.Number || p.k === T.Quantity) {
        advance(p);
        return { kind: "number", range, value: Number.parseFloat(text), text };
    }
    expected(p, "a number", hint);
    // A name or a sign where the number should be: go on at the block.
    for (let i = p.pos; i < p.tokens.count && i < p.pos + 16; i++) {
        if (p.kinds[i] === T.LBrace) {
            jump(p, i);
            break;
        }
        if (i > p.pos && p.tokens.newline[i] === 1) break;
    }
    return noNumber(p);
}

export function noNumber(p: State): NumberLit {
    const at = start(p);
    return { kind: "number", range: { start: at, end: at }, value: 1, text: "1" };
}

/** `max` in place of a sign, with spaces where the sign had none. */
export function spacedMax(p: State, sign: { start: number; end: number }): string {
    const before = /\s/.test(p.text[sign.start - 1] ?? " ") ? "" : " ";
    const after = /\s/.test(p.text[sign.end] ?? " ") ? "" : " ";
    return `${before}max${after}`;
}
