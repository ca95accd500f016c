/** What somebody does to pass an argument around a clause: under a name that no clause and no schema has, or to a tool that has no schema. */
import type { Json } from "@remit/language";
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
            if (tool === "Page" || methods !== null) return said({ methods: tool === "Page" ? [] : methods }, [`tool:${tool}`]);
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
        ["after one that was let through", "arg to: trusted", main(`Mail.any({ to: "a" })  Mail.any({ to: "a", cc: ${page} })`), 1],
    ] as [string, string, string, number?][])("%s", (_what, clauses, text, before = 0) => {
        const ran = run(PAGE + mail(clauses) + text, { answer: world(METHODS) });
        expect([outcome(ran), sent(ran).length]).toEqual(["violation.flow", before]);
    });

    test("of a tool that does not say what it has, too", () => {
        const ran = run(PAGE + mail("arg to: trusted") + main(`Mail.send({ to: "a", body: ${page} })`), { answer: world(null) });
        expect([outcome(ran), sent(ran)]).toEqual(["violation.flow", []]);
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
});
