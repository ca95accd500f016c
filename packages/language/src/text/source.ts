/**
 * Text and places in it. Knows nothing of the language.
 *
 * A `Range` is a pair of UTF-16 offsets into one source. A `Site` is what leaves the compiler: file, line and column, so that
 * a failure can be shown without the source at hand.
 */

export interface Range {
    /** Offset of the first UTF-16 code unit. */
    readonly start: number;
    /** Offset after the last UTF-16 code unit. */
    readonly end: number;
}

/** A place in a named file. Lines and columns count from 1; columns are UTF-16 code units. */
export interface Site {
    readonly file: string;
    readonly line: number;
    readonly column: number;
    readonly endLine?: number;
    readonly endColumn?: number;
}

export interface Position {
    readonly line: number;
    readonly column: number;
}

/** One source text with its name, able to turn offsets into lines. */
export interface Source {
    /** Name as shown to people: relative to the program's root with `/`, or `<memory>`. */
    readonly file: string;
    readonly text: string;
    readonly lineStarts: readonly number[];
}

export function source(text: string, file = "<memory>"): Source {
    const lineStarts = [0];
    for (let i = 0; i < text.length; i++) {
        const c = text.charCodeAt(i);
        if (c === 10) lineStarts.push(i + 1);
        else if (c === 13 && text.charCodeAt(i + 1) !== 10) lineStarts.push(i + 1);
    }
    return { file, text, lineStarts };
}

export function position(src: Source, offset: number): Position {
    let low = 0;
    let high = src.lineStarts.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((src.lineStarts[middle] as number) <= offset) low = middle;
        else high = middle - 1;
    }
    return { line: low + 1, column: offset - (src.lineStarts[low] as number) + 1 };
}

/** The text of one line (counted from 1) without its line break. */
export function lineText(src: Source, line: number): string {
    const start = src.lineStarts[line - 1];
    if (start === undefined) return "";
    const end = src.lineStarts[line] ?? src.text.length;
    return src.text.slice(start, end).replace(/[\r\n]+$/, "");
}

export function siteOf(src: Source, range: Range): Site {
    const from = position(src, range.start);
    const to = position(src, range.end);
    return { file: src.file, line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
}
