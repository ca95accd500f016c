/**
 * A question about a call, as a person reads it: who wants what with which arguments, where each came from, and why it is asked.
 *
 * Boundary: text only. The code that asks and hears is `ask.ts`; `remit asks` shows the same.
 *
 * ASK1: every line of what others wrote stands behind a bar, made plain: it can neither look like the question nor move the cursor. A line that is
 *     longer than the terminal is broken here, for the terminal would go on at its left edge, without the bar.
 * ASK2: what is cut says how much is missing, also of the number of arguments; `full` cuts nothing.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { plainColumns, safeJson } from "@remit/language";
import { type AskedCall, askedCall, type AskedPlace, type AskRequest } from "@remit/machine";
import { barred, count, counted, folded, type Paint, plain, plainLine } from "./io.ts";

export interface ShowAsk {
    readonly paint: Paint;
    /** Folder of the program's files, for the lines that are shown. */
    readonly root: string;
    readonly full: boolean;
    /** How all of it is seen: `v shows all`. */
    readonly more: string;
    /** Columns of the terminal; undefined where there is none. */
    readonly width: number | undefined;
}

/** How much of one argument is shown, and of what it changes in a file. */
const SOME = { lines: 8, units: 600 };
const CHANGES = { lines: 30, units: 2400 };
/** How many arguments are, and how much of a name: more would move the question out of sight. */
const MAX_ARGS = 24;
const MAX_NAME = 80;
/** Where a broken line of ours goes on. */
const INDENT = " ".repeat(10);

export function askText(request: AskRequest, show: ShowAsk): string {
    return rows(request, show)
        .flatMap((row) => row.split("\n"))
        .flatMap((line) => folded(line, show.width, INDENT, true))
        .join("\n");
}

function rows(request: AskRequest, show: ShowAsk): string[] {
    const { paint } = show;
    const call = askedCall(request.detail);
    const lines = [paint("bold", plainLine(request.question))];
    const row = (name: string, text: string): void => void lines.push(`  ${paint("dim", name.padEnd(7))} ${text}`);
    if (call === null) {
        lines.push(...shortened(typeof request.detail === "string" ? request.detail : safeJson(request.detail, 2), show, "  "));
        return lines;
    }
    if (call.who !== "") row("who", plainLine(call.who));
    row("what", plainLine(`${call.what} (${call.uri}), chosen by ${call.by}`));
    if (call.note !== "") row("says", plainLine(call.note));
    if (call.site !== null) row("where", [place(call.site), ...excerpt(call.site, show)].join("\n"));
    row("why", why(call, show));
    row("with", call.args.length === 0 ? "no arguments" : "");
    if (call.args.length > 0) lines[lines.length - 1] = `  ${paint("dim", "with")}`;
    const some = show.full ? call.args : call.args.slice(0, MAX_ARGS);
    for (const { name, value, origins, isAsked, changes } of some) {
        const called = plainLine(name);
        const short = show.full || called.length <= MAX_NAME ? called : `${called.slice(0, MAX_NAME)}…`;
        lines.push(`    ${paint("bold", short)}  ${paint(isAsked ? "red" : "cyan", `← ${sources(origins)}`)}`);
        if (changes !== undefined) lines.push(...shortened(changes, show, "      ", CHANGES));
        if (changes === undefined || show.full)
            lines.push(...shortened(typeof value === "string" ? value : safeJson(value, 2), show, "      "));
    }
    if (some.length < call.args.length)
        lines.push(`    ${paint("yellow", `… ${counted(call.args.length - some.length, "more argument")}; ${show.more}`)}`);
    for (const option of request.options)
        if (Object.hasOwn(call.lasts, option)) row(wordOf(option), plainLine(call.lasts[option] as string));
    return lines;
}

function sources(from: readonly string[]): string {
    return from.length === 0 ? "the program's own text" : from.map(plainLine).join(", ");
}

function why({ why, isFlow, clause }: AskedCall, show: ShowAsk): string {
    const at = clause === null ? [] : [`    ${place(clause)}`, ...excerpt(clause, show)];
    const said = isFlow ? why.map((one, i) => `${i === 0 ? "" : "    "}${show.paint("red", plainLine(one))}`) : why;
    return [...said, ...at].join("\n");
}

function shortened(given: string, show: ShowAsk, indent: string, most = SOME): string[] {
    const all = plain(given);
    const short = show.full ? all : all.slice(0, most.units);
    const every = short.split("\n");
    const lines = (show.full ? every : every.slice(0, most.lines)).join("\n");
    const missing = all.length - lines.length;
    const shown = barred(lines, show, indent);
    return missing > 0 ? [...shown, `${indent}${show.paint("yellow", `… ${count(missing)} more characters; ${show.more}`)}`] : shown;
}

function place(site: AskedPlace): string {
    return `${plainLine(site.file)}:${site.line}:${site.column}`;
}

/** The line of a site; nothing where the file cannot be read any more. */
function excerpt(site: AskedPlace, show: ShowAsk): string[] {
    let line: string | undefined;
    try {
        line = readFileSync(resolve(show.root, site.file), "utf8").split(/\r?\n/)[site.line - 1];
    } catch {
        // the program may have moved: the place alone still helps
        return [];
    }
    return line === undefined ? [] : [`    ${show.paint("dim", `${site.line} |`)} ${plainColumns(line.trim(), "·")}`];
}

/**
 * What may be typed for each answer, the first one shown. No letter alone is an answer here that is another one in the console, whose keys are y, a
 * (always), n, x (never) and s (stop).
 */
export const ANSWER_WORDS: { readonly [answer: string]: readonly string[] } = {
    once: ["y", "yes", "o"],
    session: ["always"],
    deny: ["n", "no", "d"],
    "deny session": ["never", "x", "deny-session"],
    abort: ["stop", "q"],
};

function wordOf(option: string): string {
    return plainLine(ANSWER_WORDS[option]?.[0] ?? option);
}

/** The answer of a word or a key; null where it is none of those that are offered. */
export function answerOf(typed: string, options: readonly string[]): string | null {
    const word = typed.trim().toLowerCase().replace(/\s+/g, " ");
    return options.find((option) => option === word || (ANSWER_WORDS[option] ?? []).includes(word)) ?? null;
}

/** `y once · always (session) · n deny`, for the line in which the answer is typed: a key before its answer, a word of the same sense with it. */
export function offered(options: readonly string[]): string {
    return options
        .map((option) => {
            const [shown = option] = ANSWER_WORDS[option] ?? [];
            if (shown === option) return plainLine(option);
            return shown.length === 1 ? `${shown} ${plainLine(option)}` : `${shown} (${plainLine(option)})`;
        })
        .join(" · ");
}
