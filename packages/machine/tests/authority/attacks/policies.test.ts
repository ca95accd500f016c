/** `policy` of `agent()` takes away whatever the agent has, and however it has it. */
import { describe, expect, test } from "vitest";
import { did, outcome, run, said } from "../running.ts";

const REPO = 'import tool Repo from "file://workspace"';
const call = (policy: string): string => `agent("p", { agent: Worker, policy: ${policy}, on_error: "fail" })`;

const program = (worker: string, more = "", body = call("ReadOnly")): string => `
${REPO}
remit ReadOnly { may Repo.read, Other }
agent Worker { ${worker} }
agent Other { remit { may Other } func use(repo) { repo.write({ path: "x" }) } func go() { Repo.write({ path: "x" }) } main func(t) { t } }
${more}
main agent { main func() { ${body} } }`;

describe("a write that the policy does not give is refused", () => {
    test.each<[string, string, string?, string?]>([
        ["by its name", 'main func(p) { Repo.write({ path: "x" }) }'],
        ["through what it narrowed", 'main func(p) { repo = Repo.only(write)  repo.write({ path: "x" }) }'],
        ["through a value", 'remit { may Repo } main func(p) { repo = Repo  repo.write({ path: "x" }) }'],
        ["in a function", "main func(p) { plain() }", 'func plain() { Repo.write({ path: "x" }) }'],
        ["in parallel", 'main func(p) { parallel for i in [1, 2] max 2 { Repo.write({ path: "x" }) } }'],
        ["by an agent that it passes it to", "main func(p) { Other.use(Repo) }"],
        ["by one that it passes its own to", "remit { may Repo, Other } main func(p) { Other.use(Repo) }"],
        ["by one that it delegates it to", "main func(p) { delegate Repo.write to Other { Other.go() } }"],
        ["by the name that act() is given", 'main func(p) { act("Repo.write", { path: "x" }) }'],
        [
            "where it was delegated",
            'remit { may Repo.read } main func(p) { Repo.write({ path: "x" }) }',
            "",
            `delegate Repo.write to Worker { ${call("ReadOnly")} }`,
        ],
    ])("%s", (_name, worker, more, body) => {
        const ran = run(program(worker, more, body));
        expect(did(ran)).toEqual([]);
        expect(outcome(ran)).toBe("violation.remit");
    });
});

test("also where nothing else is said in the program", () => {
    const ran = run(`
${REPO}
remit ReadOnly { may Repo.read }
agent Worker { main func(p) { Repo.read({ path: "x" })  Repo.write({ path: "x" }) } }
main agent { main func() { ${call("ReadOnly")} } }`);
    expect(did(ran)).toEqual(["Repo.read"]);
    expect(outcome(ran)).toBe("violation.remit");
});

test("what it gives passes, and what both ask about is asked", () => {
    const text = program('main func(p) { Repo.read({ path: "x" })  repo = Repo.only(read)  repo.read({ path: "y" }) }');
    expect(did(run(text))).toEqual(["Repo.read", "Repo.read"]);
    const asked = text.replace("may Repo.read", "ask Repo.read");
    expect(run(asked, { yes: "once" }).effects.map((e) => e.kind)).toEqual(["ask", "tool", "ask", "tool"]);
    expect(outcome(run(asked))).toBe("denied");
});

test("it spares a model's call no question", () => {
    const answer: NonNullable<Parameters<typeof run>[1]>["answer"] = (e) => {
        const { op, messages } = e.request as { op?: string; messages?: { role: string }[] };
        if (op === "describe") return said({ methods: [{ name: "write", input: { type: "object" } }] }, ["tool:Repo"]);
        if (e.kind !== "model") return undefined;
        const calls = messages?.some((one) => one.role === "tool") === true ? [] : [{ id: "1", name: "Repo_write", args: { path: "x" } }];
        return said({ text: "x", value: "x", calls, finish: calls.length === 0 ? "stop" : "tool", model: "m" }, ["model:L"]);
    };
    const text = `
${REPO}
import llm L from "openai://l"
remit Writes { may Repo }
agent Worker { model L role "r" description "d" main func(p) { generate({ input: "x", tools: [Repo.write] }) } }
main agent { main func() { ${call("Writes")} } }`;
    expect(run(text, { answer }).effects.map((e) => e.kind)).toEqual(["tool", "model", "ask", "model"]);
});

test("the model of an agent of another file is its own under a policy, too", () => {
    const files = {
        "worker.remit":
            'import llm L from "openai://l"\nagent Worker { model L role "r" description "d" main func(p) { generate({ input: "x" }) } }',
    };
    const answer = (): ReturnType<typeof said> => said({ text: "x", value: "x", calls: [], finish: "stop", model: "m" }, ["model:L"]);
    const text = `
import agent Worker from "./worker.remit"
remit Nothing { }
main agent { main func() { ${call("Nothing")} } }`;
    expect(did(run(text, { files, answer }))).toEqual(["model"]);
});

test.each([
    ["what it spends", "spend 1 calls", 'Repo.write({ path: "x" })  Repo.write({ path: "y" })', "limit.calls", ["Repo.write"]],
    ["endorsing", "", 'endorse p as trusted because "it is"', "violation.flow", []],
    ["strictly", "flow strict", 'if Repo.read({ }) != none { Repo.write({ path: "x" }) }', "violation.flow", ["Repo.read"]],
])("%s", (_name, clause, body, kind, done) => {
    const ran = run(`
${REPO} { arg write.path: trusted }
remit Some { may Repo ${clause} }
agent Worker { main func(p) { ${body} } }
main agent { main func() { ${call("Some")} } }`);
    expect(outcome(ran)).toBe(kind);
    expect(did(ran)).toEqual(done);
});
