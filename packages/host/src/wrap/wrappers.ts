/**
 * Wrappers that are ready: try again, end in time, remember, tell.
 *
 * Boundary: work and what is said of it (`wrap.ts`). Nothing here knows a program, a plan or an effect.
 */
import { setTimeout as after } from "node:timers/promises";
import { RemitError } from "../failure/error.ts";
import type { About, Wrap } from "./wrap.ts";

/** Failures that may pass. */
const PASSING: ReadonlySet<string> = new Set(["unreachable", "timeout", "rate_limited", "model", "tool"]);

export interface RetryOptions {
    /** Further tries. Default 2. */
    readonly times?: number;
    /** Before the first further try, milliseconds; doubled each time. Default 250. */
    readonly wait?: number;
    /** Default: a failure that may pass, of work that does no harm a second time. */
    readonly when?: (error: unknown, about: About) => boolean;
}

/** Tries again. A run that is stopped is not tried again. */
export function retry({ times = 2, wait = 250, when = mayPass }: RetryOptions = {}): Wrap {
    return (work, about) => async (signal) => {
        for (let left = times; ; left--) {
            try {
                return await work(signal);
            } catch (error) {
                if (left <= 0 || signal.aborted || !when(error, about)) throw error;
                await after(wait * 2 ** (times - left), undefined, { signal });
            }
        }
    };
}

function mayPass(error: unknown, { repeatable }: About): boolean {
    return repeatable && error instanceof RemitError && PASSING.has(error.kind);
}

/** Ends the work after so many milliseconds with a failure `timeout`. */
export function timeout(ms: number): Wrap {
    return (work, about) => async (signal) => {
        const over = new AbortController();
        const message = `${about.name} took longer than ${ms} ms`;
        const late = new RemitError({ kind: "timeout", message, hint: "give the wrapper more time" });
        let timer: NodeJS.Timeout | undefined;
        const ended = new Promise<never>((_, reject) => {
            timer = setTimeout(() => {
                over.abort(late);
                reject(late);
            }, ms);
        });
        try {
            return await Promise.race([work(AbortSignal.any([signal, over.signal])), ended]);
        } finally {
            clearTimeout(timer);
        }
    };
}

export interface CacheOptions {
    /** How long a value counts, milliseconds. Default: as long as the wrapper is there. */
    readonly ttl?: number;
    /** How many values are kept; the oldest goes first. Default 1,000. */
    readonly most?: number;
    /** Default: work that does no harm a second time. */
    readonly when?: (about: About) => boolean;
    readonly now?: () => number;
}

/** Remembers values by what they were made of; failures are not remembered. */
export function cache({
    ttl = Number.POSITIVE_INFINITY,
    most = 1000,
    when = ({ repeatable }) => repeatable,
    now = Date.now,
}: CacheOptions = {}): Wrap {
    const kept = new Map<string, { readonly value: unknown; readonly until: number }>();
    return <T>(work: (signal: AbortSignal) => Promise<T>, about: About) => {
        if (!when(about)) return work;
        return async (signal: AbortSignal): Promise<T> => {
            const key = `${about.what} ${about.name}\n${about.key()}`;
            const known = kept.get(key);
            if (known !== undefined && known.until > now()) return known.value as T;
            const value = await work(signal);
            kept.delete(key);
            kept.set(key, { value, until: now() + ttl });
            if (kept.size > most) kept.delete(kept.keys().next().value as string);
            return value;
        };
    };
}

/** How work ended, without its input and its result. */
export interface Logged {
    readonly about: About;
    readonly ok: boolean;
    readonly ms: number;
    /** Of a failure. */
    readonly kind?: string;
}

/** Tells of each piece of work when it is over. */
export function log(tell: (one: Logged) => void, now: () => number = () => performance.now()): Wrap {
    return (work, about) => async (signal) => {
        const begun = now();
        try {
            const value = await work(signal);
            tell({ about, ok: true, ms: now() - begun });
            return value;
        } catch (error) {
            tell({ about, ok: false, ms: now() - begun, kind: error instanceof RemitError ? error.kind : "error" });
            throw error;
        }
    };
}
