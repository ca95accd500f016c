/**
 * The table of authority for agents outside the program against the machine: while an agent is at work, its own hands try every method of every
 * tool with every sample argument; what the machine rules is what the table says. It does not matter whether what it has came by its remit or
 * with the yield, and a path of its own makes no difference.
 */
import { type AuthorityRow, authorityOf, showAuthority } from "@remit/language";
import { expect, test } from "vitest";
import { compileProgram, Machine } from "../../src/index.ts";
import { formOf } from "./running.ts";

const TOOLS = [
    {
        name: "Repo",
        key: "tool:file://workspace",
        field: "path",
        methods: ["read", "write"],
        args: ["src/a.ts", "docs/a.md"],
        bound: ' in "src/*"',
    },
    {
        name: "Mail",
        key: "tool:mcp://mail",
        field: "to",
        methods: ["send", "find"],
        args: ["a@example.com", "b@evil.org"],
        bound: ' in to: "*@example.com"',
    },
] as const;

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

function made(seed: number): string {
    const next = random(seed * 7919);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
    const chance = (p: number): boolean => next() < p;
    const bound = (tool: (typeof TOOLS)[number]): string => (chance(0.4) ? tool.bound : "");
    const rows = TOOLS.flatMap((tool) =>
        Array.from({ length: 2 }, () =>
            chance(0.5)
                ? `${pick(["may", "may", "ask", "never"])} ${tool.name}${chance(0.6) ? `.${pick(tool.methods)}` : ""}${bound(tool)}`
                : "",
        ).filter((row) => row !== ""),
    );
    const args = TOOLS.flatMap((tool) =>
        chance(0.5) ? [`${tool.name.toLowerCase()}: ${tool.name}${chance(0.6) ? `.only(${pick(tool.methods)}${bound(tool)})` : ""}`] : [],
    );
    const delegated = TOOLS.filter(() => chance(0.3)).map(
        (tool) => `${tool.name}${chance(0.5) ? `.${pick(tool.methods)}` : ""}${bound(tool)}`,
    );
    const call = `x = Fixer.yield(${["log: 1", ...args].join(", ")})`;
    return `${TOOLS.map((tool) => `import tool ${tool.name} from "${tool.key.slice(5)}"`).join("\n")}
import agent Fixer from "acp://opencode" ${chance(0.3) ? "unconfined" : ""} ${chance(0.2) ? "" : `{ remit {\n${rows.join("\n")}\nspend 4 turns\n} }`}
main func(input) {
${delegated.length === 0 ? call : `delegate ${delegated.join(", ")} to Fixer { ${call} }`}
1
}`;
}

type Use = { readonly tool: (typeof TOOLS)[number]; readonly method: string; readonly arg: string };
const USES: readonly Use[] = TOOLS.flatMap((tool) => tool.methods.flatMap((method) => tool.args.map((arg) => ({ tool, method, arg }))));

function fits(row: Pick<AuthorityRow, "method" | "bounds">, { method, arg }: Use): boolean {
    const holds = (pattern: string): boolean => new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`).test(arg);
    return (row.method === "*" || row.method === method) && row.bounds.every((one) => one.patterns.some(holds));
}

const RANK = { may: 0, ask: 1, never: 2 } as const;

/** By its import's name or through what it was passed: the kinder of both. */
function expected(rows: readonly AuthorityRow[], use: Use): string {
    const mine = rows.filter(
        (row) =>
            row.principal === "Fixer" &&
            `${row.what}:${row.uri}` === use.tool.key &&
            fits(row, use) &&
            !(row.except ?? []).some((one) => fits(one, use)),
    );
    const ways = [true, false].map((through) => {
        const giving = mine.filter((row) => (row.argument === true) === through);
        if (!giving.some((row) => row.gate !== "never")) return 2;
        const binding = mine.filter((row) => row.argument !== true && row.by === "remit" && row.gate !== "may");
        // The tools here say nothing of reading only.
        const open = giving.some((row) => row.gate === "may" && row.unsaid !== true) ? 0 : 1;
        return Math.max(open, ...[...giving, ...binding].map((row) => RANK[row.gate]));
    });
    return ["may", "ask", "refused"][Math.min(...ways)] as string;
}

const seen = { may: 0, ask: 0, refused: 0 };

test.each(Array.from({ length: 60 }, (_, i) => i + 1))("program %i", (seed) => {
    const text = made(seed);
    const form = formOf(text);
    const rows = authorityOf(form);
    const mine = rows.filter((row) => row.principal === "Fixer");
    expect(mine.length).toBeGreaterThan(0);
    for (const row of mine) expect([row.outside, row.unconfined === true]).toEqual(["acp://opencode", text.includes("unconfined")]);
    expect(showAuthority(rows)).toContain(`Fixer (acp://opencode${text.includes("unconfined") ? ", unconfined" : ""})`);
    const machine = Machine.start(compileProgram(form), {
        run: "r",
        programHash: "h",
        entry: form.entry as never,
        input: null,
        imports: {},
        limits: {},
    });
    let { effects } = machine.advance();
    for (let n = 0; n < 10 && effects.every((one) => one.kind !== "agent"); n++) {
        const methods = ["read", "write", "send", "find"].map((name) => ({ name, input: { type: "object" }, readOnly: false }));
        for (const one of effects) machine.resolve(one.path, { ok: true, value: { methods }, origins: [] });
        ({ effects } = machine.advance());
    }
    const turn = effects.find((one) => one.kind === "agent");
    if (turn === undefined) throw new Error(`nobody was asked\n${text}`);
    const say = (use: Use, what: string): string => `${use.tool.name}.${use.method}(${use.arg}): ${what}`;
    const now = USES.map((use) => {
        const { kind } = machine.rule(turn.path, { tool: use.tool.name, method: use.method, args: [{ [use.tool.field]: use.arg }] });
        seen[kind]++;
        return say(use, kind);
    });
    expect([text, now]).toEqual([text, USES.map((use) => say(use, expected(rows, use)))]);
});

test("all three come out", () => {
    expect(Math.min(seen.may, seen.ask, seen.refused)).toBeGreaterThan(30);
});
