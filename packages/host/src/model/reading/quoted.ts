/**
 * A quoted text as a model writes it: any quotes, raw line breaks, unescaped quotes inside, invalid escapes.
 *
 * Boundary: from the opening quote to after the closing one. What may follow a text depends on its place alone (`key`, `value`, `item`).
 *
 * QU1: a quote that what follows shows to be inside the text is kept as text and sets `inner`, so that the caller looks for a second reading.
 * QU2: a backslash is never dropped: an escape that JSON does not have stays as written, and where one text mixes such with `\n`-like ones,
 *     which were meant cannot be told, which is a problem.
 */
import type { Cursor } from "./loose.ts";

/** Closing quotes of an opening one. */
const CLOSERS: { readonly [open: string]: string } = { '"': '"', "'": "'", "`": "`", "“": '”"“', "”": '”"', "‘": "’'‘" };
const ESCAPES: { readonly [letter: string]: string } = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", '"': '"', "\\": "\\", "/": "/" };

export type Place = "key" | "value" | "item";

export function readString(c: Cursor, place: Place): string | undefined {
    const { s } = c;
    const open = s[c.i] as string;
    if (open === '"' && s.startsWith('"""', c.i)) return triple(c);
    const closers = CLOSERS[open] as string;
    if (open !== '"') c.repairs.add("other quotes read as JSON's");
    let out = "";
    let from = c.i + 1;
    let i = from;
    let foreign = 0;
    let control = 0;
    let kept = 0;
    const plain = open === '"';
    for (;;) {
        if (plain) {
            // The hot loop: to the next quote, backslash or control character.
            let code = s.charCodeAt(i);
            while (code !== 34 && code !== 92 && code >= 32) code = s.charCodeAt(++i);
        }
        const ch = s[i];
        if (ch === undefined) {
            c.i = i;
            c.cut = true;
            c.closable = false;
            return out + s.slice(from, i);
        }
        if (ch === "\\") {
            out += s.slice(from, i);
            const letter = s[i + 1];
            if (letter === undefined) {
                c.i = s.length;
                c.cut = true;
                c.closable = false;
                return out;
            }
            const known = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
            if (letter === "u" && /^[0-9a-fA-F]{4}$/.test(s.slice(i + 2, i + 6))) {
                out += String.fromCharCode(Number.parseInt(s.slice(i + 2, i + 6), 16));
                i += 6;
            } else if (known !== undefined) {
                if ("ntrbf".includes(letter)) control++;
                out += known;
                i += 2;
            } else if (letter === "'" || letter === "\n") {
                c.repairs.add("escapes that JSON does not have read as meant");
                out += letter === "'" ? "'" : "";
                i += 2;
            } else {
                foreign++;
                out += `\\`;
                i += 1;
            }
            from = i;
            continue;
        }
        if (closers.includes(ch)) {
            if (ends(c, i + 1, place)) break;
            c.inner = true;
            kept++;
            c.repairs.add("quotes inside a text kept");
        } else if (ch < " ") c.repairs.add("raw line breaks in a text kept");
        i++;
    }
    c.i = i + 1;
    if (foreign > 0) {
        if (control > 0) c.problems.push({ kind: "unclear", message: "a text mixes escapes like \\n with backslashes of its own" });
        else c.repairs.add("single backslashes kept");
    }
    const text = out + s.slice(from, i);
    if (open === "`" && text.includes("${")) c.problems.push({ kind: "unclear", message: "a text in backticks holds an expression" });
    if (kept > 0 && (plain ? kept % 2 === 1 || STRUCTURE.test(text) : /'\s+'/.test(text)))
        c.problems.push({ kind: "unclear", message: "it cannot be told where a text with quotes in it ends" });
    return text;
}

/** What looks like more JSON inside a text with unescaped quotes: the text has probably swallowed its neighbours. */
const STRUCTURE = /"\s*"|["'}\]]\s*,\s*["'{]|["']\s*:\s*["'{[\d]|\{\s*["']/;

function triple(c: Cursor): string {
    const end = c.s.indexOf('"""', c.i + 3);
    c.repairs.add("triple quotes read as JSON's");
    const text = c.s.slice(c.i + 3, end < 0 ? c.s.length : end);
    c.i = end < 0 ? c.s.length : end + 3;
    if (end < 0) {
        c.cut = true;
        c.closable = false;
    }
    return text;
}

/** True where the quote before index `at` can end its text. */
function ends(c: Cursor, at: number, place: Place): boolean {
    const { s } = c;
    let i = at;
    let line = false;
    for (;;) {
        const code = s.charCodeAt(i);
        if (code === 10) line = true;
        else if (code !== 32 && code !== 9 && code !== 13 && code !== 0xa0) break;
        i++;
    }
    const ch = s[i];
    if (ch === undefined) return true;
    if (place === "key") return ch === ":" || ch === "=" || ch === "：" || (ch === "," && !c.greedy) || (ch === "}" && !c.greedy) || i > at;
    if (c.greedy) return surely(s, i, place, line);
    if (ch === "," || ch === "}" || ch === "]" || ch === "，" || ch === "｝" || ch === "］" || ch === ")" || line) return true;
    if (ch === ";" || ch === "+" || (ch === "/" && (s[i + 1] === "/" || s[i + 1] === "*")) || ch === "#") return true;
    if (place === "item" && ch === ":") return true;
    // A missing comma: another text begins after a space.
    return i > at && (ch === '"' || ch === "“") && (place === "item" || NAME.test(s.slice(i, i + 80)));
}

const NAME = /^\s*(?:"[^"\n]{1,70}"|'[^'\n]{1,70}'|“[^”\n]{1,70}”|[\p{L}_$][\p{L}\p{N}_$\- ]{0,60})\s*[:：=]/u;
const ITEM = /^\s*(?:["'“[{\]]|-?\d|true\b|false\b|null\b)/;
const AFTER = /^[}\]]\s*(?:[,}\]`<]|\n|$)/;

/** The stricter test: what follows is the next name, the next item, or the end of what encloses the text. */
function surely(s: string, i: number, place: Place, line: boolean): boolean {
    const ch = s[i] as string;
    if (ch === ",") {
        const rest = s.slice(i + 1, i + 100);
        return place === "value" ? NAME.test(rest) || /^\s*\}/.test(rest) : ITEM.test(rest);
    }
    if (ch === "}" || ch === "]") return AFTER.test(s.slice(i, i + 100)) || /^[}\]]\s+$/.test(s.slice(i, i + 100));
    return line && (place === "value" ? NAME.test(s.slice(i, i + 100)) : ITEM.test(s.slice(i, i + 100)));
}
