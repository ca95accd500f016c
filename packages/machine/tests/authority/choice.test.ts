/** Who decided that a use happens: conditions, loops, ways out, failures, computed names and models under `untrusted`, in basic mode (LANGUAGE 5). */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type Effect, type Outcome, type Policy, askedCall, refusalIn } from "../../src/index.ts";
import { answer, kind as kindOf, run as handing } from "../run/handing.ts";
import { DECIDED, DECIDED_THROUGH, program, write } from "./choice-programs.ts";
import { type Asked, did, outcome, run } from "./running.ts";

const never: Policy = { untrusted: { gate: "never" } };

/** A mail says what the attack needs. */
const mail = { subject: "REFUND", items: ["a", "b"], yes: true, n: 2, none: null, record: { amount: 3 } };
const world = (e: Effect): Outcome | undefined => {
    const r = e.request as { tool?: string; op?: string };
    if (r.op === "describe") {
        const methods = ["read", "send", "write"].map((name) => ({ name, readOnly: name === "read" }));
        return { ok: true, value: { methods }, origins: [`tool:${r.tool}`] };
    }
    if (e.kind === "model") {
        const model = (e.request as { model?: { name?: string } }).model?.name ?? "Claude";
        return { ok: true, value: { text: "yes", value: "yes", calls: [], finish: "stop", model }, origins: [`model:${model}`] };
    }
    return r.tool === "Inbox" || r.tool === "Own" ? { ok: true, value: mail, origins: [`tool:${r.tool}`] } : undefined;
};
const under = (policy: Policy, text: string, more: Asked = {}) =>
    run(text, { answer: world, ...more, options: { input: { text: "mine", ok: true }, policy, ...more.options } });
const writes = (ran: ReturnType<typeof under>): string[] => did(ran).filter((one) => /write|send/.test(one));

describe("untrusted: never, in basic mode", () => {
    test.each(DECIDED)("asks who decided: %s", (_name, body, more = "") => {
        const ran = under(never, program(`m = Inbox.read({})\n${body}`, more));
        expect([writes(ran), outcome(ran)]).toEqual([[], "violation.flow"]);
        const told = ran.events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json)?.flow ?? []) : []));
        expect(told).toContainEqual(
            expect.objectContaining({ arg: "", origins: ["tool:Inbox"], rule: "untrusted: never", unsaid: true, choice: true }),
        );
    });

    test.each(DECIDED_THROUGH)("asks who decided through %s", (_name, body, more) => {
        const ran = under(never, program(`m = Inbox.read({})\n${body}`, more));
        expect([writes(ran), outcome(ran)]).toEqual([[], "violation.flow"]);
    });

    test.each([
        ["what stands beside the condition", `if m.yes { x = 1 }\n${write}`],
        ["what stands behind a loop", `for one in m.items max 5 { x = one }\n${write}`],
        ["a condition on the input", `if input.ok { ${write} }`],
        ["a condition on a trusted tool", `o = Own.read({})\nif o.yes { ${write} }`],
        ["a condition that was endorsed", `go = endorse m.yes as trusted because "looked at"\nif go { ${write} }`],
        [
            "a model that read the request alone",
            `q = input.text\nuse q as request\na = generate({ input: "Which?" }) -> string\nif a == "yes" { ${write} }`,
        ],
        [
            "what that model wrote",
            `q = input.text\nuse q as request\na = generate({ input: "Which?" }) -> string\nOut.write({ path: "a", content: a })`,
        ],
        ["reading under a condition", 'if m.yes { x = Out.read({ path: "a" }) }'],
        ["a memory's records", 'if m.yes { Notes.add({ text: "a" }) }', 'import memory Notes from "file://n.jsonl"'],
        ["lists that were changed under a condition", 'xs = []\nys = { in: xs }\nif m.yes { ys.in.add("x") }\nxs.add("y")'],
    ])("lets through %s", (_name, body, more = "") => {
        expect(outcome(under(never, program(`m = Inbox.read({})\n${body}`, more)))).toBe(1);
    });

    test.each([
        ["a clause that lists who", 'choice write: from("tool:Inbox")', 1],
        ["a clause for every method that does more than read", 'choice: from("tool:Inbox")', 1],
        ["a clause that lets every origin", "choice write: any", 1],
        ["a clause about another method", 'choice read: from("tool:Inbox")', "violation.flow"],
        ["a clause that lists others", 'choice write: from("user", "tool:Own")', "violation.flow"],
        ["a clause that trusts", "choice write: trusted", "violation.flow"],
        ["a gate, which never loosens a choice", "write: may", "violation.flow"],
    ])("what the program says of it counts: %s", (_name, clause, is) => {
        const text = program(`m = Inbox.read({})\nif m.yes { ${write} }`).replace('"file://out"', `"file://out" { ${clause} }`);
        expect(outcome(under(never, text))).toBe(is);
        // A project only narrows, and an import that says nothing is not spoken for.
        const added: Policy = { ...never, clauses: { Out: [{ kind: "choice", any: true, at: [0, 0, 0, 0] }] } };
        expect(outcome(under(added, text))).toBe(is);
        const other = { "h.remit": 'import tool Log from "file://out"\nagent H { main func(x) { x } }' };
        expect(outcome(under(never, `${text}\nimport agent H from "./h.remit"`, { files: other }))).toBe(is === 1 ? "violation.flow" : is);
    });

    test("without the policy nothing is kept and nothing asked", () => {
        const ran = under({}, program(`m = Inbox.read({})\nif m.yes { ${write} }`));
        expect([writes(ran), outcome(ran)]).toEqual([["Out.write"], 1]);
        expect(JSON.stringify(ran.events)).not.toContain("choice:");
    });
});

describe("a clause alone", () => {
    const clause = (said: string, body: string, policy: Policy = {}, more: Asked = {}) =>
        under(policy, program(`m = Inbox.read({})\n${body}`).replace('"file://out"', `"file://out" { ${said} }`), more);
    const branch = `if m.yes { ${write} }`;

    test.each([
        ["trusted", "choice write: trusted", branch, "violation.flow"],
        ["trusted, of a method that reads", "choice read: trusted", 'if m.yes { Out.read({ path: "a" }) }', "violation.flow"],
        ["all methods: not those that read", "choice: trusted", 'if m.yes { Out.read({ path: "a" }) }', 1],
        ["all methods", "choice: trusted", branch, "violation.flow"],
        ["at most these", 'choice write: from("tool:Inbox")', branch, 1],
        ["not these", 'choice write: from("tool:Own")', branch, "violation.flow"],
        ["what stands in an argument is no choice", "choice write: trusted", 'Out.write({ path: "a", content: m.subject })', 1],
        [
            "among forgives data, not choice",
            'choice write: trusted, arg content: among("tool:Inbox")',
            'if m.yes { Out.write({ path: "a", content: m.subject }) }',
            "violation.flow",
        ],
    ])("%s", (_name, said, body, is) => {
        expect(outcome(clause(said, body))).toBe(is);
    });

    test("a project's clause binds the program's own", () => {
        const policy: Policy = { clauses: { Out: [{ kind: "choice", method: "write", at: [0, 0, 0, 0] }] } };
        expect(outcome(clause("write: may", branch, policy))).toBe("violation.flow");
        expect(outcome(clause('choice write: from("tool:Inbox")', branch, policy))).toBe("violation.flow");
    });

    test("a model counts where its import says untrusted", () => {
        const body = `q = input.text\nuse q as request\na = generate({ input: "Which?" }) -> string\nif a == "yes" { ${write} }`;
        expect(outcome(clause("choice write: trusted", body))).toBe(1);
        const text = program(`m = 1\n${body}`).replace('"mock://m"', '"mock://m" { untrusted }');
        expect(outcome(under(never, text))).toBe("violation.flow");
    });

    test("a question shows who chose, and a yes lets the call pass", () => {
        const no = clause("choice write: trusted or ask", branch);
        expect([writes(no), outcome(no)]).toEqual([[], "denied"]);
        const yes = clause("choice write: trusted or ask", branch, {}, { yes: "once" });
        expect([writes(yes), outcome(yes)]).toEqual([["Out.write"], 1]);
        const asked = yes.effects.find((e) => e.kind === "ask")?.request as { detail: Json };
        expect(asked.detail).toMatchObject({
            why: "flow",
            flow: { arg: "", origins: ["tool:Inbox"], rule: "choice write: trusted", choice: true },
            clause: { file: "main.remit", line: 3 },
        });
    });
});

describe("tool loops", () => {
    // Whatever stands in the arguments is let in: what is left is who chose.
    const ALL = 'from("user", "tool:Inbox", "tool:Own", "model:Claude")';
    /** The model reads mail where it may, then writes what no mail says. */
    const turns =
        (first: string[]) =>
        (e: Effect): Outcome | undefined => {
            if (e.kind !== "model") {
                const r = e.request as { tool?: string; op?: string };
                const methods = [{ name: r.tool === "Out" ? "write" : "read", input: { type: "object" }, readOnly: r.tool !== "Out" }];
                return r.op === "describe" ? { ok: true, value: { methods }, origins: [`tool:${r.tool}`] } : world(e);
            }
            const { messages } = e.request as { messages: { role: string }[] };
            const turn = messages.filter((one) => one.role === "tool").length;
            const names = turn === 0 ? first : turn < first.length + 1 && first[0] !== "Out_write" ? ["Out_write"] : [];
            const calls = names.map((name, i) => ({
                id: `c${turn}${i}`,
                name,
                args: (name === "Out_write" ? { path: "a", content: "b" } : {}) as Json,
            }));
            const value: { [key: string]: Json } =
                calls.length > 0 ? { text: "", calls, finish: "tool", model: "m" } : { text: "t", value: "t", finish: "stop", model: "m" };
            return { ok: true, value, origins: ["model:Claude"] };
        };
    const loop = (first: string[], body = "", policy: Policy = never, more: Asked = {}) => {
        const text = program(
            `m = Inbox.read({})\n${body}g = generate({ input: "Do it.", tools: [Own, Out${first.includes("Inbox_read") ? ", Inbox" : ""}] })`,
        );
        return under(policy, text.replace('"file://out"', `"file://out" { write: may, arg path: ${ALL}, arg content: ${ALL} }`), {
            answer: turns(first),
            ...more,
        });
    };

    test.each([
        ["what it read in an earlier turn", ["Inbox_read"], ""],
        ["what its prompt holds", ["Out_write"], "s = m.subject\nuse s as mail\n"],
        ["the place of the loop", ["Out_write"], "if m.yes == false { return 2 }\n"],
        ["what a tool says of itself", ["Out_write", "Inbox_read"], ""],
    ])("%s chooses its calls", (_name, first, body) => {
        const ran = loop(first, body);
        expect([writes(ran), outcome(ran)]).toEqual([[], 1]);
        const told = ran.events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json)?.flow ?? []) : []));
        expect(told).toContainEqual(
            expect.objectContaining({ arg: "", origins: ["tool:Inbox"], rule: "untrusted: never", unsaid: true, choice: true }),
        );
    });

    test("a loop that saw nothing from elsewhere is as trusted as the request", () => {
        expect(writes(loop(["Out_write"]))).toEqual(["Out.write"]);
        expect(writes(loop(["Own_read"]))).toEqual(["Out.write"]);
    });

    test("what used up a count chooses what a model does that is told so", () => {
        const told = (count: string) => {
            const text = program('m = Inbox.read({})\nif m.yes { x = Own.read({}) }\ng = generate({ input: "Do it.", tools: [Own, Out] })')
                .replace('"mcp://own" { trusted', `"mcp://own" { trusted${count}`)
                .replace('"file://out"', `"file://out" { write: may, arg path: ${ALL}, arg content: ${ALL} }`);
            return writes(under(never, text, { answer: turns(["Own_read"]) }));
        };
        // That it is not used up says as much as that it is.
        expect([told(", read: at most 1"), told(", read: at most 2"), told("")]).toEqual([[], [], ["Out.write"]]);
    });

    test("nor does it choose less where it was used up while a person was asked", () => {
        const told = (count: string) => {
            const text = program('m = Inbox.read({})\ng = generate({ input: "Do it.", tools: [Own, Out] })')
                .replace('"mcp://own" { trusted', `"mcp://own" { trusted, read: ask${count}`)
                .replace('"file://out"', `"file://out" { write: may, arg path: ${ALL}, arg content: ${ALL} }`);
            return writes(under(never, text, { answer: turns(["Own_read", "Own_read"]), yes: "once" }));
        };
        expect([told(", read: at most 1"), told(", read: at most 2"), told("")]).toEqual([[], [], ["Out.write"]]);
    });

    test("what a tool says of itself chooses nothing where the lock has it so, and does where it is another", () => {
        const saying = (pinned?: boolean) => {
            const text = program('g = generate({ input: "Do it.", tools: [Inbox, Out] })');
            const answer = (e: Effect): Outcome | undefined => {
                const said = turns(["Out_write"])(e);
                if ((e.request as { op?: string }).op !== "describe" || said?.ok !== true || pinned === undefined) return said;
                return { ...said, value: { ...(said.value as { [key: string]: Json }), pinned } };
            };
            const clauses = `"file://out" { write: may, arg path: ${ALL}, arg content: ${ALL} }`;
            return writes(under(never, text.replace('"file://out"', clauses), { answer }));
        };
        expect([saying(true), saying(false), saying()]).toEqual([["Out.write"], [], []]);
    });

    test("the question says what the model read", () => {
        const ran = loop(["Inbox_read"], "", { untrusted: { gate: "ask" } }, { yes: "once" });
        expect(writes(ran)).toEqual(["Out.write"]);
        const asked = ran.effects.find((e) => e.kind === "ask")?.request as { detail: Json };
        expect(askedCall(asked.detail)?.why).toEqual([
            expect.stringMatching(
                /^the model Claude.* chose this after reading tool:Inbox; where that is only a description of the tool, `remit lock` pins it; no clause lets that choose \(untrusted: ask\)$/,
            ),
        ]);
    });
});

describe("a yes for the session", () => {
    const twice = (first: string, then: string) =>
        under(
            { untrusted: { gate: "ask" } },
            program(
                `m = Inbox.read({})\no = Far.read({})\nif ${first} { ${write} }\nif ${then} { ${write} }`,
                'import tool Far from "mcp://far"\n',
            ),
            {
                yes: "session",
            },
        ).effects.filter((e) => e.kind === "ask").length;

    test("covers the same who chose, and fewer", () => {
        expect(twice("m.yes", "m.yes")).toBe(1);
        expect(twice('m.yes and o.did != ""', "m.yes")).toBe(1);
        expect(twice("m.yes", 'm.yes and o.did != ""')).toBe(2);
        expect(twice("m.yes", 'o.did != ""')).toBe(2);
    });
});

describe("a count that is used up was used up by all that came (LIC1)", () => {
    const counted = (count: string, body: string, choice = '"tool:Inbox"') => {
        const text = `import tool Inbox from "mcp://inbox"
import tool Desk from "mcp://desk" { send: may, choice send: from("tool:Inbox"), arg id: from("user", "tool:Inbox"), send: ${count} }
import tool Out from "file://out" { write: may, choice write: from(${choice}) }
main agent A { main func(input) { m = Inbox.read({})\n${body}\n1 } }`;
        // The host keeps the counts of a day.
        const denied = (e: Effect): Outcome | undefined =>
            (e.request as { daily?: Json }).daily !== undefined && JSON.stringify(e.request).includes("REFUND")
                ? { ok: false, failure: { kind: "denied", message: "used" } }
                : world(e);
        return did(under({}, text, { answer: denied })).filter((one) => one === "Out.write");
    };
    const trying = (then: string): string => `late = false\ntry { Desk.send({ id: "REFUND" })\n${then}`;
    test.each([
        ["caught", "at most 1", `if m.yes { Desk.send({ id: "x" }) }\n${trying("1 } catch e { late = true }")}`],
        ["of each", "once by id", `Desk.send({ id: m.subject })\n${trying("1 } catch e { late = true }")}`],
        ["not used up", "at most 9", `if m.yes { Desk.send({ id: "x" }) }\n${trying("late = true } catch e { 1 }")}`],
    ])("%s", (_name, count, body) => {
        expect(counted(count, `${body}\nif late { ${write} }`, '"tool:Desk"')).toEqual([]);
        expect(counted(count, `${body}\nif late { ${write} }`, '"tool:Inbox", "tool:Desk"')).toEqual(["Out.write"]);
    });

    test("of a day: another run may have used it up, so nothing that this run knows of lets it through", () => {
        const body = `if m.yes { Desk.send({ id: "x" }) }\n${trying("1 } catch e { late = true }")}\nif late { ${write} }`;
        expect(counted("at most 1 per day", body, '"tool:Inbox", "tool:Desk"')).toEqual([]);
        expect(counted("at most 1 per day", body, '"tool:Inbox", "tool:Desk", "unlabelled"')).toEqual(["Out.write"]);
    });
});

test("a refusal for what a tool says of itself was chosen by the tool", () => {
    const refused = (choice: string) => {
        const text = `import tool Desk from "mcp://desk" { file: may }
import tool Out from "file://out" { write: may, choice write: from(${choice}) }
main agent A { main func(input) { late = false\ntry { Desk.file({ id: 1 }) } catch e { late = true }\nif late { ${write} }\n1 } }`;
        return writes(under({}, text));
    };
    expect([refused('"user"'), refused('"tool:Desk"')]).toEqual([[], ["Out.write"]]);
});

describe("what an agent outside the program answers", () => {
    const handed = (from: string, passed: string) =>
        handing(
            `import tool Inbox from "mcp://inbox"\nimport tool Out from "file://out" { write: may, choice write: from(${from}) }
import agent Fixer from "acp://x" { remit { may Out.write } }
main agent A { main func(input) {\nm = Inbox.read({})\nreturn Fixer.yield(z: ${passed}, o: Out) } }`,
            { agents: [answer('o.write({ path: "a", content: "b" })\nreturn 1', "z", "o")], options: { input: { text: "mine" } } },
        );

    test("is chosen by the agent and by all that it was handed over", () => {
        expect(kindOf(handed('"agent:Fixer"', "input.text"))).toBe(1);
        expect(kindOf(handed('"agent:Fixer", "tool:Inbox"', "m.did"))).toBe(1);
        expect(kindOf(handed('"user"', "input.text"))).toBe("violation.flow");
        expect(kindOf(handed('"agent:Fixer"', "m.did"))).toBe("violation.flow");
    });

    const defined = (main: string, body: string, agent = 'import agent Fixer from "acp://x" { remit { may Out.write } }') =>
        handing(
            `import tool Inbox from "mcp://inbox"
import tool Out from "file://out" { write: may, choice write: from("agent:Fixer"), arg path: from("agent:Fixer"), arg content: from("agent:Fixer") }
${agent}
func f() { 1 }
main agent A { main func(input) {\nm = Inbox.read({})\n${main} } }`,
            {
                agents: [answer(`define f = func() { ${body} } keep\nreturn 1`, "z")],
                world: (e) => (e.kind === "author" ? { ok: true, value: { file: "f" }, origins: [] } : world(e)),
                options: { input: { text: "mine" } },
            },
        );
    const told = (what: string): string => `delegate all to Fixer { Fixer.yield(z: ${what}) }\nf()\nreturn 1`;

    test("or defined is chosen by what it had been handed over, when its session is over, too", () => {
        const put = 'act("Out.write", { path: "a", content: "b" })';
        expect(kindOf(defined(told("input.text"), put))).toBe(1);
        expect(kindOf(defined(told("m.subject"), put))).toBe("violation.flow");
    });

    test("or defined under a condition is chosen by that condition", () => {
        const agent = `agent Fixer { main func(h) { "func answer(agent) { define f = func() { 2 } keep\\nreturn 1 }" } }`;
        const main = (when: string): string =>
            `if ${when} { delegate all to Fixer { Fixer.yield() } }\nif f() == 2 { x = f()\nOut.write({ path: \`{x}\`, content: \`{x}\` }) }\nreturn 1`;
        expect(kindOf(defined(main('input.text == "mine"'), "", agent))).toBe(1);
        expect(kindOf(defined(main("m.yes"), "", agent))).toBe("violation.flow");
    });
});

describe("letting an agent define functions, which shows where it did not, too", () => {
    const inner = 'agent X { main func(h) { "func answer(agent) { define f = func() { 2 }\\nreturn 1 }" } }';
    type Part = { readonly [part in "head" | "agent" | "more"]?: string } & { readonly policy?: Policy };
    /** End, uses and rules broken, for a mail that says yes and for one that says no. */
    const both = (body: string, { head = "", agent = inner, more = "", policy = never }: Part = {}) => {
        const source = `${head}import tool Inbox from "mcp://inbox"
import tool Own from "mcp://own" { trusted }
import tool U from "mcp://u" { send: may }
${agent}
${more}
func f() { 1 }
func go() { ${block()} }
main agent A { main func(input) {\nm = Inbox.read({})\no = Own.read({})\n${body}\nif f() == 2 { x = 1 } else { U.send({ a: "b" }) }\nreturn 1 } }`;
        return [true, false].map((yes) => {
            const ran = handing(source, {
                agents: [answer("define f = func() { 2 }\nreturn 1", "z")],
                world: (e) => {
                    const { tool, op } = e.request as { tool?: string; op?: string };
                    return op === "call" && tool !== "U" ? { ok: true, value: { yes }, origins: [`tool:${tool}`] } : world(e);
                },
                options: { input: { text: "mine" }, policy },
            });
            const why = ran.events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json)?.flow?.rule ?? "") : []));
            return [kindOf(ran), writes(ran), why];
        });
    };
    const block = (use = "X.yield()"): string => `delegate all to X { ${use} }`;
    const under = (rule: string): Json => ["violation.flow", [], [rule]];
    const sent: Json = [1, ["U.send"], []];
    const far = (clauses = ""): string => `import agent X from "acp://x" { remit { may U }${clauses} }`;

    test.each([
        ["around the block", `if m.yes { ${block()} }`],
        ["in it", block("if m.yes { X.yield() }")],
        ["through a function", "if m.yes { go() }"],
    ])("takes a trusted choice under untrusted: %s", (_name, body) => {
        expect(both(body)).toEqual([under("untrusted: never"), sent]);
        expect(both(body, { policy: { untrusted: { gate: "ask" } } })).toEqual([under("untrusted: ask"), sent]);
    });

    test("leaves nothing to tell where another principal's refusal is caught", () => {
        const agent = `agent H { remit { may X }\nfunc go(yes) { if yes { ${block()} } } }`;
        expect(both("try { H.go(m.yes) } catch e { x = 1 }", { more: agent })).toEqual([[1, ["U.send"], ["untrusted: never"]], sent]);
    });

    test.each([
        ["around the block", `if o.yes { ${block()} }`],
        ["in it", block("if o.yes { X.yield() }")],
    ])("takes a choice without labels in strict code: %s", (_name, body) => {
        expect(both(body, { head: "flow strict\n", policy: {} })).toEqual([under("flow strict"), sent]);
    });

    test("is what a trusted choice may lead to, and one that a clause of the agent's import lets", () => {
        const open = [[1, [], []], sent];
        expect(both(`if o.yes { ${block()} }`)).toEqual(open);
        const body = `if m.yes { ${block("X.yield(z: 1)")} }`;
        expect(both(body, { agent: far() })).toEqual([under("untrusted: never"), sent]);
        expect(both(body, { agent: far(', choice yield: from("tool:Inbox")') })[1]).toEqual(sent);
        expect(both(body, { agent: far(', choice yield: from("user")') })).toEqual([under('choice yield: from("user")'), sent]);
        for (const [kind] of both(block("X.yield(z: m)"), { agent: far() })) expect(kind).toBe("violation.flow");
    });

    test("does not concern what is delegated by name", () => {
        expect(both("if m.yes { delegate Inbox to X { x = 1 } }")).toEqual([sent, sent]);
    });
});

describe("handing control over to an agent outside the program", () => {
    const over = (clauses: string, use: string, policy: Policy = never): boolean => {
        const agent = `import agent Far from "stub:noop" { remit { may Out.write }${clauses} }`;
        return under(policy, program(`m = Inbox.read({})\nif m.yes { ${use} }`, agent)).effects.some(({ kind }) => kind === "agent");
    };
    const [YIELD, SEND] = ['x = Far.yield(a: "b")', 'x = Far.send("b")'];

    test.each([
        ["", YIELD, false],
        [', choice yield: from("tool:Inbox")', YIELD, true],
        [', choice yield: from("tool:Inbox")', SEND, false],
        [', choice send: from("tool:Inbox")', 'x = agent("b", { agent: Far })', true],
        [', choice: from("tool:Inbox")', SEND, true],
        [', choice: from("user")', SEND, false],
        [", choice: any", YIELD, true],
        [', choice: any, choice yield: from("user")', YIELD, false],
    ])("%s of %s", (clauses, use, happens) => expect(over(clauses, use)).toBe(happens));

    test("a clause binds without the policy, and a project's line only narrows", () => {
        expect([over("", YIELD, {}), over(", choice: trusted", YIELD, {})]).toEqual([true, false]);
        const said = (kind: { readonly any?: true }): Policy => ({ clauses: { Far: [{ kind: "choice", ...kind }] } });
        expect(over("", YIELD, said({}))).toBe(false);
        expect(over(', choice: from("tool:Inbox")', YIELD, said({}))).toBe(false);
        expect(over("", YIELD, { ...never, ...said({ any: true }) })).toBe(false);
    });

    test("what is delegated under a choice is used under it", () => {
        const text = program(
            "m = Inbox.read({})\nif m.yes { delegate Out.write to H { H.put() } }",
            `agent H { remit {}\nfunc put() { ${write} } }`,
        );
        const ran = under(never, text);
        expect([writes(ran), outcome(ran)]).toEqual([[], "violation.flow"]);
    });
});

describe("an amount that is used up was chosen by all that came (LIC1)", () => {
    test.each([
        ["bytes of what is kept", "spend 700 bytes { Notes.add({ t: m }) }"],
        ["tokens of a prompt", 'spend 200 tokens { use m as mail\ngenerate({ input: "x" }) }'],
    ])("%s", (_name, spends) => {
        const source = `import tool Inbox from "mcp://inbox"
import tool Out from "file://out" { write: may }
import memory Notes from "sqlite:n"
import llm M from "openai://m"
main agent A { model M  role "r"  description "d"
main func() { m = Inbox.read({}).text
late = false
try { ${spends} } catch e { late = true }
if late { Out.write({ path: "a", content: "b" }) }
1 } }
`;
        const of = (mail: string): [boolean, Json] => {
            const answer = (e: Effect): Outcome | undefined => {
                const { op, tool } = e.request as { op?: string; tool?: string };
                return tool === "Inbox" && op === "call" ? { ok: true, value: { text: mail }, origins: ["tool:Inbox"] } : undefined;
            };
            const ran = run(source, { answer, options: { policy: { untrusted: { gate: "never" } } } });
            return [did(ran).includes("Out.write"), outcome(ran)];
        };
        // It is long enough to use the amount up, and writes nothing by that.
        expect(of("x".repeat(2_000))).toEqual([false, "violation.flow"]);
    });

    test("also by what a part of a run was given of blocks before it", () => {
        const source = `import tool Out from "file://out" { write: may }
import memory Notes from "sqlite:n"
func first() { "m" }
func later(x) { late = false
try { spend 700 bytes { Notes.add({ t: mail }) } } catch e { late = true }
if late { Out.write({ path: "a", content: "b" }) }
1 }
memory static ( first ) as mail
memory static ( later )
`;
        const ran = run(source, {
            options: {
                ...{ entry: { file: 0, func: "__block#1" }, input: "user's", policy: { untrusted: { gate: "never" } } },
                bindings: { mail: { json: "x".repeat(2_000), origins: ["tool:Inbox"] } },
            },
        });
        expect([did(ran), outcome(ran)]).toEqual([[], "violation.flow"]);
    });
});
