/** COU4, COU5: counts of a run while a part of it runs elsewhere. What they are otherwise is `counts.test.ts`. */
import type { Json, Program } from "@remit/language";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, Machine, type Outcome, type RunRequest } from "../../src/index.ts";
import { Standing } from "../../src/state/delegations.ts";
import { OPTIONS } from "../run/forms.ts";
import { did, formOf, once, outcome, run, said } from "./running.ts";

const reply = (calls: readonly Json[]): Outcome => {
    const about = { text: "", model: "m" };
    return said(calls.length > 0 ? { ...about, finish: "tool", calls: [...calls] } : { ...about, finish: "stop", value: "done" }, [
        "model:M",
    ]);
};

const sent = (ran: ReturnType<typeof run>): number => did(ran).filter((one) => one === "Pay.refund").length;

describe("a part that runs elsewhere", () => {
    const blocks = (body: string): string => `
import tool Pay from "mcp://pay" { refund: at most 2 }
func pay(x) { Pay.refund({ order_id: x })  x }
func safely(x) { got = try { Pay.refund({ order_id: x })  x } catch e { e.kind }  got }
${body}
`;
    /** Carries out parts as runs of their own, as a host does. `made`: what was used in parts; `lost`: their outcomes do not come back whole. */
    const within = (form: Program, made: Effect[], lost = false) => {
        const answer = (e: Effect): Outcome | undefined => {
            if (e.kind === "ask") return said("once", ["user"]);
            if (e.kind !== "run") return undefined;
            const { entry, path, input, bindings, uses, backend } = e.request as unknown as RunRequest;
            const options = { entry, path, bindings, backend, input: input.json, ...(uses === undefined ? {} : { uses }) };
            const part = once(form, { options, answer });
            made.push(...part.effects.filter((one) => (one.request as { method?: string }).method === "refund"));
            const { uses: used } = (part.events.at(-1) as { data: Json }).data as { uses?: NonNullable<RunRequest["uses"]> };
            const came = lost || used === undefined ? {} : { uses: used };
            return part.result.ok
                ? { ok: true, value: part.result.value, origins: [], ...came }
                : { ok: false, failure: part.result.failure, ...came };
        };
        return answer;
    };
    const ran = (body: string, lost = false) => {
        const form = formOf(blocks(body));
        const made: Effect[] = [];
        const all = run(blocks(body), { options: { input: "a" }, answer: within(form, made, lost) });
        // The run is repeated in every way of saving it: one of them is looked at.
        made.length = 0;
        once(form, { options: { input: "a" }, answer: within(form, made, lost) });
        return { outcome: outcome(all), here: sent(all), there: made.length };
    };
    test.each([
        ["has what was used before", "memory static ( pay >=> pay >=> temporal static ( safely ) )", 2, 0, "denied"],
        ["gives back what it used", "memory static ( temporal static ( pay >=> pay ) >=> safely )", 0, 2, "denied"],
        ["counts in parts of its own", "memory static ( temporal static ( memory static ( pay ) >=> pay ) >=> safely )", 0, 2, "denied"],
        ["leaves what is not used", "memory static ( temporal static ( pay ) >=> pay )", 1, 1, "a"],
    ])("%s", (_what, body, here, there, value) => {
        const found = ran(body);
        expect([found.here, found.there]).toEqual([here, there]);
        expect(found.outcome).toEqual(value);
    });

    test("what can use nothing that is counted has no counts, and runs beside one that has", () => {
        const begun = (branch: string): (boolean | undefined)[] => {
            const more =
                'func echo(x) { x }\nfunc named(x) { act("Pay.refund", { order_id: x }) }\nfunc held(x) { f = Pay  f.refund({ order_id: x }) }\n';
            const form = formOf(blocks(`${more}memory static ( temporal static ( pay ) <*> temporal static ( ${branch} ) )`));
            const machine = Machine.start(new Compiled(form), { ...OPTIONS, input: "a", limits: {} });
            return machine.advance().effects.map(({ request }) => (request as { uses?: Json }).uses !== undefined);
        };
        expect(begun("echo")).toEqual([true, false]);
        for (const one of ["pay", "named", "held"]) expect([one, begun(one)]).toEqual([one, [true]]);
    });

    test.each([
        ["within what is left", "memory static ( temporal static ( pay ) <*> pay )", 1, 1, ["a", "a"]],
        ["beyond it", "memory static ( temporal static ( pay >=> pay ) <*> safely )", 0, 2, ["a", "denied"]],
        ["inside a part", "temporal static ( temporal static ( pay ) <*> pay )", 0, 2, ["a", "a"]],
        [
            "inside a part beside another",
            "memory static ( temporal static ( temporal static ( pay ) <*> safely ) <*> safely )",
            0,
            2,
            [["a", "a"], "denied"],
        ],
    ])("COU5: what is used beside it waits for the counts: %s", (_what, body, here, there, value) => {
        expect(ran(body)).toEqual({ here, there, outcome: value });
    });

    test("COU5: what waits ends with the block where the part fails", () => {
        const fails = (x: string): string =>
            `func fails(x) { pay(x)  raise "broken" }\nmemory static ( temporal static ( fails ) <*> ${x} )`;
        for (const branch of ["pay", "safely"]) expect([branch, ran(fails(branch)).outcome]).toEqual([branch, "raised"]);
    });

    test("COU5: what waits is refused where the part does not bring the counts back", () => {
        expect(ran("memory static ( temporal static ( pay ) <*> safely )", true)).toEqual({ outcome: ["a", "denied"], here: 0, there: 1 });
    });

    test("COU5: a use that waits ends with the time of what is around it", () => {
        const bounded = "func bounded(x) { got = try { spend 1 min { Pay.refund({ order_id: x })  x } } catch e { e.kind }  got }";
        const form = formOf(blocks(`${bounded}\nmemory static ( temporal static ( pay ) <*> bounded )`));
        const machine = Machine.start(new Compiled(form), { ...OPTIONS, input: "a", limits: {} });
        const told = (kind: string, value: Json, uses?: NonNullable<RunRequest["uses"]>): ReturnType<Machine["advance"]> => {
            const path = machine.pending.find((one) => one.kind === kind)?.path as string;
            expect(machine.resolve(path, { ...said(value, []), ...(uses === undefined ? {} : { uses }) })).toBe(true);
            return machine.advance();
        };
        machine.advance();
        told("tool", { methods: [{ name: "refund", input: { type: "object", properties: { order_id: {} } } }] });
        expect(machine.pending.map(({ kind }) => kind)).toEqual(["run", "sleep"]);
        told("sleep", null);
        expect(told("run", "a", [])).toMatchObject({ state: "done", result: { ok: true, value: ["a", "limit.time"] } });
    });

    describe("COU5: a call that a model makes in its turn waits for the counts", () => {
        const MODEL = `import llm M from "openai://m"
agent Clerk { model M  role "r"  description "d"  func turn(x) { generate({ input: x, tools: [Pay.refund] }) } }
func turn(x) { Clerk.turn(x) }
func find(x) { Pay.find({})  x }
func bounded(x) { got = try { spend 1 min { Clerk.turn(x) } } catch e { e.kind }  got }
func fails(x) { pay(x)  raise "broken" }
`;
        const FIRST = ["model", "tool", "sleep", "ask", "run"];
        const isRefund = (e: Effect): boolean => (e.request as { method?: string }).method === "refund";
        /** What is pending longest of the first of the kinds has its outcome first: a part has its own last. */
        const turned = (body: string, { lost = false, gate = "may", first = FIRST } = {}) => {
            const source = blocks(`${MODEL}${body}`).replace("at most 2", `at most 2, refund: ${gate}`);
            const parts = within(formOf(source), [], lost);
            const ran = run(source, {
                options: { input: "a" },
                pick: (all) => first.map((kind) => all.findIndex((e) => e.kind === kind)).find((at) => at >= 0) ?? 0,
                answer: (e) => {
                    if (e.kind !== "model") return parts(e);
                    return reply(e.path.includes("turn[") ? [] : [{ id: "c", name: "Pay_refund", args: { order_id: "m" } }]);
                },
            });
            const read = ran.effects.filter((e) => e.kind === "model").map((e) => JSON.stringify(e.request));
            const told = ["was used 2 times", "has the counts"].filter((words) => read.at(-1)?.includes(words));
            return { here: ran.effects.filter(isRefund).length, told, outcome: outcome(ran) };
        };

        test.each([
            ["within what is left", "memory static ( temporal static ( pay ) <*> turn )", {}, 1, [], ["a", "done"]],
            ["beyond it", "memory static ( temporal static ( pay >=> pay ) <*> turn )", {}, 0, ["was used 2 times"], ["a", "done"]],
            [
                "beside a use of the program",
                "memory static ( temporal static ( pay ) <*> turn <*> safely )",
                {},
                1,
                [],
                ["a", "done", "denied"],
            ],
            ["once it was asked about", "memory static ( temporal static ( pay ) <*> turn )", { gate: "ask" }, 1, [], ["a", "done"]],
            [
                "where the part began while a person was asked",
                "memory static ( find >=> temporal static ( pay ) <*> turn )",
                { gate: "ask", first: ["model", "tool", "ask", "run"] },
                1,
                [],
                ["a", "done"],
            ],
            [
                "that do not come back",
                "memory static ( temporal static ( pay ) <*> turn )",
                { lost: true },
                0,
                ["has the counts"],
                ["a", "done"],
            ],
            ["until the part fails", "memory static ( temporal static ( fails ) <*> turn )", {}, 0, [], "raised"],
            [
                "until the time is up of what is around it",
                "memory static ( temporal static ( pay ) <*> bounded )",
                {},
                0,
                [],
                ["a", "limit.time"],
            ],
        ])("%s", (_what, body, how, here, told, value) => {
            expect(turned(body, how)).toEqual({ here, told, outcome: value });
        });
    });

    test("two at once do not use the same count, and nothing is used beside one", () => {
        expect(ran("memory static ( temporal static ( pay >=> safely ) <*> temporal static ( safely >=> safely ) )")).toMatchObject({
            there: 2,
        });
        expect(ran("memory static ( temporal static ( pay >=> pay ) <*> safely )")).toMatchObject({ here: 0, there: 2 });
    });

    test("what a part used that nothing tells of stays used", () => {
        expect(ran("memory static ( temporal static ( pay ) >=> safely )", true)).toEqual({ outcome: "denied", here: 0, there: 1 });
    });

    test("one that failed and may go on keeps the counts, and what it used is counted once", () => {
        const standing = new Standing();
        standing.count(["refund"], 1);
        expect(standing.lend("main/block#0")).toEqual([["refund", 1]]);
        expect(standing.lend("main/block#1")).toBeNull();
        standing.cameBack("main/block#0", [["refund", 2]]);
        standing.keepsCounts("main/block#0");
        expect([standing.isAway, standing.uses.get("refund")]).toEqual([true, 3]);
        const again = new Standing();
        again.restore(JSON.parse(JSON.stringify(standing.doc())));
        again.lend("main/block#0");
        again.cameBack("main/block#0", [["refund", 4]]);
        expect([again.isAway, again.uses.get("refund")]).toEqual([false, 5]);
    });
});
