/**
 * Text of others as it may be shown to a person: what a terminal or an editor would obey, or hide, is made visible.
 *
 * Boundary: characters only. The one place that says which characters these are; renderers and commands take them from here.
 *
 * PN1: no result holds a character of `OBEYED`, but for line breaks and tabs where lines are kept.
 * PN2: `safeJson` is JSON of the same value.
 */

/**
 * Control characters (C0, DEL, C1), line and paragraph separators, and format characters: bidirectional controls and marks, zero-width
 * and invisible characters, tags. The two joiners are left alone: scripts and emoji are written with them.
 */
const OBEYED = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Holds none that `plain` changes. Making `OBEYED` ready takes longer than running a small program. */
const ORDINARY = /^[\t\n -~]*$/;

/** Lines and tabs kept, everything else that would be obeyed as its code: `\x1b`, `\u{202e}`. */
export function plain(text: string): string {
    if (ORDINARY.test(text)) return text;
    return text
        .replaceAll("\r\n", "\n")
        .replace(OBEYED, (char) => (char === "\n" || char === "\t" ? char : code(char.codePointAt(0) as number)));
}

/** The same in one line: white space of any kind is one blank. */
export function plainLine(text: string): string {
    return plain(text.replace(/\s+/g, " "));
}

/** The same with one unit for each, so that columns keep their place. */
export function plainColumns(text: string, instead: string): string {
    return text.replace(OBEYED, (char) => (char === "\t" ? " " : instead.repeat(char.length)));
}

/** JSON text that shows as it is: what JSON lets stand and a terminal obeys is escaped. `indent`: as for `JSON.stringify`. */
export function safeJson(value: unknown, indent?: number): string {
    const text = JSON.stringify(value, null, indent) ?? "null";
    if (ORDINARY.test(text)) return text;
    return text.replace(OBEYED, (char) =>
        char === "\n" ? char : Array.from({ length: char.length }, (_, at) => `\\u${hex(char.charCodeAt(at), 4)}`).join(""),
    );
}

function code(point: number): string {
    return point < 0x100 ? `\\x${hex(point, 2)}` : `\\u{${hex(point, 1)}}`;
}

function hex(point: number, digits: number): string {
    return point.toString(16).padStart(digits, "0");
}
