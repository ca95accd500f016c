/** What the remit gives is there by its name in an answer (LANGUAGE 6), and holds like a handle that was passed. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { AgentTurn } from "../../src/index.ts";
import { answer, did, end, handshake, kind, remit, run, said, turns, withFixer } from "./handing.ts";

const TOOLS = 'import tool Repo from "file://workspace"\nimport tool Mail from "mcp://mail"\nimport tool Other from "mcp://other"';
const given = (clauses: string, body = "return Fixer.yield(a: 1)"): string => withFixer(body, TOOLS, ` { remit { ${clauses} } }`);
const READ = given("may Repo.read");
/** The same function in program form. */
const form = (object: string, method: string, params: readonly string[] = ["agent", "a"]): string =>
    `\`\`\`json\n${JSON.stringify({
        name: "answer",
        params: params.map((name) => ({ name })),
        effects: [],
        body: [
            {
                kind: "return",
                value: {
                    kind: "call",
                    callee: { kind: "member", object: { kind: "name", name: object }, name: method },
                    args: [
                        { value: { kind: "object", entries: [{ kind: "entry", key: "path", value: { kind: "literal", value: "x" } }] } },
                    ],
                },
            },
        ],
    })}\n\`\`\`\n`;

describe("what the remit gives is there by its name", () => {
    test.each([
        ["in source", answer('return Repo.read({ path: "x" })', "a")],
        ["in program form", form("Repo", "read")],
        ["in a function beside the answer", remit('func get(p) { Repo.read({ path: p }) }\nfunc answer(agent, a) { get("x") }')],
        ["as a value", answer("box = { repo: Repo }\nreturn box.repo.read({ path: a })", "a")],
        ["by act", answer('return act("Repo.read", { path: "x" }).structuredContent', "a")],
    ])("%s", (_name, agent) => {
        const ran = run(READ, { agents: [agent] });
        expect([end(ran), did(ran)]).toEqual([{ did: "Repo.read" }, ["Repo.read"]]);
    });

    test("the handshake lists it with its methods and gates, beside the arguments; the text says that it needs no import", () => {
        const ran = run(
            given('may Repo.read in "src/**" ask Repo.write may Mail never Mail.write', "return Fixer.yield(repo: Repo.only(read))"),
            {
                agents: [answer("return 1", "repo")],
            },
        );
        const doc = handshake(ran) as { params: { name: string }[]; remit: { name: string; handle: { method: string; gate: string }[] }[] };
        expect(doc.params.map(({ name }) => name)).toEqual(["repo"]);
        expect(doc.remit.map(({ name, handle }) => [name, handle.map(({ method, gate }) => `${gate} ${method}`)])).toEqual([
            ["Repo", ["may read", "ask write"]],
            ["Mail", ["may read"]],
        ]);
        expect(turns(ran)[0]?.prompt[0]?.text).toContain("without an import: Repo, Mail.");
        expect(JSON.stringify(turns(ran).map((t) => t.prompt))).not.toMatch(/Other|workspace|mcp:/);
    });

    test("without a remit nothing is, and the handshake does not speak of it", () => {
        const ran = run(withFixer("return Fixer.yield(a: 1)", TOOLS), { agents: [answer('return Repo.read({ path: "x" })', "a")] });
        expect([kind(ran), did(ran)]).toEqual(["invalid_payload", []]);
        expect(handshake(ran)).not.toHaveProperty("remit");
    });

    test("act lists what is left of it, and no tool beside it", () => {
        const lists = (clauses: string): Json =>
            end(run(given(clauses), { agents: [answer('return act("__manual__", {}).structuredContent.tools.map(t => t.name)', "a")] }));
        expect(lists("may Repo.read")).toEqual(["Repo.read"]);
        expect(lists("may Repo never Repo.write")).toEqual(["Repo.read"]);
        expect(lists('ask Repo.write in "src/**"')).toEqual(["Repo.write"]);
        expect(lists('may Repo never Repo.write in "src/**"')).toEqual(["Repo.read", "Repo.write"]);
        const other = run(READ, { agents: [answer('return act("Other.read", {})', "a")] });
        expect(JSON.stringify(end(other))).toMatch(/there are Repo/);
        expect(JSON.stringify(end(other))).not.toMatch(/Mail/);
    });
});

describe("an argument of that name hides it", () => {
    const HIDES = given("may Repo.read, Repo.write", "return Fixer.yield(Repo: Repo.only(read), a: 1)");
    test("in the answer, with what is left of the argument", () => {
        const ran = run(HIDES, {
            agents: [
                answer('return try { Repo.write({ path: "x", content: "y" }) } catch e { 1 }', "Repo", "a"),
                answer("return 2", "Repo", "a"),
            ],
        });
        expect([end(ran), did(ran)]).toEqual([2, []]);
        expect(turns(ran)[1]?.prompt[0]?.text).toMatch(/Repo\.write is not among what you were given/);
        const round = run(HIDES, {
            agents: [answer('box = { go: Repo }\nreturn try { box.go.write({ path: "x", content: "y" }) } catch e { 1 }', "Repo", "a")],
        });
        expect([kind(round), did(round)]).toEqual(["violation.remit", []]);
    });

    test("data hides it, a variable does, and a function or shape of the answer does", () => {
        const data = given("may Repo", 'return Fixer.yield(Repo: { read: "text" })');
        expect(end(run(data, { agents: [answer("return Repo.read", "Repo")] }))).toBe("text");
        for (const body of [answer("Repo = [1]\nreturn Repo.length", "a"), remit("func Repo() { 1 }\nfunc answer(agent, a) { Repo() }")])
            expect(end(run(given("may Repo"), { agents: [body] }))).toBe(1);
    });

    test.each([
        ["what the remit does not give", "may Repo.read"],
        ["nor what it gives", "may Repo.read, text.read"],
    ])("no import has the name of a built-in in an answer: %s", (_name, clauses) => {
        const program = withFixer("return Fixer.yield(a: 1)", `${TOOLS}\nimport tool text from "mcp://text"`, ` { remit { ${clauses} } }`);
        const ran = run(program, { agents: [answer("return text(a)", "a")] });
        expect([end(ran), (handshake(ran)["remit"] as { name: string }[]).map(({ name }) => name)]).toEqual(["1", ["Repo"]]);
    });

    test("a function of the answer that has no such parameter sees the remit's", () => {
        const ran = run(HIDES, {
            agents: [remit('func go() { Repo.write({ path: "x", content: "y" }) }\nfunc answer(agent, Repo, a) { go() }')],
        });
        expect(did(ran)).toEqual(["Repo.write"]);
    });
});

describe("it holds like a handle that was passed", () => {
    test.each([
        ["what the remit does not name", "may Repo.read", answer("return Mail.read({})", "a")],
        ["in program form", "may Repo.read", form("Mail", "read")],
        ["a method that it does not name", "may Repo.read", answer('return Repo.write({ path: "x", content: "y" })', "a")],
        ["never beats may", "may Repo never Repo.write", answer('return Repo.write({ path: "x", content: "y" })', "a")],
        ["a method that the tool does not have", "may Mail", answer("return Mail.destroy({})", "a")],
        ["an import in the answer", "may Repo.read", remit('import tool Repo from "file://workspace"\nfunc answer(agent, a) { 1 }')],
        [
            "an import of another tool under that name",
            "may Repo.read",
            remit('import tool Repo from "mcp://mail"\nfunc answer(agent, a) { 1 }'),
        ],
    ])("%s: sent back before a step runs", (_name, clauses, agent) => {
        const ran = run(given(clauses), { agents: [agent, answer("return 1", "a")] });
        expect([end(ran), did(ran)]).toEqual([1, []]);
        expect(turns(ran)).toHaveLength(2);
        expect(turns(ran)[1]?.prompt[0]?.text).not.toMatch(/\bimport it\b|workspace|mcp:/);
    });

    test.each([
        ["never beats may", "may Repo never Repo.write", "Repo", 'write({ path: "x", content: "y" })'],
        ["a bound", 'may Repo.read in "src/**"', "Repo", 'read({ path: "etc/passwd" })'],
        ["a number's bound", "may Mail.read in n: 0..5", "Mail", "read({ n: 6 })"],
        ["a method that is not listed", "may Mail", "Mail", "destroy({})"],
    ])("%s holds by a way round, and its own code does not catch it", (_name, clauses, tool, use) => {
        const ran = run(given(clauses), { agents: [answer(`box = { go: ${tool} }\nreturn try { box.go.${use} } catch e { 1 }`, "a")] });
        expect([kind(ran), did(ran)]).toEqual([expect.stringMatching(/^violation\.(remit|capability)$/), []]);
    });

    test("what is within the bound passes, what the remit asks about is asked", () => {
        const inside = answer('return Repo.read({ path: "src/a" })', "a");
        expect(did(run(given('may Repo.read in "src/**"'), { agents: [inside] }))).toEqual(["Repo.read"]);
        const write = answer('return Repo.write({ path: "x", content: "y" })', "a");
        for (const [yes, done] of [
            ["once", ["Repo.write"]],
            ["deny", []],
        ] as const)
            expect(did(run(given("ask Repo.write"), { agents: [write], yes }))).toEqual(done);
    });

    test("a clause of an argument and of who chooses holds", () => {
        const clause = (says: string): string => given("may Mail").replace('"mcp://mail"', `"mcp://mail" { ${says} }`);
        const write = answer('return Mail.write({ to: "a@b.c" })', "a");
        for (const says of ["write: may, arg to: trusted", "write: may, choice write: trusted"]) {
            const ran = run(clause(says), {
                agents: [write],
                world: (e) =>
                    e.kind === "tool" && (e.request as { op: string }).op === "describe"
                        ? said({ methods: [{ name: "write", input: { type: "object", properties: { to: {} } } }] }, ["tool:Mail"])
                        : undefined,
            });
            expect([says, kind(ran), did(ran)]).toEqual([says, "violation.flow", []]);
        }
    });

    test("what it gives carries its origins and the agent's", () => {
        const ran = run(READ, { agents: [answer('return Repo.read({ path: "x" })', "a")] });
        expect(ran.result.ok && ran.result.origins).toEqual(["agent:Fixer", "tool:Repo"]);
    });

    test("no capability is data under that name, either", () => {
        for (const body of ["return Repo", 'return "x" + Repo', "agent.send(Repo)\nreturn 1"])
            expect([body, kind(run(READ, { agents: [answer(body, "a"), "ok"] }))]).toEqual([
                body,
                expect.stringMatching(/^violation\.capability$|^value$|^invalid_payload$/),
            ]);
    });
});

describe("what is delegated", () => {
    test("is there inside the block, and not behind it", () => {
        const body =
            "x = try { Fixer.yield(a: 0) } catch e { e.kind }\ndelegate Repo.read to Fixer {\ny = Fixer.yield(a: 1)\n}\nz = try { Fixer.yield(a: 2) } catch e { e.kind }\nreturn [x, z]";
        const ran = run(given("may Mail.read", body), { agents: () => answer('return Repo.read({ path: "x" })', "a") });
        expect([end(ran), did(ran)]).toEqual([["invalid_payload", "invalid_payload"] as Json, ["Repo.read"]]);
    });

    test("may be passed on onward alone, and a handle of it dies with the block", () => {
        const text = (onward: string): string =>
            withFixer(
                `delegate Repo.read to Fixer${onward} {\nFixer.yield(keep: keep)\n}\nreturn Fixer.yield(a: 1)`,
                `${TOOLS}\nfunc keep(h) { h.read({ path: "inside" }) }`,
                " { remit { may Mail.read } }",
            );
        const agents = (turn: AgentTurn): string =>
            JSON.stringify(turn.prompt).includes('\\"keep\\"')
                ? answer("keep(Repo)\nreturn 1", "keep")
                : answer('return act("Repo.read", { path: "x" })', "a");
        const ran = run(text(" onward"), { agents });
        expect(did(ran)).toEqual(["Repo.read"]);
        expect(JSON.stringify(end(ran))).toMatch(/there is no tool 'Repo.read'; there are Mail/);
        expect([kind(run(text(""), { agents })), did(run(text(""), { agents }))]).toEqual(["violation.remit", []]);
    });
});
