/**
 * "Did you mean …": the one place that measures how near two names are.
 *
 * Boundary: strings in, a string or nothing out.
 */

/** Longest name that is compared; longer ones are not slips of the finger. */
const MAX_LENGTH = 64;
/** Most names that are compared for one question. */
const MAX_KNOWN = 500;

/** The known name nearest to `name`, if one is near enough to have been meant. The first of equals wins. */
export function nearest(name: string, known: Iterable<string>): string | null {
    if (name.length === 0 || name.length > MAX_LENGTH) return null;
    const lower = name.toLowerCase();
    let best: string | null = null;
    // A name of one letter has nothing in common with one that differs in it, except for its case.
    let bestDistance = Math.min(name.length, Math.max(1, Math.floor(name.length / 3)) + 1);
    let seen = 0;
    for (const other of known) {
        if (seen++ >= MAX_KNOWN) break;
        if (other === name || Math.abs(other.length - name.length) >= bestDistance || other.length > MAX_LENGTH) continue;
        const found = distance(lower, other.toLowerCase(), bestDistance);
        if (found < bestDistance) {
            bestDistance = found;
            best = other;
            if (found === 0) break;
        }
    }
    return best;
}

/** The sentence for it, or nothing. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
    const found = nearest(name, known);
    return found === null ? undefined : `did you mean '${found}'?`;
}

/** Edits (insert, drop, replace, swap of neighbours) between two texts, or `limit` where there are at least that many. */
function distance(a: string, b: string, limit: number): number {
    let before: number[] = [];
    let last: number[] = [];
    for (let j = 0; j <= b.length; j++) last.push(j);
    for (let i = 1; i <= a.length; i++) {
        const row = [i];
        let least = i;
        for (let j = 1; j <= b.length; j++) {
            const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
            let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1));
            if (i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1))
                cost = Math.min(cost, (before[j - 2] as number) + 1);
            row.push(cost);
            if (cost < least) least = cost;
        }
        if (least >= limit) return limit;
        before = last;
        last = row;
    }
    return last[b.length] as number;
}
