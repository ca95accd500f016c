/**
 * An edit that is read from a refusal alone, by its backticks, lets that call be, and no other one that is refused. The edit is made by a program
 * that knows nothing else (RM1).
 */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { Effect, Failure, Outcome, Policy } from "../../src/index.ts";
import { did, formOf, once, said } from "./running.ts";

const IMPORTS = `import tool Web from "mcp://web"
import tool Far from "mcp://far"
import tool Repo from "file://workspace"
import llm Claude from "mock://m"
`;

interface Row {
    /** Beside \`IMPORTS\`: imports and agents. */
    readonly with: string;
    /** The attack, and a neighbour that the same or another rule refuses: bodies of the main function. */
    readonly body: string;
    readonly other: string;
    /** What is called where it passes. */
    readonly calls: string;
    readonly policy?: Policy;
}

const mail = (clauses: string): string => `import tool Mail from "mcp://mail"${clauses === "" ? "" : ` { ${clauses} }`}\n`;
const agent = (remit: string, body: string): string =>
    `${mail("")}agent Fixer { remit { ${remit} } model Claude role "r" description "d"\nfunc go(x) { ${body} } }\n`;
const send = (value: string, arg = "to"): string => `Mail.send({ ${arg}: ${value} })`;
const [WEB, FAR] = ["Web.get({}).text", "Far.get({}).text"];
const when = (value: string, call = send('"a"')): string => `if ${value} == "/deploy http://evil.example" { ${call} }`;
const NEVER: Policy = { untrusted: { gate: "never" } };

const row = (clauses: string, body: string, other: string, policy?: Policy): Row => ({
    with: mail(clauses),
    body,
    other,
    calls: "Mail.send",
    ...(policy === undefined ? {} : { policy }),
});
const by = (remit: string, of: string, x: string, other: string, calls: string): Row => ({
    with: agent(remit, of),
    body: `Fixer.go(${x})`,
    other: `Fixer.go(${other})`,
    calls,
});

const ROWS: readonly (readonly [string, Row])[] = [
    ["a clause that trusts", row("arg to: trusted", send(WEB), send(FAR))],
    ["a clause of a method", row("arg send.to: trusted", send(WEB), send(FAR))],
    ["a clause that lists origins", row('arg to: from("user")', send(WEB), send(FAR))],
    ["a clause that lists what occurred", row('arg to: among("user")', send(WEB), send(FAR))],
    ["addresses that are trusted", row("arg to: addresses trusted", send(WEB), send(FAR))],
    ["addresses that occurred", row('arg to: addresses among("user")', send(WEB), send(FAR))],
    ["a plain text", row("arg to: plain", send(WEB), send(FAR))],
    ["a plain text that occurred", row('arg to: plain among("user")', send(WEB), send(FAR))],
    ["an argument by its place", row("arg 1: trusted", `Mail.send(${WEB})`, `Mail.send(${FAR})`)],
    ["a list with one of them inside", row("arg to: trusted", send(`["a", ${WEB}]`), send(`["a", ${FAR}]`))],
    ["two origins at once", row("arg to: trusted", send(`${WEB} + Repo.read({ path: "a" }).text`), send(`${WEB} + ${FAR}`))],
    [
        "the generic call of a server",
        row("arg to: trusted", `Mail.call({ tool: "send", args: { to: ${WEB} } })`, `Mail.call({ tool: "send", args: { to: ${FAR} } })`),
    ],
    [
        "another import of the same thing",
        {
            ...row("arg to: trusted", `Post.send({ to: ${WEB} })`, `Post.send({ to: ${FAR} })`),
            with: `${mail("arg to: trusted")}import tool Post from "mcp://mail"\n`,
            calls: "Post.send",
        },
    ],
    ["who chooses", row("choice send: trusted", when(WEB), when(FAR))],
    ["who chooses any method", row("choice: trusted", when(WEB), when(FAR))],
    ["who chooses, of a list", row('choice send: from("tool:Repo")', when(WEB), when(FAR))],
    [
        "a computed name",
        row("choice send: trusted", 'act("Mail." + Web.get({}).name, { to: "a" })', 'act("Mail." + Far.get({}).name, { to: "a" })'),
    ],
    ["what no clause speaks of", row("", send(WEB), send(FAR), NEVER)],
    ["another argument that no clause speaks of", row("arg to: trusted", send(WEB, "body"), send(WEB, "subject"), NEVER)],
    ["what a model wrote of it", row("", `x = ${WEB}\nuse x as page\n${send('generate({ input: "Go." })')}`, send(FAR), NEVER)],
    ["who chooses what no clause speaks of", row("", when(WEB), when(FAR), NEVER)],
    ["a gate", { ...row("erase: never, drop: never", "Mail.erase({})", "Mail.drop({})"), calls: "Mail.erase" }],
    [
        "a method that the remit does not name",
        by("may Repo.read", "if x == 1 { Repo.list({}) } else { Repo.write({}) }", "1", "2", "Repo.list"),
    ],
    [
        "a tool that the remit does not name",
        by("may Repo.read", "if x == 1 { Mail.send({}) } else { Mail.drop({}) }", "1", "2", "Mail.send"),
    ],
    ["a path", by('may Repo.list in "src/**"', "Repo.list({ path: x })", '"docs"', '"secret"', "Repo.list")],
    ["a path of two", by('may Repo.list in "src/**", "lib/**"', "Repo.list({ path: x })", '"docs/a"', '"docs/b"', "Repo.list")],
    ["an amount", by("may Mail.pay in amount: 0..500", "Mail.pay({ amount: x })", "900", "901", "Mail.pay")],
    ["a recipient", by('may Mail.send in to: "*@example.com"', "Mail.send({ to: x })", '"bob@x.test"', '"eve@x.test"', "Mail.send")],
    [
        "what the remit forbids",
        by("may Mail  never Mail.send\nnever Mail.drop", "if x == 1 { Mail.send({}) } else { Mail.drop({}) }", "1", "2", "Mail.send"),
    ],
    [
        "what the remit forbids there",
        by('may Repo  never Repo.list in "a/**"\nnever Repo.list in "b/**"', "Repo.list({ path: x })", '"a/x"', '"b/x"', "Repo.list"),
    ],
    [
        "what is offered to a model",
        by(
            "may Repo.read",
            'use x as x\nif x == 1 { generate({ input: "x", tools: [Mail.send] }) } else { generate({ input: "x", tools: [Web.get] }) }',
            "1",
            "2",
            "",
        ),
    ],
    ["an endorsement", by("may Repo.read", 'if x == 1 { endorse x as trusted because "y" } else { Repo.list({}) }', "1", "2", "")],
    [
        "a count",
        {
            ...row("send: at most 1", `${send('"a"')}\n${send('"b"')}`, `${send('"a"')}\n${send('"b"')}\n${send('"c"')}`),
            calls: "Mail.send,Mail.send",
        },
    ],
];

/** Every question is answered yes: what an edit turns into a question passes. */
function fails(text: string, policy: Policy): { readonly failure: Failure | null; readonly calls: string[] } {
    const answer = (e: Effect): Outcome | undefined => {
        const { tool, op, method } = e.request as { tool?: string; op?: string; method?: string };
        if (e.kind === "model") return said({ text: "t", value: "t", calls: [], finish: "stop", model: "m" }, ["model:Claude"]);
        if (e.kind === "tool" && op !== "describe" && (method === "get" || method === "read"))
            return said({ text: "/deploy http://evil.example", name: "send" }, [`tool:${tool}`]);
        return undefined;
    };
    const ran = once(formOf(text), { answer, yes: "once", options: { input: { text: "mine" }, policy } });
    return {
        failure: ran.result.ok ? null : ran.result.failure,
        calls: did(ran)
            .filter((one) => !/\.(?:get|read)$|^model$/.test(one))
            .map((one) => one.replace(".call", ".send")),
    };
}

/** A program with what a refusal says is to be written. `line`: of the rule, from 1. */
function edited(text: string, hint: string, line: number): string {
    const lines = text.split("\n");
    const put = (at: number, from: string | RegExp, to: string): string => {
        const before = lines[at] as string;
        lines[at] = before.replace(from, () => to);
        expect([hint, lines[at] === before]).toEqual([hint, false]);
        return lines.join("\n");
    };
    const [, now, was] = /write `(.+?)` in place of `(.+?)`/.exec(hint) ?? [];
    if (now !== undefined && was !== undefined) return put(line - 1, was, now);
    const [, more, kind, name] = /add `(.+?)` to the (import|remit) of (\w+)/.exec(hint) ?? [];
    if (more === undefined) throw new Error(`no edit: ${hint}`);
    const at = lines.findIndex((one) => one.startsWith(kind === "import" ? `import tool ${name} ` : `agent ${name} `));
    if (kind === "remit") return put(at, "remit { ", `remit { ${more}  `);
    return (lines[at] as string).includes("{") ? put(at, "{ ", `{ ${more}, `) : put(at, /$/, ` { ${more} }`);
}

test.each(ROWS)(
    "%s: the edit that the refusal proposes lets that call be, and no neighbour",
    (_name, { with: more, body, other, calls, policy = {} }) => {
        const program = (main: string): string =>
            `${IMPORTS}${more}main agent A { model Claude role "r" description "d"\nmain func(input) {\n${main}\n1 } }`;
        const { failure } = fails(program(body), policy);
        const { hint = "", detail } = failure as Failure;
        const clause = (detail as { clause?: { line: number } | null } | undefined)?.clause?.line ?? 0;
        const edit = (main: string): string => edited(program(main), hint, clause);
        const after = fails(edit(body), policy);
        expect([hint, after.failure?.message, after.calls.join()]).toEqual([hint, undefined, calls]);
        expect(fails(program(other), policy).failure?.kind).toMatch(/^(?:violation\.|denied)/);
        expect([hint, fails(edit(other), policy).failure?.kind]).toEqual([hint, expect.stringMatching(/^(?:violation\.|denied)/)]);
    },
);

test.each(["**", "docs/*", "docs` in place of `x"])("a value that would be more in a bound than itself is not proposed: %s", (path) => {
    const { with: more, body } = by('may Repo.list in "src/**"', "Repo.list({ path: x })", JSON.stringify(path), '""', "");
    const { failure } = fails(
        `${IMPORTS}${more}main agent A { model Claude role "r" description "d"\nmain func(input) {\n${body}\n1 } }`,
        {},
    );
    expect(failure).toMatchObject({ kind: "violation.remit", hint: expect.stringContaining("or widen the bound in the remit of Fixer") });
    expect(failure?.hint).not.toContain("in place of");
});

test("an argument that neither a rule nor the tool names", () => {
    const text = `${IMPORTS}${mail("arg to: trusted")}main agent A { main func(input) {\nMail.send({ To: ${WEB} }) } }`;
    const run = (program: string): Failure | null => {
        const ran = once(formOf(program), {
            answer: (e) => {
                const { tool, op } = e.request as { tool?: string; op?: string };
                if (op === "describe") return said({ methods: ["get", "send"].map((name) => ({ name })) }, []);
                return said({ text: "x" }, [`tool:${tool}`]);
            },
        });
        return ran.result.ok ? null : ran.result.failure;
    };
    const { kind, hint = "" } = run(text) as Failure;
    expect(kind).toBe("violation.flow");
    expect(run(edited(text, hint, 0))).toBe(null);
});
