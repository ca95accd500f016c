/** `time.parse`, `time.text`, `time.add`, `time.between`: calendars and clocks, zones beside the engine's own, where a text is wrong, and labels. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fail } from "../../src/index.ts";
import { callGlobal, labelled, object, origins, plain, runtime, value } from "./support.ts";

const time = (name: string, ...args: Json[]): Json => {
    const rt = runtime();
    return plain(rt, callGlobal(rt, "time", name, ...args.map((arg) => value(rt, arg))));
};
function failure(call: () => unknown): Fail {
    try {
        call();
    } catch (error) {
        if (error instanceof Fail) return error;
        throw error;
    }
    throw new Error("it did not fail");
}
const zoned = (instant: number, zone: string): string => time("text", new Date(instant).toISOString(), zone) as string;

describe("time.parse", () => {
    test("shows what calendar and clock show, at the text's offset or in a zone", () => {
        const shown = { year: 2026, month: 3, day: 1, hour: 9, minute: 30, second: 5.25, weekday: "sunday", offset: "+01:00" };
        expect(time("parse", "2026-03-01T09:30:05.25+01:00")).toEqual(shown);
        expect(time("parse", "2026-03-01T08:30:05.250Z", "Europe/Berlin")).toEqual(shown);
        expect(time("parse", "2026-03-01t09:30:05.2509", "Europe/Berlin")).toEqual(shown);
        expect(time("parse", "2026-03-01", "UTC")).toEqual({ ...shown, hour: 0, minute: 0, second: 0, offset: "+00:00" });
        expect(time("parse", "2016-12-31T23:59:60Z")).toMatchObject({ second: 59, weekday: "saturday" });
    });

    const WRONG: readonly (readonly [Json[], RegExp, RegExp])[] = [
        [["yesterday"], /"yesterday" is no time/, /2026-03-01T09:30:00Z/],
        [["2026-03-01T09:30:00"], /has no offset/, /give a zone/],
        [["2026-03-01"], /has no offset/, /give a zone/],
        [["2026-02-29", "UTC"], /that month has 28 days/, /^$/],
        [["2026-13-01", "UTC"], /a month is 1 to 12/, /^$/],
        [["2026-01-01T24:00:00Z"], /an hour is 0 to 23/, /^$/],
        [["2026-01-01T00:00:00+24:00"], /no offset/, /\+01:00/],
        [["2026-01-01T00:00:00Z", "Europe/Berln"], /no time zone "Europe\/Berln"/, /did you mean "Europe\/Berlin"/],
        [["2026-01-01T00:00:00Z", "__proto__"], /no time zone/, /zones have names/],
        [[5], /text must be a string, not a number/, /^$/],
    ];
    test.each(WRONG)("%j is a failure", (args, message, hint) => {
        const rt = runtime();
        const fail = failure(() => callGlobal(rt, "time", "parse", ...args.map((arg) => value(rt, arg))));
        expect(fail.message).toMatch(message);
        expect(fail.hint ?? "").toMatch(hint);
    });
});

describe("time.text", () => {
    test("writes fields, and moves a text into a zone", () => {
        expect(time("text", { year: 2026, month: 7, day: 4, hour: 9 }, "America/New_York")).toBe("2026-07-04T09:00:00-04:00");
        expect(time("text", { year: 2026, offset: "Z" })).toBe("2026-01-01T00:00:00Z");
        expect(time("text", { year: 2026, second: 1.5, offset: "+05:30" }, "UTC")).toBe("2025-12-31T18:30:01.5Z");
        expect(time("text", "2026-07-04T13:00:00Z", "Asia/Kathmandu")).toBe("2026-07-04T18:45:00+05:45");
        expect(time("text", "2026-07-04T13:00:00-00:00")).toBe("2026-07-04T13:00:00Z");
    });

    test("what parse shows is what text writes", () => {
        const texts = ["2026-03-01T09:30:05.25+01:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999-23:59"];
        for (const text of texts) expect(time("text", time("parse", text))).toBe(text);
    });

    test("a field that means nothing, and one that is missing, are failures", () => {
        const rt = runtime();
        const of = (fields: Json) => failure(() => callGlobal(rt, "time", "text", value(rt, fields), "UTC"));
        expect(of({ year: 2026, hours: 3 })).toMatchObject({
            message: 'time.text: time has a field "hours" that means nothing here',
            hint: "did you mean hour?",
        });
        expect(of({ month: 3 }).message).toBe("time.text: the field year is missing");
        expect(of({ year: 2026.5 }).message).toBe("time.text: year must be a whole number");
        expect(failure(() => callGlobal(rt, "time", "text", value(rt, { year: 2026 }))).message).toBe(
            "time.text: these fields have no offset",
        );
    });
});

describe("time.add", () => {
    test.each([
        ["2026-01-31T10:00:00Z", { months: 1 }, "2026-02-28T10:00:00Z"],
        ["2024-02-29T10:00:00Z", { years: 1 }, "2025-02-28T10:00:00Z"],
        ["2026-01-31T10:00:00Z", { months: -2, days: 1 }, "2025-12-01T10:00:00Z"],
        ["2026-01-01T10:00:00+02:00", { weeks: 1, hours: 1.5, minutes: -90, seconds: 0.25 }, "2026-01-08T10:00:00.25+02:00"],
    ])("%s and %j is %s", (from, amount, to) => {
        expect(time("add", from, amount)).toBe(to);
    });

    test("a day of a zone is as long as its clock makes it, an hour is an hour", () => {
        const before = "2026-03-28T12:00:00+01:00";
        expect(time("add", before, { days: 1 }, "Europe/Berlin")).toBe("2026-03-29T12:00:00+02:00");
        expect(time("add", before, { hours: 24 }, "Europe/Berlin")).toBe("2026-03-29T13:00:00+02:00");
        expect(time("add", before, { days: 1 })).toBe("2026-03-29T12:00:00+01:00");
        // Left out, and shown twice.
        expect(time("add", "2026-03-28T02:30:00+01:00", { days: 1 }, "Europe/Berlin")).toBe("2026-03-29T03:30:00+02:00");
        expect(time("add", "2026-10-24T02:30:00+02:00", { days: 1 }, "Europe/Berlin")).toBe("2026-10-25T02:30:00+02:00");
        // Samoa went without a 30 December 2011.
        expect(time("add", "2011-12-29T12:00:00-10:00", { days: 1 }, "Pacific/Apia")).toBe("2011-12-31T12:00:00+14:00");
    });

    test("what goes beyond the years, and an amount that means nothing, are failures", () => {
        const rt = runtime();
        const of = (amount: Json) => failure(() => callGlobal(rt, "time", "add", "2026-01-01T00:00:00Z", value(rt, amount))).message;
        expect(of({ years: 8000 })).toContain("outside the years");
        expect(of({ days: -1e15 })).toContain("outside the years");
        expect(of({ seconds: 1e300 })).toContain("outside the years");
        expect(of({ day: 1 })).toContain('a field "day" that means nothing here');
        expect(of({ days: 1.5 })).toContain("days must be a whole number");
        expect(of({ hours: "1" })).toContain("hours must be a number");
    });
});

describe("time.between", () => {
    test.each([
        ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "seconds", 0],
        ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01.5Z", "seconds", 1.5],
        ["2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z", "hours", 36],
        ["2026-01-01T00:00:00Z", "2026-01-02T23:59:59Z", "days", 1],
        ["2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z", "months", 1],
        ["2026-01-31T00:00:00Z", "2026-02-27T23:59:59Z", "months", 0],
        ["2026-03-01T00:00:00Z", "2026-01-02T00:00:00Z", "months", -1],
        ["0000-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "years", 9999],
        ["0000-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "months", 119_999],
    ])("from %s to %s in %s is %d", (from, to, unit, n) => {
        expect(time("between", from, to, unit)).toBe(n);
    });

    test("days are the zone's, and seconds where no unit is given", () => {
        expect(time("between", "2026-03-28", "2026-03-30", "days", "Europe/Berlin")).toBe(2);
        expect(time("between", "2026-03-28", "2026-03-30", "hours", "Europe/Berlin")).toBe(47);
        expect(time("between", "2026-03-28", "2026-03-30", null, "Europe/Berlin")).toBe(47 * 3600);
    });

    test("a unit that there is not is a failure", () => {
        const rt = runtime();
        const fail = failure(() => callGlobal(rt, "time", "between", "2026-01-01", "2026-01-01", "dyas", "UTC"));
        expect(fail).toMatchObject({ message: 'time.between: there is no unit "dyas"', hint: 'did you mean "days"?' });
    });
});

/** Zones of every kind: southern, half hours, changes of the standard time, none, moved days. */
const ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "Asia/Tokyo",
    "UTC",
    "Africa/Monrovia",
];

test("offsets are the engine's own", () => {
    const formats = new Map(ZONES.map((zone) => [zone, new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" })]));
    const theirs = (instant: number, zone: string): string => {
        const name =
            formats
                .get(zone)
                ?.formatToParts(instant)
                .find((part) => part.type === "timeZoneName")?.value ?? "";
        return name === "GMT" || name === "GMT+00:00" ? "Z" : name.slice(3);
    };
    // What is to come may be another decision in another release; 1972 and later, as offsets of seconds have no text.
    const instant = fc.integer({ min: Date.UTC(1972, 1, 1) / 1000, max: Date.UTC(2024, 11, 31) / 1000 }).map((s) => s * 1000);
    fc.assert(
        fc.property(instant, fc.constantFrom(...ZONES), (at, zone) => {
            const text = zoned(at, zone);
            expect(Date.parse(text)).toBe(at);
            expect(text.endsWith("Z") ? "Z" : text.slice(-6)).toBe(theirs(at, zone));
        }),
        { numRuns: 2000 },
    );
});

test("a local time that a zone's clock shows is written as one of the instants at which it shows it, the earlier one", () => {
    const instant = fc.integer({ min: Date.UTC(1973, 0, 1) / 1000, max: Date.UTC(2060, 0, 1) / 1000 }).map((s) => s * 1000);
    fc.assert(
        fc.property(instant, fc.constantFrom(...ZONES), (at, zone) => {
            const local = zoned(at, zone).replace(/(?:Z|[-+]\d\d:\d\d)$/, "");
            const back = time("text", local, zone) as string;
            expect(back.startsWith(local)).toBe(true);
            expect(Date.parse(back)).toBeLessThanOrEqual(at);
        }),
        { numRuns: 500 },
    );
});

test("days of the calendar are those of the engine, over all years", () => {
    fc.assert(
        fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
            const text = new Date(seconds * 1000).toISOString();
            const shown = time("parse", text) as { [key: string]: Json };
            const date = new Date(seconds * 1000);
            expect([shown.year, shown.month, shown.day]).toEqual([date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]);
            expect(shown.weekday).toBe(date.toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" }).toLowerCase());
            expect(time("text", text)).toBe(text.replace(".000Z", "Z"));
        }),
        { numRuns: 300 },
    );
});

test("the result, and a failure, carry the labels of all that was given", () => {
    const rt = runtime();
    const page = labelled(rt, "2026-01-01T00:00:00Z", "tool:Mail");
    const amount = object(rt, { days: labelled(rt, 1, "tool:Mail") });
    expect(origins(rt, callGlobal(rt, "time", "add", "2026-01-01T00:00:00Z", amount))).toEqual(["tool:Mail"]);
    expect(origins(rt, callGlobal(rt, "time", "between", "2026-01-01T00:00:00Z", page))).toEqual(["tool:Mail"]);
    expect(origins(rt, callGlobal(rt, "time", "text", "2026-01-01T00:00:00Z", "UTC"))).toEqual([]);
    expect(rt.labels.origins(failure(() => callGlobal(rt, "time", "parse", labelled(rt, "no", "tool:Mail"))).labels)).toEqual([
        "tool:Mail",
    ]);
});
