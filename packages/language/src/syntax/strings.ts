/**
 * What string literals mean: escapes, and the indentation of block strings; and back again for the printer.
 *
 * Boundary: knows characters only.
 *
 * SG1: decode(quote(value)) is value, for every string of UTF-16 code units, in each of the three styles.
 */
import { fix } from "../text/fix.ts";
import type { Fix } from "../diagnostics/diagnostic.ts";
import type { SyntaxCodeName } from "./codes.ts";

type Report = (code: SyntaxCodeName, message: string, from: number, to: number, hint?: string, fixes?: readonly Fix[]) => void;

const SIMPLE: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\", '"': '"', "'": "'" };
const CODE_POINT = /^\{([0-9a-fA-F]{1,6})\}/;

/** The code point of `{…}` at `at`, or -1. */
function codePoint(text: string, at: number, to: number): number {
    const found = CODE_POINT.exec(text.slice(at, Math.min(at + 8, to)));
    const value = found === null ? -1 : Number.parseInt(found[1] as string, 16);
    return value > 0x10ffff ? -1 : value;
}

/** How other languages write a character by its code, JSON's pairs of surrogates included. */
const FOREIGN = /^\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(0)(?![0-9]))/;

/** What such an escape at `at` is here, and where it ends. */
function meantEscape(text: string, at: number, to: number): { readonly text: string; readonly end: number } | null {
    const found = FOREIGN.exec(text.slice(at, Math.min(at + 12, to)));
    if (found === null) return null;
    const [whole, high, low, ...single] = found;
    const point =
        high !== undefined && low !== undefined
            ? 0x10000 + ((Number.parseInt(high, 16) - 0xd800) << 10) + (Number.parseInt(low, 16) - 0xdc00)
            : Number.parseInt(single.find((one) => one !== undefined) as string, 16);
    return { text: `\\u{${point.toString(16).toUpperCase()}}`, end: at + whole.length };
}

/** Reports escapes between two offsets that mean nothing. `more`: characters that stand for themselves there. */
export function checkEscapes(text: string, from: number, to: number, report: Report, more = ""): void {
    for (let i = text.indexOf("\\", from); i >= 0 && i < to - 1; i = text.indexOf("\\", i + 2)) {
        const char = text[i + 1] as string;
        if (char === "u" && text[i + 2] === "{") {
            if (codePoint(text, i + 2, to) < 0) {
                report(
                    "INVALID_ESCAPE",
                    "This is not a code point.",
                    i,
                    i + 3,
                    "Write one to six hexadecimal digits up to 10FFFF: `\\u{1F600}`.",
                );
            }
        } else if (char === "\n" || char === "\r") {
            report("UNKNOWN_ESCAPE", "A backslash at the end of a line does not join lines.", i, i + 1, "Leave the backslash out.");
        } else if (!Object.hasOwn(SIMPLE, char) && !more.includes(char)) {
            const meant = meantEscape(text, i, to);
            const pair = meant !== null && meant.end - i > 6;
            const backslashes = pair ? [i, i + 6] : [i];
            const fixes: Fix[] = [
                {
                    title: "Leave the backslash out",
                    safe: true,
                    edits: backslashes.map((at) => ({ range: { start: at, end: at + 1 }, text: "" })),
                },
            ];
            if (meant !== null) fixes.unshift(fix(`Write \`${meant.text}\``, { start: i, end: meant.end }, meant.text));
            const point = meant === null ? (char === "u" ? "`\\u{…}` for a code point, " : "") : `\`${meant.text}\` for that character, `;
            const hint = `Write ${point}\`\\\\\` for a backslash.`;
            report("UNKNOWN_ESCAPE", `\`\\${char}\` is no escape; it stands for \`${char}\`.`, i, i + 2, hint, fixes);
            if (pair) i += 6;
        }
    }
}

/** The value of escaped text without its quotes. An unknown escape stands for its character. */
export function decodeEscapes(raw: string): string {
    let at = raw.indexOf("\\");
    if (at < 0) return raw;
    let out = "";
    let from = 0;
    while (at >= 0 && at < raw.length - 1) {
        out += raw.slice(from, at);
        const char = raw[at + 1] as string;
        from = at + 2;
        if (char === "u" && raw[at + 2] === "{") {
            const value = codePoint(raw, at + 2, raw.length);
            if (value >= 0) {
                out += String.fromCodePoint(value);
                from = raw.indexOf("}", at) + 1;
            } else out += "u";
        } else out += Object.hasOwn(SIMPLE, char) ? SIMPLE[char] : char;
        at = raw.indexOf("\\", from);
    }
    return out + raw.slice(from);
}

/** The value of a quoted literal between two offsets. One that is not closed ends where it ends. */
export function decodeQuoted(text: string, start: number, end: number): string {
    const closed = end - start > 1 && text.charCodeAt(end - 1) === text.charCodeAt(start);
    return decodeEscapes(text.slice(start + 1, closed ? end - 1 : end));
}

const BLANK = /^[ \t]*$/;

/**
 * The lines of a block literal as written, without the quotes, without the common indentation, without a blank first and last line.
 * Lines of white space alone become empty. Text on the line of the opening quotes keeps its white space. Line breaks of every kind
 * count as one.
 */
export function blockLines(literal: string): string[] {
    const closed = literal.length >= 6 && literal.endsWith('"""');
    const lines = literal.slice(3, closed ? -3 : undefined).split(/\r\n|\r|\n/);
    const first = lines[0] as string;
    if (lines.length === 1) return [first];
    const inner = lines.slice(1);
    if (BLANK.test(inner.at(-1) as string)) inner.pop();
    let common: string | undefined;
    for (const line of inner) {
        if (BLANK.test(line)) continue;
        const indent = (/^[ \t]*/.exec(line) as RegExpExecArray)[0];
        if (common === undefined) common = indent;
        else {
            let same = 0;
            while (same < common.length && common[same] === indent[same]) same++;
            common = common.slice(0, same);
        }
    }
    const cut = common?.length ?? 0;
    const rest = inner.map((line) => (BLANK.test(line) ? "" : line.slice(cut)));
    return BLANK.test(first) ? rest : [first, ...rest];
}

export function decodeBlock(literal: string): string {
    return decodeEscapes(blockLines(literal).join("\n"));
}

const hex = (char: string): string => `\\u{${(char.codePointAt(0) as number).toString(16).toUpperCase()}}`;
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

/** A literal in quotes of this kind that decodes to the value. */
export function quoteString(value: string, quote: '"' | "'"): string {
    const body = value.replace(/[\p{Cc}\p{Cs}\\"'\u2028\u2029\ufeff]/gu, (char) => {
        if (char === '"' || char === "'") return char === quote ? `\\${char}` : char;
        return NAMED[char] ?? hex(char);
    });
    return quote + body + quote;
}

/** A name of a method, an argument or a field, as it is written where one is named: in quotes where it is no word, `"list-issues"`. */
export function nameText(name: string): string {
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quoteString(name, '"');
}

/** The same of an argument where its place may stand, too: `arg 1: trusted`, `once by 1`. */
export function argText(arg: string): string {
    return /^[1-9][0-9]*$/.test(arg) ? arg : nameText(arg);
}

/** Raw lines of a block literal that decodes to the value. */
export function blockRawLines(value: string): string[] {
    if (value === "") return [];
    const raw = value.replace(/(?![\t\n])[\p{Cc}\p{Cs}\\\u2028\u2029\ufeff]|"{3,}/gu, (found) => {
        if (found[0] === '"') return '\\"'.repeat(found.length);
        return NAMED[found] ?? hex(found);
    });
    return guardLines(raw.split("\n"));
}

function escapeFirst(line: string): string {
    return (line[0] === "\t" ? "\\t" : "\\u{20}") + line.slice(1);
}

/** Raw lines such that reading them back keeps white space that would be taken for indentation or for a blank line. */
export function guardLines(lines: readonly string[]): string[] {
    const guarded = lines.map((line) => (line !== "" && BLANK.test(line) ? escapeFirst(line) : line));
    const filled = guarded.filter((line) => line !== "");
    if (!filled.every((line) => line[0] === " " || line[0] === "\t")) return guarded;
    const first = guarded.findIndex((line) => line !== "");
    return guarded.map((line, index) => (index === first ? escapeFirst(line) : line));
}
