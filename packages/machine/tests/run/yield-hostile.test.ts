/** Answers that are meant to do harm, and programs under strict callers, delegation and questions with them. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { answer, did, end, events, failed, kind, once, origins, remit, replied, run, said, turns, withFixer } from "./handing.ts";

const REPO = 'import tool Repo from "file://workspace"';

describe("every violation is caught by the program and never by the agent's code", () => {
    const attempts: readonly (readonly [string, string, string, string])[] = [
        [
            "a tool that it was not given, by a handle that has ended",
            "repo: Repo.only(read)",
            'return try { r = [repo][0]\n r.write({}) } catch e { "inside" }',
            "violation.",
        ],
        ["endorsing what it made up", "a: 1", 'return try { endorse a as trusted because "I say so" } catch e { "inside" }', "violation."],
        ["a capability as text", "repo: Repo", 'return try { "x" + repo } catch e { "inside" }', "violation.capability"],
    ];
    test.each(attempts)("%s", (_, args, body, wanted) => {
        const params = [args.split(":")[0] as string];
        const ran = run(withFixer(`return try { Fixer.yield(${args}) } catch e { [e.kind] }`, REPO), { agents: [answer(body, ...params)] });
        expect(kind(ran)).toMatchObject([expect.stringContaining(wanted)]);
        expect(did(ran)).toEqual([]);
    });
});

describe("labels of what an agent does", () => {
    const MAIL = 'import tool Mail from "mcp://mail" { send: may, arg to: among("user") }';
    const described = (e: Effect): Outcome | undefined =>
        (e.request as { op?: string }).op === "describe"
            ? said({ methods: [{ name: "send", input: { properties: { to: {}, body: {} } }, readOnly: false }] }, [])
            : undefined;

    test("among: a word of the user is let through from an answer, one that it made up is not", () => {
        const text = withFixer("return Fixer.yield(mail: Mail, text: input)", MAIL);
        const sends = (to: string): string => answer(`return mail.send({ to: ${to}, body: "b" })`, "mail", "text");
        const options = { input: "write to dana@x.com please" };
        expect(did(run(text, { world: described, options, agents: [sends('"dana@x.com"')] }))).toEqual(["Mail.send"]);
        const evil = run(text, { world: described, options, agents: [sends('"evil@x.com"')] });
        expect(kind(evil)).toBe("violation.flow");
        expect(did(evil)).toEqual([]);
    });

    test("what the program does with the value of a yield carries the agent to the sink", () => {
        const text = withFixer(
            'x = Fixer.yield(a: 1)\nreturn Mail.send({ to: x, body: "b" })',
            'import tool Mail from "mcp://mail" { arg to: trusted }',
        );
        expect(() => run(text)).toThrow("FLOW_REFUSED");
        expect(kind(run(text, { agents: [answer('return "evil@x.com"', "a")], unchecked: true }))).toBe("violation.flow");
    });

    test("so does a failure that it raises, and which way it took under a strict caller", () => {
        const raised = withFixer(
            'x = try { Fixer.yield(a: 1) } catch e { e.message }\nreturn Mail.send({ to: x, body: "b" })',
            'import tool Mail from "mcp://mail" { arg to: trusted }',
        );
        expect(kind(run(raised, { agents: [answer('raise "evil@x.com"', "a")] }))).toBe("violation.flow");
        const strict = `flow strict\n${withFixer('x = "no"\nif Fixer.yield(a: 1) { x = "evil@x.com" }\nreturn Mail.send({ to: x, body: "b" })', 'import tool Mail from "mcp://mail" { arg to: trusted }')}`;
        expect(kind(run(strict, { agents: [answer("return true", "a")], unchecked: true }))).toBe("violation.flow");
    });

    test("a tool that it calls answers with its own origins, and the value of the yield has both", () => {
        const ran = run(withFixer("return Fixer.yield(repo: Repo)", REPO), {
            agents: [answer('return repo.read({ path: "a" }).did', "repo")],
        });
        expect(origins(ran)).toEqual(["agent:Fixer", "tool:Repo"]);
    });

    test("what it sends over its session is labelled with the agent when it comes back, and a strict caller's place goes along", () => {
        const strict = `flow strict\n${withFixer("if input { return Fixer.yield(a: 1) }\nreturn 2")}`;
        const ran = run(strict, { options: { input: true }, agents: [answer("return 1", "a")] });
        expect(origins(ran)).toEqual(["agent:Fixer", "user"]);
        expect(ran.effects.find((e) => e.kind === "agent")?.labels).toEqual(["user"]);
    });
});

describe("delegate … to an agent around its yield", () => {
    test("its hands and its function have it inside, and an agent that it calls has not", () => {
        const text = withFixer("x = 0\ndelegate Repo.read to Fixer { x = Fixer.yield(a: 1) }\nreturn x", REPO);
        const ran = run(text, { agents: [answer("return 1", "a")] });
        expect(turns(ran)[0]?.hands).toMatchObject([{ tool: "Repo", methods: [{ method: "read" }] }]);
        expect(events(ran, "delegate.lifted").length).toBeGreaterThan(0);
    });

    test("lifted where the yield fails", () => {
        const text = withFixer(
            "try { delegate Repo.read to Fixer { Fixer.yield(a: 1) } } catch e { }\nx = Fixer.yield(b: 1)\nreturn x",
            REPO,
        );
        const ran = once(text, { agents: (turn) => (turn.session.endsWith("#0") ? failed("unreachable") : answer("return 1", "b")) });
        expect(turns(ran).map((t) => t.hands.length)).toEqual([1, 0]);
        expect(end(ran)).toBe(1);
    });
});

describe("answers that do not fit", () => {
    const ONE = withFixer("return Fixer.yield(a: 1) with { turns: 2 }");
    const bad: readonly (readonly [string, string])[] = [
        [
            "shadowing built-ins is its own affair",
            remit("func text(x) { return 5 }\nfunc max(a, b) { return 6 }\nmain func answer(agent, a) { return [text(1), max(1, 2)] }"),
        ],
        ["a function named like a parameter", remit("func a(x) { return 1 }\nmain func answer(agent, a) { return a }")],
    ];
    test.each(bad)("%s: it ends in a value or in words", (_, text) => {
        const ran = run(ONE, { agents: [text] });
        expect([true, "invalid_payload"].includes(ran.result.ok ? true : ran.result.failure.kind)).toBe(true);
    });

    test("what it shadows is not shadowed for the program", () => {
        const text = withFixer("x = Fixer.yield(a: 1)\nreturn [x, text(7), max(1, 2), helper()]", 'func helper() { return "own" }');
        const own = remit(
            'func text(x) { return "evil" }\nfunc helper() { return "evil" }\nmain func answer(agent, a) { return helper() }',
        );
        const ran = run(text, { agents: [own] });
        expect(end(ran)).toMatchObject(ran.result.ok ? ["evil", "7", 2, "own"] : expect.stringMatching(/./));
    });

    test.each([
        ["a stray surrogate and a bidirectional mark in a text", 'return "\\u202e"'],
        ["keys of prototypes", 'return { "__proto__": 1, "constructor": { "prototype": 2 }, "toString": 3 }'],
        ["a value that holds itself", "l = []\nl.add(l)\nreturn l"],
        ["not a number", "return 0 / 0"],
        ["a huge number", "return 10 ** 400"],
    ])("%s", (_, body) => {
        const ran = run(ONE, { agents: [answer(body, "a")] });
        expect(() => JSON.stringify(ran.events)).not.toThrow();
        expect(({} as { polluted?: Json }).polluted).toBeUndefined();
        if (!ran.result.ok) expect(ran.result.failure.kind).toMatch(/^(value|invalid_payload|violation\.payload|limit\.depth)$/);
    });

    test("a value far too deep to leave", () => {
        const ran = once(ONE, { agents: [answer("l = []\nloop until false max 20000 { l = [l] }\nreturn l", "a")] });
        expect(kind(ran)).toMatch(/^(value|limit\.(depth|bytes)|limit)/);
    });

    test("a reply that is no reply is a failure of the agent, not of the machine", () => {
        for (const value of [
            null,
            5,
            "text",
            [],
            {},
            { text: 5 },
            { text: "x", stop: 7, entries: "no" },
            { text: "x", stop: "end_turn", resources: [{ uri: 1 }] },
        ] as Json[]) {
            const ran = once(ONE, { agents: [said(value, ["agent:Fixer"])] });
            expect([value, ran.result.ok ? "ok" : ran.result.failure.kind]).toEqual([
                value,
                expect.stringMatching(/^(invalid_payload|tool|contract)$/),
            ]);
        }
    });

    test("resources that lie about what they are", () => {
        const resources = [
            { uri: "a:b", mediaType: "__proto__", text: "x" },
            { uri: "a:b", mediaType: "constructor", text: "x" },
        ];
        expect(kind(run(ONE, { agents: [replied("", { resources })] }))).toBe("invalid_payload");
    });
});

describe("answers that attack what is around them", () => {
    const LENT = withFixer(
        "return try { Fixer.yield(repo: Repo, a: 1) with { steps: 20000, calls: 3, turns: 2 } } catch e { [e.kind] }",
        REPO,
    );
    const laughs = "l = [1]\nrepeat * 30 { l = [l, l] }\n";
    test.each<[string, string, RegExp]>([
        ["what is shared 2^30 times, as the value", `${laughs}return l`, /^(?:value|limit\.bytes)$/],
        ["what is shared 2^30 times, to a tool", `${laughs}return repo.write({ path: "a", content: l })`, /^(?:value|limit\.bytes)$/],
        ["what is shared 2^30 times, over its session", `${laughs}return agent.send(l)`, /^(?:value|limit\.bytes)$/],
        [
            "what is shared 2^30 times, compared",
            `${laughs}m = [1]\nrepeat * 30 { m = [m, m] }\nreturn if l == m { raise "equal" } else { 2 }`,
            /^raised$/,
        ],
        ["10,000 deep, to a tool", "l = []\nrepeat * 2000 { l = [l] }\nreturn repo.write({ path: l })", /^(?:value|limit\.\w+)$/],
        [
            "more steps than the call has, in a region of its own",
            "spend 1000000 steps { repeat * 1000000 { x = 1 } }\nreturn 1",
            /^limit\.steps$/,
        ],
        [
            "more calls, in a region that catches",
            'repeat * 9 { spend 100 calls { x = try { repo.read({ path: "a" }) } catch e { 1 } } }\nreturn 1',
            /^limit\.calls$/,
        ],
        [
            "more calls, side by side",
            'x = parallel for i in [1, 2, 3, 4, 5, 6] max 6 {\ny = try { repo.read({ path: "a" }) } catch e { 1 }\ny\n}\nreturn x',
            /^limit\.calls$/,
        ],
        [
            "more turns, side by side",
            'x = parallel for i in [1, 2, 3] max 3 {\ny = try { agent.send("x") } catch e { 1 }\ny\n}\nreturn x',
            /^limit\.turns$/,
        ],
    ])("%s", (_, body, wanted) => {
        for (const options of [{}, { mode: "frames" }] as const) {
            const ran = once(LENT, {
                options: { ...options, concurrency: 6, limits: { bytes: 4_000_000 } },
                agents: (turn) => (turn.turn === 0 ? answer(body, "repo", "a") : "text"),
                yes: "once",
            });
            const what = ran.result.ok ? (ran.result.value as [string])[0] : ran.result.failure.kind;
            expect(what).toMatch(wanted);
            expect(did(ran).length).toBeLessThanOrEqual(3);
            expect(did(ran)).not.toContain("Repo.write");
        }
    });
    test("a pattern that takes others exponentially long", () => {
        const body = `return ["${"a".repeat(3000)}".match("^(a+)+$b"), "${"a".repeat(3000)}".match("(a|a)*$c")]`;
        expect(end(once(LENT, { agents: [answer(body, "repo", "a")] }))).toEqual([null, null]);
    });
});

describe("F26: two agents, one with a delegation", () => {
    test("interleaved yields: the other never passes a check", () => {
        const text = `${REPO}\nimport agent One from "acp://x"\nimport agent Two from "acp://y"\nmain agent A { main func(input) {\n return parallel for who in [1, 2] max 2 {\n x = 0\n if who == 1 { delegate Repo.read to One { x = One.yield(a: 1) } } else { x = try { Two.yield(a: 1) } catch e { [e.kind] } }\n x\n }\n} }`;
        for (const pick of [() => 0, (w: readonly Effect[]) => w.length - 1]) {
            const ran = once(text, { pick, agents: () => answer("return 1", "a") });
            expect(end(ran)).toEqual([1, 1]);
            expect(Object.fromEntries(turns(ran).map((t) => [t.agent.name, t.hands.length]))).toEqual({ One: 1, Two: 0 });
        }
    });
});
