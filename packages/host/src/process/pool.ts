/**
 * What several worlds of one process hold together, by a key that names everything it depends on.
 *
 * Boundary: lifetimes; what is held, and what it depends on, its user says.
 *
 * PL1: one thing a key at a time. It ends when its last holder lets go of it, or when the process closes.
 * PL2: what could not be made is made anew at the next `take`, and so is what has ended by itself. Only those who use it then are told.
 */

export interface Pool<T> {
    /** `ending` is aborted where the last holder lets go before the thing is made. */
    take(key: string, holder: object, make: (ending: AbortSignal) => Promise<T>): Promise<T>;
    /** The holder lets go of all that it took. */
    release(holder: object): Promise<void>;
    /** Ends everything, whatever holds it. */
    close(): Promise<void>;
}

interface Held<T> {
    readonly made: Promise<T>;
    readonly holders: Set<object>;
    readonly ending: AbortController;
    value?: T;
}

export function pool<T>(close: (one: T) => Promise<unknown>, isOver: (one: T) => boolean = () => false): Pool<T> {
    const open = new Map<string, Held<T>>();

    function begin(key: string, make: (ending: AbortSignal) => Promise<T>): Held<T> {
        const ending = new AbortController();
        const held: Held<T> = { made: make(ending.signal), holders: new Set(), ending };
        open.set(key, held);
        held.made.then(
            (value) => {
                held.value = value;
            },
            () => open.get(key) === held && open.delete(key),
        );
        return held;
    }
    async function end(ended: readonly [string, Held<T>][]): Promise<void> {
        for (const [key] of ended) open.delete(key);
        for (const [, { ending }] of ended) ending.abort();
        await Promise.allSettled(ended.map(async ([, { made }]) => close(await made)));
    }
    return {
        take: (key, holder, make) => {
            const known = open.get(key);
            const held = known === undefined || (known.value !== undefined && isOver(known.value)) ? begin(key, make) : known;
            held.holders.add(holder);
            return held.made;
        },
        release: async (holder) => end([...open].filter(([, { holders }]) => holders.delete(holder) && holders.size === 0)),
        close: async () => end([...open]),
    };
}
