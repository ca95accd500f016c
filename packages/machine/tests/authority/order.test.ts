/** In which order calls of concurrent iterations come in strict code (`places.ts`): no secret tells it, nor how long an answer took. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases } from "../cases.ts";
import type { Effect, Outcome } from "../../src/index.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { iterations, loop, timed } from "./order-programs.ts";
import { differ, sameView, secrets, visible } from "./pairs.ts";
import { partOf } from "./parts.ts";
import { random } from "./random.ts";
import { formOf, said } from "./running.ts";

const seeds = fc.tuple(fc.nat(), fc.nat());

describe.each([
    ["one that waits under a secret", "if s > 1 and x == 1 { T.more({}) }"],
    ["one that ends early by a secret", "U.tell({ v: 0, x: x })\nif s > 1 and x == 1 { return 0 }"],
    ["one that waits in a function", "f(s, x)"],
    ["one that waits in a loop by a secret", "if x == 1 { repeat * 3 { T.more({})\nif s > 1 { break } } }"],
    ["one whose inner iterations wait", "if x == 1 { z = parallel for y in [1, 2] max 2 { if s > 1 { T.more({}) }\ny } }"],
    [
        "one with as many inner iterations as a secret says",
        "z = parallel for y in (if s > x { [1, 2] } else { [1] }) max 2 { T.more({})\ny }",
    ],
    ["one that handles a failure by a call", "try { if s > 1 and x == 1 { raise `a` } } catch e { T.more({}) }"],
])("a secret does not tell the order of calls by %s", (_name, body) => {
    const source = (flow: string): string =>
        loop(`${body}\nU.tell({ v: 1, x: x })`, flow).replace(
            "main func",
            "func f(s, x) { if s > 1 and x == 1 { T.more({})\nreturn 1 }\n2 }\nmain func",
        );

    test.each([1, 2, 3, 9])("%i at a time", (concurrency) => {
        const of = (secret: Json, seed: number): Ran => timed(source("flow strict"), secret, seed, { options: { concurrency } });
        const ran = of(2, 1);
        expect(visible(ran).length).toBeGreaterThan(4);
        for (const seed of [1, 2, 3, 4, 5]) for (const secret of [0, 2]) sameView(of(secret, seed), ran);
    });
});

test("nor by whatever iterations do, and whenever answers come", () => {
    let telling = 0;
    let runs = 0;
    fc.assert(
        fc.property(iterations, secrets, seeds, fc.integer({ min: 1, max: 4 }), (body, [a, b], [one, other], concurrency) => {
            const how = { options: { concurrency } };
            sameView(timed(loop(body), a as Json, one, how), timed(loop(body), b as Json, other, how));
            runs++;
            telling += Number(differ(timed(loop(body, ""), a as Json, one, how), timed(loop(body, ""), b as Json, one, how)));
        }),
        { numRuns: cases(150) },
    );
    expect(telling / runs).toBeGreaterThan(0.3);
});

/** What is visible of each iteration, by its path. */
function byIteration(ran: Ran): Map<string, Json[]> {
    const out = new Map<string, Json[]>();
    for (const one of visible(ran)) {
        const [path] = one as [string];
        const iteration = /^.*parallel\[\d+\]/.exec(path)?.[0] ?? "";
        out.set(iteration, [...(out.get(iteration) ?? []), one]);
    }
    return out;
}

test("of a run in which iterations fail by a secret, what is visible of each is the beginning of what it is in the other", () => {
    let failing = 0;
    fc.assert(
        fc.property(
            iterations,
            fc.constantFrom("s > x", "s == x", "s > 1 and x > 1"),
            secrets,
            seeds,
            (body, fails, [a, b], [one, other]) => {
                const source = loop(`if x > 3 {\n${body}\n}\nif ${fails} { raise "no" }\n${body}`);
                const [first, second] = [timed(source, a as Json, one), timed(source, b as Json, other)];
                failing += Number(first.result.ok !== second.result.ok);
                const [x, y] = [byIteration(first), byIteration(second)];
                for (const [iteration, calls] of x) {
                    const length = Math.min(calls.length, y.get(iteration)?.length ?? 0);
                    expect(y.get(iteration)?.slice(0, length) ?? []).toEqual(calls.slice(0, length));
                    // An iteration that began in both and failed in neither shows as much.
                    if (first.result.ok && second.result.ok) expect(y.get(iteration)).toEqual(calls);
                }
            },
        ),
        { numRuns: cases(60) },
    );
    expect(failing).toBeGreaterThan(0);
});

test("it is the same run however it is sliced and saved", () => {
    fc.assert(
        fc.property(iterations, secrets, fc.nat(), fc.integer({ min: 1, max: 9 }), (body, [secret], seed, slice) => {
            const of = (how: Parameters<typeof timed>[3] = {}): Ran => timed(loop(body), secret as Json, seed, how);
            const ran = of();
            expect(of({ saving: true })).toEqual(ran);
            expect(of({ saving: 3 })).toEqual(ran);
            expect(of({ options: { mode: "frames" } })).toEqual(ran);
            expect({ ...of({ options: { slice } }), steps: 0 }).toEqual({ ...ran, steps: 0 });
        }),
        { numRuns: cases(25) },
    );
});

test("nor by when a call of one failed, which makes place for another", () => {
    const source = loop("v = U.get({ x: x })\nif x < 3 { U.tell({ v: 1, x: x }) }");
    const seen = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => visible(timed(source, 0, seed, { fails: '"method":"get","args":[{"x":3}]' })));
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]?.length).toBeGreaterThan(10);
});

test("iterations wait for one another's answers, not for one another's turns", () => {
    const ran = timed(loop("v = U.get({ x: x })"), 0, 1, { options: { concurrency: 5 } });
    expect(ran.effects.slice(1, 6).map(({ path }) => path)).toEqual([0, 1, 2, 3, 4].map((i) => `main/parallel[${i}]/U.get#0`));
});

test("and where each of their calls is caught by itself they make the next one side by side", () => {
    const source = loop("a = fetch(1, x)\nfetch(2, a?.n)").replace(
        "main func",
        "func fetch(v, x) { try { U.get({ v: v, x: x }) } catch e { none } }\nmain func",
    );
    const ran = timed(source, 0, 1, { options: { concurrency: 5 }, fails: '"v":1,"x":3' });
    const told = ran.effects.slice(1).map(({ request }) => (request as { args?: [{ v: Json }] }).args?.[0].v);
    expect(told).toEqual([1, 2, "end"].flatMap((v) => Array.from({ length: 5 }, () => v)).concat("all"));
});

describe("COU6: nor by how long a part takes that has the counts", () => {
    const blocks = (body: string): ReturnType<typeof formOf> =>
        formOf(`flow strict
import tool T from "https://t.example"
import tool U from "https://u.example"
import tool Pay from "mcp://pay" { refund: at most 9, refund: may }
import llm M from "openai://m"
agent Clerk { model M  role "r"  description "d"  func turn(x) { generate({ input: "go", tools: [Pay.refund] })
x } }
func turn(x) { Clerk.turn(x) }
func hidden(x) { T.secret({}).text }
func far(x) { Pay.refund({ order_id: "p" })
x }
func pay(x) { Pay.refund({ order_id: "q" })
x }
func more(x) { U.tell({ v: 1 })
U.tell({ v: 2 })
U.tell({ v: 3 })
x }
memory static ( ${body} )`);
    const methods: Json = [{ name: "refund", input: { type: "object", properties: { order_id: {} } } }];
    const ran = (form: ReturnType<typeof formOf>, seed: number, secret: string, how: How = {}): Ran => {
        const next = random(seed);
        const answer = (e: Effect): Outcome => {
            const { tool, op } = e.request as { tool?: string; op?: string };
            if (e.kind === "run") return partOf(form, e, { answer });
            if (op === "describe") return said({ methods }, [`tool:${tool}`]);
            if (e.kind === "model") {
                const calls = e.path.includes("turn[") ? [] : [{ id: "c", name: "Pay_refund", args: { order_id: "m" } }];
                return said({ text: "done", model: "m", finish: calls.length > 0 ? "tool" : "stop", calls }, ["model:M"]);
            }
            return said(tool === "T" ? { text: secret } : { n: 1 }, [`tool:${tool}`]);
        };
        const options = { input: "a", concurrency: 5, ...how.options };
        return runAll(form, { answer, pick: (all) => Math.floor(next() * all.length), ...how, options });
    };

    test.each([
        "temporal static ( far ) <*> pay <*> more",
        "pay <*> temporal static ( far ) <*> more",
        "more <*> pay >=> more <*> temporal static ( far )",
        "temporal static ( far ) <*> pay >=> more <*> temporal static ( far )",
        "temporal static ( far ) <*> temporal static ( far ) >=> pay <*> more >=> pay",
        "temporal static ( far ) <*> turn <*> more",
        'temporal static ( hidden >=> when "contains GO" >=> far ) <*> turn >=> more <*> pay >=> more',
        'turn <*> hidden >=> when "contains GO" >=> turn <*> temporal static ( far ) >=> more',
        'hidden >=> when "contains GO" >=> temporal static ( far ) <*> pay >=> more <*> more',
        'temporal static ( hidden >=> when "contains GO" >=> far ) <*> pay >=> more <*> more',
        'pay <*> hidden >=> when "contains GO" >=> pay <*> temporal static ( far ) >=> more',
        "pay >=> turn <*> more",
        "turn >=> pay <*> temporal static ( far ) >=> turn <*> more",
    ])("%s", (body) => {
        const form = blocks(body);
        const [first, ...rest] = Array.from({ length: 12 }, (_, seed) => visible(ran(form, seed, seed % 2 === 0 ? "GO" : "no")));
        expect(first?.length).toBeGreaterThan(4);
        for (const one of rest) expect(one).toEqual(first);
        const whole = ran(form, 3, "GO");
        for (const how of [{ saving: true }, { saving: 3 }, { options: { mode: "frames" } }] as const)
            expect(ran(form, 3, "GO", how)).toEqual(whole);
    });
});

describe("ORD5: nor by which of the turns in flight ended first that a turn waits for", () => {
    const within = (body: string): ReturnType<typeof formOf> =>
        formOf(`flow strict
import llm M from "openai://m"
import tool T from "https://t.example"
import tool U from "https://u.example"
main agent A {
model M
role "r"
description "d"
main func() {
s = T.secret({})
spend 5000 tokens {
r = parallel for x in [1, 2, 3, 4, 5] max 5 {
${body}
x }
}
U.tell({ v: "all" })
1 }
}`);
    const answer =
        (secret: Json) =>
        (e: Effect): Outcome => {
            const { tool, op } = e.request as { tool?: string; op?: string };
            if (e.kind === "model")
                return { ...said({ text: "t", finish: "stop", model: "m" }, ["model:M"]), usage: { input: 10, output: 20 } };
            if (op === "describe") return said({ methods: [] }, [`tool:${tool}`]);
            return said(tool === "T" ? secret : { n: 1 }, [`tool:${tool}`]);
        };
    const ran = (form: ReturnType<typeof formOf>, seed: number, how: How = {}): Ran => {
        const next = random(seed);
        const options = { concurrency: 5, ...how.options };
        return runAll(form, { answer: answer(seed % 3), pick: (all) => Math.floor(next() * all.length), ...how, options });
    };

    test.each([
        "y = generate({ input: `go {x}` })\nU.tell({ v: 2, x: x })",
        "U.tell({ v: 1, x: x })\ny = generate({ input: `go {x}` })\nU.tell({ v: 2, x: x })\nz = generate({ input: `on {x}` })",
        "if x < 5 { y = generate({ input: `go {x}` }) } else { U.tell({ v: 1, x: x })\nU.tell({ v: 2, x: x })\ny = generate({ input: `go {x}` }) }\nU.tell({ v: 3, x: x })",
        "y = generate({ input: `go {x}` })\nif s > 1 and x == 2 { z = generate({ input: `on {x}` }) }\nU.tell({ v: 2, x: x })",
        "y = generate({ input: `go {x}` })\nz = parallel for n in [1, 2] max 2 { U.tell({ v: n, x: x })\nw = generate({ input: `on {x} {n}` })\nn }\nU.tell({ v: 3, x: x })",
    ])("%s", (body) => {
        const form = within(body);
        const [first, ...rest] = Array.from({ length: 24 }, (_, seed) => ran(form, seed));
        expect(first?.result).toMatchObject({ ok: true });
        for (const one of rest) expect(visible(one)).toEqual(visible(first as Ran));
        const whole = ran(form, 10);
        for (const how of [{ saving: true }, { saving: 3 }, { options: { mode: "frames" } }] as const)
            expect(ran(form, 10, how)).toEqual(whole);
    });
});
