/** Lists and objects in strict code: no alias tells what another hides (CL1 to CL6, CH1). Pairs of generated runs that differ in the secret alone. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases } from "../cases.ts";
import { type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { answer, checkedOf, pairOf, program, source, whole } from "./container-programs.ts";
import { sameView, secrets, visible } from "./pairs.ts";

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

const RUNS = cases(400);

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
            fc.property(program, secrets, ([statements, caught], both) => {
                const found = pairOf(statements, caught, both);
                refused += found.refused;
                if (found.tells) telling++;
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
