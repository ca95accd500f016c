/** A yield: what is sent, what an answer may be, what its value is, and how it fails. */
import { describe, expect, test } from "vitest";
import { answer, did, end, events, failed, handshake, kind, origins, remit, replied, run, turns, withFixer } from "./handing.ts";

const ONE = withFixer("return Fixer.yield(a: input)");

describe("a yield gives what the function of the agent gives", () => {
    test("a value of the arguments, with the agent among its origins", () => {
        const ran = run(withFixer("x = Fixer.yield(log: input, n: 2)\nreturn x"), {
            options: { input: "boom" },
            agents: [answer("return { log: log, twice: n * 2 }", "log", "n")],
        });
        expect(end(ran)).toEqual({ log: "boom", twice: 4 });
        expect(origins(ran)).toEqual(["agent:Fixer", "user"]);
        expect(events(ran, "yield.opened")).toMatchObject([{ agent: "Fixer", by: "yield", params: ["log", "n"] }]);
        expect(events(ran, "yield.closed")).toMatchObject([{ ok: true, turns: 1 }]);
    });

    test("F16: what it gives is checked against what is expected", () => {
        const text = withFixer('return Fixer.yield(a: 1) -> { action: "retry" | "stop", n: number }');
        expect(end(run(text, { agents: [answer('return { action: "retry", n: 3 }', "a")] }))).toEqual({ action: "retry", n: 3 });
        const wrong = run(text, { agents: [answer('return { action: "explode", n: 3 }', "a")] });
        expect(kind(wrong)).toBe("contract");
        expect(end(wrong)).toMatch(/Fixer gave what is not expected/);
        // Nothing takes the failure: the session stays as it is, for the run to go on.
        expect(events(wrong, "yield.closed")).toEqual([]);
        const caught = withFixer("x = try { Fixer.yield(a: 1) -> { n: number } } catch e { e.kind }\nreturn x");
        expect(events(run(caught, { agents: [answer("return { n: none }", "a")] }), "yield.closed")).toMatchObject([
            { ok: false, kind: "contract", turns: 1 },
        ]);
    });

    test("F16: a value outside the contract can be caught", () => {
        const text = withFixer("x = try { Fixer.yield(a: 1) -> number } catch e { e.kind }\nreturn x");
        expect(end(run(text, { agents: [answer('return "many"', "a")] }))).toBe("contract");
    });

    test("what an answer names and was not passed is told with what was", () => {
        const wrong = run(ONE, { agents: [answer("return Repo.read({})", "a"), answer("return a", "a")] });
        expect(events(wrong, "yield.payload")[0]).toMatchObject({
            ok: false,
            errors: [expect.stringContaining("an answer sees what was passed to it, by its parameters: agent, a;")],
        });
        expect(end(run(ONE, { agents: [answer('return act("Repo.read", {}).content[0].text', "a")] }))).toBe(
            "there is no tool 'Repo.read'; a tool that was passed is called by its parameter, not by act()",
        );
    });

    test("a constant carries the agent, and so does everything that it computes without any argument", () => {
        for (const body of [
            "return 7",
            'return "a" + "b"',
            "n = 0\nfor x in [1, 2] max 9 { n = n + x }\nreturn [n]",
            "return none",
            "return true",
        ]) {
            const ran = run(ONE, { options: { inputLabels: [] }, agents: [answer(body, "a")] });
            expect([body, origins(ran)]).toEqual([body, ["agent:Fixer"]]);
        }
    });

    test("shapes of the program are those of its contract", () => {
        const text = withFixer("return Fixer.yield(a: 1) -> Found", "shape Found { where: string, lines: list[number] }");
        const ran = run(text, { agents: [answer('return { where: "x", lines: [1, 2] }', "a")] });
        expect(end(ran)).toEqual({ where: "x", lines: [1, 2] });
        expect(JSON.stringify(handshake(ran).expects)).toContain("lines");
    });

    test("parameters in any order behind `agent`, helpers and shapes of its own, a main func among several", () => {
        const text = withFixer("return Fixer.yield(a: 1, b: 2)");
        expect(end(run(text, { agents: [answer("return [a, b]", "b", "a")] }))).toEqual([1, 2]);
        const several =
            "shape P { x: number }\nfunc twice(p: P) { return p.x * 2 }\nmain func start(agent, a, b) { return twice({ x: a + b }) }";
        expect(end(run(text, { agents: [remit(several)] }))).toBe(6);
    });

    test("as program form, as a function or a whole program", () => {
        const func = {
            name: "f",
            params: [{ name: "agent" }, { name: "a" }],
            effects: [],
            body: [{ kind: "return", value: { kind: "name", name: "a" } }],
        };
        const file = { file: "any.remit", imports: [], shapes: [], agents: [], funcs: [func] };
        for (const json of [func, { format: "remit-program/1", files: [file] }]) {
            const ran = run(ONE, { options: { input: "v" }, agents: [`\`\`\`json\n${JSON.stringify(json)}\n\`\`\``] });
            expect(end(ran)).toBe("v");
            expect(events(ran, "yield.payload")).toMatchObject([{ form: "program", ok: true }]);
        }
    });

    test("as an embedded resource", () => {
        const resources = [{ uri: "a:b", mediaType: "text/x-remit", text: "func answer(agent, a) { return a }" }];
        expect(end(run(ONE, { options: { input: 5 }, agents: [replied("see there", { resources })] }))).toBe(5);
    });

    test("the last of two blocks counts", () => {
        expect(end(run(ONE, { agents: [`${answer("return 1", "a")}\nno, rather\n${answer("return 2", "a")}`] }))).toBe(2);
    });

    test("what it changes is a copy", () => {
        const text = withFixer("list = [1]\nx = Fixer.yield(list: list)\nreturn [list, x]");
        expect(end(run(text, { agents: [answer("list.add(2)\nreturn list", "list")] }))).toEqual([[1], [1, 2]]);
    });

    test("a yield without arguments", () => {
        expect(end(run(withFixer("return Fixer.yield()"), { agents: [answer("return 4")] }))).toBe(4);
    });
});

describe("what is sent", () => {
    test("the handshake names skills, arguments, limits, what is expected, and the signature", () => {
        const ran = run(withFixer("return Fixer.yield(log: input, n: 2) with { turns: 3, steps: 500, bytes: 900 } -> { d: string }"), {
            options: { input: "boom" },
            agents: [answer('return { d: "x" }', "log", "n")],
        });
        expect(handshake(ran)).toMatchObject({
            format: "remit-yield/1",
            session: expect.stringMatching(/^s[0-9a-z]+$/),
            turn: 0,
            params: [
                { name: "log", contract: { type: "string" }, value: "boom", origins: ["user"] },
                { name: "n", contract: { type: "number" }, value: 2, origins: [] },
            ],
            limits: { steps: 500, turns: 3, bytes: 900 },
            answer: { signature: "func answer(agent, log, n)" },
        });
        expect(Object.keys(handshake(ran).skills as object)).toEqual(["protocol"]);
    });

    test("skills go along by name and content", () => {
        const text = withFixer("return Fixer.yield(a: 1) with { skills: [Triage] }", 'import skill Triage from "./skills/triage"');
        const skills = { "0/Triage": { name: "triage", description: "Sorts.", sha256: "ab", text: "# Sort it" } };
        const ran = run(text, { options: { skills }, agents: [answer("return 1", "a")] });
        expect((handshake(ran).skills as { triage: unknown }).triage).toEqual({
            name: "triage",
            description: "Sorts.",
            sha256: "ab",
            inline: "# Sort it",
        });
    });
});

describe("F18: an answer that is no valid function is sent back with its errors", () => {
    test("one error, then a function: two turns", () => {
        const ran = run(ONE, { options: { input: 1 }, agents: ["I would rather talk.", answer("return a", "a")] });
        expect(end(ran)).toBe(1);
        expect(turns(ran).map((t) => [t.turn, t.session])).toEqual([
            [0, "main/Fixer.yield#0"],
            [1, "main/Fixer.yield#0"],
        ]);
        expect(turns(ran)[1]?.prompt[0]?.text).toMatch(/there is no answer/);
        expect(events(ran, "yield.closed")).toMatchObject([{ ok: true, turns: 2 }]);
    });

    test("always errors: it stops at its turns, and can be caught", () => {
        const ran = run(withFixer("return Fixer.yield(a: 1) with { turns: 3 }"), { agents: ["no"] });
        expect(kind(ran)).toBe("invalid_payload");
        expect(turns(ran)).toHaveLength(3);
        expect(turns(ran)[2]?.prompt[0]?.text).toMatch(/last turn/);
        const caught = run(withFixer("return try { Fixer.yield(a: 1) } catch e { e.kind }"), { agents: ["no"] });
        expect(end(caught)).toBe("invalid_payload");
        expect(turns(caught)).toHaveLength(4);
    });

    test.each([
        ["another signature", answer("return 1", "b"), /parameters of answer must be \(agent, a\)/],
        ["no first parameter agent", remit("func answer(a, agent) { return 1 }"), /must be \(agent, a\)/],
        ["a default", remit("func answer(agent, a = 1) { return 1 }"), /has a default/],
        ["no function", remit("shape X { a: number }"), /no function/],
        ["two functions and none is the answer", remit("func one(agent, a) { 1 }\nfunc two(agent, a) { 2 }"), /which function/],
        ["an import", remit('import tool X from "sh:"\nfunc answer(agent, a) { X.run("id") }'), /an import/],
        ["an agent", remit("agent B { func f() { 1 } }\nfunc answer(agent, a) { B.f() }"), /`agent`/],
        ["a block that is not closed", "```remit\nfunc answer(agent, a) { return 1 }", /not closed/],
        ["a syntax error", answer("return ]", "a"), /SYNTAX/],
        ["an unknown name", answer("return secret", "a"), /UNKNOWN/],
        ["a model that is not there", answer('return generate({ input: "x" })', "a"), /MISSING_GENERATE_CONFIG/],
        ["flow strict and nothing else", remit("flow strict"), /./],
        ["a tool among the names of the program", answer('return Repo.read({ path: "x" })', "a"), /UNKNOWN/],
        ["more bytes than are allowed", answer(`return "${"x".repeat(70_000)}"`, "a"), /more than 65536 bytes/],
        ["a NUL", answer("return \u0000 a", "a"), /./],
        ["a function from the right to the left", answer("return a \u202e", "a"), /./],
        ["no program form", "```json\n[1, 2]\n```", /./],
        ["a program form of another version", '```json\n{"format":"remit-program/9","files":[]}\n```', /./],
        [
            "prototype names",
            '```json\n{"name":"f","params":[{"name":"agent"},{"name":"a"}],"effects":[],"body":[],"__proto__":{"x":1}}\n```',
            /__proto__/,
        ],
        ["deep JSON", `\`\`\`json\n${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}\n\`\`\``, /./],
        ["a deep expression", answer(`return ${"(".repeat(10_000)}1${")".repeat(10_000)}`, "a"), /./],
        ["a deep list", answer(`return ${"[".repeat(10_000)}${"]".repeat(10_000)}`, "a"), /./],
        ["deep blocks", answer(`${"if a {\n".repeat(3_000)}1${"\n}".repeat(3_000)}`, "a"), /./],
    ])("%s", (_, text, message) => {
        const ran = run(ONE, { options: { input: 9 }, agents: [text, answer("return a", "a")] });
        expect(end(ran)).toBe(9);
        expect(turns(ran)).toHaveLength(2);
        expect(turns(ran)[1]?.prompt[0]?.text).toMatch(message);
        expect(turns(ran)[1]?.prompt[0]?.text.length).toBeLessThan(20_000);
    });

    test("one with names that no payload may hold is a violation once its turns are used up, which code around it catches", () => {
        const hostile = '{"name":"f","params":[{"name":"agent"},{"name":"a"}],"effects":[],"body":[],"__proto__":{"x":1}}';
        const named = '{"name":"constructor","params":[{"name":"agent"},{"name":"a"}],"effects":[],"body":[]}';
        for (const form of [hostile, named]) {
            const said = [`\`\`\`json\n${form}\n\`\`\``];
            const text = withFixer("return Fixer.yield(a: 1) with { turns: 2 }");
            expect(kind(run(text, { agents: said }))).toBe("violation.payload");
            const caught = withFixer("return try { Fixer.yield(a: 1) with { turns: 2 } } catch e { [e.kind] }");
            expect(end(run(caught, { agents: said }))).toEqual(["violation.payload"]);
            // Where it is put right it is nothing.
            expect(end(run(text, { agents: [...said, answer("return a", "a")] }))).toBe(1);
        }
        expect(kind(run(withFixer("return Fixer.yield(a: 1) with { turns: 1 }"), { agents: [answer("return a.__proto__", "a")] }))).toMatch(
            /^violation\.payload$/,
        );
    });

    test("why there is another turn is told", () => {
        const ran = run(withFixer("return Fixer.yield(a: 1) with { turns: 5 }"), {
            agents: ["no", answer('return [agent.send("x"), agent.yield(n: 2)]', "a"), "y", answer("return n", "n")],
        });
        expect(end(ran)).toEqual(["y", 2]);
        expect(events(ran, "yield.turn")).toEqual(
            ["repair", "send", "yield"].map((why, i) => ({ agent: "Fixer", session: "main/Fixer.yield#0", turn: i + 1, why })),
        );
        const tried = run(withFixer('return agent("x", { agent: Fixer, on_error: "retry_within_budget" })'), {
            agents: (turn) => (turn.turn === 0 ? failed("rate_limited") : "fine"),
        });
        expect(events(tried, "yield.turn")).toMatchObject([{ turn: 1, why: "retry" }]);
    });

    test("the bytes are those of the text, not of what it is compiled to", () => {
        const text = withFixer("return Fixer.yield(a: 1) with { bytes: 60, turns: 1 }");
        expect(end(run(text, { agents: [answer("return [a, a, a, a]", "a")] }))).toEqual([1, 1, 1, 1]);
        expect(kind(run(text, { agents: [answer("return [a, a, a, a, a, a, a, a, a, a]", "a")] }))).toBe("invalid_payload");
    });

    test("a parameter that is called like a built-in, or `agent` taken by a variable", () => {
        const text = withFixer("return Fixer.yield(text: 1, max: 2, json: 3)");
        expect(end(run(text, { agents: [answer("return [text, max, json]", "text", "max", "json")] }))).toEqual([1, 2, 3]);
        expect(end(run(ONE, { agents: [answer("agent = 5\nreturn agent", "a")] }))).toBe(5);
    });
});

describe("F13: one session for a call and what is nested in it, closed on every way out", () => {
    const nested = answer('more = agent.yield(hint: "go on") -> number\nreturn [a, more]', "a");

    test("a nested yield goes over the session of the answer", () => {
        const ran = run(ONE, { options: { input: 1 }, agents: [nested, answer("return 42", "hint")] });
        expect(end(ran)).toEqual([1, 42]);
        expect(turns(ran).map((t) => [t.turn, t.session])).toEqual([
            [0, "main/Fixer.yield#0"],
            [1, "main/Fixer.yield#0"],
        ]);
        expect(events(ran, "yield.opened")).toHaveLength(1);
        expect(events(ran, "yield.closed")).toMatchObject([{ ok: true, turns: 2 }]);
        expect(Object.keys(handshake(ran, 1).skills as object)).toEqual([]);
    });

    test("closed where the function raises, where a nested one does, and where it is caught inside", () => {
        const raised = run(ONE, { agents: [answer('raise "no way"', "a")] });
        expect(end(raised)).toBe("raised: no way");
        expect(events(raised, "yield.closed")).toEqual([]);
        const taken = run(withFixer("return try { Fixer.yield(a: 1) } catch e { e.message }"), { agents: [answer('raise "no way"', "a")] });
        expect(events(taken, "yield.closed")).toMatchObject([{ ok: false, kind: "raised", error: "no way" }]);
        const inner = run(ONE, { agents: [nested, answer('raise "inner"', "hint")] });
        expect(end(inner)).toBe("raised: inner");
        expect(events(inner, "yield.closed")).toEqual([]);
        const caught = run(ONE, {
            agents: [answer("return try { agent.yield(hint: 1) } catch e { e.message }", "a"), answer('raise "inner"', "hint")],
        });
        expect(end(caught)).toBe("inner");
        expect(events(caught, "yield.closed")).toMatchObject([{ ok: true }]);
    });

    test("a failure that nothing may catch stops one iteration, and its siblings finish", () => {
        const text = withFixer("return parallel for x in [1, 2] max 2 { r = try { Fixer.yield(a: x) } catch e { 1 }\n r }");
        const ran = run(text, {
            agents: (turn) => (turn.session.includes("[1]") ? failed("cancelled", "called off") : answer("return a", "a")),
            pick: (waiting) => waiting.length - 1,
        });
        expect(kind(ran)).toBe("cancelled");
        expect(events(ran, "yield.opened")).toHaveLength(2);
        const closed = ran.events
            .filter((event) => event.kind === "yield.closed")
            .map(({ path, data }) => [path, (data as { ok: boolean }).ok]);
        expect(closed).toEqual([["main/parallel[0]/Fixer.yield#0", true]]);
        expect(ran.events.at(-1)?.kind).toBe("run.ended");
    });

    test("turns of nested yields and repairs are those of the session", () => {
        const ran = run(withFixer("return Fixer.yield(a: 1) with { turns: 3 }"), {
            agents: [answer("return agent.yield(b: 1)", "a"), "no", "no"],
        });
        expect(kind(ran)).toBe("invalid_payload");
        expect(turns(ran)).toHaveLength(3);
        const endless = run(withFixer("return Fixer.yield(a: 1) with { turns: 3 }"), { agents: [answer("return agent.yield(a: 1)", "a")] });
        expect(kind(endless)).toBe("limit.turns");
        expect(turns(endless)).toHaveLength(3);
    });

    test("limit.turns is not caught inside the session, and is outside it", () => {
        const greedy = answer("return try { agent.yield(a: 1) } catch e { e.kind }", "a");
        expect(
            end(run(withFixer("return try { Fixer.yield(a: 1) with { turns: 2 } } catch e { [e.kind] }"), { agents: [greedy] })),
        ).toEqual(["limit.turns"]);
    });

    test("send is one turn, text back, with the agent as its origin", () => {
        const ran = run(ONE, {
            options: { input: "q" },
            agents: [answer('return agent.send("What is " + a + "?").upper()', "a"), "an answer"],
        });
        expect(end(ran)).toBe("AN ANSWER");
        expect(turns(ran)[1]?.prompt).toEqual([{ type: "text", text: "What is q?" }]);
        expect(origins(ran)).toEqual(["agent:Fixer", "user"]);
    });

    test("send outside a session opens one of its own", () => {
        const ran = run(withFixer('return Fixer.send("hello")'), { agents: ["hi"] });
        expect(end(ran)).toBe("hi");
        expect(events(ran, "yield.opened")).toMatchObject([{ by: "send" }]);
        expect(events(ran, "yield.closed")).toHaveLength(1);
    });
});

describe("F14: every failure has its kind and none leaks a raw error", () => {
    for (const wanted of ["refusal", "unreachable", "timeout", "rate_limited", "tool"] as const)
        test(`${wanted} can be caught outside and inside`, () => {
            const outside = run(withFixer("return try { Fixer.yield(a: 1) } catch e { [e.kind, e.message] }"), {
                agents: [failed(wanted, "said so")],
            });
            expect(end(outside)).toEqual([wanted, "said so"]);
            expect(events(outside, "yield.closed")).toMatchObject([{ ok: false, kind: wanted }]);
            const inside = run(ONE, { agents: [answer('return try { agent.send("x") } catch e { [e.kind] }', "a"), failed(wanted)] });
            expect(end(inside)).toEqual([wanted]);
        });
    test("a refusal by stop reason", () => {
        expect(end(run(ONE, { agents: [replied("I will not", { stop: "refusal" })] }))).toBe("refusal: Fixer refused: I will not");
    });
    test("value, contract, raised of its function are caught by either", () => {
        for (const [body, wanted] of [
            ["b = a\nreturn b.nope.x", "value"],
            ['raise "x"', "raised"],
            ["return [a][5].x", "value"],
        ] as const) {
            expect(end(run(withFixer("return try { Fixer.yield(a: 1) } catch e { e.kind }"), { agents: [answer(body, "a")] }))).toBe(
                wanted,
            );
        }
    });
    for (const wanted of ["limit.time", "limit.tokens", "limit.cost", "limit.calls", "limit.steps"] as const)
        test(`${wanted} of a turn is not caught inside its session`, () => {
            const inside = answer('return try { agent.send("x") } catch e { "caught inside" }', "a");
            const ran = run(withFixer("return try { Fixer.yield(a: 1) } catch e { [e.kind] }"), { agents: [inside, failed(wanted)] });
            expect(end(ran)).toEqual([wanted]);
        });
    test("cancelled ends the run, whoever catches", () => {
        expect(kind(run(withFixer("return try { Fixer.yield(a: 1) } catch e { 1 }"), { agents: [failed("cancelled")] }))).toBe("cancelled");
    });
    test("what a failure tells carries the agent", () => {
        const ran = run(withFixer("return try { Fixer.yield(a: 1) } catch e { e.message }"), { agents: [failed("refusal", "because")] });
        expect(origins(ran)).toEqual(["agent:Fixer"]);
        expect(did(ran)).toEqual([]);
    });
});
