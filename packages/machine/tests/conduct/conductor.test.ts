/** The conductor over random programs in a simulated world: any order of outcomes, crashes, cancels and failed commits anywhere. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
    canonicalLedger,
    Compiled,
    type ConductEnd,
    Conductor,
    Machine,
    type MachineEvent,
    type News,
    type UnknownAnswer,
} from "../../src/index.ts";
import { cases } from "../cases.ts";
import { call, func, give, member, name, OPTIONS, program, runAll } from "../run/forms.ts";
import { randomProgram } from "../run/random.ts";
import { simulate } from "./simulated.ts";

const RUNS = cases(100);
const choices = fc.array(fc.nat(1000), { minLength: 30, maxLength: 200 });
/** What follows from the world, not from the program. */
const isHosts = ({ data }: MachineEvent): boolean => (data as { readonly host?: unknown } | null)?.host === true;

describe("in a simulated world", () => {
    const same = (how: Parameters<typeof simulate>[1], program: Parameters<typeof runAll>[0]): ReturnType<typeof simulate> => {
        const whole = runAll(program);
        const ran = simulate(program, how);
        expect(ran.repeated).toEqual([]);
        expect(new Set(ran.outcomes.map(({ path }) => path)).size).toBe(ran.outcomes.length);
        const { result } = whole;
        expect(ran.end).toEqual(result.ok ? { status: "done", value: result.value } : { status: "failed", failure: result.failure });
        expect(canonicalLedger(ran.events.filter((event) => !isHosts(event)))).toBe(canonicalLedger(whole.events));
        return ran;
    };

    test("D1, D5, D9: any order of outcomes and commits gives the same ledger, and the limit holds", () => {
        let most = 0;
        fc.assert(
            fc.property(randomProgram, choices, fc.integer({ min: 1, max: 6 }), (program, order, concurrency) => {
                const ran = same({ choices: order, concurrency }, program);
                expect(ran.most).toBeLessThanOrEqual(concurrency);
                most = Math.max(most, ran.most);
            }),
            { numRuns: RUNS, seed: 31 },
        );
        expect(most).toBeGreaterThan(1);
    });

    test("U1: crashed anywhere, it goes on from what was kept: nothing with an outcome is performed again", () => {
        let restarts = 0;
        fc.assert(
            fc.property(randomProgram, choices, (program, order) => {
                restarts += same({ choices: order, crashes: true }, program).restarts;
            }),
            { numRuns: RUNS, seed: 32 },
        );
        expect(restarts).toBeGreaterThan(RUNS / 2);
    });

    test("U2: performers lost anywhere: what they began is performed again or asked about, and the ledger is the same", () => {
        let [losses, asked] = [0, 0];
        fc.assert(
            fc.property(randomProgram, choices, (program, order) => {
                const ran = same({ choices: order, losing: true }, program);
                losses += ran.losses;
                asked += ran.events.filter(
                    ({ kind, data }) => kind === "ask.decided" && (data as { answer?: Json }).answer === "again",
                ).length;
            }),
            { numRuns: RUNS, seed: 35 },
        );
        expect(losses).toBeGreaterThan(RUNS / 4);
        expect(asked).toBeGreaterThan(0);
    });

    test("D3: cancelled anywhere, it goes on when it is resumed", () => {
        let restarts = 0;
        fc.assert(
            fc.property(randomProgram, choices, fc.integer({ min: 1, max: 30 }), (program, order, cancel) => {
                restarts += same({ choices: order, cancel, crashes: true }, program).restarts;
            }),
            { numRuns: RUNS, seed: 33 },
        );
        expect(restarts).toBeGreaterThan(RUNS / 2);
    });

    test("D2: commits that fail for a while are made again, and nothing is begun meanwhile", () => {
        fc.assert(
            fc.property(randomProgram, choices, (program, order) => void same({ choices: order, failing: true, crashes: true }, program)),
            { numRuns: RUNS, seed: 34 },
        );
    });
});

describe("an effect whose performer is lost", () => {
    /** One call of a tool, whose performer is lost; what a person says of it then. */
    function lost(said: UnknownAnswer | null): { readonly end: ConductEnd; readonly kinds: readonly string[] } {
        const compiled = new Compiled(program([func("main", [], [give(call(member(name("T"), "send")))])]));
        const conductor = new Conductor(Machine.start(compiled, OPTIONS), { saves: false });
        const kinds: string[] = [];
        let begun = 0;
        for (let news: News[] = []; ; ) {
            const next: News[] = [];
            for (const decision of conductor.next(0, news)) {
                if (decision.kind === "commit") {
                    kinds.push(...(decision.batch.events ?? []).map(({ kind }) => kind));
                    next.push({ kind: "committed", n: decision.n });
                } else if (decision.kind === "begin") {
                    const { path } = decision.effect;
                    const outcome = { ok: true, value: "sent", origins: [] } as const;
                    next.push(begun++ === 0 ? { kind: "lost", path, repeatable: false } : { kind: "outcome", path, outcome });
                } else if (decision.kind === "unknown") next.push({ kind: "known", path: decision.effect.path, said });
                else if (decision.kind === "ended") return { end: decision.end, kinds };
            }
            news = next;
        }
    }

    test("U2: a person says what it gave", () => {
        const { end, kinds } = lost({ answer: "done", value: "it was sent" });
        expect(end).toEqual({ status: "done", value: "it was sent" });
        expect(kinds.filter((kind) => kind.startsWith("ask."))).toEqual(["ask.requested", "ask.decided"]);
    });

    test("U2: it is performed again only where a person says so", () => {
        expect(lost({ answer: "again" }).end).toEqual({ status: "done", value: "sent" });
    });

    test("U2: the run waits where no person knows it now", () => {
        expect(lost(null).end).toMatchObject({ status: "waiting", waiting: [{ kind: "tool" }] });
    });
});
