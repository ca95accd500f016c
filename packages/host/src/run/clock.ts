/**
 * What ends a run, or a part of it, from outside: a cancel, or the end of its time.
 *
 * Boundary: signals and timers.
 *
 * D4: time spent waiting for a person counts for nothing; what earlier parts of the run took counts.
 */

export type Interrupt = "cancel" | "time";

export interface RunClock {
    /** What happened first, null while nothing did. */
    interrupt(): Interrupt | null;
    /** A person is waited for (+1), or has answered (-1). */
    person(change: 1 | -1): void;
    /** Time that counts so far, earlier parts of the run included, whole milliseconds. */
    spent(): number;
    /** Resolves when so many milliseconds more count; never after `close`. Rejects with the signal's reason. */
    wait(ms: number, signal: AbortSignal): Promise<void>;
    close(): void;
}

/** Longest delay a timer takes, milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

export interface ClockOptions {
    readonly signal?: AbortSignal;
    /** Milliseconds for the whole run. */
    readonly timeout?: number;
    /** Milliseconds that earlier parts of the run took. */
    readonly spent?: number;
    /** Called once, when the first interrupt comes. */
    readonly happened: () => void;
}

export function runClock(options: ClockOptions): RunClock {
    const { signal } = options;
    let what: Interrupt | null = null;
    let persons = 0;
    let spent = options.spent ?? 0;
    /** When the clock began to run, null while it stands still. */
    let since: number | null = null;
    let timer: NodeJS.Timeout | null = null;
    /** Who waits, by the time that counts at which it ends. */
    const waits = new Map<() => void, number>();

    const interrupt = (how: Interrupt): void => {
        if (what !== null) return;
        what = how;
        options.happened();
    };
    const onAbort = (): void => interrupt("cancel");
    const taken = (): number => spent + (since === null ? 0 : performance.now() - since);
    const left = (): number => (options.timeout ?? Number.POSITIVE_INFINITY) - taken();
    const run = (): void => {
        since ??= performance.now();
        if (timer !== null) clearTimeout(timer);
        timer = null;
        const next = Math.min(left(), ...[...waits.values()].map((until) => until - taken()));
        if (next !== Number.POSITIVE_INFINITY) timer = setTimeout(ring, Math.min(Math.max(next, 1), MAX_TIMER));
    };
    // A timer may ring a little early, and a long time is cut into pieces.
    const ring = (): void => {
        // of several whose time came while the process was busy, that of the earliest end goes first
        for (const [done, until] of [...waits].sort(([, a], [, b]) => a - b)) if (until - taken() <= 1) done();
        if (left() <= 1) interrupt("time");
        else run();
    };
    const stop = (): void => {
        if (timer !== null) clearTimeout(timer);
        timer = null;
        spent = taken();
        since = null;
    };

    if (signal?.aborted === true) what = "cancel";
    else signal?.addEventListener("abort", onAbort, { once: true });
    run();
    return {
        interrupt: () => {
            // A long stretch of computing keeps the timer from ringing.
            if (what === null && since !== null && left() <= 0) interrupt("time");
            return what;
        },
        person: (change) => {
            persons += change;
            if (change === 1 && persons === 1) stop();
            else if (persons === 0) run();
        },
        spent: () => Math.round(taken()),
        wait: (ms, signal) =>
            new Promise((resolve, reject) => {
                const done = (): void => {
                    waits.delete(done);
                    signal.removeEventListener("abort", stopped);
                    resolve();
                };
                const stopped = (): void => {
                    waits.delete(done);
                    reject(signal.reason);
                };
                if (signal.aborted) {
                    reject(signal.reason);
                    return;
                }
                signal.addEventListener("abort", stopped, { once: true });
                waits.set(done, taken() + ms);
                if (since !== null) run();
            }),
        close: () => {
            waits.clear();
            stop();
            signal?.removeEventListener("abort", onAbort);
        },
    };
}
