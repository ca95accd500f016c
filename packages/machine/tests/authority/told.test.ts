/** What a session was told decides what comes of it: in strict code as labels of it, elsewhere as who chose (LANGUAGE 5, SES3). Pairs of runs that differ in it. */
import { check, type Diagnostic, type Json, loadProgram } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type AgentTurn, type Effect, type Outcome, type Policy, refusalIn } from "../../src/index.ts";
import { answer, type Handing, kind, run, said } from "../run/handing.ts";
import type { Ran } from "../run/forms.ts";

const world =
    (yes: boolean) =>
    (e: Effect): Outcome | undefined => {
        const { tool, op } = e.request as { tool?: string; op?: string };
        const methods = ["read", "write", "send"].map((name) => ({ name, input: { type: "object" }, readOnly: name === "read" }));
        if (op === "describe") return said({ methods }, [`tool:${tool}`]);
        // The program's own text takes it as it is (`stand-ins.ts`), an agent's as what every server gives.
        const mail = { yes, body: yes ? "the word is YES" : "the word is NO" };
        return tool === "Inbox" ? said({ ...mail, structured: mail }, ["tool:Inbox"]) : undefined;
    };

/** Whether an agent was told so by the turn, or before it in the session. */
const knows = (turn: AgentTurn): boolean => /"yes":true|the word is YES/.test(JSON.stringify(turn.prompt));

/** What an observer sees who may see what the agent does, and not the mail: effects, and the value. */
function seen({ effects, result }: Ran): Json {
    const isPublic = (labels: readonly string[]): boolean => !labels.some((one) => one.endsWith("tool:Inbox"));
    const told = effects.filter(({ labels }) => isPublic(labels)).map(({ path, request }) => [path, request]);
    return [told, result.ok && isPublic(result.origins) ? result.value : null] as Json;
}

const refused = (ran: Ran): string[] =>
    ran.events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json)?.flow?.rule ?? []) : []));

interface Told {
    readonly policy?: Policy;
    readonly head?: string;
    readonly agent?: string;
    readonly agents?: Handing["agents"];
}

const DEFINES = (turn: AgentTurn): string => answer(knows(turn) ? "define f = func() { 2 }\nreturn 1" : "return 1", "z");
const INNER = `agent X { main func(h) { if h.params[0].value.yes { return "func answer(agent, z) { define f = func() { 2 }\\nreturn 1 }" }
"func answer(agent, z) { return 1 }" } }`;
const FAR = 'import agent X from "acp://x" { remit { may U, Inbox.read } }';

const found = (source: string): readonly Diagnostic[] =>
    check(loadProgram("main.remit", { read: () => source, resolve: () => null })).diagnostics.filter(({ code }) =>
        code.startsWith("FLOW_"),
    );
const codes = (source: string): string[] => found(source).map(({ code }) => code);

/** Lines of which the checker says that `flow strict` may refuse what stands there. */
function told(source: string): number[] {
    return found(source)
        .filter(({ message }) => /define/.test(message))
        .map((one) => source.slice(0, one.range.start).split("\n").length);
}

/** For a mail that says yes and for one that says no. */
function pair(body: string, { policy = {}, head = "", agent = FAR, agents = DEFINES }: Told = {}): readonly [Ran, Ran] {
    const source = `${head}import tool Inbox from "mcp://inbox"
import tool U from "mcp://u" { send: may }
${agent}
func f() { 1 }
main agent A { main func(input) {\n${body}\nreturn 1 } }`;
    const notes = policy.strict === true ? null : told(source);
    const of = (yes: boolean): Ran => {
        const ran = run(source, { agents, unchecked: true, world: world(yes), options: { input: {}, policy } });
        for (const { kind, data, site } of ran.events)
            if (kind === "policy.denied" && refusalIn(data as Json)?.flow?.rule === "flow strict" && notes !== null) {
                // What is refused stands in an answer: the checker tells of the call that it answers.
                const at = site?.file === "main.remit" ? site.line : source.split("\n").findIndex((line) => line.includes("X.yield")) + 1;
                expect(notes).toContain(at);
            }
        return ran;
    };
    return [of(true), of(false)];
}

const strict = { head: "flow strict\n" };
const CALLS = 'if f() == 2 { x = 1 } else { U.send({ a: "b" }) }';

describe("strict code that lets an agent define functions", () => {
    test.each([
        ["outside the program", strict],
        ["of the program", { ...strict, agent: INNER }],
        ["where the project says so", { policy: { strict: true } }],
        ["whose remit says so alone", { agent: FAR.replace("may U", "flow strict  may U") }],
    ] satisfies [string, Told][])("does not show by them what an agent %s was told", (name, of) => {
        const [yes, no] = pair(`m = Inbox.read({})\ndelegate all to X { X.yield(z: m) }\n${CALLS}`, of);
        if (name.endsWith("alone")) return expect(kind(yes)).toBe(1);
        expect([kind(yes), refused(yes), kind(no), refused(no)]).toEqual(["violation.flow", ["flow strict"], 1, []]);
    });

    test.each([
        ["caught", `try { delegate all to X { X.yield(z: m) } } catch e { x = 1 }\n${CALLS}`],
        ["caught, and told", `x = 0\ntry { delegate all to X { X.yield(z: m) }\nx = 1 } catch e { x = 2 }\nU.send({ v: x })\n${CALLS}`],
        ["in a function", `try { delegate all to X { go(m) } } catch e { x = 1 }\n${CALLS}`],
    ])("shows neither that it was refused: %s", (_name, body) => {
        const head = `${strict.head}func go(m) { X.yield(z: m) }\n`;
        const [yes, no] = pair(`m = Inbox.read({})\n${body}`, { head });
        expect(refused(yes)).toEqual(["flow strict"]);
        expect([kind(yes), kind(no)]).toEqual([1, 1]);
        expect(seen(yes)).toEqual(seen(no));
    });

    test.each([
        ["that reads nothing", "remit {}", 1],
        ["that may read without a ruling", "remit { may U }", "violation.flow"],
    ])("lets an agent %s define by what nothing but the program and the agent decides", (_name, remit, is) => {
        const agent = `import agent X from "acp://x" { ${remit} }`;
        const agents = (): string => answer("define f = func() { 2 }\nreturn 1", "z");
        const body = "delegate all to X { X.yield(z: 1) }\nU.send({ v: f() })";
        for (const ran of pair(body, { ...strict, agent, agents })) {
            expect(kind(ran)).toBe(is);
            if (is === 1) expect(ran.effects.at(-1)?.labels).toEqual(["agent:X"]);
        }
        const notes = told(`${strict.head}${agent}\nfunc f() { 1 }\nfunc main() { ${body.replace("U.send({ v: f() })", "")} }`);
        expect(notes).toHaveLength(is === 1 ? 0 : 1);
    });
});

describe("what an agent answers in strict code carries what its session was told", () => {
    const agents = (turn: AgentTurn): string => answer(`return ${knows(turn) ? 2 : 1}`, "z");
    test.each([
        ["a yield", "r = X.yield(z: m)\nU.send({ v: r })"],
        ["what the value decides", "r = X.yield(z: m)\nif r == 2 { U.send({ v: 1 }) }"],
        ["a failure of it", 'x = 0\ntry { r = X.yield(z: m) -> "1"\nx = 1 } catch e { x = 2 }\nU.send({ v: x })'],
    ])("%s", (_name, body) => {
        const [yes, no] = pair(`m = Inbox.read({})\n${body}`, { ...strict, agents });
        expect(seen(yes)).toEqual(seen(no));
        expect(JSON.stringify(pair(`m = Inbox.read({})\n${body}`, { agents }).map(seen))).not.toBe(JSON.stringify([seen(yes), seen(no)]));
    });
});

test.each([
    ["yield", "r = agent.yield(y: 1)"],
    ["send", 'r = agent.send("b")'],
])(
    "W12: a %s inside an answer to strict code does not tell, by which turns there were before it, what its function read",
    (_name, call) => {
        const body = `m = Inbox.read({})\nif m.structured.yes { q = agent.send("a") }\n${call}\nU.send({ v: r })\nreturn 1`;
        const agents: Handing["agents"] = ({ turn, prompt }) =>
            turn === 0
                ? answer(body, "z")
                : JSON.stringify(prompt).includes("remit-yield")
                  ? answer(`return ${turn}`, "y")
                  : `turn ${turn}`;
        const agent = FAR.replace("may U, Inbox.read", "may U.send, Inbox.read");
        const [yes, no] = pair("X.yield(z: 1)", { ...strict, agent, agents });
        expect([kind(yes), kind(no)]).toEqual([1, 1]);
        expect(yes.effects.map(({ path }) => path)).not.toEqual(no.effects.map(({ path }) => path));
        expect(seen(yes)).toEqual(seen(no));
    },
);

describe("the checker knows what an answer carries", () => {
    test.each([
        ["flow strict\n", "X.yield(z: m)", true],
        ["", "X.yield(z: m)", false],
        ["flow strict\n", "X.yield(z: 1)", false],
        ["", "X.send(m.body)", true],
    ])("%s%s", (flow, call, isRefused) => {
        const head = `${flow}import tool Out from "mcp://out" { write: may, arg a: from("agent:X") }\n`;
        const body = `m = Inbox.read({})\nr = ${call}\nOut.write({ a: r })`;
        const [ran] = pair(body, {
            head,
            agent: FAR.replace("may U, Inbox.read", "may U.send"),
            agents: ({ prompt }) => (call.includes("send") ? JSON.stringify(prompt) : answer("return 1", "z")),
        });
        const source = `${head}import tool Inbox from "mcp://inbox"\n${FAR.replace("may U, Inbox.read", "may Out")}\nfunc main() {\n${body}\n}`;
        expect([kind(ran), codes(source)]).toEqual(isRefused ? ["violation.flow", ["FLOW_REFUSED"]] : [1, []]);
    });
});

describe("a session remembers what it was told by an earlier call (SES3)", () => {
    const OUT = 'import tool Out from "mcp://out" { write: may, choice write: from("agent:X"), arg a: from("user", "agent:X") }\n';
    /** The mail is read by the first answer, sent, and known to the second. */
    const agents = (then: string) => (turn: AgentTurn) =>
        turn.turn === 0
            ? answer(`m = Inbox.read({})\nt = agent.send(m.structured.body)\n${then}`, "o")
            : turn.turn === 1
              ? "I see."
              : answer('o.write({ a: "b" })\nreturn 1', "o");
    const two = (then: string, head: string) =>
        pair("r = X.yield(o: Out)\nreturn r", { head, agents: agents(then), policy: { untrusted: { gate: "never" } } });

    test("which chooses what a later function does", () => {
        for (const ran of two("r = agent.yield(o: o)\nreturn r", OUT))
            expect([kind(ran), refused(ran)]).toEqual(["violation.flow", ['choice write: from("agent:X")']]);
        for (const ran of two("r = agent.yield(o: o)\nreturn r", OUT.replace('from("agent:X")', 'from("agent:X", "tool:Inbox")')))
            expect(kind(ran)).toBe(1);
    });

    test("which is in what it says later", () => {
        const [ran] = two('t = agent.send("And?")\nreturn t', OUT);
        expect(ran?.result.ok === true && ran.result.origins).toContain("tool:Inbox");
    });
});
