/** The same program takes the same steps to the same values, with the same events, every time and in every engine: V8 in Node and Deno, JavaScriptCore in Bun. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BUILTIN_TABLE } from "@remit/machine";
import { build } from "esbuild";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomPrograms } from "../../packages/machine/tests/run/random.ts";

const here = dirname(fileURLToPath(import.meta.url));
const PROGRAMS = 1000;
/** Nodes of a program, about: a thousand small ones differ more than a hundred large ones. */
const ROOM = 24;
const TIMES = 1000;

const EVERYTHING = `import tool T from "host:test"
func fib(k) {
    if k < 2 { return k }
    fib(k - 1) + fib(k - 2)
}
main func(input) {
    sizes = parallel for word in "to be or".split(" ") max 10 { T.read(word).n }
    broken = try { sizes[99] } catch failure { failure.message }
    { sizes: sizes, fib: fib(4), broken: broken, found: "to be".match("b(.)"), parts: sizes.map((n) => n / 3) }
}
`;

/** Where engines may differ: numbers as text, letters of other scripts, the order of equals, patterns, what is no JSON. */
const VALUES = [
    ...["none", "true", "0", "3", "-2.5", "0.1 + 0.2", "1 / 3", "1000000 * 1000000 * 1000000 * 1000000", "123456789.987"],
    ...[
        '""',
        '"a"',
        '"İstanbul ß Ǆ ﬁ Ω"',
        '"👩‍👩‍👧 e\\u0301 é"',
        '"a,b, c"',
        '"{\\"k\\": 1e400}"',
        '"[1, {"',
        '"(a|b)+"',
        '"[[]"',
        '"\\\\w+"',
    ],
    ...["[]", "[3, 1, 2, 1]", '["b", "B", "a", "é"]', '[[2, "x"], [1, "y"]]', "{}", '{ k: 1, "10": 2, "2": 3 }'],
];

const ARGUMENTS = ['"a"', "-2.5", "[1]", "{ k: 1 }"];

/** Every built-in on each of them, with each of these. */
function calls(): string[] {
    return BUILTIN_TABLE.map(({ on, name, min, max, lambda }) => {
        const given = [...Array(Math.min(max - min + 1, 3)).keys()].map((n) =>
            Array.from({ length: min + n }, (_, i) => (i === lambda ? "(x, y) => [x, y, x == a]" : i === 0 ? "a" : "1")),
        );
        const tried = given.map((args) => {
            const call =
                on === "global"
                    ? `${name}(${["v", ...args.slice(1)].join(", ")})`
                    : on === "json"
                      ? `json.${name}(v)`
                      : `v.${name}(${args.join(", ")})`;
            return `r.add(try { ${call} } catch e { e.message })`;
        });
        return `main func(input) {
    r = []
    for v in [${VALUES.join(", ")}] max 100 {
        for a in [${ARGUMENTS.join(", ")}] max 10 {
            ${tried.join("\n            ")}
        }
    }
    r
}
`;
    });
}

/** The programs that `npm test` brings. */
function brought(name: string): string {
    const variable = `REMIT_TEST_${name.toUpperCase()}`;
    const program = process.env[variable];
    if (program === undefined) throw new Error(`${variable} names the program of ${name} (npm install ${name}): npm test installs it`);
    return program;
}

let room: string;
let script: string;
let reference: readonly string[];

beforeAll(async () => {
    room = mkdtempSync(join(tmpdir(), "remit-engines-"));
    script = join(room, "driver.mjs");
    const built = await build({
        entryPoints: [join(here, "driver.ts")],
        bundle: true,
        write: false,
        platform: "neutral",
        format: "esm",
        target: "es2024",
        mainFields: ["module", "main"],
    });
    const programs = fc.sample(randomPrograms(ROOM), { numRuns: PROGRAMS, seed: 20_26 });
    const given = { programs, texts: [EVERYTHING, ...calls()], times: TIMES };
    // places are half of a program
    const text = JSON.stringify(given, (key, value: unknown) => (key === "at" ? undefined : value));
    writeFileSync(script, `globalThis.GIVEN = JSON.parse(${JSON.stringify(text)});\n${built.outputFiles[0]?.text}`);
    reference = await lines(process.execPath, [script]);
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

async function lines(program: string, args: readonly string[]): Promise<string[]> {
    const env = { ...process.env, DENO_DIR: join(room, "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
    const { stdout } = await promisify(execFile)(program, args, { cwd: room, env, encoding: "utf8", maxBuffer: 1 << 30 });
    return stdout.trimEnd().split("\n");
}

/** Where two differ, told without the megabytes around it. */
function same(said: readonly string[]): void {
    const at = reference.findIndex((line, i) => line !== said[i]);
    if (at >= 0) expect({ program: at, said: said[at] }).toEqual({ program: at, said: reference[at] });
    expect(said.length).toBe(reference.length);
}

test("the programs get somewhere: many end with a value, after steps of their own", () => {
    const told = reference.slice(0, PROGRAMS).map((line) => JSON.parse(line) as [number, { ok: boolean }, string]);
    expect(told.filter(([, result]) => result.ok).length).toBeGreaterThan(PROGRAMS / 3);
    expect(new Set(told.map(([steps]) => steps)).size).toBeGreaterThan(100);
    expect(reference.length).toBe(PROGRAMS + 1 + BUILTIN_TABLE.length + 1);
});

test("F7: a thousand runs of one program count the same steps", () => {
    const [steps] = JSON.parse(reference[PROGRAMS] as string) as [number];
    expect(JSON.parse(reference.at(-1) as string)).toEqual([steps]);
});

test("F7: Deno, without a single permission", async () => {
    same(await lines(brought("deno"), ["run", "--quiet", "--no-config", "--no-remote", "--no-npm", "--no-prompt", script]));
});

test("F7: Bun", async () => {
    same(await lines(brought("bun"), ["run", script]));
});
