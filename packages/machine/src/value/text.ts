/**
 * Where a text may be cut: never inside a character of two UTF-16 units.
 *
 * Boundary: texts and indices; how much of a text is kept is for whoever cuts it.
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
