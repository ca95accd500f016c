/** SRU3: what built-ins do in vain or at length is counted, in proportion to what they look at, and no built-in does more than that. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { BUILTIN_TABLE, fromJson, type Value } from "../../src/index.ts";
import { equals } from "../../src/value/operators.ts";
import { call, callGlobal, lambda, runtime, type TestRuntime } from "./support.ts";

type Made = (rt: TestRuntime, n: number) => () => unknown;

const list = (rt: TestRuntime, n: number, of: (i: number) => Json): Value =>
    fromJson(
        Array.from({ length: n }, (_, i) => of(i)),
        rt.heap,
    );
const object = (rt: TestRuntime, n: number): Value =>
    fromJson(Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i])), rt.heap);
const text = (n: number): string => "lorem ip ".repeat(Math.ceil(n / 9)).slice(0, n);
const identity = lambda(1, (x) => x as Value);
const no = lambda(1, () => false);

/** Each built-in that looks at more than one thing, on n of them. */
const ROWS: { readonly [name: string]: Made } = {
    "string trim": (rt, n) => () => call(rt, `  ${text(n)}  `, "trim"),
    "string split": (rt, n) => () => call(rt, text(n), "split", "o"),
    "string join": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => call(rt, ",", "join", xs);
    },
    "string lines": (rt, n) => () => call(rt, text(n).replaceAll(" ", "\n"), "lines"),
    "string lower": (rt, n) => () => call(rt, text(n), "lower"),
    "string upper": (rt, n) => () => call(rt, text(n), "upper"),
    "string contains": (rt, n) => () => call(rt, "a".repeat(n), "contains", `b${"a".repeat(n / 2)}`),
    "string starts_with": (rt, n) => () => call(rt, text(n), "starts_with", text(n)),
    "string ends_with": (rt, n) => () => call(rt, text(n), "ends_with", text(n)),
    "string replace": (rt, n) => () => call(rt, text(n), "replace", "o", "00"),
    "string slice": (rt, n) => () => call(rt, text(n), "slice", 0, n),
    "string index_of": (rt, n) => () => call(rt, "a".repeat(n), "index_of", `${"a".repeat(n / 2)}b`),
    "string match": (rt, n) => () => call(rt, text(n), "match", "(l|o)+x"),
    "list summary": (rt, n) => {
        const xs = list(rt, n, (i) => [i]);
        return () => call(rt, xs, "summary");
    },
    "list map": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => call(rt, xs, "map", identity);
    },
    "list filter": (rt, n) => {
        const xs = list(rt, n, (i) => i + 1);
        return () => call(rt, xs, "filter", identity);
    },
    "list sort_by": (rt, n) => {
        const xs = list(rt, n, (i) => (i * 7919) % n);
        return () => call(rt, xs, "sort_by", identity);
    },
    "list slice": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => call(rt, xs, "slice", 0);
    },
    "list concat": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => call(rt, xs, "concat", xs);
    },
    "list join": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => call(rt, xs, "join", ", ");
    },
    "list unique": (rt, n) => {
        const xs = list(rt, n, (i) => ({ a: i % 100, b: [i] }));
        return () => call(rt, xs, "unique");
    },
    "list sum": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => call(rt, xs, "sum");
    },
    "list any": (rt, n) => {
        const xs = list(rt, n, () => 0);
        return () => call(rt, xs, "any");
    },
    "list all": (rt, n) => {
        const xs = list(rt, n, () => 1);
        return () => call(rt, xs, "all");
    },
    "list group_by": (rt, n) => {
        const xs = list(rt, n, (i) => i % 1000);
        return () => call(rt, xs, "group_by", identity);
    },
    "object keys": (rt, n) => {
        const o = object(rt, n);
        return () => call(rt, o, "keys");
    },
    "object values": (rt, n) => {
        const o = object(rt, n);
        return () => call(rt, o, "values");
    },
    "object entries": (rt, n) => {
        const o = object(rt, n);
        return () => call(rt, o, "entries");
    },
    "object merge": (rt, n) => {
        const o = object(rt, n);
        return () => call(rt, o, "merge", o);
    },
    "object without": (rt, n) => {
        const o = object(rt, n);
        return () => call(rt, o, "without", "k1");
    },
    "global text": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => callGlobal(rt, "global", "text", xs);
    },
    "global number": (rt, n) => () => callGlobal(rt, "global", "number", `${" ".repeat(n)}1`),
    "json parse": (rt, n) => () => callGlobal(rt, "json", "parse", JSON.stringify(Array.from({ length: n }, (_, i) => i))),
    "csv parse": (rt, n) => () => callGlobal(rt, "csv", "parse", `a,b\n${'1,"2"\n'.repeat(n)}`),
    "csv text": (rt, n) => {
        const rows = list(rt, n, (i) => ({ a: i, b: `"${i}"` }));
        return () => callGlobal(rt, "csv", "text", rows);
    },
    "json text": (rt, n) => {
        const xs = list(rt, n, (i) => i);
        return () => callGlobal(rt, "json", "text", xs);
    },
};

/** Looks at one thing, whatever its receiver's size; or calls a lambda for each, which counts its steps, and does nothing else. */
const SMALL = new Set(
    [
        "string length",
        "list length",
        "list add",
        "list first",
        "list last",
        "list find",
        "list reduce",
        "object has",
        "object get",
        "global min",
        "global max",
    ]
        .concat(["round", "floor", "ceil", "abs", "min", "max"].map((name) => `number ${name}`))
        .concat(["now", "parse", "text", "add", "between"].map((name) => `time ${name}`)),
);

test("every built-in is one or the other", () => {
    expect(BUILTIN_TABLE.map((row) => `${row.on} ${row.name}`).sort()).toEqual([...Object.keys(ROWS), ...SMALL].sort());
});

function workOf(made: Made, n: number): number {
    const rt = runtime();
    const run = made(rt, n);
    rt.worked = 0;
    rt.charged = 0;
    run();
    // As a run does: bytes are work too.
    return rt.worked + rt.charged / 16;
}

describe("grows with what is looked at, and no faster", () => {
    test.each(Object.entries(ROWS))("%s", (_, made) => {
        const [few, many] = [workOf(made, 5_000), workOf(made, 40_000)];
        expect(many).toBeGreaterThanOrEqual(40_000 / 64);
        // Eight times as many; sorting takes a little more.
        expect(many / few).toBeGreaterThan(5);
        expect(many / few).toBeLessThan(11);
    });

    test("filter that keeps nothing still calls for each", () => {
        const rt = runtime();
        expect(
            call(
                rt,
                list(rt, 10, (i) => i),
                "filter",
                no,
            ),
        ).toMatchObject({ items: [] });
    });

    test("equality", () => {
        const compared: Made = (rt, n) => {
            const [a, b] = [list(rt, n, (i) => ({ a: [i] })), list(rt, n, (i) => ({ a: [i] }))];
            return () => equals(rt, a, b, true, null);
        };
        const [few, many] = [workOf(compared, 5_000), workOf(compared, 40_000)];
        expect(many).toBeGreaterThan(40_000);
        expect(many / few).toBeLessThan(9);
    });
});

describe("what is shared is looked at once", () => {
    /** A list whose text is 2^n times as long as it is in memory. */
    const folded = (rt: TestRuntime, n: number): Value => {
        let x: Value = rt.heap.list([1]);
        for (let i = 0; i < n; i++) x = rt.heap.list([x, x]);
        return x;
    };
    test("unique", () => {
        const rt = runtime();
        const xs = rt.heap.list([folded(rt, 60), folded(rt, 60), folded(rt, 59)]);
        expect(call(rt, xs, "unique")).toMatchObject({ items: [xs.items[0], xs.items[2]] });
        expect(rt.worked).toBeLessThan(5000);
    });
    test("equality, also of parts that stand against many others", () => {
        const rt = runtime();
        // Each of k lists of k items against each of k others: by pairs k cubed, by classes k squared.
        const k = 100;
        const row = (): Value => list(rt, k, (i) => i);
        const left = Array.from({ length: k }, row);
        const right = Array.from({ length: k }, row);
        const a = rt.heap.list(left.flatMap((x) => right.map(() => x)));
        const b = rt.heap.list(left.flatMap(() => right));
        expect(equals(rt, a, b, true, null)).toBe(true);
        expect(rt.worked).toBeLessThan(40 * k * k);
    });
});
