/** SES2: calls that go over one session at once have their turns one after another, in an order that a replay and a loaded run share. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases } from "../cases.ts";
import { answer, end, events, failed, handshakes, kind, once, type Answering, run, turns, withFixer } from "./handing.ts";

const ONE = withFixer("return Fixer.yield(a: 1) with { turns: 40 }");
const many = answer('return parallel for x in [1, 2, 3, 4] max 4 { agent.send("q" + text(x)) }', "a");
const asked = (turn: { prompt: readonly { text: string }[] }): string => turn.prompt[0]?.text ?? "";
const echoes: Answering = (turn) => (turn.turn === 0 ? many : `re ${asked(turn)}`);

describe("turns of one session", () => {
    test("never two at once, whoever asks for them at once", () => {
        for (const pick of [() => 0, (waiting: readonly unknown[]) => waiting.length - 1]) {
            let most = 0;
            const ran = once(ONE, {
                agents: echoes,
                pick: (waiting) => {
                    most = Math.max(most, waiting.filter((e) => e.kind === "agent").length);
                    return pick(waiting);
                },
            });
            expect(most).toBe(1);
            expect(end(ran)).toEqual(["re q1", "re q2", "re q3", "re q4"]);
            expect(turns(ran).map((t) => [t.turn, t.session])).toEqual([0, 1, 2, 3, 4].map((n) => [n, "main/Fixer.yield#0"]));
            expect(turns(ran).slice(1).map(asked)).toEqual(["q1", "q2", "q3", "q4"]);
        }
    });

    test("saved and loaded between them, on frames and in slices: the same run", () => {
        expect(end(run(ONE, { agents: echoes, options: { concurrency: 3 } }))).toEqual(["re q1", "re q2", "re q3", "re q4"]);
    });

    test("a handshake that waited says what holds when its turn comes", () => {
        const nested = answer("return parallel for x in [1, 2, 3] max 3 { agent.yield(n: x) -> number }", "a");
        const ran = run(withFixer("return Fixer.yield(a: 1) with { turns: 4 }"), {
            agents: (turn) => (turn.turn === 0 ? nested : answer("return n * 10", "n")),
        });
        expect(end(ran)).toEqual([10, 20, 30]);
        expect(handshakes(ran).map((h) => [h.turn, (h.limits as { turns: number }).turns])).toEqual([
            [0, 4],
            [1, 3],
            [2, 2],
            [3, 1],
        ]);
        expect(handshakes(ran).map((h) => Object.keys(h.skills as object))).toEqual([["protocol"], [], [], []]);
    });

    test("an answer that goes back is repaired before anybody else's turn", () => {
        const nested = answer("return parallel for x in [1, 2] max 2 { agent.yield(n: x) }", "a");
        const said = [nested, "no", answer("return n", "n"), answer("return n * 10", "n")];
        const ran = run(ONE, { agents: said });
        expect(end(ran)).toEqual([1, 20]);
        expect(turns(ran).map((t) => t.prompt.length)).toEqual([2, 2, 1, 2]);
    });

    test("one that fails, and turns that are used up, leave the turn to the next", () => {
        const tries = answer(
            'return parallel for x in [1, 2, 3] max 3 { r = try { agent.send("q" + text(x)) } catch e { e.kind }\n r }',
            "a",
        );
        const ran = run(ONE, { agents: (turn) => (turn.turn === 0 ? tries : turn.turn === 2 ? failed("timeout") : "fine") });
        expect(end(ran)).toEqual(["fine", "timeout", "fine"]);
        const spent = run(withFixer("return try { Fixer.yield(a: 1) with { turns: 3 } } catch e { [e.kind] }"), { agents: [tries, "x"] });
        expect(end(spent)).toEqual(["limit.turns"]);
        expect(turns(spent)).toHaveLength(3);
        expect(events(spent, "yield.closed")).toMatchObject([{ ok: false, kind: "limit.turns", turns: 3 }]);
    });

    test("an agent of the program is asked one thing after another too", () => {
        const inner = JSON.stringify('func answer(agent, a) { parallel for x in [1, 2, 3] max 3 { agent.send("q" + text(x)) } }');
        const ran = run(
            `agent Stub { main func(x) { if text(x).starts_with("q") { return "re " + x }  return ${inner} } }
             main agent A { main func(input) { return Stub.yield(a: 1) with { turns: 9 } } }`,
        );
        expect(end(ran)).toEqual(["re q1", "re q2", "re q3"]);
        expect(events(ran, "agent.asked").map((e) => e.turn)).toEqual([0, 1, 2, 3]);
    });

    test("time that is up for one that waits takes it out of the queue", () => {
        const text = answer(
            "return parallel for x in [1, 2, 3] max 3 { r = try { agent.yield(n: x) with { time: 1 min } -> number } catch e { e.kind }\n r }",
            "a",
        );
        // The second one's time is up while the first one's turn goes on.
        const ran = once(ONE, {
            agents: (turn) => (turn.turn === 0 ? text : answer("return n", "n")),
            world: (e) => (e.kind === "sleep" ? { ok: true, value: null, origins: [] } : undefined),
            pick: (waiting) => {
                const late = waiting.findIndex((e) => e.kind === "sleep" && e.path.includes("parallel[1]"));
                const busy = waiting.some((e) => e.kind === "agent" && e.path.includes("parallel[0]"));
                return busy && late >= 0 ? late : waiting.findIndex((e) => e.kind !== "sleep");
            },
        });
        expect(end(ran)).toEqual([1, "limit.time", 3]);
        expect(turns(ran)).toHaveLength(3);
    });

    test("any outcomes in any order, saved and loaded anywhere: one at a time, and the same run twice", () => {
        const body = (kinds: readonly number[], width: number): string =>
            `return parallel for x in [${kinds.map((_, i) => i).join(", ")}] max ${kinds.length} {
                r = none
                ${kinds.map((k, i) => `if x == ${i} { ${["r = agent.send(text(x))", "r = agent.yield(n: x) -> number", 'r = agent.send("a") + agent.send("b")', "r = try { agent.yield(n: x) -> string } catch e { e.kind }"][k] ?? ""} }`).join("\n")}
                [r, ${width}]
             }`;
        let ended = 0;
        const agents: Answering = (turn) =>
            turn.prompt.length === 2 ? answer("return n", "n") : /not valid/.test(asked(turn)) ? "again no" : `re ${asked(turn)}`;
        fc.assert(
            fc.property(
                fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
                fc.integer({ min: 1, max: 4 }),
                fc.array(fc.nat(5), { minLength: 1, maxLength: 12 }),
                fc.constantFrom(true, 2),
                (kinds, concurrency, order, saving) => {
                    const one = (more: { saving?: boolean | number }): ReturnType<typeof once> => {
                        let i = 0;
                        let most = 0;
                        const ran = once(ONE, {
                            ...more,
                            options: { concurrency },
                            agents: (turn, effect) => (turn.turn === 0 ? answer(body(kinds, concurrency), "a") : agents(turn, effect)),
                            pick: (waiting) => {
                                most = Math.max(most, waiting.filter((e) => e.kind === "agent").length);
                                return (order[i++ % order.length] as number) % waiting.length;
                            },
                        });
                        expect(most).toBe(1);
                        return JSON.parse(JSON.stringify(ran)) as typeof ran;
                    };
                    const straight = one({});
                    if (straight.result.ok) ended++;
                    expect(one({})).toEqual(straight);
                    expect(one({ saving })).toEqual(straight);
                },
            ),
            { numRuns: cases(25) },
        );
        // The answer is valid, and runs.
        expect(ended).toBeGreaterThan(cases(25) / 4);
    });

    test("sessions beside one another do not wait for one another", () => {
        const text = withFixer('return parallel for x in [1, 2, 3] max 3 { Fixer.send("q" + text(x)) }');
        let most = 0;
        const ran = once(text, {
            agents: ["x"],
            pick: (waiting) => {
                most = Math.max(most, waiting.length);
                return 0;
            },
        });
        expect(most).toBe(3);
        expect(kind(ran)).toEqual(["x", "x", "x"]);
    });
});

describe("sessions that an answer opens draw on the turns of the session that it is in", () => {
    /** Each session that is opened is answered by `1` at once; the first one by the attack. */
    const attacked = (program: string, first: string): ReturnType<typeof run> =>
        run(program, { yes: "once", agents: (turn) => (turn.session === "main/Fixer.yield#0" ? first : answer("return 1", "a")) });
    const tries = (call: string): string => `loop until false max 50 { x = try { ${call} } catch e { 1 } }\nreturn 1`;
    const body = "return try { Fixer.yield(a: 1) with { turns: 5 } } catch e { [e.kind, e.message] }";
    const TWO = 'import agent Two from "acp://two" { remit { may Fixer } }';

    test.each<[string, string, string]>([
        ["itself", withFixer(body, "", " { remit { may Fixer } }"), answer(tries("Fixer.yield(a: a)"), "a")],
        ["itself, by a text", withFixer(body, "", " { remit { may Fixer } }"), answer(tries('Fixer.send("x")'), "a")],
        [
            "itself, with turns of its own",
            withFixer(body, "", " { remit { may Fixer } }"),
            answer(tries("Fixer.yield(a: a) with { turns: 999 }"), "a"),
        ],
        [
            "itself, side by side",
            withFixer(body, "", " { remit { may Fixer } }"),
            answer(
                "x = parallel for n in [1, 2, 3, 4, 5, 6, 7, 8, 9] max 9 { y = try { Fixer.yield(a: n) } catch e { 1 }\ny }\nreturn 1",
                "a",
            ),
        ],
        ["another agent", withFixer(body, TWO, " { remit { may Two } }"), answer(tries("Two.yield(a: a)"), "a")],
        [
            "another, by an agent of the program",
            withFixer(
                body.replace("a: 1", "a: Pass"),
                `${TWO}\nagent Pass { func go(x) { return Two.yield(a: x) } }`,
                " { remit { may Pass.go } }",
            ),
            answer(tries("a.go(1)"), "a"),
        ],
        [
            "another, by a function that it was passed",
            withFixer(body.replace("a: 1", "a: go"), `${TWO}\nfunc go(x) { return Two.yield(a: x) }`),
            answer(tries("a(1)"), "a"),
        ],
    ])("%s", (_, program, first) => {
        const ran = attacked(program, first);
        expect(end(ran)).toEqual(["limit.turns", expect.stringMatching(/Fixer's 5 turns are used up, by \w+ at main\//)]);
        expect(turns(ran)).toHaveLength(5);
    });

    test("round in a ring, each opening the next", () => {
        const ran = run(withFixer(body, TWO, " { remit { may Two } }"), {
            agents: (turn) => answer(`return ${turn.agent.name === "Two" ? "Fixer" : "Two"}.yield(a: a)`, "a"),
        });
        // The second session has four of its own: of those that are used up at once the innermost is named.
        expect(end(ran)).toEqual(["limit.turns", expect.stringMatching(/^Two's 4 turns are used up, by \w+ at main\//)]);
        expect(turns(ran)).toHaveLength(5);
    });

    test("what is left is what an inner agent is told of, repairs count, and what the outer agent asks next", () => {
        const inner = [answer("retrun 1", "a"), answer("return 1", "a")];
        const ran = run(withFixer(body, TWO, " { remit { may Two } }"), {
            agents: (turn) =>
                turn.agent.name === "Two"
                    ? (inner[turn.turn] as string)
                    : turn.turn === 0
                      ? answer('return [Two.yield(a: a), agent.send("x"), agent.send("y")]', "a")
                      : "re",
        });
        expect(end(ran)).toEqual([1, "re", "re"]);
        expect(handshakes(ran).map((h) => (h.limits as { turns: number }).turns)).toEqual([5, 4]);
        expect(turns(ran)).toHaveLength(5);
    });

    test("an answer that no turn is left to repair is told as that", () => {
        const ran = run(withFixer(body, TWO, " { remit { may Two } }"), {
            agents: (turn) =>
                turn.agent.name === "Two" ? "no function" : answer("return try { Two.yield(a: a) } catch e { e.kind }", "a"),
        });
        expect(end(ran)).toBe("invalid_payload");
        expect(turns(ran)).toHaveLength(5);
    });

    test("the code of the program's author around a session is bound by what it says itself", () => {
        const program = withFixer(
            "return Pass.yield(a: 1)",
            'agent Pass { main func(x) { r = 0\nrepeat * 9 { r = Fixer.send("x") }\nreturn "func answer(agent, a) { 7 }" } }',
        );
        const ran = run(program, { agents: ["x"] });
        expect(end(ran)).toBe(7);
        expect(turns(ran)).toHaveLength(9);
    });
});
