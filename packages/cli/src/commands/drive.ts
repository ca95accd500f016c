/**
 * `remit drive`: a turn of a server from this terminal: its text as it comes, its questions here, Ctrl-C cancels it there.
 *
 * DRV1: standard output carries the answer alone; on a terminal it is shown as it comes.
 * DRV3: with `--json` standard error carries JSON lines alone.
 * DRV2: where there is no terminal, the answer to a question about a call is no, at once, and a question of the program gets none, at once.
 */
import { stripVTControlCharacters } from "node:util";
import { isObject, type Json } from "@remit/language";
import type { AskRequest } from "@remit/machine";
import type { Ack, Frame, NewTurn, ServeClient, SessionInfo, TurnInfo } from "@remit/serve";
import { askChoice, askInput } from "../ask.ts";
import { isPersonThere } from "../prompts.ts";
import { EXIT, paint, plain, plainLine, print, printJson, safeJson, say, sayJson, table, UsageError } from "../io.ts";
import { silent } from "../progress.ts";
import { serverHere } from "../serving.ts";

type Options = Record<string, unknown>;
type Data = { readonly [key: string]: Json };

export default async function drive(words: string[], options: Options): Promise<number> {
    const text = words.join(" ").trim();
    if (options["models"] === true) return models(options);
    if (text === "") throw new UsageError("remit drive needs a task", 'remit drive "book the cheapest slot"');
    const files = (options["image"] ?? []) as string[];
    const images = files.length === 0 ? {} : { images: (await import("../pictures.ts")).picturesOf(files) };
    return asking(options, async (server) => {
        const { scopes, id } = await server.me();
        const session = await sessionOf(server, options["session"] as string | undefined);
        return new Drive(server, session, id, options, scopes.includes("approve")).run({ text, ...images });
    });
}

/** What the server refuses is told, with the exit code that belongs to it. */
async function asking(options: Options, work: (server: ServeClient) => Promise<number>): Promise<number> {
    const { ServerRefusal } = await import("@remit/serve/client");
    const server = await serverHere(options);
    try {
        return await work(server);
    } catch (error) {
        if (!(error instanceof ServerRefusal)) throw error;
        if (error.status === 0 || error.status === 401) throw new UsageError(error.message, error.hint);
        say(
            `${paint(process.stderr)("red", plainLine(error.kind))}: ${plainLine(error.message)}${error.hint ? `\n  ${plainLine(error.hint)}` : ""}`,
        );
        return EXIT.failed;
    }
}

/** `--models`: what a turn may name, and what answers where none is named. */
function models(options: Options): Promise<number> {
    return asking(options, async (server) => {
        const view = await server.models();
        if (options["json"] === true) printJson(view as unknown as Json);
        else {
            const rows = view.models.map(({ uri, ok, note }) => [plainLine(uri), ok ? "ready" : "not ready", plainLine(note)]);
            print(`${table(rows, ["MODEL", "STATE", "NOTE"])}\n\nWhere a turn names none: ${plainLine(view.chosen.text)}`);
        }
        return EXIT.ok;
    });
}

/** The one that is named, the newest that is open, or a new one. */
export async function sessionOf(server: ServeClient, named: string | undefined): Promise<SessionInfo> {
    if (named === "new") return server.open();
    const { sessions } = await server.sessions();
    if (named === undefined) {
        const [newest] = sessions;
        return newest === undefined ? server.open() : server.session(newest.id);
    }
    const found = sessions.filter(({ id }) => id === named || id.startsWith(named) || id.startsWith(`session-${named}`));
    if (found.length === 1 && found[0] !== undefined) return server.session(found[0].id);
    const all = sessions.map(({ id }) => id).join(", ") || "none";
    throw new UsageError(
        found.length === 0 ? `there is no session '${named}'` : `more than one session begins with '${named}'`,
        `open are: ${all}`,
    );
}

const EMPTY =
    "The answer is empty. The model `mock:` always answers so; `remit drive --models` shows which model answers, and --model names another.";

/** What a server says, or why it does not: the turn is waited for, and not this. */
async function acked(said: Promise<Ack>): Promise<Ack> {
    try {
        return await said;
    } catch (error) {
        const { ServerRefusal } = await import("@remit/serve/client");
        if (!(error instanceof ServerRefusal)) throw error;
        return { status: "rejected", reason: error.message };
    }
}

export class Drive {
    /** How the turn ended. */
    outcome: Data | null = null;
    readonly #server: ServeClient;
    readonly #session: SessionInfo;
    readonly #client: string;
    readonly #options: Options;
    readonly #mayApprove: boolean;
    readonly #colour = paint(process.stderr);
    readonly #asks = new Map<string, AbortController>();
    readonly #live = process.stdout.isTTY === true;
    #turn = "";
    #isInterrupted = false;
    /** The person waits for it no longer. */
    readonly #left = Promise.withResolvers<null>();
    #shown = "";
    /** The path of what was shown last. */
    #shownAt = "";

    constructor(server: ServeClient, session: SessionInfo, client: string, options: Options, mayApprove: boolean) {
        this.#server = server;
        this.#session = session;
        this.#client = client;
        this.#options = options;
        this.#mayApprove = mayApprove;
    }

    async run(task: NewTurn): Promise<number> {
        const { id, seq, tools } = this.#session;
        const none = "no tools are lent to it (`remit clients pair` gives a browser the code with which it lends its own)";
        this.#say(
            `Session ${id}: ${tools.length === 0 ? none : tools.length === 1 ? "1 tool is lent to it" : `${tools.length} tools are lent to it`}.`,
        );
        if (this.#options["autoApprove"] === true)
            this.#tell(
                this.#colour("red", "--auto-approve: every call that the model wants to make is made, and no person looks at it first."),
            );
        const model = this.#options["model"];
        const over = new AbortController();
        const interrupt = this.#interrupt();
        void this.#left.promise.then(() => over.abort());
        // Before the turn is submitted: a Ctrl-C while its answer is on the way cancels it, too.
        process.on("SIGINT", interrupt);
        try {
            const submitted = this.#submit({ ...task, ...(model === undefined ? {} : { model: String(model) }) });
            const turn = await Promise.race([submitted, this.#left.promise]);
            if (turn === null) return EXIT.cancelled;
            if (turn.position !== undefined && turn.position > 1) this.#say(`${turn.position - 1} turns of this session come first.`);
            for await (const frame of this.#server.events(id, { from: seq, signal: over.signal })) {
                const code = this.#take(frame);
                if (code !== null) return code;
            }
            if (over.signal.aborted) return EXIT.cancelled;
        } finally {
            process.off("SIGINT", interrupt);
            over.abort();
            for (const one of this.#asks.values()) one.abort();
        }
        this.#tell("The session was closed.");
        return EXIT.failed;
    }

    async #submit(task: NewTurn): Promise<TurnInfo> {
        const turn = await this.#server.submit(this.#session.id, task);
        this.#turn = turn.id;
        if (this.#isInterrupted) void this.#cancel();
        return turn;
    }

    #interrupt(): () => void {
        return () => {
            if (this.#isInterrupted) {
                // The REPL goes on.
                if (this.#options["stays"] !== true) process.exit(EXIT.cancelled);
                return this.#left.resolve(null);
            }
            this.#tell("Cancelling the turn; Ctrl-C again leaves it to itself.");
            this.#isInterrupted = true;
            if (this.#turn !== "") void this.#cancel();
        };
    }

    async #cancel(): Promise<void> {
        const ack = await acked(this.#server.cancel(this.#session.id, this.#turn));
        if (ack.status !== "accepted") this.#tell(`not cancelled: ${plainLine(ack.reason)}`);
    }

    /** The exit code, where the turn is over. */
    #take({ event, data }: Frame): number | null {
        if (!isObject(data) || data["turn"] !== this.#turn) return null;
        if (this.#options["json"] === true) sayJson({ event, data });
        switch (event) {
            case "turn.text":
                this.#text(String(data["delta"]), String(data["path"]));
                return null;
            case "turn.restart":
                if (this.#shown === "" || data["path"] !== this.#shownAt) return null;
                this.#break();
                this.#say(this.#colour("dim", "The model begins again: what it said last does not count."));
                return null;
            case "turn.step":
                this.#step(data);
                return null;
            case "ask.requested":
                void this.#ask(data);
                return null;
            case "ask.decided":
            case "ask.withdrawn":
                this.#decided(event, data);
                return null;
            case "turn.ended":
                return this.#ended(data);
            default:
                return null;
        }
    }

    #text(delta: string, path: string): void {
        if (!this.#live || this.#options["json"] === true) return;
        this.#shown += delta;
        this.#shownAt = path;
        process.stdout.write(plain(delta));
    }

    #step(data: Data): void {
        const { kind, tool, use, ok, message } = data;
        if (kind === "tool.started" && tool !== "Conversation") this.#say(this.#colour("dim", `calls ${plainLine(String(use))}`));
        if (kind === "tool.ended" && ok === false) this.#say(this.#colour("yellow", `${plainLine(String(use))} failed`));
        if (kind === "policy.denied") this.#say(this.#colour("yellow", `refused: ${plainLine(String(message ?? data["rule"] ?? ""))}`));
        if (kind === "generate.started" && this.#shown !== "") this.#break();
    }

    async #ask(data: Data): Promise<void> {
        const id = String(data["ask"]);
        const approvers = Array.isArray(data["approvers"]) ? data["approvers"] : [];
        if (!approvers.includes(this.#client)) {
            this.#say(`Waits for an answer of ${approvers.map((one) => plainLine(String(one))).join(", ")}.`);
            return;
        }
        const gone = new AbortController();
        this.#asks.set(id, gone);
        const options = Array.isArray(data["options"]) ? data["options"].map(String) : [];
        if (options.length === 0) return this.#question(id, String(data["question"]));
        const answer = await this.#choice({ question: String(data["question"]), options, detail: data["detail"] ?? null }, gone.signal);
        if (answer === null) return;
        this.#counts(await acked(this.#server.decide(this.#session.id, id, answer as never)));
    }

    #counts(ack: Ack): void {
        if (ack.status !== "accepted") this.#say(`The answer does not count: ${plainLine(ack.reason)}`);
    }

    async #choice(request: AskRequest, signal: AbortSignal): Promise<string | null> {
        this.#break();
        if (this.#options["autoApprove"] === true) {
            this.#tell(this.#colour("red", `approved unseen: ${plainLine(request.question)}`));
            return "once";
        }
        if (isPersonThere() && this.#mayApprove)
            return askChoice(request, silent, { root: process.cwd(), signal, stop: () => void this.#cancel() });
        // DRV2.
        this.#tell(
            `${plainLine(request.question)} no: there is no terminal to ask on\n  The console of the server answers questions, or \`remit drive\` at a terminal.`,
        );
        return request.options.includes("deny") ? "deny" : "give up";
    }

    async #question(id: string, question: string): Promise<void> {
        this.#break();
        if (!isPersonThere()) {
            // DRV2.
            this.#tell(`${plainLine(question)} no answer: there is no terminal to ask on`);
            await this.#server.answer(this.#session.id, id);
            return;
        }
        const answer = await askInput({ name: question } as never, { expected: "your answer" }, silent);
        if (answer !== null) this.#counts(await acked(this.#server.answer(this.#session.id, id, answer)));
        else await this.#cancel();
    }

    #decided(event: string, data: Data): void {
        this.#asks.get(String(data["ask"]))?.abort();
        this.#asks.delete(String(data["ask"]));
        const by = String(data["by"]);
        if (event !== "ask.decided" || by === this.#client) return;
        const decision = plainLine(String(data["decision"]));
        if (by === "repeat") this.#say("The same call again, which was refused: it is not asked about.");
        else if (by === "revoked") this.#say(`Every client that may answer was revoked: ${decision}.`);
        else if (by === "gone") this.#say(`The client that lent the tool is gone: ${decision}.`);
        else if (by !== "expiry") this.#say(`${plainLine(by)} answered: ${decision}.`);
        else this.#say(data["decision"] === null ? "The question got no answer." : `No answer came in time: ${decision}.`);
    }

    #ended(data: Data): number {
        this.outcome = data;
        const { status, value = null, failure } = data;
        const said = typeof value === "string" ? value : value === null ? "" : safeJson(value, 2);
        if (status === "done") {
            if (this.#options["json"] === true) printJson(value, true);
            else if (this.#live && this.#shown.endsWith(said)) process.stdout.write("\n");
            else {
                this.#break();
                print(this.#live ? plain(said) : said);
            }
            if (said === "") this.#tell(EMPTY);
            return EXIT.ok;
        }
        this.#break();
        if (status === "cancelled") {
            this.#tell("The turn was cancelled.");
            return EXIT.cancelled;
        }
        const { kind = "error", message = "the turn failed", hint } = isObject(failure) ? failure : {};
        this.#tell(
            `${this.#colour("red", plainLine(String(kind)))}: ${plain(String(message))}${typeof hint === "string" ? `\n  ${plain(hint)}` : ""}`,
        );
        return EXIT.failed;
    }

    #break(): void {
        if (this.#shown !== "" && !this.#shown.endsWith("\n")) process.stdout.write("\n");
        this.#shown = "";
    }

    /** DRV3. What is said also with `--quiet`. */
    #tell(text: string): void {
        if (this.#options["json"] === true) sayJson({ message: stripVTControlCharacters(text) });
        else say(text);
    }

    #say(text: string): void {
        if (this.#options["quiet"] === true || this.#options["json"] === true) return;
        this.#break();
        say(text);
    }
}
