/**
 * `/browser TASK`: a turn of a server, whose answer goes on into the conversation with its origins.
 *
 * Boundary: a turn, as `remit drive` does it. The server is one of this user that runs, else one in this process, which ends with it.
 *
 * BRW1: a turn that fails, is cancelled or says nothing gives the conversation nothing.
 * BRW2: an origin that the server names is data: none says that a value is endorsed, or who may read it.
 */
import { join } from "node:path";
import { type HostToolSource, stateFolder, withOrigins } from "@remit/host";
import type { Json } from "@remit/language";
import type { ServeClient, Server, SessionInfo } from "@remit/serve";
import { Drive, sessionOf } from "./drive.ts";
import { here, ledgerHere } from "../here.ts";
import { plainLine, say } from "../io.ts";
import { hostOptions } from "../running.ts";
import { notBegun, serverHere, serving } from "../serving.ts";

type Options = Readonly<Record<string, unknown>>;

export class BrowserTurns {
    readonly #options: Options;
    #server: Server | null = null;
    #session: string | undefined;

    constructor(options: Options) {
        this.#options = options;
    }

    /** What the conversation's program calls: `Browser.turn({ task })`. */
    get tool(): HostToolSource {
        return {
            turn: async (input: { readonly task: string }) => {
                const { value, origins } = await this.#turn(input.task);
                return withOrigins(value, { "": origins });
            },
        };
    }

    async close(): Promise<void> {
        await this.#server?.stop();
        this.#server = null;
    }

    async #turn(task: string): Promise<{ readonly value: Json; readonly origins: readonly string[] }> {
        const cancelled = Promise.withResolvers<never>();
        const interrupt = (): void => cancelled.reject(new Error("the turn gave nothing: it was cancelled"));
        process.on("SIGINT", interrupt);
        const there = Promise.race([this.#there(), cancelled.promise]);
        // From here on a Ctrl-C is the turn's.
        const { client, scopes, id, session } = await there.finally(() => process.off("SIGINT", interrupt));
        const drive = new Drive(client, session, id, { ...this.#options, json: false, stays: true }, scopes.includes("approve"));
        await drive.run({ text: task });
        const { status = "", value = null, origins = [] } = drive.outcome ?? {};
        if (status !== "done") throw new Error(`the turn gave nothing: it was ${status === "" ? "not finished" : String(status)}`);
        // BRW1.
        if (value === null || (typeof value === "string" && value.trim() === ""))
            throw new Error("the turn gave nothing: its answer is empty");
        return { value, origins: Array.isArray(origins) ? origins.map(String).filter(isOrigin) : [] };
    }

    async #there(): Promise<{
        readonly client: ServeClient;
        readonly scopes: readonly string[];
        readonly id: string;
        readonly session: SessionInfo;
    }> {
        const client = await this.#client();
        const me = await client.me();
        const session = await sessionOf(client, this.#session);
        this.#session = session.id;
        return { ...me, client, session };
    }

    async #client(): Promise<ServeClient> {
        const { servers } = await import("@remit/serve/discovery");
        const isThere = this.#options["url"] !== undefined || servers(join(stateFolder(here().env), "serve")).length > 0;
        if (!isThere) await this.#begin();
        return serverHere(this.#options);
    }

    async #begin(): Promise<void> {
        const serve = await serving();
        const { process: on, model, ...load } = hostOptions(this.#options);
        const log = (_level: string, message: string): void => say(plainLine(message));
        const own = { ...(model === undefined ? {} : { model }), ...(on === undefined ? {} : { process: on }) };
        const about = { ...own, findable: true, ledger: ledgerHere(this.#options), load, log, logLevel: "warn" as const };
        this.#server = await serve.Server.start(about).catch((error: unknown) => {
            throw notBegun(serve, error);
        });
        say(`No server runs, so one begins here, at ${this.#server.url}; it ends with the REPL.`);
        say(`The console: ${this.#server.url}/#code=${await this.#server.loginCode()}`);
    }
}

/** BRW2. */
function isOrigin(said: string): boolean {
    return /^[a-z][a-z0-9_-]*(:[^\s,"]+)?$/i.test(said) && !/^(?:only|endorsed):/.test(said);
}
