/** What somebody does to pass an argument around a clause: under a name that no clause and no schema has, or to a tool that has no schema. */
import type { Json, ProjectPolicy } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, ModelTurn, Outcome } from "../../../src/index.ts";
import { did, outcome, run, said } from "../running.ts";

const PAGE = 'import tool Page from "mcp://page"\n';
const page = "Page.find({}).to";
/** Nothing but a name, and a method whose arguments are known. */
const METHODS: Json = [
    { name: "any", input: { type: "object" } },
    { name: "send", input: { type: "object", properties: { to: {}, body: {} } } },
];

function world(methods: Json | null): (e: Effect) => Outcome | undefined {
    return (e) => {
        const { op, tool } = e.request as { op?: string; tool?: string };
        if (op === "describe") {
            if (tool === "Page" || methods !== null)
                return said({ methods: tool === "Page" ? [{ name: "find" }] : methods }, [`tool:${tool}`]);
            return { ok: false, failure: { kind: "unreachable", message: "gone" } };
        }
        if (tool === "Page") return said({ to: "eve@evil.example" }, ["tool:Page"]);
        if (e.kind === "model") {
            const { messages, tools } = e.request as unknown as ModelTurn;
            const again = messages.some((one) => one.role === "tool");
            const calls = again ? [] : (tools ?? []).map(({ name }, i) => ({ id: `c${i}`, name, args: { to: "a", cc: "eve" } }));
            return said({ text: "k", value: "k", calls, finish: "stop", model: "gpt" }, ["model:Gpt"]);
        }
        return undefined;
    };
}

const mail = (clauses: string): string => `import tool Mail from "mcp://mail" { ${clauses} }\n`;
const main = (body: string): string => `main agent Main { main func(input) { ${body} } }\n`;
const sent = (ran: ReturnType<typeof run>): string[] => did(ran).filter((one) => one.startsWith("Mail") || one.startsWith("Post"));

describe("a tool without a schema takes only what is trusted where a clause speaks of another argument", () => {
    test.each([
        ["the clause has a wrong name", "arg too: trusted", main(`Mail.any({ to: ${page} })`)],
        ["another argument", "arg any.to: trusted", main(`Mail.any({ to: "a", cc: ${page} })`)],
        ["inside a list", "arg to: trusted", main(`Mail.any({ to: "a", cc: ["b", ${page}] })`)],
        ["as a key", "arg to: trusted", main(`o = { to: "a" }  o[${page}] = 1  Mail.any(o)`)],
        ["spread", "arg to: trusted", main(`o = { cc: ${page} }  Mail.any({ to: "a", ...o })`)],
        ["by place", "arg 1: trusted", main(`Mail.any("a", ${page})`)],
        ["by place, where a name is spoken of", 'arg to: from("tool:Page")', main(`Mail.any(${page}, ${page})`)],
        ["another name for it", "arg to: trusted", main(`m = Mail  m.any({ to: "a", cc: ${page} })`)],
        ["a narrower handle", "arg to: trusted", main(`m = Mail.only(any)  m.any({ to: "a", cc: ${page} })`)],
        ["handed to a function", "arg to: trusted", `func hand(m, x) { m.any({ to: "a", cc: x }) }\n${main(`hand(Mail, ${page})`)}`],
        ["another import of it", "arg to: trusted", `import tool Post from "mcp://mail"\n${main(`Post.any({ to: "a", cc: ${page} })`)}`],
        [
            "delegated",
            "arg to: trusted",
            `agent F { remit { may Page } func go(x) { Mail.any({ to: "a", cc: x }) } }\n${main(`delegate Mail.any to F { F.go(${page}) }`)}`,
        ],
        ["the generic call", "arg any.to: trusted", main(`Mail.call({ tool: "any", args: { to: "a", cc: ${page} } })`)],
        ["among", 'arg to: among("tool:Page")', main(`Mail.any({ to: "a", cc: ${page} })`)],
        ["or ask", "arg to: trusted or ask", main(`Mail.any({ to: "a", cc: ${page} })`)],
        ["in parallel", "arg to: trusted", main(`y = ${page}  parallel for x in [y] max 1 { Mail.any({ to: "a", cc: x }) }`)],
        ["an argument that names who reads what is sent", "audience: arg to", main(`Mail.any({ to: "a", cc: ${page} })`)],
        ["an argument that names who may read what comes", "reads: arg to", main(`Mail.any({ to: "a", cc: ${page} })`)],
        [
            "a bound of a remit",
            "any: may",
            `agent F { remit { may Page, Mail.any in to: "a*" } func go() { Mail.any({ to: "a", cc: ${page} }) } }\n${main("F.go()")}`,
        ],
        [
            "what a remit forbids",
            "any: may",
            `agent F { remit { may Page, Mail  never Mail.any in to: "b*" } func go() { Mail.any({ to: "a", cc: ${page} }) } }\n${main("F.go()")}`,
        ],
        [
            "a bound of a delegation",
            "any: may",
            `agent F { remit { may Page } func go(x) { Mail.any({ to: "a", cc: x }) } }\n${main(`delegate Mail.any in to: "a" to F { F.go(${page}) }`)}`,
        ],
        ["a bound of a narrower handle", "any: may", main(`m = Mail.only(any in to: "a")  m.any({ to: "a", cc: ${page} })`)],
        ["after one that was let through", "arg to: trusted", main(`Mail.any({ to: "a" })  Mail.any({ to: "a", cc: ${page} })`), 1],
    ] as [string, string, string, number?][])("%s", (_what, clauses, text, before = 0) => {
        const ran = run(PAGE + mail(clauses) + text, { answer: world(METHODS) });
        expect([outcome(ran), sent(ran).length]).toEqual(["violation.flow", before]);
    });

    test("another agent's bound is none of it", () => {
        const text = `agent F { remit { may Mail.any in to: "a" } func go() { Mail.any({ to: "a" }) } }\n${main(`F.go()  Mail.any({ to: "a", cc: ${page} })`)}`;
        expect(sent(run(PAGE + mail("any: may") + text, { answer: world(METHODS) }))).toHaveLength(2);
    });

    test("by act, which tells it", () => {
        const ran = run(PAGE + mail("arg to: trusted") + main(`act("Mail.any", { to: "a", cc: ${page} })`), { answer: world(METHODS) });
        expect(sent(ran)).toEqual([]);
    });

    test("in a loop that a model goes through", () => {
        const text = `import llm Gpt from "openai://gpt"\n${mail('any: may, send: may, arg to: from("model:Gpt", "user", "tool:Mail")')}main agent Main { model Gpt role "r" description "d" main func(input) { generate({ input: "k", tools: [Mail] }) } }`;
        const ran = run(text, { answer: world(METHODS) });
        expect(sent(ran)).toEqual([]);
        expect(ran.events.filter((e) => e.kind === "policy.denied").map((e) => (e.data as { flow?: { arg: string } }).flow?.arg)).toEqual([
            "cc",
            "cc",
        ]);
    });
});

describe("what is said to be there is as before", () => {
    test.each([
        ["an argument that the schema names", "arg send.to: trusted", `Mail.send({ to: "a", body: ${page} })`],
        ["a method of which no clause speaks", "arg send.to: trusted", `Mail.any({ cc: ${page} })`],
        ["an argument that a clause lets in", 'arg any.cc: from("tool:Page"), arg any.to: trusted', `Mail.any({ to: "a", cc: ${page} })`],
        ["what is trusted", "arg any.to: trusted", 'Mail.any({ to: "a", cc: input })'],
    ])("%s", (_what, clauses, body) => {
        expect(sent(run(PAGE + mail(clauses) + main(body), { answer: world(METHODS) }))).toHaveLength(1);
    });

    test("an argument that the schema does not name is none of them", () => {
        const ran = run(PAGE + mail("arg send.to: trusted") + main(`Mail.send({ to: "a", cc: ${page} })`), { answer: world(METHODS) });
        expect([outcome(ran), sent(ran)]).toEqual(["violation.flow", []]);
    });
});

describe("a rule that names what the tool does not have", () => {
    test.each([
        ["a gate", "sned: never, arg to: trusted", "method", "sned"],
        ["an argument", "arg send.too: trusted", "argument", "too"],
        ["a gate, where nothing is said of arguments", "sned: never", "method", "sned"],
        ["readers", 'reads sned: "ann"', "method", "sned"],
    ])("%s lets no use through, and the ledger tells of it", (_what, clauses, what, name) => {
        const ran = run(mail(clauses) + main('Mail.any({ to: "a" })'), { answer: world(METHODS) });
        expect([outcome(ran), sent(ran)]).toEqual(["denied", []]);
        const [event] = ran.events.filter((e) => e.kind === "policy.denied");
        expect(event?.data).toMatchObject({ why: "name", capability: "Mail.any", unknown: { what, name } });
    });

    test("a tool is not asked for a use that is refused anyway, and once for all others", () => {
        const asked = (ran: ReturnType<typeof run>): number =>
            ran.effects.filter((e) => (e.request as { op?: string }).op === "describe").length;
        expect(asked(run(mail("any: never, arg to: trusted") + main('Mail.any({ to: "a" })'), { answer: world(METHODS) }))).toBe(0);
        expect(
            asked(run(mail("any: may, arg to: trusted") + main("Mail.any({})  Mail.any({})  Mail.send({})"), { answer: world(METHODS) })),
        ).toBe(1);
    });

    test.each([
        ["a remit", `agent F { remit { may Mail  never Mail.sned } func go() { Mail.any({ to: "a" }) } }\n${main("F.go()")}`, {}],
        ["a project's clause", main('Mail.any({ to: "a" })'), { clauses: { Mail: [{ kind: "gate", method: "sned", gate: "never" }] } }],
        [
            "a project's remit",
            `agent F { func go() { Mail.any({ to: "a" }) } }\n${main("F.go()")}`,
            {
                remits: {
                    F: {
                        grants: [
                            { gate: "may", refs: [{ name: "Mail" }] },
                            { gate: "never", refs: [{ name: "Mail", method: "sned" }] },
                        ],
                    },
                },
            },
        ],
    ] as [string, string, ProjectPolicy][])("of %s, too", (_what, text, policy) => {
        const ran = run(mail("any: may") + text, { answer: world(METHODS), options: { policy } });
        expect([outcome(ran), sent(ran)]).toEqual(["denied", []]);
    });

    test("of a memory, by what every memory has", () => {
        const ran = run(`import memory Notes from "file://n.jsonl" { ad: never }\n${main('Notes.add({ text: "a" })')}`, {});
        expect([outcome(ran), did(ran)]).toEqual(["denied", []]);
    });

    test("a tool that names no method has none", () => {
        const ran = run(mail("send: ask") + main('Mail.send({ to: "a" })'), { answer: world([]) });
        expect([outcome(ran), sent(ran)]).toEqual(["denied", []]);
    });

    test("a tool that cannot say what it has is not used, and is asked again at the next use", () => {
        let asks = 0;
        const ran = run(mail("send: may") + main('a = try { Mail.send({ to: "a" }) } catch e { e.kind }  Mail.send({ to: "b" })  a'), {
            answer: (e) => {
                const again = (e.request as { op?: string }).op === "describe" && e.path.includes("#1") && ++asks > 0;
                return world(again ? METHODS : null)(e);
            },
        });
        expect([outcome(ran), sent(ran).length, asks > 0]).toEqual(["unreachable", 1, true]);
    });
});
