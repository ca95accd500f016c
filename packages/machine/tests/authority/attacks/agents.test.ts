/** Attacks by what agents answer: on sessions, on what is asked about, on what others defined, and on what calls of the program give. */
import { describe, expect, test } from "vitest";
import { Compiled, Machine } from "../../../src/index.ts";
import { OPTIONS } from "../../run/forms.ts";
import { answer, did, end, events, kind, origins, replied, run, said, turns, withFixer } from "../../run/handing.ts";
import { formOf } from "../../run/text.ts";

const REPO = 'import tool Repo from "file://workspace"';
const two = (body: string, before = ""): string => `import agent Builder from "acp://b"\n${withFixer(body, before)}`;

describe("another agent that was handed over is another agent", () => {
    const agents = (turn: { readonly agent: { readonly name: string } }): string =>
        turn.agent.name === "Fixer" ? answer("return b.yield(z: 7)", "b") : answer("return z * 2", "z");

    test("handing control to it opens a session with it, and asks first", () => {
        const ran = run(two("return Fixer.yield(b: Builder)"), { agents, yes: "once" });
        expect(end(ran)).toBe(14);
        expect(turns(ran).map((t) => t.agent.name)).toEqual(["Fixer", "Builder"]);
        expect(new Set(turns(ran).map((t) => t.session)).size).toBe(2);
        expect(origins(ran)).toEqual(["agent:Builder", "agent:Fixer"]);
        const denied = run(two("return Fixer.yield(b: Builder)"), { agents });
        expect(kind(denied)).toBe("denied");
        expect(turns(denied).map((t) => t.agent.name)).toEqual(["Fixer"]);
    });

    test("what is said to it does not reach the agent that holds it", () => {
        const ran = run(two("return Fixer.yield(b: Builder)"), {
            yes: "once",
            agents: (turn) => (turn.agent.name === "Fixer" ? answer('return b.send("for Builder")', "b") : "from Builder"),
        });
        expect(end(ran)).toBe("from Builder");
        expect(JSON.stringify(turns(ran).find((t) => t.agent.name === "Builder")?.prompt)).toContain("for Builder");
    });
});

describe("a program that says nothing of authority", () => {
    const inner = (source: string, call: string): string =>
        `${REPO}\nagent Inner { main func(x) { return ${JSON.stringify(source)} } }\nmain agent A { main func(input) { return ${call} } }`;

    test("what an agent of it answers is code of an agent: what does not only read is asked about", () => {
        const text = inner('func answer(agent, repo) { return repo.write({ path: "a", content: "b" }) }', "Inner.yield(repo: Repo)");
        const ran = run(text);
        expect(kind(ran)).toBe("denied");
        expect(did(ran)).toEqual([]);
        expect(ran.effects.find((e) => e.kind === "ask")?.request).toMatchObject({ detail: { chosen_by: "agent", method: "write" } });
        expect(end(run(text, { yes: "once" }))).toEqual({ did: "Repo.write" });
        const reading = run(inner('func answer(agent, repo) { return repo.read({ path: "a" }) }', "Inner.yield(repo: Repo)"));
        expect(end(reading)).toEqual({ did: "Repo.read" });
    });

    test("a name for act() that came from elsewhere makes it their call", () => {
        const text = `${REPO}\nimport tool Web from "https://x.example"\nmain agent A { main func(input) {\n n = Web.get({ url: "https://x.example/" })\n return act(n, { path: "a", content: "x" })\n} }`;
        const world = (e: { readonly request: unknown }) =>
            (e.request as { method?: string }).method === "get" ? said("Repo.write", ["tool:Web"]) : undefined;
        const ran = run(text, { world });
        expect(did(ran)).toEqual(["Web.get"]);
        expect(ran.effects.filter((e) => e.kind === "ask")).toHaveLength(1);
    });
});

describe("what an agent defined", () => {
    const defining = (code: string, after: string, before = "") =>
        run(two(`delegate all to Fixer {\n x = Fixer.yield(a: 1)\n}\n${after}`, before), {
            agents: (turn) => (turn.agent.name === "Fixer" ? answer(`${code}\nreturn 1`, "a") : answer('return act("f", { x: 1 })', "q")),
        });

    test("is there for the program, and for no other agent's code", () => {
        const code = "define f = func(x) { return x + 100 }";
        expect(end(defining(code, 'return act("f", { x: 1 })'))).toMatchObject({ structuredContent: 101 });
        const other = defining(code, "return Builder.yield(q: 1)");
        expect(end(other)).toMatchObject({ isError: true });
        expect(JSON.stringify(end(other))).not.toContain("there are f");
        const own = run(two("x = 0\ndelegate all to Fixer {\n x = Fixer.yield(a: 1)\n}\nreturn x"), {
            agents: [answer(`${code}\nreturn act("f", { x: 1 })`, "a")],
        });
        expect(end(own)).toMatchObject({ structuredContent: 101 });
    });

    test("gives what the function that it replaces promised, and takes what that took", () => {
        const before = 'shape Level { level: "low" | "high" }\nfunc level(x: number) -> Level { return { level: "low" } }';
        const wrong = defining('define level = func(x) { return { level: "admin" } }', "return level(1)", before);
        expect(kind(wrong)).toBe("contract");
        const right = defining('define level = func(x) { return { level: "high" } }', "return level(1)", before);
        expect(end(right)).toEqual({ level: "high" });
        expect(kind(defining('define level = func(x) -> string { return "admin" }', "return level(1)", before))).toBe("value");
        const defaults = defining("define f = func(x, y) { return x + y }", "return f(1)", "func f(x, y = 10) { return x }");
        expect(end(defaults)).toBe(11);
    });

    test("is its author's wherever it runs: what it is handed is asked about, and nothing of the program is there", () => {
        const before = `${REPO}\nfunc helper(x) { return 1 }`;
        const ran = defining(
            'define helper = func(r) { return try { r.write({ path: "a" }) } catch e { e.kind } }',
            "return helper(Repo)",
            before,
        );
        expect([end(ran), did(ran)]).toEqual(["denied", []]);
        const far = defining('define helper = func(r) { return act("Repo.write", { path: "a" }) }', "return helper(1)", before);
        expect([end(far), did(far)]).toMatchObject([{ isError: true }, []]);
    });

    test("is defined by whom all was delegated to, and by nobody it called", () => {
        const ran = run(two("delegate all to Fixer {\n x = Builder.yield(a: 1)\n}\nreturn 1"), {
            agents: [answer("define helper = func(r) { return 5 }\nreturn 1", "a")],
        });
        expect(kind(ran)).toBe("violation.remit");
        expect(events(ran, "program.changed")).toEqual([]);
    });
});

describe("what an agent does with its own hands", () => {
    test("a yes for the session is for what flowed when it was given, and for no other flow", () => {
        const text = `import tool Web from "https://x.example"
import tool Repo from "file://workspace" { arg content: trusted or ask }
import agent Fixer from "acp://x" { remit { may Repo.write } }
main agent A { main func(input) {
    page = Web.get({ url: "https://x.example/" })
    x = Fixer.yield(a: 1)
    y = Fixer.yield(a: page)
    return 1
} }`;
        const machine = Machine.start(new Compiled(formOf(text)), OPTIONS);
        const uses: string[] = [];
        for (let step = machine.advance(); step.state !== "done"; step = machine.advance())
            for (const { kind: what, path } of step.effects) {
                if (what === "agent") {
                    const ruling = machine.rule(path, { tool: "Repo", method: "write", args: [{ path: "a", content: "b" }] });
                    expect(ruling.kind).toBe("ask");
                    if (ruling.kind === "ask") uses.push(ruling.use);
                }
                machine.resolve(path, what === "agent" ? replied(answer("return 1", "a")) : said("page", ["tool:Web"]));
            }
        expect(uses).toHaveLength(2);
        expect(new Set(uses).size).toBe(2);
    });
});
