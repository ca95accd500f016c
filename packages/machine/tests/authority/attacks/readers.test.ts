/** What only some may read: wherever it comes in, whatever it comes from, and however the call that brings or takes it is spelled. */
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../../src/index.ts";
import { type Asked, did, outcome, run, said } from "../running.ts";

const ALICE = 'only:["alice"]';
const program = (imports: string, body: string): string => `${imports}\nmain agent M { main func(input) { ${body} } }`;
const to = (text: string, more?: Asked) => {
    const ran = run(text, more);
    return [did(ran), outcome(ran)];
};

describe("a program that says nothing of authority", () => {
    const OUT = 'import tool Out from "file://workspace"\n';
    const NOTES = `${OUT}import memory Notes from "file://notes.jsonl"\n`;
    const stored =
        (origins: string[]) =>
        (e: Effect): Outcome | undefined =>
            e.kind === "recall"
                ? { ok: true, value: [{ id: 1, record: { text: "s" } }], origins: ["memory:Notes"], parts: { "/0/record": origins } }
                : undefined;
    const READS = 'r = Notes.query({ text: "q" })  ';

    test.each([
        ["by name", "Out.write({ content: r[0].record.text })", ""],
        ["as a value", "o = Out  o.write({ content: r[0].record.text })", ""],
        ["in a function", "put(r)", "func put(r) { Out.write({ content: r[0].record.text }) }"],
        ["in a parallel for", "parallel for x in r max 2 { Out.write({ content: x.record.text }) }", ""],
        ["into the memory", "Notes.add({ text: r[0].record.text })", ""],
    ])("holds what another program stored for some: %s", (_name, body, more) => {
        const text = program(NOTES + more, READS + body);
        for (const flow of ["", "flow strict\n"])
            expect(to(flow + text, { answer: stored([ALICE]) })).toEqual([["Notes recall"], "violation.flow"]);
        expect(outcome(run(text, { answer: stored(["tool:Bank"]) }))).not.toBe("violation.flow");
    });

    test("holds an input that is for some", () => {
        const text = program(OUT, 'Out.write({ content: "a" })  Out.write({ content: input })');
        expect(to(text, { options: { input: "s", inputLabels: [ALICE, "user"] } })).toEqual([["Out.write"], "violation.flow"]);
    });

    test("goes on with what is for everybody", () => {
        const text = program(NOTES, `${READS}Out.write({ content: "a" })  1`);
        expect(to(text, { answer: stored([ALICE]) })).toEqual([["Notes recall", "Out.write"], 1]);
    });
});

describe("an audience that the call names", () => {
    const mail = (audience: string, call: string) =>
        program(
            `import tool Bank from "mcp://bank" { reads: "alice" }\nimport tool Mail from "mcp://mail" { audience send: ${audience} }`,
            `b = Bank.find({})  ${call}  1`,
        );

    test.each([
        'Mail.send({ cc: "bob", body: b.did })',
        "Mail.send({ to: [], body: b.did })",
        "Mail.send({ to: [[]], body: b.did })",
        "Mail.send({ to: none, body: b.did })",
        'Mail.send({ to: { address: "alice" }, body: b.did })',
        'Mail.send({ to: ["alice", { address: "bob" }], body: b.did })',
        'Mail.send({ to: "", body: b.did })',
        "Mail.send({ to: true, body: b.did })",
        'Mail.call({ tool: "send", args: { body: b.did } })',
        'Mail.call({ tool: "send", args: { to: [], body: b.did } })',
    ])("is nobody who could be told where it is not named: %s", (call) => {
        expect(to(mail("arg to", call))).toEqual([["Bank.find"], "violation.flow"]);
        const asked = run(mail("arg to or ask", call));
        expect([did(asked), outcome(asked)]).toEqual([["Bank.find"], "denied"]);
    });

    test("may be told, and what is for everybody needs none", () => {
        expect(outcome(run(mail("arg to", 'Mail.send({ to: ["alice"], body: b.did })')))).toBe(1);
        expect(outcome(run(mail("arg to", 'Mail.send({ body: "a" })')))).toBe(1);
    });
});

describe("who may read what comes back", () => {
    const MAIL = 'import tool Mail from "mcp://mail" { audience: "bob" }\n';
    const passes = (imports: string, get: string, more?: Asked) =>
        outcome(run(program(MAIL + imports, `x = ${get}  Mail.send({ body: x })  1`), more));

    test.each([
        ["reads find", 'Contacts.call({ tool: "find", args: {} })'],
        ["reads find", 'Contacts.only(find).call({ tool: "find" })'],
        ["reads find", "Contacts.find({})"],
    ])("is what its method says, by the generic call of a server too: %s of %s", (clause, get) => {
        const contacts = (readers: string) => `import tool Contacts from "mcp://contacts" { ${clause}: ${readers} }\n`;
        expect(passes(contacts('"alice"'), get)).toBe("violation.flow");
        expect(passes(contacts('"bob"'), get)).toBe(1);
    });

    test("is what the arguments of the named method say", () => {
        const contacts = 'import tool Contacts from "mcp://contacts" { reads find: arg owner }\n';
        const call = (owner: string) => `Contacts.call({ tool: "find", args: { owner: "${owner}" } })`;
        expect([passes(contacts, call("alice")), passes(contacts, call("bob"))]).toEqual(["violation.flow", 1]);
        expect(passes(contacts, 'Contacts.call({ tool: "list", args: { owner: "alice" } })')).toBe(1);
    });

    test("is said of a verb, however that is spelled", () => {
        for (const [said, used] of [
            ["get", "GET"],
            ["GET", "get"],
            ["Get", "GET"],
        ])
            expect(passes(`import tool Web from "https://x.example" { reads ${said}: "alice" }\n`, `Web.${used}({ url: "/" })`)).toBe(
                "violation.flow",
            );
        expect(passes('import tool Web from "https://x.example" { reads get: "alice" }\n', 'Web.HEAD({ url: "/" })')).toBe(1);
    });

    test.each([
        ['reads: "alice"', "violation.flow", "violation.flow"],
        ['reads query: "alice"', "violation.flow", 1],
        ['reads add: "alice"', 1, "violation.flow"],
        ["reads query: arg kind", "violation.flow", 1],
        ["reads query: arg owner", "denied", "denied"],
        ['reads: "bob"', 1, 1],
    ])("is said of a memory: %s", (clause, query, add) => {
        const notes = `import memory Notes from "file://notes.jsonl" { ${clause} }\n`;
        expect(passes(notes, 'Notes.query({ text: "q", kind: "alice" })')).toBe(query);
        expect(passes(notes, 'Notes.add({ text: "t" })')).toBe(add);
    });

    test("is said of a file", () => {
        const file = (readers: string) => `import file Data from "./data.json" { reads: ${readers} }\n`;
        const options = { imports: { "0/Data": { json: { a: [1], owner: "alice" }, origins: ["file:data.json"] } } };
        const get = (readers: string, part: string) => passes(file(readers), part, { files: { "data.json": "{}" }, options });
        expect([get('"alice"', "Data.a[0]"), get('"bob"', "Data.a[0]"), get("everyone", "Data")]).toEqual(["violation.flow", 1, 1]);
        expect([get("result owner", "Data.a"), get("result a", "Data.a")]).toEqual(["violation.flow", "violation.flow"]);
    });

    test.each([
        ["what it answers", 'generate({ input: "x" })', true],
        ["what its failure tells", 'try { generate({ input: "x" }) } catch e { e.message }', false],
    ])("is said of a model: %s", (_name, get, ok) => {
        const text = (readers: string) => `import llm Big from "openai://big" ${readers}
${MAIL}main agent M { model Big  role "r"  description "d"  main func(input) { t = ${get}  Mail.send({ body: t })  1 } }`;
        const answer = (e: Effect): Outcome | undefined => {
            if (e.kind !== "model") return undefined;
            if (ok) return said({ text: "t", value: "t", finish: "stop", model: "m" }, ["model:Big"]);
            return { ok: false, failure: { kind: "model", message: "it said: t", site: null } };
        };
        const given = (readers: string) => outcome(run(text(readers), { answer }));
        expect([given('{ reads: "alice" }'), given('{ reads: "bob" }'), given("{ reads: everyone }"), given("")]).toEqual([
            "violation.flow",
            1,
            1,
            1,
        ]);
    });

    test("is said of what a model called", () => {
        const text = `import llm Big from "openai://big"
import tool Contacts from "mcp://contacts" { reads find: "alice" }
${MAIL}main agent M { model Big  role "r"  description "d"  main func(input) { t = generate({ input: "x", tools: [Contacts] })  Mail.send({ body: t })  1 } }`;
        const answer = (e: Effect): Outcome | undefined => {
            if (e.kind === "tool" && (e.request as { op: string }).op === "describe")
                return said({ methods: ["call", "find"].map((name) => ({ name, input: { type: "object" }, readOnly: true })) }, []);
            if (e.kind !== "model") return undefined;
            const again = (e.request as { messages: { role: string }[] }).messages.some((one) => one.role === "tool");
            const calls = [{ id: "c", name: "Contacts_call", args: { tool: "find", args: {} } }];
            return said(again ? { text: "t", value: "t", finish: "stop", model: "m" } : { text: "", calls, finish: "tool", model: "m" }, [
                "model:Big",
            ]);
        };
        expect(outcome(run(text, { answer, yes: "once" }))).toBe("violation.flow");
    });
});
