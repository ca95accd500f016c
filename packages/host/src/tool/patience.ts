/**
 * How long a call waits for its server: a time limit that begins anew with each sign of the server, and stands still while a person is asked.
 *
 * Boundary: a timer and a signal. What the limit is, and what is told of its end, is the caller's.
 */
export interface Patience {
    /** Aborted when the time is up, and when the given signal is. */
    readonly signal: AbortSignal;
    /** The time is up. */
    isOver(): boolean;
    /** The server gave a sign. */
    renew(): void;
    /** The limit stands still meanwhile. */
    during<T>(work: () => Promise<T>): Promise<T>;
    end(): void;
}

/** `ms`: milliseconds. */
export function patience(ms: number, signal: AbortSignal): Patience {
    const over = new AbortController();
    let asked = 0;
    let timer: NodeJS.Timeout | undefined;
    const renew = (): void => {
        clearTimeout(timer);
        if (asked === 0) timer = setTimeout(() => over.abort(), ms);
    };
    renew();
    return {
        signal: AbortSignal.any([signal, over.signal]),
        isOver: () => over.signal.aborted,
        renew,
        during: async (work) => {
            asked++;
            clearTimeout(timer);
            try {
                return await work();
            } finally {
                asked--;
                renew();
            }
        },
        end: () => {
            // A late answer of the person renews nothing.
            asked = Number.POSITIVE_INFINITY;
            clearTimeout(timer);
        },
    };
}
