/**
 * A REPL: what each line does, and what is shown of it.
 *
 * Boundary: between the terminal's lines and the conversation. Values go to standard output, everything else to standard error.
 *
 * RPL1: Ctrl-C cancels the input in hand, and the REPL goes on.
 */
import { dirname, resolve } from "node:path";
import { load, openProcess, type RunResult } from "@remit/host";
import { columns, type Json, printExpr, renderDiagnostic } from "@remit/language";
import { showFailure } from "../failure.ts";
import { here, ledgerHere } from "../here.ts";
import { coloured, columnsOf, paint, plain, plainLine, print, printJson, say } from "../io.ts";
import { handlers, loadOptions, type Watch, watched } from "../running.ts";
import { BrowserTurns } from "./repl-browser.ts";
import { Conversation, type Located } from "../repl/conversation.ts";
import { type Piece, pieceOf } from "../repl/piece.ts";
import { BROWSER, COMMANDS } from "../repl/words.ts";

type Options = Record<string, unknown>;

/** What came of an input; `open`: it goes on in the next line. */
export type Took = "on" | "wrong" | "open" | "quit";

const BROWSED = { declares: 'import tool Browser from "host:browser"', name: "browsed" };

export class ReplSession {
    readonly conversation: Conversation;
    readonly #options: Options;
    readonly #browser: BrowserTurns;
    readonly #on = openProcess(here());
    readonly #said = new Set<string>();
    /** The last run, whether it is part of the conversation or not. */
    #last: string | null = null;

    constructor(options: Options) {
        this.#options = options;
        this.#browser = new BrowserTurns(options);
        const { on: _, ...given } = loadOptions(options, quiet());
        const all = { ...given, ledger: ledgerHere(options), process: this.#on };
        this.conversation = new Conversation(all, { Browser: this.#browser.tool });
    }

    /** `ends`: no more lines come. */
    async take(text: string, ends = false): Promise<Took> {
        const line = text.trim();
        if (line.startsWith(":")) return this.#command(line.slice(1));
        if (line.startsWith("/") && !line.startsWith("//") && !line.startsWith("/*")) return this.#slash(line.slice(1));
        const read = pieceOf(text.trimEnd());
        if (read.kind === "nothing") return "on";
        if (read.kind === "open" && !ends) return "open";
        if (read.kind === "open" || read.kind === "wrong")
            return this.#refused(read.diagnostics.map((diagnostic) => ({ diagnostic, source: read.source })));
        return this.#piece(read, true);
    }

    async close(): Promise<void> {
        await this.#browser.close();
        await this.#on.close();
    }

    // ---- inputs ----

    async #piece(piece: Piece, keep: boolean, shows = piece.isShown): Promise<Took> {
        const came = await this.#watching((watch) =>
            this.conversation.take(piece, { keep, signal: watch.signal, on: handlers(this.#options, watch) }),
        );
        if (came.kind === "refused") return this.#refused(came.diagnostics);
        if (came.kind === "declared") return "on";
        return this.#ended(came.result, { piece, shows, answering: came.answering });
    }

    #ended(
        result: RunResult<Json>,
        how: { readonly piece: Piece | null; readonly shows: boolean; readonly answering: readonly string[]; readonly root?: string },
    ): Took {
        this.#last = result.run;
        for (const text of how.answering) if (process.stderr.isTTY === true && !this.#said.has(text)) say(plainLine(text));
        for (const text of how.answering) this.#said.add(text);
        if (result.ok) {
            if (how.shows) printJson(result.value ?? null, this.#options["json"] === true);
            return "on";
        }
        const { failure } = result;
        if (result.status === "waiting") say(`The run ${result.run} waits: \`remit asks\` shows for what. The conversation is as it was.`);
        else if (failure?.kind === "cancelled") say("Cancelled; the conversation is as it was.");
        else if (failure !== undefined) this.#failed(failure, how);
        return "wrong";
    }

    #failed(failure: NonNullable<RunResult["failure"]>, { piece, root }: { readonly piece: Piece | null; readonly root?: string }): void {
        const placed = failure.site ? this.conversation.placed(failure.site, piece) : null;
        if (placed === null) {
            showFailure(failure, root === undefined ? {} : { root });
            return;
        }
        const colour = paint(process.stderr);
        const { file, line, column } = placed.site;
        say(`${file}:${line}:${column}: ${colour("red", plain(failure.kind))}: ${plain(failure.message)}`);
        say(`  ${line} | ${plain(placed.line)}\n  ${" ".repeat(String(line).length)} | ${" ".repeat(column - 1)}^`);
        if (failure.hint) say(`  ${colour("cyan", "help")}: ${plain(failure.hint)}`);
    }

    #refused(all: readonly Located[]): Took {
        for (const { diagnostic, source } of all)
            say(renderDiagnostic(diagnostic, source ?? undefined, { color: coloured(process.stderr), columns: columnsOf(process.stderr) }));
        return "wrong";
    }

    /** RPL1. */
    async #watching<T>(work: (watch: Watch) => Promise<T>): Promise<T> {
        const abort = new AbortController();
        const own = process.stderr.isTTY === true ? watched(this.#options) : quiet();
        const stop = (): void => {
            if (abort.signal.aborted) return;
            own.progress.pause();
            abort.abort();
        };
        process.on("SIGINT", stop);
        try {
            return await work({ ...own, signal: abort.signal, stop });
        } finally {
            process.off("SIGINT", stop);
            own.end();
        }
    }

    // ---- commands ----

    async #command(line: string): Promise<Took> {
        const [name = "", ...words] = line.split(/\s+/).filter(Boolean);
        const rest = line.slice(line.indexOf(name) + name.length).trim();
        const flags = { ledger: ledgerHere(this.#options), full: words.includes("full") };
        switch (name) {
            case "help":
                say(help());
                return "on";
            case "quit":
                return "quit";
            case "clear":
                this.conversation.clear();
                return "on";
            case "program":
                print(plain(this.conversation.text));
                return "on";
            case "run":
                return this.#file(words);
            case "why":
                return this.#why(rest, flags);
            case "trace":
            case "explain": {
                const run = this.#last;
                if (run === null) return this.#wrong("nothing was run yet");
                const { default: show } = name === "trace" ? await import("./trace.ts") : await import("./explain.ts");
                return (await show([run], flags)) === 0 ? "on" : "wrong";
            }
            default:
                return this.#wrong(`there is no command :${plainLine(name)}`, ":help lists them");
        }
    }

    /** Of the last value, of a place of the last run, or of an expression, which is run for that and is no part of the conversation. */
    async #why(of: string, flags: Options): Promise<Took> {
        let where = "";
        if (/^(?:main\/|\/|value$|failure$)/.test(of)) where = of;
        else if (of !== "") {
            const read = pieceOf(of);
            if (read.kind !== "done" || !read.isShown) return this.#wrong("why takes an expression", ":why mail.from");
            const took = await this.#piece(read, false, false);
            if (took !== "on") return took;
        }
        if (this.#last === null) return this.#wrong("nothing was run yet");
        const { default: why } = await import("./why.ts");
        return (await why([this.#last, where], flags)) === 0 ? "on" : "wrong";
    }

    async #file([file, ...input]: string[]): Promise<Took> {
        if (file === undefined) return this.#wrong(":run takes a file", ":run main.remit @input.json");
        const { readInput } = await import("./run.ts");
        const given = await readInput(input.length === 0 ? undefined : input.join(" "), "the input behind the file");
        return this.#watching(async (watch) => {
            const options = { ...loadOptions(this.#options, watch), ledger: ledgerHere(this.#options), process: this.#on };
            const program = await load<Json, Json>(file, options);
            try {
                const result = await program.run(given, { signal: watch.signal }).result;
                const answering = program.answering().map(({ text }) => text);
                return this.#ended(result, { piece: null, shows: true, answering, root: program.root || dirname(resolve(file)) });
            } finally {
                await program.close();
            }
        });
    }

    async #slash(line: string): Promise<Took> {
        const [, name = "", task = ""] = /^(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
        if (name !== "browser") return this.#wrong(`there is no /${plainLine(name)}`, "/browser TASK gives a server a turn");
        if (task.trim() === "") return this.#wrong("/browser needs a task", "/browser book the cheapest slot");
        if (!this.conversation.has("Browser")) {
            const declared = pieceOf(BROWSED.declares);
            if (declared.kind !== "declared") throw new Error("the import of the browser is no declaration");
            const took = await this.#piece(declared, true);
            if (took !== "on") return took;
        }
        const text = printExpr({ kind: "string", value: task.trim(), style: "double", range: { start: 0, end: 0 } });
        const piece = pieceOf(`${BROWSED.name} = Browser.turn({ task: ${text} })`);
        if (piece.kind !== "done") throw new Error("a turn is no statement");
        const took = await this.#turn(piece);
        if (took === "on") say(paint(process.stderr)("dim", `The answer is \`${BROWSED.name}\` here; :why says where it comes from.`));
        return took;
    }

    /** Ctrl-C cancels the turn on the server, which ends the input. */
    async #turn(piece: Piece): Promise<Took> {
        const watch = quiet();
        const came = await this.conversation.take(piece, { keep: true, signal: watch.signal, on: handlers(this.#options, watch) });
        if (came.kind === "refused") return this.#refused(came.diagnostics);
        return came.kind === "declared" ? "on" : this.#ended(came.result, { piece, shows: false, answering: [] });
    }

    #wrong(message: string, hint?: string): Took {
        const colour = paint(process.stderr);
        say(`${colour("red", "error")}: ${message}${hint === undefined ? "" : `\n  ${hint}`}`);
        return "wrong";
    }
}

/** A watch that shows nothing. */
function quiet(): Watch {
    return watched({ quiet: true });
}

function help(): string {
    const rows = [
        ...Object.entries(COMMANDS).map(([name, { takes = "", about }]) => ["", `:${name} ${takes}`.trim(), about]),
        ["", `/browser ${BROWSER.takes}`, BROWSER.about],
    ];
    return [
        "Each input is a piece of one program: statements, or imports, functions, shapes and agents. Names live on.",
        columns(rows),
    ].join("\n");
}
