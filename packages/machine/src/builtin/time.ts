/**
 * `time.parse`, `time.text`, `time.add`, `time.between`: times as texts (RFC 3339) and as what a calendar shows.
 *
 * Boundary: between texts and fields. What time it is is an effect (`time.now()`, `../native/clock.ts`).
 *
 * TIB1: a time is exact to the millisecond, in the years 0000 to 9999. A text without an offset, and a day alone, needs a zone.
 * TIB2: years, months, weeks and days are those of the calendar: of the zone that is given, else at the offset of the text. A day that a month
 *     does not have is its last one. Hours, minutes and seconds are exact.
 * TIB3: the result carries the labels of all that was given.
 */
import { nearest } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import { heldIn, Obj, type Value } from "../value/value.ts";
import { rawOf } from "../value/operators.ts";
import { WORK } from "../value/work.ts";
import { type Arg, isLambda, label, labelsWith, textOf, wrong } from "./args.ts";
import type { Builtin, Runtime } from "./builtin.ts";
import { DAY, dayNumber, daysIn, localOf, monthsOn, type Shown, shownAt, weekdayOf } from "./calendar.ts";
import { shapeOf } from "./row.ts";
import { instantOf, offsetAt, type Zone, zoneNames, zoneOf } from "./zones.ts";

const EXACT: ReadonlyMap<string, number> = new Map([
    ["hours", 3_600_000],
    ["minutes", 60_000],
    ["seconds", 1000],
]);
/** Months or days of a unit of the calendar. */
const CALENDAR: ReadonlyMap<string, { readonly months: number; readonly days: number }> = new Map([
    ["years", { months: 12, days: 0 }],
    ["months", { months: 1, days: 0 }],
    ["weeks", { months: 0, days: 7 }],
    ["days", { months: 0, days: 1 }],
]);
const UNITS: readonly string[] = [...CALENDAR.keys(), ...EXACT.keys()];
const FIELDS: readonly string[] = ["year", "month", "day", "hour", "minute", "second", "offset"];

/** An instant (milliseconds since 1970, UTC), and the offset at which it was written, or is to be. */
interface Moment {
    readonly instant: number;
    readonly offset: number;
}

/** What one call was given. Each failure carries the labels of all of it. */
class Call {
    readonly name: string;
    readonly labels: number;
    private readonly args: readonly Arg[];

    constructor(rt: Runtime, name: string, args: readonly Arg[]) {
        this.name = name;
        this.args = args;
        this.labels = args.reduce<number>((l, arg) => {
            const all = labelsWith(rt, l, arg);
            const raw = isLambda(arg) ? null : rawOf(arg);
            if (!(raw instanceof Obj)) return all;
            rt.work(WORK.values(raw.slots.length));
            // What is in it, and which keys there are.
            return raw.slots.reduce<number>((m, slot) => labelsWith(rt, m, slot), rt.labels.union(all, heldIn(rt.labels, raw)));
        }, 0);
    }

    fail(what: string, hint?: string): Fail {
        return new Fail("value", `${this.name}: ${what}`, { labels: this.labels, ...(hint === undefined ? {} : { hint }) });
    }

    has(i: number): boolean {
        const arg = this.args[i];
        return arg !== undefined && (isLambda(arg) || rawOf(arg) !== null);
    }

    text(i: number, param: string): string {
        return textOf(this.name, param, this.args[i]);
    }

    zone(i: number): Zone | null {
        if (!this.has(i)) return null;
        const name = this.text(i, "zone");
        const zone = zoneOf(name);
        if (zone !== null) return zone;
        // Those with its first letter are few enough to be compared.
        const close = nearest(
            name,
            [...zoneNames()].filter((one) => one.startsWith(name.slice(0, 1))),
        );
        throw this.fail(
            `there is no time zone ${JSON.stringify(name.slice(0, 60))}`,
            close === null ? 'zones have names such as "Europe/Berlin" or "UTC"' : `did you mean "${close}"?`,
        );
    }

    /** The numbers of an object's fields. Others than `known` are refused: a misspelt one would be left out in silence. */
    fields(i: number, param: string, known: readonly string[]): ReadonlyMap<string, unknown> {
        const arg = this.args[i];
        const raw = arg === undefined || isLambda(arg) ? null : rawOf(arg);
        if (!(raw instanceof Obj)) throw wrong(this.name, param, "an object", arg);
        const found = new Map<string, unknown>();
        for (const key of raw.shape.keys) {
            const value = rawOf(raw.get(key) as Value);
            if (!known.includes(key)) {
                const close = nearest(key, known);
                throw this.fail(
                    `${param} has a field ${JSON.stringify(key.slice(0, 60))} that means nothing here`,
                    close === null ? `it may have ${known.join(", ")}` : `did you mean ${close}?`,
                );
            }
            if (value !== null) found.set(key, value);
        }
        return found;
    }

    /** The time of a text, at its own offset; of one without an offset, in the zone. */
    moment(i: number, zone: Zone | null): Moment {
        const text = this.text(i, "text");
        const found = TIME.exec(text);
        if (found === null)
            throw this.fail(
                `${JSON.stringify(text.slice(0, 60))} is no time`,
                "write 2026-03-01T09:30:00Z, or with an offset 2026-03-01T09:30:00+01:00",
            );
        const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", offset] = found;
        const local = this.local(
            { year: Number(year), month: Number(month), day: Number(day) },
            // A leap second is the last one of its minute.
            { hour: Number(hour), minute: Number(minute), second: Math.min(Number(second), 59) + Number(`0.${fraction || 0}`) },
        );
        if (offset !== undefined) return { instant: local - this.offset(offset), offset: this.offset(offset) };
        if (zone === null) throw this.fail(`${JSON.stringify(text)} has no offset`, `give a zone: ${this.name}(…, "Europe/Berlin")`);
        return inZone(instantOf(zone, local), zone);
    }

    offset(text: string): number {
        if (text === "Z" || text === "z") return 0;
        const hours = Number(text.slice(1, 3));
        const minutes = Number(text.slice(4));
        if (hours > 23 || minutes > 59) throw this.fail(`${text} is no offset`, "an offset is written +01:00");
        return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
    }

    local(
        { year, month, day }: { readonly year: number; readonly month: number; readonly day: number },
        { hour, minute, second }: { readonly hour: number; readonly minute: number; readonly second: number },
    ): number {
        const most = month >= 1 && month <= 12 ? daysIn(year, month) : 0;
        if (year < 0 || year > 9999) throw this.fail("a year is 0 to 9999");
        if (most === 0) throw this.fail("a month is 1 to 12");
        if (day < 1 || day > most) throw this.fail(`that month has ${most} days`);
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second >= 60)
            throw this.fail("an hour is 0 to 23, a minute and a second are 0 to 59");
        return dayNumber(year, month, day) * DAY + hour * 3_600_000 + minute * 60_000 + Math.floor(second * 1000 + 1e-6);
    }

    whole(fields: ReadonlyMap<string, unknown>, key: string, absent: number | null): number {
        const value = fields.get(key) ?? absent;
        if (typeof value !== "number" || !Number.isInteger(value))
            throw this.fail(value === null ? `the field ${key} is missing` : `${key} must be a whole number`);
        return value;
    }

    number(fields: ReadonlyMap<string, unknown>, key: string): number {
        const value = fields.get(key) ?? 0;
        if (typeof value !== "number") throw this.fail(`${key} must be a number`);
        return value;
    }

    /** The text of a moment. */
    write({ instant, offset }: Moment): string {
        // RFC 3339 has offsets of whole minutes; the instant stays what it is.
        const minutes = Math.trunc(offset / 60_000);
        const { year, month, day, ms } = shownAt(instant + minutes * 60_000);
        if (year < 0 || year > 9999) throw this.fail("the time lies outside the years 0 to 9999");
        const two = (n: number): string => String(n).padStart(2, "0");
        const { hour, minute, second } = clockOf(ms);
        const fraction =
            second % 1 === 0
                ? ""
                : `.${String(ms % 1000)
                      .padStart(3, "0")
                      .replace(/0+$/, "")}`;
        const size = Math.abs(minutes);
        const zone = minutes === 0 ? "Z" : `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(Math.floor(second))}${fraction}${zone}`;
    }
}

/** RFC 3339 `date-time`, or `full-date`; without an offset too, where a zone is given. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::([0-5]\d|60)(?:\.(\d{1,30}))?)?([Zz]|[-+]\d\d:\d\d)?)?$/;

function clockOf(ms: number): { readonly hour: number; readonly minute: number; readonly second: number } {
    return { hour: Math.floor(ms / 3_600_000), minute: Math.floor(ms / 60_000) % 60, second: (ms % 60_000) / 1000 };
}

function inZone(instant: number, zone: Zone | null, offset = 0): Moment {
    return { instant, offset: zone === null ? offset : offsetAt(zone, instant) };
}

/** So many months and days on by the calendar, at the same time of the clock. */
function stepped(
    { instant, offset }: Moment,
    zone: Zone | null,
    { months, days }: { readonly months: number; readonly days: number },
): Moment {
    if (months === 0 && days === 0) return { instant, offset };
    const shown: Shown = monthsOn(shownAt(instant + offset), months);
    const local = localOf({ ...shown, day: shown.day + days });
    return zone === null ? { instant: local - offset, offset } : inZone(instantOf(zone, local), zone);
}

function parse(rt: Runtime, args: readonly Arg[]): Value {
    const call = new Call(rt, "time.parse", args);
    const zone = call.zone(1);
    const own = call.moment(0, zone);
    const { instant, offset } = inZone(own.instant, zone, own.offset);
    const shown = shownAt(instant + offset);
    const { hour, minute, second } = clockOf(shown.ms);
    const text = call.write({ instant, offset });
    const value = rt.heap.object([
        ["year", shown.year],
        ["month", shown.month],
        ["day", shown.day],
        ["hour", hour],
        ["minute", minute],
        ["second", second],
        ["weekday", weekdayOf(shown)],
        ["offset", text.endsWith("Z") ? "+00:00" : text.slice(-6)],
    ]);
    return label(rt, value, call.labels);
}

function text(rt: Runtime, args: readonly Arg[]): Value {
    const call = new Call(rt, "time.text", args);
    const zone = call.zone(1);
    const [given] = args;
    if (given !== undefined && !isLambda(given) && typeof rawOf(given) === "string") {
        const own = call.moment(0, zone);
        return label(rt, call.write(inZone(own.instant, zone, own.offset)), call.labels);
    }
    const fields = call.fields(0, "time", [...FIELDS, "weekday"]);
    const local = call.local(
        { year: call.whole(fields, "year", null), month: call.whole(fields, "month", 1), day: call.whole(fields, "day", 1) },
        { hour: call.whole(fields, "hour", 0), minute: call.whole(fields, "minute", 0), second: call.number(fields, "second") },
    );
    const offset = fields.get("offset");
    if (zone !== null && offset === undefined) return label(rt, call.write(inZone(instantOf(zone, local), zone)), call.labels);
    if (typeof offset !== "string" || !/^(?:[Zz]|[-+]\d\d:\d\d)$/.test(offset))
        throw call.fail(
            offset === undefined ? "these fields have no offset" : "offset must be a text such as +01:00",
            'give a zone: time.text(…, "Europe/Berlin")',
        );
    const east = call.offset(offset);
    return label(rt, call.write(inZone(local - east, zone, east)), call.labels);
}

function add(rt: Runtime, args: readonly Arg[]): Value {
    const call = new Call(rt, "time.add", args);
    const zone = call.zone(2);
    const own = call.moment(0, zone);
    const amount = call.fields(1, "amount", UNITS);
    let months = 0;
    let days = 0;
    let ms = 0;
    for (const [unit, size] of CALENDAR) {
        const n = call.whole(amount, unit, 0);
        months += n * size.months;
        days += n * size.days;
    }
    for (const [unit, size] of EXACT) ms += call.number(amount, unit) * size;
    // More than all years there are: said before the arithmetic would lose whole days.
    if (Math.abs(months) > 120_000 || Math.abs(days) > 3_660_000 || !(Math.abs(ms) <= 3_660_000 * DAY))
        throw call.fail("the time lies outside the years 0 to 9999");
    const moved = stepped(inZone(own.instant, zone, own.offset), zone, { months, days });
    const instant = moved.instant + Math.round(ms);
    return label(rt, call.write(inZone(instant, zone, moved.offset)), call.labels);
}

function between(rt: Runtime, args: readonly Arg[]): Value {
    const call = new Call(rt, "time.between", args);
    const zone = call.zone(3);
    const from = call.moment(0, zone);
    const to = call.moment(1, zone);
    const unit = call.has(2) ? call.text(2, "unit") : "seconds";
    const exact = EXACT.get(unit);
    if (exact !== undefined) return label(rt, (to.instant - from.instant) / exact, call.labels);
    const size = CALENDAR.get(unit);
    if (size === undefined) {
        const close = nearest(unit, UNITS);
        throw call.fail(
            `there is no unit ${JSON.stringify(unit.slice(0, 60))}`,
            close === null ? `units are ${UNITS.join(", ")}` : `did you mean "${close}"?`,
        );
    }
    const start = inZone(from.instant, zone, from.offset);
    const at = (n: number): number => stepped(start, zone, { months: n * size.months, days: n * size.days }).instant;
    const sign = to.instant < start.instant ? -1 : 1;
    // Whole units: at first too many by one at most, as the longest month has 31 days and each offset less than a day.
    const longest = size.days === 0 ? size.months * 31 : size.days;
    let n = Math.max(0, Math.floor(Math.abs(to.instant - start.instant) / (longest * DAY)) - 1);
    const passed = (count: number): boolean => (sign > 0 ? at(count) <= to.instant : at(-count) >= to.instant);
    while (passed(n + 1)) {
        rt.work(1);
        n++;
    }
    return label(rt, sign * n || 0, call.labels);
}

function row(signature: string, summary: string, call: (rt: Runtime, args: readonly Arg[]) => Value): Builtin {
    return { on: "time", ...shapeOf(signature), signature, summary, call: (rt, _self, _l, args) => call(rt, args) };
}

export const TIME_BUILTINS: readonly Builtin[] = [
    {
        on: "time",
        ...shapeOf("time.now()"),
        signature: "time.now()",
        summary: "The present time as text, in UTC: an effect, which a replay does not ask again. It has no origins.",
        effect: "clock",
        call: () => {
            throw new Error("time.now() is an effect");
        },
    },
    row(
        "time.parse(text, zone?)",
        "What calendar and clock show at a time (RFC 3339): `year month day hour minute second weekday offset`, in the zone if one is given. A text without an offset, or a day alone, needs a zone.",
        parse,
    ),
    row(
        "time.text(time, zone?)",
        "The text of a time, given as fields (`{ year, month?, day?, hour?, minute?, second?, offset? }`) or as text; in the zone if one is given.",
        text,
    ),
    row(
        "time.add(text, amount, zone?)",
        "A time so much later: `amount` has `years months weeks days hours minutes seconds`, which may be negative. Years to days are those of the calendar, in the zone if one is given; the last day of a month stays in the month.",
        add,
    ),
    row(
        "time.between(from, to, unit?, zone?)",
        'How much later `to` is: in `"seconds"`, `"minutes"` or `"hours"` exactly, in whole `"days"`, `"weeks"`, `"months"` or `"years"` of the calendar. Seconds where no unit is given.',
        between,
    ),
];
