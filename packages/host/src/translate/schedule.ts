/**
 * When a request wants to be done: told to the person, never begun silently.
 *
 * Boundary: texts in, five cron fields out.
 */

/** Numbers, `*`, steps, ranges and lists; nothing that a shell would look at. */
const FIELD = String.raw`(?:\*|\d{1,2})(?:-\d{1,2})?(?:/\d{1,2})?(?:,(?:\*|\d{1,2})(?:-\d{1,2})?(?:/\d{1,2})?)*`;
const SAID = new RegExp(String.raw`^\s*//\s*schedule:\s*(${FIELD}(?: ${FIELD}){4})\s*$`, "im");

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const WORDS: readonly (readonly [said: RegExp, cron: (found: RegExpExecArray) => string])[] = [
    [
        /\b(?:every|each) (sunday|monday|tuesday|wednesday|thursday|friday|saturday)\b/i,
        ([, day = ""]) => `0 8 * * ${DAYS.indexOf(day.toLowerCase())}`,
    ],
    [/\b(?:every|each) (?:weekday|working day)\b/i, () => "0 8 * * 1-5"],
    [/\b(?:every|each) hour\b|\bhourly\b/i, () => "0 * * * *"],
    [/\b(?:every|each) (?:night|evening)\b|\bnightly\b/i, () => "0 22 * * *"],
    [/\b(?:every|each) (?:morning|day)\b|\bdaily\b/i, () => "0 8 * * *"],
    [/\b(?:every|each) week\b|\bweekly\b/i, () => "0 8 * * 1"],
    [/\b(?:every|each) month\b|\bmonthly\b/i, () => "0 8 1 * *"],
];

/** What the program's comment says, else what the words of the request say; null where neither speaks of a time that comes again. */
export function scheduleOf(source: string, request: string): string | null {
    const said = SAID.exec(source)?.[1];
    if (said !== undefined) return said;
    for (const [words, cron] of WORDS) {
        const found = words.exec(request);
        if (found !== null) return cron(found);
    }
    return null;
}
