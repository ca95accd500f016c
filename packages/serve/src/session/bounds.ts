/**
 * What bounds a session: how much of each thing it takes, and how long it waits.
 *
 * Boundary: a shape; the values are the server's (`access/limits.ts`).
 */

export interface SessionBounds {
    /** Turns that may wait. */
    readonly queue: number;
    /** Tools that one client may lend. */
    readonly tools: number;
    /** How long a client has for a call of a tool that it lent, milliseconds. */
    readonly call: number;
    /** How long a question waits for an answer, milliseconds. */
    readonly ask: number;
    /** How long a client that lends may be away, milliseconds. */
    readonly away: number;
    /** How long a server that was started again waits for the clients whose tools were lent, before turns go on, milliseconds. */
    readonly back: number;
    /** How long a turn may take, waiting for people not counted, milliseconds. */
    readonly turn: number;
}
