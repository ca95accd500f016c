/**
 * Streams of sessions that another process has: its frames come over the team, in its order and with its numbers.
 *
 * Boundary: between listeners here and there. Who has a session is `processes.ts`'s.
 *
 * STM1: a client that reads here is present there, so that its tools stay lent and its calls reach it; its process says every so often that it still
 *       reads, so that a process that is killed takes its clients along.
 * STM2: where the session moves the streams end: their readers come back with the number of the last event they have seen.
 * STM3: what is said over the team may be lost while the database is away. A stream of which a message did not come ends before the next one is told,
 *       and so does one whose session has another owner than when it began; its reader comes back. Every so often each process says how many messages of
 *       each stream it has said, so that the last one is missed, too. Where it does not say so for a while, it has ended, and the stream ends as well.
 */
import { randomBytes } from "node:crypto";
import type { Json } from "@remit/language";
import { Listener } from "../session/log.ts";
import type { Session } from "../session/session.ts";
import type { Frame } from "../wire/messages.ts";
import { Replay } from "./replay.ts";

/** So long the other process has for the first frames, milliseconds. */
const FIRST_MS = 10_000;
/** A stream of which nothing was heard for so long is over, and so long it is said that one is over, milliseconds. */
const SILENT_MS = 15_000;
const WAIT_MS = 30_000;

export type StreamMessage =
    | { readonly kind: "listen"; readonly stream: string; readonly session: string; readonly client: string; readonly after: number }
    /** `n`: how many messages of the stream were said before it. */
    | {
          readonly kind: "frames";
          readonly stream: string;
          readonly n: number;
          readonly frames: readonly Frame[];
          readonly before: boolean;
      }
    | { readonly kind: "begun"; readonly stream: string; readonly n: number }
    | { readonly kind: "ended"; readonly stream: string }
    | { readonly kind: "left"; readonly stream: string }
    | { readonly kind: "here"; readonly streams: readonly string[] }
    /** How many messages of each stream were said; null: it is over. */
    | { readonly kind: "said"; readonly streams: { readonly [stream: string]: number | null } };

/** What a stream is read from: a session, or one that another process has. */
export type Streamed = Pick<Session, "listen" | "gone">;

interface Read {
    readonly session: string;
    readonly listener: Listener;
    readonly before: Replay;
    readonly timer: NodeJS.Timeout;
    /** Messages that came. */
    heard: number;
    /** When its process said something of it the last time. */
    seen: number;
    /** Of the owner that the session had when the stream began. */
    readonly epoch: number;
}

interface Told {
    readonly listener: Listener;
    seen: number;
    /** Messages, also those that were lost. */
    said: number;
}

export class Streams {
    /** Those that are read here. */
    readonly #read = new Map<string, Read>();
    /** Those that others read. */
    readonly #told = new Map<string, Told>();
    /** Those that others read until a moment ago, and when that ended. */
    readonly #over = new Map<string, number>();
    readonly #say: (message: StreamMessage) => Promise<void>;
    readonly #sessions: ReadonlyMap<string, Session>;

    readonly #failed: (error: unknown) => void;

    constructor(say: (message: StreamMessage) => Promise<void>, sessions: ReadonlyMap<string, Session>, failed: (error: unknown) => void) {
        this.#say = say;
        this.#failed = failed;
        this.#sessions = sessions;
    }

    /** `epoch`: of the owner that the session has. */
    of(session: string, epoch: number): Streamed {
        return {
            listen: (client, after) => ({ listener: this.#listen({ session, epoch, client, after }), calls: [] as readonly Json[] }),
            // STM1: its listener says it.
            gone: () => undefined,
        };
    }

    #listen(about: { readonly session: string; readonly epoch: number; readonly client: string; readonly after: number }): Listener {
        const { session, epoch, client, after } = about;
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
        if (this.#sessions.has(session)) {
            // STM2: it came here since its owner was asked for.
            before.end();
            listener.close();
            return listener;
        }
        const timer = setTimeout(() => listener.close(), FIRST_MS);
        this.#read.set(stream, { session, listener, before, timer, heard: 0, seen: Date.now(), epoch });
        void this.#say({ kind: "listen", stream, session, client, after });
        return listener;
    }

    /** Ends what is read here of a session (STM2). */
    end(session: string): void {
        for (const one of this.#read.values()) if (one.session === session) one.listener.close();
    }

    /** STM3. Which owner each session has: the database answers, so that what a process says is heard. */
    owned(sessions: readonly { readonly id: string; readonly epoch: number }[]): void {
        const epochs = new Map(sessions.map(({ id, epoch }) => [id, epoch]));
        const now = Date.now();
        for (const { session, listener, epoch, seen } of this.#read.values())
            if ((epochs.get(session) ?? epoch) !== epoch || now - seen > SILENT_MS) listener.close();
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
                return;
            case "said":
                for (const [stream, said] of Object.entries(message.streams)) {
                    const one = this.#read.get(stream);
                    if (one === undefined) continue;
                    one.seen = Date.now();
                    // STM3.
                    if (said === null || one.heard < said) one.listener.close();
                }
        }
    }

    #take(message: Exclude<StreamMessage, { kind: "listen" | "here" | "left" | "said" }>): void {
        const one = this.#read.get(message.stream);
        if (one === undefined) return;
        clearTimeout(one.timer);
        one.seen = Date.now();
        // STM3.
        if (message.kind === "ended" || message.n !== one.heard++) one.listener.close();
        else if (message.kind === "begun") one.before.end();
        else if (message.before) one.before.put(message.frames);
        else one.listener.put(message.frames);
    }

    async #tell(session: Session, { stream, client, after }: Extract<StreamMessage, { kind: "listen" }>): Promise<void> {
        const { listener, calls } = session.listen(client, after);
        const told: Told = { listener, seen: Date.now(), said: 0 };
        this.#told.set(stream, told);
        listener.cut = () => undefined;
        // STM3: it counts once it is said, so that none is missed that is under way.
        const counted = (message: StreamMessage): Promise<void> => this.#say(message).finally(() => told.said++);
        const say = (frames: readonly Frame[], before: boolean): Promise<void> =>
            counted({ kind: "frames", stream, n: told.said, frames, before });
        try {
            for await (const frames of listener.before) await say(frames, true);
            await counted({ kind: "begun", stream, n: told.said });
            if (calls.length > 0)
                await say(
                    calls.map((data) => ({ event: "call", data })),
                    false,
                );
            for (let frames = await listener.take(WAIT_MS); frames !== null; frames = await listener.take(WAIT_MS))
                if (frames.length > 0) await say(frames, false);
        } finally {
            this.#told.delete(stream);
            this.#over.set(stream, Date.now());
            listener.close();
            session.gone(client);
            await this.#say({ kind: "ended", stream });
        }
    }

    /** Every few seconds (STM1, STM3). */
    async tick(): Promise<void> {
        const now = Date.now();
        for (const { listener, seen } of this.#told.values()) if (now - seen > SILENT_MS) listener.close();
        for (const [stream, at] of this.#over) if (now - at > SILENT_MS) this.#over.delete(stream);
        if (this.#read.size > 0) await this.#say({ kind: "here", streams: [...this.#read.keys()] });
        const streams: { [stream: string]: number | null } = {};
        for (const [stream, { said }] of this.#told) streams[stream] = said;
        for (const stream of this.#over.keys()) streams[stream] = null;
        if (Object.keys(streams).length > 0) await this.#say({ kind: "said", streams });
    }

    close(): void {
        for (const { listener } of [...this.#read.values(), ...this.#told.values()]) listener.close();
    }
}
