/**
 * Failures as a person reads them: kind, what happened, where with the line shown, what to do.
 */
import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { CONFIG_HINT, ConfigError, LoadError, type RunFailure, SYSTEM_WORDS } from "@remit/host";
import { markedLine, type Site, source } from "@remit/language";
import type { Failure } from "@remit/machine";
import { showDiagnostics } from "./diagnostics.ts";
import { columnsOf, EXIT, paint, plain, say, sayJson } from "./io.ts";

/** The source line of a site with a mark under the place; empty where the file cannot be read. */
function excerpt(site: Site, root: string): string[] {
    let text: string;
    try {
        text = readFileSync(resolve(root, site.file), "utf8");
    } catch {
        // the program may have moved since it ran: the place alone still helps
        return [];
    }
    const line = text.split(/\r?\n/)[site.line - 1];
    if (line === undefined) return [];
    const until = site.endLine === site.line && site.endColumn !== undefined ? site.endColumn : site.column + 1;
    const place = { line: site.line, column: site.column, length: until - site.column };
    return markedLine(line, place, { columns: columnsOf(process.stderr), paint: (text) => text });
}

const HINTS: Partial<Record<string, string>> = {
    "limit.tokens": "raise --max-tokens, or give items a budget with `max`",
    "limit.cost": "raise --max-cost",
    "limit.time": "raise --timeout",
    "limit.steps": "raise --max-steps, or look for a loop that does not end",
    "limit.bytes": "pass less at once: a part of the text, or the items one by one",
    "limit.depth": "look for a call of itself that does not end",
    cancelled: "`remit resume RUN` goes on from where it stopped",
    denied: "run it on a terminal to be asked, or with --park: then `remit asks` shows the question and `remit answer` answers it",
};

/**
 * `help`: what a run's record says is of use instead of the words for the failure's kind; null where nothing is. `resume`: options of `remit resume`
 * that let the run go on.
 */
export function showFailure(
    failure: Failure | RunFailure,
    options: { json?: boolean; root?: string; run?: string; over?: boolean; help?: string | null; resume?: readonly string[] } = {},
): void {
    if (options.json) {
        sayJson({ failure, ...(options.run ? { run: options.run } : {}), ...(options.resume ? { resume: [...options.resume] } : {}) });
        return;
    }
    const colour = paint(process.stderr);
    const site = failure.site;
    const place = site ? `${plain(site.file)}:${site.line}:${site.column}: ` : "";
    // a kind is a word of running programs: of what was wrong before anything ran it says nothing
    const kind = options.run === undefined && !site && failure.kind === "value" ? "error" : plain(failure.kind);
    say(`${place}${colour("red", kind)}: ${plain(failure.message)}`);
    if (site) for (const line of excerpt(site, options.root ?? process.cwd())) say(line);
    // A run that a person ended at a question is over: nothing goes on with it.
    const hint =
        failure.hint ??
        (failure.kind === "cancelled" && options.over === true ? null : options.help === undefined ? HINTS[failure.kind] : options.help);
    if (hint) say(`  ${colour("cyan", "help")}: ${plain(options.run ? hint.replace("RUN", options.run) : hint)}`);
    if (options.run !== undefined && failure.kind !== "waiting" && failure.kind !== "cancelled")
        say(`  ${colour("cyan", "about")}: remit errors ${failure.kind}`);
    if (options.resume !== undefined && options.run !== undefined)
        say(`  ${colour("cyan", "goes on")}: remit resume ${options.run} ${plain(options.resume.join(", or "))}`);
}

interface Described {
    readonly failure?: Failure;
    readonly code?: string;
    readonly path?: string;
    readonly syscall?: string;
    /** Where a copy was to stand. */
    readonly dest?: string;
    readonly hint?: string;
}

/** A write that fails does not say of which file. */
const FREE_SPACE =
    "free some space on the disk of this folder, and on that of your home, where Remit keeps its ledger, trust and logins; then run the command again";

/** Shows whatever ended a command and gives the exit code. A defect of the command itself says so and asks for a report. */
export function showError(error: unknown): number {
    const colour = paint(process.stderr);
    if (error instanceof LoadError) {
        showDiagnostics(
            error.diagnostics.filter((one) => one.severity === "error"),
            new Map([...error.texts].map(([name, text]) => [name, source(text, name)])),
        );
        return EXIT.failed;
    }
    if (error instanceof ConfigError) {
        for (const line of error.message.split("\n")) say(`${colour("red", "error")}: ${plain(line)}`);
        say(`  ${colour("cyan", "help")}: ${CONFIG_HINT}`);
        return EXIT.failed;
    }
    const known = (error ?? {}) as Described;
    if (known.failure) {
        showFailure(known.failure);
        return EXIT.failed;
    }
    if (known.syscall === "uv_cwd") {
        say(`${colour("red", "error")}: the current folder cannot be read: it was removed, or you may not`);
        say(`  ${colour("cyan", "help")}: go to another folder (cd), then run the command again`);
        return EXIT.failed;
    }
    const words = known.code === undefined ? undefined : SYSTEM_WORDS[known.code];
    if (words !== undefined) {
        const path = known.dest ?? known.path;
        say(`${colour("red", "error")}: ${words}${path === undefined ? "" : `: ${plain(path)}`}`);
        if (known.code === "ENOENT" && path !== undefined && !isAbsolute(path))
            say(`  ${colour("cyan", "help")}: a path begins at the folder that the command runs in, ${plain(process.cwd())}`);
        if (known.code === "ENOSPC" || known.code === "EDQUOT") say(`  ${colour("cyan", "help")}: ${FREE_SPACE}`);
        return EXIT.failed;
    }
    const message = error instanceof Error ? error.message : String(error);
    if (known.hint !== undefined || known.code !== undefined) {
        say(`${colour("red", "error")}: ${plain(message)}`);
        if (known.hint) say(`  ${colour("cyan", "help")}: ${plain(known.hint)}`);
        return EXIT.failed;
    }
    say(`${colour("red", "defect")}: ${plain(message)}`);
    say("  This is a mistake of remit, not of your program. Please report it, with the command and this text.");
    if (process.env["REMIT_DEBUG"] && error instanceof Error) say(error.stack ?? "");
    else say("  REMIT_DEBUG=1 shows where it happened.");
    return EXIT.failed;
}
