/**
 * How many turns of one provider run at once and in a minute, and how long all of them wait after it said "too many".
 *
 * Boundary: time and counting. One limiter an endpoint and an account, for all programs of a process.
 *
 * LM1: no more than `requestsPerMinute` turns begin within any minute.
 * LM2: none begins while the turns that ended within the last minute used `tokensPerMinute` or more. What a turn will use is not known before, so one turn
 *     may go beyond; the next ones wait for it.
 */

export interface Limiter {
    /** Waits for a place. Rejects with the signal's reason where it is aborted first. */
    enter(signal: AbortSignal): Promise<void>;
    /** `tokens`: what the turn used, where that is known. */
    leave(tokens?: number): void;
    /** No caller enters for so many milliseconds. */
    pause(milliseconds: number): void;
}

/** In a minute; no limit where absent. */
export interface Rate {
    readonly requestsPerMinute?: number;
    readonly tokensPerMinute?: number;
}

export interface Clock {
    /** Milliseconds since any moment. */
    now(): number;
    /** Waits, or rejects with the signal's reason. */
    wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The limiters of a process. */
export interface Limits {
    /** `account`: whose requests the provider counts together. Of what several programs say the lowest counts. */
    of(endpoint: string, account: string, places: number, rate?: Rate): Limiter;
}

const MINUTE = 60_000;

export function limits(): Limits {
    const known = new Map<string, Limiter & { narrow(places: number, rate: Rate): void }>();
    return {
        of: (endpoint, account, places, rate = {}) => {
            const key = JSON.stringify([endpoint, account]);
            const made = known.get(key) ?? limiter(places, rate);
            known.set(key, made);
            made.narrow(places, rate);
            return made;
        },
    };
}

export function limiter(
    places: number,
    rate: Rate = {},
    clock: Clock = { now: Date.now, wait: pauseFor },
): Limiter & { narrow(places: number, rate: Rate): void } {
    const queue: (() => void)[] = [];
    /** What counts against the rate, the oldest first. */
    const begun: number[] = [];
    const used: { readonly at: number; readonly tokens: number }[] = [];
    let taken = 0;
    let until = 0;
    const next = (): void => {
        if (taken < places) queue.shift()?.();
    };
    const place = async (signal: AbortSignal): Promise<void> => {
        if (taken < places) {
            taken++;
            return;
        }
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
    };
    /** When the next turn may begin. */
    const free = (now: number): number => {
        while (begun.length > 0 && (begun[0] as number) <= now - MINUTE) begun.shift();
        while (used.length > 0 && (used[0] as { at: number }).at <= now - MINUTE) used.shift();
        let at = until;
        const { requestsPerMinute: requests, tokensPerMinute: tokens } = rate;
        if (requests !== undefined && begun.length >= requests) at = Math.max(at, (begun[begun.length - requests] as number) + MINUTE);
        if (tokens !== undefined) {
            let sum = used.reduce((total, one) => total + one.tokens, 0);
            for (const one of used) {
                if (sum < tokens) break;
                sum -= one.tokens;
                at = Math.max(at, one.at + MINUTE);
            }
        }
        return at;
    };
    return {
        narrow: (fewer, lower) => {
            places = Math.min(places, fewer);
            rate = lowest(rate, lower);
        },
        enter: async (signal) => {
            signal.throwIfAborted();
            await place(signal);
            try {
                for (let now = clock.now(), at = free(now); at > now; now = clock.now(), at = free(now)) await clock.wait(at - now, signal);
            } catch (reason) {
                taken--;
                next();
                throw reason;
            }
            begun.push(clock.now());
        },
        leave: (tokens = 0) => {
            taken--;
            if (tokens > 0) used.push({ at: clock.now(), tokens });
            next();
        },
        pause: (milliseconds) => {
            until = Math.max(until, clock.now() + milliseconds);
        },
    };
}

/** Of each limit the lower of two. */
export function lowest(one: Rate, two: Rate): Rate {
    const least = (what: keyof Rate): Rate => {
        const said = [one[what], two[what]].filter((limit) => limit !== undefined);
        return said.length === 0 ? {} : { [what]: Math.min(...said) };
    };
    return { ...least("requestsPerMinute"), ...least("tokensPerMinute") };
}

/** Milliseconds for which a provider takes nothing more, by what it says is left (`x-ratelimit-…`, `anthropic-ratelimit-…`); 0 where it does. */
export function exhaustedFor(headers: Headers, now: number): number {
    let longest = 0;
    for (const what of ["requests", "tokens", "input-tokens", "output-tokens"]) {
        for (const [left, reset] of [
            [`x-ratelimit-remaining-${what}`, `x-ratelimit-reset-${what}`],
            [`anthropic-ratelimit-${what}-remaining`, `anthropic-ratelimit-${what}-reset`],
        ] as const) {
            if (headers.get(left)?.trim() !== "0") continue;
            longest = Math.max(longest, span(headers.get(reset) ?? "", now));
        }
    }
    return longest;
}

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `6m0s`, `120ms`, `1.5` (seconds), or the time of a clock; 0 where it is none of these. */
function span(text: string, now: number): number {
    if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
    if (/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text))
        return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
            (sum, [, n, unit]) => sum + Number(n) * (UNITS[unit as string] as number),
            0,
        );
    const at = Date.parse(text);
    return Number.isNaN(at) ? 0 : Math.max(0, at - now);
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
