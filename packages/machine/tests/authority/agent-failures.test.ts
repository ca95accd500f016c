/** What an agent outside the program fails with carries what the agent was told, as its answer does: an error or its last words may repeat that. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { Outcome } from "../../src/index.ts";
import { replied } from "../run/handing.ts";
import { did, outcome, run } from "./running.ts";

const broken: Outcome = { ok: false, failure: { kind: "unreachable", message: "it ended; it wrote: the box is red" } };
const METHODS = ["read", "write"].map((name) => ({
    name,
    readOnly: name === "read",
    input: { type: "object", properties: { content: {} } },
}));

function ran(call: string, said: Outcome): unknown[] {
    const text = `import tool Box from "mcp://box"
import tool Out from "mcp://out" { write: may, arg content: from("user", "agent:Maker") }
import agent Maker from "stub:noop"
main func(input) { box = Box.read({})
try { ${call} } catch e { Out.write({ content: e.message }) }
1 }`;
    const of = run(text, {
        yes: "once",
        answer: (e) => {
            if (e.kind === "agent") return said;
            const { op, tool } = e.request as { op?: string; tool?: string };
            const value: Json = op === "describe" ? { methods: METHODS } : { text: "red" };
            return e.kind === "tool" ? { ok: true, value, origins: [`tool:${tool}`] } : undefined;
        },
    });
    return [did(of).filter((one) => one === "Out.write").length, outcome(of)];
}

test.each<[string, Outcome]>([
    ["Maker.yield(box: box.text)", broken],
    ["Maker.yield(box: box.text)", replied("it is red", { stop: "refusal" }, "Maker")],
    ["Maker.yield(box: box.text) with { turns: 1 }", replied("it is red", {}, "Maker")],
    ["Maker.send(box.text)", broken],
    ['agent(box.text, { agent: Maker, on_error: "fail" })', broken],
])("%s", (call, said) => {
    expect(ran(call, said)).toEqual([0, "violation.flow"]);
    expect(ran(call.replace("box.text", '"blue"'), said)).toEqual([1, 1]);
});
