/** What a capability is to the agent that it is handed to: a function its signature, an agent its functions, a tool that cannot say anything its name. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import {
    answer,
    did,
    end,
    events,
    failed,
    handshake,
    kind,
    METHODS,
    once,
    origins,
    remit,
    run,
    said,
    turns,
    withFixer,
} from "./handing.ts";

const REPO = 'import tool Repo from "file://workspace"';
const params = (ran: ReturnType<typeof run>): { [key: string]: Json }[] => handshake(ran).params as { [key: string]: Json }[];

describe("a function that is handed over", () => {
    const HELPER = `${REPO}\nshape Place { path: string, line: number }\nfunc look(at: Place, most: number = 3) -> list[string] {\n Repo.read({ path: at.path })\n [at.path, text(most)]\n}`;
    const LENT = withFixer("return Fixer.yield(look: look)", HELPER);

    test("is told by its signature, with schemas that need nothing else of the program", () => {
        const ran = run(LENT, { agents: [answer('return look({ path: "a", line: 1 })', "look")] });
        expect(params(ran)).toEqual([
            {
                name: "look",
                kind: "func",
                handle: [],
                call: {
                    signature: "look(at: Place, most: number = 3) -> list[string]",
                    input: {
                        type: "object",
                        properties: {
                            at: {
                                type: "object",
                                properties: { path: { type: "string" }, line: { type: "number" } },
                                required: ["path", "line"],
                                additionalProperties: false,
                            },
                            most: { type: "number", default: 3 },
                        },
                        required: ["at"],
                        additionalProperties: false,
                    },
                    output: { type: "array", items: { type: "string" } },
                    gate: "may",
                },
            },
        ]);
    });

    test("is called by its name, and runs as whoever handed it over: the agent has only what it does", () => {
        const ran = run(LENT, { agents: [answer('return look({ path: "a", line: 1 }, 5)', "look")] });
        expect(end(ran)).toEqual(["a", "5"]);
        expect(did(ran)).toEqual(["Repo.read"]);
        expect(origins(ran)).toContain("agent:Fixer");
        const principals = ran.effects
            .filter((e) => e.kind === "tool" && (e.request as { op: string }).op === "call")
            .map((e) => e.principal);
        expect(principals).toEqual(["user"]);
    });

    test("in an answer as program form, from a helper of the answer, under another name", () => {
        const call = {
            kind: "call",
            callee: { kind: "name", name: "look" },
            args: [
                {
                    value: {
                        kind: "object",
                        entries: [
                            { kind: "entry", key: "path", value: { kind: "literal", value: "b" } },
                            { kind: "entry", key: "line", value: { kind: "literal", value: 2 } },
                        ],
                    },
                },
            ],
        };
        const func = { name: "f", params: [{ name: "agent" }, { name: "look" }], effects: [], body: [{ kind: "return", value: call }] };
        expect(end(run(LENT, { agents: [`\`\`\`json\n${JSON.stringify(func)}\n\`\`\``] }))).toEqual(["b", "3"]);
        const passed = remit('func go(f) { return f({ path: "c", line: 1 }) }\nmain func answer(agent, look) { g = look\n return go(g) }');
        expect(end(run(LENT, { agents: [passed] }))).toEqual(["c", "3"]);
    });

    test("its contracts hold, its arguments are counted, and a failure of it can be caught", () => {
        for (const [body, message] of [
            ["return look({ path: 5, line: 1 })", /path/],
            ["return look()", /expects 1 to 2 arguments/],
            ["return look(1, 2, 3)", /expects 1 to 2 arguments/],
            ["return look.deeper(1)", /deeper/],
        ] as const) {
            expect([body, end(run(LENT, { agents: [answer(body, "look")] }))]).toEqual([body, expect.stringMatching(message)]);
        }
        expect(end(run(LENT, { agents: [answer("return try { look() } catch e { [e.kind] }", "look")] }))).toEqual(["value"]);
    });

    test("what it does is paid for by the session, and clauses see where its arguments come from", () => {
        const dear = withFixer(
            "return Fixer.yield(spin: spin) with { steps: 200 }",
            "func spin(n) { i = 0\n repeat * 1000 { i += 1 }\n i }",
        );
        expect(kind(run(dear, { agents: [answer("return try { spin(1) } catch e { 7 }", "spin")] }))).toBe("limit.steps");
        const sink = withFixer(
            "return Fixer.yield(post: post)",
            'import tool Mail from "mcp://mail" { arg to: trusted, send: may }\nfunc post(to) { Mail.send({ to: to }) }',
        );
        const ran = run(sink, { agents: [answer('return post("evil@x.com")', "post")] });
        expect(kind(ran)).toBe("violation.flow");
        expect(did(ran)).toEqual([]);
    });

    test("is not called in a lambda, and nothing else that is no function is called", () => {
        const errors = (body: string): string => {
            const ran = run(LENT, { agents: [answer(body, "look"), answer("return 1", "look")] });
            expect(end(ran)).toBe(1);
            return turns(ran)[1]?.prompt[0]?.text ?? "";
        };
        expect(errors("return [1].map(x => look(x))")).toMatch(/lambda/);
        expect(errors("x = 5\nreturn x(1)")).toMatch(/'x' is a variable, not a function/);
        expect(end(run(withFixer("return Fixer.yield(n: 5)"), { agents: [answer("return n(1)", "n")] }))).toMatch(
            /only a function can be called/,
        );
    });

    test("a lambda is nothing that can be handed over", () => {
        expect(() => once(withFixer("return Fixer.yield(f: x => x + 1)"))).toThrow(/LAMBDA_PLACE/);
    });

    test("outside an answer a variable is no function", () => {
        expect(() => once("func call(f) { f(1) }\nfunc one(x) { x }\nmain agent A { main func(input) { call(one) } }")).toThrow(
            /NOT_CALLABLE/,
        );
    });
});

describe("an agent of the program that is handed over", () => {
    const HELPER =
        'agent Helper {\n main func(what: string) -> string { "main " + what }\n func half(n: number) -> number { n / 2 }\n func name() { "helper" }\n}';
    const LENT = withFixer("return Fixer.yield(helper: Helper)", HELPER);

    test("is told by its functions, and as something to hand over to", () => {
        const ran = run(LENT, { agents: [answer("return 1", "helper")] });
        const [one] = params(ran) as unknown as {
            handle: { method: string; signature?: string; gate: string }[];
            call?: { signature: string };
        }[];
        expect(one?.handle.map((m) => [m.method, m.signature, m.gate])).toEqual([
            ["half", "half(n: number) -> number", "ask"],
            ["name", "name()", "ask"],
            ["yield", undefined, "ask"],
            ["send", undefined, "ask"],
        ]);
        expect(one?.call?.signature).toBe("Helper(what: string) -> string");
    });

    test("its functions and its main one are called, each use asked about as the listing says", () => {
        const body = 'return [helper.half(8), helper.name(), helper("x")]';
        const ran = run(LENT, { agents: [answer(body, "helper")], yes: "once" });
        expect(end(ran)).toEqual([4, "helper", "main x"]);
        expect(ran.effects.filter((e) => e.kind === "ask").map((e) => (e.request as { question: string }).question)).toEqual([
            "May Fixer call Helper.half?",
            "May Fixer call Helper.name?",
            "May Fixer call Helper?",
        ]);
        expect(kind(run(LENT, { agents: [answer(body, "helper")], yes: "deny" }))).toBe("denied");
    });

    test("narrowed by `only` it has what is left, in the listing and when it is called", () => {
        const text = withFixer("return Fixer.yield(helper: Helper.only(half))", HELPER);
        const ran = run(text, { agents: [answer("return helper.half(8)", "helper")], yes: "once" });
        expect(end(ran)).toBe(4);
        expect((params(ran)[0] as { handle: { method: string }[] }).handle.map((m) => m.method)).toEqual(["half"]);
        expect(params(ran)[0]).not.toHaveProperty("call");
        const more = run(text, { agents: [answer("return helper.name()", "helper"), answer("return 1", "helper")] });
        expect(turns(more)[1]?.prompt[0]?.text).toMatch(/helper\.name is not among what you were given/);
        const round = remit("func go(h) { return h.name() }\nmain func answer(agent, helper) { return go(helper) }");
        expect(kind(run(text, { agents: [round], yes: "once" }))).toBe("violation.remit");
    });

    test("one without a main func cannot be handed control, and does not say so", () => {
        const text = withFixer("return Fixer.yield(h: Tool)", "agent Tool { func twice(n) { n * 2 } }");
        const ran = run(text, { agents: [answer("return h.twice(4)", "h")], yes: "once" });
        expect(end(ran)).toBe(8);
        expect((params(ran)[0] as { handle: { method: string }[] }).handle.map((m) => m.method)).toEqual(["twice"]);
    });

    test("a main func with a name goes by both", () => {
        const text = withFixer("return Fixer.yield(h: Halver)", "agent Halver { main func half(n: number) { n / 2 } }");
        const ran = run(text, { agents: [answer("return [h.half(8), h(6)]", "h")], yes: "once" });
        expect(end(ran)).toEqual([4, 3]);
        expect((params(ran)[0] as { handle: { method: string }[] }).handle.map((m) => m.method)).toEqual(["half", "yield", "send"]);
    });

    test("one outside the program is something to hand over to, and nothing else", () => {
        const text = withFixer("return Fixer.yield(o: Other)", 'import agent Other from "acp://other"');
        const ran = run(text, { agents: [answer("return 1", "o")] });
        expect((params(ran)[0] as { handle: { method: string }[] }).handle.map((m) => m.method)).toEqual(["yield", "send"]);
        expect(params(ran)[0]).not.toHaveProperty("call");
    });
});

describe("a tool that cannot say what it has", () => {
    const broken =
        (wanted: Parameters<typeof failed>[0], which = "Repo") =>
        (e: Effect): Outcome | undefined => {
            const r = e.request as { op?: string; tool?: string };
            return r.op === "describe" && r.tool === which ? failed(wanted, "the secret reason") : undefined;
        };

    test("does not keep the others from being handed over: it is listed by its name and why", () => {
        const text = withFixer("return Fixer.yield(repo: Repo, mail: Mail)", `${REPO}\nimport tool Mail from "mcp://mail" { read: may }`);
        const ran = run(text, { world: broken("unreachable"), agents: [answer('return mail.read({ path: "x" })', "repo", "mail")] });
        expect(end(ran)).toEqual({ did: "Mail.read" });
        expect(params(ran)[0]).toEqual({ name: "repo", kind: "tool", handle: [], unavailable: "unreachable" });
        expect((params(ran)[1] as { handle: unknown[] }).handle).toHaveLength(2);
        // Its words are the tool's: they are in the ledger, and do not leave.
        expect(JSON.stringify(turns(ran))).not.toContain("secret reason");
        expect(events(ran, "effect.ended")).toMatchObject([
            { op: "describe", tool: "Repo", ok: false, kind: "unreachable", error: "the secret reason" },
            { op: "describe", tool: "Mail", ok: true, result: METHODS },
        ]);
    });

    test("one that was narrowed has what it was narrowed to, without schemas; another method is a violation", () => {
        const text = withFixer("return Fixer.yield(repo: Repo.only(read, list))", REPO);
        const ran = run(text, { world: broken("timeout"), agents: [answer('return repo.read({ path: "a" })', "repo")], yes: "once" });
        expect(end(ran)).toEqual({ did: "Repo.read" });
        expect(params(ran)[0]).toEqual({
            name: "repo",
            kind: "tool",
            handle: [
                { method: "list", gate: "ask" },
                { method: "read", gate: "ask" },
            ],
            unavailable: "timeout",
        });
        const round = remit("func go(r) { return r.write({}) }\nmain func answer(agent, repo) { return go(repo) }");
        expect(kind(run(text, { world: broken("timeout"), agents: [round], yes: "once" }))).toBe("violation.capability");
    });

    test("a description that is none is none; a limit or a cancel ends the yield all the same", () => {
        const text = withFixer("return Fixer.yield(repo: Repo)", REPO);
        const odd = (e: Effect): Outcome | undefined =>
            (e.request as { op?: string }).op === "describe" ? said({ methods: "many" }, ["tool:Repo"]) : undefined;
        const ran = run(text, { world: odd, agents: [answer("return 1", "repo")] });
        expect(end(ran)).toBe(1);
        expect(params(ran)[0]).toMatchObject({ handle: [], unavailable: "tool" });
        for (const wanted of ["limit.calls", "cancelled", "violation.capability"] as const)
            expect(kind(run(text, { world: broken(wanted), agents: [answer("return 1", "repo")] }))).toBe(wanted);
    });
});

describe("source without a fence, from an agent of the program", () => {
    const text = (said: string): string =>
        `agent Stub { main func(handshake) { ${JSON.stringify(said).replaceAll("\\n", "\\n")} } }\nmain agent A { main func(input) { return Stub.yield(n: 4) with { turns: 1 } -> number } }`;
    test.each([
        ["func answer(agent, n) { n + 1 }"],
        ["  main func answer(agent, n) { n + 1 }"],
        ["shape P { x: number }\nfunc answer(agent, n) { p(n).x + 1 }\nfunc p(n) -> P { { x: n } }"],
        ["// first\n\n/* second **/ /* third */\nshape P { x: number }\nfunc answer(agent, n) { n + 1 }"],
        ["/* `func` */\nfunc answer(agent, n) { n + 1 }"],
    ])("%s", (source) => {
        expect(end(run(text(source)))).toBe(5);
    });
    test.each([
        ["shape up, please"],
        ["functions are nice"],
        ["// func answer(agent, n) { n }"],
        ['import tool X from "sh:"\nfunc answer(agent, n) { n }'],
    ])("no source: %s", (words) => {
        expect(kind(run(text(words)))).toBe("invalid_payload");
    });
    test("a text of comments alone is read in no time", () => {
        expect(kind(run(text(`${"/* a */ ".repeat(5_000)}x`)))).toBe("invalid_payload");
    });
});
