/**
 * Days and clocks: between instants and what a calendar and a clock show.
 *
 * Boundary: arithmetic of the proleptic Gregorian calendar (RFC 3339 section 5). Offsets come from `zones.ts`.
 */

/** What a calendar and a clock show at one place. `month` and `day` from 1; `ms` of the day. */
export interface Shown {
    readonly year: number;
    readonly month: number;
    readonly day: number;
    readonly ms: number;
}

export const DAY = 86_400_000;

/** Days since 1970-01-01 of a day of the calendar; months and days beyond their range count on. */
export function dayNumber(year: number, month: number, day: number): number {
    const months = year * 12 + (month - 1);
    const y = Math.floor(months / 12) - (months - Math.floor(months / 12) * 12 < 2 ? 1 : 0);
    // March is month 0, so that the day of a leap year is the last one of its year.
    const m = (months - Math.floor(months / 12) * 12 + 10) % 12;
    const era = Math.floor(y / 400);
    const inEra = y - era * 400;
    const days = inEra * 365 + Math.floor(inEra / 4) - Math.floor(inEra / 100) + Math.floor((153 * m + 2) / 5);
    return era * 146_097 + days + day - 1 - 719_468;
}

export function daysIn(year: number, month: number): number {
    return dayNumber(year, month + 1, 1) - dayNumber(year, month, 1);
}

/** Of a local time: milliseconds since 1970-01-01T00:00:00 on the same clock. */
export function shownAt(local: number): Shown {
    const number = Math.floor(local / DAY);
    const days = number + 719_468;
    const era = Math.floor(days / 146_097);
    const inEra = days - era * 146_097;
    const y = Math.floor((inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365);
    const inYear = inEra - (365 * y + Math.floor(y / 4) - Math.floor(y / 100));
    const m = Math.floor((5 * inYear + 2) / 153);
    const month = m < 10 ? m + 3 : m - 9;
    const year = y + era * 400 + (month <= 2 ? 1 : 0);
    return { year, month, day: inYear - Math.floor((153 * m + 2) / 5) + 1, ms: local - number * DAY };
}

export function localOf({ year, month, day, ms }: Shown): number {
    return dayNumber(year, month, day) * DAY + ms;
}

/** So many months on; a day that the month does not have is its last one. */
export function monthsOn({ year, month, day, ms }: Shown, months: number): Shown {
    const all = year * 12 + month - 1 + months;
    const to = { year: Math.floor(all / 12), month: all - Math.floor(all / 12) * 12 + 1 };
    return { ...to, day: Math.min(day, daysIn(to.year, to.month)), ms };
}

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

export function weekdayOf({ year, month, day }: Shown): string {
    // 1970-01-01 was a Thursday.
    const n = (dayNumber(year, month, day) + 3) % 7;
    return WEEKDAYS[n < 0 ? n + 7 : n] as string;
}
