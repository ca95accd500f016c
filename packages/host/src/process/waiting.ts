/**
 * Waiting that ends: after a time, or when it is called off.
 *
 * Boundary: timers and signals. Leaves no timer and no listener behind.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** Calls once the signal is aborted, at once where it is; no more after the block that holds it. */
export function onAbort(signal: AbortSignal, call: () => void): Disposable {
    if (signal.aborted) call();
    else signal.addEventListener("abort", call, { once: true });
    return { [Symbol.dispose]: () => signal.removeEventListener("abort", call) };
}

/** Rejects where the signal is aborted first, with its reason or another one. */
export async function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal, reason?: () => unknown): Promise<T> {
    const aborted = Promise.withResolvers<never>();
    using _ = onAbort(signal, () => aborted.reject(reason === undefined ? signal.reason : reason()));
    return await Promise.race([work, aborted.promise]);
}

/** Waits until it has settled, but no longer than that. */
export async function atMost(milliseconds: number, work: PromiseLike<unknown> | undefined): Promise<void> {
    const late = Promise.withResolvers<void>();
    using _ = setTimeout(late.resolve, milliseconds);
    await Promise.race([work, late.promise]);
}

/** Waits, or rejects with the signal's reason. */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
    // Nothing but the abort ends it before its time.
    await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
