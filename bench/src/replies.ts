/**
 * Replies of models with faults, read against a contract: how many come out right, how many are refused that could have been read, and how many
 * come out as another value without a word. The list of faults is the one that the tests hold every reader's promise to.
 */
import { isDeepStrictEqual } from "node:util";
import { readReply } from "@remit/host";
import type { Json, Shapes } from "@remit/language";
import { type Case, cases, LAYOUTS, SUBJECTS, SURROUNDINGS } from "../../packages/host/tests/model/faults.ts";
import { alternate, figure, type Row, type Section } from "./harness.ts";
import { baml, REFUSED, type Reader, repaired, strict } from "./replies-peers.ts";

const GOAL = 100;

export async function replies(): Promise<Section> {
    const all = cases();
    const remit = (one: Case): Json | typeof REFUSED => {
        const result = readReply(one.text, one.subject.contract, (one.subject.shapes ?? {}) as Shapes, {
            strict: false,
            finish: one.finish,
        });
        return "error" in result ? REFUSED : result.value;
    };
    const names = new Map(Object.entries(SUBJECTS).map(([name, subject]) => [subject as unknown, name]));
    // Whoever uses another reader would look at the provider's word itself: a reply that says it was cut off is refused for it.
    const by =
        (reader: Reader) =>
        (one: Case): Json | typeof REFUSED =>
            one.finish === "length" ? REFUSED : reader(one.text, names.get(one.subject) as string);
    const readers = [
        { name: "Remit", read: remit },
        { name: "BAML", read: by(await baml()) },
        { name: "jsonrepair + zod", read: by(repaired()) },
        { name: "JSON.parse + zod", read: by(strict()) },
    ];
    const times = await alternate(
        readers.map(({ name, read }) => ({
            name,
            run: () => {
                for (const one of all) read(one);
            },
        })),
        { rounds: 7, slice: 400 },
    );
    const rows: Row[] = [];
    const told = (counts: readonly Counts[], what: keyof Counts): string =>
        counts.map((one, i) => `${readers[i]?.name} ${one[what]}`).join(", ");
    const group = (name: string, some: readonly Case[]): void => {
        const counts = readers.map(({ read }) => count(some, read));
        const [ours, ...others] = counts;
        if (ours === undefined) return;
        rows.push({
            name: `${name}, right of ${some.length}`,
            ours: ours.right,
            unit: "replies",
            against: others.map((one, i) => ({ name: readers[i + 1]?.name ?? "", value: one.right, ratio: one.right / ours.right })),
            goal: "all",
            met: ours.right === some.length,
            note: [
                `refused though it can be read: ${told(counts, "refused")}`,
                `silently wrong, another value: ${told(counts, "other")}`,
                `silently wrong, a value where something is missing or unclear: ${told(counts, "unclear")}`,
            ].join("; "),
        });
    };
    group("all", all);
    for (const layout of LAYOUTS)
        group(
            layout,
            all.filter((one) => one.layout === layout),
        );
    for (const one of SURROUNDINGS)
        group(
            `surroundings: ${one}`,
            all.filter(({ surroundings }) => surroundings === one),
        );
    const micro = times.map((time) => (time * 1000) / all.length);
    rows.push({
        name: "time of one reply",
        ours: micro[0] as number,
        unit: "µs",
        against: micro.slice(1).map((value, i) => ({ name: readers[i + 1]?.name ?? "", value, ratio: value / (micro[0] as number) })),
        goal: `≤ ${GOAL} µs`,
        met: (micro[0] as number) <= GOAL,
        note: `mean over the list, median of rounds; ${figure(all.reduce((sum, one) => sum + one.text.length, 0) / all.length)} characters each`,
    });
    return {
        title: "Reading replies",
        how: `${new Set(all.map((one) => one.fault)).size} faults × ${LAYOUTS.length} layouts × ${SURROUNDINGS.length} surroundings, those that make sense and differ. Right: the value that was meant, or a refusal where something is missing or unclear. The list is this project's own and Remit's reader was written with it at hand; other readers were not. Ratio is the other's figure ÷ Remit's.`,
        rows,
    };
}

interface Counts {
    readonly right: number;
    /** Refused though it can be read. */
    readonly refused: number;
    /** Another value than was meant. */
    readonly other: number;
    /** A value where there should be none. */
    readonly unclear: number;
}

function count(some: readonly Case[], read: (one: Case) => Json | typeof REFUSED): Counts {
    const sum = { right: 0, refused: 0, other: 0, unclear: 0 };
    for (const one of some) {
        const value = read(one);
        if (value === REFUSED) sum[one.fault.expect === "read" ? "refused" : "right"]++;
        else if (one.fault.expect === "refuse") sum.unclear++;
        else sum[same(value, one.value) ? "right" : "other"]++;
    }
    return sum;
}

/** Equal as JSON: a field that is null or absent counts as absent, since readers differ in that. */
function same(a: Json, b: Json): boolean {
    return isDeepStrictEqual(plain(a), plain(b));
}
function plain(json: Json): Json {
    if (Array.isArray(json)) return json.map(plain);
    if (json === null || typeof json !== "object") return json;
    return Object.fromEntries(Object.entries(json).flatMap(([key, value]) => (value === null ? [] : [[key, plain(value)]])));
}
