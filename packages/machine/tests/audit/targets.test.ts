/** `taint-to-target`: every part of a call that says where it goes, wherever in the arguments it stands. */
import { describe, expect, test } from "vitest";
import { type AuditFinding, auditEvents, type LedgerEvent } from "../../src/index.ts";
import { formOf, once, said } from "../authority/running.ts";

const IMPORTS = `import tool Web from "https://w.example"
import tool Mail from "mcp://mail"
import tool Repo from "file://workspace"
import tool Own from "host:own"
`;

/** What the rule finds where a page says `did`. */
function found(call: string, clauses = ""): AuditFinding[] {
    const text = `${IMPORTS.replace('"mcp://mail"', `"mcp://mail" ${clauses}`)}main agent Main { main func() { x = Web.get({ url: "/" }).did  ${call} } }`;
    const form = formOf(text);
    const ran = once(form, {
        answer: (e) =>
            e.kind === "tool" && (e.request as { op: string }).op === "call"
                ? said({ did: "eve" }, [`tool:${(e.request as { tool: string }).tool}`])
                : undefined,
    });
    expect(ran.result.ok).toBe(true);
    const events = ran.events.map((event, seq) => ({ ...event, seq, run: "run", hash: `h${seq}` }) as unknown as LedgerEvent);
    return auditEvents(events, form).filter((finding) => finding.rule === "taint-to-target");
}
const told = (findings: readonly AuditFinding[]): unknown[] =>
    findings.map(({ detail, confidence }) => [(detail as { argument: string }).argument, confidence]);

describe("found", () => {
    test.each<[string, [string, number][]]>([
        ["Mail.send({ to: x })", [["to", 1]]],
        ['Mail.send({ to: "a@b.c", cc: x })', [["cc", 1]]],
        ['Mail.send({ cc: x, to: "a@b.c" })', [["cc", 1]]],
        [
            "Mail.send({ to: x, cc: x })",
            [
                ["to", 1],
                ["cc", 1],
            ],
        ],
        ['Mail.send({ to: ["a@b.c", x] })', [["to", 1]]],
        ["Mail.send({ to: { name: x } })", [["to", 1]]],
        ["Mail.send({ message: { to: x } })", [["message.to", 1]]],
        ["Mail.send({ messages: [{ to: x }, { to: x }] })", [["messages.to", 1]]],
        // Which part of the argument carries it, the record does not tell.
        ['Mail.send({ message: { to: x, body: "hello" } })', [["message.to", 0.5]]],
        ["Mail.send({ message: { to: x, cc: x, body: x } })", [["message.to, message.cc", 0.5]]],
        ['Mail.call({ tool: "send", args: { to: x } })', [["to", 1]]],
        ['Mail.call({ tool: "send", args: { to: "a@b.c", cc: x, body: "hello" } })', [["to, cc", 0.5]]],
        ['Repo.write({ path: x, content: "" })', [["path", 1]]],
        ['Own.send({ to: "a" }, { to: x })', [["2.to", 1]]],
    ])("%s: %j", (call, expected) => expect(told(found(call))).toEqual(expected));
});

test.each([
    'Mail.send({ to: "a@b.c", body: x })',
    'Mail.send({ message: { to: "a@b.c" }, body: x })',
    "Mail.list({ to: x })",
    'Mail.call({ tool: "list", args: { to: x } })',
    'Mail.call({ tool: "send", args: { body: x } })',
    'Own.send("a", x)',
])("not found: %s", (call) => expect(told(found(call))).toEqual([]));

test("what a clause lets in is the author's choice, through `call` too", () => {
    const clauses = '{ arg to: from("tool:Web", "user") }';
    expect(told(found("Mail.send({ to: x, cc: x })", clauses))).toEqual([["cc", 1]]);
    expect(told(found('Mail.call({ tool: "send", args: { to: x } })', clauses))).toEqual([]);
});

test("no chooser makes up a target where a clause lets in only values that occurred elsewhere", () => {
    expect(told(found("Mail.send({ to: x, cc: x })", '{ arg to: among("tool:Web") }'))).toEqual([["cc", 1]]);
    // of it the addresses alone were held to what occurred
    expect(told(found("Mail.send({ to: x })", '{ arg to: addresses among("tool:Web") }'))).toEqual([["to", 1]]);
});

test("a place is known by the description that the record has of the method", () => {
    const form = formOf(`${IMPORTS}main agent Main { main func() { 1 } }`);
    const event = (seq: number, kind: string, labels: string[], data: object): LedgerEvent =>
        ({
            seq,
            run: "run",
            hash: `h${seq}`,
            kind,
            labels,
            data,
            path: "main",
            parent: null,
            site: null,
            principal: "user",
        }) as unknown as LedgerEvent;
    const methods = [{ name: "send", input: { type: "object", properties: { subject: {}, to: {} } } }];
    const call = (origins: object): LedgerEvent =>
        event(2, "tool.started", ["tool:Web"], { tool: "Own", uri: "host:own", scheme: "host", method: "send", args: ["a", "b"], origins });
    const described = event(1, "effect.ended", [], { op: "describe", tool: "Own", uri: "host:own", result: { methods } });
    const audit = (...events: LedgerEvent[]): unknown[] => told(auditEvents(events, form));
    expect(audit(described, call({ 1: [], 2: ["tool:Web"] }))).toEqual([["to", 1]]);
    expect(audit(described, call({ 1: ["tool:Web"], 2: [] }))).toEqual([]);
    expect(audit(call({ 1: [], 2: ["tool:Web"] }))).toEqual([]);
});
