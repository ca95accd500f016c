/** Random blocks against a plain evaluator, with any order of outcomes, saved and loaded anywhere. */
import type { FlowForm, Json } from "@remit/language";
import fc from "fast-check";
import { expect, test } from "vitest";
import { call, func, list, lit, member, name, runAll, stmt } from "../run/forms.ts";
import { flowsOf } from "./arbitrary.ts";
import { block, blocks, stage } from "./blocks.ts";

const ask = func("ask", ["a"], [stmt(list(lit("ask"), member(call(member(name("T"), "get"), name("a")), "n")))]);
const wrap = func("wrap", ["a"], [stmt(list(lit("wrap"), name("a")))]);
const both = func("both", ["a", "b"], [stmt(list(lit("both"), name("a"), name("b")))]);
const FUNCS = [ask, wrap, both];

const flows = flowsOf([stage("wrap"), stage("ask"), stage("both", 7)]);

/** The value of a flow; `join`: several values came out of a fan-out. */
type Came = { readonly one: Json } | { readonly join: readonly Json[] };
const single = (came: Came): Json => ("one" in came ? came.one : [...came.join]);
function evaluate(flow: FlowForm, input: Came): Came {
    if (flow.kind === "pipe") return flow.stages.reduce((came, one) => evaluate(one, came), input);
    if (flow.kind === "fan") return { join: flow.branches.map((one) => single(evaluate(one, input))) };
    if (flow.kind === "block") return { one: single(evaluate(flow.body, { one: single(input) })) };
    if (flow.call === "both") return { one: ["both", 7, single(input)] };
    return { one: flow.call === "ask" ? ["ask", "?"] : ["wrap", single(input)] };
}

test("PLN1: a block gives what its stages give, whatever order outcomes come in, saved and loaded anywhere", () => {
    fc.assert(
        fc.property(fc.array(flows, { minLength: 1, maxLength: 2 }), fc.infiniteStream(fc.nat()), fc.nat(3), (bodies, picks, saving) => {
            const p = blocks(
                bodies.map((body) => block(body)),
                FUNCS,
            );
            const pick = (waiting: readonly unknown[]): number => (picks.next().value as number) % waiting.length;
            const answer = () => ({ ok: true, value: { n: "?" }, origins: [] }) as const;
            const ran = runAll(p, { options: { input: 1, concurrency: 3 }, pick, answer, saving: saving === 0 ? false : saving });
            const values = bodies.map((body) => single(evaluate(body, { one: 1 })));
            expect(ran.result).toMatchObject({ ok: true, value: bodies.length === 1 ? values[0] : values });
        }),
        { numRuns: 150 },
    );
});
