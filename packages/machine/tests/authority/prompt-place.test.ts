/** What decides that a prompt is sent is in the prompt (W2): who may read it, what the model may do by it, and what the ledger says of it. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, ModelTurn, Outcome } from "../../src/index.ts";
import { did, outcome, run, said } from "./running.ts";

interface Said {
    /** Clauses of the tool that tells the secret, of the model, and of the tool that the model may use. */
    readonly from?: string;
    readonly model?: string;
    readonly tool?: string;
}

/** A model that is offered U, calls it once where it is, and is asked where a secret says so. */
function asked({ from = "", model = "", tool = "" }: Said, options: string) {
    const text = `flow strict
import tool T from "https://t.example" ${from}
import tool U from "mcp://u" ${tool}
import llm M from "mock://m" { trusted${model} }
main agent A { model M  role "r"  description "d"
main func() {
s = T.secret({})
if s { x = generate({ input: "k"${options} }) }
1 } }`;
    return run(text, { answer, yes: "once" });
}

function answer(e: Effect): Outcome | undefined {
    const { tool, method } = e.request as { tool?: string; method?: string };
    if (method === "secret") return said(true, [`tool:${tool}`]);
    if (e.kind !== "model") return undefined;
    const { messages, tools = [] } = e.request as unknown as ModelTurn;
    const name = tools.find((one) => one.name === "U_tell")?.name;
    const calls: Json[] = name === undefined || messages.some(({ role }) => role === "tool") ? [] : [{ id: "c", name, args: { k: 1 } }];
    return said(
        calls.length > 0 ? { text: "", calls, finish: "tool", model: "m" } : { text: "t", value: "t", finish: "stop", model: "m" },
        [],
    );
}

describe("a prompt without data of its own, under a condition on a secret", () => {
    test.each([
        ["for the model that bob reads", ', audience: "bob"', "violation.flow", ["T.secret"]],
        ["for the model that alice reads", ', audience: "alice"', 1, ["T.secret", "model"]],
    ])("is %s", (_name, model, end, done) => {
        const ran = asked({ from: '{ reads: "alice" }', model }, "");
        expect([outcome(ran), did(ran)]).toEqual([end, done]);
    });

    test.each([
        ["an argument that must be trusted", "", "arg k: trusted", 'arg k: from("tool:T", "tool:U", "model:M")'],
        ["who may read it", '{ reads: "alice" }', 'audience: "bob"', 'audience: "alice"'],
        ["who chooses", "", "choice tell: trusted", "choice tell: any"],
    ])("lends it to what the model calls: %s", (_name, from, refusing, allowing) => {
        const done = (clause: string) => did(asked({ from, tool: `{ trusted, ${clause} }` }, ", tools: [U.tell]"));
        expect(done(refusing)).toEqual(["T.secret", "model", "model"]);
        expect(done(allowing)).toEqual(["T.secret", "model", "U.tell", "model"]);
    });

    test("says so in every line of the ledger that tells what was asked and answered", () => {
        const lines = asked({}, "").events.filter(({ kind }) => /^(generate|model)\./.test(kind));
        expect(lines.map(({ kind, labels }) => [kind, labels])).toEqual(
            lines.map(({ kind }) => [kind, expect.arrayContaining(["tool:T"])]),
        );
        expect(lines.length).toBeGreaterThan(2);
    });
});
