/**
 * One host for several runs, closed when none has needed it for a while; it opens again by itself at the next effect.
 *
 * Boundary: lifetimes only.
 *
 * SHR2: never closed by itself while a run uses it.
 */
import type { Host } from "./host.ts";

export interface SharedHost {
    /** For one run, until the function given back is called. */
    take(): () => void;
    /** Closes now, whatever uses it. */
    close(): Promise<void>;
}

/** Short enough that a script ends when it is done. */
const IDLE_MS = 500;

/** `idle`: after this long without a run what is open is closed, milliseconds. */
export function sharedHost(host: Host, idle = IDLE_MS): SharedHost {
    let users = 0;
    let timer: NodeJS.Timeout | null = null;

    const close = async (): Promise<void> => {
        if (timer !== null) clearTimeout(timer);
        timer = null;
        await host.close?.();
    };
    return {
        take: () => {
            if (timer !== null) clearTimeout(timer);
            timer = null;
            users++;
            let held = true;
            return () => {
                if (!held) return;
                held = false;
                users--;
                if (users > 0 || host.close === undefined) return;
                // Whatever close has to say, no caller is there to hear it any more.
                timer = setTimeout(() => void close().catch(() => undefined), idle);
                timer.unref();
            };
        },
        close,
    };
}
