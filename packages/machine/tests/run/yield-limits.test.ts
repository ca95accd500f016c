/** What a yield may use: steps, time, turns, tokens, dollars, calls, bytes, depth; and answers that try to use more. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { Compiled, Machine, type Outcome } from "../../src/index.ts";
import { OPTIONS } from "./forms.ts";
import {
    answer,
    end,
    events,
    failed,
    handshake,
    kind,
    once,
    origins,
    remit,
    replied,
    reply,
    run,
    said,
    turns,
    withFixer,
} from "./handing.ts";
import { formOf } from "./text.ts";

/** What is held by nobody is gone after it. */
function collectGarbage(): void {
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
}

const catching = (options: string, args = "a: 1"): string =>
    withFixer(`x = try { Fixer.yield(${args}) with { ${options} } } catch e { [e.kind] }\nreturn x`);

describe("F8: a yield is bounded, and what bounds it is not caught inside", () => {
    test.each([
        ["a loop without end", "n = 0\nloop until false max 1000000000 { n = n + 1 }\nreturn n"],
        ["a loop that catches everything", 'loop until false max 1000000000 { x = try { raise "again" } catch e { 1 } }\nreturn 1'],
        [
            "a loop around a failing call that tries forever",
            "n = 0\nloop until false max 1000000000 { n = try { agent.nope() } catch e { n + 1 } }\nreturn n",
        ],
    ])("steps: %s", (_, body) => {
        // Each step is saved and loaded in one of the ways it is run.
        const ran = run(catching("steps: 1000, bytes: 20000"), {
            agents: [answer(body, "a")],
            options: { limits: { memory: 50_000_000 } },
        });
        expect(kind(ran)).toMatchObject([expect.stringMatching(/^limit\.(steps|bytes)$/)]);
        expect(ran.steps).toBeLessThan(1_200);
    });

    test("a list that doubles comes to the memory of the run", () => {
        const ran = run(catching("steps: 5000"), {
            agents: [answer("l = [1]\nloop until false max 100000 { l = l.concat(l) }\nreturn 1", "a")],
            options: { limits: { memory: 20_000_000 } },
        });
        expect(kind(ran)).toEqual(["limit.bytes"]);
    });

    test("recursion without end comes to the depth of the run", () => {
        // A thousand frames are too much to be saved at each of their steps.
        for (const more of [{}, { options: { mode: "frames", slice: 300 } }] as const) {
            const ran = once(catching("steps: 500000"), {
                agents: [remit("func f(n) { return f(n + 1) }\nmain func answer(agent, a) { return f(0) }")],
                ...more,
            });
            expect(kind(ran)).toEqual(["limit.depth"]);
        }
    });

    test("texts that double in program form", () => {
        let text = '{"kind":"literal","value":"ha"}';
        text = `{"kind":"template","parts":[${text}]}`;
        const body = ['{"kind":"assign","target":{"kind":"name","name":"s"},"op":"=","value":{"kind":"literal","value":"haha"}}'];
        for (let i = 0; i < 60; i++)
            body.push(
                '{"kind":"assign","target":{"kind":"name","name":"s"},"op":"=","value":{"kind":"binary","op":"+","left":{"kind":"name","name":"s"},"right":{"kind":"name","name":"s"}}}',
            );
        body.push('{"kind":"return","value":{"kind":"name","name":"s"}}');
        const agents = [
            `\`\`\`json\n{"name":"f","params":[{"name":"agent"},{"name":"a"}],"effects":[],"body":[${body.join(",")}]}\n\`\`\``,
        ];
        const program = withFixer("return Fixer.yield(a: 1)");
        expect(kind(once(program, { agents }))).toBe("limit.bytes");
        // Where each step is saved and loaded, a text of 64 Mi is one too many.
        expect(kind(run(program, { agents, options: { limits: { bytes: 500_000 } } }))).toBe("limit.bytes");
        expect(text).toContain("ha");
    });

    const DOUBLED = "l = [1]\nrepeat * 40 { l = [l, l] }\n";
    test.each<readonly [string, string, string]>([
        [
            "recursion that catches its own end",
            "limit.depth",
            "func f(n) { return try { f(n + 1) } catch e { 0 } }\nmain func answer(agent, a) { return f(0) }",
        ],
        [
            "a text that doubles",
            "limit.bytes",
            'func answer(agent, a) {\ns = "ha"\nrepeat * 60 { s = try { s + s } catch e { "ha" } }\nreturn 1 }',
        ],
        ["a list that doubles", "limit.bytes", "func answer(agent, a) {\nl = [1]\nrepeat * 60 { l = l.concat(l) }\nreturn 1 }"],
        [
            "a text that is joined",
            "limit.bytes",
            `func answer(agent, a) {\nl = ["ha"]\nrepeat * 20 { l = l.concat(l) }\nreturn l.join("${"-".repeat(100)}") }`,
        ],
        [
            "what one list holds",
            "limit.bytes",
            "func answer(agent, a) {\nl = [1]\nrepeat * 23 { l = l.concat(l) }\nl = l.concat(l.slice(0, 1600000))\nloop until false max 9000000 { l.add(1) }\nreturn 1 }",
        ],
        ["a value that is larger than itself as its text", "limit.bytes", `func answer(agent, a) {\n${DOUBLED}return json.text(l, 4) }`],
        ["a value that is larger than itself, given back", "limit.bytes", `func answer(agent, a) {\n${DOUBLED}return l }`],
        [
            "a value that is larger than itself, raised",
            "limit.bytes",
            `func answer(agent, a) {\n${DOUBLED}return try { raise l } catch e { 1 } }`,
        ],
        [
            "a value that is larger than itself, sent",
            "limit.bytes",
            `func answer(agent, a) {\n${DOUBLED}return try { agent.yield(l: l) } catch e { 1 } }`,
        ],
    ])("SS7: %s is the failure of the yield, and the program goes on", (_, wanted, source) => {
        for (const options of [{}, { mode: "frames" }, { slice: 3000 }] as const)
            expect(end(once(catching(""), { agents: [remit(source)], options }))).toEqual([wanted]);
    });

    test("SS7: what a program does by itself ends its run as before", () => {
        const own = (statements: string): string =>
            withFixer(`x = try { ${statements} } catch e { [e.kind] }\nreturn x`, "func f(n) { f(n + 1) }");
        expect(kind(once(own("f(0)")))).toBe("limit.depth");
        expect(kind(once(own(`${DOUBLED}json.text(l, 4)`)))).toBe("limit.bytes");
    });

    test("SS7: a limit of what stands around passes through", () => {
        const more = answer("l = [1]\nrepeat * 20 { l = l.concat(l) }\nreturn 1", "a");
        const region = withFixer(
            "x = try { spend 100k bytes { try { Fixer.yield(a: 1) } catch e { [1] } } } catch e { [e.kind] }\nreturn x",
        );
        expect(end(once(region, { agents: [more] }))).toEqual(["limit.bytes"]);
        expect(kind(once(catching(""), { agents: [more], options: { limits: { bytes: 100_000 } } }))).toBe("limit.bytes");
        const loop = answer("loop until false max 100000000 { n = 1 }\nreturn 1", "a");
        expect(kind(once(catching(""), { agents: [loop], options: { limits: { steps: 5000 } } }))).toBe("limit.steps");
    });

    test("SS7: of nested yields the inner one fails, and draws on the session's turns", () => {
        const asks = answer('x = try { agent.yield(b: 1) } catch e { [e.kind] }\nreturn [x, agent.send("left")]', "a");
        const deep = remit("func f(n) { return f(n + 1) }\nmain func answer(agent, b) { return f(0) }");
        const ran = once(withFixer("return Fixer.yield(a: 1) with { turns: 3 }"), { agents: [asks, deep, "still here"] });
        expect(end(ran)).toEqual([["limit.depth"], "still here"]);
        const none = once(withFixer("return Fixer.yield(a: 1) with { turns: 2 }"), { agents: [asks, deep, "still here"] });
        expect(kind(none)).toBe("limit.turns");
    });

    test("SS7: where answers hold most of the memory, a yield fails and not the program beside it", () => {
        const program = withFixer(
            `
            r = parallel for i in [0, 1] max 2 {
                x = if i == 0 { yielding() } else { holding() }
                x
            }
            return r`,
            `import tool T from "http://example.test"
            func yielding() { return try { Fixer.yield(a: 1) } catch e { [e.kind] } }
            func holding() { T.wait(1)  own = [1]  repeat * 17 { own = own.concat(own) }  own.length }`,
        );
        const holds = answer('l = [1]\nrepeat * 17 { l = l.concat(l) }\nagent.send("wait")\nreturn l.length', "a");
        const ran = once(program, {
            agents: [holds, "go on"],
            options: { limits: { memory: 3_000_000 } },
            // The answer has made its list and waits when the program beside it makes its own.
            pick: (waiting) =>
                ["turn[0]", "T.wait", ""].map((at) => waiting.findIndex((e) => e.path.includes(at))).find((at) => at >= 0) ?? 0,
        });
        expect(end(ran)).toEqual([["limit.bytes"], 131072]);
    });

    test("a nested yield draws on what is left", () => {
        const asks = answer("n = 0\nloop until false max 100 { n = n + 1 }\nreturn agent.yield(b: n)", "a");
        const ran = run(withFixer("return Fixer.yield(a: 1) with { steps: 1000 }"), { agents: [asks, answer("return b", "b")] });
        expect(end(ran)).toBe(100);
        const first = (handshake(ran, 0).limits as { steps: number }).steps;
        const second = handshake(ran, 1).limits as { steps: number; turns: number };
        expect(first).toBe(1000);
        expect(second.steps).toBeLessThan(900);
        expect(second.turns).toBe(3);
    });

    test("a nested yield that asks for more gets no more", () => {
        const asks = answer("return agent.yield(b: 1) with { steps: 1000000, turns: 100 }", "a");
        const ran = run(withFixer("return Fixer.yield(a: 1) with { steps: 300, turns: 2 }"), {
            agents: [asks, answer("n = 0\nloop until false max 1000 { n = n + 1 }\nreturn n", "b")],
        });
        expect(kind(ran)).toBe("limit.steps");
        expect(handshake(ran, 1).limits).toMatchObject({ turns: 1 });
        expect((handshake(ran, 1).limits as { steps: number }).steps).toBeLessThan(300);
    });

    test("a nested yield that asks for less gets less, and may catch that", () => {
        const asks = answer("return try { agent.yield(b: 1) with { steps: 50 } } catch e { [e.kind] }", "a");
        const ran = run(withFixer("return Fixer.yield(a: 1) with { steps: 3000 }"), {
            agents: [asks, answer("n = 0\nloop until false max 1000 { n = n + 1 }\nreturn n", "b")],
        });
        expect(end(ran)).toEqual(["limit.steps"]);
    });

    test("a nested yield with fewer turns or tokens than its session has left", () => {
        const fewer = answer('return try { agent.yield(b: 1) with { turns: 1 } } catch e { [e.kind, agent.send("left")] }', "a");
        const ran = run(withFixer("return Fixer.yield(a: 1)"), { agents: [fewer, "no answer", "still here"] });
        expect(end(ran)).toEqual(["invalid_payload", "still here"]);
        const tokens = answer('return try { agent.yield(b: 1) with { tokens: 10 } } catch e { [e.kind, agent.send("left")] }', "a");
        const spending = run(withFixer("return Fixer.yield(a: 1) with { tokens: 1000 }"), {
            agents: (turn) =>
                turn.turn === 1
                    ? failed("limit.tokens")
                    : { ...replied(turn.turn === 0 ? tokens : "still here"), usage: { input: 1, output: 1 } },
        });
        expect(turns(spending).map((t) => t.limits.tokens)).toEqual([1000, 10, 998]);
        expect(end(spending)).toEqual(["limit.tokens", "still here"]);
    });

    test("tokens that turns report are drawn from the session, and from the whole", () => {
        const usage = { input: 60, output: 10 };
        const ran = run(catching("tokens: 100"), {
            agents: (turn) => ({
                ...said(reply(turn.turn === 0 ? answer('x = agent.send("more")\nreturn agent.send("and more")', "a") : "text") as never, [
                    "agent:Fixer",
                ]),
                usage,
            }),
        });
        expect(kind(ran)).toEqual(["limit.tokens"]);
        expect(turns(ran).map((t) => t.limits.tokens)).toEqual([100, 30]);
    });

    test("a budget of tokens is refused where nobody says what was used, unless turns or time bound it", () => {
        expect(kind(run(catching("tokens: 100"), { agents: [answer("return 1", "a")] }))).toEqual(["limit.tokens"]);
        expect(end(run(catching("tokens: 100, turns: 2"), { agents: [answer("return 1", "a")] }))).toBe(1);
        const ran = run(withFixer("return Fixer.yield(a: 1) with { usd: 1 }"), { agents: [answer("return 1", "a")] });
        expect(end(ran)).toMatch(/the agent does not say what it cost/);
    });

    test("calls of tools that it was passed are drawn from it", () => {
        const text = withFixer(
            "return try { Fixer.yield(repo: Repo) with { calls: 3 } } catch e { [e.kind] }",
            'import tool Repo from "mcp://repo"',
        );
        const ran = run(text, { agents: [answer('loop until false max 9 { repo.read({ path: "a" }) }\nreturn 1', "repo")] });
        expect(kind(ran)).toEqual(["limit.calls"]);
    });

    test("its time ends it at once, wherever it stands, and its session is closed", () => {
        const text = catching("time: 5 s");
        const machine = Machine.start(new Compiled(formOf(text)), OPTIONS);
        let step = machine.advance();
        expect(step.effects.map((e) => e.kind)).toEqual(["sleep", "agent"]);
        machine.resolve("main/Fixer.yield#0/time", said(null, []));
        step = machine.advance();
        expect(step.withdrawn).toEqual(["main/Fixer.yield#0/turn[0]"]);
        expect(step.result).toMatchObject({ ok: true, value: ["limit.time"] });
        expect(step.events.filter((e) => e.kind === "yield.closed")).toMatchObject([{ data: { ok: false, kind: "limit.time" } }]);
    });

    test("bytes of the answer", () => {
        const ran = run(catching("bytes: 100, turns: 2"), { agents: [answer(`return "${"x".repeat(200)}"`, "a")] });
        expect(kind(ran)).toEqual(["invalid_payload"]);
        expect(turns(ran)[1]?.prompt[0]?.text).toMatch(/more than 100 bytes/);
    });

    test("a yield in a yield in a yield, of Remit agents that call one another, ends", () => {
        const text = `agent Ping { main func(what) { x = Ping.yield(b: 1)  return "func answer(agent, b) { return 1 }" } }\nmain agent A { main func(input) { return Ping.yield(a: 1) } }`;
        expect(kind(run(text, { options: { limits: { depth: 60 } } }))).toBe("limit.depth");
    });
});

describe("what an answer leaves behind", () => {
    test("5,000 yields leave nothing in the program, the sessions, the continuation or the heap", () => {
        const text = withFixer("n = 0\nloop until false max 5000 { n = n + Fixer.yield(a: 1) }\nreturn n");
        const machine = Machine.start(new Compiled(formOf(text)), OPTIONS);
        // Every tenth is like none before, so that it is not found among those that were read.
        const given = (i: number): Outcome => replied(answer(`return a // ${i % 10 === 0 ? i : ""} ${"x".repeat(200)}`, "a"));
        const sizes: { image: number; held: number; heap: number }[] = [];
        let step = machine.advance();
        for (let i = 0; step.state !== "done"; i++) {
            for (const e of step.effects) machine.resolve(e.path, given(i));
            if (i % 1_250 === 500) {
                expect(machine.compiled.files.length).toBeLessThan(4);
                expect(machine.compiled.functions.length).toBeLessThan(4);
                expect(machine.sessions.size).toBeLessThan(2);
                collectGarbage();
                sizes.push({
                    image: JSON.stringify(machine.save({ image: true })).length,
                    held: JSON.stringify(machine.standing.doc()).length,
                    heap: process.memoryUsage().heapUsed,
                });
            }
            step = machine.advance();
        }
        expect(step.result).toMatchObject({ ok: true, value: 5_000 });
        expect(machine.compiled.files).toHaveLength(1);
        expect(machine.standing.alive.size).toBe(0);
        expect(machine.accounts.open.size).toBeLessThan(2);
        const [first, ...later] = sizes as [(typeof sizes)[number], ...typeof sizes];
        expect(later).toHaveLength(3);
        for (const one of later) {
            expect(one.image).toBeLessThan(first.image + 200);
            expect(one.held).toBeLessThan(first.held + 50);
            // Less than 300 bytes for each of 3,750 yields.
            expect(one.heap).toBeLessThan(first.heap + 1024 * 1024);
        }
    });

    test("and so do yields that fail in any way", () => {
        const ways = [
            "no answer",
            answer('raise "x"', "a"),
            answer("return 5", "a"),
            answer("n = 0\nloop until false max 99999 { n = n + 1 }", "a"),
            answer("return agent.yield(b: 1)", "a"),
        ];
        const text = withFixer(
            "n = 0\nloop until false max 200 { n = n + try { Fixer.yield(a: 1) with { turns: 2, steps: 200 } -> string  1 } catch e { 0 } }\nreturn n",
        );
        const machine = Machine.start(new Compiled(formOf(text)), OPTIONS);
        let step = machine.advance();
        let i = 0;
        while (step.state !== "done") {
            for (const e of step.effects) if (e.kind === "agent") machine.resolve(e.path, replied(ways[i++ % ways.length] as string));
            step = machine.advance();
        }
        expect(step.result?.ok).toBe(true);
        expect([machine.compiled.files.length, machine.sessions.size, machine.written.length, machine.standing.alive.size]).toEqual([
            1, 0, 0, 0,
        ]);
    });
});

describe("agents of the program answer too", () => {
    const stub = (body: string, remitOf = ""): string => `agent Stub {\n${remitOf}\n main func(what) {\n${body}\n }\n}\n`;
    const main = (body: string, before: string): string => `${before}\nmain agent A {\n main func(input) {\n${body}\n }\n}\n`;

    test("a fixed answer, with and without a remit", () => {
        for (const remitOf of ["", "remit { may spend 10k steps }".replace("may spend 10k steps", "")]) {
            const text = main("return Stub.yield(a: input)", stub('return "func answer(agent, a) { return [a, 1] }"', remitOf));
            const ran = run(text, { options: { input: "v" } });
            expect(end(ran)).toEqual(["v", 1]);
            expect(origins(ran)).toEqual(["agent:Stub", "user"]);
            expect(events(ran, "yield.closed")).toMatchObject([{ ok: true, turns: 1 }]);
        }
    });

    test("it sees the handshake as data, and answers with program form", () => {
        const text = main(
            "return Stub.yield(a: 5)",
            stub(
                'names = what.params.map((p) => p.name)\nreturn { name: "f", params: [{ name: "agent" }, { name: names[0] }], effects: [], body: [{ kind: "return", value: { kind: "name", name: names[0] } }] }',
            ),
        );
        expect(end(run(text))).toBe(5);
    });

    test("it is asked again with the errors, in words", () => {
        const text = main(
            "return Stub.yield(a: 5)",
            stub(
                'if what.contains("not valid") { return "func answer(agent, a) { return a }" }\nreturn "later"'.replace(
                    "what.contains",
                    "text(what).contains",
                ),
            ),
        );
        const ran = run(text);
        expect(end(ran)).toBe(5);
        expect(events(ran, "agent.asked")).toHaveLength(2);
    });

    test("its function may come back to it, and sends", () => {
        const text = main(
            "return Stub.yield(a: 5)",
            stub(
                'if text(what).contains("ping") { return "pong" }\nreturn "func answer(agent, a) { return agent.send(`ping`) }"'.replaceAll(
                    "`",
                    "'",
                ),
            ),
        );
        expect(end(run(text))).toMatch(/pong|invalid/);
    });

    test("an agent without a main func does not answer", () => {
        expect(kind(run(main("return Stub.yield(a: 5)", "agent Stub { func f() { 1 } }")))).toBe("value");
    });

    test("a failure of it is the failure of the yield", () => {
        expect(end(run(main("return try { Stub.yield(a: 5) } catch e { e.message }", stub('raise "no"'))))).toBe("no");
    });
});
