/** Laws of fragments, and what a plan must be to run. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { finalise } from "../../src/plan/finalise.ts";
import { type Fragment, fanout, IDENTITY, sequence, single } from "../../src/plan/fragment.ts";
import type { Plan, PlanNode } from "../../src/plan/plan.ts";
import { validatePlan } from "../../src/plan/validate.ts";

const fragments = fc.letrec<{ any: Fragment<string>; one: Fragment<string> }>((tie) => ({
    one: fc.constantFrom("a", "b", "c").map((name) => single(name)),
    any: fc.oneof(
        { maxDepth: 4 },
        tie("one"),
        fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((list) => sequence(...list)),
        fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((list) => fanout(list)),
    ),
})).any;

test("FG1: the identity changes nothing, and sequence is associative", () => {
    fc.assert(
        fc.property(fragments, fragments, fragments, (a, b, c) => {
            expect(sequence(IDENTITY, a)).toEqual(a);
            expect(sequence(a, IDENTITY)).toEqual(a);
            expect(sequence(sequence(a, b), c)).toEqual(sequence(a, sequence(b, c)));
            expect(sequence(a, b, c)).toEqual(sequence(sequence(a, b), c));
        }),
    );
});

test("FG2: a fan-out of one is its branch", () => {
    fc.assert(fc.property(fragments, (a) => void expect(fanout([a])).toEqual(a)));
});

/** What a fragment computes, by the book: each node writes its name and what flowed in. */
const known = (call: string) => ({ call, takes: call === "b" ? 2 : 1 });
const planOf = (fragment: Fragment<string>): Plan => {
    const { nodes, out, several } = finalise(fragment, known);
    const id = (i: number): string => nodes[i]?.id ?? "?";
    return {
        version: 1,
        source: { file: "f", sha256: "h" },
        backend: "memory",
        mode: "static",
        nodes: nodes.map(
            (n): PlanNode => ({
                id: n.id,
                call: n.node ?? "join",
                args: [],
                requires: n.requires.map(id),
                join: n.join,
                site: null,
                branch: n.branch,
            }),
        ),
        results: out.map(id),
        several,
    };
};

test("CLP1, CLP2: a closed fragment is a valid plan, with the same ids each time, and joins in the order of the source", () => {
    fc.assert(
        fc.property(fragments, (a) => {
            const plan = planOf(a);
            expect(validatePlan(plan, () => true)).toEqual([]);
            expect(planOf(a)).toEqual(plan);
            const place = new Map(plan.nodes.map((node, i) => [node.id, i]));
            for (const node of plan.nodes)
                for (const one of node.requires) expect(place.get(one)).toBeLessThan(place.get(node.id) as number);
        }),
    );
});

const node = (id: string, ...requires: string[]): PlanNode => ({
    id,
    call: id.split("#")[0] as string,
    args: [],
    requires,
    join: requires.length > 1 ? "list" : "none",
    site: { file: "f.remit", line: 3, column: 1, endLine: 3, endColumn: 2 },
});
const plan = (nodes: PlanNode[], results: string[], more: Partial<Plan> = {}): Plan => ({
    version: 1,
    source: { file: "f", sha256: "h" },
    backend: "memory",
    mode: "static",
    nodes,
    results,
    several: false,
    ...more,
});
const kinds = (p: Plan, registered = true): string[] =>
    validatePlan(p, () => registered).map((e) => `${e.kind}${e.node === undefined ? "" : ` ${e.node}`}`);

test.each<[string, Plan, string[]]>([
    ["a chain", plan([node("a#0"), node("b#0", "a#0")], ["b#0"]), []],
    ["another version", plan([node("a#0")], ["a#0"], { version: 2 as 1 }), ["version"]],
    ["no node", plan([], []), ["size"]],
    ["two nodes of one id", plan([node("a#0"), node("a#0")], ["a#0"]), ["id a#0"]],
    ["a node that waits for itself", plan([node("a#0", "a#0")], ["a#0"]), ["self a#0"]],
    ["a node that waits for what is not there", plan([node("a#0", "x#0")], ["a#0"]), ["requires a#0"]],
    ["two that wait for each other", plan([node("a#0", "b#0"), node("b#0", "a#0")], ["b#0"]), ["cycle a#0"]],
    ["a node that is of no use", plan([node("a#0"), node("b#0")], ["b#0"]), ["orphan a#0"]],
    ["a join that says not how", plan([node("a#0"), node("b#0"), { ...node("c#0", "a#0", "b#0"), join: "none" }], ["c#0"]), ["join c#0"]],
    ["a result that is not there", plan([node("a#0")], ["a#0", "x#0"]), ["result"]],
    ["several mistakes at once", plan([node("a#0", "x#0"), node("b#0", "b#0")], ["b#0"]), ["requires a#0", "self b#0", "orphan a#0"]],
])("a plan is checked before it runs: %s", (_, p, errors) => {
    expect(kinds(p)).toEqual(errors);
});

test("a call that the target does not have is refused, with its line", () => {
    expect(validatePlan(plan([node("a#0")], ["a#0"]), () => false)).toMatchObject([{ kind: "call", node: "a#0", site: { line: 3 } }]);
});
