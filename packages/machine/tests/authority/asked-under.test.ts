/** That a tool was asked what it has tells no secret under which it was asked (DS4). */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { Outcome } from "../../src/index.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { answering, differ, sameView } from "./pairs.ts";

const HEAD = `
import tool T from "https://t.example"
import tool U from "https://u.example"
import tool K from "mcp://k" { arg a: from("user", "tool:T", "tool:K", "tool:U") }
import tool D from "mcp://d"
import llm M from "mock://m"
`;
const METHODS = ["a", "b", "go"].map((name) => ({ name, input: { type: "object", properties: { a: {}, b: {} } }, readOnly: true }));

const answer = answering(METHODS, ({ kind }, tool): Outcome => {
    if (kind === "model") return { ok: true, value: { text: "m", value: "m", finish: "stop" }, origins: ["model:M"] };
    return { ok: true, value: { items: [true] }, origins: [`tool:${tool}`] };
});

const source = (body: string, flow: string): string => `${flow}\n${HEAD}
main agent A { model M  role "r"  description "d"
main func() {
s = T.secret({})
u = U.get({}).items[0]
${body}
U.tell({ v: "end" })
1 } }
`;
const ran = (body: string, secret: Json, how: How = {}, flow = "flow strict"): Ran =>
    runAll(formOf(source(body, flow), true), { answer: answer(secret), ...how });

const CASES: readonly (readonly [string, string])[] = [
    ["by a call", "if s { K.a({ a: 1 }) }\nK.b({ a: 2 })"],
    ["by a call under another condition", "if u { if s { K.a({ a: 1 }) }\nK.b({ a: 2 }) }\nK.b({ a: 3 })"],
    [
        "by a call between two that carry the other's label",
        "if u { K.b({ a: 1 }) }\nif s { K.a({ a: 1 }) }\nif u { K.b({ a: 2 }) }\nK.b({ a: 3 })",
    ],
    ["by a generate", 'if s { generate({ input: "x", tools: [D] }) }\ngenerate({ input: "y", tools: [D] })'],
    ["by a generate before a call", 'if s { K.a({ a: 1 }) }\nx = generate({ input: "y", tools: [K] })\nK.b({ a: 2 })'],
    ["by act", 'if s { act("go") }\nact("go")'],
    ["by act before a call", 'if s { act("go") }\nK.b({ a: 2 })\nact("go")'],
];

test.each(CASES)("%s", (_name, body) => {
    sameView(ran(body, true), ran(body, false));
    expect(differ(ran(body, true, {}, ""), ran(body, false, {}, ""))).toBe(true);
    for (const secret of [true, false]) expect(ran(body, secret, { saving: true })).toEqual(ran(body, secret));
});

test("it is asked once by code that carries nothing, as before", () => {
    const asked = ran("K.a({ a: 1 })\nif s { K.a({ a: 1 }) }\nK.b({ a: 2 })", true).effects.filter(
        ({ request }) => (request as { op?: string }).op === "describe",
    );
    expect(asked.map(({ path, labels }) => [path, [...labels]])).toEqual([["main/K.a#0/describe[K]", []]]);
});
