/**
 * Optional members of a value, passed on where they are there: an absent member is not the same as one that is undefined.
 */

/** Those of the named members that are there. */
export function given<T extends object, K extends keyof T>(from: T, names: readonly K[]): { [N in K]?: Exclude<T[N], undefined> } {
    const found: { [N in K]?: Exclude<T[N], undefined> } = {};
    for (const name of names) if (from[name] !== undefined) found[name] = from[name] as Exclude<T[K], undefined>;
    return found;
}
