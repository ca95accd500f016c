/** W10, W11: where choices are kept, the loose form of code gives everything the labels that frames give it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { MachineEvent, Outcome } from "../../src/index.ts";
import { type Answer, type How, type Ran, runAll } from "./forms.ts";
import { FUNCS, formOf } from "./text.ts";

const NUMBERS = ["a", "b", "c", "d"];
const LISTS = ["l", "m"];
const number = fc.constantFrom(...NUMBERS);
const list = fc.constantFrom(...LISTS);

/** Code that fails only where a list is shorter than an index says, and catches nothing: `s` and `t` come from elsewhere. */
const { block } = fc.letrec<{ value: string; test: string; statement: string; block: string }>((tie) => {
    const value = tie("value");
    const when = tie("test");
    const inner = tie("block");
    return {
        value: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            { weight: 3, arbitrary: fc.constantFrom("s", "t", "o.x", "o.y", "0", "1", "2", ...NUMBERS) },
            fc.tuple(value, fc.constantFrom("+", "-", "*"), value).map(([x, op, y]) => `(${x} ${op} ${y})`),
            list.map((l) => `${l}.length`),
            list.map((l) => `(${l}.first() ?? 1)`),
            fc.tuple(list, value).map(([l, e]) => `${l}.map(x => x + ${e}).sum()`),
            fc.tuple(list, when).map(([l, t]) => `${l}.filter(x => x > 1 or ${t}).length`),
            fc.tuple(list, value).map(([l, e]) => `${l}.reduce((n, x) => n + x * ${e}, ${e})`),
            fc.tuple(list, value).map(([l, e]) => `(${l}.find(x => x == ${e}) ?? 7)`),
            fc.tuple(list, number, value).map(([l, v, e]) => `${l}.map(x => if x > 1 { ${v} = ${e}\n${v} } else { x }).sum()`),
            fc.tuple(when, number, value).map(([t, v, x]) => `(if ${t} { ${v} = ${x}\n2 } else { 3 })`),
            fc.tuple(when, value, value).map(([t, x, y]) => `(if ${t} { ${x} } else { ${y} })`),
            value.map((e) => `choose(${e})`),
            fc.tuple(list, value).map(([l, e]) => `[${e}, ...${l}].length`),
            fc.tuple(list, list, when).map(([l, k, t]) => `grown(${l}, ${k}).filter(x => ${t}).length`),
            fc.tuple(list, value).map(([l, e]) => `${l}.slice(0, choose(${e})).length`),
            fc.tuple(value, value).map(([x, y]) => `{ x: ${x}, y: ${y} }.x`),
        ),
        test: fc.oneof(
            { depthSize: "small" },
            { weight: 3, arbitrary: fc.constantFrom("s > 1", "t == 0", "s < 1", "choose(t) == 1", "a > 0", "true") },
            fc.tuple(value, fc.constantFrom("<", ">", "==", "!="), value).map(([x, op, y]) => `(${x} ${op} ${y})`),
            fc.tuple(when, fc.constantFrom("and", "or"), when).map(([x, op, y]) => `(${x} ${op} ${y})`),
            fc.constantFrom("o.x", "l", "(m ?? 1)"),
            when.map((t) => `not (${t})`),
        ),
        statement: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            { weight: 4, arbitrary: fc.tuple(number, fc.nat(9)).map(([v, k]) => `${v} = ${k}`) },
            { weight: 3, arbitrary: fc.tuple(number, fc.constantFrom("=", "+="), value).map(([v, op, e]) => `${v} ${op} ${e}`) },
            fc.tuple(list, value).map(([l, e]) => `${l}.add(${e})`),
            fc.tuple(list, value).map(([l, e]) => `${l} = [${e}]`),
            fc.constantFrom("l = m", "o.l = m", "m = o.l", "o = { x: 1, y: a, l: l }", "l[0] = a"),
            fc.tuple(list, value).map(([l, e]) => `grow(${l}, ${e})`),
            fc.tuple(fc.constantFrom("x", "y"), fc.constantFrom("=", "+="), value).map(([k, op, e]) => `o.${k} ${op} ${e}`),
            fc.tuple(when, inner).map(([t, b]) => `if ${t} {\n${b}\n}`),
            fc.tuple(when, inner, inner).map(([t, x, y]) => `if ${t} {\n${x}\n} else {\n${y}\n}`),
            fc.tuple(when, inner).map(([t, b]) => `loop until ${t} max 3 {\n${b}\n}`),
            fc.tuple(list, number, inner).map(([l, v, b]) => `for x in ${l} max 3 { ${v} = ${v} + x\n${b}\n}`),
            fc
                .tuple(inner, when, fc.constantFrom("break", "continue"), inner)
                .map(([x, t, jump, y]) => `repeat * 2 {\n${x}\nif ${t} { ${jump} }\n${y}\n}`),
        ),
        block: fc.array(tie("statement"), { minLength: 1, maxLength: 3 }).map((all) => all.join("\n")),
    };
});

const HELPERS = `
${FUNCS}func grown(list, from) { for n in from max 2 { list.add(n) }
list }
`;

/** What a function changes that is called in an expression is changed before the ways of the expression part; a variable is no lambda. */
const CALLED = [
    "a = grown(l, m).filter(x => s > x).length",
    "a = [s, 1].reduce((n, x) => n, grown(l, m).length)",
    "m = [s]\na = [...m.filter(x => x > 1), ...grown(l, [1])].length",
    "m = [s].filter(x => x > 1)\na = m.slice(0, choose(1)).length",
    // What is assigned in the head of a loop is among what the loop assigns.
    "for x in (if s > 1 { a = 1\n[1] } else { l }) max 3 { if t > 1 { break } }",
    // A loop that begins in the middle of a slice has its list under a hidden name.
    "m = [[3], [4]]\nfor x in m max 2 { if s > 1 { break }\nm[1] = l\nx.add(1) }",
];

const BEFORE = "a = 0\nb = 1\nc = 2\nd = 3\nl = [1, 2]\nm = [3]\no = { x: 1, y: 2, l: m }";
const ALL = [...NUMBERS, ...LISTS, "o"];
const tell = (from: string): string => ALL.map((v) => `T.tell({ v: ${from}${v} })`).join("\n");

/** The code in a function, and in a loop of one that reaches effects. */
const whole = (body: string): string => `import tool S from "mcp://s"
import tool T from "mcp://t" { choice other: trusted }
${HELPERS}
func work(s, t) {
${BEFORE}
${body}
return { ${ALL.map((v) => `${v}: ${v}`).join(", ")} }
}
main func(input) {
s = S.one()
t = input
r = work(s, t)
${tell("r.")}
${BEFORE}
repeat * 1 {
${body}
}
${tell("")}
1
}
`;

const answer =
    (secret: number): Answer =>
    ({ request }): Outcome => {
        const { op, tool } = request as { op?: string; tool?: string };
        const methods = ["one", "tell", "other"].map((name) => ({ name, input: { type: "object" }, readOnly: true }));
        if (op === "describe") return { ok: true, value: { methods }, origins: [] };
        return { ok: true, value: tool === "S" ? secret : 0, origins: [`tool:${tool}`] };
    };

test("code in its loose form and on frames gives the same values and labels, and uses as much", () => {
    fc.assert(
        fc.property(block, fc.constantFrom(0, 1, 2, 3), fc.constantFrom(5, 9, 14), (body, secret, slice) => {
            const form = formOf(whole(body));
            const of = (more: How["options"]): Pick<Ran, "result" | "effects" | "steps"> & { readonly end: MachineEvent | undefined } => {
                const options = { input: 2, inputLabels: ["tool:U"], ...more };
                const { result, effects, steps, events } = runAll(form, { answer: answer(secret), options });
                return { result, effects, steps, end: events.at(-1) };
            };
            const loose = of({});
            expect(of({ mode: "frames" })).toEqual(loose);
            expect(of({ slice })).toEqual(loose);
        }),
        { numRuns: 100, examples: CALLED.flatMap((body) => [5, 9].map((slice): [string, number, number] => [body, 2, slice])) },
    );
});
