/**
 * How many turns of one provider run at once, and how long all of them wait after it said "too many".
 *
 * Boundary: time and counting. One limiter an endpoint, kept by whoever made it.
 */

export interface Limiter {
    /** Waits for a place. Rejects with the signal's reason where it is aborted first. */
    enter(signal: AbortSignal): Promise<void>;
    leave(): void;
    /** Nobody enters for so many milliseconds. */
    pause(milliseconds: number): void;
}

export function limiter(places: number, now: () => number = Date.now): Limiter {
    const queue: (() => void)[] = [];
    let taken = 0;
    let until = 0;
    const next = (): void => {
        if (taken < places) queue.shift()?.();
    };
    return {
        enter: async (signal) => {
            signal.throwIfAborted();
            if (taken >= places) {
                await new Promise<void>((resolve, reject) => {
                    const go = (): void => {
                        signal.removeEventListener("abort", stop);
                        taken++;
                        resolve();
                    };
                    const stop = (): void => {
                        const at = queue.indexOf(go);
                        if (at >= 0) queue.splice(at, 1);
                        reject(signal.reason);
                    };
                    queue.push(go);
                    signal.addEventListener("abort", stop, { once: true });
                });
            } else taken++;
            while (until > now()) {
                try {
                    await pauseFor(until - now(), signal);
                } catch (reason) {
                    taken--;
                    next();
                    throw reason;
                }
            }
        },
        leave: () => {
            taken--;
            next();
        },
        pause: (milliseconds) => {
            until = Math.max(until, now() + milliseconds);
        },
    };
}

/** Waits, or rejects with the signal's reason. */
export function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        if (signal.aborted) {
            reject(signal.reason);
            return;
        }
        const stop = (): void => {
            clearTimeout(timer);
            reject(signal.reason);
        };
        const timer = setTimeout(() => {
            signal.removeEventListener("abort", stop);
            resolve();
        }, milliseconds);
        signal.addEventListener("abort", stop, { once: true });
    });
}
