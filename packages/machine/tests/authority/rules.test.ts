/** Each rule of propagation by itself (W1 to W9, CL1 to CL7): taking it away fails a row (`npm run label-mutants`). */
import type { Json, Program } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { BLOCKS, DATA, EFFECTS, GIVEN, ROWS, type Row, UNDER } from "./rule-programs.ts";

const TOOLS = `import tool T from "https://t.example"
import tool U from "https://u.example"
`;
/** Some clause asks who chooses, so that basic mode keeps it (W9). */
const KEPT: Policy = { clauses: { U: [{ kind: "choice", method: "head", at: [0, 0, 0, 0] }] } };

const text = ({ body, functions = "" }: Row, flow: string): string => `${flow}
${TOOLS}import file D from "d.json"
${functions}
func work(s) {
h = { v: s }
p = true
${body}
}
main func() {
s = T.secret({})
U.tell({ v: work(s) })
U.tell({ v: [s].map(work)[0] })
}
`;

const answer =
    (secret: Json) =>
    (e: Effect): Outcome =>
        (e.request as { tool?: string }).tool === "T"
            ? { ok: true, value: secret, origins: ["tool:T"] }
            : { ok: true, value: null, origins: [] };

/** The labels of each `U.tell`, where the run is the same as closures, on frames and sliced. */
function told(form: Program, secret: Json, policy: Policy = KEPT): (readonly string[])[] {
    const imports = { "0/D": { json: { l: [1], n: 0 }, origins: [] } };
    const of = (more: How["options"]): Pick<Ran, "result" | "effects" | "steps"> => {
        const { result, effects, steps } = runAll(form, { answer: answer(secret), options: { imports, policy, ...more } });
        return { result, effects, steps };
    };
    const ran = of({});
    expect(ran.result).toMatchObject({ ok: true });
    expect(of({ mode: "frames" })).toEqual(ran);
    expect(of({ slice: 1 })).toEqual(ran);
    return ran.effects.flatMap(({ request, labels }) => ((request as { method?: string }).method === "tell" ? [labels] : []));
}

describe.each(["strict", "basic"] as const)("flow %s", (flow) => {
    test.each(ROWS.filter(({ only = flow }) => only === flow))("$name", (row) => {
        const form = formOf(text(row, flow === "strict" ? "flow strict" : ""), true);
        const all = row.secrets.flatMap((secret) => told(form, secret));
        expect(all).not.toEqual([]);
        for (const labels of all)
            expect(labels).toEqual(expect.arrayContaining(flow === "strict" ? ["choice:tool:T", "tool:T"] : ["choice:tool:T"]));
    });
});

test.each(DATA)("what a value is made of: $name", (row) => {
    const form = formOf(text(row, ""), true);
    for (const labels of row.secrets.flatMap((secret) => told(form, secret, {}))) expect(labels).toEqual(["tool:T"]);
});

test.each(EFFECTS)("$name", ({ body, secrets, only }) => {
    const form = formOf(`${only === "strict" ? "flow strict" : ""}\n${TOOLS}main func() {\ns = T.secret({})\n${body}\n0\n}`, true);
    for (const secret of secrets) expect(told(form, secret, {})).toEqual((secret as Json[]).map(() => ["tool:T"]));
});

test.each(UNDER)("%s", (_name, statement, effect) => {
    const main = `main func() {\nmodel M\nrole "r"\ndescription "d"\ns = T.secret({})\nif s { ${statement} }\n0\n}`;
    const form = formOf(`flow strict\n${TOOLS}import llm M from "mock://m"\n${main}`, true);
    const { effects } = runAll(form, { answer: answer(true) });
    expect(effects.slice(1).map(({ kind, labels }) => [kind, labels])).toEqual([[effect, ["tool:T"]]]);
});

test.each(BLOCKS)("stages: %s", (_name, blocks, secret) => {
    const functions =
        "func secret() { T.secret({}) }\nfunc one() { 1 }\nfunc tell() { U.tell({ v: 1 }) }\nfunc show() { U.tell({ v: r }) }";
    const form = formOf(`flow strict\n${TOOLS}${functions}\n${blocks}`, true);
    expect(told(form, secret, {})).toEqual([["tool:T"]]);
});

describe.each(["in a function", "where effects are"])("a call from other code, %s", (where) => {
    test.each(GIVEN)("$name", ({ body, functions = "", secrets }) => {
        const [before, behind] = where === "in a function" ? [`func work(s) {\n${body}\n}`, "work(T.secret({}))"] : ["", "x"];
        const inline = before === "" ? `s = T.secret({})\n${body.replace(/\n(.*)$/, "\nx = $1")}\n` : "";
        const form = formOf(
            `${TOOLS}main agent Main { ${before}\nmain func() {\n${inline}U.tell({ v: ${behind} }) } }\nagent A { remit { flow strict }\n${functions}\nmain func() { 1 } }`,
            true,
        );
        const all = secrets.flatMap((secret) => told(form, secret, {}));
        expect(all).not.toEqual([]);
        for (const labels of all) expect(labels).toContain("tool:T");
    });
});
