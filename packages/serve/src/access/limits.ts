/**
 * What a server takes on at most, and how long it waits: every bound with its name, its default and what it means.
 *
 * Boundary: the table, and the error of one that is reached. Each bound is kept where the thing it bounds is.
 */
import { ServeError } from "../faces/error.ts";
import type { SessionBounds } from "../session/bounds.ts";

export interface ServeLimits extends SessionBounds {
    /** Sessions that are open. */
    readonly sessions: number;
    /** Clients that are not revoked. */
    readonly clients: number;
    /** Connections of every kind. */
    readonly connections: number;
    /** WebSockets that have not said who they are. */
    readonly unknown: number;
    /** Requests of one client in a second. */
    readonly requests: number;
    /** Streams of one client at once. */
    readonly streams: number;
    /** How long the head of a request may take, milliseconds. */
    readonly head: number;
    /** How long a whole request may take to arrive, milliseconds. */
    readonly body: number;
    /** How often the other end of a WebSocket is asked whether it is there, milliseconds. */
    readonly heartbeat: number;
}

export interface LimitRow {
    readonly value: number;
    readonly unit: "" | "ms";
    readonly says: string;
}

const count = (value: number, says: string): LimitRow => ({ value, unit: "", says });
const time = (value: number, says: string): LimitRow => ({ value, unit: "ms", says });

export const LIMITS: { readonly [name in keyof ServeLimits]: LimitRow } = {
    sessions: count(500, "sessions that are open"),
    clients: count(1000, "clients that are not revoked"),
    queue: count(16, "turns of a session that wait"),
    tools: count(64, "tools that one client lends to a session"),
    connections: count(4096, "connections of every kind"),
    unknown: count(64, "WebSockets that have not said who they are"),
    requests: count(500, "requests of one client in a second, for a moment twice as many; the owner has no such bound"),
    streams: count(256, "streams of one client at once; the owner has no such bound"),
    turn: time(10 * 60_000, "a turn, waiting for people not counted"),
    call: time(60_000, "until a call of a lent tool has its result"),
    ask: time(3 * 60_000, "until a question is answered; then the answer is no"),
    // Longer than the longest pause of a client of ours between two attempts to come back (`lend.js`, ten seconds), and a busy event loop.
    away: time(15_000, "that a client may be away before its tools are withdrawn"),
    back: time(5000, "that turns wait for the clients of before, after a new start"),
    head: time(20_000, "until the head of a request has arrived"),
    body: time(120_000, "until a whole request has arrived"),
    heartbeat: time(30_000, "between two questions whether the other end of a WebSocket is there"),
};

export function limitsOf(given: Partial<ServeLimits> = {}): ServeLimits {
    const defaults = Object.fromEntries(Object.entries(LIMITS).map(([name, { value }]) => [name, value]));
    return { ...(defaults as unknown as ServeLimits), ...given };
}

/** A bound was reached: nothing was done. */
export class LimitError extends ServeError {}
