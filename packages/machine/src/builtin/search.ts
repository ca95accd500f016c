/**
 * Finding a text in a text, in time proportional to both.
 *
 * Boundary: UTF-16 units. Short texts are found by the engine's own search, whose worst case is the product of the lengths; longer ones by the
 * two-way algorithm (M. Crochemore, D. Perrin, "Two-way string-matching", JACM 38(3), 1991), which needs no table.
 */

/** Up to this length the engine's search costs little more than reading the text, whatever it holds. */
export const SHORT = 32;

/** Position of the first occurrence of `part` at or after `from`, -1 where there is none. */
export function find(text: string, part: string, from = 0): number {
    return part.length <= SHORT ? text.indexOf(part, from) : new Finder(part).find(text, from);
}

/** Positions of all occurrences that do not overlap, from left to right. `part` is not empty. */
export function* findAll(text: string, part: string): Generator<number> {
    const finder = part.length <= SHORT ? null : new Finder(part);
    for (let from = 0; ; ) {
        const at = finder === null ? text.indexOf(part, from) : finder.find(text, from);
        if (at < 0) return;
        yield at;
        from = at + part.length;
    }
}

class Finder {
    private readonly part: string;
    /** Where the part is cut in two, and the period of its right half, which is the whole part's where `periodic`. */
    private readonly cut: number;
    private readonly period: number;
    private readonly periodic: boolean;

    constructor(part: string) {
        this.part = part;
        const [up, upPeriod] = maximalSuffix(part, 1);
        const [down, downPeriod] = maximalSuffix(part, -1);
        [this.cut, this.period] = up > down ? [up, upPeriod] : [down, downPeriod];
        this.periodic = part.startsWith(part.slice(0, this.cut), this.period);
        if (!this.periodic) this.period = Math.max(this.cut, part.length - this.cut) + 1;
    }

    find(text: string, from: number): number {
        const { part, cut, period, periodic } = this;
        const length = part.length;
        let at = from;
        /** So many units of the part are known to be at `at`. */
        let known = 0;
        while (at + length <= text.length) {
            let i = Math.max(cut, known);
            while (i < length && part.charCodeAt(i) === text.charCodeAt(at + i)) i++;
            if (i < length) {
                at += i - cut + 1;
                known = 0;
                continue;
            }
            let j = cut - 1;
            while (j >= known && part.charCodeAt(j) === text.charCodeAt(at + j)) j--;
            if (j < known) return at;
            at += period;
            known = periodic ? length - period : 0;
        }
        return -1;
    }
}

/** Start and period of the greatest suffix by the order of units (`sign` 1) or by its reverse (-1). */
function maximalSuffix(part: string, sign: 1 | -1): [number, number] {
    let start = 0;
    let next = 1;
    let same = 0;
    let period = 1;
    while (next + same < part.length) {
        const order = sign * (part.charCodeAt(next + same) - part.charCodeAt(start + same));
        if (order === 0) {
            if (++same === period) {
                next += period;
                same = 0;
            }
        } else if (order < 0) {
            next += same + 1;
            same = 0;
            period = next - start;
        } else {
            start = next;
            next = start + 1;
            same = 0;
            period = 1;
        }
    }
    return [start, period];
}
