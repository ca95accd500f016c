/**
 * A server: sessions over HTTP, one ledger below them.
 *
 * Boundary: puts the rooms together, listens, and ends in good order. What a request does is `http/`'s, what a session does `session/`'s.
 *
 * SRV1: a server that ends lets its turns stop where they are: the next one that opens the ledger goes on with them.
 * SRV2: it listens on loopback unless told otherwise, and says so where it does not.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { LENT, isObject, type Json } from "@remit/language";
import type { LedgerStore, LoadOptions, Meant, Process, RemitProgram, RunCarrier, RunCarriers, Scrubber, Team } from "@remit/host";
import {
    isSession,
    knownSecrets,
    type Ledger,
    LedgerError,
    modelMeant,
    openLedger,
    openProcess,
    SESSION,
    shownStore,
    stateFolder,
} from "@remit/host";
import { Allowance } from "./access/allowance.ts";
import { type Client, type ClientList, Clients, type Minted } from "./access/clients.ts";
import { bracketed, checkPort, listening, notListening } from "./http/listening.ts";
import { performed } from "./team/performed.ts";
import { Processes } from "./team/processes.ts";
import type { Streamed } from "./team/streams.ts";
import { Codes } from "./access/codes.ts";
import { type Identity, identityOf } from "./access/identity.ts";
import { SharedClients, SharedCodes, SharedLogins } from "./access/shared.ts";
import { Guard, OWNER, VIEWER } from "./access/guard.ts";
import { brainOf } from "./brain/program.ts";
import { ServeError } from "./faces/error.ts";
import { announce, type Announced } from "./discovery.ts";
import { appOf } from "./http/app.ts";
import { Sockets } from "./http/sockets.ts";
import { LimitError, limitsOf, type ServeLimits } from "./access/limits.ts";
import { modelsView, programView } from "./runs/program.ts";
import { isEditorSession, SessionLog, type Through } from "./session/log.ts";
import { Session } from "./session/session.ts";
import { type Fields, fieldsOf, LEVELS, type Level, type Log } from "./watch/log.ts";
import { Metrics } from "./watch/metrics.ts";
import { Ready } from "./watch/ready.ts";
import { KNOWN_PORTS } from "./wire/bounds.ts";
import { ACCEPTED, type Ack, type NewSession, rejected, type Scope } from "./wire/messages.ts";
import { Recordings } from "./ui/recording.ts";
import type { ModelsView, ProgramView } from "./wire/runs.ts";

export interface ServeOptions {
    /** Program of the turns; default: the one that comes with the server. */
    readonly program?: string;
    /** For every `import llm`, where a session or a turn names none. */
    readonly model?: string;
    readonly host?: string;
    /** 0: any that is free. */
    readonly port?: number;
    /** Without `port`: it listens on the first of `KNOWN_PORTS` that is free, where paired panels look for it. */
    readonly findable?: boolean;
    /** Origins of pages that may use it. */
    readonly origins?: readonly string[];
    /** Origins that tools of every session may reach, those that are lent and those of HTTP; default: all. */
    readonly reach?: readonly string[];
    /** Further names that it is reached by, behind a proxy. */
    readonly hostNames?: readonly string[];
    /** Clients reach it over TLS: cookies are marked so. */
    readonly secure?: boolean;
    /** Path of the ledger; default: as for every command. */
    readonly ledger?: string;
    /** Folder of the list of clients and of the file that says where the server is; default: the user's state folder. */
    readonly state?: string;
    /** Bounds that differ from the default. */
    readonly bounds?: Partial<ServeLimits>;
    readonly process?: Process;
    /** Shows the ledger and does nothing else: no program, no sessions, no clients, and programs of the same user do not find it. */
    readonly view?: boolean;
    /** Carries out the runs of turns, on Temporal for one; default: this process does. */
    readonly carriers?: RunCarriers;
    /** For the program, as for `load`. */
    readonly load?: Omit<LoadOptions, "ledger" | "process" | "model" | "tools">;
    readonly log?: Log;
    /** The least level that is written; default: `info`. */
    readonly logLevel?: Level;
}

type Setup = Parameters<typeof Session.again>[0];

const MODELS_MS = 5000;
const CODE_MS = 10 * 60_000;

/** What a session's log says of the program that its turns run. */
type ProgramFacts = Pick<RemitProgram, "form" | "hash" | "file" | "root">;

export class Server {
    readonly sessions = new Map<string, Session>();
    readonly clients: ClientList;
    readonly guard: Guard;
    readonly pairings: Codes<{ readonly scopes: readonly Scope[]; readonly as?: string | undefined }>;
    readonly logins: Codes<Client>;
    readonly tickets: Codes<Client>;
    /** The others on the same ledger; null where this process has it alone. */
    processes: Processes | null = null;
    readonly #epochs = new Map<string, number>();
    /** Sessions that cannot go on here, as the log has said. */
    readonly #stuck = new Set<string>();
    readonly #app = appOf(this);
    readonly ownerToken: string;
    #identity: Identity | null = null;
    readonly isSecure: boolean;
    readonly ledger: Ledger;
    /** The ledger without what is known to be a secret. */
    readonly shown: LedgerStore;
    readonly secrets: Scrubber;
    readonly recordings: Recordings;
    readonly #options: ServeOptions;
    readonly #brain: ReturnType<typeof brainOf>;
    readonly #process: Process;
    readonly limits: ServeLimits;
    readonly allowance: Allowance;
    readonly ready: Ready;
    readonly metrics = new Metrics({
        sessions: () => [...this.sessions.values()].map((one) => one.info()),
        sockets: () => this.sockets?.clients.size ?? 0,
    });
    #http: HttpServer | null = null;
    /** @internal */
    sockets: Sockets | null = null;
    #announced: Announced | null = null;
    /** Of the runs of turns; null: this process. */
    #carrier: RunCarrier | null = null;
    #facts: Promise<ProgramFacts> | null = null;
    #models: { readonly at: number; readonly view: Promise<ModelsView> } | null = null;
    isReady = false;
    url = "";

    private constructor(options: ServeOptions, ledger: Ledger, process: Process) {
        this.#options = options;
        this.#process = process;
        this.ledger = ledger;
        this.ready = new Ready(ledger.store, (level, message) => this.log(level, message));
        this.ownerToken = `remit_owner_${randomBytes(32).toString("base64url")}`;
        const shared = options.view === true ? undefined : ledger.store.team?.shared;
        this.clients =
            shared === undefined
                ? new Clients(this.#folder())
                : new SharedClients(shared, (revoked) => {
                      void this.processes?.say(revoked === null ? { kind: "clients" } : { kind: "revoked", client: revoked });
                  });
        const codes = (kind: string): SharedCodes<Json> | null => (shared === undefined ? null : new SharedCodes(shared, kind));
        this.pairings = new Codes(CODE_MS, codes("pairing"));
        this.logins = new Codes(CODE_MS, codes("login-code"));
        this.tickets = new Codes(60_000, codes("ticket"));
        this.isSecure = options.secure === true;
        this.limits = limitsOf(options.bounds);
        this.allowance = new Allowance(this.limits, (by) => this.metrics.stream(by));
        this.secrets = knownSecrets(process.env);
        this.secrets.add({ name: "owner token", value: this.ownerToken });
        this.shown = shownStore(ledger.store, this.secrets);
        this.recordings = new Recordings(this.shown, (why) => this.log("error", `a turn is not told to pages any more: ${String(why)}`));
        this.guard = new Guard({
            clients: this.clients,
            shared: shared === undefined ? null : new SharedLogins(shared),
            ownerToken: this.ownerToken,
            own: [...LOOPBACK, ...(options.host === undefined ? [] : [bracketed(options.host.toLowerCase())])],
            named: (options.hostNames ?? []).map((one) => one.toLowerCase()),
            isSecure: this.isSecure,
            origins: options.origins ?? [],
        });
        this.#brain = brainOf(
            options.program,
            {
                ...options.load,
                process,
                ledger: ledger.store,
                ...(options.model === undefined ? {} : { model: options.model }),
                ...(options.reach === undefined ? {} : { reach: [{ origins: options.reach, tools: [LENT], by: "the server's --reach" }] }),
            },
            // The owner's turns are for whom the command says; another client's for the one whom it was paired for.
            (client, owner) => (client === OWNER.id ? owner : this.clients.get(client)?.as),
        );
    }

    /** Rejects with `ServeError`, `ClientsError`, `LedgerError`, or `RemitError` where the program has errors. */
    static async start(options: ServeOptions = {}): Promise<Server> {
        const process = options.process ?? openProcess();
        const ledger = await openLedger(options.ledger, { process, readOnly: options.view === true });
        const server = new Server(options, ledger, process);
        try {
            if (options.view !== true) {
                await server.#served();
                await server.#sameKey();
                await server.clients.refresh();
                server.#carrier = (await options.carriers?.(ledger.store)) ?? null;
                // Before it listens: else it would say that there is no session of the other processes.
                await (ledger.store.team === undefined ? server.#again() : server.#among(ledger.store.team));
            }
            await server.#listen();
        } catch (error) {
            await server.stop();
            throw error;
        }
        server.isReady = true;
        return server;
    }

    async open(client: Client, about: NewSession): Promise<Session> {
        const { sessions } = this.limits;
        if (this.sessions.size >= sessions)
            throw new LimitError(
                `${sessions} sessions are open, which is as many as may be`,
                "close one, or start the server with a higher --limit sessions=…",
            );
        const { form, hash, file, root } = await this.#served();
        const id = `${SESSION}${randomUUID().slice(0, 13)}`;
        const log = await SessionLog.make(this.ledger.store, { id, program: form, hash, file, root }, this.#through());
        const session = await Session.open(this.#setup(log), { ...about, title: about.title ?? "", by: client.id });
        this.#epochs.set(id, log.epoch);
        this.sessions.set(id, session);
        return session;
    }

    /** What a stream of the session is read from; null where there is no such session. */
    async streamed(id: string): Promise<Streamed | null> {
        return (await this.processes?.streamed(id)) ?? this.sessions.get(id) ?? null;
    }

    async close(session: Session, client: Client): Promise<Ack> {
        const { by } = session.info();
        if (by !== client.id && !client.scopes.includes("admin")) return rejected("another client opened the session");
        await session.close(true);
        this.sessions.delete(session.id);
        this.#epochs.delete(session.id);
        return ACCEPTED;
    }

    /** A client of its own, with its token. Throws `LimitError`. */
    async mint(name: string, scopes: readonly Scope[], given: Minted = {}): Promise<{ readonly client: Client; readonly token: string }> {
        const { clients } = this.limits;
        if (this.clients.list().filter(({ revoked }) => revoked === undefined).length >= clients)
            throw new LimitError(
                `there are ${clients} clients, which is as many as may be`,
                "revoke one, or start the server with a higher --limit clients=…",
            );
        const made = await this.clients.mint(name, scopes, given);
        this.log("info", "client.made", { client: made.client.id, scopes: made.client.scopes.join(" ") });
        return made;
    }

    async revoke(id: string): Promise<Ack> {
        if (!(await this.clients.revoke(id))) return rejected("there is no such client, or it was revoked before");
        this.log("info", "client.revoked", { client: id });
        this.processes?.streams.drop(id);
        await this.#revoked(id);
        return ACCEPTED;
    }

    async #revoked(id: string): Promise<void> {
        await Promise.all([...this.sessions.values()].map((session) => session.revoked(id)));
    }

    isRevoked({ id }: Pick<Client, "id">): boolean {
        return this.clients.get(id)?.revoked !== undefined;
    }

    /** Who this user's servers are to clients that keep a token. Throws `ClientsError`. */
    identity(): Identity {
        this.#identity ??= identityOf(this.#folder());
        return this.#identity;
    }

    /** That it listens on. */
    get port(): number {
        return Number(new URL(this.url).port);
    }

    /** A code that the console is opened with, as its owner. */
    loginCode(): Promise<string> {
        return this.logins.code(this.#options.view === true ? VIEWER : OWNER);
    }

    /** Null where it runs none. */
    async programView(): Promise<ProgramView | null> {
        const { program, view } = this.#options;
        if (view === true) return null;
        const { form, hash, file } = await this.#served();
        return programView({ program, form, hash, file, process: this.#process });
    }

    /** Loaded once, to see that it can be, and for its name. Rejects with `RemitError`. */
    #served(): Promise<ProgramFacts> {
        this.#facts ??= (async () => {
            const program = await this.#brain.first();
            await program.close();
            const { form, hash, file, root } = program;
            return { form, hash, file, root };
        })();
        return this.#facts;
    }

    /** What was found out is told for a few seconds: each turn that names a model asks. */
    modelsView(): Promise<ModelsView> {
        const known = this.#models;
        if (known !== null && Date.now() - known.at < MODELS_MS) return known.view;
        const made = { at: Date.now(), view: this.#listModels() };
        made.view.catch(() => (this.#models = null));
        this.#models = made;
        return made.view;
    }

    async #listModels(): Promise<ModelsView> {
        const { load, model, view } = this.#options;
        const files = view === true ? [] : (await this.#served()).form.files;
        const imported = files.flatMap(({ imports }) => imports.flatMap(({ what, uri }) => (what === "llm" ? [uri] : [])));
        return modelsView(this.#process, load?.workspace ?? this.#process.cwd, { model, imported, trust: load?.trust });
    }

    /** What a client that names a model means. */
    async modelMeant(said: string): Promise<Meant> {
        // The mock reaches nothing and costs nothing.
        return said === "mock:" ? { ok: true, model: said } : modelMeant(said, (await this.modelsView()).models);
    }

    log(level: Level, message: string, about: Fields = {}): void {
        const { log, logLevel = "info" } = this.#options;
        if (log === undefined || LEVELS.indexOf(level) > LEVELS.indexOf(logLevel)) return;
        log(level, this.secrets.scrub(message) as string, this.secrets.scrub(about) as Fields);
    }

    /** Null where it can take requests; else why not. */
    async notReady(): Promise<string | null> {
        return this.isReady ? this.ready.why() : "it begins, or it stops";
    }

    /** What a session tells is counted, and written without what is said in it. */
    #heard(session: string, event: string, data: Json): void {
        const fields = fieldsOf(session, event, data);
        if (fields !== null) this.log("info", event, fields);
        if (!isObject(data)) return;
        if (event === "turn.ended") this.metrics.turn(String(data["status"]));
        if (event === "call.ended") this.metrics.call(data["ok"] === true);
    }

    #through(): Through {
        return {
            scrub: this.secrets.scrub,
            heard: (...event) => this.#heard(...event),
            stalled: (session, why) => this.ready.stalls.put(session, why),
        };
    }

    /** SRV1. */
    async stop(): Promise<void> {
        this.isReady = false;
        this.#announced?.remove();
        const closed = new Promise<void>((resolve) => (this.#http === null ? resolve() : this.#http.close(() => resolve())));
        if (this.#http !== null) this.log("info", "stopping", { sessions: this.sessions.size });
        await this.processes?.close();
        await Promise.all([...this.sessions.values()].map((session) => this.#left(session)));
        await this.sockets?.leave();
        this.#http?.closeAllConnections();
        await closed;
        await this.#carrier?.[Symbol.asyncDispose]();
        this.ready.close();
        await this.ledger.close();
        if (this.#options.process === undefined) await this.#process.close();
    }

    #setup(log: SessionLog): Setup {
        const { ledger, limits: bounds, secrets } = this;
        const failed = (error: unknown): void => {
            this.log("error", `the session ${log.id} cannot go on here: ${String(error)}`);
            const session = this.sessions.get(log.id);
            if (session !== undefined) this.#lost(session).catch(failed);
        };
        const stalled: Setup["stalled"] = (at, why) => this.ready.stalls.put(log.id, why, at);
        const isRevoked = (id: string): boolean => this.isRevoked({ id });
        return { log, ledger, brain: this.#brain, carrier: this.#carrier, bounds, scrub: secrets.scrub, isRevoked, failed, stalled };
    }

    /** Sessions of servers before. */
    async #again(): Promise<void> {
        const { store } = this.ledger;
        for (const { id, status, live } of await store.runs(Number.MAX_SAFE_INTEGER, () => undefined)) {
            if (!isSession(id) || isEditorSession(id) || status === "done" || live) continue;
            await this.#take(id);
        }
    }

    async #take(id: string): Promise<void> {
        try {
            const log = await SessionLog.again(this.ledger.store, id, this.#through());
            const session = await Session.again(this.#setup(log));
            if (session.closed) return await session.close(true);
            this.#epochs.set(id, log.epoch);
            this.sessions.set(id, session);
        } catch (error) {
            if (!(error instanceof LedgerError)) throw error;
            // Another process was faster, maybe while this one begins.
            if (this.ledger.store.team !== undefined && error.code === "owned") return;
            if (this.#stuck.has(id)) return;
            this.#stuck.add(id);
            this.log("error", `the session ${id} cannot go on: ${error.message}`);
        }
    }

    /** Another process has it: nothing that is said here counts any more. */
    async #lost(session: Session): Promise<void> {
        this.sessions.delete(session.id);
        this.#epochs.delete(session.id);
        await this.#left(session);
    }

    /** A ledger that takes nothing now cannot be told that the session is let go. */
    async #left(session: Session): Promise<void> {
        try {
            await session.close(false);
        } catch (error) {
            if (!(error instanceof LedgerError)) throw error;
            this.log("warn", `the session ${session.id} was not let go: ${error.message}`);
        }
    }

    /** Rejects with `ServeError` where the others have another key: they would hear nothing of each other. */
    async #sameKey(): Promise<void> {
        const shared = this.ledger.store.team?.shared;
        if (shared === undefined || (await shared.put("server", "key", null)) || (await shared.get("server", "key")) !== null) return;
        throw new ServeError(
            "this server has another key than the servers before it on the same ledger",
            "give all of them the same one: REMIT_LEDGER_KEY, or the same `key` file in their configuration folders",
        );
    }

    async #among(team: Team): Promise<void> {
        const failed = (error: unknown): void => this.log("error", String((error as Error).stack ?? error));
        const taking = new Map<string, Promise<void>>();
        this.processes = await Processes.among({
            team,
            sessions: this.sessions,
            epochOf: (id) => this.#epochs.get(id) ?? 0,
            perform: (request, signal) => performed(this.#app, request, signal),
            take: (id) => {
                const under = taking.get(id) ?? this.#take(id).finally(() => taking.delete(id));
                taking.set(id, under);
                return under;
            },
            lost: (session) => void this.#lost(session).catch(failed),
            clients: (revoked) => {
                this.clients.refresh(true).catch(failed);
                if (revoked !== null) this.#revoked(revoked).catch(failed);
            },
            failed,
        });
    }

    async #listen(): Promise<void> {
        const { host = "127.0.0.1", port, findable } = this.#options;
        const { unknown, heartbeat, head, body, connections } = this.limits;
        const sockets = new Sockets({ unknown, heartbeat });
        this.sockets = sockets;
        const http = createAdaptorServer({
            fetch: this.#app.fetch,
            websocket: { server: sockets },
            serverOptions: {
                headersTimeout: head,
                requestTimeout: Math.max(head, body),
                connectionsCheckingInterval: Math.min(head, body, 5000),
                // What else asks for another protocol is answered in this one.
                shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
            },
        }) as HttpServer;
        this.#http = http;
        http.maxConnections = connections;
        const hint = "choose another with --port or --host";
        checkPort(port ?? 0, hint);
        const ports = findable === true && port === undefined ? [...KNOWN_PORTS, 0] : [port ?? 0];
        for (const one of ports) {
            const error = await listening(http, one, host);
            if (error === null) break;
            if (error.code !== "EADDRINUSE" || one === ports.at(-1)) throw notListening(error, { host, port: one, hint });
        }
        const { port: bound } = http.address() as AddressInfo;
        this.guard.listens(bound);
        this.url = `http://${bracketed(host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host)}:${bound}`;
        if (this.#options.view !== true) this.#announced = announce(this.#folder(), { url: this.url, token: this.ownerToken });
    }

    #folder(): string {
        return join(this.#options.state ?? stateFolder(this.#process.env), "serve");
    }
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
