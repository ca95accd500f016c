/** Section 1.7, `parallel for`; rows 29 to 31 of the checklist. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fails, is, refused, rules } from "./cases.ts";
import { inMain, play } from "./harness.ts";

const WORK =
    'import tool Work from "host:work"\nimport memory N from "file://n.jsonl"\nimport tool F from "file://workspace"\nimport tool H from "https://example.com"';

rules("1.7 parallel for", [
    ["the values of the bodies in order", "parallel for x in [1, 2, 3] max 5 { y = x * 2 y }", is([2, 4, 6])],
    ["max limits the items", "parallel for x in [1, 2, 3] max 2 { x }", is([1, 2])],
    ["an empty list", "parallel for x in [] max 2 { x }", is([])],
    ["return ends the iteration alone", "r = parallel for x in [1, 2] max 2 { if x == 1 { return 10 } x } r.add(3) r", is([10, 2, 3])],
    [
        "it is an expression",
        "agent A { main func(input) { f(parallel for x in [1] max 1 { x }, 2) } func f(a, b) { { a: a, b: b } } }",
        is({ a: [1], b: 2 }),
    ],
    [
        "nested",
        "parallel for x in [1, 2] max 2 { parallel for y in [10, 20] max 2 { x * y } }",
        is([
            [10, 20],
            [20, 40],
        ]),
    ],
    ["outer values are read", "k = 3 parallel for x in [1, 2] max 2 { x * k }", is([3, 6])],
    [
        "locals of an iteration are its own",
        "parallel for x in [1, 2] max 2 { l = [] l.add(x) o = { n: 0 } o.n += x l.add(o.n) l }",
        is([
            [1, 1],
            [2, 2],
        ]),
    ],
    ["it needs a list", 'parallel for x in id("abc") max 2 { x }', fails("value: …")],
    ["the body ends in an expression", "parallel for x in [1] max 1 { y = x }", refused("INVALID_PARALLEL_FOR_BODY")],
    ["… and is not empty", "parallel for x in [1] max 1 { }", refused("INVALID_PARALLEL_FOR_BODY")],
    ["30: an outer variable is not assigned", "n = 0 parallel for x in [1] max 1 { n = x n }", refused("PARALLEL_FOR_OUTER_ASSIGNMENT")],
    [
        "30: nor with +=, nor in nested blocks",
        "n = 0 parallel for x in [1] max 1 { if x { n += 1 } n }",
        refused("PARALLEL_FOR_OUTER_ASSIGNMENT"),
    ],
    ["30: an outer list is not added to", "r = [] parallel for x in [1] max 1 { r.add(x) }", refused("PARALLEL_FOR_OUTER_MUTATION")],
    ["30: an outer object is not written", "o = {} parallel for x in [1] max 1 { o.a = x o }", refused("PARALLEL_FOR_OUTER_MUTATION")],
    ["30: nor a parameter", "parallel for x in [1] max 1 { input.a = x 1 }", refused("PARALLEL_FOR_OUTER_MUTATION")],
    [
        "30: nor deep inside an expression",
        "r = [] parallel for x in [1] max 1 { { a: [r.add(x)] } }",
        refused("PARALLEL_FOR_OUTER_MUTATION"),
    ],
    ["30: an alias of an outer list", "r = [] parallel for x in [1] max 1 { y = r y.add(x) y }", refused("PARALLEL_FOR_OUTER_MUTATION")],
    ["30: an alias made outside", "r = [] y = r parallel for x in [1] max 1 { y.add(x) }", refused("PARALLEL_FOR_OUTER_MUTATION")],
    [
        "30: a shared object hidden where no checker sees it",
        "agent A { main func(input) { r = [] parallel for x in [1, 2] max 2 { f(hide(r), x) 1 } } func hide(l) { o = { l: l } o.l } func f(l, x) { l.add(x) } }",
        { fails: "value: parallel for failed: …" },
    ],
    ["memory add", "parallel for x in [1] max 1 { N.add({ n: x }) }", refused("PARALLEL_FOR_EFFECTFUL_CALL"), { before: WORK }],
    ["memory query is allowed", "parallel for x in [1] max 1 { N.query({}) }", is([[]]), { before: WORK }],
    [
        "write and patch of a file tool",
        'parallel for x in [1] max 1 { F.write({ path: "a", content: "b" }) F.patch({ path: "a", search: "b", replace: "c" }) }',
        refused("PARALLEL_FOR_EFFECTFUL_CALL PARALLEL_FOR_EFFECTFUL_CALL"),
        { before: WORK },
    ],
    [
        "undo, which the original forgets, is warned of",
        "parallel for x in [1] max 1 { if false { F.undo([]) } 1 }",
        { value: [1], warns: "PARALLEL_FOR_REACHES_EFFECT" },
        { before: WORK },
    ],
    [
        "post, put, delete of HTTP",
        'parallel for x in [1] max 1 { H.post({ url: "/" }) H.put({ url: "/" }) H.delete({ url: "/" }) }',
        refused("PARALLEL_FOR_EFFECTFUL_CALL PARALLEL_FOR_EFFECTFUL_CALL PARALLEL_FOR_EFFECTFUL_CALL"),
        { before: WORK },
    ],
    [
        "in upper case, which the original does not see, they are warned of",
        'parallel for x in [1] max 1 { if false { H.POST({ url: "/" }) } 1 }',
        { value: [1], warns: "PARALLEL_FOR_REACHES_EFFECT" },
        { before: WORK },
    ],
    [
        "any method of an mcp tool",
        "parallel for x in [1] max 1 { S.find({}) }",
        refused("PARALLEL_FOR_EFFECTFUL_CALL"),
        { before: 'import tool S from "mcp://search"' },
    ],
    [
        "reading through a tool is allowed",
        'parallel for x in ["a.txt", "b.txt"] max 2 { F.read({ path: x }).content }',
        is(["A", "B"]),
        { before: WORK, files: { "a.txt": "A", "b.txt": "B" } },
    ],
    [
        "D8: an effect reached through a function is a warning",
        'agent A { main func(input) { parallel for x in [1, 2] max 2 { save(x) } } func save(x) { N.add({ n: x }).record.n } }\nimport memory N from "file://n.jsonl"',
        { value: [1, 2], warns: "PARALLEL_FOR_REACHES_EFFECT" },
    ],
    [
        "29: waits for all and tells every failure",
        "agent A { main func(input) { parallel for x in [1, 0, 2, 0] max 9 { 10 / x } } }",
        fails("value: parallel for failed: [1, 3] division by zero"),
    ],
    [
        "12 deep in parallel and calls",
        "agent A { main func(input) { f(3) } func f(n) { if n == 0 { return 1 } parallel for x in [n] max 1 { f(x - 1) } } }",
        is([[[1]]]),
    ],
]);

describe("1.7 parallel for, with real waiting", () => {
    test("29: a slow first item does not change the order; the limit is kept", async () => {
        let running = 0;
        let most = 0;
        const tools = {
            Work: {
                step: async (n: number) => {
                    most = Math.max(most, ++running);
                    await wait(n === 0 ? 25 : 2);
                    running--;
                    return n * 10;
                },
            },
        };
        const text = inMain("parallel for x in [0, 1, 2, 3, 4, 5, 6] max 9 { Work.step(x) }", 'import tool Work from "host:work"');
        expect((await play(text, { tools })).value).toEqual([0, 10, 20, 30, 40, 50, 60]);
        expect(most).toBe(4);
        most = 0;
        expect((await play(text, { tools, concurrency: 2 })).value).toEqual([0, 10, 20, 30, 40, 50, 60]);
        expect(most).toBe(2);
    });

    test("29: the others finish although one fails, and all failures are listed", async () => {
        const done: number[] = [];
        const tools = {
            Work: {
                step: async (n: number) => {
                    if (n % 2 === 1) throw new Error(`bad ${n}`);
                    await wait(5);
                    done.push(n);
                    return n;
                },
            },
        };
        const { failure } = await play(
            inMain("parallel for x in [1, 2, 3, 4] max 9 { Work.step(x) }", 'import tool Work from "host:work"'),
            { tools },
        );
        expect(done).toEqual([2, 4]);
        expect(failure?.kind).toBe("tool");
        expect(failure?.message).toMatch(/^parallel for failed: \[0\] .*bad 1.*; \[2\] .*bad 3/);
    });

    test("31: each iteration's events stand under its own path", async () => {
        const tools = { Work: { step: async (n: number) => wait(n === 1 ? 10 : 1).then(() => `out${n}`) } };
        const text = `import tool Work from "host:work"
main agent A { main func(input) { parallel for x in [1, 2] max 2 { B(x) } } }
agent B { main func(n) { Work.step(n) } }`;
        const { events } = await play(text, { tools });
        const ended = events
            .filter((event) => event.kind === "tool.ended")
            .map((event) => [/parallel\[(\d)\]/.exec(event.path)?.[1], (event.data as { result: string }).result]);
        expect(ended.sort()).toEqual([
            ["0", "out1"],
            ["1", "out2"],
        ]);
        const agents = events
            .filter((event) => event.kind === "agent.ended")
            .map((event) => [/parallel\[(\d)\]/.exec(event.path)?.[1], (event.data as { result: string }).result]);
        expect(agents.sort()).toEqual([
            ["0", "out1"],
            ["1", "out2"],
        ]);
    });

    test("generates of several iterations each see their own item", async () => {
        const { prompts, value } = await play(
            inMain('use "all" as all\nparallel for x in ["a", "b", "c"] max 3 { use x as mine\ngenerate({ input: "q" }) }'),
            {
                replies: (turn) => (JSON.stringify(turn.messages).match(/source: x\\n<item-\w+>\\n(\w)/)?.[1] ?? "?").toUpperCase(),
            },
        );
        expect(value).toEqual(["A", "B", "C"]);
        expect(prompts.map((prompt) => prompt.items.map((item) => item.text).join()).sort()).toEqual(["all,a", "all,b", "all,c"]);
    });
});
