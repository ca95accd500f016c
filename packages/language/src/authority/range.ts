/**
 * Ranges of numbers that a bound allows: `0..500`, both ends included.
 *
 * Boundary: text and numbers. Which argument is held against a range, and what happens outside it, is the machine's.
 */
import { numberText } from "../contract/show.ts";

export interface NumberRange {
    readonly low: number;
    readonly high: number;
}

const RANGE = /^(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)$/;

/** Null for a text that is no range, or one with nothing in it. */
export function rangeOf(text: string): NumberRange | null {
    const found = RANGE.exec(text);
    if (found === null) return null;
    const [low, high] = [Number(found[1]), Number(found[2])];
    return Number.isFinite(low) && Number.isFinite(high) && low <= high ? { low, high } : null;
}

/** As a form holds it, and as it is shown. */
export function rangeText(low: number, high: number): string {
    return `${numberText(low)}..${numberText(high)}`;
}

/** The patterns of a bound as they are written. */
export function patternsText({
    patterns,
    numbers,
}: {
    readonly patterns: readonly string[];
    readonly numbers?: boolean | undefined;
}): string {
    return patterns.map((one) => (numbers === true ? one : JSON.stringify(one))).join(", ");
}
