/**
 * `remit repl`: inputs one after another, each a piece of one program; from a person at a terminal, or from a pipe.
 *
 * REP1: at a terminal an input that ends too early goes on in the next line; an empty line ends it.
 * REP2: from a pipe nothing is asked and nothing is drawn, and an input that is wrong is told in the exit code.
 * REP3: at a terminal Ctrl-C never ends the REPL.
 * REP4: from a pipe a command ends an input that is open before it: no person sees that the line would be a part of it.
 */
import { createInterface } from "node:readline";
import { createTools, knownSecrets, loadConfig } from "@remit/host";
import { here } from "../here.ts";
import { EXIT, paint, say, UsageError } from "../io.ts";
import { showError } from "../failure.ts";
import { completed } from "../repl/completion.ts";
import { History } from "../repl/history.ts";
import { pieceOf } from "../repl/piece.ts";
import { COMMANDS } from "../repl/words.ts";
import { ReplSession, type Took } from "./repl-session.ts";

type Options = Record<string, unknown>;

const PROMPT = "remit> ";
const GOES_ON = "   ... ";

export default async function repl(_args: string[], options: Options): Promise<number> {
    const session = new ReplSession(options);
    try {
        return process.stdin.isTTY === true && process.stdout.isTTY === true ? await atTerminal(session, options) : await fromPipe(session);
    } finally {
        await session.close();
    }
}

/** REP2. */
async function fromPipe(session: ReplSession): Promise<number> {
    let wrong = false;
    let text = "";
    for await (const line of createInterface({ input: process.stdin, terminal: false })) {
        // REP4. In a text or a comment that goes on over lines the line is a part of that.
        if (text !== "" && isCommand(line) && !isInText(text)) {
            if ((await taken(session, text, true)) === "wrong") wrong = true;
            text = "";
        }
        text += `${line}\n`;
        const took = await taken(session, text);
        if (took === "open") continue;
        text = "";
        if (took === "quit") return wrong ? EXIT.failed : EXIT.ok;
        if (took === "wrong") wrong = true;
    }
    if (text !== "" && (await taken(session, text, true)) === "wrong") wrong = true;
    return wrong ? EXIT.failed : EXIT.ok;
}

function isCommand(line: string): boolean {
    const name = /^:(\w+)(?:\s|$)/.exec(line)?.[1];
    return name !== undefined && Object.hasOwn(COMMANDS, name);
}

function isInText(text: string): boolean {
    const read = pieceOf(text.trimEnd());
    return read.kind === "open" && read.diagnostics.some(({ code }) => code.startsWith("UNTERMINATED"));
}

async function atTerminal(session: ReplSession, options: Options): Promise<number> {
    const methods = new Methods(session, options);
    const typing = new Typing(new History(here().env), (line) => methods.found(line));
    const colour = paint(process.stderr);
    say(colour("dim", "Inputs are pieces of one program. :help lists commands; Ctrl-C cancels an input, Ctrl-D ends."));
    process.on("SIGINT", betweenInputs);
    try {
        for (;;) {
            const took = await typed(session, typing);
            if (took === "quit") return EXIT.ok;
            methods.ask();
        }
    } finally {
        process.off("SIGINT", betweenInputs);
    }
}

/** REP3. */
function betweenInputs(): void {
    // An input has just ended and the next prompt does not stand yet: there is nothing to cancel.
}

/** One input: its lines are read, then the terminal is free for the questions of what they do. */
async function typed(session: ReplSession, typing: Typing): Promise<Took> {
    const lines: string[] = [];
    for (;;) {
        const line = await typing.line(lines.length === 0 ? PROMPT : GOES_ON);
        if (line === null) return "quit";
        if (line === "cancelled") return "on";
        const ends = lines.length > 0 && line.text.trim() === "";
        lines.push(line.text);
        const took = await taken(session, lines.join("\n"), ends);
        if (took !== "open") return took;
    }
}

/** Lines as they are typed, or pasted: then several come at once, and wait for their turn. */
class Typing {
    readonly #history: History;
    readonly #complete: (line: string) => [string[], string];
    readonly #pasted: string[] = [];
    /** What stood behind the last of them. */
    #begun = "";

    constructor(history: History, complete: Methods["found"]) {
        this.#history = history;
        this.#complete = complete;
    }

    /** Null: Ctrl-D. */
    async line(prompt: string): Promise<{ readonly text: string } | "cancelled" | null> {
        const text = this.#pasted.shift();
        const came = text === undefined ? await this.#read(prompt) : { text };
        if (came !== null && came !== "cancelled") this.#history.add(came.text);
        return came;
    }

    #read(prompt: string): Promise<{ readonly text: string } | "cancelled" | null> {
        return new Promise((resolve) => {
            const lines = createInterface({
                input: process.stdin,
                output: process.stdout,
                terminal: true,
                prompt,
                history: [...this.#history.lines],
                historySize: 1000,
                removeHistoryDuplicates: true,
                completer: (line: string) => this.#complete(line),
            });
            let came: { readonly text: string } | "cancelled" | null = null;
            lines.on("line", (text) => {
                if (came !== null) {
                    this.#pasted.push(text);
                    return;
                }
                came = { text };
                // what was pasted with it comes first
                setImmediate(() => {
                    this.#begun = lines.line;
                    lines.close();
                });
            });
            lines.on("SIGINT", () => {
                came = "cancelled";
                process.stdout.write("\n");
                lines.close();
            });
            lines.on("close", () => resolve(came));
            lines.prompt();
            if (this.#begun !== "") lines.write(this.#begun);
            this.#begun = "";
        });
    }
}

/** What goes wrong with an input is shown, and the REPL goes on. */
async function taken(session: ReplSession, text: string, ends = false): Promise<Took> {
    try {
        return await session.take(text, ends);
    } catch (error) {
        if (error instanceof UsageError) {
            say(`${paint(process.stderr)("red", "error")}: ${error.message}${error.hint === undefined ? "" : `\n  ${error.hint}`}`);
            return "wrong";
        }
        showError(error);
        return "wrong";
    }
}

/** The names of the conversation, and the methods of its tools. */
class Methods {
    readonly #session: ReplSession;
    readonly #options: Options;
    readonly #methods = new Map<string, readonly string[]>();
    /** URIs of those that were asked: a name may be imported anew. */
    readonly #asked = new Map<string, string>();

    constructor(session: ReplSession, options: Options) {
        this.#session = session;
        this.#options = options;
    }

    /** At once: what is typed behind the Tab key comes after what it puts in. */
    found(line: string): [string[], string] {
        return completed(line, { names: this.#session.conversation.names, methods: this.#methods });
    }

    /** Asks the tools that are new. One that cannot be asked has nothing to offer; a call of it says why. */
    ask(): void {
        for (const tool of this.#session.conversation.tools) {
            if (this.#asked.get(tool.name) === tool.uri) continue;
            this.#asked.set(tool.name, tool.uri);
            this.#methods.set(tool.name, []);
            this.#ask(tool).catch(() => undefined);
        }
    }

    async #ask(wanted: { readonly name: string; readonly uri: string }): Promise<void> {
        const { env } = here();
        const trust = this.#options["trust"] ? { trust: true } : {};
        const config = loadConfig({ from: process.cwd(), env, folder: process.cwd(), ...trust });
        const made = createTools(config, {
            env,
            secrets: knownSecrets(env, config),
            workspace: String(this.#options["workspace"] ?? process.cwd()),
            root: process.cwd(),
        });
        try {
            for (const { name, methods } of await made.list([{ ...wanted, file: "repl.remit" }]))
                this.#methods.set(
                    name,
                    methods.map((one) => one.name),
                );
        } finally {
            await made.close();
        }
    }
}
