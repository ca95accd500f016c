/**
 * Labels of results, against a slow reference that boxes everything: there every scalar and every container has a set of origins of its
 * own, and each built-in is written out again over boxes, with nothing in common with the table. What is compared is the set of origins
 * that each place of a result has when it is read from outside, containers on the way included.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BUILTIN_TABLE, Labelled, type Lambda, List, Obj, type Runtime, type Value } from "../../src/index.ts";
import { call, callGlobal, labelled, lambda, list, origins, own, runtime } from "./support.ts";

interface Box {
    readonly l: readonly string[];
    readonly v: null | boolean | number | string | readonly Box[] | ReadonlyMap<string, Box>;
}

const isMap = (v: Box["v"]): v is ReadonlyMap<string, Box> => v instanceof Map;
const set = (...sets: (readonly string[])[]): string[] => [...new Set(sets.flat())].sort();
const all = (box: Box): string[] => set(box.l, ...(Array.isArray(box.v) ? box.v : isMap(box.v) ? [...box.v.values()] : []).map(all));

function toValue(box: Box, rt: Runtime): Value {
    const { v } = box;
    const raw = isMap(v)
        ? rt.heap.object([...v].map(([key, item]) => [key, toValue(item, rt)] as const))
        : Array.isArray(v)
          ? rt.heap.list(v.map((item) => toValue(item, rt)))
          : (v as null | boolean | number | string);
    return labelled(rt, raw, ...box.l);
}

/** What reading from outside sees: a value or structure at each place with its origins. */
function seenInValue(v: Value, rt: Runtime, above: readonly string[] = []): unknown {
    const l = set(above, own(rt, v));
    const raw = v instanceof Labelled ? v.v : v;
    if (raw instanceof List) return { l, list: raw.items.map((item) => seenInValue(item, rt, l)) };
    if (raw instanceof Obj) return { l, object: raw.shape.keys.map((key, slot) => [key, seenInValue(raw.slots[slot] as Value, rt, l)]) };
    return { l, raw };
}

function seenInBox(box: Box, above: readonly string[] = []): unknown {
    const l = set(above, box.l);
    if (Array.isArray(box.v)) return { l, list: box.v.map((item) => seenInBox(item, l)) };
    if (isMap(box.v)) return { l, object: [...box.v].map(([key, item]) => [key, seenInBox(item, l)]) };
    return { l, raw: box.v };
}

// ---- generators --------------------------------------------------------------------------------------------------------

const labels = fc.subarray(["user", "tool:A", "tool:B", "file:c"]);
const numberBox = fc.record({ l: labels, v: fc.integer({ min: -3, max: 3 }) });
const textBox = fc.record({ l: labels, v: fc.constantFrom("", "a", "b", "ab", "1") });
const anyBox: fc.Arbitrary<Box> = fc.letrec<{ box: Box }>((tie) => ({
    box: fc.oneof(
        { depthSize: "small" },
        numberBox,
        textBox,
        fc.record({ l: labels, v: fc.constantFrom(null, true, false) }),
        fc.record({ l: labels, v: fc.array(tie("box"), { maxLength: 3 }) }),
        fc.record({
            l: labels,
            v: fc
                .uniqueArray(fc.constantFrom("k", "m", "n"), { maxLength: 3 })
                .chain((keys) =>
                    fc.tuple(...keys.map(() => tie("box"))).map((items) => new Map(keys.map((key, at) => [key, items[at] as Box]))),
                ),
        }),
    ),
})).box;
const listOf = (item: fc.Arbitrary<Box>): fc.Arbitrary<Box> => fc.record({ l: labels, v: fc.array(item, { maxLength: 5 }) });
const objectBox: fc.Arbitrary<Box> = anyBox.map((box) => (isMap(box.v) ? box : { l: box.l, v: new Map([["k", box]]) }));

// ---- the reference -----------------------------------------------------------------------------------------------------

const items = (box: Box): Box[] => (box.v as readonly Box[]).map((item) => ({ l: item.l, v: item.v }));
const read = (list: Box, item: Box): Box => ({ l: set(list.l, item.l), v: item.v });
const key = (box: Box): string =>
    Array.isArray(box.v)
        ? `[${box.v.map(key).join()}]`
        : isMap(box.v)
          ? `{${[...box.v]
                .map(([k, item]) => `${k}:${key(item)}`)
                .sort()
                .join()}}`
          : JSON.stringify(box.v);
const truthy = (box: Box): boolean => (Array.isArray(box.v) ? box.v.length > 0 : Boolean(box.v));

/** Two functions of one item: one that gives it, one that forgets it. */
const FUNCTIONS: Record<string, { slow: (item: Box) => Box; fast: Lambda }> = {
    itself: { slow: (item) => item, fast: lambda(1, (x) => x) },
    constant: { slow: () => ({ l: [], v: 1 }), fast: lambda(1, () => 1) },
};

function reference(name: string, self: Box, args: readonly Box[], f: (item: Box) => Box): Box {
    const list = items(self);
    const scan = (stop: (held: Box) => boolean): { met: string[]; at: number } => {
        let met = [...self.l];
        for (const [at, item] of list.entries()) {
            const held = f(read(self, item));
            met = set(met, held.l);
            if (stop(held)) return { met, at };
        }
        return { met, at: -1 };
    };
    switch (name) {
        case "length":
            return { l: self.l, v: list.length };
        case "summary":
            return self;
        case "add":
            return { l: self.l, v: [...list, args[0] as Box] };
        case "map":
            return { l: self.l, v: list.map((item) => f(read(self, item))) };
        case "filter":
            return { l: set(self.l, ...list.map((item) => f(read(self, item)).l)), v: list.filter((item) => truthy(f(read(self, item)))) };
        case "find": {
            const { met, at } = scan(truthy);
            return at < 0 ? { l: met, v: null } : { l: set(met, (list[at] as Box).l), v: (list[at] as Box).v };
        }
        case "any": {
            const { met, at } = scan(truthy);
            return { l: met, v: at >= 0 };
        }
        case "all": {
            const { met, at } = scan((held) => !truthy(held));
            return { l: met, v: at < 0 };
        }
        case "sort_by": {
            const keyed = list.map((item) => ({ item, key: f(read(self, item)) }));
            keyed.sort((a, b) => ((a.key.v as number) < (b.key.v as number) ? -1 : (a.key.v as number) > (b.key.v as number) ? 1 : 0));
            return { l: set(self.l, ...keyed.map((one) => one.key.l)), v: keyed.map((one) => one.item) };
        }
        case "group_by": {
            const groups = new Map<string, Box[]>();
            let met = [...self.l];
            for (const item of list) {
                const group = f(read(self, item));
                met = set(met, group.l);
                groups.set(String(group.v), [...(groups.get(String(group.v)) ?? []), item]);
            }
            return { l: met, v: new Map([...groups].map(([k, v]) => [k, { l: [], v }])) };
        }
        case "reduce": {
            // The function of these tests looks at what is on its way.
            let made = read(self, args[0] as Box);
            for (const _ of list) made = read(self, f(made));
            return made;
        }
        case "slice":
            return { l: set(self.l, ...args.map((arg) => arg.l)), v: list.slice(args[0]?.v as number) };
        case "concat":
            return { l: set(self.l, ...args.map((arg) => arg.l)), v: [...list, ...args.flatMap(items)] };
        case "join":
            return {
                l: set(self.l, ...args.map((arg) => arg.l), ...list.map((item) => item.l)),
                v: list.map((item) => String(item.v)).join((args[0]?.v as string | undefined) ?? ""),
            };
        case "unique":
            return {
                l: set(self.l, ...list.map(all)),
                v: list.filter((item, at) => list.findIndex((other) => key(other) === key(item)) === at),
            };
        case "first":
            return list[0] === undefined ? { l: self.l, v: null } : read(self, list[0]);
        case "last":
            return list.at(-1) === undefined ? { l: self.l, v: null } : read(self, list.at(-1) as Box);
        case "sum":
            return { l: set(self.l, ...list.map((item) => item.l)), v: list.reduce((total, item) => total + (item.v as number), 0) };
        default:
            throw new Error(`no reference for ${name}`);
    }
}

/** For each list method: what its items may be, its arguments, whether it takes a function. */
const LIST_CASES: readonly (readonly [
    name: string,
    items: fc.Arbitrary<Box>,
    args: readonly fc.Arbitrary<Box>[],
    takesFunction: boolean,
])[] = [
    ["length", anyBox, [], false],
    ["summary", anyBox, [], false],
    ["add", anyBox, [anyBox], false],
    ["map", anyBox, [], true],
    ["filter", anyBox, [], true],
    ["find", anyBox, [], true],
    ["any", anyBox, [], true],
    ["all", anyBox, [], true],
    ["sort_by", numberBox, [], true],
    ["group_by", textBox, [], true],
    ["reduce", anyBox, [anyBox], true],
    ["slice", anyBox, [numberBox], false],
    ["concat", anyBox, [listOf(anyBox)], false],
    ["join", fc.oneof(numberBox, textBox), [textBox], false],
    ["unique", anyBox, [], false],
    ["first", anyBox, [], false],
    ["last", anyBox, [], false],
    ["sum", numberBox, [], false],
];

describe("F32: lists", () => {
    test.each(LIST_CASES)("%s", (name, item, args, takesFunction) => {
        fc.assert(
            fc.property(listOf(item), fc.tuple(...args), fc.constantFrom(...Object.values(FUNCTIONS)), (self, given, f) => {
                const rt = runtime();
                const made = call(rt, toValue(self, rt), name, ...(takesFunction ? [f.fast] : []), ...given.map((arg) => toValue(arg, rt)));
                expect(seenInValue(made, rt)).toEqual(seenInBox(reference(name, self, given, f.slow)));
            }),
            { numRuns: 150 },
        );
    });

    test("every list method has a reference", () => {
        expect(
            BUILTIN_TABLE.filter((row) => row.on === "list")
                .map((row) => row.name)
                .sort(),
        ).toEqual(LIST_CASES.map(([name]) => name).sort());
    });
});

describe("F32: objects", () => {
    const map = (box: Box): ReadonlyMap<string, Box> => box.v as ReadonlyMap<string, Box>;
    const keyBox = fc.record({ l: labels, v: fc.constantFrom("k", "m", "z") });
    const REFERENCE: Record<string, { args: readonly fc.Arbitrary<Box>[]; slow: (self: Box, args: readonly Box[]) => Box }> = {
        keys: { args: [], slow: (self) => ({ l: self.l, v: [...map(self).keys()].map((v) => ({ l: [], v })) }) },
        values: { args: [], slow: (self) => ({ l: self.l, v: [...map(self).values()] }) },
        entries: {
            args: [],
            slow: (self) => ({
                l: self.l,
                v: [...map(self)].map(([k, value]) => ({
                    l: [],
                    v: new Map([
                        ["key", { l: [], v: k } as Box],
                        ["value", value],
                    ]),
                })),
            }),
        },
        has: { args: [keyBox], slow: (self, [k]) => ({ l: set(self.l, (k as Box).l), v: map(self).has((k as Box).v as string) }) },
        get: {
            args: [keyBox, anyBox],
            slow: (self, [k, other]) => {
                const found = map(self).get((k as Box).v as string) ?? (other as Box);
                return { l: set(self.l, (k as Box).l, found.l), v: found.v };
            },
        },
        merge: {
            args: [objectBox],
            slow: (self, [other]) => ({ l: set(self.l, (other as Box).l), v: new Map([...map(self), ...map(other as Box)]) }),
        },
        without: {
            args: [keyBox],
            slow: (self, [k]) => ({ l: set(self.l, (k as Box).l), v: new Map([...map(self)].filter(([name]) => name !== (k as Box).v)) }),
        },
    };
    test.each(Object.keys(REFERENCE))("%s", (name) => {
        const { args, slow } = REFERENCE[name] as (typeof REFERENCE)[string];
        fc.assert(
            fc.property(objectBox, fc.tuple(...args), (self, given) => {
                const rt = runtime();
                const made = call(rt, toValue(self, rt), name, ...given.map((arg) => toValue(arg, rt)));
                expect(seenInValue(made, rt)).toEqual(seenInBox(slow(self, given)));
            }),
            { numRuns: 150 },
        );
    });
    test("every object method has a reference", () => {
        expect(
            BUILTIN_TABLE.filter((row) => row.on === "object")
                .map((row) => row.name)
                .sort(),
        ).toEqual(Object.keys(REFERENCE).sort());
    });
});

describe("F32: strings, numbers and functions join everything they were given", () => {
    const ARGS: Record<string, readonly Value[]> = {
        "string split": ["a"],
        "string contains": ["a"],
        "string starts_with": ["a"],
        "string ends_with": ["a"],
        "string replace": ["a", "b"],
        "string slice": [0, 1],
        "string index_of": ["a", 0],
        "string match": ["a", "i"],
        "number min": [1, 2],
        "number max": [1, 2],
        "number round": [1],
    };
    test.each(
        BUILTIN_TABLE.filter((row) => (row.on === "string" && row.name !== "join") || row.on === "number").map(
            (row) => `${row.on} ${row.name}`,
        ),
    )("%s", (name) => {
        const rt = runtime();
        const [on, method] = name.split(" ") as [string, string];
        const args = (ARGS[name] ?? []).map((arg, at) => labelled(rt, arg, `arg:${at}`));
        const made = call(rt, labelled(rt, on === "string" ? "banana" : 1.5, "self"), method, ...args);
        expect(own(rt, made)).toEqual(set(["self"], ...args.map((_, at) => [`arg:${at}`])));
        expect(origins(rt, made)).toEqual(own(rt, made));
        const bare = call(rt, on === "string" ? "banana" : 1.5, method, ...(ARGS[name] ?? []));
        expect(bare instanceof Labelled).toBe(false);
    });

    test("text.join(list) joins separator, list and items", () => {
        const rt = runtime();
        const made = call(rt, labelled(rt, ",", "s"), "join", labelled(rt, list(rt, labelled(rt, "a", "i"), "b"), "l"));
        expect(own(rt, made)).toEqual(["i", "l", "s"]);
    });

    test("functions", () => {
        const rt = runtime();
        const value = labelled(rt, list(rt, labelled(rt, 1, "inside")), "outside");
        expect(own(rt, callGlobal(rt, "global", "text", value))).toEqual(["inside", "outside"]);
        expect(own(rt, callGlobal(rt, "json", "text", value, labelled(rt, 2, "indent")))).toEqual(["indent", "inside", "outside"]);
        expect(own(rt, callGlobal(rt, "json", "parse", labelled(rt, "[1]", "t")))).toEqual(["t"]);
        expect(own(rt, callGlobal(rt, "global", "number", labelled(rt, "1", "t")))).toEqual(["t"]);
        expect(own(rt, callGlobal(rt, "global", "number", labelled(rt, 1, "t")))).toEqual(["t"]);
        expect(own(rt, callGlobal(rt, "global", "max", labelled(rt, 1, "a"), labelled(rt, 2, "b")))).toEqual(["a", "b"]);
    });
});

test("a failure carries the labels of what it shows", () => {
    const rt = runtime();
    const run = (): unknown => callGlobal(rt, "global", "number", labelled(rt, "secret", "tool:A"));
    try {
        run();
        expect.unreachable();
    } catch (problem) {
        expect(rt.labels.origins((problem as { labels: number }).labels)).toEqual(["tool:A"]);
    }
});
