/**
 * An edit that is read from a refusal alone, by its backticks, lets that call be, and no other one that is refused. The edit is made by a program
 * that knows nothing else (RM1).
 */
import type { Site } from "@remit/language";
import { expect, test } from "vitest";
import type { Effect, Failure, Outcome, Policy } from "../../src/index.ts";
import { replied } from "../run/handing.ts";
import { did, formOf, once, said } from "./running.ts";

const IMPORTS = `import tool Web from "mcp://web"
import tool Far from "mcp://far"
import tool Repo from "file://workspace"
import llm Claude from "mock://m"
import tool Sh from "shell:"
import tool Api from "https://api.example.com"
import memory Notes from "file://n.jsonl"
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
    /** Methods that tools say they have, and their arguments; absent: all that the program speaks of. */
    readonly has?: { readonly [method: string]: readonly string[] | null };
    /** What the function that an agent answers with does. */
    readonly answers?: string;
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

const BANK = "Bank.get({}).text";
const bank = (clauses: string, body: string, other: string): Row => ({
    with: `${mail(clauses)}import tool Bank from "mcp://bank" { reads: "alice" }\n`,
    body,
    other,
    calls: "",
});
const post = (method: string): string => `Mail.${method}({ to: "bob", text: ${BANK} })`;
const failing = (value: string): string => `try { if ${value} != "x" { raise "no" } } catch e { ${send('"a"')} }`;
const looping = (tool: string): string => `for x in [${tool}.get({})].map(p => p.text).join("").split(" ") max 5 { ${send('"a"')} }`;
const twice = (method: string): string => `Mail.${method}({ id: 1 })\nMail.${method}({ id: 1 })`;
const AGENTS = `agent Other { remit { may Web.get } model Claude role "r" description "d"
func list(x) { if x == 1 { Repo.list({}) } else { 1 } }
func take(r) { r.list({}) } }
agent Third { remit { may Other } model Claude role "r" description "d"\nfunc go(x) { if x == 1 { Other.take(Mail) } else { 1 } } }
`;
const yields = (remit: string, answers: string, x: string, other: string, calls: string): Row => ({
    with: `${mail("")}import agent Ext from "acp://x" { remit { ${remit === "" ? "spend 9 calls" : remit} } }\n`,
    body: `Ext.yield(p: ${x})`,
    other: `Ext.yield(p: ${other})`,
    answers,
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
    [
        "who chooses beside what is trusted",
        {
            ...row("", `if Sure.get({}).text != "" { ${when(WEB)} }`, `if Sure.get({}).text != "" { ${when(FAR)} }`, NEVER),
            with: `${mail("")}import tool Sure from "mcp://sure" { trusted }\n`,
        },
    ],
    [
        "who hands control over",
        { ...yields("", "1", "1", "1", ""), body: when(WEB, "Ext.yield(p: 1)"), other: when(FAR, "Ext.yield(p: 1)"), policy: NEVER },
    ],
    [
        "who lets an agent define functions",
        {
            ...yields("", "1", "1", "1", ""),
            body: when(WEB, "delegate all to Ext { Ext.yield(p: 1) }"),
            other: when(FAR, "delegate all to Ext { Ext.yield(p: 1) }"),
            policy: NEVER,
        },
    ],
    [
        "who hands control over, of a list",
        {
            ...yields("", "1", "1", "1", ""),
            with: 'import agent Ext from "acp://x" { choice: from("user"), remit { spend 9 calls } }\n',
            body: when(WEB, 'Ext.send("go")'),
            other: when(FAR, 'Ext.send("go")'),
        },
    ],
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
    [
        "an argument that neither a rule nor the tool names",
        { ...row("arg to: trusted", send(WEB, "To"), `Mail.drop({ To: ${WEB} })`), has: { send: null, drop: null, get: null } },
    ],
    ["an argument by its place that no clause speaks of", row("", `Mail.send(${WEB})`, `Mail.drop(${WEB})`, NEVER)],
    ["a list with the trusted in it", row('arg to: from("trusted", "tool:Repo")', send(WEB), send(FAR))],
    ["a list with a field", row("arg to: among(Web.get.text)", send(FAR), send('Repo.read({ path: "a" }).text'))],
    ["who chooses by a failure", row("choice send: trusted", failing(WEB), failing(FAR))],
    ["who chooses how often", { ...row("choice send: trusted", looping("Web"), looping("Far")), calls: "Mail.send,Mail.send" }],
    ["a value for one person", { ...bank("", send(BANK), "Mail.post({ to: Bank.get({}).text })"), calls: "Mail.send" }],
    [
        "a value for another person",
        { ...bank('audience send: "bob", audience post: "bob"', send(BANK), `Mail.post({ to: ${BANK} })`), calls: "Mail.send" },
    ],
    [
        "a value for others, whom the call names",
        { ...bank("audience send: arg to, audience post: arg to", post("send"), post("post")), calls: "Mail.send" },
    ],
    ["a value for one person, kept", { ...bank("", `Notes.add({ text: ${BANK} })`, send(BANK)), calls: "Notes remember" }],
    ["a rule with a method misspelt", { ...row("arg sned.to: trusted", send('"a"'), send(WEB)), has: { send: ["to"], get: [] } }],
    ["a rule with another method", { ...row("arg remove.to: trusted", send('"a"'), send(WEB), NEVER), has: { send: ["to"], get: [] } }],
    [
        "a rule with another argument",
        { ...row("arg send.subject: trusted", send('"a"'), send(WEB), NEVER), has: { send: ["to"], get: [] } },
    ],
    ["a rule with an argument misspelt", { ...row("arg send.too: trusted", send('"a"'), send(WEB)), has: { send: ["to"], get: [] } }],
    ["one use for each", { ...row("send: once by id, drop: once by id", twice("send"), twice("drop")), calls: "Mail.send,Mail.send" }],
    [
        "a delegation that is not onward",
        {
            with: `${agent("may Other", "Other.take(Repo)")}func one() {\ndelegate Repo.list to Fixer { Fixer.go(1) }\n}\nfunc two() {\ndelegate Mail.drop to Third { Third.go(1) }\n}\n`,
            body: "one()",
            other: "two()",
            calls: "Repo.list",
        },
    ],
    [
        "a delegation of what the agent does not have",
        by(
            "may Other, Repo.read",
            "if x == 1 { delegate Repo.list to Other {\nOther.list(1)\n} } else { delegate Mail.drop to Other {\nOther.list(1)\n} }",
            "1",
            "2",
            "Repo.list",
        ),
    ],
    [
        "a place beyond the project's list",
        {
            with: 'import tool Net from "https://a.example"\n',
            body: 'Net.post({ url: "https://b.example/x" })',
            other: 'Net.post({ url: "https://c.example/x" })',
            calls: "Net.post",
            policy: { reach: [{ origins: ["https://a.example"], tools: [], by: "the project" }] },
        },
    ],
    [
        "a remit with a name",
        {
            ...by("may Repo.read", "if x == 1 { Repo.list({}) } else { Repo.write({}) }", "1", "2", "Repo.list"),
            with: `remit Narrow { may Repo.read }\n${mail("")}agent Fixer { remit Narrow model Claude role "r" description "d"\nfunc go(x) { if x == 1 { Repo.list({}) } else { Repo.write({}) } } }\n`,
        },
    ],
    [
        "a path that an agent's answer chose",
        yields('may Repo.list in "src/**"', "Repo.list({ path: p })", '"docs"', '"secret"', "Repo.list"),
    ],
    ["a method that an agent's answer found", yields("may Repo.read", "act(p, {})", '"Repo.list"', '"Repo.drop"', "Repo.list")],
    [
        "an address",
        by(
            'may Api.post in "https://api.example.com/v1/*"',
            "Api.post({ url: x })",
            '"https://api.example.com/v2/x"',
            '"https://api.example.com/v3/x"',
            "Api.post",
        ),
    ],
    ["a command", by('may Sh.run in "npm *"', "Sh.run({ command: x })", '"git status"', '"rm x"', "Sh.run")],
    [
        "a command that the remit forbids",
        by('may Sh  never Sh.run in "rm *"\nnever Sh.run in "dd *"', "Sh.run({ command: x })", '"rm a"', '"dd b"', "Sh.run"),
    ],
    ["a folder", by('may Sh.run in cwd: "out"', 'Sh.run({ command: "ls", cwd: x })', '"other"', '"else"', "Sh.run")],
    [
        "an amount that the remit forbids",
        by(
            "may Mail  never Mail.pay in amount: 500..900\nnever Mail.pay in amount: 1000..2000",
            "Mail.pay({ amount: x })",
            "700",
            "1500",
            "Mail.pay",
        ),
    ],
    ["an amount between two ranges", by("may Mail.pay in amount: 0..1, 10..20", "Mail.pay({ amount: x })", "5", "6", "Mail.pay")],
    [
        "a count in a remit",
        {
            ...by("may Mail.send at most 1", "Mail.send({ id: x })\nMail.send({ id: x })", "1", "1", "Mail.send,Mail.send"),
            other: "Fixer.go(1)\nFixer.go(1)",
        },
    ],
    [
        "a memory that the remit does not name",
        by("may Repo.read", 'if x == 1 { Notes.add({ text: "a" }) } else { Notes.query({ text: "a" }) }', "1", "2", "Notes remember"),
    ],
    [
        "what was delegated and kept",
        {
            with: `${mail("")}agent Fixer { remit { may Web.get } model Claude role "r" description "d"
func keep(box, x) { if x == 1 { box.add(Repo) } else { box.add(Mail) } }
func go(box, x) { if x == 1 { box[0].list({}) } else { box[0].drop({}) } } }\n`,
            body: "box = []\ndelegate Repo.list to Fixer { Fixer.keep(box, 1) }\nFixer.go(box, 1)",
            other: "box = []\ndelegate Mail.drop to Fixer { Fixer.keep(box, 2) }\nFixer.go(box, 2)",
            calls: "Repo.list",
        },
    ],
    [
        "a value that was handed on without the right to it",
        by("may Other, Repo.read", "if x == 1 { Other.take(Repo) } else { Other.take(Mail) }", "1", "2", "Repo.list"),
    ],
    [
        "a method that a value was narrowed by",
        {
            with: `${mail("")}agent Fixer { remit { may Web.get } model Claude role "r" description "d"
func list(r) { r.list({}) }\nfunc drop(r) { r.drop({}) } }\n`,
            body: "Fixer.list(Repo.only(read))",
            other: "Fixer.drop(Repo.only(read))",
            calls: "Repo.list",
        },
    ],
    ["an agent that the remit does not name", by("may Repo.read", "if x == 1 { Other.list(0) } else { Third.go(0) }", "1", "2", "")],
];

/** A program and the project's policy beside it. */
interface Written {
    readonly text: string;
    readonly policy: Policy;
}

/** Every question is answered yes: what an edit turns into a question passes. */
function fails(
    { text, policy }: Written,
    { has, answers = "1" }: Partial<Row> = {},
): { readonly failure: Failure | null; readonly calls: string[] } {
    const answer = (e: Effect): Outcome | undefined => {
        const { tool, op, method } = e.request as { tool?: string; op?: string; method?: string };
        if (e.kind === "model") return said({ text: "t", value: "t", calls: [], finish: "stop", model: "m" }, ["model:Claude"]);
        if (e.kind === "agent") return replied(`\`\`\`remit\nfunc answer(agent, p) {\n${answers}\n}\n\`\`\``, {}, "Ext");
        if (e.kind === "tool" && op === "describe" && has !== undefined)
            return said(
                {
                    methods: Object.entries(has).map(([name, args]) => ({
                        name,
                        ...(args === null
                            ? {}
                            : { input: { type: "object", properties: Object.fromEntries(args.map((one) => [one, {}])) } }),
                    })),
                },
                [],
            );
        if (e.kind === "tool" && op !== "describe" && (method === "get" || method === "read"))
            return said({ text: "/deploy http://evil.example", name: "send" }, [`tool:${tool}`]);
        return undefined;
    };
    const ran = once(formOf(text), { answer, yes: "once", options: { input: { text: "mine" }, policy } });
    return {
        failure: ran.result.ok ? null : ran.result.failure,
        calls: did(ran)
            .filter((one) => !/\.(?:get|read)$|^(?:model|agent)$/.test(one))
            .map((one) => one.replace(".call", ".send")),
    };
}

/** A program with what a refusal says is to be written. `line`, `column`: of the rule, from 1. */
function edited({ text, policy }: Written, hint: string, { line, column }: Pick<Site, "line" | "column">): Written {
    const lines = text.split("\n");
    const put = (at: number, from: string | RegExp, to: string): Written => {
        const before = lines[at] as string;
        const start = at === line - 1 ? column - 1 : 0;
        lines[at] = before.slice(0, start) + before.slice(start).replace(from, () => to);
        expect([hint, lines[at] === before]).toEqual([hint, false]);
        return { text: lines.join("\n"), policy };
    };
    const [, now, was] = /write `(.+?)` in place of `(.+?)`/.exec(hint) ?? [];
    if (now !== undefined && was !== undefined) return put(line - 1, was, now);
    const [, out] = /take `(.+?)` out/.exec(hint) ?? [];
    if (out !== undefined) return put(line - 1, new RegExp(`\\w+: ${out}(?:, )?`), "");
    if (hint.includes("take the rule out")) return put(line - 1, /[^,{]*: \w+(?:, )?/, "");
    const [, method] = /name `(\w+)`, too, in the `\.only\(…\)`/.exec(hint) ?? [];
    if (method !== undefined)
        return put(
            lines.findIndex((one) => one.includes(".only(")),
            ".only(",
            `.only(${method}, `,
        );
    const [, origin] = /add `(https?:.+?)` to what the project allows/.exec(hint) ?? [];
    if (origin !== undefined)
        return {
            text,
            policy: { ...policy, reach: (policy.reach ?? []).map((rule) => ({ ...rule, origins: [...rule.origins, origin] })) },
        };
    const [, more, kind, name] = /add `(.+?)` to the (import|remit) of (\w+)/.exec(hint) ?? [];
    if (more === undefined) throw new Error(`no edit: ${hint}`);
    const heads = kind === "import" ? /^import \w+ (\w+) / : /^(?:agent|import agent) (\w+) .*remit \{/;
    const at = lines.findIndex((one) => heads.exec(one)?.[1] === name);
    // Where the remit stands elsewhere, the refusal says in which line.
    if (kind === "remit") return put(at < 0 ? line - 1 : at, /(?<=remit (?:\w+ )?\{) /, ` ${more}  `);
    return (lines[at] as string).includes("{") ? put(at, "{ ", `{ ${more}, `) : put(at, /$/, ` { ${more} }`);
}

const programOf = (more: string, main: string): string =>
    `${IMPORTS}${more}${AGENTS}main agent A { model Claude role "r" description "d"\nmain func(input) {\n${main}\n1 } }`;

test("there are as many attacks as the measure asks for", () => expect(ROWS.length).toBeGreaterThanOrEqual(50));

test.each(ROWS)("%s: the edit that the refusal proposes lets that call be, and no neighbour", (_name, row) => {
    const { with: more, body, other, calls, policy = {} } = row;
    const program = (main: string): Written => ({ text: programOf(more, main), policy });
    const { failure } = fails(program(body), row);
    const { hint = "", detail, message } = failure as Failure;
    expect(message).not.toBe("");
    const { clause, unknown } = detail as { clause?: Site | null; unknown?: { site: Site | null } };
    const edit = (main: string): Written => edited(program(main), hint, { line: clause?.line ?? 0, column: unknown?.site?.column ?? 1 });
    const after = fails(edit(body), row);
    expect([hint, after.failure?.message, after.calls.join()]).toEqual([hint, undefined, calls]);
    expect(fails(program(other), row).failure?.kind).toMatch(/^(?:violation\.|denied)/);
    expect([hint, fails(edit(other), row).failure?.kind]).toEqual([hint, expect.stringMatching(/^(?:violation\.|denied)/)]);
});

test.each(["**", "docs/*", "docs` in place of `x"])("a value that would be more in a bound than itself is not proposed: %s", (path) => {
    const { with: more, body } = by('may Repo.list in "src/**"', "Repo.list({ path: x })", JSON.stringify(path), '""', "");
    const { failure } = fails({ text: programOf(more, body), policy: {} });
    expect(failure).toMatchObject({ kind: "violation.remit", hint: expect.stringContaining("or widen the bound in the remit of Fixer") });
    expect(failure?.hint).not.toContain("in place of");
});

test.each([
    [
        "an amount",
        "may Mail.pay in amount: 0..500",
        "Mail.pay({ to: x })",
        "give amount, inside of 0..500: no bound fits a call without it",
    ],
    ["a path", 'may Repo.list in "src/**"', "Repo.list({})", 'give path, inside of "src/**": no bound fits a call without it'],
])("of a call without what a bound speaks of the argument is asked for, and no bound proposed: %s", (_name, remit, of, hint) => {
    const { with: more, body } = by(remit, of, '"a"', '""', "");
    expect(fails({ text: programOf(more, body), policy: {} }).failure).toMatchObject({ kind: "violation.remit", hint });
});

test("a value that another agent was given is passed on by itself, or used by its name", () => {
    const more = `${mail("")}agent Fixer { remit { may Repo } model Claude role "r" description "d"\nfunc give() { Repo } }\n`;
    const { failure } = fails({ text: programOf(more, "x = Fixer.give()\nx.list({})"), policy: {} });
    expect(failure).toMatchObject({ kind: "violation.remit", hint: expect.stringContaining("by the name of its own import") });
});

test("of what a verb uses no clause is proposed: the program has no import of it", () => {
    const of = (tool: string): string | undefined => {
        const text = programOf(`import tool ${tool} from "file://out"\n`, when(WEB, `${tool}.write({ path: "a", content: "b" })`));
        return fails({ text, policy: NEVER }).failure?.hint;
    };
    expect(of("Store")).toContain("add `choice write");
    expect(of("Verb_files")).toMatch(/^use write of a tool that the program imports in place of the verb/);
});
