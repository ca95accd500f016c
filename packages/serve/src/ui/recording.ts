/**
 * A turn's chunks, kept while the server runs, so that a page that is loaded again hears all of it from the beginning.
 *
 * Boundary: listens to one session for one turn; who reads, and what a reader may decide, is the route's.
 *
 * REC1: a reader ends where the turn waits for that reader's decision: the AI SDK sends the decision with a request of its own, whose answer goes on.
 * REC2: nothing waits for a reader.
 * REC3: of a turn at most `MOST` characters are kept, the last ones. A reader of what is not kept any more is told so, and ends.
 */
import { isObject, type Json } from "@remit/language";
import type { LedgerStore } from "@remit/host";
import type { Session } from "../session/session.ts";
import type { Frame } from "../wire/messages.ts";
import { type UiChunk, type UiEnd, UiMessage } from "./message.ts";

/** Longest wait for a frame, milliseconds. */
const WAIT_MS = 15_000;
/** Turns of a session that are kept. */
const KEPT = 4;
/** Of a turn, characters of JSON. */
export const MOST = 4 << 20;

type Data = { readonly [key: string]: Json };

export class Recording {
    readonly turn: string;
    readonly #session: Session;
    readonly #store: LedgerStore;
    readonly #message = new UiMessage();
    /** REC3. */
    #chunks: { readonly chunk: UiChunk; readonly size: number }[] = [];
    /** So many were before them. */
    #gone = 0;
    #size = 0;
    /** Question → chunks that there were when a reader ended at it. */
    readonly #cuts = new Map<string, number>();
    readonly #answered = new Set<string>();
    readonly #mayDecide = new Map<string, readonly string[]>();
    #read = 0;
    #wakers: (() => void)[] = [];
    isOver = false;

    constructor(session: Session, turn: string, store: LedgerStore) {
        this.turn = turn;
        this.#session = session;
        this.#store = store;
    }

    /** Until the turn is over. `after`: number of the session's event after which the turn was submitted. */
    async record(after: number): Promise<void> {
        const { listener } = this.#session.listen("", after);
        try {
            const { run } = this.#session.turn(this.turn) ?? {};
            // What the run has done already is in the ledger; of a text that is on its way the end is told with the value.
            if (run !== undefined) await this.#catchUp(run, Number.POSITIVE_INFINITY);
            const open = new Set(this.#session.info().asks.map(({ id }) => id));
            for await (const frames of listener.before) for (const frame of frames) if (!isDecided(frame, open)) await this.#take(frame);
            while (!this.isOver) {
                const frames = await listener.take(WAIT_MS);
                if (frames === null) break;
                for (const frame of frames) await this.#take(frame);
            }
        } finally {
            listener.close();
            this.isOver = true;
            this.#wake();
        }
    }

    /** A decision counts from now on, also before the session has told of it. */
    answered(ask: string): void {
        this.#answered.add(ask);
    }

    /** Where the answer to a reader's decisions goes on. */
    after(asks: readonly string[]): number {
        return Math.max(0, ...asks.map((id) => this.#cuts.get(id) ?? this.#indexOf(id)));
    }

    /** From a chunk on. REC1: ends where all that is open waits for `client`. */
    async *from(start: number, client: string): AsyncGenerator<UiChunk> {
        for (let at = start; ; ) {
            while (at >= this.#gone && at < this.#end) yield (this.#chunks[at++ - this.#gone] as { chunk: UiChunk }).chunk;
            if (at < this.#gone) {
                yield { type: "error", errorText: "the turn is longer than what is kept of it: read it when it is over" };
                return;
            }
            if (this.isOver) return;
            const open = this.#message.asked.filter((id) => !this.#answered.has(id));
            if (open.length > 0 && open.every((id) => this.#mayDecide.get(id)?.includes(client))) {
                for (const id of open) this.#cuts.set(id, at);
                yield { type: "finish-step" };
                yield { type: "finish" };
                return;
            }
            await new Promise<void>((resolve) => this.#wakers.push(resolve));
        }
    }

    get #end(): number {
        return this.#gone + this.#chunks.length;
    }

    #indexOf(ask: string): number {
        const at = this.#chunks.findIndex(({ chunk }) => chunk.type === "tool-approval-request" && chunk.approvalId === ask);
        return at < 0 ? 0 : this.#gone + at + 1;
    }

    async #take({ event, data }: Frame): Promise<void> {
        if (!isObject(data) || data["turn"] !== this.turn) return;
        const d: Data = data;
        if (event === "turn.step") await this.#catchUp(String(d["run"]), Number(d["seq"]));
        else if (event === "turn.text") this.#put(this.#message.text(String(d["delta"])));
        else if (event === "turn.restart") this.#put(this.#message.restart());
        else if (event === "ask.requested") this.#asked(d);
        else if (event === "ask.decided" || event === "ask.withdrawn")
            this.#put(this.#message.decided(String(d["ask"]), event === "ask.decided" ? String(d["decision"]) : "deny"));
        else if (event === "turn.ended") {
            const { run } = this.#session.turn(this.turn) ?? {};
            if (run !== undefined) await this.#catchUp(run, Number.POSITIVE_INFINITY);
            this.#put(this.#message.end({ ...d, status: String(d["status"]) } as UiEnd));
            this.isOver = true;
            this.#wake();
        }
    }

    #asked(d: Data): void {
        const [id, detail] = [String(d["ask"]), d["detail"] ?? null];
        this.#mayDecide.set(id, Array.isArray(d["approvers"]) ? d["approvers"].map(String) : []);
        const question = String(d["question"]);
        // A question that is no approval is told as data: the page answers it by a request of its own.
        if (detail === null) this.#put([{ type: "data-question", id, data: { ask: id, question } }]);
        else this.#put(this.#message.ask({ id, path: String(d["path"] ?? id), question, detail }));
    }

    /** What the ledger has of the run up to an event. */
    async #catchUp(run: string, upTo: number): Promise<void> {
        for await (const event of this.#store.events(run, this.#read + 1)) {
            if (event.seq > upTo) break;
            this.#read = event.seq;
            this.#put(this.#message.event(event));
        }
    }

    /** REC2. */
    #put(chunks: readonly UiChunk[]): void {
        for (const chunk of chunks) {
            const size = JSON.stringify(chunk).length;
            this.#chunks.push({ chunk, size });
            this.#size += size;
        }
        // Half of it at once: to take the first one away moves all others.
        if (this.#size > MOST) {
            let first = 0;
            while (this.#size > MOST / 2) this.#size -= (this.#chunks[first++] as { size: number }).size;
            this.#chunks = this.#chunks.slice(first);
            this.#gone += first;
        }
        if (chunks.length > 0) this.#wake();
    }

    #wake(): void {
        const waiting = this.#wakers;
        this.#wakers = [];
        for (const wake of waiting) wake();
    }
}

/** Of a question that is not open any more the call itself says what came of it. */
function isDecided({ event, data }: Frame, open: ReadonlySet<string>): boolean {
    return event.startsWith("ask.") && isObject(data) && !open.has(String(data["ask"]));
}

/** Of the sessions of a server. */
export class Recordings {
    readonly #store: LedgerStore;
    readonly #failed: (why: unknown) => void;
    readonly #of = new WeakMap<Session, Map<string, Recording>>();

    constructor(store: LedgerStore, failed: (why: unknown) => void) {
        this.#store = store;
        this.#failed = failed;
    }

    /** Of a turn; begins where there is none. */
    of(session: Session, turn: string, after: number): Recording {
        const all = this.#of.get(session) ?? new Map<string, Recording>();
        this.#of.set(session, all);
        const before = all.get(turn);
        if (before !== undefined) return before;
        const recording = new Recording(session, turn, this.#store);
        all.set(turn, recording);
        for (const [id, one] of all) if (all.size > KEPT && one.isOver) all.delete(id);
        recording.record(after).catch(this.#failed);
        return recording;
    }
}
