/** Random programs of strict code that change lists and objects in every way, under conditions by a secret. */
import { ok } from "node:assert/strict";
import { check, type Json, loadProgram, lower, type Program } from "@remit/language";
import fc from "fast-check";
import type { Effect, Outcome } from "../../src/index.ts";
import { type Ran, runAll } from "../run/forms.ts";
import { formOf } from "../run/text.ts";
import { differ, SECRET, sameView } from "./pairs.ts";

export const answer =
    (secret: Json) =>
    (e: Effect): Outcome => {
        const { tool } = e.request as { tool?: string };
        return tool === "T" ? { ok: true, value: secret, origins: [SECRET] } : { ok: true, value: null, origins: [] };
    };

export const source = (body: string, functions = ""): string => `flow strict
import tool T from "https://t.example"
import tool U from "https://u.example"
${functions}
main func() {
s = T.secret({})
${body}
}
`;

/** Names by what they hold: numbers, lists of numbers, objects of numbers, lists of lists, objects that hold both. */
const NAMES = { number: ["a", "b"], list: ["l", "m", "k"], object: ["w", "z"], lists: ["n", "q"], both: ["o", "p"] } as const;

const START = `a = 0
b = 1
l = [1, 2, 3, 4]
m = [3]
k = l
w = { k0: 0, k1: 1 }
z = { k0: 5 }
n = [[1], [2]]
q = [l, m]
o = { v: [7, 8], w: { k0: 9 } }
p = o
keys = ["k0", "k1", "k2", "k3"]`;

const FUNCTIONS = `
func put(list, i, e) { list[i] = e }
func grow(list, e) { if e > 0 { list.add(e) } }
func name(object, key, e) { object[key] = e }
func same(x) { x }
func holding(list) { { v: list, w: { k0: list.length } } }
func one(t, x, y) { if t { return x }
y }
func check(e) { if e > 2 { raise "no" }
e }
func link(both, list) { both.v = list
both }
func tell(x) { U.tell({ v: x }) }
`;

const { statement, decided } = fc.letrec<{
    number: string;
    test: string;
    key: string;
    list: string;
    object: string;
    lists: string;
    both: string;
    change: string;
    alias: string;
    control: string;
    statement: string;
    block: string;
    decided: string;
}>((tie) => {
    const of = (text: TemplateStringsArray, ...parts: fc.Arbitrary<string | number>[]): fc.Arbitrary<string> =>
        fc.tuple(...parts).map((values) => text.reduce((all, piece, i) => `${all}${values[i - 1]}${piece}`));
    const name = (kind: keyof typeof NAMES): fc.Arbitrary<string> => fc.constantFrom(...NAMES[kind]);
    const k = fc.constantFrom("0", "1", "2");
    const secret = fc.constantFrom("(s > 1)", "(s == 0)", "(s < 1)", "(s == 2)");
    const few = { depthSize: "small", withCrossShrink: true } as const;
    return {
        number: fc.oneof(
            few,
            fc.constantFrom("s", "a", "b", "0", "1", "2", "s % 2"),
            of`${name("list")}[${k}]`,
            of`${tie("list")}.length`,
            of`(${tie("object")}.k0 ?? 4)`,
            of`${tie("object")}.keys().length`,
            of`(${tie("number")} + ${k})`,
            of`check(${tie("number")})`,
            of`${name("list")}.filter(x => x > ${k}).length`,
            of`${name("list")}.map(x => x + ${k}).sum()`,
            of`[1, 2].map(x => ${name("list")}.add(x).length).sum()`,
            of`${tie("lists")}.map(x => x.add(${k}).length).sum()`,
            of`json.text(${tie("both")}).length`,
        ),
        test: fc.oneof(
            few,
            { weight: 4, arbitrary: secret },
            of`(${tie("number")} ${fc.constantFrom("<", ">", "==", "!=")} ${tie("number")})`,
            of`(${tie("test")} ${fc.constantFrom("and", "or")} ${tie("test")})`,
            of`(${tie("test")} ${fc.constantFrom("and", "or")} ${name("list")}.add(${k}).length > 0)`,
            of`not ${tie("test")}`,
        ),
        key: fc.oneof(fc.constantFrom("keys[s % 4]", "keys[0]", "keys[1]", "keys[2]"), of`keys[${tie("number")}]`),
        list: fc.oneof(
            few,
            { weight: 5, arbitrary: name("list") },
            of`${tie("both")}.v`,
            of`${tie("lists")}[${fc.constantFrom("0", "1", "s % 2")}]`,
            of`same(${tie("list")})`,
            of`one(${tie("test")}, ${tie("list")}, ${tie("list")})`,
            of`(if ${tie("test")} { ${tie("list")} } else { ${tie("list")} })`,
            of`(${tie("lists")}.find(x => x.length > ${k}) ?? ${tie("list")})`,
            of`[${tie("list")}, ${tie("list")}].first()`,
            of`[${tie("number")}, ${tie("number")}]`,
            of`[...${tie("list")}, ${tie("number")}]`,
            of`${tie("list")}.map(x => x)`,
        ),
        object: fc.oneof(
            few,
            { weight: 5, arbitrary: name("object") },
            of`${tie("both")}.w`,
            of`same(${tie("object")})`,
            of`one(${tie("test")}, ${tie("object")}, ${tie("object")})`,
            of`{ k0: ${tie("number")} }`,
            of`{ ...${tie("object")}, k1: ${tie("number")} }`,
        ),
        lists: fc.oneof(
            few,
            { weight: 5, arbitrary: name("lists") },
            of`[${tie("list")}, ${tie("list")}]`,
            of`same(${tie("lists")})`,
            of`(parallel for x in [1, 2] max 2 { y = [x, s]
if ${tie("test")} { y[0] = 9 }
y })`,
        ),
        both: fc.oneof(
            few,
            { weight: 5, arbitrary: name("both") },
            of`{ v: ${tie("list")}, w: ${tie("object")} }`,
            of`holding(${tie("list")})`,
            of`link(${tie("both")}, ${tie("list")})`,
            of`same(${tie("both")})`,
        ),
        change: fc.oneof(
            of`${tie("list")}[${fc.constantFrom("s", "0", "s % 2", "1")}] = ${tie("number")}`,
            of`${name("list")}[${fc.constantFrom("s", "0", "s % 2")}] += ${tie("number")}`,
            of`${tie("list")}.add(${tie("number")})`,
            of`${tie("lists")}.add(${tie("list")})`,
            of`${tie("lists")}[${fc.constantFrom("s % 2", "0")}] = ${tie("list")}`,
            of`${tie("object")}[${tie("key")}] = ${tie("number")}`,
            of`${tie("object")}.${fc.constantFrom("k0", "k1", "k2")} = ${tie("number")}`,
            of`${name("object")}.k0 -= ${tie("number")}`,
            of`${tie("both")}.v = ${tie("list")}`,
            of`${tie("both")}.w = ${tie("object")}`,
            of`put(${tie("list")}, ${fc.constantFrom("s", "0", "s % 2")}, ${tie("number")})`,
            of`grow(${tie("list")}, ${tie("number")})`,
            of`name(${tie("object")}, ${tie("key")}, ${tie("number")})`,
            of`x = ${tie("both")}?.v.add(${tie("number")})`,
            of`x = ${fc.constantFrom("w.k3", "none", "z.k1")} ?? ${tie("list")}.add(${tie("number")})`,
            of`x = ${name("list")}.map(x => ${tie("list")}.add(x).length)`,
        ),
        alias: fc.oneof(
            of`${name("number")} = ${tie("number")}`,
            of`${name("list")} = ${tie("list")}`,
            of`${name("object")} = ${tie("object")}`,
            of`${name("lists")} = ${tie("lists")}`,
            of`${name("both")} = ${tie("both")}`,
        ),
        control: fc.oneof(
            of`if ${tie("test")} {\n${tie("block")}\n}`,
            of`if ${tie("test")} {\n${tie("block")}\n} else {\n${tie("block")}\n}`,
            of`loop until ${tie("test")} max 3 {\n${tie("block")}\n}`,
            of`for x in ${tie("list")} max 3 {\n${tie("block")}\n}`,
            of`for y in ${tie("lists")} max 3 {\ny.add(${tie("number")})\n}`,
            of`repeat * 2 {\n${tie("block")}\nif ${tie("test")} { ${fc.constantFrom("break", "continue")} }\n${tie("block")}\n}`,
            of`try {\n${tie("block")}\nif ${tie("test")} { raise "no" }\n${tie("block")}\n} catch e {\n${tie("block")}\n}`,
            of`try {\n${tie("block")}\n} catch e {\n${tie("block")}\n}`,
        ),
        statement: fc.oneof(
            few,
            { weight: 6, arbitrary: tie("change") },
            { weight: 4, arbitrary: tie("alias") },
            { weight: 1, arbitrary: of`tell(${fc.constantFrom("a", "l", "m", "w", "n", "o", "l[0]", "k.length", "q[0]", "p.v")})` },
            { weight: 5, arbitrary: tie("control") },
        ),
        block: fc.array(tie("statement"), { minLength: 1, maxLength: 3 }).map((all) => all.join("\n")),
        /** A change that the secret decides about, or where it is made. */
        decided: fc.oneof(
            of`if ${secret} {\n${tie("change")}\n${tie("block")}\n}`,
            of`if ${secret} {\n${tie("alias")}\n} else {\n${tie("change")}\n}`,
            of`loop until ${secret} max 3 {\n${tie("change")}\n}`,
            of`for x in ${name("list")} max 3 {\nif ${secret} { ${fc.constantFrom("break", "continue")} }\n${tie("change")}\n}`,
            of`try {\nif ${secret} { raise "no" }\n${tie("change")}\n} catch e {\n${tie("block")}\n}`,
            of`${name("list")}[s] = ${tie("number")}`,
            of`${name("object")}[keys[s % 4]] = ${tie("number")}`,
        ),
    };
});

const TOLD = ["a", "b", "l[0]", "l[1]", "l.length", "l", "m", "k", "w.k0", "w", "z", "n", "q", "o", "p"];

export const whole = (statements: readonly string[], caught: boolean): string =>
    source(
        `${START}
${caught ? statements.map((one) => `try {\n${one}\n} catch e { }`).join("\n") : statements.join("\n")}
${TOLD.map((one) => `U.tell({ v: ${one} })`).join("\n")}
if l[1] == 2 { U.tell({ v: "still" }) }
if w.k1 == none { U.tell({ v: "absent" }) }
l.length`,
        FUNCTIONS,
    );

/** Statements of one, and whether each is caught by itself. The secret decides over some: else few would tell it where control flow carries no labels. */
export const program = fc.tuple(
    fc
        .tuple(
            fc.array(statement, { maxLength: 3 }),
            fc.array(decided, { minLength: 1, maxLength: 2 }),
            fc.array(statement, { maxLength: 3 }),
        )
        .map((parts) => parts.flat()),
    fc.boolean(),
);

/** A program, and the lines of which the checker says that a change there may be refused. */
export function checkedOf(text: string): { readonly form: Program; readonly told: ReadonlySet<number> } {
    const checked = check(loadProgram("main.remit", { read: () => text, resolve: () => null }));
    const told = checked.diagnostics.filter((one) => one.code === "FLOW_MAY_BE_REFUSED");
    return { form: lower(checked), told: new Set(told.map((one) => text.slice(0, one.range.start).split("\n").length)) };
}

/**
 * Holds runs by each secret of two to each other, and each change that is refused to the lines that the checker told. `tells`: they differ where control
 * flow carries no labels.
 */
export function pairOf(statements: readonly string[], caught: boolean, secrets: readonly Json[]): { refused: number; tells: boolean } {
    const { form, told } = checkedOf(whole(statements, false));
    const both = (form: Program): [Ran, Ran] => secrets.map((secret) => runAll(form, { answer: answer(secret) })) as [Ran, Ran];
    const runs = both(form);
    let refused = 0;
    for (const { result } of runs) {
        if (result.ok || result.failure.kind !== "violation.flow") continue;
        refused++;
        ok(told.has(result.failure.site?.line ?? 0), `the checker tells nothing of line ${result.failure.site?.line}`);
    }
    sameView(...(caught ? both(formOf(whole(statements, true), true)) : runs));
    return { refused, tells: differ(...both(formOf(whole(statements, caught).replace("flow strict", ""), true))) };
}
