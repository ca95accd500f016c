/**
 * Cron expressions as Temporal's schedules take them, looked at before a server is asked.
 *
 * Boundary: text in, the reason for a refusal out. When an expression fires is the server's to say.
 */

interface Field {
    readonly name: string;
    readonly from: number;
    readonly to: number;
    readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const SECOND: Field = { name: "second", from: 0, to: 59 };
const YEAR: Field = { name: "year", from: 2000, to: 2100 };
const FIVE: readonly Field[] = [
    { name: "minute", from: 0, to: 59 },
    { name: "hour", from: 0, to: 23 },
    { name: "day of the month", from: 1, to: 31 },
    { name: "month", from: 1, to: 12, names: MONTHS },
    { name: "day of the week", from: 0, to: 7, names: DAYS },
];
/** By how many there are. */
const FIELDS: { readonly [count: number]: readonly Field[] } = { 5: FIVE, 6: [...FIVE, YEAR], 7: [SECOND, ...FIVE, YEAR] };
const WORDS: ReadonlySet<string> = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

/** Why the server would not take it; null: nothing is wrong with it. */
export function cronProblem(text: string): string | null {
    const [expression = ""] = text.split("#");
    const words = expression.trim().split(/\s+/);
    if (words.length === 1 && WORDS.has((words[0] as string).toLowerCase())) return null;
    if (/^@every$/i.test(words[0] as string))
        return words.length === 2 && /^(\d+(\.\d+)?(ms|s|m|h))+(\/(\d+(\.\d+)?(ms|s|m|h))+)?$/.test(words[1] as string)
            ? null
            : "@every takes a duration, such as @every 90m";
    const fields = FIELDS[words.length];
    if (fields === undefined)
        return `it has ${words[0] === "" ? 0 : words.length} fields; five are wanted: ${FIVE.map(({ name }) => name).join(", ")}`;
    for (const [i, field] of fields.entries()) {
        const problem = fieldProblem(words[i] as string, field);
        if (problem !== null) return problem;
    }
    return null;
}

function fieldProblem(text: string, field: Field): string | null {
    for (const part of text.split(",")) {
        const [, first, last, step] = /^(\*|\?|[\da-z]+)(?:-([\da-z]+))?(?:\/(\d+))?$/i.exec(part) ?? [];
        if (first === undefined) return `'${part}' is no ${field.name}`;
        if (step === "0") return `the step of '${part}' is 0`;
        const range: number[] = [];
        for (const one of [first, last]) {
            if (one === undefined || one === "*" || one === "?") continue;
            const value = numberOf(one, field);
            if (value === null)
                return `'${one}' is no ${field.name}: ${field.from} to ${field.to}${field.names === undefined ? "" : `, or ${field.names[0]} to ${field.names.at(-1)}`}`;
            range.push(value);
        }
        const [from = 0, to = from] = range;
        if (from > to) return `'${part}' goes backwards`;
    }
    return null;
}

function numberOf(text: string, { from, to, names = [] }: Field): number | null {
    const named = names.indexOf(text.toLowerCase().slice(0, 3));
    if (named >= 0 && /^[a-z]+$/i.test(text)) return named + (names.length === MONTHS.length ? 1 : 0);
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= from && value <= to ? value : null;
}
