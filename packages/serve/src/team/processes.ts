/**
 * Server processes that share a ledger: each takes every request, and hands those about a session to the process that has it.
 *
 * Boundary: requests, answers and who has a session; streams are `streams.ts`, what a request does is the routes'. Over the team of the store, so that
 * the processes need no way to each other.
 *
 * PRS1: a request is performed by the process that has the session, as the client that was identified here, and once, however often it is said.
 * PRS2: a session whose process is gone, by its lease, is taken by one of the others, which goes on with it from its log.
 * PRS4: the end of a client's wait is told to the process that performs the request, as if the client had asked it itself.
 * PRS3: where the process that was asked lost the session before it answered, the client is told to ask again: what it did is in the log. It may have
 *     done it without a word, so another process does it only where twice is as good as once.
 */
import { randomBytes } from "node:crypto";
import type { Json } from "@remit/language";
import { LedgerError, type OpenRun, SESSION, type Team } from "@remit/host";
import type { Client } from "../access/clients.ts";
import { within } from "../runs/stream.ts";
import { isEditorSession } from "../session/log.ts";
import type { Session } from "../session/session.ts";
import { type ListedSession, listedSession } from "../wire/messages.ts";
import { type Streamed, type StreamMessage, Streams } from "./streams.ts";

/** Between two looks for sessions without a process, milliseconds. */
const LOOK_MS = 2_000;
/** Between two times that a request is said while no process takes it, milliseconds. */
const AGAIN_MS = 700;
/** So often the other processes are asked what they have, where not all that they have was told. */
const ASKS = 3;
/** How long a process is looked for, milliseconds. */
const FIND_MS = 15_000;
/** Requests that were performed are known for so long, milliseconds. */
const KNOWN_MS = 60_000;

export interface Forwarded {
    readonly session: string;
    readonly client: Client;
    readonly method: string;
    /** With its query. */
    readonly path: string;
    readonly headers: { readonly [name: string]: string };
    /** Empty where there is none. */
    readonly body: string;
}

export interface Answered {
    readonly status: number;
    readonly headers: { readonly [name: string]: string };
    readonly body: string;
    /** The body is bytes, in base64. */
    readonly isBase64?: boolean;
}

type Message =
    | StreamMessage
    | ({ readonly kind: "request"; readonly id: string } & Forwarded)
    /** `epoch`: of the owner that the process is of the session. */
    | { readonly kind: "taken"; readonly id: string; readonly epoch: number }
    | { readonly kind: "wanted"; readonly id: string }
    /** Its client waits no longer. */
    | { readonly kind: "unwanted"; readonly id: string }
    | ({ readonly kind: "answered"; readonly id: string } & Answered)
    /** What each process has is wanted. */
    | { readonly kind: "list"; readonly id: string }
    | { readonly kind: "listed"; readonly id: string; readonly sessions: readonly ListedSession[] }
    | { readonly kind: "moved"; readonly session: string }
    | { readonly kind: "revoked"; readonly client: string }
    | { readonly kind: "clients" };

export interface ProcessesSetup {
    readonly team: Team;
    readonly sessions: ReadonlyMap<string, Session>;
    /** Of the owner that this process is of a session. */
    epochOf(id: string): number;
    /** `signal`: the client waits no longer. */
    perform(request: Forwarded, signal: AbortSignal): Promise<Answered>;
    /** Tries to take a session whose process is gone. */
    take(id: string): Promise<void>;
    /** Another process has it now. */
    lost(session: Session): void;
    /** Another process changed the list of clients; revoked this one. */
    clients(revoked: string | null): void;
    failed(error: unknown): void;
}

interface Performed {
    readonly made: Promise<Answered>;
    isOver: boolean;
    readonly end: () => void;
}

interface Asked {
    taken(epoch: number): void;
    readonly answered: (answer: Answered) => void;
}

export class Processes {
    readonly streams: Streams;
    readonly #setup: ProcessesSetup;
    readonly #asked = new Map<string, Asked>();
    /** What hears the lists of others, by the id of the question. */
    readonly #lists = new Map<string, (sessions: readonly ListedSession[]) => void>();
    readonly #performed = new Map<string, Performed>();
    #end: () => void = () => undefined;
    #timer: NodeJS.Timeout | undefined;
    #looking: Promise<void> | null = null;
    #closed = false;

    private constructor(setup: ProcessesSetup) {
        this.#setup = setup;
        this.streams = new Streams((message) => this.say(message), setup.sessions, setup.failed);
    }

    static async among(setup: ProcessesSetup): Promise<Processes> {
        const made = new Processes(setup);
        made.#end = await setup.team.hear((message) => made.#hear(message as unknown as Message));
        await made.look();
        made.#timer = setInterval(() => void made.look(), LOOK_MS);
        made.#timer.unref();
        return made;
    }

    /** What cannot be said now is lost, as with a process that is gone. */
    async say(message: Message): Promise<void> {
        if (this.#closed) return;
        try {
            await this.#setup.team.say(message as unknown as Json);
        } catch (error) {
            if (!(error instanceof LedgerError)) throw error;
        }
    }

    /** Whether there is such a session, and it is not here. One whose process is gone is taken first (PRS2). */
    async has(id: string): Promise<boolean> {
        return (await this.#elsewhere(id)) !== null;
    }

    /** What a stream of a session that another process has is read from; null where `has` says no. */
    async streamed(id: string): Promise<Streamed | null> {
        const there = await this.#elsewhere(id);
        return there === null ? null : this.streams.of(id, there.epoch);
    }

    async #elsewhere(id: string): Promise<Pick<OpenRun, "epoch"> | null> {
        if (this.#setup.sessions.has(id) || !id.startsWith(SESSION)) return null;
        const found = (await this.#setup.team.open(id)).find((one) => one.id === id);
        if (found === undefined || isEditorSession(id)) return null;
        if (!found.live) await this.#take(id);
        return this.#setup.sessions.has(id) ? null : found;
    }

    /** Sessions that other processes have, by one question to all of them; one of a process that does not answer now is left out. */
    async others(): Promise<ListedSession[]> {
        const all = await this.#setup.team.open(SESSION);
        const wanted = new Set(all.flatMap(({ id }) => (isEditorSession(id) || this.#setup.sessions.has(id) ? [] : [id])));
        const found = new Map<string, ListedSession>();
        const id = randomBytes(9).toString("hex");
        const whole = new Promise<true>((resolve) => {
            this.#lists.set(id, (sessions) => {
                for (const one of sessions) if (wanted.delete(one.id)) found.set(one.id, one);
                if (wanted.size === 0) resolve(true);
            });
        });
        try {
            for (let asks = 0; wanted.size > 0 && asks < ASKS; asks++) {
                await this.say({ kind: "list", id });
                await within(whole, AGAIN_MS);
            }
        } finally {
            this.#lists.delete(id);
        }
        return [...found.values()];
    }

    /** PRS1. Null where no process has the session any more, or none answers. `signal`: its client waits no longer. */
    async forward(request: Forwarded, signal: AbortSignal): Promise<Answered | null> {
        const id = randomBytes(9).toString("hex");
        let takenAt: number | null = null;
        const answer = new Promise<Answered | null>((resolve) => {
            this.#asked.set(id, { taken: (epoch) => (takenAt = epoch), answered: resolve });
            const left = (): void => {
                resolve(null);
                // PRS4.
                if (this.#asked.has(id)) void this.say({ kind: "unwanted", id });
            };
            signal.addEventListener("abort", left, { once: true });
        });
        try {
            for (const began = Date.now(); ; ) {
                // An answer may be lost on its way, as all that is said.
                await this.say(takenAt === null ? { kind: "request", id, ...request } : { kind: "wanted", id });
                const said = await within(answer, AGAIN_MS);
                if (said !== undefined) return said;
                if (takenAt === null && Date.now() - began > FIND_MS) return null;
                const isHere = (): boolean => this.#setup.sessions.has(request.session);
                if (!isHere()) {
                    const there = (await this.#setup.team.open(request.session)).find((one) => one.id === request.session);
                    // PRS3.
                    if (there === undefined || (takenAt !== null && (!there.live || there.epoch !== takenAt))) return null;
                    if (!there.live) await this.#take(request.session);
                }
                // PRS3: the process that was asked before may have done it.
                if (isHere()) return isRepeatable(request) ? await this.#setup.perform(request, signal) : null;
            }
        } finally {
            this.#asked.delete(id);
        }
    }

    async #take(id: string): Promise<void> {
        await this.#setup.take(id);
        if (!this.#setup.sessions.has(id)) return;
        this.streams.end(id);
        await this.say({ kind: "moved", session: id });
    }

    #hear(message: Message): void {
        switch (message.kind) {
            case "request":
                if (this.#setup.sessions.has(message.session)) void this.#perform(message);
                return;
            case "taken":
                this.#asked.get(message.id)?.taken(message.epoch);
                return;
            case "wanted": {
                const found = this.#performed.get(message.id);
                if (found?.isOver === true) void this.#answer(message.id, found.made);
                return;
            }
            case "unwanted":
                this.#performed.get(message.id)?.end();
                return;
            case "answered":
                this.#asked.get(message.id)?.answered(message);
                return;
            case "list":
                if (!this.#lists.has(message.id) && this.#setup.sessions.size > 0)
                    void this.say({
                        ...message,
                        kind: "listed",
                        sessions: [...this.#setup.sessions.values()].map((one) => listedSession(one.info())),
                    });
                return;
            case "listed":
                this.#lists.get(message.id)?.(message.sessions);
                return;
            case "moved": {
                this.streams.end(message.session);
                const mine = this.#setup.sessions.get(message.session);
                if (mine !== undefined) this.#setup.lost(mine);
                return;
            }
            case "revoked":
                this.streams.drop(message.client);
                this.#setup.clients(message.client);
                return;
            case "clients":
                this.#setup.clients(null);
                return;
            default:
                this.streams.hear(message);
        }
    }

    async #perform({ id, ...request }: Extract<Message, { kind: "request" }>): Promise<void> {
        const found = this.#performed.get(id);
        const over = new AbortController();
        const one = found ?? { made: this.#setup.perform(request, over.signal), isOver: false, end: () => over.abort() };
        if (found === undefined) {
            this.#performed.set(id, one);
            const ended = (): void => {
                one.isOver = true;
                setTimeout(() => this.#performed.delete(id), KNOWN_MS).unref();
            };
            one.made.then(ended, ended);
        }
        await this.say({ kind: "taken", id, epoch: this.#setup.epochOf(request.session) });
        await this.#answer(id, one.made);
    }

    async #answer(id: string, made: Promise<Answered>): Promise<void> {
        try {
            await this.say({ kind: "answered", id, ...(await made) });
        } catch (error) {
            this.#setup.failed(error);
        }
    }

    /** PRS2. */
    look(): Promise<void> {
        this.#looking ??= this.#look()
            .catch((error: unknown) => this.#setup.failed(error))
            .finally(() => {
                this.#looking = null;
            });
        return this.#looking;
    }

    async #look(): Promise<void> {
        await this.streams.tick();
        this.#setup.clients(null);
        const open = await this.#setup.team.open(SESSION);
        this.streams.owned(open);
        for (const { id, epoch, live } of open) {
            if (isEditorSession(id) || this.#closed) continue;
            const mine = this.#setup.sessions.get(id);
            if (mine !== undefined && this.#setup.epochOf(id) < epoch) this.#setup.lost(mine);
            else if (mine === undefined && !live) await this.#take(id);
        }
    }

    async close(): Promise<void> {
        clearInterval(this.#timer);
        this.#end();
        await this.#looking;
        this.streams.close();
        this.#closed = true;
    }
}

/** It reads, or it has a key under which the session knows it again. */
function isRepeatable({ method, headers }: Forwarded): boolean {
    return method === "GET" || headers["idempotency-key"] !== undefined;
}
