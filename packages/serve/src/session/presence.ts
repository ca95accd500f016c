/**
 * Which clients are here: one is as long as one of its streams is, and a little longer, so that it can come back.
 *
 * Boundary: counts and timers. What goes with a client is the session's.
 */
export interface Leaving {
    /** How long a client may be away, milliseconds. */
    readonly away: number;
    /** Whether anything goes with it. */
    matters(client: string): boolean;
    gone(client: string): void;
}

export class Presence {
    /** Streams that are open, by client. */
    readonly #here = new Map<string, number>();
    readonly #away = new Map<string, NodeJS.Timeout>();
    readonly #leaving: Leaving;

    constructor(leaving: Leaving) {
        this.#leaving = leaving;
    }

    comes(client: string): void {
        clearTimeout(this.#away.get(client));
        this.#away.delete(client);
        this.#here.set(client, (this.#here.get(client) ?? 0) + 1);
    }

    leaves(client: string): void {
        const left = (this.#here.get(client) ?? 1) - 1;
        if (left > 0) this.#here.set(client, left);
        else {
            this.#here.delete(client);
            this.waits(client);
        }
    }

    /** A client without a stream has so long to come. */
    waits(client: string): void {
        if (this.#here.has(client) || !this.#leaving.matters(client)) return;
        clearTimeout(this.#away.get(client));
        this.#away.set(
            client,
            setTimeout(() => this.#leaving.gone(client), this.#leaving.away),
        );
    }

    stop(): void {
        for (const timer of this.#away.values()) clearTimeout(timer);
    }
}
