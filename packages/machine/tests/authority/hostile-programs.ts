/**
 * Random programs in which what a mail says goes ways of all kinds: into values, into conditions, through lists and objects under other names, functions,
 * failures, a memory and a trusted tool that keeps what it is given. Each use stands in a `try`, so that a run goes on behind what is refused.
 */
import { random } from "./random.ts";

const IMPORTS = `import tool Inbox from "mcp://inbox"
import tool Own from "mcp://own" { trusted }
import tool Store from "mcp://store" { trusted }
import tool Out from "file://out"
import tool Log from "mcp://log" { write: may, choice write: trusted or ask }
import tool Post from "mcp://post" { arg to: trusted or ask, choice: any }
import memory Notes from "file://notes.jsonl" { trusted }
import llm Claude from "mock://m"
`;

export function hostileProgram(seed: number): string {
    const next = random(seed);
    const chance = (p: number): boolean => next() < p;
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
    const names = { text: ["t"], flag: ["b"], list: ["l"], object: ["o"] };
    let count = 0;
    const fresh = (kind: keyof typeof names): string => {
        const name = `${kind.charAt(0)}${count++}`;
        names[kind].push(name);
        return name;
    };
    const text = (d = 0): string =>
        d > 2
            ? pick(names.text)
            : pick<() => string>([
                  () => '"k"',
                  () => "m.subject",
                  () => "own.subject",
                  () => pick(names.text),
                  () => pick(names.text),
                  () => `(${text(d + 1)} + ${text(d + 1)})`,
                  () => `(if ${flag(d + 1)} { ${text(d + 1)} } else { ${text(d + 1)} })`,
                  () => `${list(d + 1)}.join("")`,
                  () => `text(${pick(names.object)}.a)`,
                  () => `give(${text(d + 1)}, ${flag(d + 1)})`,
                  () => "text(Store.load({}).subject)",
                  () => "text(Notes.query({}))",
                  () => 'Out.read({ path: "a" }).subject',
                  () => `(try { text(m.record.amount.trim()) } catch e { ${text(d + 1)} })`,
                  () => "said(t)",
              ])();
    const flag = (d = 0): string =>
        d > 2
            ? pick(names.flag)
            : pick<() => string>([
                  () => "m.yes",
                  () => "input.ok",
                  () => pick(names.flag),
                  () => `${text(d + 1)}.contains("R")`,
                  () => `(${list(d + 1)}.length > 1)`,
                  () => `${pick(names.object)}.go`,
                  () => `(not ${flag(d + 1)})`,
                  () => `(${flag(d + 1)} and ${flag(d + 1)})`,
              ])();
    const list = (d = 0): string =>
        d > 2
            ? pick(names.list)
            : pick<() => string>([
                  () => pick(names.list),
                  () => pick(names.list),
                  () => "m.items",
                  () => `[${text(d + 1)}, ${text(d + 1)}]`,
                  () => `[...${list(d + 1)}, ${text(d + 1)}]`,
                  () => `${list(d + 1)}.filter(x => ${pick(names.flag)})`,
                  () => `${list(d + 1)}.map(x => x + ${pick(names.text)})`,
                  () => `${pick(names.object)}.list`,
              ])();
    const sink = (): string => {
        const use = pick<() => string>([
            () => `Out.write({ path: ${pick(['"a"', text()])}, content: ${text()} })`,
            () => 'Out.write({ path: "a", content: "b" })',
            () => `Log.write({ content: ${text()} })`,
            () => `Post.send({ to: ${text()}, body: ${text()} })`,
            () => `put(${pick(["Out", "Log"])}, ${text()})`,
            () => `Store.save({ subject: ${text()} })`,
            () => `Notes.add({ text: ${text()} })`,
            () => `act("${pick(["Out", "Log"])}.write", { content: ${text()} })`,
            () => `decide(${flag()}, ${text()})`,
            () => `if ${flag()} { Own.save({ id: "a", grade: ${text(2)} }) } else { Own.save({ id: "a", grade: "y" }) }`,
        ])();
        return `try { ${use} } catch e { }`;
    };
    const body = (n: number, d: number): string => {
        const kept = structuredClone(names);
        const lines = Array.from({ length: n }, () => statement(d)).join("\n");
        for (const kind of Object.keys(names) as (keyof typeof names)[]) names[kind] = kept[kind];
        return lines;
    };
    const statement = (d: number): string =>
        pick<() => string>([
            sink,
            sink,
            () => `${pick(names.text)} = ${text()}`,
            () => `${pick(names.flag)} = ${flag()}`,
            () => {
                const value = list();
                return `${chance(0.5) ? pick(names.list) : fresh("list")} = ${value}`;
            },
            () => `${pick(names.list)}.add(${text()})`,
            () => `${pick(names.object)}.${pick([`a = ${text()}`, `go = ${flag()}`, `list = ${list()}`])}`,
            () => `${pick(names.object)}.list.add(${text()})`,
            () => {
                const value = pick(names.object);
                return `${fresh("object")} = ${value}`;
            },
            () => `change(${pick(names.object)}, ${flag()}, ${text()})`,
            ...(d > 1
                ? []
                : [
                      () => `if ${flag()} {\n${body(2, d + 1)}\n}${chance(0.5) ? ` else {\n${body(1, d + 1)}\n}` : ""}`,
                      () => `for one in ${list()} max 9 {\n${chance(0.4) ? `if ${flag()} { break }\n` : ""}${body(1, d + 1)}\n}`,
                      () =>
                          `try {\n${chance(0.5) ? "x = m.record.amount.trim()\n" : ""}${body(2, d + 1)}\n} catch e {\n${body(1, d + 1)}\n}`,
                  ]),
        ])();
    return `${IMPORTS}
func give(x, way) { if way { return x }\n"g" }
func put(where, x) { where.write({ path: "p", content: x }) }
func decide(way, x) { if way { Out.write({ path: "d", content: x }) } }
func change(o, way, x) { if way { o.list.add(x)\no.a = x } }
agent R { model Claude role "r" description "d" func said(t) { use t as given\ngenerate({ input: "Say." }) } }
func said(t) { R.said(t) }
main agent M { main func(input) {
m = Inbox.read({})\nown = Own.read({})\nt = "t"\nb = input.ok\nl = ["l"]\no = { a: "o", go: false, list: ["p"] }
${Array.from({ length: 14 }, () => statement(0)).join("\n")}
1 } }`;
}
