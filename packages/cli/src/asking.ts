/**
 * A question about a call, as a person reads it: who wants what with which arguments, where each came from, and why it is asked.
 *
 * Boundary: text only. Whoever asks and hears is `ask.ts`; `remit asks` shows the same.
 *
 * ASK1: every line of what others wrote stands behind a bar, made plain: it can neither look like the question nor move the cursor. A line that is
 *     longer than the terminal is broken here, for the terminal would go on at its left edge, without the bar.
 * ASK2: what is cut says how much is missing, also of the number of arguments; `full` cuts nothing.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Json, plainColumns, safeJson, shownName } from "@remit/language";
import { type AskRequest, type Flow, flowIn, flowText } from "@remit/machine";
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

/** How much of one argument is shown. */
const MAX_LINES = 8;
const MAX_UNITS = 600;
/** How many arguments are, and how much of a name: more would move the question out of sight. */
const MAX_ARGS = 24;
const MAX_NAME = 80;
/** Where a broken line of ours goes on. */
const INDENT = " ".repeat(10);

type Fields = { readonly [key: string]: Json };

export function askText(request: AskRequest, show: ShowAsk): string {
    return rows(request, show)
        .flatMap((row) => row.split("\n"))
        .flatMap((line) => folded(line, show.width, INDENT, true))
        .join("\n");
}

function rows(request: AskRequest, show: ShowAsk): string[] {
    const { paint } = show;
    const about = fields(request.detail);
    const lines = [paint("bold", plainLine(request.question))];
    const row = (name: string, text: string): void => void lines.push(`  ${paint("dim", name.padEnd(7))} ${text}`);
    if (about === null || !Array.isArray(about.args)) {
        lines.push(...shortened(typeof request.detail === "string" ? request.detail : safeJson(request.detail, 2), show, "  "));
        return lines;
    }
    if (typeof about.principal === "string") row("who", plainLine(who(about.principal)));
    const chosen = typeof about.chosen_by === "string" && about.chosen_by.startsWith("model:") ? about.chosen_by.slice(6) : null;
    const agent = typeof about.chosen_by === "string" && about.chosen_by.startsWith("agent:") ? about.chosen_by.slice(6) : null;
    const by =
        agent !== null
            ? `the agent ${agent} itself`
            : about.chosen_by === "agent"
              ? "a function that the agent wrote"
              : chosen === null
                ? "the program"
                : `the model ${chosen}${typeof about.generate === "string" ? ` in ${about.generate}` : ""}`;
    row("what", plainLine(`${text(about.capability)} (${text(about.uri)}), chosen by ${by}`));
    if (typeof about.note === "string" && about.note !== "") row("says", plainLine(about.note));
    const site = siteOf(about.site);
    if (site !== null) row("where", [place(site), ...excerpt(site, show)].join("\n"));
    row("why", why(about, chosen !== null, show));
    row("with", about.args.length === 0 ? "no arguments" : "");
    if (about.args.length === 0) return lines;
    lines[lines.length - 1] = `  ${paint("dim", "with")}`;
    const origins = fields(about.origins ?? null) ?? {};
    const flows = flowsOf(about);
    const all = named(about.args);
    const some = show.full ? all : all.slice(0, MAX_ARGS);
    for (const [name, value] of some) {
        const from = list(Object.hasOwn(origins, name) ? origins[name] : origins["*"]);
        const bad = flows.some((flow) => flow.arg === name || flow.arg === "*");
        const called = plainLine(name);
        const short = show.full || called.length <= MAX_NAME ? called : `${called.slice(0, MAX_NAME)}…`;
        lines.push(`    ${paint("bold", short)}  ${paint(bad ? "red" : "cyan", `← ${sources(from)}`)}`);
        lines.push(...shortened(typeof value === "string" ? value : safeJson(value, 2), show, "      "));
    }
    if (some.length < all.length)
        lines.push(`    ${paint("yellow", `… ${counted(all.length - some.length, "more argument")}; ${show.more}`)}`);
    return lines;
}

/** `agent:fix.remit#Fixer` is Fixer of fix.remit; `user` is the program itself. */
function who(principal: string): string {
    const found = /^agent:(.*)#([^#]+)$/.exec(principal);
    return found === null
        ? principal === "user"
            ? "the program, with all that you may"
            : principal
        : `${shownName(found[2] as string)} (${found[1]})`;
}

function sources(from: readonly string[]): string {
    return from.length === 0 ? "the program's own text" : from.map(plainLine).join(", ");
}

function why(about: Fields, chosen: boolean, show: ShowAsk): string {
    const clause = siteOf(about.clause ?? null);
    const at = clause === null ? [] : [`    ${place(clause)}`, ...excerpt(clause, show)];
    const flows = flowsOf(about);
    if (about.why === "changed") return "the tool describes this method otherwise than when it was allowed";
    if (about.why === "flow" && flows.length > 0) {
        const said = flows.map((flow) => flowText(text(about.capability), flow, null));
        return [...said.map((one, i) => `${i === 0 ? "" : "    "}${show.paint("red", plainLine(one))}`), ...at].join("\n");
    }
    if (clause !== null) return ["a clause says ask", ...at].join("\n");
    return chosen ? "a model chose a call that does more than read, and nothing says may" : "its gate says ask";
}

/** Every flow that is asked about. */
function flowsOf(about: Fields): Flow[] {
    const more = Array.isArray(about.flows) ? about.flows : [];
    return [about.flow, ...more].map(flowIn).filter((one) => one !== null);
}

/** An object's fields where there is one, else by place. */
function named(args: readonly Json[]): [string, Json][] {
    const only = args.length === 1 ? fields(args[0] as Json) : null;
    return only === null ? args.map((arg, i) => [String(i + 1), arg]) : Object.entries(only);
}

function shortened(given: string, show: ShowAsk, indent: string): string[] {
    const all = plain(given);
    const short = show.full ? all : all.slice(0, MAX_UNITS);
    const every = short.split("\n");
    const lines = (show.full ? every : every.slice(0, MAX_LINES)).join("\n");
    const missing = all.length - lines.length;
    const shown = barred(lines, show, indent);
    return missing > 0 ? [...shown, `${indent}${show.paint("yellow", `… ${count(missing)} more characters; ${show.more}`)}`] : shown;
}

interface Site {
    readonly file: string;
    readonly line: number;
    readonly column: number;
}

function siteOf(json: Json | undefined): Site | null {
    const site = fields(json ?? null);
    if (site === null || typeof site.file !== "string" || typeof site.line !== "number" || typeof site.column !== "number") return null;
    return { file: site.file, line: site.line, column: site.column };
}

function place(site: Site): string {
    return `${plainLine(site.file)}:${site.line}:${site.column}`;
}

/** The line of a site; nothing where the file cannot be read any more. */
function excerpt(site: Site, show: ShowAsk): string[] {
    let line: string | undefined;
    try {
        line = readFileSync(resolve(show.root, site.file), "utf8").split(/\r?\n/)[site.line - 1];
    } catch {
        // the program may have moved: the place alone still helps
        return [];
    }
    return line === undefined ? [] : [`    ${show.paint("dim", `${site.line} |`)} ${plainColumns(line.trim(), "·")}`];
}

function fields(json: Json): Fields | null {
    return json !== null && typeof json === "object" && !Array.isArray(json) ? json : null;
}
function list(json: Json | undefined): string[] {
    return Array.isArray(json) ? json.filter((one) => typeof one === "string") : [];
}
function text(json: Json | undefined): string {
    return typeof json === "string" ? json : "";
}

/** What may be typed for each answer, the first one shown. */
export const ANSWER_WORDS: { readonly [answer: string]: readonly string[] } = {
    once: ["o", "once", "y", "yes"],
    session: ["s", "session", "always"],
    deny: ["d", "deny", "n", "no"],
    "deny session": ["x", "deny session", "deny-session", "never"],
    abort: ["a", "abort", "q", "stop"],
};

/** The answer of a word or a key; null where it is none of those that are offered. */
export function answerOf(typed: string, options: readonly string[]): string | null {
    const word = typed.trim().toLowerCase().replace(/\s+/g, " ");
    return options.find((option) => option === word || (ANSWER_WORDS[option] ?? []).includes(word)) ?? null;
}

/** `o once · s session · d deny`, for the line in which the answer is typed. */
export function offered(options: readonly string[]): string {
    return options.map((option) => `${ANSWER_WORDS[option]?.[0] ?? option} ${plainLine(option)}`).join(" · ");
}
