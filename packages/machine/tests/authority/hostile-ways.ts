/**
 * Random programs of ways out: returns, breaks, raises and failures, in loops, handlers, iterations, functions and in the middle of expressions, before and
 * behind calls that a hostile mail may decide about. Each call stands on a line of its own and says which one it is, so that a table is held to the line.
 */
import { random } from "./random.ts";

const IMPORTS = `import tool Inbox from "mcp://inbox"
import tool Own from "mcp://own" { trusted }
import tool Out from "file://out"
import tool Log from "mcp://log" { write: may, choice write: trusted or ask }
`;

interface Place {
    readonly depth: number;
    readonly loops: boolean;
    /** Functions from this one on may be called. */
    readonly funcs: number;
    /** In an iteration that may not change what its siblings share. */
    readonly apart: boolean;
}

const FUNCS = 3;

export function waysProgram(seed: number): string {
    const next = random(seed);
    const chance = (p: number): boolean => next() < p;
    const whole = (below: number): number => Math.floor(next() * below);
    const pick = <T>(from: readonly T[]): T => from[whole(from.length)] as T;
    let count = 0;
    const fresh = (): string => `z${count++}`;
    const condition = (d = 0): string =>
        pick<() => string>([
            () => "m.yes",
            () => "m.yes",
            () => "f",
            () => "g",
            () => "ok",
            () => "no",
            () => "(m.n > 1)",
            () => "(n > 1)",
            () => "(l.length > 2)",
            () => "o.go",
            () => 'm.subject.contains("R")',
            () => `(not ${d > 1 ? "m.yes" : condition(d + 1)})`,
            () => `(${d > 1 ? "f" : condition(d + 1)} and ${d > 1 ? "m.yes" : condition(d + 1)})`,
            () => `(m.none ?? ${d > 1 ? "g" : condition(d + 1)}) == true`,
        ])();
    const list = (): string => pick(["l", "m.items", "[1, 2]", "[1, 2, 3]", "l.filter(x => f)", "[...m.items, 1]"]);
    const call = (): string => {
        const id = `id: "c${count++}"`;
        const word = pick(["", "", "", ", k: n", ", k: f", ", k: o.a", ", k: m.subject"]);
        const use = pick(["Own.save", "Own.save", "Out.write", "Log.write"]);
        return use === "Log.write" ? `(try {\n${use}({ ${id}${word} }) } catch e { 0 })` : `\n${use}({ ${id}${word} })`;
    };
    const way = (at: Place): string =>
        pick<() => string>([
            () => "return 1",
            () => "return f",
            () => `return ${call()}`,
            () => 'raise "no"',
            () => 'raise "no"',
            () => "y = m.record.amount.trim()",
            () => "y = 1 / (m.n - 1)",
            ...(at.loops ? [() => "break", () => "break", () => "continue", () => "continue"] : []),
        ])();
    /** An expression that may leave before it has a value. */
    const leaving = (at: Place): string =>
        pick<() => string>([
            () => `(if ${condition()} { ${way(at)} } else { 2 })`,
            () => `(if ${condition()} {${call()} } else {${call()} })`,
            () => `(try { ${way({ ...at, loops: false })}\n2 } catch e {${call()} })`,
            () => `(try {${call()}\ny = m.record.amount.trim() } catch e { ${way(at)} })`,
            () => call(),
            () => condition(),
            () => "n",
            ...(at.funcs < FUNCS ? [() => invoked(at)] : []),
        ])();
    const invoked = (at: Place): string => {
        const name = `f${at.funcs + whole(FUNCS - at.funcs)}`;
        return pick([
            `${name}(${condition()}, n)`,
            `apply(${name}, ${condition()})`,
            `(try { ${name}(f, n) } catch e { 3 })`,
            `H.${name}(${condition()}, 1)`,
        ]);
    };
    const body = (at: Place, most: number): string => Array.from({ length: 1 + whole(most) }, () => statement(at)).join("\n");
    const statement = (at: Place): string => {
        const { depth, funcs } = at;
        const inner = { ...at, depth: depth + 1 };
        const looped = { ...inner, loops: true };
        return pick<() => string>([
            call,
            call,
            call,
            () => `if ${condition()} { ${way(at)} }`,
            () => `if ${condition()} { ${way(at)} }`,
            () => `if ${condition()} { ${way(at)} } else { ${pick([call(), way(at), at.apart ? "" : "n = 4"])} }`,
            ...(at.apart
                ? []
                : [
                      () => `${pick(["f", "g"])} = ${condition()}`,
                      () => `n += ${pick(["1", "m.n", "l.length"])}`,
                      () => "l.add(1)",
                      () => `o.go = ${condition()}`,
                      () => `o.a = ${pick(['"x"', "n", "m.subject"])}`,
                  ]),
            () => `${fresh()} = ${leaving(at)}`,
            () => `${fresh()} = [${leaving(at)}, ${leaving(at)}]`,
            () => `${fresh()} = ${condition()} ${pick(["and", "or"])} ${leaving(at)} == 1`,
            () => `${fresh()} = ${pick(["m.none", "none", "m.n"])} ?? ${leaving(at)}`,
            () => `${fresh()} = { a: ${leaving(at)}, b: ${leaving(at)} }`,
            () => `z = ${list()}.map(x => (if ${condition()} { 1 } else { n }))${at.apart ? "" : "\nn = z.sum()"}`,
            () => `z = ${list()}.map(x => (try { m.record.amount.trim()\n1 } catch e { 2 }))\nif z.sum() > 2 {${call()} }`,
            ...(funcs < FUNCS ? [() => `${fresh()} = ${invoked(at)}`, () => invoked(at)] : []),
            ...(depth > 2
                ? []
                : [
                      () => `if ${condition()} {\n${body(inner, 2)}\n}`,
                      () => `if ${condition()} {\n${body(inner, 2)}\n} else {\n${body(inner, 2)}\n}`,
                      () => `if ${condition()} {\n${body(inner, 2)}\n} else if ${condition()} {\n${body(inner, 1)}\n}`,
                      () => `for x in ${list()} max 9 {\n${body(looped, 3)}\n}`,
                      () => `repeat * 2 {\n${body(looped, 3)}\n}`,
                      () => `loop until ${pick([condition(), `${leaving({ ...at, loops: false })} == 1`])} max 3 {\n${body(looped, 3)}\n}`,
                      () => `try {\n${body(inner, 3)}\n} catch e {\n${body(inner, 2)}\n}`,
                      () => `try {\n${body(inner, 3)}\n} catch e { ${at.apart ? "" : "n = 5"} }`,
                      () => `try { spend ${3 + whole(20)} steps {\n${body(inner, 3)}\n} } catch e {\n${body(inner, 1)}\n}`,
                      () =>
                          `${fresh()} = parallel for x in ${list()} max 9 {\n${body({ ...inner, loops: false, apart: true }, 2)}\n${condition()}\n}`,
                      () =>
                          `try { ${fresh()} = parallel for x in [1, 2] max 3 {\n${body({ ...inner, loops: false, apart: true }, 2)}\nx }\n${body(inner, 1)}\n} catch e {${call()}\n}`,
                      () => `delegate Own.save to H {\n${body(inner, 2)}\n}`,
                  ]),
        ])();
    };
    const func = (i: number): string =>
        `func f${i}(f, n) {\nm = Inbox.read({})\ng = f\nok = true\nno = f\nl = [1]\no = { go: f, a: "p" }\n${body({ depth: 1, loops: false, funcs: i + 1, apart: false }, 3)}\n${pick(["f", "1", "n"])}\n}`;
    const funcs = Array.from({ length: FUNCS }, (_, i) => func(i)).join("\n");
    const own = Array.from({ length: FUNCS }, (_, i) => func(i)).join("\n");
    const main = Array.from({ length: 6 }, () => {
        const one = statement({ depth: 0, loops: false, funcs: 0, apart: false });
        return chance(0.4) ? `try {\n${one}\n} catch e { }` : one;
    }).join("\n");
    const isCaught = chance(0.5);
    return `${IMPORTS}
func apply(g, x) { g(x, 1) }
${funcs}
agent H { remit { may all }\n${own} }
main agent M { main func(input) {
m = Inbox.read({})\nok = input.ok\nno = input.no\nf = ok\ng = no\nn = 1\nl = [1, 2]\no = { go: false, a: "o" }
${isCaught ? `try {\n${main}\n} catch e {${call()} }` : main}
1 } }`;
}
