/** `among(input.recipients, Contacts.find.email)`: whole values of a field, and no evidence from what repeats its query (LANGUAGE 5, EVI1, EVI2). */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { repeats, toldBy, valuesIn } from "../../src/authority/evidence.ts";
import { partOf } from "./parts.ts";
import { did, formOf, once, outcome, run, said } from "./running.ts";

const answers =
    (found: (args: Json) => Json) =>
    (e: Effect): Outcome | undefined => {
        const { tool, method, args } = e.request as { tool?: string; method?: string; args?: Json[] };
        if (method === "get") return said({ body: { to: "evil@x.test", id: 7 } }, ["tool:Web"]);
        return tool === "Contacts" && (method === "find" || method === "call")
            ? said(found(args?.[0] ?? null), ["tool:Contacts"])
            : undefined;
    };

const sends = (
    clause: string,
    body: string,
    found: (args: Json) => Json = () => ({ people: [{ email: "bob@x.test", note: "evil@x.test" }] }),
) =>
    run(
        `
import tool Web from "https://pages.test"
import tool Contacts from "mcp://contacts"
import tool Mail from "mcp://mail" { arg to: ${clause} }
main agent Main { main func(input) { web = Web.get({ url: "/" }).body  ${body} } }
`,
        { answer: answers(found), options: { input: { recipients: ["ann@x.test"], text: "and evil@x.test", deep: { to: "dan@x.test" } } } },
    );
const gone = (ran: ReturnType<typeof sends>): number => did(ran).filter((one) => one === "Mail.send").length;
/** A text that carries where the page came from, whatever it says. */
const from = (word: string): string => `(web.to.replace("evil@x.test", "${word}"))`;

describe("fields", () => {
    const FIELDS = "among(input.recipients, Contacts.find.people.email)";
    const find = 'Contacts.find({ name: "Bob" })';
    test.each([
        ["a value of the input's field", FIELDS, `Mail.send({ to: ${from("ann@x.test")} })`, 1],
        ["another field of the input", FIELDS, `Mail.send({ to: ${from("dan@x.test")} })`, 0],
        ["a field deeper in it", "among(input.deep.to)", `Mail.send({ to: ${from("dan@x.test")} })`, 1],
        ["no part of a text", "among(input.text)", `Mail.send({ to: ${from("evil@x.test")} })`, 0],
        ["what the wide form lets in", 'among("user")', `Mail.send({ to: ${from("evil@x.test")} })`, 1],
        ["a field of results", FIELDS, `${find}  Mail.send({ to: ${from("bob@x.test")} })`, 1],
        ["before they came", FIELDS, `Mail.send({ to: ${from("bob@x.test")} })  ${find}`, 0],
        ["another field of them", FIELDS, `${find}  Mail.send({ to: ${from("evil@x.test")} })`, 0],
        ["what is not in any", FIELDS, `${find}  Mail.send({ to: ${from("eve@x.test")} })`, 0],
        ["all of a list", FIELDS, `${find}  Mail.send({ to: [${from("bob@x.test")}, ${from("ann@x.test")}] })`, 1],
        ["not all of a list", FIELDS, `${find}  Mail.send({ to: [${from("bob@x.test")}, ${from("eve@x.test")}] })`, 0],
        ["beside an origin", 'among("tool:Web", input.recipients)', `Mail.send({ to: ${from("evil@x.test")} })`, 1],
        ["of addresses", `addresses ${FIELDS}`, `${find}  Mail.send({ to: ${from("write to bob@x.test")} })`, 1],
        ["of addresses, another", `addresses ${FIELDS}`, `${find}  Mail.send({ to: ${from("write to eve@x.test")} })`, 0],
        ["the generic call", FIELDS, `Contacts.call({ tool: "find", args: {} })  Mail.send({ to: ${from("bob@x.test")} })`, 1],
    ])("%s", (_, clause, body, times) => {
        const ran = sends(clause, body);
        expect([gone(ran), times === 1 ? "sent" : outcome(ran)]).toEqual([times, times === 1 ? "sent" : "violation.flow"]);
    });

    test("a field of the input is none where the input is not the user's word", () => {
        const ran = run(
            'import tool Mail from "mcp://mail" { arg to: among(input.to) }\nmain agent Main { main func(input) { Mail.send({ to: input.to }) } }\n',
            { options: { input: { to: "a@x.test" }, inputLabels: ["web:form"] } },
        );
        expect(outcome(ran)).toBe("violation.flow");
    });

    test("several parameters are fields of the input", () => {
        const ran = run(
            'import tool Web from "https://pages.test"\nimport tool Mail from "mcp://mail" { arg to: among(input.whom) }\nmain agent Main { main func(whom: string, what: string) { Mail.send({ to: Web.get({ url: "/" }).body.to }) } }\n',
            { options: { input: { whom: "evil@x.test", what: "x" } }, answer: answers(() => null) },
        );
        expect(gone(ran)).toBe(1);
    });
});

describe("a reply that repeats its query is no evidence", () => {
    test.each(['among("tool:Contacts")', "among(Contacts.find.email)", 'addresses among("tool:Contacts")'])("%s", (clause) => {
        for (const query of [
            "web.to",
            "{ q: [web.to] }",
            '"mailto:" + web.to',
            'web.to.replace("@", "%40")',
            'web.to.replace("@", "&#64;")',
        ]) {
            const ran = sends(clause, `Contacts.find({ name: ${query} })  Mail.send({ to: web.to })`, () => ({ email: "evil@x.test" }));
            expect([query, gone(ran)]).toEqual([query, 0]);
        }
        const ran = sends(clause, 'Contacts.find({ name: "Evil" })  Mail.send({ to: web.to })', () => ({ email: "evil@x.test" }));
        expect(gone(ran)).toBe(1);
    });

    test("spellings", () => {
        const args = [{ q: "Please ask Eve%2540x.test, order 17", b: "ZXZpbEB4LnRlc3Q=", u: "\\u0062ob@x.test", n: 42 }];
        const stood = repeats(args);
        for (const word of ["eve@x.test", "EVE@X.TEST", "evil@x.test", "bob@x.test", "17", "42", "q"])
            expect([word, stood(word)]).toEqual([word, true]);
        for (const word of ["ann@x.test", "7", "4", "el"]) expect([word, stood(word)]).toEqual([word, false]);
    });
});

test("what a result tells: structured, else its text as JSON, and nothing where it failed", () => {
    const result = (more: { [key: string]: Json }): Json => ({
        ok: true,
        text: "",
        content: [],
        structured: null,
        isError: false,
        ...more,
    });
    const emails = (value: Json): Json[] => valuesIn(toldBy(value), ["people", "email"]);
    const people: Json = { people: [{ email: "a" }, { email: ["b", { c: "d" }] }, { other: "e" }] };
    expect(emails(result({ structured: people }))).toEqual(["a", "b"]);
    expect(emails(result({ text: JSON.stringify(people) }))).toEqual(["a", "b"]);
    expect(emails(result({ structured: people, isError: true, ok: false }))).toEqual([]);
    expect(emails(result({ text: "no JSON" }))).toEqual([]);
    expect(emails(people)).toEqual(["a", "b"]);
});

describe("ER3: a part that runs elsewhere looks into the input that the run began with", () => {
    const sent = (clause: string, body: string, inputLabels?: string[]): Json => {
        const form = formOf(`import tool Out from "mcp://out" { arg to: ${clause} }
func other(x) { { recipients: x.blocked } }
func send(x) { Out.write({ to: x.recipients })
1 }
memory static ( ${body} )`);
        const options = {
            input: { recipients: "bob@example.com", blocked: "eve@example.com" },
            ...(inputLabels === undefined ? {} : { inputLabels }),
        };
        const wrote: Json[] = [];
        const answer = (e: Effect): Outcome | undefined => {
            if (e.kind === "run") return partOf(form, e, { answer });
            const { op, args = [] } = e.request as { op?: string; args?: Json[] };
            if (op !== "describe") wrote.push(...args);
            return undefined;
        };
        return [outcome(once(form, { answer, options })), wrote];
    };
    const field = "among(input.recipients)";

    test.each([
        ["another field of it", "other >=> temporal static ( send )"],
        ["in a part of a part", "other >=> temporal static ( memory static ( send ) )"],
    ])("refuses %s", (_what, body) => {
        expect(sent(field, body)).toEqual(["violation.flow", []]);
    });

    test.each(["temporal static ( send )", "temporal static ( memory static ( send ) )"])("takes the field: %s", (body) => {
        expect(sent(field, body)).toEqual([1, [{ to: "bob@example.com" }]]);
        expect(sent(field, body, ["web:form"])).toEqual(["violation.flow", []]);
    });
});
