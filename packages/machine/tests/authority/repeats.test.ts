/** A use that was let through is not decided again where it is the same (RPT1, RPT2): what differs in anything that a rule looks at is. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import { cases } from "../cases.ts";
import { answer, replied, said } from "../run/handing.ts";
import { did, outcome, run } from "./running.ts";

const page = { text: "from the network", go: true, list: ["write"] };
const properties = Object.fromEntries(["content", "note", "text", "go", "list", "n", "to"].map((name) => [name, {}]));
const METHODS = ["write", "look"].map((name) => ({ name, readOnly: name === "look", input: { type: "object", properties } }));
const world = (e: Effect): Outcome | undefined => {
    const { tool, op } = e.request as { tool?: string; op?: string };
    if (op === "describe" && tool === "Out") return { ok: true, value: { methods: METHODS }, origins: ["tool:Out"] };
    const answers = e.kind === "tool" && op !== "describe" && (tool === "Web" || tool === "Own");
    return answers ? { ok: true, value: page, origins: [`tool:${tool}`] } : undefined;
};
const READS = "web = Web.read({})  own = Own.read({})\n";
const program = (clauses: string, body: string, more = ""): string => `import tool Web from "mcp://web"
import tool Own from "mcp://own" { trusted }
import tool Out from "mcp://out" { ${clauses} }
import tool Files from "file://workspace"
${more}
main agent M { role "r"  description "d"  main func(input) {\n${READS}${body}\n1 } }`;
const ran = (text: string, yes = "once", policy: Policy = {}) =>
    run(text, { yes, answer: world, options: { input: { text: "mine", go: true }, policy } });
const asked = (of: ReturnType<typeof ran>): number => of.effects.filter(({ kind }) => kind === "ask").length;
const wrote = (of: ReturnType<typeof ran>): number => did(of).filter((one) => /\.write$|^(Out|Files)\./.test(one)).length;

/** Arguments of one call in a loop, whether `arg content: trusted or ask` asks about them. */
const GIVEN: readonly (readonly [string, boolean])[] = [
    ["{ content: input.text }", false],
    ["{ content: own.text }", false],
    ['{ content: "x" }', false],
    ["{ content: none }", false],
    ["{ content: web.text }", true],
    ["{ content: [web.text] }", true],
    ["{ content: [input.text] }", false],
    ["{ note: web.text }", false],
    ['{ content: "x", note: web.text }', false],
    ['{ content: web.text, note: "x" }', true],
    ["{ note: web.text, content: own.text }", false],
    ["web", true],
    ["web.text", true],
    ["input.text", false],
    ['"x"', false],
    ["[web.text]", true],
    ["[input.text]", false],
    ["{}", false],
];

/** A sequence in which each of some stands behind each. */
function inEachOrder<T>(all: readonly T[]): T[] {
    return all.flatMap((one, i) => [one, ...all.slice(i + 1).flatMap((other) => [one, other])]).concat(all.slice(0, 1));
}

/** Without arguments only the place tells who chose. */
const givens = fc.constantFrom('{ content: "x" }', "");

describe("the next use at the same place", () => {
    test("is asked about where it carries what the clause asks about, whatever came before", () => {
        const clauses =
            'arg content: trusted or ask, arg note: from("user", "tool:Web", "tool:Own"), arg text: trusted or ask, arg go: trusted or ask, arg list: trusted or ask';
        const rows = inEachOrder(GIVEN);
        const of = ran(program(clauses, `for one in [${rows.map(([text]) => text).join(", ")}] max 999 { Out.write(one) }`));
        expect([asked(of), wrote(of)]).toEqual([rows.filter(([, isAsked]) => isAsked).length, rows.length]);
    });

    test.each<readonly [string, Policy, string]>([
        ["a clause", {}, 'choice write: from("user", "tool:Own") or ask'],
        ["a policy", { untrusted: { gate: "ask" } }, ""],
    ])("is asked about where another decided that it happens: %s", (_name, policy, clauses) => {
        fc.assert(
            fc.property(fc.array(fc.constantFrom("input", "own", "web"), { minLength: 2, maxLength: 6 }), givens, (picked, given) => {
                const body = `for one in [${picked.map((name) => `${name}.go`).join(", ")}] max 9 { if one { Out.write(${given}) } }`;
                const of = ran(program(clauses, body), "once", policy);
                expect([asked(of), wrote(of)]).toEqual([picked.filter((name) => name === "web").length, picked.length]);
            }),
            { numRuns: cases(10) },
        );
    });

    test.each<readonly [name: string, clauses: string, body: string, wrote: number, end: Json, more: string]>([
        ["a count at the import", "write: at most 2", 'for i in [1, 2, 3] max 9 { Out.write({ content: "x" }) }', 2, "denied", ""],
        [
            "a count by an argument",
            "write: once by content",
            'for one in ["x", "y", "x"] max 9 { Out.write({ content: one }) }',
            2,
            "denied",
            "",
        ],
        [
            "an amount",
            "",
            "Fixer.go()",
            2,
            "violation.remit",
            "agent Fixer { remit { may Out.write in n: 0..5 }\nfunc go() { for n in [1, 2, 6] max 9 { Out.write({ n: n }) } } }",
        ],
        [
            "addresses",
            'arg content: addresses from("user")',
            'for one in [web.text, web.text + " https://a.example"] max 9 { Out.write({ content: one }) }',
            1,
            "violation.flow",
            "",
        ],
        [
            "what occurred",
            'arg content: among("user")',
            'for one in ["mine", "his"] max 9 { Out.write({ content: web.text.slice(0, 0) + one }) }',
            1,
            "violation.flow",
            "",
        ],
        [
            "a path of a remit",
            "",
            "Fixer.go()",
            1,
            "violation.remit",
            'agent Fixer { remit { may Files.read in "src/**" }\nfunc go() { for one in ["src/a.ts", "etc/b"] max 9 { Files.read({ path: one }) } } }',
        ],
        [
            "who uses it",
            "",
            "One.go()  Two.go()",
            1,
            "violation.remit",
            'func put() { Out.write({ content: "x" }) }\nagent One { remit { may Out.write }\nfunc go() { put() } }\nagent Two { remit { may Out.look }\nfunc go() { put() } }',
        ],
        [
            "which method `act` is given",
            "look: never",
            'for name in ["Out.write", "Out.look"] max 9 { act(name, { content: "x" }) }',
            1,
            "violation.remit",
            "",
        ],
        [
            "which method a generic call names",
            "look: never",
            'for name in ["write", "look"] max 9 { Out.call({ tool: name }) }',
            1,
            "violation.remit",
            "",
        ],
        [
            "whom an argument names as its reader",
            "audience: arg to",
            'box = Box.read({})\nfor one in ["ann", "eve"] max 9 { Out.write({ content: box.did, to: one }) }',
            1,
            "violation.flow",
            'import tool Box from "mcp://box" { reads: "ann" }',
        ],
        [
            "a count of another, for which it counts",
            "",
            'for i in [1, 2, 3] max 9 { Out.write({ content: "x" }) }  One.go()',
            3,
            "denied",
            'agent One { remit { may Out.write at most 2 }\nfunc go() { Out.write({ content: "x" }) } }',
        ],
        [
            "a policy of `agent()` that came later",
            "",
            'Two.go()  agent("p", { agent: Two, policy: Looks, on_error: "fail" })',
            1,
            "violation.remit",
            'remit Looks { may Out.look }\nagent Two { remit { may Out }\nfunc go() { Out.write({ content: "x" }) }\nmain func(p) { go() } }',
        ],
        ["which thing it is", "write: never", "put(Own)  put(Out)", 1, "violation.remit", 'func put(it) { it.write({ content: "x" }) }'],
        [
            "a delegation that is over",
            "",
            "for i in [1, 2] max 9 { if i == 1 { delegate Out.write to Two { Two.go() } } else { Two.go() } }",
            1,
            "violation.remit",
            'agent Two { remit { may Out.look }\nfunc go() { Out.write({ content: "x" }) } }',
        ],
        [
            "a bound of the one that handed it on",
            "",
            "One.go()",
            2,
            "violation.remit",
            "agent One { remit { may Out.write in n: 0..5  may Two }\nfunc go() { Two.by(Out) } }\nagent Two { func by(t) { for n in [1, 2, 6] max 9 { t.write({ n: n }) } } }",
        ],
        [
            "a call that it was handed on for and is over",
            "",
            "box = { kept: [] }  One.by(Out, box)  One.again(box)",
            1,
            "violation.revoked",
            'func put(box) { for t in box.kept max 9 { t.write({ content: "x" }) } }\nagent One { remit { may Out.look }\nfunc by(t, box) { box.kept.add(t)  put(box) }\nfunc again(box) { put(box) } }',
        ],
        [
            "a remit that a call of `agent()` adds",
            "",
            'Two.go("a")  agent("b", { agent: Two, policy: Less, on_error: "fail" })',
            1,
            "violation.remit",
            'remit Less { may Out.look }\nagent Two { remit { may Out }\nmain func go(x) { Out.write({ content: "x" }) } }',
        ],
    ])("is held against %s", (_name, clauses, body, times, end, more) => {
        const of = ran(program(clauses, body, more));
        expect([wrote(of), outcome(of)]).toEqual([times, end]);
    });
    test("is asked about where what is not trusted named the method, whatever came before", () => {
        const rows = ["Out.write", "web", "Out.write", "web"];
        const names = rows.map((one) => (one === "web" ? '"Out." + web.list[0]' : `"${one}"`)).join(", ");
        const of = ran(program("", `for name in [${names}] max 9 { act(name, { content: "x" }) }`));
        expect([asked(of), wrote(of)]).toEqual([2, 4]);
    });
    test("is asked about where the object carries more in strict code, though it has no parts", () => {
        const body = 'bag = {}\nfor one in [own, web] max 9 {\nif not one.go { bag.content = "x" }\nOut.write(bag)\n}';
        const of = ran(`flow strict\n${program("arg 1: trusted or ask", body)}`);
        expect([asked(of), wrote(of)]).toEqual([1, 2]);
    });
    test("is held against the addresses that a run may reach", () => {
        const body = 'for one in ["https://a.example/x", "https://b.example/x"] max 9 { Out.write({ content: one }) }';
        const reach = [{ origins: ["https://a.example"], tools: ["mcp://out"], by: "the project" }];
        const of = ran(program("", body), "once", { reach });
        expect([wrote(of), outcome(of)]).toEqual([1, "denied"]);
    });
    test("is held against a policy that looks for links in what only reads", () => {
        const body = 'for one in [web.text, web.text + " https://a.example"] max 9 { Out.look({ content: one }) }';
        const of = ran(program("", body), "once", { untrusted: { gate: "never" } });
        expect([wrote(of), outcome(of)]).toEqual([1, "violation.flow"]);
    });

    test("is asked about where the agent that wrote it is told that the method does more than read", () => {
        const body = 'for i in [1, 2, 3, 4] max 9 { out.write({ content: "x" })\nif i == 2 { agent.yield(out: out) } }\nreturn 1';
        const of = run(program("", "Maker.yield(out: Out)", 'import agent Maker from "stub:noop"'), {
            yes: "once",
            answer: (e) => {
                const { op } = e.request as { op?: string };
                const methods = [{ name: "write", readOnly: !e.path.includes("/answer/"), input: { type: "object", properties } }];
                if (op === "describe") return said({ methods }, ["tool:Out"]);
                if (e.kind === "agent") return replied(answer(e.path.includes("/answer/") ? "return 1" : body, "out"), {}, "Maker");
                return world(e);
            },
        });
        expect([asked(of), wrote(of)]).toEqual([2, 4]);
    });

    test("is asked about where a delegation is in force that says so", () => {
        const agents =
            'agent One { remit { ask Out.write  may Two }\nfunc go() { delegate Out.write to Two { Two.go() } } }\nagent Two { remit { may Out.write }\nfunc go() { Out.write({ content: "x" }) } }';
        const of = ran(program("", "Two.go()  One.go()  Two.go()", agents));
        expect([asked(of), wrote(of), outcome(of)]).toEqual([1, 3, 1]);
    });
});
