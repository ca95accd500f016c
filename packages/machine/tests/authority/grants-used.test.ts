/**
 * Grants that the checker calls unused or too wide, against the machine: everything in these programs runs, so that a grant is used if the
 * run is another one without it.
 */
import { check, loadProgram, lower } from "@remit/language";
import { expect, test } from "vitest";
import { once } from "./running.ts";

const METHODS = { Repo: ["read", "write", "list"], Mail: ["send", "find"], Notes: ["add", "query"] } as const;
type Thing = keyof typeof METHODS;
const THINGS = Object.keys(METHODS) as Thing[];

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

interface Made {
    readonly grants: readonly string[];
    readonly text: (grants: readonly string[]) => { readonly [file: string]: string };
}

function made(seed: number): Made {
    const next = random(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
    const grants = THINGS.flatMap((thing) =>
        next() < 0.4 ? [thing] : METHODS[thing].filter(() => next() < 0.7).map((m) => `${thing}.${m}`),
    );
    const plain: string[] = [];
    const body: string[] = [];
    for (let i = 0; i < 5; i++) {
        const thing = pick(THINGS);
        const method = pick(METHODS[thing]);
        if (!grants.includes(thing) && !grants.includes(`${thing}.${method}`)) continue;
        const use = (name: string): string => `${name}.${method}({ path: "a" })`;
        const way = pick(["named", "plain", "passed", "chain", "narrow", "agent"]);
        if (way === "named") body.push(use(thing));
        if (way === "plain") {
            plain.push(`func p${i}() { ${use(thing)} }`);
            body.push(`p${i}()`);
        }
        if (way === "passed" || way === "chain" || way === "narrow") {
            plain.push(`func q${i}(place) { ${use("place")} }`, `func r${i}(text, place) { q${i}(place)  text }`);
            body.push(way === "chain" ? `r${i}("x", ${thing})` : `q${i}(${thing}${way === "narrow" ? `.only(${method})` : ""})`);
        }
        if (way === "agent") body.push(`own(${thing})  own(${thing})`.replaceAll("own", `own${i}`));
        if (way === "agent") plain.push(`%func own${i}(place) { ${use("place")} }`);
    }
    const imports = `import tool Repo from "file://workspace"\nimport tool Mail from "mcp://mail"\nimport memory Notes from "file://notes.jsonl"\n`;
    const top = plain.filter((one) => !one.startsWith("%")).join("\n");
    const mine = plain
        .filter((one) => one.startsWith("%"))
        .map((one) => one.slice(1))
        .join("\n");
    return {
        grants,
        text: (left) => ({
            "main.remit": `import agent F from "./f.remit"\nmain agent Main { main func(input) { F.go() } }`,
            "f.remit": `${imports}${top}\nagent F {\nremit { ${left.length === 0 ? "" : `may ${left.join(", ")}`} }\n${mine}\nfunc go() {\n${body.join("\n")}\n"done"\n}\n}`,
        }),
    };
}

function looked(files: { readonly [file: string]: string }): { readonly unused: string[]; readonly wide: string[]; readonly ran: string } {
    const loaded = loadProgram("main.remit", { read: (file) => files[file] ?? null, resolve: (_from, uri) => uri.replace(/^\.\//, "") });
    const checked = check(loaded);
    const at = ({ range, file }: { range: { start: number; end: number }; file: string }): string =>
        (files[file] ?? "").slice(range.start, range.end);
    const { result } = once(lower(checked));
    return {
        unused: checked.diagnostics.filter((one) => one.code === "REMIT_UNUSED").map(at),
        wide: checked.diagnostics.filter((one) => one.code === "REMIT_TOO_WIDE").map((one) => `${at(one)}: ${one.hint}`),
        ran: result.ok ? "done" : result.failure.kind,
    };
}

let unused = 0;
let wide = 0;

test.each(Array.from({ length: 25 }, (_, i) => i + 1))(
    "program %i: a grant is called unused, or too wide, exactly where the run does without it",
    (seed) => {
        const { grants, text } = made(seed);
        const whole = looked(text(grants));
        expect(whole.ran).toBe("done");
        const without = (grant: string, more: readonly string[] = []): string =>
            looked(text([...grants.filter((one) => one !== grant), ...more])).ran;
        expect(whole.unused).toEqual(grants.filter((grant) => without(grant) === "done"));
        for (const grant of grants) {
            const methods = METHODS[grant as Thing];
            if (methods === undefined || whole.unused.includes(grant)) continue;
            const needed = methods.filter(
                (m) =>
                    without(
                        grant,
                        methods.filter((one) => one !== m).map((one) => `${grant}.${one}`),
                    ) !== "done",
            );
            const said = whole.wide.find((one) => one.startsWith(`${grant}:`));
            const narrow = needed.map((m) => `${grant}.${m}`);
            // A server may have methods besides those.
            expect(said ?? null).toBe(
                needed.length === methods.length && grant !== "Mail" ? null : `${grant}: write ${narrow.sort().join(", ")}`,
            );
            if (said !== undefined) wide++;
        }
        unused += whole.unused.length;
    },
);

test("both come out", () => {
    expect([unused > 5, wide > 5]).toEqual([true, true]);
});
