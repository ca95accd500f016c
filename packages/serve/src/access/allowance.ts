/**
 * What one client may use of the server: requests a second, streams at once.
 *
 * Boundary: counts in memory. The owner's own programs have no bound here but the server's.
 */
import { OWNER } from "./guard.ts";

export interface Allowed {
    /** A second, in the long run; for a moment twice as many. */
    readonly requests: number;
    readonly streams: number;
}

interface Used {
    left: number;
    /** When `left` was right, milliseconds. */
    at: number;
    streams: number;
}

export class Allowance {
    readonly #allowed: Allowed;
    readonly #used = new Map<string, Used>();
    readonly #changed: (by: 1 | -1) => void;

    /** `changed` is told of each stream that begins (1) and ends (-1). */
    constructor(allowed: Allowed, changed: (by: 1 | -1) => void = () => undefined) {
        this.#allowed = allowed;
        this.#changed = changed;
    }

    /** False where it was one too many. */
    request(client: string, now: number = performance.now()): boolean {
        if (client === OWNER.id) return true;
        const used = this.#of(client, now);
        const { requests } = this.#allowed;
        used.left = Math.min(2 * requests, used.left + ((now - used.at) * requests) / 1000);
        used.at = now;
        if (used.left < 1) return false;
        used.left--;
        return true;
    }

    /** Gives what ends it; null where the client has as many as it may. */
    stream(client: string): (() => void) | null {
        const used = this.#of(client, performance.now());
        if (client !== OWNER.id && used.streams >= this.#allowed.streams) return null;
        used.streams++;
        this.#changed(1);
        let isOver = false;
        return () => {
            if (isOver) return;
            isOver = true;
            used.streams--;
            this.#changed(-1);
        };
    }

    #of(client: string, now: number): Used {
        const used = this.#used.get(client) ?? { left: 2 * this.#allowed.requests, at: now, streams: 0 };
        this.#used.set(client, used);
        return used;
    }
}
