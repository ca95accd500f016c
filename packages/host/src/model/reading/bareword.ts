/**
 * Values without quotes: numbers, the three words of JSON, and anything else up to where it can end.
 *
 * Boundary: syntax only. `true`, `false` and `null` are values; every other word is `Bare`, decided later by the contract.
 *
 * BW1: an integer that a double does not give back digit for digit is a problem, not a rounded number.
 */
import { Bare, type Cursor, stop, type Value } from "./loose.ts";

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const MAX_BARE = 4000;

/** A JSON number, or `undefined` (and nothing read) where the token is something else that begins like one. */
export function readNumber(c: Cursor): number | undefined {
    const first = c.s.charCodeAt(c.i);
    if (first !== 45 && (first < 48 || first > 57)) return undefined;
    NUMBER.lastIndex = c.i;
    const found = NUMBER.exec(c.s);
    if (found === null) return undefined;
    const end = c.i + found[0].length;
    if (!delimited(c.s, end)) return undefined;
    const value = Number(found[0]);
    if (!holds(found[0], value))
        c.problems.push({ kind: "inexact", message: `the number ${found[0].slice(0, 40)} cannot be held exactly` });
    c.i = end;
    if (end >= c.s.length) c.closable = false;
    return value;
}

/** A number ends where a separator, a bracket, a comment, the end, or (after a space) the next name follows. */
function delimited(s: string, at: number): boolean {
    let i = at;
    while (s[i] === " " || s[i] === "\t" || s[i] === "\r") i++;
    const ch = s[i];
    if (ch === undefined || ",}]);\n，｝］".includes(ch)) return true;
    if (ch === "/") return s[i + 1] === "/" || s[i + 1] === "*";
    if (i === at) return false;
    if (ch === '"' || ch === "#" || (ch >= "0" && ch <= "9") || ch === "-") return true;
    return /^[\p{L}_$][\p{L}\p{N}_$]{0,60}\s*:/u.test(s.slice(i, i + 64));
}

/** A word or several. In an object a comma ends it only where the next name or the end of the line or object follows. */
export function readBare(c: Cursor, inObject: boolean): Value | undefined {
    const { s } = c;
    const start = c.i;
    let i = start;
    for (;;) {
        const ch = s[i];
        if (ch === undefined || ch === "\n" || ch === "}" || ch === "]" || ch === ")" || ch === "｝" || ch === "］") break;
        if ((ch === "," || ch === "，" || ch === ";") && (!inObject || separates(s, i + 1))) break;
        if (ch === "/" && s[i - 1] === " " && (s[i + 1] === "/" || s[i + 1] === "*")) break;
        if (ch === '"' || ch === "{" || ch === "[" || ch === "“" || ch === "`" || i - start > MAX_BARE) {
            c.i = i;
            return stop(c, "a value without quotes that does not end");
        }
        i++;
    }
    const text = s.slice(start, i).trim();
    c.i = i;
    if (i >= s.length && text !== "true" && text !== "false" && text !== "null") {
        c.cut = true;
        c.closable = false;
    }
    if (text === "") return c.cut ? null : stop(c, "a value was expected");
    if (text === "true") return true;
    if (text === "false") return false;
    if (text === "null") return null;
    if (/^(?:\.\.\.|…)$/.test(text) || text.endsWith("...") || text.endsWith("…"))
        c.problems.push({ kind: "elided", message: "something was left out ('...')" });
    return new Bare(text);
}

function separates(s: string, at: number): boolean {
    const rest = s.slice(at, at + 80);
    return /^\s*(?:["'“}]|\n|$)/.test(rest) || /^\s*[\p{L}_$][\p{L}\p{N}_$\- ]{0,60}[:：=]/u.test(rest);
}

/** The number is finite, and, written as an integer, prints as it was written. */
export function holds(text: string, value: number): boolean {
    if (!Number.isFinite(value)) return false;
    return !/^-?\d+$/.test(text) || text.length < 16 || String(value) === text;
}
