/** What an agent that was handed control may do, what is known of it, and what it never learns. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answer, did, end, events, handshake, kind, METHODS, origins, remit, run, once, said, turns, withFixer } from "./handing.ts";

const REPO = 'import tool Repo from "file://workspace"';
const LENT = withFixer("return Fixer.yield(repo: Repo, path: input)", REPO);

describe("F12: the handshake holds what was passed, and nothing else of the program", () => {
    test("no text of another variable, function, agent, tool or path is in the bytes of any turn", () => {
        const secret = fc.stringMatching(/^[a-z]{12}$/);
        fc.assert(
            fc.property(fc.array(secret, { minLength: 6, maxLength: 6 }), fc.boolean(), (words, isNested) => {
                const [local, held, global, other, name, passed] = words as [string, string, string, string, string, string];
                fc.pre(new Set(words).size === 6);
                const text = withFixer(
                    `var_${name} = "${local}"\nobj = { ${name}: "${held}", p: "${passed}" }\nx = by_${local}(obj.p)\nreturn [x, var_${name}, obj]`,
                    `import tool T_${other} from "mcp://x"\nfunc helper_${global}() { return "${global}" }\nagent Z_${other} { func f() { T_${other}.run({}) } }\nfunc by_${local}(p) { for i in [1] max 1 { return Fixer.yield(p: p) } }`,
                );
                const inner = isNested ? 'return agent.yield(p: p + "!")' : "return p";
                const ran = once(text, { agents: [answer(inner, "p"), "not yet", answer("return p", "p")] });
                const sent = JSON.stringify(turns(ran).map((t) => t.prompt));
                expect(ran.result.ok).toBe(true);
                expect(sent).toContain(passed);
                for (const word of [local, held, global, other, name]) expect(sent).not.toContain(word);
            }),
            { numRuns: 60 },
        );
    });

    test("what it sends itself is in further turns, and what a tool gave it only where it sends that", () => {
        const ran = run(LENT, {
            options: { input: "a.txt" },
            world: (e) => (e.kind === "tool" && (e.request as { op: string }).op === "call" ? said("CONTENT", ["tool:Repo"]) : undefined),
            agents: [answer('x = repo.read({ path: path })\nagent.send("done")\nreturn x', "repo", "path"), "fine"],
        });
        expect(end(ran)).toBe("CONTENT");
        expect(JSON.stringify(turns(ran).map((t) => t.prompt))).not.toContain("CONTENT");
        expect(origins(ran)).toEqual(["agent:Fixer", "tool:Repo"]);
    });
});

describe("F17: a live thing crosses as its methods", () => {
    test("its URI, file and remit are never in the bytes; its methods are, with their gates", () => {
        const ran = run(withFixer("return Fixer.yield(repo: Repo)", 'import tool Repo from "file://secret-place" { write: ask }'), {
            agents: [answer("return 1", "repo")],
        });
        expect(handshake(ran).params).toEqual([
            {
                name: "repo",
                kind: "tool",
                handle: [
                    {
                        method: "read",
                        description: "Reads a file.",
                        input: { type: "object", properties: { path: { type: "string" } } },
                        gate: "may",
                    },
                    { method: "write", input: { type: "object" }, gate: "ask" },
                ],
            },
        ]);
        expect(JSON.stringify(turns(ran).map((t) => t.prompt))).not.toMatch(/secret-place|main\.remit/);
    });

    test("calling a method that is not listed is told before a step runs", () => {
        const ran = run(LENT, { agents: [answer("return repo.destroy({})", "repo", "path"), answer("return 1", "repo", "path")] });
        expect(end(ran)).toBe(1);
        expect(turns(ran)[1]?.prompt[0]?.text).toMatch(/repo\.destroy is not among what you were given/);
        expect(did(ran)).toEqual([]);
    });

    test("calling it by a way round that is a violation, which its own code does not catch", () => {
        const round = remit(
            'func go(r) { return try { r.destroy({}) } catch e { "caught inside" } }\nmain func answer(agent, repo, path) { return go(repo) }',
        );
        const ran = run(LENT, { agents: [round] });
        expect(kind(ran)).toBe("violation.capability");
        expect(did(ran)).toEqual([]);
        const outside = run(withFixer("return try { Fixer.yield(repo: Repo, path: 1) } catch e { [e.kind] }", REPO), { agents: [round] });
        expect(end(outside)).toEqual(["violation.capability"]);
    });

    test("a narrowed handle has the methods that are left", () => {
        const text = withFixer('return Fixer.yield(repo: Repo.only(read in "src/**"))', REPO);
        const ran = run(text, { agents: [answer('return repo.read({ path: "src/a" })', "repo")] });
        expect((handshake(ran).params as { handle: { method: string }[] }[])[0]?.handle.map((one) => one.method)).toEqual(["read"]);
        expect(did(ran)).toEqual(["Repo.read"]);
        const beyond = run(text, { agents: [answer('return try { repo.read({ path: "etc/passwd" }) } catch e { 1 }', "repo")] });
        expect(kind(beyond)).toBe("violation.remit");
    });

    test("a handle is no data: not returned, not sent, not put in a text", () => {
        for (const body of ["return repo", "return { r: repo }", "return [repo]", "agent.send(repo)\nreturn 1", 'return "x" + repo'])
            expect([body, kind(run(LENT, { agents: [answer(body, "repo", "path"), "ok"] }))]).toEqual([
                body,
                expect.stringMatching(/^violation\.capability$|^value$/),
            ]);
    });

    test("one that it returns is its own violation: the program around the yield catches that", () => {
        const text = withFixer("return try { Fixer.yield(repo: Repo, path: input) } catch e { e.kind }", REPO);
        for (const body of ["return repo", "return { r: [repo] }"])
            expect([body, end(run(text, { agents: [answer(body, "repo", "path")] }))]).toEqual([body, "violation.capability"]);
        const own = 'return try { agent.yield(repo: repo) } catch e { "caught" }';
        expect(kind(run(LENT, { agents: [answer(own, "repo", "path"), answer("return repo", "repo")] }))).toBe("violation.capability");
    });
});

describe("F22: an agent has nothing but what it was passed", () => {
    test("act, agent and reason of the program are not there for it", () => {
        const ran = run(withFixer("return Fixer.yield(a: 1)", REPO), { agents: [answer('return act("Repo.read", { path: "x" })', "a")] });
        expect(end(ran)).toMatchObject({ isError: true });
        expect(did(ran)).toEqual([]);
        const other = remit('func helper() { return agent("do it") }\nmain func answer(agent, a) { return helper() }');
        expect(kind(run(withFixer("return Fixer.yield(a: 1)", REPO), { agents: [other] }))).toMatch(/^value$|^violation|^invalid_payload$/);
    });

    test("a function that was passed runs as whoever passed it", () => {
        const text = withFixer("return Fixer.yield(helper: helper)", `${REPO}\nfunc helper(p) { return Repo.read({ path: p }) }`);
        const ran = run(text, { agents: [answer('box = { go: helper }\nreturn box.go("a")', "helper")] });
        expect(did(ran)).toEqual(["Repo.read"]);
    });

    test("its remit at the import is what it has besides, and a policy of agent() narrows it", () => {
        const text = `${REPO}\nimport agent Fixer from "acp://x" { remit { may Repo.read } }\nmain agent A { main func(input) { return Fixer.yield(a: 1) } }`;
        expect(turns(run(text, { agents: [answer("return 1", "a")] }))[0]?.hands).toMatchObject([
            { tool: "Repo", methods: [{ method: "read", gate: "may" }] },
        ]);
    });

    test("what it does not have is refused with its name, the operation and the position", () => {
        const text = withFixer("return Fixer.yield(repo: Repo.only(read))", REPO);
        const round = remit('func go(r) {\n return r.write({ path: "a" })\n}\nmain func answer(agent, repo) { return go(repo) }');
        const ran = run(text, { agents: [round] });
        expect(ran.result).toMatchObject({
            ok: false,
            failure: {
                kind: expect.stringMatching(/^violation\./),
                message: expect.stringMatching(/Fixer.*Repo\.write|Repo\.write.*Fixer/),
                site: { file: "Fixer's answer", line: 2 },
            },
        });
    });
});

describe("what a clause says of an argument holds for code of an agent", () => {
    const MAIL = 'import tool Mail from "mcp://mail" { send: may, arg to: trusted }';
    test("a literal of its answer is not trusted", () => {
        const text = withFixer("return Fixer.yield(mail: Mail, who: input)", MAIL);
        const ran = run(text, {
            world: (e) =>
                (e.request as { op?: string }).op === "describe"
                    ? said({ methods: [{ name: "send", input: {}, readOnly: false }] }, [])
                    : undefined,
            agents: [answer('return try { mail.send({ to: "evil@x.com", body: "b" }) } catch e { 1 }', "mail", "who")],
        });
        expect(kind(ran)).toBe("violation.flow");
        expect(did(ran)).toEqual([]);
    });
});

describe("F25: what was given dies with the call", () => {
    test("a tool that the function stashed in what it was handed is a copy, so nothing is stashed", () => {
        const text = withFixer("box = {}\nx = try { Fixer.yield(box: box, repo: Repo) } catch e { e.kind }\nreturn [x, box]", REPO);
        const ran = run(text, { agents: [answer('box.r = repo\nreturn "done"', "box", "repo")] });
        expect(end(ran)).toEqual(["done", {}]);
    });
    test("a tool that a function of the program gives back to it is none of its own", () => {
        const text = withFixer("box = {}\nFixer.yield(keep: keep, repo: Repo)\nreturn 1", `${REPO}\nfunc keep(x) { return x }`);
        const ran = run(text, {
            agents: [answer('box = { keep: keep }\ny = box.keep(repo)\nreturn y.read({ path: "a" }).did', "keep", "repo")],
        });
        expect(kind(ran)).toBe("violation.remit");
        expect(did(ran)).toEqual([]);
    });
});

describe("F23, F24: a delegation around a yield", () => {
    test("inside the block its hands have what was delegated, behind it nothing", () => {
        const text = withFixer(
            "x = 0\ndelegate Repo.read to Fixer {\n x = Fixer.yield(a: 1)\n}\ny = Fixer.yield(b: 2)\nreturn [x, y]",
            REPO,
        );
        const ran = run(text, { agents: (turn) => answer("return 1", turn.session.endsWith("#0") ? "a" : "b") });
        expect(turns(ran).map((t) => t.hands.map((h) => [h.tool, h.methods.map((m) => m.method)]))).toEqual([[["Repo", ["read"]]], []]);
    });
});

describe("F26: sessions beside one another", () => {
    test("parallel yields do not see one another's sessions or grants", () => {
        const text = withFixer("return parallel for x in [1, 2, 3] max 3 { Fixer.yield(n: x) }");
        const ran = run(text, { agents: (turn) => answer(turn.turn === 0 ? 'agent.send("s")\nreturn n * 10' : "", "n") });
        expect(end(ran)).toEqual([10, 20, 30]);
        expect(new Set(turns(ran).map((t) => t.session)).size).toBe(3);
        expect(events(ran, "yield.closed")).toHaveLength(3);
        const last = run(text, {
            pick: (waiting) => waiting.length - 1,
            agents: (turn) => answer(turn.turn === 0 ? 'agent.send("s")\nreturn n * 10' : "", "n"),
        });
        expect(end(last)).toEqual([10, 20, 30]);
    });
});

describe("questions while a function of an agent runs", () => {
    test("a yes and a no, saved in between and loaded elsewhere", () => {
        const text = withFixer("return Fixer.yield(repo: Repo)", 'import tool Repo from "file://workspace" { write: ask }');
        const agents = [answer('return repo.write({ path: "a", content: "x" })', "repo")];
        expect(end(run(text, { agents, yes: "once" }))).toEqual({ did: "Repo.write" });
        expect(kind(run(text, { agents, yes: "deny" }))).toBe("denied");
        const asked = run(text, { agents, yes: "once" }).effects.find((e) => e.kind === "ask");
        expect(asked?.request).toMatchObject({
            question: expect.stringContaining("Fixer"),
            detail: { chosen_by: "agent", method: "write" },
        });
    });
});

describe("readers: the handshake is a sink", () => {
    test("what only some may read is not handed to an agent that is none of them", () => {
        const text = withFixer('x = Hr.read({ path: "a" })\nreturn Fixer.yield(x: x)', 'import tool Hr from "file://hr" { reads: "hr" }');
        const ran = run(text, { agents: [answer("return 1", "x")], unchecked: true });
        expect(kind(ran)).toBe("violation.flow");
        expect(turns(ran)).toEqual([]);
        expect(METHODS).toBeDefined();
    });
});
