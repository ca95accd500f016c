/** Random strict programs of concurrent iterations that a secret holds up or cuts short, and the world that they run in: answers come in any order. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import type { Effect, Outcome } from "../../src/index.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { SECRET } from "./pairs.ts";
import { random } from "./random.ts";

const answer =
    (secret: Json) =>
    (e: Effect): Outcome => {
        const { tool, op } = e.request as { tool?: string; op?: string };
        if (op === "describe") return { ok: true, value: { methods: [] }, origins: [`tool:${tool}`] };
        if (tool === "T") return { ok: true, value: secret, origins: [SECRET] };
        return { ok: true, value: { n: JSON.stringify(e.request).length % 3 }, origins: [`tool:${tool}`] };
    };

const { code } = fc.letrec<{ code: string; statement: string; test: string }>((tie) => {
    const of = (text: TemplateStringsArray, ...parts: fc.Arbitrary<string | number>[]): fc.Arbitrary<string> =>
        fc.tuple(...parts).map((values) => text.reduce((all, piece, i) => `${all}${values[i - 1]}${piece}`));
    const n = fc.nat(9);
    const b = tie("code");
    // What the iteration around has is not assigned in it.
    const inner = tie("code").map((text) => text.replace(/\b[vwz] = /g, ""));
    return {
        test: fc.constantFrom("s > 1", "s == x", "s == 0 and x > 1", "(v?.n ?? 0) > 1", "x == 2", "late(s, x)", "choose(s) > x"),
        statement: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            { weight: 6, arbitrary: of`U.tell({ v: ${n}, x: x })` },
            { weight: 3, arbitrary: of`v = U.get({ v: ${n}, x: x })` },
            of`w = T.more({ v: ${n} })`,
            of`W.note({ v: ${n}, x: x })`,
            { weight: 3, arbitrary: of`if ${tie("test")} {\n${b}\n}` },
            of`if ${tie("test")} {\n${b}\n} else {\n${b}\n}`,
            of`if ${tie("test")} { return ${n} }`,
            of`repeat * 2 {\n${b}\nif ${tie("test")} { ${fc.constantFrom("break", "continue")} }\n${b}\n}`,
            of`try {\n${b}\nif ${tie("test")} { raise "no" }\n${b}\n} catch e {\n${b}\n}`,
            of`z = parallel for x in [4, 5] max 2 {\n${inner}\nx }`,
            of`if ${tie("test")} { z = parallel for x in [6, 7] max 2 {\n${inner}\nx } }`,
            of`z = parallel for x in some(s) max 3 {\n${inner}\nx }`,
        ),
        code: fc.array(tie("statement"), { minLength: 1, maxLength: 3 }).map((all) => all.join("\n")),
    };
});

export const iterations = code;

/** Functions that the iterations call, with the tool that one of them uses under a secret. */
export const functions = (noting: string): string => `func late(s, x) { if s > x { ${noting}({ v: 0, x: x })
return true }
false }
func choose(n) { if n > 1 { return 1 }
2 }
func some(n) { if n > 1 { return [1, 2, 3] }
[8] }`;

const MORE = `
import tool T from "https://t.example"
import tool U from "https://u.example"
import tool W from "https://w.example"
${functions("W.note")}
`;

/** `stop`: how the loop ends where iterations fail. */
export const loop = (body: string, flow = "flow strict"): string => `${flow}\n${MORE}
main func() {
s = T.secret({})
r = parallel for x in [1, 2, 3, 4, 5] max 5 {
v = {}
w = 0
${body}
U.tell({ v: "end", x: x })
x }
U.tell({ v: "all" })
1
}
`;

/** A run by a secret in which the answers come in an order of their own. `fails`: the call whose request holds this. */
export function timed(source: string, secret: Json, seed: number, { fails, ...how }: How & { readonly fails?: string } = {}): Ran {
    const next = random(seed);
    const pick: How["pick"] = (waiting) => Math.floor(next() * waiting.length);
    const told = (e: Effect): Outcome =>
        fails !== undefined && JSON.stringify(e.request).includes(fails)
            ? { ok: false, failure: { kind: "tool", message: "no" }, origins: [] }
            : answer(secret)(e);
    return runAll(formOf(source, true), { answer: told, pick, ...how, options: { concurrency: 3, ...how.options } });
}
