/**
 * Replies of models with faults, read against a contract: how many come out right, how many are refused that could have been read, and how many
 * come out as another value without a word. The list of faults is the one that the tests hold every reader's promise to.
 */
import { isDeepStrictEqual } from "node:util";
import { readReply } from "@remit/host";
import type { Json, Shapes } from "@remit/language";
import { type Case, cases, LAYOUTS, SUBJECTS, SURROUNDINGS } from "../../packages/host/tests/model/faults.ts";
import { type Apart, apart } from "./apart.ts";
import { figure, Lost, other, QUICK, type Row, rounds, type Section } from "./harness.ts";
import { baml, REFUSED, type Reader, repaired, strict } from "./replies-peers.ts";

const GOAL = 100;
/** Of one reader's process. The longest reply has a few thousand characters: one that takes more to read it is a fault of the reader's own. */
const BOUNDS = { bytes: 2 * 2 ** 30, ms: 20_000 };
/** A reader that is ended so often reads no more. */
const MOST_LOST = 20;
const READERS = { Remit: "remit", BAML: "baml", "jsonrepair + zod": "repaired", "JSON.parse + zod": "strict" } as const;

type Read = { readonly value: Json } | "refused" | "ended";

/** One reader's own process: it reads the replies of these numbers, and gives what it made of the last. */
export async function reader(which: (typeof READERS)[keyof typeof READERS]): Promise<(numbers: readonly number[]) => Read> {
    const all = cases();
    const read = which === "remit" ? remit : by(which === "baml" ? await baml() : which === "repaired" ? repaired() : strict());
    return (numbers) => {
        let last: Json | typeof REFUSED = REFUSED;
        for (const at of numbers) last = read(all[at] as Case);
        return last === REFUSED ? "refused" : { value: last };
    };
}

function remit(one: Case): Json | typeof REFUSED {
    const result = readReply(one.text, one.subject.contract, (one.subject.shapes ?? {}) as Shapes, { strict: false, finish: one.finish });
    return "error" in result ? REFUSED : result.value;
}

/** A user of another reader would look at the provider's word, too: a reply that says it was cut off is refused for it. */
function by(read: Reader): (one: Case) => Json | typeof REFUSED {
    const names = new Map(Object.entries(SUBJECTS).map(([name, subject]) => [subject as unknown, name]));
    return (one) => (one.finish === "length" ? REFUSED : read(one.text, names.get(one.subject) as string));
}

/** What a reader makes of each reply, by itself. `lost` hears why it was ended, by the place in the list. */
async function readAll(from: Apart, numbers: readonly number[], lost: Map<number, string>): Promise<Read[]> {
    const read: Read[] = [];
    for (const [at, number] of numbers.entries()) {
        try {
            if (lost.size >= MOST_LOST) throw new Lost(from.name, `not asked any more, since it was ended ${MOST_LOST} times`);
            read.push((await from.ask([number])).value as Read);
        } catch (error) {
            if (!(error instanceof Lost)) throw error;
            lost.set(at, error.reason);
            read.push("ended");
        }
    }
    return read;
}

export async function replies(): Promise<Section> {
    const every = cases();
    // a small part has each fault once
    const all = QUICK ? every.filter((one, at) => every.findIndex((first) => first.fault === one.fault) === at) : every;
    const numbers = all.map((one) => every.indexOf(one));
    const readers = Object.entries(READERS).map(([name, which]) =>
        apart(name, { module: import.meta.url, make: "reader", args: [which] }, BOUNDS),
    );
    const lost = readers.map(() => new Map<number, string>());
    const made: Map<Case, Read>[] = [];
    for (const [at, one] of readers.entries()) {
        const read = await readAll(one, numbers, lost[at] as Map<number, string>);
        made.push(new Map(all.map((each, i) => [each, read[i] as Read])));
    }
    // timed are the replies at which no reader was ended
    const sound = numbers.filter((_, at) => lost.every((of) => !of.has(at)));
    const times = await rounds(
        readers.map((one) => one.at(sound)),
        { most: 7, slice: 400 },
    );
    for (const one of readers) one.close();
    const rows: Row[] = [];
    const told = (counts: readonly Counts[], what: keyof Counts): string =>
        counts.map((one, i) => `${readers[i]?.name} ${one[what]}`).join(", ");
    const group = (name: string, some: readonly Case[]): void => {
        const counts = made.map((read) => count(some, read));
        const [ours, ...others] = counts;
        if (ours === undefined || some.length === 0) return;
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
                ...(counts.some((one) => one.ended > 0) ? [`ended while it read, by its bounds: ${told(counts, "ended")}`] : []),
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
    const perReply = (ms: number): number => (ms * 1000) / sound.length;
    const [own, ...others] = times;
    if (own === undefined || own.lost !== null) throw new Error(`Remit was ended: ${own?.lost}`);
    const ours = perReply(own.median);
    const ended = readers.flatMap(({ name }, i) => {
        const reasons = [...(lost[i] as Map<number, string>)].map(([at, reason]) => `${all[at]?.fault.name} (${reason})`);
        return reasons.length === 0 ? [] : [`${name} was ended at ${[...new Set(reasons)].join(", ")}`];
    });
    rows.push({
        name: "time of one reply",
        ours,
        unit: "µs",
        against: others.map((one) => other(one, ours, perReply)),
        goal: `≤ ${GOAL} µs`,
        met: ours <= GOAL,
        note: [
            `mean over the ${sound.length} at which no reader was ended, median of rounds; ${figure(all.reduce((sum, one) => sum + one.text.length, 0) / all.length)} characters each`,
            ...ended,
        ].join("; "),
    });
    return {
        title: "Reading replies",
        how: `${new Set(all.map((one) => one.fault)).size} faults × ${LAYOUTS.length} layouts × ${SURROUNDINGS.length} surroundings, those that make sense and differ. Right: the value that was meant, or a refusal where something is missing or unclear. Each reader has a process of its own, which is ended where it takes more than ${BOUNDS.bytes / 2 ** 30} GiB or ${BOUNDS.ms / 1000} s; such a reply counts as not right. The list is this project's own and Remit's reader was written with it at hand; other readers were not. Ratio is the other's figure ÷ Remit's.`,
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
    /** It took more memory or time than its process may. */
    readonly ended: number;
}

function count(some: readonly Case[], read: ReadonlyMap<Case, Read>): Counts {
    const sum = { right: 0, refused: 0, other: 0, unclear: 0, ended: 0 };
    for (const one of some) {
        const made = read.get(one) as Read;
        if (made === "ended") sum.ended++;
        else if (made === "refused") sum[one.fault.expect === "read" ? "refused" : "right"]++;
        else if (one.fault.expect === "refuse") sum.unclear++;
        else sum[same(made.value, one.value) ? "right" : "other"]++;
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
