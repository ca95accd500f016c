/**
 * A map by text that many standings of a run share: each keeps what it had, and a change copies a small part of it.
 *
 * Boundary: a value, like a `Map` that is not changed; what is in it is `order.ts`'s. Without it every commit of a run with n effects under way would
 * copy n entries (section `temporal` of `bench/`).
 *
 * SHV1: what an operation costs does not grow with the number of entries, up to some ten thousand. The order of entries has no meaning.
 */

/** A change copies the list of shelves, and one of them. */
const SHELVES = 256;

export class Entries<V> implements Iterable<readonly [string, V]> {
    readonly size: number;
    private readonly shelves: readonly (ReadonlyMap<string, V> | undefined)[];

    private constructor(shelves: Entries<V>["shelves"], size: number) {
        this.shelves = shelves;
        this.size = size;
    }

    static of<V>(entries: Iterable<readonly [string, V]> = []): Entries<V> {
        let all = new Entries<V>(Array.from({ length: SHELVES }), 0);
        for (const [key, value] of entries) all = all.with(key, value);
        return all;
    }

    get(key: string): V | undefined {
        return this.shelves[shelfOf(key)]?.get(key);
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
    *since(before: Entries<V>): Generator<readonly [string, V | undefined, V | undefined]> {
        for (let i = 0; i < SHELVES; i++) {
            const [was, is] = [before.shelves[i], this.shelves[i]];
            if (was === is) continue;
            for (const [key, value] of was ?? []) if (is?.get(key) !== value) yield [key, value, is?.get(key)];
            for (const [key, value] of is ?? []) if (was?.has(key) !== true) yield [key, undefined, value];
        }
    }

    *[Symbol.iterator](): Generator<readonly [string, V]> {
        for (const shelf of this.shelves) if (shelf !== undefined) yield* shelf;
    }

    private changed(key: string, change: (shelf: Map<string, V>) => unknown): Entries<V> {
        const at = shelfOf(key);
        const before = this.shelves[at];
        const shelf = new Map(before);
        change(shelf);
        const shelves = this.shelves.slice();
        shelves[at] = shelf;
        return new Entries(shelves, this.size + shelf.size - (before?.size ?? 0));
    }
}

function shelfOf(key: string): number {
    let hash = 0;
    for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
    return (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (SHELVES - 1);
}
