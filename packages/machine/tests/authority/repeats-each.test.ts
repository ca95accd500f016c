/** A run is the same to its last event, whether each use is decided or one that was let through before is not (RPT1), and however it was saved (RPT2). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cases } from "../cases.ts";
import { type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { answers, answeringWorld } from "./repeat-answers.ts";
import { programs, worldOf } from "./repeat-programs.ts";

/** Whether a person was asked about some uses at one place, and others went through there unasked. */
function isMixed({ effects }: Ran): boolean {
    const at = new Map<string, { asked: number; used: number }>();
    for (const { kind, site } of effects) {
        const key = JSON.stringify(site);
        const here = at.get(key) ?? { asked: 0, used: 0 };
        at.set(key, { asked: here.asked + Number(kind === "ask"), used: here.used + Number(kind === "tool") });
    }
    return [...at.values()].some(({ asked, used }) => asked > 0 && used > asked);
}

test("a run in which each use is decided is the same", () => {
    let runs = 0;
    let mixed = 0;
    fc.assert(
        fc.property(programs, (of) => {
            const form = formOf(of.text, true);
            const how = worldOf(of);
            const ran = runAll(form, how);
            expect(runAll(form, { ...how, each: true })).toEqual(ran);
            expect(runAll(form, { ...how, saving: 3 })).toEqual(ran);
            runs++;
            mixed += Number(isMixed(ran));
        }),
        { numRuns: cases(40) },
    );
    expect(mixed / runs).toBeGreaterThan(0.1);
});

test("so is one in which an agent's answer uses what it was handed", () => {
    let used = 0;
    let repeated = 0;
    fc.assert(
        fc.property(answers, (of) => {
            const form = formOf(of.text, true);
            const how = answeringWorld(of);
            const kept = new Set<unknown>();
            const ran = runAll(form, {
                ...how,
                watch: ({ run: { letThrough } }) => {
                    const { set } = letThrough;
                    letThrough.set = (at, use) => {
                        if (use.c.right !== null) kept.add(at);
                        return set.call(letThrough, at, use);
                    };
                },
            });
            expect(runAll(form, { ...how, each: true })).toEqual(ran);
            expect(runAll(form, { ...how, saving: 3 })).toEqual(ran);
            used += Number(ran.effects.some(({ kind, path }) => kind === "tool" && path.includes("/answer/")));
            repeated += Number(kept.size > 0);
        }),
        { numRuns: cases(60) },
    );
    expect([used > 0, repeated > 0]).toEqual([true, true]);
});
