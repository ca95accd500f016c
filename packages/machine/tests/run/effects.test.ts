/** Effects, agents, capabilities, budgets, input, cancellation: what passes between a run and its host. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, Machine, type Outcome } from "../../src/index.ts";
import { type Answer, OPTIONS, runAll } from "./forms.ts";
import { body, evaluated, formOf, runText } from "./text.ts";

const IMPORTS = `
import tool T from "http://example.test"
import memory Notes from "file://notes.jsonl"
import llm M from "mock://m"
`;

const ok = (value: Json, origins: string[] = ["tool:T"]): Outcome => ({ ok: true, value, origins });
const args = (e: Effect): Json[] => (e.request as { args: Json[] }).args;

test("the end of a call that failed says where its words come from, as that of one that went well does", () => {
    const told = (outcome: Outcome, call: string): (readonly string[] | undefined)[] => {
        const text = `${IMPORTS}main func() { try { ${call} } catch e { } }`;
        return runText(text, { answer: () => outcome }).events.flatMap(({ kind, labels }) =>
            /^(tool|memory)\.ended$/.test(kind) ? [labels] : [],
        );
    };
    const failed = (origins?: readonly string[]): Outcome => ({
        ok: false,
        failure: { kind: "tool", message: "the page says: eve" },
        ...(origins === undefined ? {} : { origins }),
    });
    expect(told(failed(), 'T.get({ url: "/a" })')).toEqual([["tool:T"]]);
    expect(told(failed(["untrusted:T"]), 'T.get({ url: "/a" })')).toEqual([["tool:T", "untrusted:T"]]);
    expect(told(failed(), "Notes.query({})")).toEqual([["memory:Notes"]]);
    expect(told(ok({}, ["tool:T"]), 'T.get({ url: "/a" })')).toEqual([["tool:T"]]);
});

describe("time.now()", () => {
    const answer: Answer = (e) => ok(`2026-03-01T09:30:0${e.path.endsWith("1") ? 5 : 0}Z`, []);

    test("is an effect without origins, wherever it stands; a variable of that name hides it", () => {
        const ran = runText(body("first = time.now()\n{ in: time.between(first, time.now()), later: time.add(first, { days: 1 }) }"), {
            answer,
        });
        expect(ran.result).toEqual({ ok: true, value: { in: 5, later: "2026-03-02T09:30:00Z" }, origins: [] });
        expect(ran.effects.map(({ kind, path, request }) => ({ kind, path, request }))).toEqual([
            { kind: "clock", path: "main/time.now#0", request: {} },
            { kind: "clock", path: "main/time.now#1", request: {} },
        ]);
        expect(runText(body("time = { now: 5 }\ntime.now"), { answer }).effects).toEqual([]);
    });

    test("a function that asks it can stop there", () => {
        const text = "func at() { time.now() }\nmain func() { [at(), at()] }";
        expect(runText(text, { answer }).result).toMatchObject({ ok: true, value: ["2026-03-01T09:30:00Z", "2026-03-01T09:30:00Z"] });
    });

    test.each(["for x in [1, 2] max 2", "loop until n == 2 max 2", "if n == 0"])("a statement can stop at it: %s", (head) => {
        const ran = runText(body(`n = 0\nlast = none\n${head} {\nlast = time.now()\nn += 1\n}\nlast`), { answer });
        expect(ran.result).toMatchObject({ ok: true, value: expect.stringMatching(/^2026-03-01T09:30/) });
    });
});

describe("an error that an mcp: tool tells", () => {
    const error = { ok: false, isError: true, text: " no such ticket ", content: [], structured: null };
    const imports = `import tool Desk from "mcp://desk"\n`;
    const answer: Answer = (e) => ok((e.request as { tool: string }).tool === "Desk" ? error : { ok: true }, ["tool:Desk"]);

    test("is a failure of the call where nothing looks at it", () => {
        for (const text of ["Desk.close({ id: 1 })\n1", "Desk.find({ id: 1 }).text", 'x = Desk.find({ id: 1 })\nx.text + "!"']) {
            const ran = runText(body(text, imports), { answer });
            expect(ran.result).toMatchObject({
                ok: false,
                failure: {
                    kind: "tool",
                    message: expect.stringMatching(/^Desk\.(?:close|find): no such ticket$/),
                    detail: { text: " no such ticket " },
                },
            });
        }
        const caught = runText(body("try { Desk.close({ id: 1 }) } catch e { return [e.kind, e.message] }", imports), { answer });
        expect(caught.result).toEqual({ ok: true, value: ["tool", "Desk.close: no such ticket"], origins: ["tool:Desk"] });
    });

    test("is a value where it is looked at or escapes", () => {
        for (const text of [
            'x = Desk.find({ id: 1 })\nif x.ok { "found" } else { "none" }\nx.text',
            "Desk.find({ id: 1 })",
            "d = Desk\nd.find({ id: 1 }).text",
        ])
            expect(runText(body(text, imports), { answer }).result.ok).toBe(true);
    });
});

describe("tools and memory", () => {
    test("a member of a module is read without a call, wherever it stands; of another tool it is a failure", () => {
        const imports = `${IMPORTS}import tool P from "node:path"\n`;
        const text = body(
            `parts = ["x"].map(s => s + "y")
             all = P.sep + P.posix.sep.upper() + P.join("a", P.sep)
             if P.sep == "/" { all = all + "!" }
             parts.concat([all, T.get])`,
            imports,
        );
        const answer: Answer = (e) => {
            const { method, args: given } = e.request as { method: string; args?: Json[] };
            return ok(method === "sep" ? "/" : method === "posix" ? { sep: "p" } : `joined ${JSON.stringify(given)}`, ["tool:P"]);
        };
        const ran = runText(text.replace(", T.get", ""), { answer });
        expect(ran.result).toEqual({ ok: true, value: ["xy", '/Pjoined ["a","/"]!'], origins: ["tool:P"] });
        expect(ran.effects.map((e) => [e.path, "args" in (e.request as object)])).toEqual([
            ["main/P.sep#0", false],
            ["main/P.posix#0", false],
            ["main/P.sep#1", false],
            ["main/P.join#0", true],
            ["main/P.sep#2", false],
        ]);
        expect(ran.events.find((e) => e.path === "main/P.sep#0")?.data).toEqual({
            tool: "P",
            method: "sep",
            scheme: "node",
            uri: "node:path",
        });
        expect(runText(text, { answer }).result).toMatchObject({
            ok: false,
            failure: { kind: "value", message: "T.get is a method: call it", site: { line: expect.any(Number) } },
        });
    });

    test("requests, paths, labels and events", () => {
        const ran = runText(
            body(
                `x = T.get({ url: "/a" })
                 for i in [1, 2] max 5 { T.put({ v: x.v, i: i }) }
                 found = Notes.query({ kind: "a" })
                 Notes.add({ text: x.v })
                 found`,
                IMPORTS,
            ),
            {
                answer: (e) =>
                    e.kind === "tool"
                        ? ok({ v: 7 })
                        : e.kind === "recall"
                          ? ok([{ id: "1" }], ["memory:Notes"])
                          : ok({ id: "2", record: { text: 7 } }, ["memory:Notes"]),
            },
        );
        expect(ran.effects.map((e) => [e.path, e.kind, e.labels])).toEqual([
            ["main/T.get#0", "tool", []],
            ["main/for[0]/T.put#0", "tool", ["tool:T"]],
            ["main/for[1]/T.put#0", "tool", ["tool:T"]],
            ["main/Notes.query#0", "recall", []],
            ["main/Notes.add#0", "remember", ["tool:T"]],
        ]);
        expect(ran.effects[0]?.request).toEqual({
            op: "call",
            tool: "T",
            uri: "http://example.test",
            file: "main.remit",
            method: "get",
            args: [{ url: "/a" }],
            chosenBy: "program",
        });
        expect(ran.effects[4]?.request).toEqual({ memory: "Notes", uri: "file://notes.jsonl", file: "main.remit", arg: { text: 7 } });
        expect(ran.result).toEqual({ ok: true, value: [{ id: "1" }], origins: ["memory:Notes"] });
        expect(ran.events.map((e) => e.kind)).toEqual([
            "run.started",
            "tool.started",
            "tool.ended",
            "for",
            "tool.started",
            "tool.ended",
            "for",
            "tool.started",
            "tool.ended",
            "memory.started",
            "memory.ended",
            "memory.started",
            "memory.ended",
            "run.ended",
        ]);
        expect(ran.events[12]?.data).toEqual({
            memory: "Notes",
            operation: "add",
            uri: "file://notes.jsonl",
            args: { text: 7 },
            ok: true,
            result: { id: "2", record: { text: 7 } },
            count: 1,
            id: "2",
            record: { text: 7 },
        });
        expect(ran.effects[0]?.site).toMatchObject({ file: "main.remit", line: 8 });
    });

    test("a failed call can be caught and carries its origin", () => {
        const ran = runText(body(`try { T.get({}) } catch e { T.put({ m: e.message, k: e.kind, d: e.detail }) }  1`, IMPORTS), {
            answer: (e) =>
                e.path.includes("get") ? { ok: false, failure: { kind: "timeout", message: "slow", detail: { ms: 5 } } } : ok(null),
        });
        expect(ran.result).toMatchObject({ ok: true, value: 1 });
        expect(args(ran.effects[1] as Effect)).toEqual([{ m: "slow", k: "timeout", d: { ms: 5 } }]);
        expect(ran.effects[1]?.labels).toEqual(["tool:T"]);
    });

    test("a failure that nobody catches ends the run with its place", () => {
        const ran = runText(body(`T.get({})`, IMPORTS), { answer: () => ({ ok: false, failure: { kind: "tool", message: "gone" } }) });
        expect(ran.result).toMatchObject({ ok: false, failure: { kind: "tool", message: "gone", site: { file: "main.remit", line: 8 } } });
        expect(ran.events.slice(-2).map((e) => e.kind)).toEqual(["failure", "run.ended"]);
    });

    test("calls inside expressions keep their order and what stands left of them", () => {
        const seen: Json[] = [];
        const ran = runText(
            body(
                `xs = []  r = [xs.length, T.a(xs.add(1)), xs.length, (T.b(2).v == 7 and T.c(3).v > 1), none ?? T.d(4).v, 5 ?? T.never(1)]  r`,
                IMPORTS,
            ),
            {
                answer: (e) => {
                    seen.push((e.request as { method: string }).method);
                    return ok({ v: 7 }, []);
                },
            },
        );
        expect(seen).toEqual(["a", "b", "c", "d"]);
        expect(JSON.parse(JSON.stringify(ran.result))).toEqual({ ok: true, value: [0, { v: 7 }, 1, true, 7, 5], origins: [] });
    });

    test("memory takes add and query with one object", () => {
        expect(evaluated("Notes.drop({})", { before: IMPORTS, unchecked: true })).toBe("value: memory Notes has no method 'drop'");
        expect(evaluated('Notes.add("x")', { before: IMPORTS, unchecked: true })).toBe("value: Notes.add expects an object");
    });
});

describe("agents", () => {
    const AGENTS = `
import tool T from "http://example.test"
agent Worker {
    use "fixed" as "note"
    func look(x) { T.get(x) }
    main func(input) { a = look(input.a)  b = look(input.b)  return [a, b] }
}
`;
    test("calls between agents are boundaries with events and paths of their own", () => {
        const ran = runText(body(`x = Worker({ a: 1, b: 2 })  Worker.look(3)  x`, AGENTS), { answer: (e) => ok(args(e)[0] as Json) });
        expect(ran.effects.map((e) => e.path)).toEqual([
            "main/Worker.main#0/look#0/T.get#0",
            "main/Worker.main#0/look#1/T.get#0",
            "main/Worker.look#0/T.get#0",
        ]);
        const kinds = ran.events.filter((e) => e.kind.startsWith("agent") || e.kind === "use");
        expect(kinds.map((e) => [e.kind, e.path])).toEqual([
            ["agent.started", "main/Worker.main#0"],
            ["use", "main/Worker.main#0"],
            ["agent.ended", "main/Worker.main#0"],
            ["agent.started", "main/Worker.look#0"],
            ["use", "main/Worker.look#0"],
            ["agent.ended", "main/Worker.look#0"],
        ]);
        expect(kinds[0]?.data).toEqual({ agent: "Worker", function: "main", args: [{ a: 1, b: 2 }] });
        expect(kinds[2]?.data).toEqual({ agent: "Worker", function: "main", ok: true, result: [1, 2] });
        expect(ran.events.find((e) => e.kind === "tool.started")?.parent).toBe("main/Worker.main#0");
    });

    test("an agent of another file uses its own file's imports", () => {
        const ran = runText({
            "main.remit": 'import agent W from "./w.remit"\nmain agent A { main func(input) { W(1) } }',
            "w.remit": 'import tool Own from "http://own.test"\nagent W { main func(input) { Own.get(input) } }',
        });
        expect(ran.effects.map((e) => (e.request as { file: string }).file)).toEqual(["w.remit"]);
    });
});

describe("capabilities", () => {
    const go = "\nfunc go(t, x) { t.read({ v: x }) }\nfunc hold(o) { o.tool.read({ v: 1 }) }";
    test("are passed, held and called, and are never data", () => {
        const ran = runText(body(`a = go(T, 1)  o = { tool: T }  b = hold(o)  c = o.tool.list()  return [a, b, c]`, `${IMPORTS}${go}`), {
            unchecked: true,
            answer: (e) => ok(args(e)[0] ?? null, []),
        });
        expect(ran.effects.map((e) => [e.path, (e.request as { method: string }).method])).toEqual([
            ["main/go#0/t.read#0", "read"],
            ["main/hold#0/.read#0", "read"],
            ["main/.list#0", "list"],
        ]);
        expect(JSON.parse(JSON.stringify(ran.result))).toMatchObject({ ok: true, value: [{ v: 1 }, { v: 1 }, null] });
    });

    test.each([
        "T.put({ a: T })",
        "x = [T]  T.put(x)",
        "Notes.add({ t: T })",
        'x = "a" + T',
        "x = T == T",
        "x = [T] == [1]",
        "T",
        "{ a: M }",
        "x = json.text([T])",
        "x = text(T)",
        "raise [T]",
        "o = { a: 1 }  o.f = T  o.f.x = 2",
    ])("%s", (statements) => {
        expect(evaluated(statements, { before: IMPORTS, unchecked: true })).toMatch(/^violation\.capability: /);
    });

    test("a function can be passed and called", () => {
        const before = "func twice(f, x) { f(f(x)) }\nfunc inc(x) { x + 1 }";
        expect(evaluated("twice(inc, 1)", { before, unchecked: true })).toBe(3);
        expect(evaluated("o = { f: inc }  o.f(4)", { before, unchecked: true })).toBe(5);
        expect(evaluated("5(4)", { before, unchecked: true })).toMatch(/^value: /);
    });
});

describe("budgets and the end", () => {
    test("F6: steps, exactly", () => {
        const ran = runText(body("x = 0  repeat * 1000000 { x += 1 }  x"), { options: { limits: { steps: 5000 } } });
        expect(ran.result).toMatchObject({
            ok: false,
            failure: { kind: "limit.steps", message: "the run's budget of 5000 steps is used up" },
        });
        expect(ran.steps).toBe(5000);
    });

    test("a limit of the whole run cannot be caught in it", () => {
        const before = "func spin() { repeat * 100000000 { x = 1 } }\nfunc deep(n) { deep(n + 1) }";
        for (const s of [
            "try { spin() } catch e { return 1 }",
            "x = try { deep(0) } catch e { 1 }  x",
            "try { [1].map((x) => deep(x)) } catch e { 1 }  2",
        ])
            expect(evaluated(s, { before, options: { limits: { steps: 200_000 } } })).toMatch(/^limit\.(steps|depth): /);
    });

    test("depth is counted, not found out", () => {
        const before =
            'func down(n) { if n == 0 { return 0 }  1 + down(n - 1) }\nfunc through(n) { if n == 0 { return T.get(1) }  through(n - 1) }\nimport tool T from "http://e.test"';
        expect(evaluated("down(998)", { before })).toBe(998);
        expect(evaluated("down(999)", { before })).toBe("limit.depth: Maximum call depth of 1000 exceeded");
        expect(evaluated("down(998)", { before, options: { mode: "frames" } })).toBe(998);
        expect(evaluated("down(999)", { before, options: { mode: "frames" } })).toBe("limit.depth: Maximum call depth of 1000 exceeded");
        expect(evaluated("through(998)  1", { before })).toBe(1);
        expect(evaluated("through(999)", { before })).toBe("limit.depth: Maximum call depth of 1000 exceeded");
        expect(evaluated("parallel for x in [1] max 1 { down(997) }", { before })).toEqual([997]);
        expect(evaluated("parallel for x in [1] max 1 { down(999) }", { before })).toMatch(/^limit\.depth/);
    });

    test("calls are counted and refused before they are made", () => {
        const ran = runText(body("repeat * 5 { T.get(1) }", IMPORTS), { options: { limits: { calls: 3 } } });
        expect(ran.result).toMatchObject({
            ok: false,
            failure: { kind: "limit.calls", detail: { meter: "calls", limit: 3, spender: "user at main/repeat[3]/T.get#0" } },
        });
        expect(ran.effects.length).toBe(3);
        expect(ran.events.some((e) => e.kind === "budget")).toBe(true);
    });

    test("what an outcome used is charged to the run", () => {
        const ran = runText(body("repeat * 5 { T.get(1) }", IMPORTS), {
            options: { limits: { usd: 0.25 } },
            answer: () => ({ ok: true, value: 1, origins: [], usage: { input: 10, output: 5, usd: 0.1 } }),
        });
        expect(ran.result).toMatchObject({ ok: false, failure: { kind: "limit.cost" } });
        expect(ran.effects.length).toBe(3);
    });

    test("cancelling withdraws what waits and ends the run", () => {
        const m = Machine.start(new Compiled(formOf(body("parallel for x in [1, 2] max 2 { T.get(x) }", IMPORTS))), OPTIONS);
        m.advance();
        m.cancel("enough");
        const end = m.advance();
        expect(end.state).toBe("done");
        expect(end.withdrawn.length).toBe(2);
        expect(end.result).toMatchObject({ ok: false, failure: { kind: "cancelled", message: "enough" } });
        expect(end.events.map((e) => e.kind)).toEqual(["failure", "run.ended"]);
        expect(m.resolve("main/parallel[0]/T.get#0", ok(1))).toBe(false);
    });

    test("time that the host measures", () => {
        const m = Machine.start(new Compiled(formOf(body("T.get(1)", IMPORTS))), OPTIONS);
        m.advance();
        m.exceed("limit.time", "the run's time of 5 s is used up", "allow more time");
        const end = m.advance();
        expect(end.result).toMatchObject({ ok: false, failure: { kind: "limit.time", hint: "allow more time" } });
        expect(end.events[0]).toMatchObject({ kind: "failure", data: { kind: "limit.time", hint: "allow more time" } });
    });
});

describe("input", () => {
    const program = `main agent A { main func(input: { q: string, n?: number, k: string = "d" }) { [input.q, input.k] } }`;
    test("is checked, filled and labelled", () => {
        expect(runText(program, { options: { input: { q: "hi", extra: 1 } } }).result).toEqual({
            ok: true,
            value: ["hi", "d"],
            origins: ["user"],
        });
        expect(runText(program, { options: { input: { q: 5 } } }).result).toMatchObject({ ok: false, failure: { kind: "contract" } });
        expect(runText(program).result).toMatchObject({
            ok: false,
            failure: { message: "Missing input 'input.q': no value was given, and there is no person to ask" },
        });
    });

    test("missing fields are asked for where somebody is there, also after a save", () => {
        for (const saving of [false, true]) {
            const ran = runText(program, { saving, options: { interactive: true }, answer: () => ok("asked", ["user"]) });
            expect(ran.effects.map((e) => [e.path, e.kind, (e.request as { name: string }).name])).toEqual([
                ["main/input.q", "input", "input.q"],
            ]);
            expect(ran.result).toMatchObject({ ok: true, value: ["asked", "d"] });
        }
    });

    test("several parameters are fields of the input", () => {
        const p = `main agent A { main func(a: string, b: number = 3) { [a, b] } }`;
        expect(runText(p, { options: { input: { a: "x" } } }).result).toMatchObject({ ok: true, value: ["x", 3] });
        expect(runText(p, { options: { interactive: true }, answer: () => ok("y", ["user"]) }).result).toMatchObject({
            ok: true,
            value: ["y", 3],
        });
    });

    test("file imports are values with origins", () => {
        const p = `import file Notes from "notes.json"\nmain agent A { main func(input) { Notes.title } }`;
        const options = { imports: { "0/Notes": { json: { title: "T" }, origins: ["file:notes.json"] } } };
        expect(runText(p, { options, unchecked: true }).result).toEqual({ ok: true, value: "T", origins: ["file:notes.json"] });
        expect(runText(p, { unchecked: true }).result).toMatchObject({ ok: false, failure: { kind: "value" } });
    });
});

test("the same run a hundred times", () => {
    const form = formOf(body(`r = parallel for x in [1, 2, 3] max 9 { T.get(x) }  Notes.add({ r: r })  r`, IMPORTS));
    const first = JSON.stringify(runAll(form));
    for (let i = 0; i < 100; i++) expect(JSON.stringify(runAll(form))).toBe(first);
});
