/** Random blocks whose stages read a hostile mail, fail by it or pass it on, and call tools: each call stands on a line of its own and says which one it is. */
import { random } from "./random.ts";

const IMPORTS = `import tool Inbox from "mcp://inbox"
import tool Own from "mcp://own" { trusted }
import tool Out from "file://out"
`;

const STAGES = 4;

/** `parts`: stages may be blocks of either backend, each of which runs elsewhere where that is not the backend around it. */
export function blocksProgram(seed: number, parts = false): string {
    const next = random(seed);
    const chance = (p: number): boolean => next() < p;
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
    let count = 0;
    let named = 0;
    let inner = 0;
    const call = (): string =>
        `\n${pick(["Own.save", "Own.save", "Out.write"])}({ id: "c${count++}"${pick(["", "", ", k: x", ", k: m.subject"])} })`;
    const condition = (): string => pick(["m.yes", "m.n > 1", "x == none", "x != none", 'text(x).contains("k")', "m.items.length > 1"]);
    const statement = (): string =>
        pick<() => string>([
            call,
            call,
            () => `if ${condition()} {${call()} }`,
            ...(next() < 0.4 ? [() => `if ${condition()} { raise "no" }`, () => "m.record.amount.trim()"] : []),
            () => `if ${condition()} { return ${pick(["none", "1", "x", "[1]"])} }`,
            () => `try { m.record.amount.trim()\n${call()} } catch e {${call()} }`,
        ])();
    const func = (name: string, results: readonly string[]): string => {
        const body = Array.from({ length: 1 + Math.floor(next() * 2) }, statement).join("\n");
        return `func ${name}(x) {\nm = Inbox.read({})\n${body}\n${pick(results)}\n}`;
    };
    const options = (): string =>
        pick([
            "",
            "",
            "",
            ' with { on_error: "none" }',
            ' with { on_error: "none" }',
            ' with { retries: 1, on_error: "none" }',
            " with { retries: 2 }",
        ]);
    const verb = (): string => `s${Math.floor(next() * STAGES)}`;
    const stage = (d: number): string =>
        pick([
            () => `${verb()}${options()}`,
            () => `${verb()}${options()}`,
            () => `${verb()}${options()}`,
            () => `lists >=> map ${verb()}${options()}`,
            () => `texts >=> when ${pick(['"contains R"', '"not_contains R"'])}`,
            () => `objects >=> when ${pick(['"score > 1"', '"a"', '"not a"'])}`,
            () => 'echo "a"',
            ...(parts && d < 3 ? [() => block(d + 1), () => block(d + 1), () => block(d + 1)] : []),
            ...(d > 1
                ? []
                : [
                      () => `( ${pipe(d + 1)} <*> ${pipe(d + 1)} ) >=> merge`,
                      () => `( ${pipe(d + 1)} <*> ${pipe(d + 1)} <*> ${pipe(d + 1)} ) >=> ${verb()}${options()}`,
                  ]),
        ])();
    const block = (d: number): string => {
        const body = chance(0.3) ? `${pipe(d)} <*> ${pipe(d)}` : pipe(d);
        return `${pick(["temporal", "temporal", "memory"])} ${pick(["static", "static", "dynamic"])} ( ${body} )${chance(0.4) ? ` as p${inner++}` : ""}`;
    };
    const pipe = (d: number): string => [verb(), ...Array.from({ length: Math.floor(next() * 3) }, () => stage(d))].join(" >=> ");
    const blocks = Array.from({ length: 1 + Math.floor(next() * 3) }, () => {
        const text = `memory ${pick(["static", "static", "dynamic"])} ( ${chance(0.3) ? `${pipe(0)} <*> ${pipe(0)}` : pipe(0)} ) as r${named}`;
        named++;
        return text;
    });
    const funcs = Array.from({ length: STAGES }, (_, i) => func(`s${i}`, ["x", "1", "m.subject", "m.items", "[1, 2]", '"k"', "none"]));
    const names = [...Array.from({ length: named }, (_, i) => `r${i}`), ...Array.from({ length: inner }, (_, i) => `p${i}`)];
    const tail = names.map((name) => `if ${name} == none {${call()} }`).join("\n");
    const made = [
        func("lists", ["m.items", "[1, 2]"]),
        func("texts", ["m.subject", "text(x)"]),
        func("objects", ["{ a: m.yes, score: m.n }", "{ a: true, score: 2 }"]),
    ];
    return `${IMPORTS}\n${[...funcs, ...made].join("\n")}\nfunc tail() {\nx = 1\nm = { subject: "k" }\n${tail}\n1 }\n${blocks.join("\n")}\nmemory static ( tail )\n`;
}
