/**
 * How long the event loop had no turn: of the process, whatever runs in it share.
 *
 * Boundary: time. Who gives it a turn is the caller.
 */

/** Longest time without a turn of the event loop, milliseconds; what is computed meanwhile comes to it. */
export const TURN_MS = 8;

/** Milliseconds of a clock that only goes forwards. What `performance` is, Node loads at the first look at it. */
export function monotonic(): number {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
}

/** When work began in the turn that the event loop is in; null: none was seen in it. */
let began: number | null = null;

/** Milliseconds since this was first asked in this turn of the event loop. */
export function turnAge(): number {
    const now = monotonic();
    if (began === null) {
        began = now;
        setImmediate(() => {
            began = null;
        });
    }
    return now - began;
}
