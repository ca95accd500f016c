/** `agent()`, `reason()` and `act()`: their envelopes, budgets and failures. Why it is long: one table of budgets, tries and policies, and the helpers that only they use. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import { answer, did, end, events, failed, kind, METHODS, once, origins, replied, reply, run, said, turns, withFixer } from "./handing.ts";

describe("agent(): text and a trajectory, or an error", () => {
    const ONE = withFixer('return agent("do it", { agent: Fixer })');

    test("data", () => {
        const ran = run(ONE, { agents: ["done"] });
        expect(end(ran)).toMatchObject({
            data: { text: "done", trajectory: { schema_version: expect.stringMatching(/^ATIF-v1\.[78]$/) } },
        });
        expect(origins(ran)).toEqual(["agent:Fixer"]);
        expect(turns(ran)[0]?.prompt).toEqual([{ type: "text", text: "do it" }]);
        expect(events(ran, "yield.closed")).toMatchObject([{ ok: true }]);
    });

    test("without `agent` it is the one that is imported", () => {
        expect(end(run(withFixer('return agent("x").data.text'), { agents: ["y"] }))).toBe("y");
        const two = withFixer('return agent("x").data.text', 'import agent Other from "acp://qwen-code"');
        expect(end(run(two, { agents: ["y"] }))).toMatch(/which agent/);
    });

    test("an error where nothing is said of errors, with its reason", () => {
        const ran = run(ONE, { agents: [failed("unreachable", "gone")] });
        expect(end(ran)).toMatchObject({ error: { kind: "unreachable", message: "gone", tries: 1 } });
        expect(origins(ran)).toEqual(["agent:Fixer"]);
        expect(events(ran, "yield.closed")).toMatchObject([{ ok: false, kind: "unreachable" }]);
    });

    test("on_error fail", () => {
        expect(end(run(withFixer('return agent("x", { agent: Fixer, on_error: "fail" })'), { agents: [failed("timeout", "late")] }))).toBe(
            "timeout: late",
        );
    });

    test("retry_within_budget: again in a session of its own, from the same budget, with what was used before", () => {
        const text = withFixer(
            'return agent("x", { agent: Fixer, on_error: "retry_within_budget", budget: { max_tokens: 100, max_turns: 4 } })',
        );
        let asked = 0;
        const ran = once(text, {
            agents: () =>
                asked++ < 2
                    ? { ...failed("rate_limited"), usage: { input: 30, output: 0 } }
                    : { ...replied("at last"), usage: { input: 5, output: 5 } },
        });
        expect(end(ran)).toMatchObject({ data: { text: "at last" } });
        expect(turns(ran).map((t) => t.limits.tokens)).toEqual([100, 70, 40]);
        expect(turns(ran).map((t) => t.session)).toEqual(["main/agent#0", "main/agent#0~1", "main/agent#0~2"]);
        expect(turns(ran).map((t) => t.fresh ?? false)).toEqual([false, true, true]);
    });

    test.each(["max_turns", "max_tokens", "max_steps", "max_usd"])("a budget of nothing is none, and is told as an error: %s", (meter) => {
        const text = withFixer(`return agent("x", { agent: Fixer, budget: { ${meter}: 0 } })`);
        const ran = run(text, { agents: ["done"] });
        const kind = { max_turns: "limit.turns", max_tokens: "limit.tokens", max_steps: "limit.steps", max_usd: "limit.cost" }[meter];
        expect(end(ran)).toMatchObject({ error: { kind } });
        expect(turns(ran)).toEqual([]);
    });

    test("what its hands did in a try is gone from the budget of the next", () => {
        const text = withFixer(
            'return agent("x", { agent: Fixer, on_error: "retry_within_budget", budget: { max_steps: 9, max_tool_calls: 5 } })',
        );
        const ran = run(text, {
            agents: (turn) => {
                const partial = reply("so far", { spent: { steps: 4, calls: 2, ms: 1 } }) as unknown as Json;
                return turn.turn < 9 ? failed("timeout", "late", { reply: partial }) : "never";
            },
        });
        expect(turns(ran).map(({ limits }) => [limits.steps, limits.calls])).toEqual([
            [9, 5],
            [5, 3],
            [1, 1],
        ]);
        expect(end(ran)).toMatchObject({
            error: {
                kind: "timeout",
                reason: "limit.steps",
                tries: 3,
                trajectory: { extra: { limits: { steps: 9, calls: 5 }, spent: { turns: 3, steps: 12, calls: 6 } } },
            },
        });
    });

    test("what its hands did is gone from what the call may spend", () => {
        const text = withFixer("Fixer.yield(a: 1) with { calls: 6 } -> number\n return 1");
        const ran = run(text, { agents: ["nothing", replied(answer("return a", "a"), { spent: { steps: 1, calls: 4, ms: 1 } })] });
        expect(turns(ran).map(({ limits }) => limits.calls)).toEqual([5, 4]);
        expect(events(ran, "yield.closed")).toMatchObject([{ spent: { used: { calls: 6 } } }]);
        const over = run(text, { agents: [replied("x", { spent: { steps: 1, calls: 7, ms: 1 } })] });
        expect(kind(over)).toBe("limit.calls");
    });

    test("a turn that used more than there was is told all the same", () => {
        const text = withFixer('return agent("x", { agent: Fixer, budget: { max_tokens: 10 } })');
        const ran = run(text, { agents: [{ ...replied("long"), usage: { input: 30, output: 2 } } as Outcome] });
        expect(end(ran)).toMatchObject({
            error: {
                kind: "limit.tokens",
                trajectory: { steps: [{ message: "x" }, { message: "long" }], extra: { spent: { tokens: 32 } } },
            },
        });
        expect(events(ran, "agent.answered")).toMatchObject([{ ok: false, kind: "limit.tokens", reply: { text: "long" } }]);
    });

    test("retry_within_budget ends where the budget does", () => {
        const text = withFixer('return agent("x", { agent: Fixer, on_error: "retry_within_budget", budget: { max_turns: 2 } })');
        const ran = run(text, { agents: [failed("rate_limited", "slow")] });
        expect(end(ran)).toMatchObject({ error: { kind: "rate_limited" } });
        expect(turns(ran)).toHaveLength(2);
    });

    test("retries without a budget end too", () => {
        const ran = run(withFixer('return agent("x", { agent: Fixer, on_error: "retry_within_budget" })'), {
            agents: [failed("rate_limited", "slow")],
        });
        expect(end(ran)).toMatchObject({ error: { kind: "rate_limited" } });
        expect(turns(ran).length).toBeLessThan(10);
    });

    test("a budget that is used up is an error with its reason", () => {
        for (const wanted of ["limit.steps", "limit.time", "limit.tokens", "limit.cost", "limit.calls"] as const) {
            const ran = run(
                withFixer(
                    'return agent("x", { agent: Fixer, budget: { max_steps: 3, max_minutes: 1, max_tokens: 5, max_cost: 1, max_calls: 2 } })',
                ),
                {
                    agents: [failed(wanted, "too much")],
                },
            );
            expect(end(ran)).toMatchObject({ error: { kind: wanted, message: "too much" } });
        }
    });

    test("the budget is sent to whoever runs it", () => {
        const text = withFixer(
            'return agent("x", { agent: Fixer, budget: { max_steps: 40, max_minutes: 0.5, max_tokens: 1000, max_usd: 2, max_tool_calls: 7, max_silence: 3 } })',
        );
        expect(turns(run(text, { agents: ["ok"] }))[0]?.limits).toEqual({
            tokens: 1000,
            usd: 2,
            calls: expect.any(Number),
            steps: 40,
            ms: 29_500,
            silence: 3_000,
        });
    });

    test("a no to the question is an error of it, or fails where it says so", () => {
        const asks = (more: string): string =>
            `import agent Fixer from "acp://x"\nagent B { remit { ask Fixer } func f() { return agent("x", { agent: Fixer${more} }) } }\nmain agent A { main func(input) { return B.f() } }`;
        expect(end(run(asks(""), { agents: ["ok"], yes: "deny" }))).toMatchObject({
            error: { kind: "denied", tries: 0, trajectory: null },
        });
        expect(kind(run(asks(', on_error: "fail"'), { agents: ["ok"], yes: "deny" }))).toBe("denied");
        expect(end(run(asks(""), { agents: ["ok"], yes: "once" }))).toMatchObject({ data: { text: "ok" } });
    });

    test("what fails the whole is no error of it", () => {
        expect(kind(run(ONE, { agents: [failed("cancelled")] }))).toBe("cancelled");
    });

    test.each([
        ["agent: 5", /name of an agent/],
        ["agent: Fixer, budget: 5", /'budget' is an object/],
        ["agent: Fixer, budget: { max_tokens: 0 - 1 }", /number from 0/],
        ["agent: Fixer, model: 5", /'model' is a text/],
        ["agent: Fixer, on_error: input", /on_error/],
        ["agent: Fixer, policy: input", /policy/],
    ])("options that are none: %s", (options, message) => {
        const ran = once(withFixer(`return agent("x", { ${options} })`), { unchecked: true, options: { input: "nope" }, agents: ["ok"] });
        expect(end(ran)).toMatch(message);
        expect(turns(ran)).toEqual([]);
    });

    test("a policy narrows what its hands may do", () => {
        const text = `import tool Repo from "file://workspace"\nimport agent Fixer from "acp://x" { remit { may Repo } }\nremit ReadOnly { may Repo.read  never Repo.write }\nmain agent A { main func(input) { return agent("x", { agent: Fixer, policy: ReadOnly }) } }`;
        const hands = turns(run(text, { agents: ["ok"] }))[0]?.hands;
        // What may never be is no more than asked about, and the ruling on a use refuses it.
        const methods = hands?.flatMap((hand) => hand.methods.map(({ method, gate, whole }) => [method, gate, whole]));
        expect(methods).toEqual([
            ["read", "may", true],
            ["write", "ask", false],
            [null, "ask", false],
        ]);
    });

    test("the policy for what no clause speaks of leaves it nothing whole that does more than read", () => {
        const hands = (remit: string, policy: Policy) =>
            turns(
                run(
                    `import tool Repo from "file://workspace"\nimport tool Notes from "mcp://notes"\nimport agent Fixer from "acp://x" { remit { ${remit} } }\nmain agent A { main func(input) { return agent("x", { agent: Fixer }) } }`,
                    { agents: ["ok"], options: { policy } },
                ),
            )[0]?.hands?.map((hand) => [hand.tool, ...hand.methods.map(({ method, gate, whole }) => [method, gate, whole])]);
        expect(hands("may Repo, Notes", {})).toEqual([
            ["Repo", [null, "may", true]],
            ["Notes", [null, "may", true]],
        ]);
        for (const gate of ["ask", "never"] as const) {
            expect(hands("may Repo, Notes", { untrusted: { gate } })).toEqual([
                ["Repo", ["list", "may", true], ["read", "may", true], [null, "may", false]],
                ["Notes", [null, "may", false]],
            ]);
            expect(hands("may Repo.read, Repo.write", { untrusted: { gate } })).toEqual([
                ["Repo", ["read", "may", true], ["write", "may", false]],
            ]);
        }
    });

    test("an agent of the program, and its failure", () => {
        const text = (body: string): string =>
            `agent Stub { main func(what) { ${body} } }\nmain agent A { main func(input) { return agent("hi", { agent: Stub }) } }`;
        expect(end(run(text('return what + "!"')))).toMatchObject({ data: { text: "hi!" } });
        expect(end(run(text('raise "no"')))).toMatchObject({ error: { kind: "raised", message: "no" } });
    });

    describe("an agent of the program", () => {
        const text = (budget: string, body = "for i in [1, 2, 3, 4, 5] max 5 { Repo.read({ path: i }) }\n return what"): string =>
            `import tool Repo from "mcp://repo"\nagent Stub { remit { may Repo.read } main func(what) { ${body} } }\nmain agent A { main func(input) { return agent("hi", { agent: Stub, budget: { ${budget} } }) } }`;

        test("its steps and calls are counted, bounded and told", () => {
            const ran = run(text("max_steps: 9"), {});
            expect(end(ran)).toMatchObject({
                data: { text: "hi", trajectory: { extra: { limits: { steps: 9 }, spent: { steps: 5, calls: 5 } } } },
            });
            const steps = (end(ran) as { data: { trajectory: { steps: { tool_calls?: unknown[]; message: string }[] } } }).data.trajectory
                .steps;
            expect(steps.flatMap((one) => one.tool_calls ?? [])).toHaveLength(5);
            expect(steps[0]?.message).toBe("hi");
            expect(origins(ran)).toEqual(["agent:Stub", "tool:Repo"]);
        });

        test.each([
            ["max_steps: 3", "limit.steps"],
            ["max_tool_calls: 3", "limit.calls"],
            ["max_calls: 3", "limit.calls"],
        ])("%s", (budget, wanted) => {
            const ran = run(text(budget), {});
            expect(ran.effects.filter((one) => (one.request as { op?: string }).op === "call")).toHaveLength(3);
            const error = (end(ran) as { error: { kind: string; trajectory: { steps: { tool_calls?: unknown[] }[] } } }).error;
            expect(error.kind).toBe(wanted);
            expect(error.trajectory.steps.flatMap((one) => one.tool_calls ?? [])).toHaveLength(3);
            expect(origins(ran)).toEqual(["agent:Stub", "tool:Repo"]);
        });

        test("it does not catch the end of its budget", () => {
            const body = "for i in [1, 2, 3] max 3 { try { Repo.read({ path: i }) } catch e { } }\n return 5";
            expect(end(run(text("max_steps: 1", body), {}))).toMatchObject({ error: { kind: "limit.steps" } });
        });

        test("all tries of it draw from one budget", () => {
            const body = 'Repo.read({ path: "a" })\n raise "again"';
            const ran = run(text('max_steps: 3 }, on_error: "retry_within_budget", model: none', body).replace(" } }) } }", " }) } }"), {});
            expect(ran.effects.filter((one) => (one.request as { op?: string }).op === "call")).toHaveLength(3);
            expect(end(ran)).toMatchObject({ error: { kind: "raised", reason: "limit.steps", tries: 3 } });
        });

        test("a violation of it is an error of the call", () => {
            const ran = run(text("max_steps: 3", 'Repo.write({ path: "a" })'), { unchecked: true });
            expect(end(ran)).toMatchObject({ error: { kind: "violation.remit" } });
            expect(ran.effects).toEqual([]);
        });
    });

    test("old programs that call something of their own `agent`, `reason` or `act`", () => {
        const text =
            'func agent(a) { return ["own", a] }\nfunc reason(a, b) { return b }\nfunc act(a, b) { return a }\nmain agent A { main func(input) { return [agent(1), reason(1, 2), act(3, 4)] } }';
        expect(end(run(text))).toEqual([["own", 1], 2, 3]);
    });
});

describe("reason(): one model, nothing but what is given", () => {
    const text = (call: string): string =>
        `import llm M from "openai://gpt-5"\nimport tool Repo from "mcp://repo"\nmain agent A { role "r" description "d" main func(input) { secret = "SECRET"  return ${call} } }`;
    const model =
        (value: Json, more: { [key: string]: Json } = {}) =>
        (e: Effect): Outcome | undefined =>
            e.kind !== "model"
                ? undefined
                : (e.request as { op: string }).op === "count"
                  ? said(
                        { tokenizer: "t", items: (e.request as { items: Json[] }).items.map(() => ({ fits: 1, tokens: 1, total: 1 })) },
                        [],
                    )
                  : said({ text: JSON.stringify(value), value, finish: "stop", model: "m", ...more }, ["model:M"]);
    const asked = (ran: ReturnType<typeof run>) =>
        ran.effects.filter((e) => e.kind === "model" && (e.request as { op: string }).op === "turn");

    test("data of the example's shape", () => {
        const ran = run(text('reason(["which?", input], { action: "retry", n: 1 })'), {
            world: model({ action: "stop", n: 2 }),
            options: { input: "a log" },
        });
        expect(end(ran)).toEqual({ data: { action: "stop", n: 2 } });
        expect(origins(ran)).toEqual(["model:M", "user"]);
        const sent = JSON.stringify(asked(ran)[0]?.request);
        expect(sent).toContain("a log");
        expect(sent).not.toContain("SECRET");
        expect((asked(ran)[0]?.request as { tools?: Json[] } | undefined)?.tools ?? []).toEqual([]);
    });

    test("a prompt alone, a list of one, and none", () => {
        expect(end(run(text('reason("q", { a: 1 })'), { world: model({ a: 5 }) }))).toEqual({ data: { a: 5 } });
        expect(end(run(text('reason(["q"], [""])'), { world: model(["x"]) }))).toEqual({ data: ["x"] });
        expect(end(run(text("reason([], { a: 1 })"), { world: model({ a: 5 }) }))).toMatch(/needs a prompt/);
        expect(end(run(text('reason("q", example: { a: 1 })'), { world: model({ a: 5 }) }))).toEqual({ data: { a: 5 } });
    });

    test("a value of another shape is asked for again, then an error", () => {
        const ran = run(text('reason("q", { a: 1 })'), { world: model({ a: "many" }) });
        expect(end(ran)).toMatchObject({ error: expect.any(String) });
        expect(asked(ran).length).toBe(3);
    });

    test("a failing model is an error; a limit is not", () => {
        const fails =
            (wanted: Parameters<typeof failed>[0]) =>
            (e: Effect): Outcome | undefined =>
                e.kind === "model" ? failed(wanted, "said") : undefined;
        expect(end(run(text('reason("q", { a: 1 })'), { world: fails("unreachable") }))).toEqual({ error: "said" });
        expect(kind(run(text('reason("q", { a: 1 })'), { world: fails("cancelled") }))).toBe("cancelled");
        const bounded = text('(try { spend 1 calls { x = reason("q", { a: 1 }) y = reason("q", { a: 1 }) } } catch e { e.kind })');
        expect(bounded).toContain("spend");
    });
});

describe("act(): by name, in the shape of a tool's result", () => {
    const text = (call: string, clauses = ""): string =>
        `import tool Repo from "mcp://repo"${clauses}\nimport tool Mail from "mcp://mail"\nmain agent A { main func(input) { return ${call} } }`;

    test("a result, an error, a name that is none", () => {
        expect(end(run(text('act("Repo.read", { path: "a" })')))).toEqual({
            content: [{ type: "text", text: '{"did":"Repo.read"}' }],
            structuredContent: { did: "Repo.read" },
        });
        expect(end(run(text('act("Repo.read", {})'), { world: () => failed("tool", "broken") }))).toEqual({
            content: [{ type: "text", text: "broken" }],
            isError: true,
        });
        expect(end(run(text('act("Nope.x", {})')))).toMatchObject({
            isError: true,
            content: [{ text: expect.stringMatching(/no tool 'Nope\.x'/) }],
        });
        expect(end(run(text('act("__proto__", {})')))).toMatchObject({ isError: true });
        expect(end(run(text('act("constructor.x", {})')))).toMatchObject({ isError: true });
    });

    test("a result in that shape stays as it is", () => {
        const value = { content: [{ type: "text", text: "x" }], isError: true };
        expect(end(run(text('act("Repo.read", {})'), { world: () => said(value, ["tool:Repo"]) }))).toEqual(value);
    });

    test("of a server's tool: what the server gave, under MCP's own names", () => {
        const content = [{ type: "image", mimeType: "image/png", data: "AA==" }];
        const given = (more: { readonly [key: string]: Json }): Json =>
            end(run(text('act("Repo.read", {})'), { world: () => said({ text: "t", content, ...more }, ["tool:Repo"]) }));
        expect(given({ ok: true, structured: { n: 1 }, isError: false })).toEqual({ content, structuredContent: { n: 1 } });
        expect(given({ ok: false, structured: null, isError: true })).toEqual({ content, isError: true });
    });

    test("of a command: its output as text, and an error where it ended with another code than 0", () => {
        const shell = 'import tool bash from "shell:"\nmain agent A { main func(input) { return act("bash", "npm test") } }';
        const ran = (exit_code: number | null): Json =>
            end(run(shell, { world: () => said({ exit_code, stdout: "out\n", stderr: "err\n", truncated: false }, ["tool:bash"]) }));
        expect(ran(0)).toEqual({
            content: [{ type: "text", text: "out\nerr\n" }],
            structuredContent: { exit_code: 0, stdout: "out\n", stderr: "err\n", truncated: false },
        });
        expect(ran(3)).toMatchObject({ isError: true, content: [{ text: "out\nerr\n" }], structuredContent: { exit_code: 3 } });
        expect(ran(null)).toMatchObject({ isError: true });
    });

    test("gates: asked and refused; a violation and a limit are no result", () => {
        expect(end(run(text('act("Repo.write", {})', " { write: ask }"), { yes: "once" }))).toMatchObject({
            structuredContent: { did: "Repo.write" },
        });
        const no = run(text('act("Repo.write", {})', " { write: ask }"), { yes: "deny" });
        expect(end(no)).toMatchObject({ isError: true });
        expect(did(no)).toEqual([]);
        expect(kind(run(text('act("Repo.write", {})', " { write: never }")))).toBe("violation.remit");
        expect(kind(run(text('act("Repo.read", {})'), { world: () => failed("limit.time", "slow") }))).toBe("limit.time");
    });

    test("a name that a tool chose makes it its call: what clauses leave open is asked", () => {
        const chosen = text('act(Mail.next({}).name, { path: "a" })', " { read: may }");
        const name = (e: Effect): Outcome | undefined =>
            (e.request as { tool?: string }).tool === "Mail" ? said({ name: "Repo.write" }, ["tool:Mail"]) : undefined;
        const ran = run(chosen, { world: name, yes: "deny" });
        expect(did(ran)).toEqual(["Mail.next"]);
        expect(ran.effects.filter((e) => e.kind === "ask").map((e) => (e.request as { detail: Json }).detail)).toMatchObject([
            { chosen_by: "model", method: "write" },
        ]);
        const plain = `import tool Repo from "mcp://repo"\nimport tool Mail from "mcp://mail"\nmain agent A { main func(input) { return act(Mail.next({}).name, { path: "a" }) } }`;
        expect(did(run(plain, { world: name, yes: "deny" }))).toEqual(["Mail.next"]);
    });

    const list = (names: readonly string[]): Outcome =>
        said({ methods: names.map((name) => ({ name, input: {}, readOnly: true })) }, ["tool:x"]);
    const servers =
        (of: { readonly [tool: string]: readonly string[] }) =>
        (e: Effect): Outcome | undefined => {
            const r = e.request as { op?: string; tool?: string };
            if (e.kind !== "tool" || r.op !== "describe") return undefined;
            const names = of[r.tool ?? ""];
            return names === undefined ? failed("unreachable", "gone") : list(names);
        };
    const described = (ran: ReturnType<typeof run>): number =>
        ran.effects.filter((e) => (e.request as { op?: string }).op === "describe").length;

    test("a tool of one server by its own name, which the servers are asked for once", () => {
        const body =
            'xs = []\nfor x in [1, 2, 3] max 3 { r = act("post", { n: x })\n xs.add(r.structuredContent.did) }\nr = act("look", {})\nxs.add(r.structuredContent.did)\nreturn xs';
        const program = text("none").replace("return none", body);
        const ran = run(program, { world: servers({ Repo: ["look", "both"], Mail: ["post", "both"] }) });
        expect(end(ran)).toEqual(["Mail.post", "Mail.post", "Mail.post", "Repo.look"]);
        expect(described(ran)).toBe(2);
    });

    test("of several servers it is an error that names them; of none, one that names what there is; a broken server hides nothing", () => {
        const both = run(text('act("both", {})'), { world: servers({ Repo: ["both"], Mail: ["both"] }) });
        expect(end(both)).toEqual({
            content: [{ type: "text", text: "there are several tools 'both': Repo.both, Mail.both" }],
            isError: true,
        });
        expect(did(both)).toEqual([]);
        const none = run(text('act("nope", {})'), { world: servers({ Repo: ["both"], Mail: ["both"] }) });
        expect(end(none)).toMatchObject({ content: [{ text: "there is no tool 'nope'; there are Repo, Mail" }], isError: true });
        expect(end(run(text('act("post", {})'), { world: servers({ Mail: ["post"] }) }))).toMatchObject({
            structuredContent: { did: "Mail.post" },
        });
        expect(kind(run(text('act("post", {})'), { world: () => failed("limit.time", "slow") }))).toBe("limit.time");
    });

    test("only servers that whoever calls was granted count, and no tool that is never", () => {
        const granted =
            'import tool Repo from "mcp://repo"\nimport tool Mail from "mcp://mail"\nagent B { remit { may Repo } func f() { return act("both", {}) } }\nmain agent A { main func(input) { return B.f() } }';
        const ran = run(granted, { world: servers({ Repo: ["both"], Mail: ["both"] }) });
        expect(end(ran)).toMatchObject({ structuredContent: { did: "Repo.both" } });
        expect(described(ran)).toBe(1);
        const never = run(text('act("both", {})', " { both: never }"), { world: servers({ Repo: ["both"], Mail: ["both"] }) });
        expect(end(never)).toMatchObject({ structuredContent: { did: "Mail.both" } });
    });

    test("asked about as by its full name, and then found without asking the servers again", () => {
        const world = servers({ Repo: ["both"], Mail: ["post"] });
        const ran = run(text('act("both", {})', " { both: ask }"), { world, yes: "once" });
        expect(end(ran)).toMatchObject({ structuredContent: { did: "Repo.both" } });
        expect(described(ran)).toBe(2);
        const questions = ran.effects.filter((e) => e.kind === "ask").map((e) => (e.request as { question: string }).question);
        expect(questions).toEqual([expect.stringContaining("Repo.both")]);
        expect(end(run(text('act("both", {})', " { both: ask }"), { world, yes: "deny" }))).toMatchObject({ isError: true });
    });

    test("a function of the file comes before it; only servers have such names", () => {
        const own = text('act("both", {})').replace("main agent", "func both() { return 5 }\nmain agent");
        const ran = run(own, { world: servers({ Repo: ["both"], Mail: [] }) });
        expect(end(ran)).toMatchObject({ structuredContent: 5 });
        expect(described(ran)).toBe(0);
        const file = 'import tool Repo from "file://workspace"\nmain agent A { main func(input) { return act("read", {}) } }';
        expect(end(run(file))).toMatchObject({ isError: true });
    });

    test("__manual__ says which names are enough, and takes them", () => {
        const world = servers({ Repo: ["look", "both"], Mail: ["post", "both"] });
        type Manual = { structuredContent: { tools: { name: string; alias?: string }[] }; content: { text: string }[] };
        const manual = (given: string): Manual => end(run(text(`act("__manual__", ${given})`), { world })) as unknown as Manual;
        expect(manual("{}").structuredContent.tools.map((t) => [t.name, t.alias])).toEqual([
            ["Repo.look", "look"],
            ["Repo.both", undefined],
            ["Mail.post", "post"],
            ["Mail.both", undefined],
        ]);
        expect(manual("{}").content[0]?.text.split("\n")[0]).toBe("Repo.look (or look): ");
        expect(manual('{ name: "post" }').structuredContent.tools.map((t) => t.name)).toEqual(["Mail.post"]);
        expect(manual('{ name: "both" }').structuredContent.tools.map((t) => t.name)).toEqual(["Repo.both", "Mail.both"]);
        expect(manual('{ name: "Mail" }').structuredContent.tools.map((t) => [t.name, t.alias])).toEqual([
            ["Mail.post", undefined],
            ["Mail.both", undefined],
        ]);
    });

    test("__manual__ lists what there is, or one of it; of a name that is none it says so", () => {
        const all = end(run(text('act("__manual__", {})'))) as { structuredContent: { tools: { name: string }[] } };
        expect(all.structuredContent.tools.map((t) => t.name)).toEqual(["Repo.read", "Repo.write", "Mail.read", "Mail.write"]);
        const one = end(run(text('act("__manual__", { name: "Mail" })'))) as { structuredContent: { tools: { name: string }[] } };
        expect(one.structuredContent.tools.map((t) => t.name)).toEqual(["Mail.read", "Mail.write"]);
        expect(end(run(text('act("__manual__", { name: "Nope" })')))).toEqual({
            content: [{ type: "text", text: "there is no tool 'Nope'; there are Repo, Mail" }],
            isError: true,
        });
        const reads = (e: Effect): Outcome | undefined =>
            (e.request as { op?: string }).op === "describe"
                ? said({ methods: [{ name: "look", readOnly: true, input: { type: "object" } }] }, ["tool:Repo"])
                : undefined;
        expect(end(run(text('act("__manual__", { name: "Repo" })'), { world: reads }))).toMatchObject({
            structuredContent: { tools: [{ name: "Repo.look", annotations: { readOnlyHint: true } }] },
        });
        expect(METHODS).toBeDefined();
    });
});
