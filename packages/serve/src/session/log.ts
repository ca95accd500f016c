/**
 * The log of one session: events that are kept in the ledger and told to the listeners, and frames that are only told.
 *
 * Boundary: a run of the ledger that no machine runs, and its listeners. What an event means is `state.ts`'s.
 *
 * SLG1: an event is told after it is durable, in the order of its number; a listener that begins at any number hears every later one once.
 * SLG4: what only says how far a turn is waits at most `PROGRESS_MS` for what comes next, and is told with it; nothing else waits.
 * SLG3: an append has a number: what the ledger does not take now is tried again under it, and kept once. `log.close` ends that.
 * SLG5: an append that a client waits for (`asked`) is refused at once where nothing of it was kept: an empty batch takes its number. Where that is not
 *     known (the database is away), it is tried again as every other one.
 * SLG2: a listener that does not read keeps at most `MAX_BEHIND` bytes here, then it is cut off; from the last number it has seen it reads on.
 */
import { isObject, type Json } from "@remit/language";
import type { Batch, EventKind, LedgerEvent, MachineEvent } from "@remit/machine";
import {
    isLater,
    isSession,
    LedgerError,
    type LedgerStore,
    mayBeKept,
    type NewRun,
    type RunWriter,
    type Scrubber,
    SESSION,
} from "@remit/host";
import type { Frame, Picture } from "../wire/messages.ts";
import { picturesIn, toldData } from "./pictures.ts";

/** What a listener may be behind, characters of JSON. */
const MAX_BEHIND = 1 << 20;
/** What a listener is told at once of what was before, characters of JSON. */
const PAGE = 64 << 10;
/** SLG4: what no client acts on. Between a call's end and the next call lies a commit; told together they are one write to each listener. */
const PROGRESS: ReadonlySet<string> = new Set(["turn.step", "call.ended"]);
const PROGRESS_MS = 20;
/** Events that are kept at hand, so that a stream that comes back reads no file. */
const TAIL = 512;
/** Between two tries of what the ledger could not take, milliseconds. */
const AGAIN_MS = 250;

/** Sessions of editors have ids of their own: an editor goes on with them, and no server does. */
export const EDITOR_SESSION = `${SESSION}acp-`;
export const isEditorSession = (id: string): boolean => isSession(id) && id.startsWith(EDITOR_SESSION);

export type SessionKind = Extract<EventKind, `session.${string}` | `turn.${string}` | `lent.${string}` | `ask.${string}`>;

/** An event of a session. `at` is kept with it, so that it is told the same from the log and from memory. */
export interface SessionEvent {
    readonly seq: number;
    readonly kind: SessionKind;
    readonly data: { readonly at: string; readonly [key: string]: Json };
}

/** Told of everything that listeners are. */
export type Heard = (session: string, event: string, data: Json) => void;

/** What everything that is kept or told goes through. */
export interface Through {
    readonly scrub: Scrubber["scrub"];
    readonly heard?: Heard;
    /** The log of the session waits for the ledger; null: it was kept. */
    readonly stalled?: (session: string, why: LedgerError | null) => void;
}

export type NewLog = Pick<NewRun, "id" | "program" | "hash" | "file" | "root">;

export class SessionLog {
    readonly id: string;
    readonly #writer: RunWriter;
    readonly #store: LedgerStore;
    readonly #scrub: Scrubber["scrub"];
    readonly #heard: Heard;
    readonly #stalled: (why: LedgerError | null) => void;
    #seq: number;
    #batches: number;
    /** Numbers of what waits for the ledger. */
    readonly #waiting = new Set<number>();
    #closing = false;
    readonly #tail: SessionEvent[] = [];
    readonly #listeners = new Set<Listener>();
    /** Told, and not given to the listeners yet. */
    #fresh: Frame[] = [];
    /** They are given them at the end of this turn of the event loop; else by the timer. */
    #isDue = false;
    #timer: NodeJS.Timeout | undefined;
    /** Appends in order: an event is told when all before it were. */
    #telling: Promise<unknown> = Promise.resolve();

    private constructor(store: LedgerStore, writer: RunWriter, seq: number, { scrub, heard = () => undefined, stalled }: Through) {
        this.#heard = heard;
        this.#stalled = (why) => stalled?.(writer.id, why);
        this.#store = store;
        this.#writer = writer;
        this.#seq = seq;
        this.#batches = writer.batches;
        this.#scrub = scrub;
        this.id = writer.id;
    }

    static async make(store: LedgerStore, about: NewLog, through: Through): Promise<SessionLog> {
        const writer = await store.create({ ...about, options: { session: true } });
        return new SessionLog(store, writer, 0, through);
    }

    /** Takes a session that an earlier server had. `LedgerError` `owned` where another one has it now. */
    static async again(store: LedgerStore, id: string, through: Through): Promise<SessionLog> {
        const writer = await store.own(id);
        return new SessionLog(store, writer, (await store.run(id)).events, through);
    }

    get seq(): number {
        return this.#seq;
    }
    get epoch(): number {
        return this.#writer.epoch;
    }

    /** SLG3. `asked`: SLG5. */
    async #commit(batch: Batch, asked: boolean, n = ++this.#batches): Promise<void> {
        for (;;)
            try {
                await this.#writer.commit(batch, n);
                this.#waitsNoMore(n);
                return;
            } catch (error) {
                const later = isLater(error);
                const isOver = this.#closing || (!later && (batch === NOTHING || isOwned(error)));
                if (isOver) throw error;
                if (later) this.#waits(n, error);
                if (!later || (asked && !mayBeKept(error))) {
                    // SLG5. Without its number nothing after it would count. What is wrong with the ledger itself is told by what comes next.
                    this.#commit(NOTHING, false, n).catch(() => this.#waitsNoMore(n));
                    throw error;
                }
                await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
            }
    }

    #waits(n: number, why: LedgerError): void {
        if (this.#waiting.size === 0) this.#stalled(why);
        this.#waiting.add(n);
    }

    #waitsNoMore(n: number): void {
        if (this.#waiting.delete(n) && this.#waiting.size === 0) this.#stalled(null);
    }

    /** Resolves with the event once it is durable and was told. Rejects with `LedgerError`; then it is not in the log. */
    append(kind: SessionKind, data: { readonly [key: string]: Json }, asked = false): Promise<SessionEvent> {
        const kept = this.#scrub({ at: new Date().toISOString(), ...data }) as SessionEvent["data"];
        const durable = this.#commit({ events: [eventOf(kind, kept)] }, asked);
        const before = this.#telling;
        // What is refused does not wait for what is before it.
        const told = Promise.all([durable, before]).then(() => {
            const event: SessionEvent = { seq: ++this.#seq, kind, data: toldData(kept) };
            this.#tail.push(event);
            if (this.#tail.length > 2 * TAIL) this.#tail.splice(0, TAIL);
            this.#tell(frameOf(event));
            return event;
        });
        this.#telling = Promise.allSettled([before, told]);
        return told;
    }

    /** Tells what is kept nowhere. */
    tell(event: string, data: Json): void {
        this.#tell({ event, data: this.#scrub(data) });
    }

    #tell(frame: Frame): void {
        this.#heard(this.id, frame.event, frame.data);
        if (this.#listeners.size === 0) return;
        this.#fresh.push(frame);
        if (this.#isDue) return;
        // SLG4.
        this.#isDue = !PROGRESS.has(frame.event);
        if (this.#isDue) setImmediate(this.#handOut);
        else this.#timer ??= setTimeout(this.#handOut, PROGRESS_MS);
    }

    readonly #handOut = (): void => {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        this.#isDue = false;
        const frames = this.#fresh;
        if (frames.length === 0) return;
        this.#fresh = [];
        const size = sizeOf(frames);
        for (const one of this.#listeners) one.put(frames, size);
    };

    /** Every event with a number above `after`. */
    async *events(after = 0): AsyncGenerator<SessionEvent> {
        const first = this.#tail[0]?.seq;
        if (first !== undefined && after >= first - 1) {
            yield* this.#tail.filter(({ seq }) => seq > after);
            return;
        }
        for await (const event of this.#store.events(this.id, after + 1)) {
            if (event.seq > this.#seq) return;
            yield read(event);
        }
    }

    /** What a turn came with. */
    async pictures(turn: string): Promise<Picture[]> {
        for await (const { kind, data } of this.#store.events(this.id, 1))
            if (kind === "turn.submitted" && isObject(data) && data.turn === turn) return picturesIn(data);
        return [];
    }

    /** SLG1. Ends by `close` of the listener, or by the log's end. */
    listen(client: string, after: number): Listener {
        // What was told before is in its pages.
        this.#handOut();
        const listener = new Listener(client, this.#pages(after, this.#seq), () => this.#listeners.delete(listener));
        this.#listeners.add(listener);
        return listener;
    }

    /** What was before, a piece at a time: a log is longer than what is kept for one reader. */
    async *#pages(after: number, upTo: number): AsyncGenerator<readonly Frame[]> {
        if (after >= upTo) return;
        let page: Frame[] = [];
        let size = 0;
        for await (const event of this.events(after)) {
            if (event.seq > upTo) break;
            const frame = frameOf(event);
            page.push(frame);
            size += sizeOf([frame]);
            if (size < PAGE) continue;
            yield page;
            page = [];
            size = 0;
        }
        if (page.length > 0) yield page;
    }

    /** The client hears no more. */
    drop(client: string): void {
        for (const one of this.#listeners) {
            if (one.client !== client) continue;
            one.close();
            one.cut();
        }
    }

    /** What waits for the ledger is given up: the server stops. */
    leave(): void {
        this.#closing = true;
    }

    /** The session is over for this process; `end`: for ever. */
    async close(end: boolean): Promise<void> {
        await this.#telling;
        if (!end) this.tell("server.stopping", {});
        this.#handOut();
        for (const one of this.#listeners) one.close();
        if (end) await this.#commit({ end: { status: "done", value: null } }, false);
        if (this.#waiting.size > 0) this.#stalled(null);
        await this.#writer.release();
    }
}

/** One who listens. Lists of frames, and what is made of them, are shared by all listeners. */
export class Listener {
    readonly client: string;
    /** What it has to be told before the frames that come. */
    readonly before: AsyncIterable<readonly Frame[]>;
    /** Called where it was cut off because it did not read. */
    cut: () => void = () => undefined;
    /** What it has not taken, a list each time that something was told. */
    #lists: (readonly Frame[])[] = [];
    #behind = 0;
    #over = false;
    #wake: () => void = () => undefined;
    readonly #gone: () => void;

    constructor(client: string, before: AsyncIterable<readonly Frame[]>, gone: () => void) {
        this.client = client;
        this.before = before;
        this.#gone = gone;
    }

    put(frames: readonly Frame[], size: number = sizeOf(frames)): void {
        if (this.#over) return;
        this.#lists.push(frames);
        this.#behind += size;
        if (this.#behind > MAX_BEHIND) {
            // SLG2.
            this.#lists = [];
            this.close();
            this.cut();
        } else this.#wake();
    }

    /** What has come; waits for it at most `wait` milliseconds, and gives an empty list then. Null: it is over. */
    async take(wait: number): Promise<readonly Frame[] | null> {
        if (this.#lists.length === 0 && !this.#over) {
            await new Promise<void>((resolve) => {
                const timer = setTimeout(resolve, wait);
                this.#wake = () => {
                    clearTimeout(timer);
                    resolve();
                };
            });
            this.#wake = () => undefined;
        }
        const lists = this.#lists;
        if (lists.length === 0 && this.#over) return null;
        this.#lists = [];
        this.#behind = 0;
        const [only] = lists;
        return lists.length === 1 && only !== undefined ? only : lists.flat();
    }

    close(): void {
        if (this.#over) return;
        this.#over = true;
        this.#gone();
        this.#wake();
    }
}

const texts = new WeakMap<Frame, string>();
/** What a frame says, as JSON: made once for all who hear it. */
export function dataText(frame: Frame): string {
    const known = texts.get(frame) ?? JSON.stringify(frame.data);
    texts.set(frame, known);
    return known;
}

function sizeOf(frames: readonly Frame[]): number {
    return frames.reduce((size, frame) => size + dataText(frame).length + 64, 0);
}

/** Takes a number, and says nothing. */
const NOTHING: Batch = {};

function isOwned(error: unknown): boolean {
    return error instanceof LedgerError && error.code === "owned";
}

function frameOf({ seq, kind, data }: SessionEvent): Frame {
    return { seq, event: kind, data };
}

function eventOf(kind: SessionKind, data: SessionEvent["data"]): MachineEvent {
    return { path: "session", parent: null, kind, principal: "user", site: null, labels: [], data };
}

function read({ seq, kind, data }: LedgerEvent): SessionEvent {
    return { seq, kind: kind as SessionKind, data: toldData(data as SessionEvent["data"]) };
}
