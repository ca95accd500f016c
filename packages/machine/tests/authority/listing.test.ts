/**
 * The table of authority against the machine: every principal tries every method of everything with every sample argument, by name and through what
 * it was passed, while all that the program delegates is in force; what comes out is what the table says (RO1).
 */
import {
    type AuthorityRow,
    authorityOf,
    type BoundForm,
    parseClausesText,
    parseRemitText,
    type Program,
    type ProjectPolicy,
    type ReadPolicy,
} from "@remit/language";
import { describe, expect, test } from "vitest";
import { formOf, once, outcome } from "./running.ts";

interface Thing {
    readonly name: string;
    readonly key: string;
    readonly field: string | null;
    readonly methods: readonly string[];
    readonly args: readonly string[];
    readonly bounds: readonly string[];
}

const THINGS: readonly Thing[] = [
    {
        name: "Repo",
        key: "tool:file://workspace",
        field: "path",
        methods: ["read", "write", "list"],
        args: ["src/a.ts", "src/deep/b.ts", "docs/a.md", "src/../etc/x"],
        bounds: ['in "src/**"', 'in "docs/*.md"', 'in "src/*", "docs/**"'],
    },
    {
        name: "Web",
        key: "tool:https://api.example.com",
        field: "url",
        methods: ["get", "post"],
        args: ["https://api.example.com/v1/items/1", "https://api.example.com/v2/x"],
        bounds: ['in "https://api.example.com/v1/**"', 'in "https://api.example.com/*/x"'],
    },
    {
        name: "Mail",
        key: "tool:mcp://mail",
        field: "to",
        methods: ["send", "find"],
        args: ["a@example.com", "b@evil.org"],
        bounds: ['in to: "*@example.com"'],
    },
    { name: "Notes", key: "memory:file://notes.jsonl", field: null, methods: ["add", "query"], args: ["x"], bounds: [] },
];

/** Mulberry32: the same programs every time. */
function random(seed: number): () => number {
    let a = seed;
    return () => {
        a = (a + 0x6d2b79f5) | 0;
        let t = Math.imul(a ^ (a >>> 15), 1 | a);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

interface Use {
    readonly thing: Thing;
    readonly method: string;
    readonly arg: string;
}

const USES: readonly Use[] = THINGS.flatMap((thing) =>
    thing.methods.flatMap((method) => thing.args.map((arg) => ({ thing, method, arg }))),
);
const callOf = (name: string, { thing, method, arg }: Use): string => `${name}.${method}({ ${thing.field ?? "a"}: "${arg}" })`;

/** Attempts in the order in which the program makes them. */
interface Attempt {
    readonly principal: string;
    readonly file: string;
    readonly use: Use;
    readonly through: "name" | "argument";
}

interface Made {
    readonly files: { readonly [file: string]: string };
    /** The same imports for a program that makes the one attempt of `user` that its input says. */
    readonly alone: { readonly [file: string]: string };
    readonly attempts: readonly Attempt[];
    /** What the project says besides. */
    readonly policy: ProjectPolicy;
}

function made(seed: number): Made {
    const next = random(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
    const chance = (p: number): boolean => next() < p;
    const some = <T>(from: readonly T[], p: number): T[] => from.filter(() => chance(p));
    const ref = (thing: Thing): string => {
        const method = chance(0.6) ? `.${pick(thing.methods)}` : "";
        return `${thing.name}${method}${thing.bounds.length > 0 && chance(0.4) ? ` ${pick(thing.bounds)}` : ""}`;
    };
    const clauses = (thing: Thing): string => {
        const gates = some(thing.methods, 0.15).map((method) => `${method}: ${pick(["may", "ask", "never"])}`);
        return gates.length === 0 ? "" : ` { ${gates.join(", ")} }`;
    };
    const imports = (): string =>
        THINGS.map((thing) => {
            const uri = thing.key.slice(thing.key.indexOf(":") + 1);
            return `import ${thing.key.slice(0, thing.key.indexOf(":"))} ${thing.name} from "${uri}"${clauses(thing)}`;
        }).join("\n");
    const remit = (agents: readonly string[]): string => {
        const grants = agents.map((agent) => `may ${agent}`);
        if (chance(0.15)) grants.push("may all");
        for (const thing of THINGS)
            for (let i = 0; i < 2; i++) if (chance(0.45)) grants.push(`${pick(["may", "may", "ask", "never"])} ${ref(thing)}`);
        return grants.join("\n");
    };
    const blocks = (to: readonly string[], all: boolean): string[] =>
        to.flatMap((agent) =>
            chance(0.65)
                ? [
                      `delegate ${all && chance(0.25) ? "all" : some(THINGS, 0.5).concat(pick(THINGS)).map(ref).join(", ")} to ${agent} ${chance(0.6) ? "onward" : ""}`,
                  ]
                : [],
        );
    const around = (wanted: readonly string[], inner: string): string => wanted.reduceRight((body, block) => `${block} { ${body} }`, inner);
    /** Statements that give the value of a call, made inside blocks; a block that its giver cannot open is left out by hand. */
    const inside = (wanted: readonly string[], call: string): string => `out = 0\n${around(wanted, `out = ${call}`)}\nout`;
    const narrowing = (thing: Thing): string =>
        chance(0.5)
            ? ""
            : `.only(${some(thing.methods, 0.5)
                  .concat(pick(thing.methods))
                  .map((m) => (thing.bounds.length > 0 && chance(0.4) ? `${m} ${pick(thing.bounds)}` : m))
                  .join(", ")})`;

    const named = chance(0.3);
    const remitA = remit(["B", "C"]);
    const remitB = remit(["C"]);
    const remitC = chance(0.7) ? `remit {\n${remit([])}\n}` : "";
    const atImport = chance(0.5) || remitC === "" ? ` { remit {\n${remit([])}\n} }` : "";
    const byUser = blocks(["A", "B", "C"], true);
    const byA = chance(0.6) ? blocks(["B", "C"], true).map((block) => block.replace(/delegate (?!all).* to /, "delegate all to ")) : [];
    const byB = chance(0.6) ? blocks(["C"], true).map((block) => block.replace(/delegate (?!all).* to /, "delegate all to ")) : [];
    const toA = pick(THINGS);
    const passedA = `${toA.name}${narrowing(toA)}`;
    const onByA = chance(0.7);
    const toB = onByA ? toA : pick(THINGS);
    const passedB = `${onByA ? "r" : toB.name}${narrowing(toB)}`;

    const attempts: Attempt[] = [];
    const calls: string[] = [];
    const alone: string[] = [];
    const functions: { A: string[]; B: string[]; C: string[] } = { A: [], B: [], C: [] };
    const attempt = (principal: string, use: Use, call: string, through: Attempt["through"] = "name"): void => {
        attempts.push({ principal, file: principal === "C" ? "c.remit" : "main.remit", use, through });
        // What `user` is refused ends the run: each of its attempts is a run of its own.
        if (principal === "user") {
            alone.push(`if input.alone == ${attempts.length - 1} {\n${call}\nreturn "may"\n}`);
            return;
        }
        calls.push(`found.add((try { ${call} } catch e { e.kind }))`);
    };
    USES.forEach((use, k) => {
        for (const agent of ["A", "B", "C"] as const) functions[agent].push(`func n${k}() { ${callOf(use.thing.name, use)}  "may" }`);
        functions.B.push(`func c${k}() { ${inside(byB, `C.n${k}()`)} }`);
        functions.A.push(`func b${k}() { ${inside(byA, `B.n${k}()`)} }`, `func c${k}() { ${inside(byA, `B.c${k}()`)} }`);
        attempt("user", use, callOf(use.thing.name, use));
        attempt("A", use, `A.n${k}()`);
        attempt("B", use, `A.b${k}()`);
        attempt("C", use, `A.c${k}()`);
        if (use.thing === toA) {
            functions.A.push(`func v${k}(r) { ${callOf("r", use)}  "may" }`);
            attempt("A", use, `A.v${k}(${passedA})`, "argument");
        }
        if (use.thing === toB) {
            functions.B.push(`func v${k}(r) { ${callOf("r", use)}  "may" }`);
            functions.A.push(`func p${k}(r) { ${inside(byA, `B.v${k}(${passedB})`)} }`);
            attempt("B", use, `A.p${k}(${passedA})`, "argument");
        }
    });
    const own = imports();
    const theirs = imports();
    // Of some programs the project says something besides, of some it says alone what B may do.
    const projected = seed % 4 === 0;
    const ofProject: [string, string][] =
        seed % 2 === 0 ? some(["A", "C"], 0.6).map((agent) => [agent, remit(agent === "A" ? ["B", "C"] : [])]) : [];
    if (projected) ofProject.push(["B", remitB]);
    const policy: ProjectPolicy =
        seed % 2 === 1
            ? {}
            : {
                  clauses: Object.fromEntries(
                      some(THINGS, 0.5).map((thing) => [
                          chance(0.5) ? thing.name : thing.key.slice(thing.key.indexOf(":") + 1),
                          parsed(parseClausesText(`${pick(thing.methods)}: ${pick(["ask", "never"])}`)),
                      ]),
                  ),
                  remits: Object.fromEntries(ofProject.map(([agent, text]) => [agent, parsed(parseRemitText(text))])),
              };
    const main = `${own}
import agent C from "./c.remit"${atImport}
${named ? `remit Named {\n${remitA}\n}` : ""}
agent A {
${named ? "remit Named" : `remit {\n${remitA}\n}`}
${functions.A.join("\n")}
}
agent B {
${projected ? "" : `remit {\n${remitB}\n}`}
${functions.B.join("\n")}
}
main agent Main {
main func(input) {
found = []
${around(byUser, calls.join("\n"))}
found
}
}`;
    const other = (functions: string): string => `${theirs}\nagent C {\n${remitC}\n${functions}\n}`;
    return {
        files: { "main.remit": main, "c.remit": other(functions.C.join("\n")) },
        alone: {
            "main.remit": `${own}\nimport agent C from "./c.remit"\nmain agent Main {\nmain func(input) {\n${alone.join("\n")}\nC.one()\n}\n}`,
            "c.remit": other("func one() { 1 }"),
        },
        attempts,
        policy,
    };
}

function parsed<T>(read: ReadPolicy<T>): T {
    if (!read.ok) throw new Error(read.problems.join());
    return read.value;
}

// ---- what the table says, read by hand ------------------------------------------------------------------------------

function shortest(path: string): string | null {
    const out: string[] = [];
    for (const part of path.split("/"))
        if (part === "..") {
            if (out.pop() === undefined) return null;
        } else if (part !== "." && part !== "") out.push(part);
    return out.join("/");
}

function holds(bound: BoundForm, use: Use): boolean {
    if (bound.arg !== undefined && bound.arg !== use.thing.field) throw new Error("a bound on an argument that is not tried");
    const isPath = use.thing.field === "path";
    const text = isPath ? shortest(use.arg) : use.arg;
    return bound.patterns.some((pattern) => {
        const escaped = pattern
            .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
            .replaceAll("**", "\0")
            .replaceAll("*", "[^/]*")
            .replaceAll("\0", ".*");
        return text !== null && new RegExp(`^${escaped}$`).test(text);
    });
}

function fits(row: { readonly method: string; readonly bounds: readonly BoundForm[] }, use: Use): boolean {
    return (row.method === "*" || row.method === use.method) && row.bounds.every((bound) => holds(bound, use));
}

const RANK = { may: 0, ask: 1, never: 2 };

function expected(rows: readonly AuthorityRow[], { principal, file, use, through }: Attempt): string {
    const mine = rows.filter(
        (row) =>
            row.principal === principal &&
            `${row.what}:${row.uri}` === use.thing.key &&
            fits(row, use) &&
            !(row.except ?? []).some((one) => fits(one, use)) &&
            // Clauses are those of the import by which it is named.
            (row.by !== "clause" || (row.name === use.thing.name && row.file === (row.argument ? "main.remit" : file))),
    );
    const giving = mine.filter((row) => (row.argument === true) === (through === "argument"));
    if (!giving.some((row) => row.by !== "clause" && row.gate !== "never")) return "violation.remit";
    const binding = mine.filter((row) => row.argument !== true && row.by === "remit" && row.gate !== "may");
    const gate = [...giving, ...binding].reduce<"may" | "ask" | "never">(
        (met, row) => (RANK[row.gate] > RANK[met] ? row.gate : met),
        "may",
    );
    return { may: "may", ask: "denied", never: "violation.remit" }[gate];
}

describe("F45: the table is what the machine does", () => {
    let asked = 0;
    let refused = 0;
    let allowed = 0;
    test.each(Array.from({ length: 40 }, (_, i) => i + 1))("program %i", (seed) => {
        const { files, alone, attempts, policy } = made(seed);
        const single = formOf(alone["main.remit"] as string, alone);
        const form: Program = formOf(files["main.remit"] as string, files);
        const rows = authorityOf(form, policy);
        const ran = once(form, { yes: "deny", options: { policy } });
        if (!ran.result.ok) throw new Error(`${ran.result.failure.kind} ${ran.result.failure.message}\n${files["main.remit"]}`);
        const together = (outcome(ran) as string[])[Symbol.iterator]();
        const found = attempts.map(({ principal }, i) =>
            principal === "user" ? outcome(once(single, { yes: "deny", options: { input: { alone: i }, policy } })) : together.next().value,
        ) as string[];
        expect(together.next().done).toBe(true);
        const say = (one: Attempt, what: string): string =>
            `${one.principal} ${one.use.thing.name}.${one.use.method}(${one.use.arg}) by ${one.through}: ${what}`;
        const now = attempts.map((one, i) => say(one, found[i] as string));
        const table = attempts.map((one) => say(one, expected(rows, one)));
        expect(now).toEqual(table);
        allowed += found.filter((one) => one === "may").length;
        asked += found.filter((one) => one === "denied").length;
        refused += found.filter((one) => one === "violation.remit").length;
    });
    test("all three come out", () => {
        expect(Math.min(allowed, asked, refused)).toBeGreaterThan(200);
    });
});
