/**
 * Label sets: which origins a value has. Interned per run as small integers, 0 is the empty set.
 *
 * LA1: ids mean something in one run only; whatever leaves the machine writes the sorted origin names.
 * LA8: whether any set says who may read it is known without a look at values: where none does, no rule asks.
 */

export class Labels {
    private readonly sets: (readonly string[])[] = [[]];
    private readonly byKey = new Map<string, number>([["", 0]]);
    /** Sets of one origin, the usual case: found without a key made of text. */
    private readonly single = new Map<string, number>();
    private readonly rows: (number | undefined)[][] = [[]];

    /** Some set of this run has an `only:` (LA8). */
    isRestricted = false;

    /** A set that is new. */
    protected met(origins: readonly string[]): void {
        this.isRestricted ||= origins.some((origin) => origin.startsWith("only:"));
    }

    /** The id of the set of these origins. */
    of(origins: readonly string[]): number {
        if (origins.length === 0) return 0;
        const one = origins.length === 1 ? origins[0] : undefined;
        if (one !== undefined) {
            const known = this.single.get(one);
            if (known !== undefined) return known;
        }
        const sorted = [...new Set(origins)].sort();
        const key = JSON.stringify(sorted);
        const known = this.byKey.get(key);
        const id = known ?? this.sets.length;
        if (known === undefined) {
            this.met(sorted);
            this.sets.push(sorted);
            this.rows.push([]);
            this.byKey.set(key, id);
        }
        if (one !== undefined) this.single.set(one, id);
        return id;
    }

    union(a: number, b: number): number {
        if (a === b || b === 0) return a;
        if (a === 0) return b;
        const row = this.rows[a] as (number | undefined)[];
        const known = row[b];
        if (known !== undefined) return known;
        const id = this.of([...(this.sets[a] as readonly string[]), ...(this.sets[b] as readonly string[])]);
        row[b] = id;
        return id;
    }

    /** How many sets there are, the empty one included. Ids run from 0 to `size - 1` in the order in which sets were first met. */
    get size(): number {
        return this.sets.length;
    }

    /** Sorted origins of a set. */
    origins(id: number): readonly string[] {
        return this.sets[id] as readonly string[];
    }

    /** True where every origin of `a` is in `b`. */
    within(a: number, b: number): boolean {
        return this.union(a, b) === b;
    }
}
