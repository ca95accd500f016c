/** M4, SES1, SES2, DN1: random programs that hand over control are the same run, however they are saved, loaded, sliced and compiled. */
import type { Json, Program } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentTurn, Effect, Outcome } from "../../src/index.ts";
import { echo, type How, type Ran, runAll } from "./forms.ts";
import { answer, failed, METHODS, remit, replied, said } from "./handing.ts";
import { randomHandovers } from "./random.ts";

/** One of its methods is asked about. */
const USES = answer('return try { q.write("a") } catch e { e.kind }', "p", "q");
const ANSWERS: readonly string[] = [
    answer("return p", "p", "q"),
    answer("n = 0\nfor x in [1, 2, 3] max 3 { n = n + x }\nreturn n", "p", "q"),
    answer("i = 0\nrepeat * 40 { i += 1 }\nreturn [i, p]", "q", "p"),
    answer('return agent.send("more")', "p", "q"),
    answer("return [agent.yield(p: p, q: 1)]", "p", "q"),
    answer("return try { agent.yield(p: 1, q: q) -> number } catch e { e.kind }", "p", "q"),
    answer("return parallel for x in [1, 2, 3] max 3 { agent.send(text(x)) }", "p", "q"),
    answer("return parallel for x in [1, 2] max 2 { r = try { agent.yield(p: x, q: 2) } catch e { e.message }\n r }", "p", "q"),
    answer('raise "no"', "p", "q"),
    USES,
    answer("return try { q(1, 2) } catch e { e.kind }", "p", "q"),
    answer('define d = func(a, b) { [a, b, "written"] }\nreturn 1', "p", "q"),
    answer('define f0 = func(a, b) { xs = [a]\n xs.add("anew")\n xs } keep\nreturn 2', "p", "q"),
    answer('return act("d", { a: p, b: 2 })', "p", "q"),
    remit("shape P { x: number }\nfunc twice(p: P) { return p.x * 2 }\nmain func start(agent, p, q) { return twice({ x: 4 }) }"),
    "no function at all",
    '```json\n{"name":"f","params":[{"name":"agent"},{"name":"p"},{"name":"q"}],"effects":[],"body":[{"kind":"return","value":{"kind":"name","name":"p"}}]}\n```',
];

/** A number that follows from a text alone. */
function hash(text: string): number {
    let h = 7;
    for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) % 1_000_003;
    return h;
}

/** `salt` varies what is said. All follows from the path, so that every run of a program hears the same. */
const world =
    (salt: number) =>
    (effect: Effect): Outcome => {
        const h = hash(`${salt} ${effect.path}`);
        const request = effect.request as { op?: string };
        if (effect.kind === "ask") return said(["once", "session", "deny"][h % 3] as Json, ["user"]);
        if (effect.kind === "author") return said({ file: "kept" }, []);
        if (request.op === "describe") return h % 5 === 0 ? failed("unreachable") : said(METHODS, ["tool:T"]);
        if (effect.kind !== "agent") return echo(effect);
        const { prompt } = effect.request as unknown as AgentTurn;
        if (h % 17 === 0) return failed((["timeout", "refusal", "limit.tokens"] as const)[h % 3] as "timeout");
        const hasTool = prompt[1]?.text.includes('"kind":"tool"') === true;
        if (hasTool && h % 2 === 0) return replied(USES, {}, "F");
        const isHandshake = prompt.length === 2 || /not valid/.test(prompt[0]?.text ?? "");
        return replied(isHandshake ? (ANSWERS[h % ANSWERS.length] as string) : `said ${h % 10}`, {}, "F");
    };

const plain = (ran: Ran): Json => JSON.parse(JSON.stringify(ran)) as Json;
const go = (p: Program, salt: number, how: How = {}): Ran =>
    runAll(p, {
        ...how,
        answer: world(salt),
        options: { ...how.options, limits: { bytes: 3_000_000, calls: 200, ...how.options?.limits } },
    });

describe("a run that hands over control, however it is run", () => {
    const salts = fc.nat(50);
    test("saved, printed, loaded and continued at every effect, every answer and every slice", () => {
        fc.assert(
            fc.property(randomHandovers, salts, fc.constantFrom(1_000_000, 25), (p, salt, slice) => {
                expect(plain(go(p, salt, { saving: true, options: { slice } }))).toEqual(plain(go(p, salt)));
            }),
            { numRuns: 40 },
        );
    });

    test("loaded from an image and the deltas after it", () => {
        fc.assert(
            fc.property(randomHandovers, salts, fc.integer({ min: 2, max: 7 }), (p, salt, saving) => {
                expect(plain(go(p, salt, { saving, options: { slice: 20 } }))).toEqual(plain(go(p, salt)));
            }),
            { numRuns: 20 },
        );
    });

    test("as closures and on frames, and twice", () => {
        fc.assert(
            fc.property(randomHandovers, salts, (p, salt) => {
                const straight = plain(go(p, salt));
                expect(plain(go(p, salt, { options: { mode: "frames" } }))).toEqual(straight);
                expect(plain(go(p, salt))).toEqual(straight);
            }),
            { numRuns: 30 },
        );
    });

    test("the programs get somewhere: all that is tried happens in some of them", () => {
        const seen = new Map<string, number>();
        const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
        for (const [i, p] of fc.sample(randomHandovers, { numRuns: 60, seed: 1 }).entries()) {
            const ran = go(p, i);
            count(ran.result.ok ? "ok" : ran.result.failure.kind);
            for (const e of ran.events) {
                if (e.kind === "yield.turn") count(`turn ${(e.data as { why: string }).why}`);
                else if (e.kind === "yield.payload") count((e.data as { ok: boolean }).ok ? "taken" : "sent back");
                else count(e.kind);
            }
        }
        for (const what of [
            "ok",
            "taken",
            "sent back",
            "turn repair",
            "turn yield",
            "turn send",
            "program.changed",
            "delegate.granted",
            "parallel.ended",
            "yield.closed",
            "ask.decided",
            "budget",
        ])
            expect([what, seen.get(what) ?? 0]).toEqual([what, expect.toSatisfy((n: number) => n > 0)]);
    });
});
