/** Random programs of numbers and lists, no two variables of which hold the same list, under conditions by a secret; and the world that they run in. */
import type { Json, Program } from "@remit/language";
import fc from "fast-check";
import type { Effect, Outcome } from "../../src/index.ts";
import { answer as answered, replied } from "../run/handing.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { FUNCS, formOf } from "../run/text.ts";
import { differ, SECRET, sameView, withoutOrigins } from "./pairs.ts";

export const TOOLS = `
import tool T from "https://t.example"
import tool U from "https://u.example"
import llm M from "mock://m"
`;
const MORE = `
import tool C from "https://c.example" { use: at most 2 }
import agent X from "acp://x"
func ask(n) {
    model M
    role "r"
    description "d"
    use n as n
    generate({ input: "How many?" }) -> number
}
`;

/** The secret comes from a tool of its own. All other answers are public: tools give the same whatever is asked, a model and an agent what they were told decides. */
export const answer =
    (secret: Json) =>
    (e: Effect): Outcome => {
        const { tool, op } = e.request as { tool?: string; op?: string };
        if (tool === "T") return { ok: true, value: secret, origins: [SECRET] };
        const value = JSON.stringify(e.request).length % 3;
        if (e.kind === "model") return { ok: true, value: { text: "m", value, finish: "stop" }, origins: ["model:M"] };
        if (e.kind === "agent") {
            return replied(answered(`return ${withoutOrigins(e.request).length % 3}`, "n"), {}, "X");
        }
        if (op === "describe") return { ok: true, value: { methods: [] }, origins: [`tool:${tool}`] };
        return { ok: true, value: { items: [1, 2, 3] }, origins: [] };
    };

const NUMBERS = ["a", "b", "c", "d"];
const LISTS = ["l", "m"];

const { statement, decided } = fc.letrec<{
    expression: string;
    test: string;
    statement: string;
    block: string;
    secret: string;
    decided: string;
}>((tie) => {
    const of = (text: TemplateStringsArray, ...parts: fc.Arbitrary<string | number>[]): fc.Arbitrary<string> =>
        fc.tuple(...parts).map((values) => text.reduce((all, piece, i) => `${all}${values[i - 1]}${piece}`));
    const number = fc.constantFrom(...NUMBERS);
    const list = fc.constantFrom(...LISTS);
    const e = tie("expression");
    const t = tie("test");
    const code = tie("block");
    const few = { depthSize: "small", withCrossShrink: true } as const;
    return {
        expression: fc.oneof(
            few,
            { weight: 3, arbitrary: fc.constantFrom("s", ...NUMBERS, "0", "1", "2") },
            { weight: 2, arbitrary: of`(${e} ${fc.constantFrom("+", "-", "*", "/", "%")} ${e})` },
            of`${list}.length`,
            of`${list}[${e}]`,
            of`${list}.filter(x => x > 1 or ${t}).length`,
            of`(${list}.find(x => x == ${e}) ?? 7)`,
            of`${list}.map(x => x + ${e}).sum()`,
            of`${list}.sort_by(x => x * ${e}).first()`,
            of`${list}.reduce((all, x) => if ${t} { all + x } else { all }, 0)`,
            of`${list}.group_by(x => x > ${e}).keys().length`,
            of`${list}.slice(0, ${e}).length`,
            of`[${e}, ${e}].unique().length`,
            of`[...${list}, ${e}].length`,
            of`{ k: ${e} }.k`,
            of`(if ${list}.any(x => x > ${e}) { 1 } else { 2 })`,
            of`(if ${t} { ${e} } else { ${e} })`,
            of`(try { ${e} } catch f { ${e} })`,
            of`number(text(${e}))`,
            of`\`{${e}}\`.length`,
            of`json.parse(json.text(${list})).length`,
            of`csv.parse(csv.text([{ k: ${e} }])).length`,
            of`(parallel for x in [1, 2] max 2 { y = if ${t} { 1 } else { 2 }\ny })[0]`,
            of`check(${e})`,
            of`choose(${e})`,
            of`X.yield(n: ${e})`,
            of`ask(${e})`,
        ),
        secret: fc.constantFrom("(s > 1)", "(s == 0)", "(s < 1)", "(s == 2)", "(choose(s) == 1)"),
        test: fc.oneof(
            { depthSize: "small" },
            { weight: 4, arbitrary: tie("secret") },
            of`(${e} ${fc.constantFrom("<", ">", "==", "!=")} ${e})`,
            of`(${t} ${fc.constantFrom("and", "or")} ${t})`,
            of`not ${t}`,
        ),
        statement: fc.oneof(
            few,
            { weight: 8, arbitrary: of`${number} = ${fc.nat(9)}` },
            { weight: 2, arbitrary: of`z = ${fc.constantFrom("s % 1", "1 / s", "l[s]", "m[s]", "check(s)", "choose(s)")}` },
            of`${number} = ${e}`,
            of`${list}.add(${e})`,
            of`grow(${list}, ${e})`,
            of`${list}[0] = ${e}`,
            of`U.tell({ v: ${fc.nat(9)} })`,
            of`C.use({ v: ${fc.nat(9)} })`,
            of`if ${t} {\n${code}\n}`,
            of`if ${t} {\n${code}\n} else {\n${code}\n}`,
            of`loop until ${t} max 3 {\n${code}\n}`,
            of`repeat * 3 {\n${code}\nif ${t} { ${fc.constantFrom("break", "continue")} }\n${code}\n}`,
            of`for x in ${list} max 4 { ${number} += 1 }`,
            of`try {\n${code}\n} catch e {\n${code}\n}`,
            of`try {\n${code}\nif ${t} { raise "no" }\n${code}\n} catch e { a = 3 }`,
            of`try { if ${t} { raise \`{${e}}\` } } catch e { ${number} = e.message.length }`,
            of`try { spend ${fc.integer({ min: 3, max: 12 })} steps {\n${code}\n} } catch e { ${number} = 4 }`,
            of`try { z = parallel for x in [1, 2, 3] max 3 stop after ${fc.integer({ min: 1, max: 3 })} failures { if x == ${e} { raise "no" }\nU.tell({ v: x })\nx } } catch e { ${number} = 5 }`,
        ),
        block: fc.array(tie("statement"), { minLength: 1, maxLength: 4 }).map((all) => all.join("\n")),
        /** What the secret decides for certain. */
        decided: fc.oneof(
            of`if ${tie("secret")} {\n${code}\n}`,
            of`if ${tie("secret")} {\n${code}\n} else {\n${code}\n}`,
            of`loop until ${tie("secret")} max 3 {\n${code}\n}`,
            of`repeat * 3 {\n${code}\nif ${tie("secret")} { ${fc.constantFrom("break", "continue")} }\n${code}\n}`,
            of`for x in ${list} max 4 {\nif x == s { break }\n${code}\n}`,
            of`try {\n${code}\nif ${tie("secret")} { raise "no" }\n${code}\n} catch e {\n${code}\n}`,
            of`try {\n${number} = ${fc.constantFrom("1 / s", "l[s]", "m[s]", "check(s)")}\n${code}\n} catch e {\n${code}\n}`,
        ),
    };
});

/** Statements of one, of which the secret decides over some: else few would tell it where control flow carries no labels. */
export const block = fc
    .tuple(fc.array(statement, { maxLength: 2 }), fc.array(decided, { minLength: 1, maxLength: 2 }), fc.array(statement, { maxLength: 2 }))
    .map((parts) => parts.flat().join("\n"));

const HELPERS = `
func check(n) { if n > 2 { raise "no" }
n }
${FUNCS}`;

/** `caught`: failures are caught around it; else they end the run, which tells that they happened (termination). */
export const whole = (body: string, caught = true): string => `flow strict\n${TOOLS}${MORE}\n${HELPERS}
main func() {
s = T.secret({})
a = 0
b = 1
c = 2
d = 3
l = [1, 2]
m = [3]
${caught ? `try {\n${body}\n} catch e { }` : body}
ra = U.tell({ v: a })
rb = U.tell({ v: b })
rc = U.tell({ v: c })
rd = U.tell({ v: d })
rl = U.tell({ v: l })
rm = U.tell({ v: m })
1
}
`;

/** Some clause asks who chooses, so that basic mode keeps it. */
export const KEPT = { policy: { clauses: { U: [{ kind: "choice", method: "head", at: [0, 0, 0, 0] }] } } } as const;
export const basic = (body: string, caught = true): Program => formOf(whole(body, caught).replace("flow strict", ""), true);

/** Holds runs by each secret of two to each other, in strict code and in basic mode that keeps choices, and says whether they differ where it keeps none. */
export function pairTells(body: string, caught: boolean, both: readonly Json[]): boolean {
    const of = (form: Program, options: How["options"] = {}): [Ran, Ran] =>
        both.map((secret) => runAll(form, { answer: answer(secret), options })) as [Ran, Ran];
    sameView(...of(formOf(whole(body, caught), true)));
    const plain = basic(body, caught);
    sameView(...of(plain, KEPT));
    return differ(...of(plain));
}
