/**
 * A map by text that many standings of a run share: each keeps what it had, and a change copies a small part of it.
 *
 * Boundary: a value, like a `Map` that is not changed; what is in it is `order.ts`'s. Without it every commit of a run with n effects under way would
 * copy n entries (section `temporal` of `bench/`).
 *
 * SHV1: what an operation costs does not grow with the number of entries, up to some ten thousand. The order of entries has no meaning.
 */

/** A change copies the list of shelves, and one of them. Few entries stand on one shelf: most runs have few effects under way. */
const SHELVES = 256;
const MOST_ON_ONE = 32;
/** So few go back to one shelf. */
const FEW = 8;

export class Entries<V> implements Iterable<readonly [string, V]> {
    readonly size: number;
    private readonly shelves: readonly (ReadonlyMap<string, V> | undefined)[];

    private constructor(shelves: Entries<V>["shelves"], size: number) {
        this.shelves = shelves;
        this.size = size;
    }

    static of<V>(entries: Iterable<readonly [string, V]> = []): Entries<V> {
        let all = new Entries<V>([undefined], 0);
        for (const [key, value] of entries) all = all.with(key, value);
        return all;
    }

    get(key: string): V | undefined {
        return this.shelves[this.shelfOf(key)]?.get(key);
    }

    has(key: string): boolean {
        return this.get(key) !== undefined;
    }

    with(key: string, value: V): Entries<V> {
        return this.changed(key, (shelf) => shelf.set(key, value));
    }

    /** The same where there is no such entry. */
    without(key: string): Entries<V> {
        return this.has(key) ? this.changed(key, (shelf) => shelf.delete(key)) : this;
    }

    /** What is not as it was in `before`: key, the value before and the value now. */
    since(before: Entries<V>): (readonly [string, V | undefined, V | undefined])[] {
        const changes: (readonly [string, V | undefined, V | undefined])[] = [];
        if (before === this) return changes;
        const isEven = before.shelves.length === this.shelves.length;
        const go = (all: Entries<V>["shelves"], skips: Entries<V>["shelves"], see: (value: V, key: string) => void): void => {
            for (let i = 0; i < all.length; i++) if (!isEven || all[i] !== skips[i]) all[i]?.forEach(see);
        };
        go(before.shelves, this.shelves, (value, key) => {
            const is = this.get(key);
            if (is !== value) changes.push([key, value, is]);
        });
        go(this.shelves, before.shelves, (value, key) => {
            if (!before.has(key)) changes.push([key, undefined, value]);
        });
        return changes;
    }

    *[Symbol.iterator](): Generator<readonly [string, V]> {
        for (const shelf of this.shelves) if (shelf !== undefined) yield* shelf;
    }

    private changed(key: string, change: (shelf: Map<string, V>) => unknown): Entries<V> {
        const at = this.shelfOf(key);
        const before = this.shelves[at];
        const shelf = new Map(before);
        change(shelf);
        const size = this.size + shelf.size - (before?.size ?? 0);
        const isOne = this.shelves.length === 1;
        if (isOne && size <= MOST_ON_ONE) return new Entries([shelf], size);
        const shelves = this.shelves.slice();
        shelves[at] = shelf;
        const all = new Entries(shelves, size);
        return isOne ? all.on(SHELVES) : size <= FEW ? all.on(1) : all;
    }

    /** The same entries on so many shelves. */
    private on(count: number): Entries<V> {
        const shelves: (Map<string, V> | undefined)[] = Array.from({ length: count });
        const all = new Entries<V>(shelves, this.size);
        for (const [key, value] of this) {
            const at = all.shelfOf(key);
            const shelf = shelves[at] ?? new Map<string, V>();
            shelves[at] = shelf.set(key, value);
        }
        return all;
    }

    private shelfOf(key: string): number {
        return this.shelves.length === 1 ? 0 : shelfOf(key);
    }
}

function shelfOf(key: string): number {
    let hash = 0;
    for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
    return (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (SHELVES - 1);
}
