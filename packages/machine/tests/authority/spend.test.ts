/** Accounts: regions and calls with `spend`, in running programs, however they are cut, saved and compiled. Why it is long: one table of cases, and the helpers that only they use. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";

const IMPORTS = `
import tool T from "http://e.test"
import llm M from "anthropic://m"
`;

const turn = (tokens: number, more: object = {}): Outcome => ({
    ok: true,
    value: { text: "hi", finish: "stop", model: "m" },
    origins: [],
    usage: { input: tokens - 1, output: 1, ...more },
});

/** Every model turn takes 4 tokens; times never end; tools give a number. */
const usual = (e: Effect): Outcome =>
    e.kind === "model"
        ? turn(4)
        : e.kind === "sleep"
          ? { ok: true, value: null, origins: [] }
          : { ok: true, value: 1, origins: ["tool:T"] };

type More = How & { readonly slices?: readonly number[] };

/** Times come last. */
const patient = (waiting: readonly Effect[]): number =>
    Math.max(
        0,
        waiting.findIndex((e) => e.kind !== "sleep"),
    );

function run(text: string, more: More = {}): Ran {
    const form = formOf(IMPORTS + text, true);
    const how: How = { answer: usual, pick: patient, ...more };
    const ran = runAll(form, how);
    for (const other of [
        { saving: true },
        { saving: 3 },
        { options: { ...how.options, mode: "frames" } },
        { saving: true, options: { ...how.options, slice: 1 } },
        ...[1, 2, 3, 7].map((slice) => ({ options: { ...how.options, slice } })),
    ] as const)
        expect(runAll(form, { ...how, ...other })).toEqual(ran);
    return ran;
}

const main = (body: string, before = ""): string => `${before}\nmain agent A {\n main func() {\n${body}\n }\n}\n`;
const value = (ran: Ran): Json => (ran.result.ok ? ran.result.value : `${ran.result.failure.kind}: ${ran.result.failure.message}`);
const closed = (ran: Ran): Json[] =>
    ran.events.flatMap((e) =>
        e.kind === "budget" && (e.data as { closed?: true }).closed === true ? [(e.data as { used: Json }).used] : [],
    );
const usedOf = (ran: Ran, meter: string): number[] => closed(ran).map((used) => (used as { [m: string]: number })[meter] as number);
const ASK = `generate("q")`;
const WITH = `role "r" description "d" model M`;

describe("regions", () => {
    test("a region that is not used up does nothing but say what it used", () => {
        const ran = run(main(`x = 0  spend 10 calls, 100 steps { x = T.get(1)  x = x + 1 }  x`));
        expect(value(ran)).toBe(2);
        expect(closed(ran)).toEqual([{ tokens: 0, usd: 0, calls: 1, turns: 0, steps: 3, bytes: expect.any(Number) }]);
    });

    test("names meter, limit, what was used, and who wanted more", () => {
        const ran = run(main(`spend 2 calls { repeat * 5 { T.get(1) } }`));
        expect(ran.effects).toHaveLength(2);
        expect(ran.result).toMatchObject({
            ok: false,
            failure: {
                kind: "limit.calls",
                detail: { meter: "calls", limit: 2, used: 2, spender: "user at main/repeat[2]/T.get#0" },
                message: "the region's budget of 2 calls is used up (2), by user at main/repeat[2]/T.get#0",
            },
        });
        expect(ran.events.find((e) => e.kind === "budget")?.data).toEqual({
            meter: "calls",
            limit: 2,
            used: 2,
            spender: "user at main/repeat[2]/T.get#0",
            account: "main/spend#0",
        });
    });

    test.each([
        ["in the region", `spend 1 calls { try { T.get(1)  T.get(2) } catch e { return "caught" } }`],
        [
            "in a function called there",
            `func f() { try { T.get(1)  T.get(2) } catch e { return "caught" } }`,
            `spend 1 calls { return f() }`,
        ],
        ["in an iteration", `spend 1 calls { parallel for x in [1, 2, 3] max 3 { try { T.get(x) } catch e { return "caught" } } }`],
        [
            "around a loop of iterations, inside",
            `spend 1 calls { try { parallel for x in [1, 2, 3] max 3 { T.get(x) } } catch e { return "caught" } }`,
        ],
        [
            "by an agent called there",
            `agent B { main func() { try { T.get(1)  T.get(2) } catch e { return "caught" } } }`,
            `spend 1 calls { return B() }`,
        ],
        [
            "by a closure that runs out of steps",
            `func f() { try { repeat * 1000 { x = 1 } } catch e { return "caught" } }`,
            `spend 50 steps { return f() }`,
        ],
        ["in a region inside", `spend 1 calls { spend 5 steps { try { T.get(1)  T.get(2) } catch e { return "caught" } } }`],
    ])("nothing inside catches it: %s", (_, before, inside?: string) => {
        const [decl, text] = inside === undefined ? ["", before] : [before, inside];
        const ran = run(main(`${text}\n"went on"`, decl));
        expect(ran.result.ok).toBe(false);
        expect(value(ran)).toMatch(/^limit\.(calls|steps)/);
        expect(value(run(main(`try { ${text.replace("return ", "")} } catch e { return e.kind }`, decl)))).toMatch(
            /^limit\.(calls|steps)$/,
        );
    });

    test("left by return, break, continue and failure, a region is closed and what comes after is free", () => {
        const ran = run(
            main(
                `repeat * 3 { spend 1 calls { T.get(1)  continue } }
                 repeat * 3 { spend 1 calls { T.get(1)  break } }
                 try { spend 1 calls { raise "no" } } catch e { T.get(1) }
                 T.get(1) + f()`,
                `func f() { spend 1 calls { return T.get(1) } }`,
            ),
        );
        expect(value(ran)).toBe(2);
        expect(usedOf(ran, "calls")).toEqual([1, 1, 1, 1, 0, 1]);
    });

    test("an inner region has at most what the outer has left, and the outer pays for it", () => {
        const ran = run(
            main(`spend 5 calls { T.get(1)
                try { spend 100 calls { repeat * 50 { T.get(1) } } } catch e { return e.detail } }`),
        );
        expect(value(ran)).toMatchObject({ meter: "calls", limit: 4, used: 4 });
        expect(usedOf(ran, "calls")).toEqual([4, 5]);
    });

    test("of two that are used up together the inner one is named, and the outer still bounds what follows", () => {
        const ran = run(main(`spend 2 calls { try { spend 2 calls { repeat * 5 { T.get(1) } } } catch e { T.get(9) } }`));
        expect(value(ran)).toMatch(/^limit\.calls: the region's budget of 2 calls is used up \(2\), by user at main\/T\.get#1$/);
        expect(ran.effects).toHaveLength(2);
    });

    test("nothing is left of nothing", () => {
        expect(value(run(main(`spend 0 calls { T.get(1) }`)))).toBe(
            "limit.calls: the region's budget of 0 calls allows none: user at main/T.get#0 wants more",
        );
        expect(value(run(main(`spend 0 steps { x = 1 }`)))).toMatch(/^limit\.steps/);
        expect(value(run(main(`spend 0 steps { }\n1`)))).toBe(1);
    });

    test("bytes of texts that grow", () => {
        const ran = run(
            main(`s = "${"x".repeat(300)}"\ntry { spend 10000 bytes { repeat * 40 { s = s + s } } } catch e { return e.detail }`),
        );
        expect(value(ran)).toMatchObject({ meter: "bytes", limit: 10000, spender: "user at main/spend#0" });
        expect(usedOf(ran, "bytes")[0]).toBeLessThan(40_000);
    });

    test("bytes", () => {
        const ran = run(main(`try { spend 10000 bytes { xs = [1]  repeat * 40 { xs = xs.concat(xs) } } } catch e { return e.detail }`));
        expect(value(ran)).toMatchObject({ meter: "bytes", limit: 10000, spender: "user at main/spend#0" });
        expect(usedOf(ran, "bytes")[0]).toBeLessThan(40_000);
    });

    test("the run's own limit bounds every region", () => {
        const ran = run(main(`try { spend 100 calls { repeat * 9 { T.get(1) } } } catch e { return 1 }`), {
            options: { limits: { calls: 3 } },
        });
        // Three are left of the run when the region opens: it is the region that is used up, and what follows has nothing.
        expect(value(ran)).toBe(1);
        const then = run(main(`try { spend 100 calls { repeat * 9 { T.get(1) } } } catch e { T.get(1) }`), {
            options: { limits: { calls: 3 } },
        });
        expect(value(then)).toMatch(/^limit\.calls: the run's budget of 3 calls/);
    });
});

describe("steps", () => {
    const counted = (body: string): number => usedOf(run(main(`spend 1000000 steps { ${body} }`)), "steps")[0] as number;

    test.each([
        `repeat * 100 { x = 1 }`,
        `x = [3, 1, 2].map(v => v + 1)`,
        `repeat * 7 { T.get(1) }`,
        `parallel for x in [1, 2, 3, 4, 5, 6] max 6 { T.get(x)  x + 1 }`,
        `x = f(12)`,
    ])("exact to the step: %s", (body) => {
        const decl = `func f(n) { if n < 2 { return n }  f(n - 1) + f(n - 2) }`;
        const whole = usedOf(run(main(`spend 1000000 steps { ${body} }`, decl)), "steps")[0] as number;
        const enough = run(main(`spend ${whole} steps { ${body} }\n"done"`, decl));
        expect(value(enough)).toBe("done");
        const less = run(main(`try { spend ${whole - 1} steps { ${body} } } catch e { return e.detail }`, decl));
        expect(value(less)).toMatchObject({ meter: "steps", limit: whole - 1, used: whole - 1 });
        expect(usedOf(less, "steps")).toEqual([whole - 1]);
    });

    test("what is beyond does not count for the run either", () => {
        const of = (limit: number): number =>
            run(main(`try { spend ${limit} steps { repeat * 1000 { x = 1 } } } catch e { return 1 }`)).steps;
        expect(of(101) - of(100)).toBe(1);
        expect(counted(`x = 1`)).toBe(1);
    });

    test("the same for every limit, slice and way of running", () => {
        const program = (limit: number): string =>
            main(
                `n = 0
                 try { spend ${limit} steps {
                    repeat * 3 { n = n + f(5) }
                    xs = parallel for x in [1, 2, 3] max 3 { g(x) }
                    ys = [5, 4, 3].map(v => v * 2).filter(v => v > 7)
                    spend ${Math.floor(limit / 2)} steps { repeat * 40 { n = n + 1 } }
                 } } catch e { return [e.detail, n] }
                 n`,
                `func f(n) { if n < 2 { return n }  f(n - 1) + f(n - 2) }
                 func g(x) { T.get(x)  f(x + 3) }`,
            );
        fc.assert(
            fc.property(
                fc.integer({ min: 0, max: 400 }),
                fc.integer({ min: 1, max: 60 }),
                fc.integer({ min: 1, max: 4 }),
                (limit, slice, concurrency) => {
                    const form = formOf(IMPORTS + program(limit), true);
                    const how = { answer: usual, options: { concurrency, slice: 100_000 } };
                    const ran = runAll(form, { ...how, options: { ...how.options, mode: "frames" } });
                    for (const used of closed(ran) as { steps: number }[]) expect(used.steps).toBeLessThanOrEqual(limit);
                    expect(runAll(form, how)).toEqual(ran);
                    expect(runAll(form, { ...how, options: { ...how.options, slice } })).toEqual(ran);
                    expect(runAll(form, { ...how, saving: true, options: { ...how.options, slice } })).toEqual(ran);
                },
            ),
            { numRuns: 60 },
        );
    });
});

describe("agents", () => {
    const remit = (name: string, spend: string, body: string, more = ""): string =>
        `agent ${name} { remit { may all  spend ${spend} } ${WITH} main func() { ${body} } }\n${more}`;

    test("each call has its own, and says what it used", () => {
        const ran = run(main(`B()  B()  "done"`, remit("B", "2 calls", "T.get(1)  T.get(1)")));
        expect(value(ran)).toBe("done");
        const ends = ran.events.filter((e) => e.kind === "agent.ended").map((e) => (e.data as { spent?: Json }).spent);
        expect(ends).toEqual([
            { limits: { calls: 2 }, used: expect.objectContaining({ calls: 2 }) },
            { limits: { calls: 2 }, used: expect.objectContaining({ calls: 2 }) },
        ]);
    });

    test("its own code does not catch it, its caller does; the failure names it", () => {
        const decl = remit("B", "1 calls", `try { T.get(1)  T.get(1) } catch e { return "caught" }`);
        const ran = run(main(`try { B() } catch e { return [e.kind, e.detail.spender, e.message] }`, decl));
        expect(value(ran)).toEqual([
            "limit.calls",
            "B at main/B.main#0/T.get#1",
            "B's budget of 1 call is used up (1), by B at main/B.main#0/T.get#1",
        ]);
    });

    test("three levels, each asking for more than the one above has", () => {
        const decl = [
            remit("C", "1000 calls", `repeat * 100 { T.get(1) }`),
            remit("B", "100 calls", `T.get(1)  C()`),
            remit("A1", "10 calls", `T.get(1)  B()`),
        ].join("\n");
        const ran = run(main(`try { A1() } catch e { return e.detail }`, decl));
        expect(value(ran)).toMatchObject({ meter: "calls", limit: 8, used: 8 });
        expect(ran.effects).toHaveLength(10);
        const ends = ran.events
            .filter((e) => e.kind === "agent.ended")
            .map((e) => (e.data as { spent: { used: { calls: number } } }).spent.used.calls);
        expect(ends).toEqual([8, 9, 10]);
    });

    test("an agent does not get more by calling itself, delegating or being handed a function", () => {
        const decl = `agent B { remit { may all  spend 5 calls } main func(n) { T.get(n)  if n > 0 { delegate all to B { return B(n - 1) } }  n } }`;
        const ran = run(main(`try { B(50) } catch e { return e.kind }`, decl));
        expect(value(ran)).toBe("limit.calls");
        expect(ran.effects).toHaveLength(5);
    });

    test("an agent that begins the run is bound too", () => {
        const ran = run(
            `main agent B { remit { may all  spend 1 calls } main func() { try { T.get(1)  T.get(2) } catch e { return 1 } } }`,
        );
        expect(value(ran)).toMatch(/^limit\.calls: B's budget/);
    });
});

describe("tokens", () => {
    const region = (tokens: number, inside: string): string =>
        `main agent A { ${WITH} main func() { spend ${tokens} tokens { ${inside} } } }`;
    const child = `agent C { remit { may all  spend 100 tokens } ${WITH} main func() { repeat * 50 { ${ASK} } } }`;

    test("cached tokens count once, with the rest of the prompt", () => {
        const ran = run(region(100, `${ASK}\n1`), { answer: () => turn(31, { cached: 20 }) });
        expect(usedOf(ran, "tokens")).toEqual([31]);
        const apart = run(region(100, `${ASK}\n1`), { answer: () => turn(11, { input: 10, cached: 20 }) });
        expect(usedOf(apart, "tokens")).toEqual([21]);
    });

    test("where the outcome goes beyond, no further turn is asked for, and it is exact", () => {
        const ran = run(
            `main agent A { ${WITH} main func() { try { spend 100 tokens { repeat * 50 { ${ASK} } } } catch e { return e.detail } } }`,
            { answer: () => turn(40) },
        );
        expect(ran.effects.filter((e) => e.kind === "model")).toHaveLength(3);
        expect(value(ran)).toMatchObject({ meter: "tokens", limit: 100, used: 120 });
    });

    test("no turn is asked for whose prompt does not fit what is left", () => {
        const ran = run(region(1000, `generate({ input: "${"x".repeat(8000)}" })`));
        expect(ran.effects).toEqual([]);
        expect(value(ran)).toMatch(
            /^limit\.tokens: the region's budget of 1000 tokens leaves too little for a prompt of about 20\d\d tokens/,
        );
    });

    test("with nothing in flight the reply is limited to what is left, and the ledger says so", () => {
        const ran = run(region(100, `${ASK}\n1`), { answer: () => turn(31) });
        const reply = ((ran.effects[0] as Effect).request as { maxOutput: number }).maxOutput;
        expect(reply).toBeGreaterThan(50);
        expect(reply).toBeLessThan(100);
        expect(ran.events.find((e) => e.kind === "budget")?.data).toEqual({ account: "main/spend#0", reply });
        const roomy = run(region(5000, `${ASK}\n1`), { answer: () => turn(31) });
        expect(roomy.effects[0]?.request).not.toHaveProperty("maxOutput");
    });

    test("eight side by side, each asking for all there is: one turn in flight, the others wait", () => {
        const ran = run(
            `${child} main agent A { ${WITH} main func() { try { spend 100 tokens { parallel for x in [1, 2, 3, 4, 5, 6, 7, 8] max 8 { C() } } } catch e { return e.detail } } }`,
            { options: { concurrency: 8 }, answer: () => turn(32) },
        );
        // The first reserves all there is, the others wait for it, and each goes on alone until nothing is left.
        expect(ran.effects.filter((e) => e.kind === "model")).toHaveLength(3);
        expect(value(ran)).toMatchObject({ meter: "tokens", limit: 100 });
        expect(usedOf(ran, "tokens")).toEqual([96]);
    });

    test("three levels, eight side by side on each, each asking for a hundred of ten: no call and no turn beyond what is in flight", () => {
        const eight = "parallel for x in [1, 2, 3, 4, 5, 6, 7, 8] max 8";
        const levels = (amount: string, work: string): string =>
            `agent C { remit { may all  spend 100 ${amount} } ${WITH} main func() { repeat * 50 { ${work} } } }
             agent B { remit { may all  spend 100 ${amount} } ${WITH} main func() { ${eight} { C() } } }
             agent D { remit { may all  spend 100 ${amount} } ${WITH} main func() { ${eight} { B() } } }
             main agent A { ${WITH} main func() { try { spend 10 ${amount} { D() } } catch e { return e.detail } } }`;
        const how = (order: readonly number[], at = { n: 0 }) => ({
            options: { concurrency: 8 },
            pick: (waiting: readonly Effect[]) => (order[at.n++ % order.length] as number) % waiting.length,
        });
        fc.assert(
            fc.property(fc.array(fc.nat(7), { minLength: 30, maxLength: 30 }), (order) => {
                const form = (amount: string, work: string) => formOf(IMPORTS + levels(amount, work), true);
                const calls = runAll(form("calls", "T.get(1)"), { answer: usual, ...how(order) });
                expect(value(calls)).toMatchObject({ meter: "calls" });
                expect(calls.effects).toHaveLength(10);
                const tokens = runAll(form("tokens", ASK), { answer: usual, ...how(order) });
                const turns = tokens.effects.filter((e) => e.kind === "model").length;
                expect(turns).toBeGreaterThan(0);
                expect(usedOf(tokens, "tokens").at(-1)).toBe(4 * turns);
                expect(4 * turns).toBeLessThanOrEqual(10);
            }),
            { numRuns: 20 },
        );
    });

    test("in whatever order they answer, what is beyond is what the last turn took more than it was given", () => {
        fc.assert(
            fc.property(fc.array(fc.nat(7), { minLength: 40, maxLength: 40 }), fc.integer({ min: 400, max: 40_000 }), (order, limit) => {
                let at = 0;
                const form = formOf(
                    `${IMPORTS} agent C { remit { may all  spend 100000 tokens } ${WITH} main func() { repeat * 50 { ${ASK} } } }
                     main agent A { ${WITH} main func() { try { spend ${limit} tokens { parallel for x in [1, 2, 3, 4, 5, 6, 7, 8] max 8 { C() } } } catch e { return e.detail } } }`,
                    true,
                );
                const ran = runAll(form, {
                    options: { concurrency: 8 },
                    answer: () => turn(300),
                    pick: (waiting) => (order[at++ % order.length] as number) % waiting.length,
                });
                const [used] = usedOf(ran, "tokens");
                expect(used).toBe(300 * ran.effects.length);
                expect(used).toBeLessThan(limit + 300);
                expect(used).toBeGreaterThan(limit - 300);
                expect(value(ran)).toMatchObject({ meter: "tokens" });
            }),
            { numRuns: 25 },
        );
    });

    test("dollars and turns", () => {
        const usd = run(
            `main agent A { ${WITH} main func() { try { spend 0.1 usd { repeat * 50 { ${ASK} } } } catch e { return e.detail } } }`,
            {
                answer: () => turn(9, { usd: 0.04 }),
            },
        );
        expect(value(usd)).toMatchObject({ meter: "usd", limit: 0.1 });
        expect(usd.effects).toHaveLength(3);
        const turns = run(
            `main agent A { ${WITH} main func() { try { spend 2 turns { repeat * 50 { ${ASK} } } } catch e { return e.detail } } }`,
        );
        expect(value(turns)).toMatchObject({ meter: "turns", limit: 2, used: 2 });
    });

    const priced = { "M anthropic://m": { input: 3, output: 15 } };
    const eight = (inside: string): string =>
        `agent C { ${WITH} main func() { repeat * 50 { ${ASK} } } }
         main agent A { ${WITH} main func() { try { ${inside} { parallel for x in [1, 2, 3, 4, 5, 6, 7, 8] max 8 { C() } } } catch e { return e.detail } } }`;

    test("dollars are reserved where the price is known: eight side by side, one turn in flight", () => {
        const how = { answer: () => turn(100, { usd: 0.004 }), options: { concurrency: 8, prices: priced } };
        const ran = run(eight("spend 0.01 usd"), how);
        // A reply of the usual length costs more than there is: the first reserves it all, and the others wait for it.
        expect(ran.effects.filter((e) => e.kind === "model")).toHaveLength(3);
        expect(value(ran)).toMatchObject({ meter: "usd", limit: 0.01 });
        const unknown = run(eight("spend 0.01 usd"), { ...how, options: { concurrency: 8 } });
        expect(unknown.effects.filter((e) => e.kind === "model").length).toBeGreaterThanOrEqual(8);
    });

    test("in whatever order they answer, dollars go beyond by one turn for a branch at most", () => {
        fc.assert(
            fc.property(fc.array(fc.nat(7), { minLength: 40, maxLength: 40 }), fc.integer({ min: 1, max: 400 }), (order, cents) => {
                let at = 0;
                const ran = runAll(formOf(IMPORTS + eight(`spend ${cents / 100} usd`), true), {
                    options: { concurrency: 8, prices: priced },
                    answer: () => turn(1000, { usd: 0.25 }),
                    pick: (waiting) => (order[at++ % order.length] as number) % waiting.length,
                });
                const [used] = usedOf(ran, "usd");
                expect(used).toBeCloseTo(0.25 * ran.effects.length);
                expect(used).toBeLessThan(cents / 100 + 8 * 0.25);
            }),
            { numRuns: 25 },
        );
    });

    test("of two hundred at a fifth of what they need nine tenths of the bound are spent, and never more", () => {
        fc.assert(
            fc.property(fc.array(fc.nat(3), { minLength: 40, maxLength: 40 }), fc.integer({ min: 1, max: 100 }), (order, share) => {
                let at = 0;
                // Each turn costs what its prompt costs and a share of the reply that it may give.
                const answer = (e: Effect): Outcome => {
                    const { maxOutput = 1024 } = e.request as { maxOutput?: number };
                    const output = Math.max(1, Math.floor((Math.min(1024, maxOutput) * share) / 100));
                    return turn(30 + output, { usd: (30 * 3 + output * 15) / 1e6 });
                };
                const each = (30 * 3 + Math.floor((1024 * share) / 100) * 15) / 1e6;
                const bound = (each * 200) / 5;
                const items = `[${Array.from({ length: 200 }, (_, i) => i).join(", ")}]`;
                const ran = runAll(
                    formOf(
                        `${IMPORTS} main agent A { ${WITH} main func() { try { spend ${bound.toFixed(6)} usd { parallel for x in ${items} max 200 { generate({ input: "${"x".repeat(120)}" }) } } } catch e { return e.kind } } }`,
                        true,
                    ),
                    {
                        options: { concurrency: 4, prices: priced },
                        answer,
                        pick: (waiting) => (order[at++ % order.length] as number) % waiting.length,
                    },
                );
                const [used] = usedOf(ran, "usd");
                expect(used).toBeLessThanOrEqual(bound);
                expect(used).toBeGreaterThanOrEqual(0.9 * bound);
                expect(value(ran)).toBe("limit.cost");
            }),
            { numRuns: 15 },
        );
    });

    test("of a turn that is broken off the prompt counts, and what was reserved for its reply comes back", () => {
        const broken = (spend: string, text: string): Json =>
            value(
                run(
                    `main agent A { ${WITH} main func() {
                        try { spend ${spend} { repeat * 6 { try { spend 5 ms { generate({ input: "${text}" }) } } catch e { 1 } }  ${ASK} } } catch e { return e.kind }
                        "ok" } }`,
                    {
                        answer: (e) => (e.kind === "model" ? turn(4, { usd: 0.001 }) : usual(e)),
                        pick: (waiting) =>
                            Math.max(
                                0,
                                waiting.findIndex((e) => e.kind === "sleep"),
                            ),
                        options: { prices: priced },
                    },
                ),
            );
        const long = "x".repeat(4000);
        expect([broken("3000 tokens", "q"), broken("3000 tokens", long)]).toEqual(["ok", "limit.tokens"]);
        expect([broken("0.02 usd", "q"), broken("0.02 usd", `${long}${long}`)]).toEqual(["ok", "limit.cost"]);
    });

    test("a model that does not say what it used needs turns or time beside tokens", () => {
        const silent = (e: Effect): Outcome =>
            e.kind === "model" ? { ok: true, value: { text: "hi", finish: "stop", model: "m" }, origins: [] } : usual(e);
        const of = (spend: string): Json =>
            value(run(`main agent A { ${WITH} main func() { spend ${spend} { ${ASK} }  "ok" } }`, { answer: silent }));
        expect(of("100 tokens")).toMatch(
            /^limit\.tokens: the region's budget of 100 tokens cannot be kept: the model does not say how many tokens it used/,
        );
        expect(of("1 usd")).toMatch(/^limit\.cost/);
        const { result } = run(`main agent A { ${WITH} main func() { spend 1 usd { ${ASK} } } }`, { answer: silent });
        expect(result.ok ? null : result.failure.hint).toMatch(/^give the price of the model in `prices` of remit\.json, or bound it by/);
        // what one turn showed of the bound of a run holds for those beside it: no further one is paid for
        const wide = `main agent A { ${WITH} main func() { parallel for n in [1, 2, 3, 4] max 4 { ${ASK} } } }`;
        const ran = run(wide, { answer: silent, options: { limits: { usd: 1 }, concurrency: 1 } });
        expect(ran.result.ok ? null : ran.result.failure.message).toContain("does not say what it cost");
        expect(ran.effects.filter((e) => e.kind === "model")).toHaveLength(1);
        expect(of("100 tokens, 3 turns")).toBe("ok");
        expect(of("100 tokens, 1 min")).toBe("ok");
    });
});

describe("time", () => {
    const timed = (e: Effect): boolean => e.kind === "sleep";
    const first = (waiting: readonly Effect[]): number => Math.max(0, waiting.findIndex(timed));

    test("is slept for while the region is open, and withdrawn with it", () => {
        const form = formOf(IMPORTS + main(`spend 2 s { T.get(1) }\nT.get(2)`), true);
        const ran = runAll(form, { answer: usual, pick: patient });
        expect(ran.effects.map((e) => `${e.kind} ${e.path}`)).toEqual([
            "sleep main/spend#0/time",
            "tool main/T.get#0",
            "tool main/T.get#1",
        ]);
        expect(ran.effects[0]?.request).toEqual({ ms: 2000 });
        expect(ran.result.ok).toBe(true);
    });

    test("its end ends the region at once, with all that goes on inside, and only what is around catches it", () => {
        const ran = run(
            main(
                `try { spend 2 s {
                    parallel for x in [1, 2, 3] max 3 { try { B(x) } catch e { return "caught" } }
                 } } catch e { return [e.kind, e.detail] }`,
                `agent B { remit { may all  spend 5 calls, 1 h } main func(x) { delegate all to B { spend 9 calls { T.get(x) } } } }`,
            ),
            { pick: first, options: { concurrency: 2 } },
        );
        expect(value(ran)).toEqual(["limit.time", { meter: "time", limit: 2000, used: 2000, spender: "the region at main/spend#0" }]);
        // Everything that was begun is ended: agents, regions, delegations.
        const kinds = (kind: string): number => ran.events.filter((e) => e.kind === kind).length;
        expect(kinds("agent.ended")).toBe(2);
        expect(kinds("agent.started")).toBe(2);
        expect(kinds("delegate.lifted")).toBe(kinds("delegate.granted"));
        expect(usedOf(ran, "calls")).toEqual([1, 1, 2]);
        expect(ran.effects.filter((e) => e.kind === "tool")).toHaveLength(2);
    });

    test("of an agent's own call", () => {
        const ran = run(
            main(`try { B() } catch e { return e.message }`, `agent B { remit { may all  spend 3 min } main func() { T.get(1) } }`),
            { pick: first },
        );
        expect(value(ran)).toBe("the 3 min of B are over");
    });

    test("while other fibers go on", () => {
        const ran = run(
            main(`parallel for x in [1, 2] max 2 { if x == 1 { try { spend 1 s { T.get(x) } } catch e { return "late" } }  T.get(x) }`),
            { pick: first },
        );
        expect(value(ran)).toEqual(["late", 1]);
    });
});
