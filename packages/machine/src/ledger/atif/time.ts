/**
 * Times as ATIF takes them: what Python's `datetime.fromisoformat` (3.11 and later) reads after every `Z` became `+00:00`.
 *
 * Boundary: accepted or not; the text itself is kept as it is. (Python overlooks one stray character before an offset; here that is no time.)
 */

const DATE = /^(?:(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d)|(\d{4})-W(\d\d)(?:-(\d))?|(\d{4})W(\d\d)(\d)?)/;
const CLOCK = /^(\d\d)(?::(\d\d)(?::(\d\d))?|(\d\d)(\d\d)?)?(?:[.,]\d+)?$/;

export function isTimestamp(given: string): boolean {
    const text = given.replaceAll("Z", "+00:00");
    const found = DATE.exec(text);
    if (found === null || !isDate(found)) return false;
    const rest = text.slice(found[0].length);
    // any one character stands between the date and the time
    const [separator, ...after] = rest;
    if (separator === undefined) return true;
    return isTime(after.join(""));
}

function isDate(found: RegExpExecArray): boolean {
    const part = (at: number): number => Number(found[at]);
    if (found[1] !== undefined) return isDay(part(1), part(2), part(3));
    if (found[4] !== undefined) return isDay(part(4), part(5), part(6));
    const [year, week, day] =
        found[7] === undefined ? [part(10), part(11), Number(found[12] ?? 1)] : [part(7), part(8), Number(found[9] ?? 1)];
    return year >= 1 && week >= 1 && week <= weeksOf(year) && day >= 1 && day <= 7;
}

function isDay(year: number, month: number, day: number): boolean {
    const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
    return year >= 1 && days !== undefined && day >= 1 && day <= days;
}

/** A year has 53 weeks where it begins on a Thursday, or on a Wednesday in a leap year. */
function weeksOf(year: number): number {
    const begins = (of: number): number => (of + Math.floor((of - 1) / 4) - Math.floor((of - 1) / 100) + Math.floor((of - 1) / 400)) % 7;
    return begins(year) === 4 || begins(year + 1) === 5 ? 53 : 52;
}

function isTime(text: string): boolean {
    const at = text.search(/[+-]/);
    const clock = at < 0 ? text : text.slice(0, at);
    const zone = at < 0 ? null : text.slice(at + 1);
    return isClock(clock) && (zone === null || isClock(zone));
}

function isClock(text: string): boolean {
    const found = CLOCK.exec(text);
    if (found === null) return false;
    const [hour, minute, second] = [found[1], found[2] ?? found[4], found[3] ?? found[5]].map((one) => Number(one ?? 0));
    return (hour as number) <= 23 && (minute as number) <= 59 && (second as number) <= 59;
}
