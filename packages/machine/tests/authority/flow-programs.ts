/**
 * Random programs in which values go ways of all kinds into arguments that clauses guard. Every use that a clause is about stands on a line of
 * its own with a mark of its own, which it sends along: what was sent shows which were let through.
 */

import { random } from "./random.ts";

type Kind = "text" | "list" | "object";
type Scope = { readonly [K in Kind]: string[] };

const IMPORTS = `import llm Writer from "openai://writer"
import llm Sure from "openai://sure" { trusted }
import tool Find from "mcp://find"
import tool Own from "mcp://own" { trusted }
import tool People from "mcp://people" { trusted, reads get: "alice" }
import memory Notes from "file://notes.jsonl"
import tool Mail from "mcp://mail" { arg to: trusted, audience: everyone }
import tool Post from "mcp://post" { arg send.to: from("tool:Own", "tool:Find", "trusted"), audience: "alice", arg cc: trusted or ask }
import tool Chat from "mcp://chat" { audience: "bob" }
import tool Pick from "mcp://pick" { arg to: among("user"), arg body: addresses trusted, audience: "alice" }
import llm Whisper from "openai://whisper" { trusted, reads: "alice" }
import memory Diary from "file://diary.jsonl" { trusted, reads query: "alice" }
`;

/** What every tool and memory answers with. */
export const ANSWER = { a: "x", n: 1, list: ["p", "q"], inner: { b: "y" } };

/** `strict`: control flow carries labels, as the file says it, or the remit of its agent, or as nothing in the program does. */
export function flowProgram(seed: number, strict?: "file" | "agent" | "project"): string {
    const next = random(seed);
    const chance = (p: number): boolean => next() < p;
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
    let names = 0;
    let marks = 0;
    /** Functions that may be called: none of those that call the one being written. */
    const functions: { readonly name: string; readonly gives: Kind }[] = [];

    const known = (scope: Scope, kind: Kind, depth: number): string =>
        scope[kind].length > 0 && chance(0.75) ? pick(scope[kind]) : literal(scope, kind, depth);
    const called = (scope: Scope, kind: Kind, depth: number): string | null => {
        const found = functions.filter((one) => one.gives === kind);
        return found.length === 0 ? null : `${pick(found).name}(${object(scope, depth + 1)}, ${text(scope, depth + 1)}, input)`;
    };
    const literal = (scope: Scope, kind: Kind, depth: number): string => {
        if (kind === "text") return pick(['"k"', "input.t", "Own.get({}).a", "People.get({}).a", "Find.get({}).a"]);
        if (kind === "list") return depth > 3 ? '["k"]' : `[${text(scope, depth + 1)}, ${text(scope, depth + 1)}]`;
        if (depth > 2 || chance(0.4))
            return pick([
                "Find.get({})",
                "Own.get({})",
                "People.get({})",
                "Notes.query({})[0]",
                "Diary.query({})[0]",
                'People.call({ tool: "get", args: {} })',
            ]);
        return `{ a: ${text(scope, depth + 1)}, list: ${list(scope, depth + 1)}, inner: { b: ${text(scope, depth + 1)} } }`;
    };
    const text = (scope: Scope, depth = 0): string => {
        if (depth > 3) return known(scope, "text", depth);
        const t = (): string => text(scope, depth + 1);
        const o = (): string => object(scope, depth + 1);
        const l = (): string => list(scope, depth + 1);
        return pick<() => string>([
            () => known(scope, "text", depth),
            () => known(scope, "text", depth),
            () => `(${t()} + ${t()})`,
            () => `${t()}.${pick(["trim()", 'replace("x", "z")', "upper()", 'split("").join("")', "slice(0, 9)"])}`,
            () => `"-".join([${t()}, "k"])`,
            () => `${o()}.${pick(["a", "inner.b", 'get("a")', "list[0]"])}`,
            () => `${o()}["a"]`,
            () => `${l()}${pick(["[0]", ".first()", ".last()", '.join(",")', '.find(x => x != "")'])}`,
            () => `text(${pick([o, l, t])()})`,
            () => `(if input.${pick(["yes", "no"])} { ${t()} } else { ${t()} })`,
            () => `(try { ${t()} } catch e { ${t()} })`,
            () => `(${t()} ?? ${t()})`,
            () => `(endorse ${t()} as trusted because "seen")`,
            () => (strict !== undefined && seed % 2 === 1 ? t() : `(endorse ${t()} for "bob" because "bob asked")`),
            () => called(scope, "text", depth) ?? known(scope, "text", depth),
            () => `generate({ input: ${t()}, model: ${pick(["Writer", "Sure", "Whisper"])} })`,
            () => `(${pick(['"http://e.example/"', '"a@b"', '"e.example "'])} + ${t()})`,
        ])();
    };
    const list = (scope: Scope, depth = 0): string => {
        if (depth > 3) return known(scope, "list", depth);
        const t = (): string => text(scope, depth + 1);
        const l = (): string => list(scope, depth + 1);
        return pick<() => string>([
            () => known(scope, "list", depth),
            () => literal(scope, "list", depth),
            () =>
                `${l()}.${pick(['map(x => x + "!")', 'filter(x => x != "zz")', "slice(0)", "sort_by(x => x)", "unique()", "concat([])"])}`,
            () =>
                `${l()}.map(x => ${pick(['x + "!"', known({ text: [...scope.text, "x"], list: [], object: [] }, "text", 0).includes("(") ? "x" : pick([...scope.text, "x"])])})`,
            () => `${l()}.concat(${l()})`,
            () => `[...${l()}, ${t()}]`,
            () => `${t()}.split(",")`,
            () => `${object(scope, depth + 1)}.list`,
            () => called(scope, "list", depth) ?? known(scope, "list", depth),
            () => `(if input.${pick(["yes", "no"])} { ${l()} } else { ${l()} })`,
        ])();
    };
    const object = (scope: Scope, depth = 0): string => {
        if (depth > 3) return known(scope, "object", depth);
        const o = (): string => object(scope, depth + 1);
        const t = (): string => text(scope, depth + 1);
        return pick<() => string>([
            () => known(scope, "object", depth),
            () => literal(scope, "object", depth),
            () => `{ ...${o()}, a: ${t()} }`,
            () => `{ a: ${t()}, ...${o()} }`,
            () => `${o()}.merge({ a: ${t()} })`,
            () => `json.parse(json.text(${o()}))`,
            () => called(scope, "object", depth) ?? known(scope, "object", depth),
            () => `(endorse ${o()} as trusted because "seen")`,
            () => `[${o()}, ${o()}][${pick(["0", "1"])}]`,
        ])();
    };
    const of = (scope: Scope, kind: Kind): string => ({ text, list, object })[kind](scope);
    const kindOf = (): Kind => pick<Kind>(["text", "list", "object"]);
    const test = (scope: Scope): string =>
        strict !== undefined && chance(0.6)
            ? `${chance(0.4) ? "Find.get({}).a" : text(scope, 2)} ${pick(["==", "!="])} "${pick(["x", "k", "y"])}"`
            : `input.${pick(["yes", "no"])}`;
    const inner = (scope: Scope): Scope => ({ text: [...scope.text], list: [...scope.list], object: [...scope.object] });

    /** A use of a guarded tool, in one line. */
    const sink = (scope: Scope): string => {
        const mark = `m${marks++}`;
        const to = strict !== undefined && chance(0.5) ? '"k"' : chance(0.6) ? text(scope) : chance(0.5) ? list(scope) : object(scope);
        const line = pick<() => string>([
            () => `${pick(["Mail", "Mail", "Post", "Chat"])}.send({ to: ${to}, mark: "${mark}" })`,
            () => `${pick(["Mail", "Post"])}.send({ mark: "${mark}", cc: "k", to: ${to} })`,
            () => `Mail.call({ tool: "send", args: { to: ${to}, mark: "${mark}" } })`,
            () => `Pick.send({ ${pick(["to", "body"])}: ${to}, mark: "${mark}" })`,
            () => `Pick.send({ mark: "${mark}", body: [${text(scope)}, ${to}] })`,
            () => `send(${to}, "${mark}")`,
            () => `relay(${to}, "${mark}", input.${pick(["yes", "no"])})`,
            () => `through(${pick(["Mail", "Chat", "Mail.only(send)"])}, ${to}, "${mark}")`,
            () => `sending({ to: ${to}, mark: "${mark}" })`,
            () => `again(${to}, "${mark}", 2)`,
        ])();
        return line;
    };
    const statement = (scope: Scope, depth: number, sinks: boolean): string[] => {
        const body = (n: number, more: Scope = inner(scope)): string[] =>
            Array.from({ length: n }, () => statement(more, depth + 1, sinks)).flat();
        const defined = (): string[] => {
            const kind = kindOf();
            const name = `v${names++}`;
            const value = of(scope, kind);
            scope[kind].push(name);
            return [`${name} = ${value}`];
        };
        const own = (kind: Kind): string | null => {
            const mine = scope[kind].filter((name) => name.startsWith("v") || name === "o");
            return mine.length === 0 ? null : pick(mine);
        };
        const choices: (() => string[])[] = [
            defined,
            defined,
            () => {
                const kind = kindOf();
                const name = own(kind);
                return name === null ? defined() : [`${name} = ${of(scope, kind)}`];
            },
            () => {
                const name = own("object");
                if (name === null) return defined();
                return [
                    pick([
                        `${name}.a = ${text(scope)}`,
                        `${name}.inner.b = ${text(scope)}`,
                        `${name}["a"] = ${text(scope)}`,
                        `change(${name}, ${text(scope)})`,
                    ]),
                ];
            },
            () => {
                const name = own("list");
                return name === null ? defined() : [pick([`${name}.add(${text(scope)})`, `${name}[0] = ${text(scope)}`])];
            },
            () => {
                const name = own("object");
                if (name === null) return defined();
                const alias = `v${names++}`;
                scope.object.push(alias);
                return [
                    pick([
                        `${alias} = ${name}`,
                        `${alias} = { a: "k", list: ["k"], inner: ${name}.inner }`,
                        `${alias} = [${name}][0]`,
                        `${alias} = same(${name})`,
                    ]),
                ];
            },
        ];
        if (sinks)
            choices.push(
                () => [sink(scope)],
                () => [sink(scope)],
                () => [sink(scope)],
            );
        if (depth < 2)
            choices.push(
                () => [
                    `if ${test(scope)} {`,
                    ...body(2),
                    ...(strict !== undefined && chance(0.2) ? [`} else if ${test(scope)} {`, ...body(1)] : []),
                    ...(chance(0.5) ? ["} else {", ...body(2)] : []),
                    "}",
                ],
                () => {
                    const item = `x${names++}`;
                    const from = list(scope);
                    const more = inner(scope);
                    more.text.push(item);
                    return [
                        `for ${item} in ${from} max 9999 {`,
                        ...body(2, more),
                        ...(chance(0.3) ? [strict === undefined ? "break" : `if ${test(more)} { break }`] : []),
                        "}",
                    ];
                },
                () => ["try {", ...body(2), ...(chance(0.3) ? ['raise "no"'] : []), "} catch e {", ...body(1), "}"],
                () => ["repeat *2 {", ...body(2), "}"],
                ...(strict === undefined
                    ? []
                    : [
                          () => {
                              const name = `n${names++}`;
                              return [`${name} = 0`, `loop until ${name} > 1 or ${test(scope)} max 9 {`, ...body(2), `${name} += 1`, "}"];
                          },
                          () => {
                              const name = `v${names++}`;
                              // What iterations share they may not change, which a function might.
                              const item = { ...inner(scope), text: ["item", '"k"'] };
                              const use = `Mail.send({ to: ${pick(item.text)}, mark: "m${marks++}" })`;
                              const lines = [
                                  `${name} = parallel for item in ${list(scope)} max 9999 {`,
                                  ...(sinks ? [`if ${chance(0.5) ? "item" : "Find.get({}).a"} == "x" {`, use, "}"] : []),
                                  `item + ${pick(item.text)}`,
                                  "}",
                              ];
                              scope.list.push(name);
                              return lines;
                          },
                          () => {
                              const name = `v${names++}`;
                              const value = `if ${test(scope)} { ${text(scope)} } else { "k" }`;
                              scope.text.push(name);
                              return [`${name} = ${value}`];
                          },
                      ]),
            );
        return pick(choices)();
    };
    const written: string[] = [];
    for (let i = 0; i < 5; i++) {
        const gives = kindOf();
        const scope: Scope = { text: ["t"], list: [], object: ["o"] };
        const lines = Array.from({ length: 1 + Math.floor(next() * 4) }, () => statement(scope, 1, false)).flat();
        if (strict !== undefined && chance(0.3)) lines.push(`if ${test(scope)} { return ${of(scope, gives)} }`);
        if (chance(0.3)) lines.push(`if t == "k" { return ${of(scope, gives)} }`);
        written.push(`func f${i}(o, t, input) {\n${lines.join("\n")}\n${chance(0.5) ? "return " : ""}${of(scope, gives)}\n}`);
        functions.push({ name: `f${i}`, gives });
    }
    const scope: Scope = { text: [], list: [], object: [] };
    const lines = Array.from({ length: 14 }, () => statement(scope, 0, true)).flat();
    // What only some may read, and decides over what tools are asked for, would end most of these runs early.
    const imports = strict === undefined || seed % 2 === 0 ? IMPORTS : IMPORTS.replace(/,? reads[^,}]*/g, "").replace(/\{ +\}/g, "");
    return `${strict === "file" ? "flow strict\n" : ""}${imports}
func same(o) { o }
func change(o, t) { o.a = t }
func send(to, mark) { Mail.send({ to: to, mark: mark }) }
func relay(to, mark, now) { if now { send(to, mark) } }
func through(tool, to, mark) { tool.send({ to: to, mark: mark }) }
func sending(mail) { Mail.send(mail) }
func again(to, mark, n) { if n == 0 { return send(to, mark) }
    again(to, mark, n - 1) }
main agent Main {
${strict === "agent" ? "remit { may all  may endorse  flow strict }\n" : ""}model Writer
role "r"
description "d"
${written.join("\n")}
main func(input) {
${lines.join("\n")}
0
}
}
`;
}
