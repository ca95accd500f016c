/**
 * When the runs that a process writes beat: each at its own time, and only one that wrote nothing for a while.
 *
 * Boundary: turns of a timer. What a heartbeat writes is `writer.ts`'s, how old one may get `lease.ts`'s.
 *
 * HTB1: between two writes of a run that tell its heartbeat, commits included, lies at most the interval that the ledger was opened with.
 * HTB2: runs that were begun together do not beat together: 400 heartbeats at once take the thread 10 ms, and their commit as long.
 */

/** Looks at who is due, in one interval. */
const TURNS = 16;

export class Beats {
    /** Turns until it is due. */
    readonly #left = new Map<() => void, number>();
    readonly #random: () => number;
    readonly #timer: NodeJS.Timeout;

    /** `ms`: the interval. `random`: from 0 up to 1. */
    constructor(ms: number, random: () => number = Math.random) {
        this.#random = random;
        this.#timer = setInterval(() => this.turn(), ms / TURNS);
        this.#timer.unref();
    }

    add(beat: () => void): void {
        this.#left.set(beat, this.#next());
    }

    /** The run has told its heartbeat by what it wrote. */
    wrote(beat: () => void): void {
        if (this.#left.has(beat)) this.add(beat);
    }

    delete(beat: () => void): void {
        this.#left.delete(beat);
    }

    turn(): void {
        for (const [beat, left] of this.#left) {
            this.#left.set(beat, left > 1 ? left - 1 : this.#next());
            if (left <= 1) beat();
        }
    }

    close(): void {
        clearInterval(this.#timer);
        this.#left.clear();
    }

    /** HTB2: somewhere in the second half of the interval. */
    #next(): number {
        return TURNS / 2 + Math.ceil((this.#random() * TURNS) / 2);
    }
}
