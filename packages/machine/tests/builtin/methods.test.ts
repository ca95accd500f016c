/** Every built-in by example: receiver, name, arguments, result; one line a case. */
import { BUILTINS } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Json } from "@remit/language";
import { BUILTIN_TABLE, type Lambda, type Value } from "../../src/index.ts";
import { call, callGlobal, failure, lambda, list, object, plain, runtime, TOOL, value } from "./support.ts";

type Arg = Json | Lambda;
const isLambda = (arg: Arg): arg is Lambda => typeof arg === "object" && arg !== null && "call" in arg;

const double = lambda(1, (x) => (x as number) * 2);
const even = lambda(1, (x) => (x as number) % 2 === 0);
const itself = lambda(1, (x) => x);
const index = lambda(2, (_, i) => i as Value);

const CASES: readonly (readonly [self: Json, name: string, args: readonly Arg[], result: Json])[] = [
    // strings
    ["abc", "length", [], 3],
    ["🦊", "length", [], 2],
    [" \t a b\n", "trim", [], "a b"],
    ["a,b,,c", "split", [","], ["a", "b", "", "c"]],
    [" a  b\tc ", "split", [], ["a", "b", "c"]],
    ["", "split", [], []],
    ["a🦊b", "split", [""], ["a", "🦊", "b"]],
    ["", "split", [""], []],
    [", ", "join", [["a", 1, true]], "a, 1, true"],
    ["-", "join", [[]], ""],
    ["a\nb\r\nc\rd", "lines", [], ["a", "b", "c", "d"]],
    ["a\n", "lines", [], ["a"]],
    ["a\n\n", "lines", [], ["a", ""]],
    ["", "lines", [], []],
    ["ÄB", "lower", [], "äb"],
    ["straße", "upper", [], "STRASSE"],
    ["hello", "contains", ["ell"], true],
    ["hello", "contains", [""], true],
    ["hello", "contains", ["x"], false],
    ["hello", "starts_with", ["he"], true],
    ["hello", "ends_with", ["lo"], true],
    ["a.b.c", "replace", [".", "$&"], "a$&b$&c"],
    ["aaa", "replace", ["aa", "b"], "ba"],
    ["abc", "replace", ["x", "y"], "abc"],
    ["hello", "slice", [1, 3], "el"],
    ["hello", "slice", [-3], "llo"],
    ["hello", "slice", [1, -1], "ell"],
    ["hello", "slice", [3, 1], ""],
    ["hello", "slice", [0, 99], "hello"],
    ["hello", "slice", [0, null], "hello"],
    ["a🦊b", "slice", [0, 2], "a"],
    ["a🦊b", "slice", [2, 4], "b"],
    ["a🦊b", "slice", [1, 3], "🦊"],
    ["a🦊b", "slice", [2, 2], ""],
    ["hello", "index_of", ["l"], 2],
    ["hello", "index_of", ["l", 3], 3],
    ["hello", "index_of", ["h", -2], null],
    ["hello", "index_of", ["x"], null],
    ["order 66, now", "match", ["(\\d+), (\\w+)"], { text: "66, now", index: 6, groups: ["66", "now"] }],
    ["nothing", "match", ["\\d"], null],
    ["ABC", "match", ["b", "i"], { text: "B", index: 1, groups: [] }],
    // lists
    [[1, 2, 3], "length", [], 3],
    [[1, [2]], "summary", [], [1, [2]]],
    [[1], "add", [2], [1, 2]],
    [[1, 2], "map", [double], [2, 4]],
    [["a", "b"], "map", [index], [0, 1]],
    [[1, 2, 3, 4], "filter", [even], [2, 4]],
    [[1, 2, 3], "find", [even], 2],
    [[1, 3], "find", [even], null],
    [["b", "a", "c"], "sort_by", [itself], ["a", "b", "c"]],
    [[2, 10, 1], "sort_by", [itself], [1, 2, 10]],
    [[2, 10, 1], "sort_by", [itself, "descending"], [10, 2, 1]],
    [
        [
            { k: 1, n: "a" },
            { k: 0, n: "b" },
            { k: 1, n: "c" },
        ],
        "sort_by",
        [lambda(1, (x) => call(runtime(), x, "get", "k"))],
        [
            { k: 0, n: "b" },
            { k: 1, n: "a" },
            { k: 1, n: "c" },
        ],
    ],
    [[], "sort_by", [itself], []],
    [[1, 2, 3, 4], "slice", [1, 3], [2, 3]],
    [[1, 2, 3, 4], "slice", [-2], [3, 4]],
    [[1], "concat", [[2], [3, 4]], [1, 2, 3, 4]],
    [["a", 1], "join", ["-"], "a-1"],
    [["a", "b"], "join", [], "ab"],
    [[1, "1", 1, { a: 1, b: 2 }, { b: 2, a: 1 }, null, null], "unique", [], [1, "1", { a: 1, b: 2 }, null]],
    [[1, 2], "first", [], 1],
    [[], "first", [], null],
    [[1, 2], "last", [], 2],
    [[1, 2, 3.5], "sum", [], 6.5],
    [[], "sum", [], 0],
    [[0, "", 1], "any", [], true],
    [[1, 3], "any", [even], false],
    [[], "any", [], false],
    [[1, {}, "x"], "all", [], true],
    [[2, 3], "all", [even], false],
    [[], "all", [], true],
    [[1, 2, 3], "reduce", [lambda(2, (made, x) => (made as number) * 10 + (x as number)), 4], 4123],
    [["a", "b"], "reduce", [lambda(3, (made, x, i) => `${made as string}${x as string}${i as number}`), ""], "a0b1"],
    [[], "reduce", [lambda(2, (made) => made), null], null],
    [["bb", "a", "cc", "d"], "group_by", [lambda(1, (x) => (x as string).length)], { "2": ["bb", "cc"], "1": ["a", "d"] }],
    // objects
    [{ b: 1, a: 2 }, "keys", [], ["b", "a"]],
    [{ b: 1, a: 2 }, "values", [], [1, 2]],
    [{ b: 1 }, "entries", [], [{ key: "b", value: 1 }]],
    [{ b: null }, "has", ["b"], true],
    [{ b: null }, "has", ["constructor"], false],
    [{ b: 1 }, "get", ["b"], 1],
    [{ b: 1 }, "get", ["__proto__"], null],
    [{ b: 1 }, "get", ["x", 7], 7],
    [{ a: 1, b: 1 }, "merge", [{ b: 2 }, { c: 3 }], { a: 1, b: 2, c: 3 }],
    [{ a: 1, b: 2, c: 3 }, "without", ["a", "c"], { b: 2 }],
    [{ a: 1, b: 2, c: 3 }, "without", [["a", "b"]], { c: 3 }],
    // numbers
    [2.5, "round", [], 3],
    [-2.5, "round", [], -3],
    [1.005, "round", [2], 1.01],
    [1234.5, "round", [-2], 1200],
    [1e21, "round", [2], 1e21],
    [5e-7, "round", [6], 0.000001],
    [-0.2, "round", [], 0],
    [-1.5, "floor", [], -2],
    [-1.5, "ceil", [], -1],
    [-0.5, "ceil", [], 0],
    [-3, "abs", [], 3],
    [3, "min", [1, 2], 1],
    [3, "max", [1, 9], 9],
];

describe("methods", () => {
    test.each(
        CASES.map(
            (one) =>
                [
                    `${JSON.stringify(one[0])}.${one[1]}(${one[2].map((a) => (isLambda(a) ? "…" : JSON.stringify(a))).join(", ")})`,
                    one,
                ] as const,
        ),
    )("%s", (_, [self, name, args, result]) => {
        const rt = runtime();
        const made = call(rt, value(rt, self), name, ...args.map((arg) => (isLambda(arg) ? arg : value(rt, arg))));
        expect(plain(rt, made)).toEqual(result);
    });

    test("every row has a case", () => {
        const covered = new Set(CASES.map(([self, name]) => `${Array.isArray(self) ? "list" : typeof self} ${name}`));
        expect(
            BUILTIN_TABLE.filter((row) => !["global", "json", "csv", "time"].includes(row.on) && !covered.has(`${row.on} ${row.name}`)),
        ).toEqual([]);
    });

    test("group_by keeps the order in which keys and items came, numbers as keys included", () => {
        const rt = runtime();
        const made = call(
            rt,
            value(rt, ["bb", "a", "cc"]),
            "group_by",
            lambda(1, (x) => (x as string).length),
        );
        expect(plain(rt, call(rt, made, "keys"))).toEqual(["2", "1"]);
    });

    test("add gives the list itself back, other methods leave it alone", () => {
        const rt = runtime();
        const xs = list(rt, 1);
        expect(call(rt, xs, "add", 2)).toBe(xs);
        call(rt, xs, "concat", list(rt, 3));
        call(rt, xs, "sort_by", itself, "descending");
        expect(plain(rt, xs)).toEqual([1, 2]);
    });

    test("what a lambda adds to its list is not visited", () => {
        const rt = runtime();
        const xs = list(rt, 1, 2);
        const grow = lambda(1, (x) => {
            rt.heap.push(xs, 9);
            return x;
        });
        expect(plain(rt, call(rt, xs, "map", grow))).toEqual([1, 2]);
    });

    test("summary shares nothing with the list, and keeps what is shared inside shared", () => {
        const rt = runtime();
        const inner = object(rt, { a: 1 });
        const copy = call(rt, list(rt, inner, inner), "summary");
        rt.heap.set(inner, "a", 2);
        expect(plain(rt, copy)).toEqual([{ a: 1 }, { a: 1 }]);
        const items = (copy as ReturnType<typeof list>).items;
        expect(items[0]).toBe(items[1]);
    });
});

describe("functions", () => {
    const CALLS: readonly (readonly ["global" | "json", string, readonly Json[], Json])[] = [
        ["global", "text", ["a"], "a"],
        ["global", "text", [1.5], "1.5"],
        ["global", "text", [true], "true"],
        ["global", "text", [null], "null"],
        ["global", "text", [{ a: [1, "x"] }], '{"a":[1,"x"]}'],
        ["global", "number", [3], 3],
        ["global", "number", [" -2.50 "], -2.5],
        ["global", "number", ["1e3"], 1000],
        ["global", "number", ["007"], 7],
        ["global", "min", [2, 1], 1],
        ["global", "max", [2, 1], 2],
        ["json", "parse", [' {"b":[1,2.5e1,-0.5,true,null,"\\u00e9\\n"],"1":2} '], { b: [1, 25, -0.5, true, null, "é\n"], "1": 2 }],
        ["json", "parse", ["9007199254740991"], 9007199254740991],
        ["json", "text", [{ a: 1, b: [] }], '{"a":1,"b":[]}'],
        ["json", "text", [{ a: [1] }, 2], '{\n  "a": [\n    1\n  ]\n}'],
    ];
    test.each(CALLS)("%s %s(%j)", (on, name, args, result) => {
        const rt = runtime();
        expect(plain(rt, callGlobal(rt, on, name, ...args.map((arg) => value(rt, arg))))).toEqual(result);
    });

    test("json.parse keeps the order of keys, those that look like numbers included", () => {
        const rt = runtime();
        const made = callGlobal(rt, "json", "parse", '{"b":1,"2":1,"1":1}');
        expect(plain(rt, call(rt, made, "keys"))).toEqual(["b", "2", "1"]);
        expect(callGlobal(rt, "json", "text", made)).toBe('{"b":1,"2":1,"1":1}');
    });

    test("json.parse takes names such as __proto__ as ordinary keys", () => {
        const rt = runtime();
        const made = callGlobal(rt, "json", "parse", '{"__proto__":{"admin":true},"constructor":1}');
        expect(plain(rt, call(rt, made, "keys"))).toEqual(["__proto__", "constructor"]);
        expect(call(rt, made, "get", "admin")).toBe(null);
    });
});

describe("failures", () => {
    const rt = runtime();
    const self = list(rt, 1);
    self.items.push(self);
    const deep = (): Value => {
        let at: Value = null;
        for (let n = 0; n < 600; n++) at = list(rt, at);
        return at;
    };
    const FAILS: readonly (readonly [string, () => Value, string])[] = [
        ["a wrong argument", () => call(rt, "abc", "contains", 1), "value: contains: text must be a string, not a number"],
        ["a missing string", () => call(rt, "abc", "contains", null), "value: contains: text must be a string, not none"],
        ["a fraction as a position", () => call(rt, "abc", "slice", 1.5), "value: slice: from must be a whole number, not 1.5"],
        [
            "an empty text to replace",
            () => call(rt, "abc", "replace", "", "x"),
            'value: replace: old must be a string that is not empty, not ""',
        ],
        [
            "a value for a function",
            () => call(rt, list(rt, 1), "map", 1),
            "value: map: its argument must be a function such as (x) => x, not a number",
        ],
        ["a function for a value", () => call(rt, list(rt, 1), "add", double), "value: add: item must be a value, not a function"],
        [
            "keys of two kinds",
            () => call(rt, list(rt, 1, "a"), "sort_by", itself),
            "value: sort_by: the keys are of two kinds, number and string",
        ],
        [
            "a key that is none",
            () => call(rt, list(rt, null), "sort_by", itself),
            "value: sort_by: every key must be a number or a string, not none",
        ],
        ["a sum of texts", () => call(rt, list(rt, "a"), "sum"), "value: sum: every item must be a number, not a string"],
        [
            "a list joined",
            () => call(rt, list(rt, list(rt)), "join"),
            "value: join: every item must be a string, number or boolean, not a list",
        ],
        ["too many digits", () => call(rt, 1, "round", 16), "value: round: digits must be between -15 and 15, not 16"],
        ["no number", () => callGlobal(rt, "global", "number", "12 apples"), 'value: number: "12 apples" is not a number'],
        ["no number at all", () => callGlobal(rt, "global", "number", ""), 'value: number: "" is not a number'],
        [
            "a boolean as number",
            () => callGlobal(rt, "global", "number", true),
            "value: number: its argument must be a number or a string, not a boolean",
        ],
        [
            "a number that loses digits",
            () => callGlobal(rt, "global", "number", "9007199254740993"),
            'value: number: "9007199254740993" is a whole number beyond 2^53 and would lose digits',
        ],
        ["no JSON", () => callGlobal(rt, "json", "parse", '{"a":1,\n "b":}'), "value: json.parse: this is not a value at line 2, column 6"],
        [
            "a cut JSON text",
            () => callGlobal(rt, "json", "parse", "[1, 2"),
            "value: json.parse: a comma or ] is expected at line 1, column 6",
        ],
        [
            "JSON and more",
            () => callGlobal(rt, "json", "parse", "1 2"),
            "value: json.parse: something follows the end of the value at line 1, column 3",
        ],
        [
            "a JSON number that loses digits",
            () => callGlobal(rt, "json", "parse", '{"id":12345678901234567890}'),
            "value: json.parse: the whole number 12345678901234567890 is beyond 2^53 and would lose digits; as a string it would not at line 1, column 7",
        ],
        [
            "JSON nested too deep",
            () => callGlobal(rt, "json", "parse", "[".repeat(100_000)),
            "value: json.parse: values are nested more than 500 deep at line 1, column 501",
        ],
        ["a list in itself, as text", () => callGlobal(rt, "global", "text", self), "value: this value contains itself"],
        ["a list in itself, unique", () => call(rt, list(rt, self), "unique"), "value: this value contains itself"],
        ["a list in itself, summary", () => call(rt, self, "summary"), "value: this value contains itself"],
        ["nesting, as text", () => callGlobal(rt, "json", "text", deep()), "value: this value is nested more than 500 deep"],
        ["a tool as text", () => callGlobal(rt, "global", "text", TOOL), "violation.capability: Mail is a tool, which is never data"],
        [
            "a tool inside JSON",
            () => callGlobal(rt, "json", "text", list(rt, TOOL)),
            "violation.capability: Mail is a tool, which is never data",
        ],
        ["a tool compared", () => call(rt, list(rt, TOOL), "unique"), "violation.capability: Mail is a tool, which is never data"],
        ["a tool joined", () => call(rt, list(rt, TOOL), "join"), "violation.capability: Mail is a tool, which is never data"],
        ["a tool as an argument", () => call(rt, "a", "contains", TOOL), "violation.capability: Mail is a tool, which is never data"],
        ["a tool copied", () => call(rt, list(rt, TOOL), "summary"), "violation.capability: Mail is a tool, which is never data"],
    ];
    test.each(FAILS)("%s", (_, run, message) => expect(failure(run)).toBe(message));

    test.each([
        ["upper", (rt: ReturnType<typeof runtime>) => call(rt, "x".repeat(10_000), "upper")],
        ["replace", (rt: ReturnType<typeof runtime>) => call(rt, "x".repeat(100), "replace", "x", "y".repeat(1000))],
        ["join", (rt: ReturnType<typeof runtime>) => call(rt, list(rt, ..."x".repeat(200)), "join", "y".repeat(1000))],
        [
            "text of what is shared",
            (rt: ReturnType<typeof runtime>) => {
                let at: Value = "x";
                for (let n = 0; n < 40; n++) at = list(rt, at, at);
                return callGlobal(rt, "json", "text", at);
            },
        ],
    ])("%s is charged before it grows", (_, run) => {
        const rt = runtime(10_000);
        expect(failure(() => run(rt))).toBe("limit.bytes: more than 10000 bytes");
    });
});

describe("the checker's table", () => {
    const shape = (row: { on: string; name: string; min: number; max: number; lambda?: number; mutates?: true; property?: true }): string =>
        JSON.stringify([row.on, row.name, row.min, row.max, row.lambda ?? null, row.mutates ?? false, row.property ?? false]);

    test("agrees with the machine's on names, numbers of arguments, lambdas and properties", () => {
        expect(BUILTIN_TABLE.map(shape).sort()).toEqual(BUILTINS.map(shape).sort());
    });
});
