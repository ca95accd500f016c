/**
 * What ends a run from outside: a cancel, or the end of its time.
 *
 * Boundary: signals and timers.
 *
 * D4: time spent waiting for a person counts for nothing.
 */

export type Interrupt = "cancel" | "time";

export interface RunClock {
    /** What happened first, null while nothing did. */
    interrupt(): Interrupt | null;
    /** A person is waited for (+1), or has answered (-1). */
    person(change: 1 | -1): void;
    close(): void;
}

/** Longest delay a timer takes, milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

/** `happened` is called once, when the first interrupt comes. `timeout` in milliseconds. */
export function runClock(options: { readonly signal?: AbortSignal; readonly timeout?: number; readonly happened: () => void }): RunClock {
    const { signal } = options;
    let what: Interrupt | null = null;
    let persons = 0;
    let left = options.timeout ?? Number.POSITIVE_INFINITY;
    let since = 0;
    let timer: NodeJS.Timeout | null = null;

    const interrupt = (how: Interrupt): void => {
        if (what !== null) return;
        what = how;
        options.happened();
    };
    const onAbort = (): void => interrupt("cancel");
    const run = (): void => {
        if (left === Number.POSITIVE_INFINITY) return;
        since = performance.now();
        timer = setTimeout(
            () => {
                left -= performance.now() - since;
                // A timer may ring a little early, and a long time is cut into pieces.
                if (left <= 1) interrupt("time");
                else run();
            },
            Math.min(Math.max(left, 1), MAX_TIMER),
        );
    };
    const stop = (): void => {
        if (timer === null) return;
        clearTimeout(timer);
        timer = null;
        left -= performance.now() - since;
    };

    if (signal?.aborted === true) what = "cancel";
    else signal?.addEventListener("abort", onAbort, { once: true });
    run();
    return {
        interrupt: () => {
            // A long stretch of computing keeps the timer from ringing.
            if (what === null && persons === 0 && timer !== null && performance.now() - since >= left) interrupt("time");
            return what;
        },
        person: (change) => {
            persons += change;
            if (change === 1 && persons === 1) stop();
            else if (persons === 0) run();
        },
        close: () => {
            stop();
            signal?.removeEventListener("abort", onAbort);
        },
    };
}
