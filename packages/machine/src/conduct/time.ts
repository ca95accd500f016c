/**
 * The run's own time, and what waits for it.
 *
 * Boundary: numbers of milliseconds that the shell says; no clock.
 *
 * D4: time spent waiting for a person counts for nothing; what earlier parts of the run took counts. What the program only waits for is no budget:
 *     it passes meanwhile, too.
 */

interface Timer {
    readonly due: number;
    /** In the run's time; false: by the shell's clock, also while a person is asked. */
    readonly counts: boolean;
}

/** Timers that are due this soon ring: a shell's clock and its timers need not agree. */
const SOON = 1;

export class RunTime {
    private at: number | null = null;
    private taken: number;
    private persons = 0;
    private readonly timers = new Map<string, Timer>();

    constructor(taken: number) {
        this.taken = taken;
    }

    /** It is `at` now, by the shell's clock. */
    now(at: number): void {
        this.taken = this.spentAt(at);
        // Until now there was no clock that what does not count could begin at.
        if (this.at === null) for (const [id, { due, counts }] of this.timers) if (!counts) this.timers.set(id, { due: due + at, counts });
        this.at = at;
    }

    /** Milliseconds that count so far, also between two calls of `now`. */
    spentAt(at: number): number {
        return this.persons > 0 || this.at === null ? this.taken : this.taken + Math.max(0, at - this.at);
    }

    get spent(): number {
        return Math.round(this.taken);
    }

    /** A person is waited for (+1), or has answered (-1). */
    person(change: 1 | -1): void {
        this.persons += change;
    }

    /** Rings once, when so many milliseconds more have passed. */
    set(id: string, ms: number, counts = true): void {
        this.timers.set(id, { due: (counts ? this.taken : (this.at ?? 0)) + ms, counts });
    }

    /** Rings once, when so many milliseconds count. */
    until(id: string, due: number): void {
        this.timers.set(id, { due, counts: true });
    }

    has(id: string): boolean {
        return this.timers.has(id);
    }

    /** Milliseconds until it rings; null where there is none. */
    leftOf(id: string): number | null {
        const timer = this.timers.get(id);
        return timer === undefined ? null : Math.max(0, Math.ceil(this.left(timer)));
    }

    clear(id: string): boolean {
        return this.timers.delete(id);
    }

    /** Those that ring now, the earliest first. */
    rung(): string[] {
        let any = false;
        for (const timer of this.timers.values()) any ||= this.left(timer) <= SOON;
        // Asked at every step of the conductor; seldom does one ring.
        if (!any) return [];
        const due = [...this.timers].filter(([, timer]) => this.left(timer) <= SOON).sort(([, a], [, b]) => this.left(a) - this.left(b));
        for (const [id] of due) this.timers.delete(id);
        return due.map(([id]) => id);
    }

    /** When the next one rings, by the shell's clock; null where none does. */
    next(): number | null {
        let next = Number.POSITIVE_INFINITY;
        for (const timer of this.timers.values()) if (!timer.counts || this.persons === 0) next = Math.min(next, this.left(timer));
        return next === Number.POSITIVE_INFINITY ? null : Math.ceil((this.at as number) + Math.max(0, next));
    }

    private left({ due, counts }: Timer): number {
        return due - (counts ? this.taken : (this.at ?? 0));
    }
}
