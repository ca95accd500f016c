/**
 * Offsets of time zones (IANA database).
 *
 * Boundary: between an instant and a local time of a named zone. The table is part of the code and not of the engine: a run that is told again on
 * another machine sees the same offsets.
 *
 * ZO1: before 1970 a zone has the offset with which it enters that year.
 * ZO2: a local time that the clock shows twice is the earlier one; one that it leaves out is as much later as the clock is moved.
 */
import { DAY, dayNumber, shownAt } from "./calendar.ts";
import { ZONE_DATA } from "./zone-data.ts";

/** Month, week (5: the last), weekday (0: Sunday) and minute of the day at which a summer begins or ends, on the clock that holds until then. */
type Turn = readonly [month: number, week: number, weekday: number, minute: number];

/** Offsets in milliseconds east of UTC. */
export interface Zone {
    readonly name: string;
    readonly first: number;
    /** Instants of the changes in order, and the offset from each on. */
    readonly at: readonly number[];
    readonly offsets: readonly number[];
    /** What holds after the last change. */
    readonly standard: number;
    readonly summer: { readonly offset: number; readonly from: Turn; readonly to: Turn } | null;
}

const MINUTE = 60_000;

let lines: ReadonlyMap<string, string> | null = null;
const read = new Map<string, Zone>();

function table(): ReadonlyMap<string, string> {
    if (lines === null) {
        const found = new Map<string, string>();
        for (const line of ZONE_DATA.trim().split("\n")) {
            const bar = line.indexOf("|");
            for (const name of line.slice(0, bar).split(" ")) found.set(name, line.slice(bar + 1));
        }
        lines = found;
    }
    return lines;
}

export function zoneNames(): Iterable<string> {
    return table().keys();
}

/** Null where the database has no such zone. */
export function zoneOf(name: string): Zone | null {
    let zone = read.get(name);
    if (zone === undefined) {
        const line = table().get(name);
        if (line === undefined) return null;
        zone = zoneIn(name, line);
        read.set(name, zone);
    }
    return zone;
}

function zoneIn(name: string, line: string): Zone {
    const unit = line.startsWith("q") ? 900_000 : 1000;
    const [first = "", changes = "", rule = ""] = line.slice(1).split(";");
    const of = (text: string): number => Number.parseInt(text, 36) * unit;
    const at: number[] = [];
    const offsets: number[] = [];
    let last = 0;
    for (const change of changes === "" ? [] : changes.split(",")) {
        const sign = change.search(/[-+]/);
        last += of(change.slice(0, sign));
        at.push(last);
        offsets.push(of(change.slice(sign)));
    }
    const [standard = "0", summer, from = "", to = ""] = rule.split(" ");
    const turn = (text: string): Turn => text.split(".").map(Number) as unknown as Turn;
    return {
        name,
        first: of(first),
        at,
        offsets,
        standard: Number(standard) * MINUTE,
        summer: summer === undefined ? null : { offset: Number(summer) * MINUTE, from: turn(from), to: turn(to) },
    };
}

/** Milliseconds since 1970 on the zone's clock, at which it is turned in that year. */
function turnIn(year: number, [month, week, weekday, minute]: Turn): number {
    const first = dayNumber(year, month, 1);
    // 1970-01-01 was a Thursday.
    let day = first + ((((weekday - (first + 4)) % 7) + 7) % 7) + (week - 1) * 7;
    while (day >= dayNumber(year, month + 1, 1)) day -= 7;
    return day * DAY + minute * MINUTE;
}

/** The offset at an instant (milliseconds since 1970, UTC). */
export function offsetAt({ first, at, offsets, standard, summer }: Zone, instant: number): number {
    if (at.length > 0 && instant < (at[0] as number)) return first;
    if (instant < (at[at.length - 1] ?? instant)) {
        let low = 0;
        for (let high = at.length; high - low > 1; ) {
            const middle = (low + high) >> 1;
            if ((at[middle] as number) <= instant) low = middle;
            else high = middle;
        }
        return offsets[low] as number;
    }
    if (summer === null) return standard;
    // No zone turns its clock in the hours around a year's end.
    const { year } = shownAt(instant + standard);
    const from = turnIn(year, summer.from) - standard;
    const to = turnIn(year, summer.to) - summer.offset;
    const isSummer = from < to ? instant >= from && instant < to : instant >= from || instant < to;
    return isSummer ? summer.offset : standard;
}

/** The instant at which the zone's clock shows this local time (ZO2). */
export function instantOf(zone: Zone, local: number): number {
    const before = offsetAt(zone, local - DAY);
    const after = offsetAt(zone, local + DAY);
    for (const offset of [Math.max(before, after), Math.min(before, after)])
        if (offsetAt(zone, local - offset) === offset) return local - offset;
    return local - before;
}
