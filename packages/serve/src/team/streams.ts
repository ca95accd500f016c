/**
 * Streams of sessions that another process has: its frames come over the team, in its order and with its numbers.
 *
 * Boundary: between listeners here and there. Who has a session is `processes.ts`'s.
 *
 * STM1: a client that reads here is present there, so that its tools stay lent and its calls reach it; its process says every so often that it still
 *       reads, so that a process that is killed takes its clients along.
 * STM2: where the session moves the streams end: their readers come back with the number of the last event they have seen.
 */
import { randomBytes } from "node:crypto";
import type { Json } from "@remit/language";
import { Listener } from "../session/log.ts";
import type { Session } from "../session/session.ts";
import type { Frame } from "../wire/messages.ts";
import { Replay } from "./replay.ts";

/** So long the other process has for the first frames, milliseconds. */
const FIRST_MS = 10_000;
/** A stream of which nothing was heard for so long is over, milliseconds. */
const SILENT_MS = 15_000;
const WAIT_MS = 30_000;

export type StreamMessage =
    | { readonly kind: "listen"; readonly stream: string; readonly session: string; readonly client: string; readonly after: number }
    | { readonly kind: "frames"; readonly stream: string; readonly frames: readonly Frame[]; readonly before: boolean }
    | { readonly kind: "begun"; readonly stream: string }
    | { readonly kind: "ended"; readonly stream: string }
    | { readonly kind: "left"; readonly stream: string }
    | { readonly kind: "here"; readonly streams: readonly string[] };

/** What a stream is read from: a session, or one that another process has. */
export type Streamed = Pick<Session, "listen" | "gone">;

interface Read {
    readonly session: string;
    readonly listener: Listener;
    readonly before: Replay;
    readonly timer: NodeJS.Timeout;
}

interface Told {
    readonly listener: Listener;
    seen: number;
}

export class Streams {
    /** Those that are read here. */
    readonly #read = new Map<string, Read>();
    /** Those that others read. */
    readonly #told = new Map<string, Told>();
    readonly #say: (message: StreamMessage) => Promise<void>;
    readonly #sessions: ReadonlyMap<string, Session>;

    readonly #failed: (error: unknown) => void;

    constructor(say: (message: StreamMessage) => Promise<void>, sessions: ReadonlyMap<string, Session>, failed: (error: unknown) => void) {
        this.#say = say;
        this.#failed = failed;
        this.#sessions = sessions;
    }

    of(session: string): Streamed {
        return {
            listen: (client, after) => ({ listener: this.#listen(session, client, after), calls: [] as readonly Json[] }),
            // STM1: its listener says it.
            gone: () => undefined,
        };
    }

    #listen(session: string, client: string, after: number): Listener {
        const stream = randomBytes(9).toString("hex");
        const before = new Replay();
        const listener = new Listener(client, before, () => {
            const one = this.#read.get(stream);
            if (one === undefined) return;
            this.#read.delete(stream);
            clearTimeout(one.timer);
            before.end();
            void this.#say({ kind: "left", stream });
        });
        const timer = setTimeout(() => listener.close(), FIRST_MS);
        this.#read.set(stream, { session, listener, before, timer });
        void this.#say({ kind: "listen", stream, session, client, after });
        return listener;
    }

    /** Ends what is read here of a session (STM2). */
    end(session: string): void {
        for (const one of this.#read.values()) if (one.session === session) one.listener.close();
    }

    /** Ends what a client reads here. */
    drop(client: string): void {
        for (const { listener } of this.#read.values())
            if (listener.client === client) {
                listener.close();
                listener.cut();
            }
    }

    hear(message: StreamMessage): void {
        switch (message.kind) {
            case "listen": {
                const session = this.#sessions.get(message.session);
                if (session !== undefined) this.#tell(session, message).catch(this.#failed);
                return;
            }
            case "frames":
            case "begun":
            case "ended":
                this.#take(message);
                return;
            case "left":
                this.#told.get(message.stream)?.listener.close();
                return;
            case "here":
                for (const stream of message.streams) {
                    const one = this.#told.get(stream);
                    if (one !== undefined) one.seen = Date.now();
                }
        }
    }

    #take(message: Exclude<StreamMessage, { kind: "listen" | "here" | "left" }>): void {
        const one = this.#read.get(message.stream);
        if (one === undefined) return;
        clearTimeout(one.timer);
        if (message.kind === "begun") one.before.end();
        else if (message.kind === "ended") one.listener.close();
        else if (message.before) one.before.put(message.frames);
        else one.listener.put(message.frames);
    }

    async #tell(session: Session, { stream, client, after }: Extract<StreamMessage, { kind: "listen" }>): Promise<void> {
        const { listener, calls } = session.listen(client, after);
        this.#told.set(stream, { listener, seen: Date.now() });
        listener.cut = () => undefined;
        try {
            for await (const frames of listener.before) await this.#say({ kind: "frames", stream, frames, before: true });
            await this.#say({ kind: "begun", stream });
            if (calls.length > 0)
                await this.#say({ kind: "frames", stream, frames: calls.map((data) => ({ event: "call", data })), before: false });
            for (let frames = await listener.take(WAIT_MS); frames !== null; frames = await listener.take(WAIT_MS))
                if (frames.length > 0) await this.#say({ kind: "frames", stream, frames, before: false });
        } finally {
            this.#told.delete(stream);
            listener.close();
            session.gone(client);
            await this.#say({ kind: "ended", stream });
        }
    }

    /** Every few seconds (STM1). */
    async tick(): Promise<void> {
        const now = Date.now();
        for (const { listener, seen } of this.#told.values()) if (now - seen > SILENT_MS) listener.close();
        if (this.#read.size > 0) await this.#say({ kind: "here", streams: [...this.#read.keys()] });
    }

    close(): void {
        for (const { listener } of [...this.#read.values(), ...this.#told.values()]) listener.close();
    }
}
