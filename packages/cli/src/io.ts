/**
 * The command's two streams. Standard output carries the result and nothing else; everything said to a person goes to standard error.
 *
 * Text that others wrote (files, models, tools, servers) passes `plain`, in one line `plainLine`, as JSON `safeJson`, before it is shown.
 *
 * IO1: a closed pipe ends the command quietly; a stream that takes nothing more for another reason (a full disk) ends it with that reason.
 */
import { writeSync } from "node:fs";
import { columns, type Json, plain, plainLine, safeJson } from "@remit/language";

export { plain, plainLine, safeJson };

export const EXIT = { ok: 0, failed: 1, usage: 2, waiting: 3, cancelled: 130 } as const;

/** Thrown for what the person at the terminal did wrong; shown as one message without a stack. */
export class UsageError extends Error {
    readonly hint: string | undefined;
    constructor(message: string, hint?: string) {
        super(message);
        this.hint = hint;
    }
}

export function watchPipes(): void {
    const ends = (name: string) => (error: NodeJS.ErrnoException) => {
        if (error.code === "EPIPE") process.exit(EXIT.ok);
        try {
            writeSync(2, `error: ${name} cannot be written: ${error.code === "ENOSPC" ? "the disk is full" : error.message}\n`);
        } catch {
            // Nothing can be said where standard error is the stream that fails.
        }
        process.exit(EXIT.failed);
    };
    process.stdout.on("error", ends("standard output"));
    process.stderr.on("error", ends("standard error"));
}

/** Writes a value as JSON: indented for people, on one line with `compact`. */
export function printJson(value: Json | undefined, compact = false): void {
    process.stdout.write(`${safeJson(value ?? null, compact ? undefined : 2)}\n`);
}

/** Writes a text that is itself the result: as it is into a file or a pipe, made visible on a terminal. */
export function printText(text: string): void {
    print(process.stdout.isTTY === true ? plain(text) : text);
}

export function print(text: string): void {
    process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Says lines; on a terminal a longer one is broken between words, and goes on further in. */
export function say(text: string): void {
    process.stderr.write(`${fitting(text, process.stderr)}\n`);
}

/** Says a value as JSON on one line, which stays one. */
export function sayJson(value: unknown): void {
    process.stderr.write(`${safeJson(value)}\n`);
}

/** The same as `say` for what is itself the result: lines for people, that no program reads. */
export function printLines(text: string): void {
    print(fitting(text, process.stdout));
}

/** Columns of a terminal, 80 where it does not say; undefined for what is no terminal. */
export function columnsOf(stream: NodeJS.WriteStream): number | undefined {
    return stream.isTTY === true ? stream.columns || 80 : undefined;
}

/** Lines as they fit the terminal; as they are for what is none. */
export function fitting(text: string, stream: NodeJS.WriteStream): string {
    const width = columnsOf(stream);
    if (width === undefined) return text;
    const lines = text.split("\n");
    return lines.flatMap((line) => folded(line, width, `${/^ */.exec(line)?.[0] ?? ""}  `, true)).join("\n");
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Paint = (style: keyof typeof CODES, text: string) => string;

/** Colours where the stream is a terminal that knows them and the user did not ask for none (`NO_COLOR`, `--no-color`). */
export function coloured(stream: { isTTY?: boolean }): boolean {
    return stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

export function paint(stream: { isTTY?: boolean }): Paint {
    return coloured(stream) ? (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m` : (_style, text) => text;
}

/** Our own colours, which take no room. Text of others has none: it passed `plain`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOUR = /^\u001b\[\d+m/;

/**
 * Lines broken where the terminal would break them, each piece behind `before`: so that no text of others begins at the left edge, as a line of
 * ours does. `width`: columns; undefined where it is not known, and nothing is broken. A character counts for as many columns as any terminal gives it.
 * `words`: where there is a blank in the second half of the piece, it is broken behind that.
 */
export function folded(line: string, width: number | undefined, before: string, words = false): string[] {
    if (width === undefined) return [line];
    const room = Math.max(20, width) - 1;
    const indent = widthOf(before);
    const lines = [""];
    let used = 0;
    for (let at = 0; at < line.length; ) {
        const colour = COLOUR.exec(line.slice(at, at + 8))?.[0];
        const piece = colour ?? String.fromCodePoint(line.codePointAt(at) as number);
        const taken = colour === undefined ? widthOf(piece) : 0;
        // a blank between words stands behind the last of them, in the column that is left free
        if (used + taken > room && !(words && used === room && piece === " ")) {
            const last = lines.at(-1) as string;
            const cut = words && piece !== " " ? last.lastIndexOf(" ") + 1 : 0;
            const kept = last.slice(0, cut);
            const rest = kept.trim() !== "" && widthOf(kept) > room / 2 ? last.slice(cut) : "";
            lines[lines.length - 1] = last.slice(0, last.length - rest.length);
            lines.push(before + rest);
            used = indent + widthOf(rest);
        }
        lines[lines.length - 1] += piece;
        used += taken;
        at += piece.length;
    }
    return lines;
}

/** Columns of a terminal, rather too many than too few. */
function widthOf(text: string): number {
    let columns = 0;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
    for (const char of text.replace(/\u001b\[\d+m/g, "")) columns += char === "\t" ? 8 : char >= " " && char <= "~" ? 1 : 2;
    return columns;
}

/** Lines of what others wrote, each behind a bar. Each line of the terminal is: none can look like one of ours. */
export function barred(given: string, show: { readonly paint: Paint; readonly width: number | undefined }, indent: string): string[] {
    const before = `${indent}${show.paint("dim", "│")} `;
    return given.split("\n").flatMap((line) => folded(`${before}${line}`, show.width, before, true));
}

/** Rows in columns, each as wide as its widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[], head?: readonly string[]): string {
    return columns(head ? [head, ...rows] : rows);
}

/** `1.2 s`, `340 ms`, `3 min 5 s`. */
export function duration(ms: number): string {
    if (ms < 1000) return `${Math.round(ms)} ms`;
    if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
    return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** `950`, `12.3k`, `4.1M`. */
export function count(n: number): string {
    if (n < 1000) return String(n);
    return n < 1_000_000 ? `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

/** `1 effect`, `3 effects`, `1.2k steps`. */
export function counted(n: number, one: string, many = `${one}s`): string {
    return `${count(n)} ${n === 1 ? one : many}`;
}

/** Of an option whose second value would silently take the place of the first. */
export function once(option: string): (value: string, before: string | undefined) => string {
    return (value, before) => {
        if (before !== undefined) throw new UsageError(`${option} is given twice`, "one value counts: leave the other out");
        return value;
    };
}
