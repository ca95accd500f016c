/**
 * Where a text may be cut: never inside a character of two UTF-16 units. And numbers made from texts.
 *
 * Boundary: texts and indices; how much of a text is kept is for the caller that cuts it.
 */

/** The largest index not above `at` that does not split a character of `text`. */
export function wholeBefore(text: string, at: number): number {
    return at > 0 && at < text.length && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1)) ? at - 1 : at;
}

/** The smallest index not below `at` that does not split a character of `text`. */
export function wholeAfter(text: string, at: number): number {
    return at > 0 && at < text.length && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1)) ? at + 1 : at;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** At most `units` UTF-16 units, with a mark where something is missing. */
export function shortened(text: string, units: number): string {
    return text.length <= units ? text : `${text.slice(0, wholeBefore(text, units - 1))}…`;
}

/**
 * FNV-1a over UTF-16 units, with a round number in front and a final mix (the finaliser of MurmurHash3). Not a cryptographic hash: nothing may
 * depend on that it is hard to guess.
 */
export function hash32(text: string, round: number): number {
    let h = Math.imul(0x811c9dc5 ^ round, 0x01000193);
    for (let at = 0; at < text.length; at++) h = Math.imul(h ^ text.charCodeAt(at), 0x01000193);
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) >>> 0;
}
