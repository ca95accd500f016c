/** Lists and objects in strict code: no alias tells what another hides (CL1 to CL6, CH1). Pairs of generated runs that differ in the secret alone. */
import { check, type Json, loadProgram, lower, type Program } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases } from "../cases.ts";
import { type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { answer, program, source, whole } from "./container-programs.ts";
import { differ, sameView, visible } from "./pairs.ts";

const ran = (text: string, secret: Json): Ran => runAll(formOf(text, true), { answer: answer(secret) });

/** Kinds of failures of runs that end in one. */
const failure = (of: Ran): string => (of.result.ok ? "none" : of.result.failure.kind);

test("iterations of a parallel for that failed under the secret do not tell it by what the handler changes", () => {
    const text = source(`l = [1]
o = { w: 1 }
try {
r = parallel for x in [1, 2] max 2 { y = [x, s]
if s > 1 { l.add(0) }
y }
} catch e { o.w = 2 }
o.w = 3
U.tell({ v: o })`);
    sameView(ran(text, 0), ran(text, 2));
});

describe("aliases of a list or object", () => {
    test("an index by the secret does not tell it by the other items", () => {
        const text = source(`seen = ["-", "-", "-", "-", "-", "-", "-", "-", "-", "-"]
seen[number(s.slice(0, 1))] = "x"
for d in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] max 10 {
    if seen[d] == "-" { U.write({ d: d }) }
}`);
        const pins = ["1234", "7777", "0001"].map((pin) => ran(text, pin));
        for (const one of pins) {
            expect(failure(one)).toBe("none");
            expect(visible(one)).toEqual(visible(pins[0] as Ran));
        }
    });

    test("a write through an alias under the secret does not tell it by the other name", () => {
        const text = source(`a = { v: ["-"] }
b = a
if s == "1" { b.v[0] = "x" }
if a.v[0] == "x" { U.write({ d: 1 }) } else { U.write({ d: 0 }) }`);
        const [one, other] = [ran(text, "1"), ran(text, "0")];
        for (const run of [one, other]) expect(failure(run)).toBe("none");
        expect(visible(one)).toEqual(visible(other));
    });

    test("what is put into a list that carries the secret carries it, too, and may be changed under it", () => {
        const text = source(`v = [0]
o = { x: 0 }
if s == "1" { o.x = 1 }
o.v = v
if s == "1" { o.v[0] = 9 }
U.write({ d: v[0] })`);
        const [one, other] = [ran(text, "1"), ran(text, "0")];
        for (const run of [one, other]) expect(failure(run)).toBe("none");
        expect(visible(one)).toEqual(visible(other));
    });

    test("a key by the secret does not tell it by the other keys, nor by how many there are", () => {
        const text = source(`o = { a: 1 }
o[s] = 2
U.write({ d: o.a, n: o.keys().length })`);
        expect(visible(ran(text, "a"))).toEqual(visible(ran(text, "b")));
    });

    test.each([
        ["raised where the ways part", 'l = [0]\nm = l\nif s == "1" { m[0] = 1 }\nU.write({ d: l[0] })', "none"],
        ["chosen by the secret", 'l = [0]\nm = [1]\nk = m\nif s == "1" { k = l }\nk[0] = 5\nU.write({ d: l[0] })', "violation.flow"],
    ])("%s", (_name, body, ends) => {
        const [one, other] = [ran(source(body), "1"), ran(source(body), "0")];
        sameView(one, other);
        expect([failure(one), failure(other)]).toContain(ends);
    });
});

// ---- generated pairs -------------------------------------------------------------------------------------------------

const secrets = fc.uniqueArray(fc.constantFrom(0, 1, 2, 3), { minLength: 2, maxLength: 2 });
const RUNS = cases(400);

/** A program, and the lines of which the checker says that a change there may be refused. */
function checkedOf(text: string): { readonly form: Program; readonly told: ReadonlySet<number> } {
    const checked = check(loadProgram("main.remit", { read: () => text, resolve: () => null }));
    const told = checked.diagnostics.filter((one) => one.code === "FLOW_MAY_BE_REFUSED");
    return { form: lower(checked), told: new Set(told.map((one) => text.slice(0, one.range.start).split("\n").length)) };
}

test("the checker tells of a change in a later pass, of what was new when an index that may fail put it there", () => {
    const text = whole(
        [
            `for x in [m[0], 1] max 3 {
for y in q max 3 {
y.add(1)
}
same(same(q))[s % 2] = [...((parallel for x in [1, 2] max 2 { y = [x, s]
if (z.keys().length > k[0]) { y[0] = 9 }
y }).find(x => x.length > 1) ?? k), l[2]]
}`,
        ],
        true,
    );
    const { form, told } = checkedOf(text);
    const refused = [0, 1, 2, 3].flatMap((secret) =>
        runAll(form, { answer: answer(secret) }).events.flatMap(({ kind, site }) => (kind === "policy.denied" ? [site?.line] : [])),
    );
    expect(new Set(refused)).toEqual(new Set([text.split("\n").indexOf("y.add(1)") + 1]));
    expect([...told]).toEqual(expect.arrayContaining(refused));
});

describe("generated pairs of runs", () => {
    test("look the same to an observer who may not see the secret in which they differ, and the checker tells of each change that is refused", () => {
        let refused = 0;
        let telling = 0;
        fc.assert(
            fc.property(program, secrets, ([statements, caught], [one, other]) => {
                const { form, told } = checkedOf(whole(statements, false));
                const both = (form: Program): [Ran, Ran] => [
                    runAll(form, { answer: answer(one as number) }),
                    runAll(form, { answer: answer(other as number) }),
                ];
                const runs = both(form);
                for (const { result } of runs) {
                    if (result.ok || result.failure.kind !== "violation.flow") continue;
                    refused++;
                    expect([...told]).toContain(result.failure.site?.line);
                }
                sameView(...(caught ? both(formOf(whole(statements, true), true)) : runs));
                if (differ(...both(formOf(whole(statements, caught).replace("flow strict", ""), true)))) telling++;
            }),
            { numRuns: RUNS },
        );
        expect(refused).toBeGreaterThan(RUNS / 40);
        // Where control flow carries no labels, 49 % of the pairs tell the secret.
        expect(telling / RUNS).toBeGreaterThan(0.3);
    });

    test("are each the same run however they are sliced, saved and compiled", () => {
        fc.assert(
            fc.property(program, fc.constantFrom(0, 2), fc.integer({ min: 1, max: 9 }), ([statements, caught], secret, slice) => {
                const form = formOf(whole(statements, caught), true);
                const of = { answer: answer(secret) };
                const first = runAll(form, of);
                expect(runAll(form, { ...of, options: { slice } })).toEqual(first);
                expect(runAll(form, { ...of, saving: true, options: { slice: slice * 5 } })).toEqual(first);
                expect(runAll(form, { ...of, options: { mode: "frames" } })).toEqual(first);
            }),
            { numRuns: cases(60) },
        );
    });
});
