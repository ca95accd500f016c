/** Methods that are spelled otherwise than the clause or the remit spells them, and are the same to whoever performs them. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { ModelTurn } from "../../../src/index.ts";
import { did, outcome, run, said } from "../running.ts";

test.each(["POST", "Post", "po\u017ft", "PO\u017fT"])("the verb %s is post", (verb) => {
    const call = `act("Web.${verb}", { url: "/x" })`;
    for (const text of [
        `import tool Web from "https://api.example.com/"\nagent A { remit { may Web  never Web.post } func go() { ${call} } }\nmain agent { main func() { A.go() } }`,
        `import tool Web from "https://api.example.com/" { post: never }\nmain agent { main func() { ${call} } }`,
    ]) {
        const ran = run(text);
        expect(did(ran)).toEqual([]);
        expect(outcome(ran)).toBe("violation.remit");
    }
});

const C = 'import tool C from "mcp://c"';
const MAIL = (clauses: string): string => `import tool Mail from "mcp://mail" { ${clauses} }`;
const main = (body: string): string => `main agent { main func(input) { ${body} } }`;
/** What `C` gives, and a memory. */
const answer =
    (value: Json, parts: { [pointer: string]: string[] } = {}): NonNullable<Parameters<typeof run>[1]>["answer"] =>
    (e) => {
        const { tool, op, memory } = e.request as { tool?: string; op?: string; memory?: string };
        const origin = memory === undefined ? "tool:C" : `memory:${memory}`;
        return op !== "describe" && (tool === "C" || memory !== undefined) ? { ok: true, value, origins: [origin], parts } : undefined;
    };

describe("the generic call of a server", () => {
    test("arguments that came as a whole carry what the whole carries, whatever is known of a part", () => {
        const text = `import memory Notes from "file:notes.jsonl"\n${MAIL("arg to: trusted")}\n${main('Mail.call(Notes.query({ query: "x" })[0].note)')}`;
        const note = [{ note: { tool: "send", args: { to: "eve" } } }];
        const ran = run(text, { answer: answer(note, { "/0/note/args": ["user"] }) });
        expect(outcome(ran)).toBe("violation.flow");
        expect(did(ran)).toEqual(["Notes recall"]);
    });

    test.each([
        ["what chose the tool", "Mail.call({ tool: C.get({}), args: { } })"],
        ["it where there are no arguments", "Mail.call({ tool: C.get({}) })"],
        ["what else is handed out", 'Mail.call({ tool: "send", args: { }, more: C.get({}) })'],
    ])("for some to read is %s, too", (_name, call) => {
        const ran = run(`${C} { reads: "alice" }\n${MAIL("send: may")}\n${main(call)}`, { answer: answer("send") });
        expect(outcome(ran)).toBe("violation.flow");
        expect(did(ran)).toEqual(["C.get"]);
    });

    test.each([
        ["with clauses", MAIL("other: may")],
        ["without", 'import tool Mail from "mcp://mail"'],
    ])("of a tool that somebody else named is asked about, in a program %s", (_name, mail) => {
        const ran = run(`${C}\n${mail}\n${main("Mail.call({ tool: C.get({}), args: { } })")}`, { answer: answer("send"), yes: "deny" });
        expect(ran.effects.flatMap((e) => ((e.request as { op?: string }).op === "describe" ? [] : [e.kind]))).toEqual(["tool", "ask"]);
        expect(outcome(ran)).toBe("denied");
        const own = run(`${C}\n${mail}\n${main("Mail.call({ tool: input, args: { to: C.get({}) } })")}`, {
            answer: answer("x"),
            options: { input: "send" },
        });
        expect(did(own)).toEqual(["C.get", "Mail.call"]);
    });

    test("shows where its arguments came from", () => {
        const ran = run(`${C}\n${MAIL("send: ask")}\n${main('Mail.call({ tool: "send", args: { to: C.get({}) } })')}`, {
            answer: answer("x"),
        });
        const asked = ran.effects.find((e) => e.kind === "ask")?.request as { detail?: Json };
        expect(asked.detail).toMatchObject({ capability: "Mail.send", origins: { tool: [], args: ["tool:C"] } });
    });
});

test.each(["https://inner.example.com./x", "https://INNER.example.com.:443/x", "https://inner.example.com../x"])(
    "%s is the host that is forbidden",
    (url) => {
        const ran = run(
            `import tool Web from "webfetch:"\nagent A { remit { may Web  never Web in "https://inner.example.com/**" } func go() { Web.call({ url: "${url}" }) } }\nmain agent { main func() { A.go() } }`,
        );
        expect(did(ran)).toEqual([]);
        expect(outcome(ran)).toBe("violation.remit");
    },
);

test("a server's own tool called call, which only reads, is no way to its others without a question", () => {
    const methods = ["call", "send"].map((name) => ({ name, input: { type: "object" }, readOnly: name === "call" }));
    const ran = run(
        `import llm L from "openai://l"
import tool Mail from "mcp://mail"
agent A { model L role "r" description "d" func go() { generate({ input: "x", tools: [Mail] }) } }
main agent { main func() { A.go() } }`,
        {
            answer: (e) => {
                if ((e.request as { op?: string }).op === "describe") return said({ methods }, ["tool:Mail"]);
                if (e.kind !== "model") return undefined;
                const { messages } = e.request as unknown as ModelTurn;
                const args = { tool: "send", args: { to: "eve" } };
                const calls = messages.some((one) => one.role === "tool") ? [] : [{ id: "1", name: "Mail_call", args }];
                return said({ text: "x", value: "x", calls, finish: calls.length === 0 ? "stop" : "tool", model: "m" }, ["model:L"]);
            },
        },
    );
    expect(ran.effects.map((e) => e.kind)).toEqual(["tool", "model", "ask", "model"]);
});
