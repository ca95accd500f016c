/**
 * What a worker opens for runs, within a time: one that hangs is given up, so that the activity that waits for it says what hangs.
 *
 * Boundary: time and counts. What is opened is the caller's.
 */

/** What is not open by then hangs, milliseconds: less than the activity that waits for it may take. */
const OPENING_MS = 45_000;

/** So often one of them may hang: each time takes as long as one may take to open. */
export const HANGS = 3;

/** What is opened neither ended nor failed in time. */
export class HangError extends Error {
    override readonly name = "HangError";
    /** How often it hung here, up to `HANGS`. */
    readonly times: number;

    constructor(message: string, times: number) {
        super(message);
        this.times = times;
    }
}

/** `told`: what is waited for now. */
export type Open<T> = (told: (what: string) => void) => Promise<T>;

/** Opens what has this key. Rejects with `HangError`; what opens after that is closed. */
export type Opening<T> = (key: string, open: Open<T>) => Promise<T>;

/** `ms`: how long one may take to open. */
export function openingOf<T>(close: (late: T) => Promise<void> | void, ms = OPENING_MS): Opening<T> {
    /** By the key, how often in a row it hung. */
    const hung = new Map<string, number>();
    const hangs = (key: string): number => {
        const times = ((hung.get(key) ?? 0) % HANGS) + 1;
        hung.set(key, times);
        return times;
    };
    return async (key, open) => {
        let waits = "";
        const opening = open((what) => {
            waits = what;
        });
        const late = Promise.withResolvers<never>();
        const timer = setTimeout(() => {
            late.reject(new HangError(`${waits} did not come within ${ms / 1_000} s`, hangs(key)));
            opening
                .then(close)
                // Why it failed, or could not be closed, matters no more: the next try says it again.
                .catch(() => undefined);
        }, ms);
        try {
            const made = await Promise.race([opening, late.promise]);
            hung.delete(key);
            return made;
        } finally {
            clearTimeout(timer);
        }
    };
}
