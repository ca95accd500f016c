/**
 * A client of a server: its requests as methods, a session's events as an async iterable that comes back by itself.
 *
 * Boundary: standard `fetch`; runs in Node and in a browser.
 *
 * CLT1: a stream that breaks goes on after the last event that was given: each numbered event is given once.
 */
import type { Json } from "@remit/language";
import { createParser } from "eventsource-parser";
import type {
    Ack,
    CallResult,
    Decision,
    Frame,
    ListedSession,
    NewSession,
    NewTurn,
    SessionInfo,
    ToolSpec,
    TurnInfo,
} from "../wire/messages.ts";
import { refusalOf, ServerRefusal } from "../wire/refusal.ts";
import type { ModelsView } from "../wire/runs.ts";

export { ServerRefusal };

export interface ClientOptions {
    /** `http://127.0.0.1:4100` */
    readonly url: string;
    readonly token: string;
}

/** Longest pause between two attempts to come back, milliseconds. */
const MAX_PAUSE = 5000;

export class ServeClient {
    readonly url: string;
    readonly #token: string;

    constructor({ url, token }: ClientOptions) {
        this.url = url.replace(/\/+$/, "");
        this.#token = token;
    }

    me(): Promise<{ readonly id: string; readonly name: string; readonly scopes: readonly string[] }> {
        return this.request("GET", "/v1/me");
    }

    /** What a session or a turn may name as its model. */
    models(): Promise<ModelsView> {
        return this.request("GET", "/v1/models");
    }

    sessions(): Promise<{ readonly sessions: readonly ListedSession[] }> {
        return this.request("GET", "/v1/sessions");
    }

    session(id: string): Promise<SessionInfo> {
        return this.request("GET", `/v1/sessions/${encodeURIComponent(id)}`);
    }

    open(about: NewSession = {}): Promise<SessionInfo> {
        return this.request("POST", "/v1/sessions", about);
    }

    close(session: string): Promise<Ack> {
        return this.request("DELETE", `/v1/sessions/${encodeURIComponent(session)}`);
    }

    /** `key`: the same key with the same turn is the same turn, however often it is sent. */
    submit(session: string, turn: NewTurn, key: string = crypto.randomUUID()): Promise<TurnInfo> {
        return this.request("POST", this.#of(session, "turns"), turn, { "idempotency-key": key });
    }

    turn(session: string, turn: string): Promise<TurnInfo> {
        return this.request("GET", this.#of(session, "turns", turn));
    }

    cancel(session: string, turn: string): Promise<Ack> {
        return this.request("POST", this.#of(session, "turns", turn, "cancel"), {});
    }

    lend(session: string, tool: string, spec: Omit<ToolSpec, "input"> & { readonly input?: ToolSpec["input"] }): Promise<Ack> {
        return this.request("PUT", this.#of(session, "tools", tool), spec);
    }

    withdraw(session: string, tool: string): Promise<Ack> {
        return this.request("DELETE", this.#of(session, "tools", tool));
    }

    result(session: string, call: string, result: CallResult): Promise<Ack> {
        return this.request("POST", this.#of(session, "calls", call, "result"), result);
    }

    decide(session: string, ask: string, decision: Decision): Promise<Ack> {
        return this.request("POST", this.#of(session, "asks", ask, "decision"), { decision });
    }

    /** Without an answer: the person gives none. */
    answer(session: string, ask: string, answer?: Json): Promise<Ack> {
        return this.request("POST", this.#of(session, "asks", ask, "answer"), { answer });
    }

    /** Rejects with `ServerRefusal`. */
    async request<T>(method: string, path: string, body?: unknown, headers: { readonly [name: string]: string } = {}): Promise<T> {
        const response = await this.#fetch(path, {
            method,
            headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return (await read(response)) as T;
    }

    /** CLT1. `from`: number of the last event that was seen. Ends with the session, or by the signal; rejects with `ServerRefusal`. */
    async *events(session: string, options: { readonly from?: number; readonly signal?: AbortSignal } = {}): AsyncGenerator<Frame> {
        const { signal } = options;
        let last = options.from ?? 0;
        for (let failures = 0; signal?.aborted !== true; ) {
            try {
                for await (const frame of this.#stream(session, last, signal)) {
                    failures = 0;
                    if (frame.seq !== undefined) {
                        if (frame.seq <= last) continue;
                        last = frame.seq;
                    }
                    yield frame;
                    if (frame.event === "session.closed") return;
                }
            } catch (error) {
                if (isOver(signal)) return;
                if (error instanceof ServerRefusal && error.status >= 400 && error.status < 500) throw error;
                if (++failures > 8) throw error;
            }
            await pause(Math.min(100 * 2 ** failures, MAX_PAUSE), signal);
        }
    }

    async *#stream(session: string, from: number, signal: AbortSignal | undefined): AsyncGenerator<Frame> {
        const response = await this.#fetch(`${this.#of(session, "events")}?from=${from}`, signal === undefined ? {} : { signal });
        if (!response.ok || response.body === null) throw await refusal(response);
        const frames: Frame[] = [];
        const parser = createParser({
            onEvent: ({ id, event = "message", data }) =>
                void frames.push({ ...(id === undefined ? {} : { seq: Number(id) }), event, data: JSON.parse(data) as Json }),
        });
        const decoder = new TextDecoder();
        for await (const part of response.body) {
            parser.feed(decoder.decode(part, { stream: true }));
            yield* frames.splice(0);
        }
    }

    #of(session: string, ...rest: readonly string[]): string {
        return ["/v1/sessions", session, ...rest].map((one, i) => (i === 0 ? one : encodeURIComponent(one))).join("/");
    }

    /** `isLast`: what only reads is asked again once where its connection, kept from before, was closed on the way. */
    async #fetch(path: string, init: RequestInit, isLast = (init.method ?? "GET") !== "GET"): Promise<Response> {
        try {
            return await fetch(this.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${this.#token}` } });
        } catch (error) {
            if (init.signal?.aborted === true) throw error;
            const { code } = ((error instanceof Error ? error.cause : undefined) ?? {}) as { readonly code?: unknown };
            if (!isLast && (code === "ECONNRESET" || code === "UND_ERR_SOCKET")) return this.#fetch(path, init, true);
            const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
            throw new ServerRefusal(0, "unreachable", `the server ${this.url} cannot be reached: ${cause}`, "start one with `remit serve`");
        }
    }
}

async function read(response: Response): Promise<unknown> {
    if (!response.ok) throw await refusal(response);
    return response.json();
}

/** Rejects where a body does not come whole; one that is no JSON says nothing. */
async function refusal(response: Response): Promise<ServerRefusal> {
    const text = await response.text();
    try {
        return refusalOf(response.status, JSON.parse(text));
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return refusalOf(response.status, null);
    }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
}

/** Asked anew each time: it changes while others are waited for. */
function isOver(signal: AbortSignal | undefined): boolean {
    return signal?.aborted === true;
}
