/**
 * The language's promises as properties, seen from the outside: what is not used is not seen, a capability is never data, a budget holds, a run
 * is determined by its program and its outcomes, labels follow data, and nothing that is fed in throws anything but a RemitError.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LoadError, RemitError, load } from "@remit/host";
import type { Json } from "@remit/language";
import { canonicalLedger } from "@remit/machine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases } from "../../packages/machine/tests/cases.ts";
import { countItems, tokenizerOf } from "../../packages/host/src/model/tokens.ts";
import { type Played, folderWith, inMain, play, seenBy } from "./harness.ts";

// ---- what is not used is not seen ------------------------------------------------------------------------------------

type Step =
    | { readonly kind: "let" | "use" | "gen" | "keep" | "tool" }
    | { readonly kind: "block"; readonly head: string; readonly times: number; readonly body: readonly Step[] }
    | { readonly kind: "helper"; readonly body: readonly Step[] };

const { steps } = fc.letrec<{ steps: Step[]; step: Step }>((tie) => ({
    steps: fc.array(tie("step"), { maxLength: 7 }),
    step: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom<Step>({ kind: "let" }, { kind: "use" }, { kind: "gen" }, { kind: "keep" }, { kind: "tool" }),
        fc
            .record({
                kind: fc.constant("block" as const),
                head: fc.constantFrom("if true", "repeat * 2", "for one in [1, 2] max 2", "loop until false max 2"),
                body: tie("steps"),
            })
            .map((block): Step => ({ ...block, times: block.head === "if true" ? 1 : 2 })),
        fc.record({ kind: fc.constant("helper" as const), body: tie("steps") }),
    ),
}));

/** The program of the steps, and for each `generate`, in the order of running, the markers it sees. */
function written(all: readonly Step[]): { text: string; seen: string[][] } {
    let count = 0;
    const helpers: string[] = [];
    const seen: string[][] = [];
    const marker = (): string => `MK${(count++).toString(36)}Q`;
    /** Lines of the steps; `run` replays what they see, given what is visible outside. */
    const lines = (body: readonly Step[], outer: readonly string[]): { text: string; run: (visible: readonly string[]) => void } => {
        const names = [...outer];
        const out: string[] = [];
        const runs: ((visible: string[]) => void)[] = [];
        for (const step of body) {
            if (step.kind === "let" || step.kind === "keep" || step.kind === "tool") {
                const name = marker();
                names.push(name);
                out.push(
                    step.kind === "let"
                        ? `${name} = "${name}"`
                        : step.kind === "keep"
                          ? `${name} = N.add({ text: "${name}" }).record.text`
                          : `${name} = Echo.say("${name}")`,
                );
            } else if (step.kind === "use") {
                const name = names.at(-1 - (count % Math.max(1, names.length)));
                if (name === undefined) continue;
                out.push(`use ${name} as "label"`);
                runs.push((visible) => void visible.push(name));
            } else if (step.kind === "gen") {
                const reply = marker();
                names.push(reply);
                out.push(`${reply} = generate({ input: "go" })`);
                runs.push((visible) => void seen.push([...visible]));
            } else if (step.kind === "block") {
                const inner = lines(step.body, names);
                out.push(`${step.head} {\n${inner.text}\n}`);
                runs.push((visible) => {
                    for (let pass = 0; pass < step.times; pass++) inner.run(visible);
                });
            } else if (step.kind === "helper") {
                const inner = lines(step.body, []);
                const name = `helper${helpers.length}`;
                helpers.push(`func ${name}() {\n${inner.text}\n}`);
                out.push(`${name}()`);
                runs.push(() => inner.run([]));
            }
        }
        return {
            text: out.join("\n"),
            run: (visible) => {
                const mine = [...visible];
                for (const one of runs) one(mine);
            },
        };
    };
    const main = lines(all, []);
    main.run([]);
    const before = 'import tool Echo from "host:echo"\nimport memory N from "file://n.jsonl"';
    return { text: inMain(main.text, before).replace("func id(x) { x }", `func id(x) { x }\n${helpers.join("\n")}`), seen };
}

test("what is not used is in no request, and what is used is in exactly those that see it", async () => {
    await fc.assert(
        fc.asyncProperty(steps, async (all) => {
            const { text, seen } = written(all);
            fc.pre(seen.length < 200);
            // A reply says where it came from, so that it can be recognised where it is used.
            const played = await play(text, {
                tools: { Echo: { say: (word: string) => word } },
                replies: (_turn, index) => `REPLY${index}Q`,
            });
            expect(played.codes).toEqual([]);
            expect(played.failure).toBeUndefined();
            const shown = played.turns.map((turn) => [...seenBy(turn).matchAll(/source: (MK\w+Q)/g)].map((found) => found[1]));
            expect(shown).toEqual(seen);
            for (const [index, turn] of played.turns.entries())
                for (const found of seenBy(turn).matchAll(/MK\w+Q/g)) expect(seen[index]).toContain(found[0]);
        }),
        { numRuns: 60 },
    );
});

// ---- a capability is never data ---------------------------------------------------------------------------------------

const CAPABILITIES = ["Tool", "Llm", "Mem", "Agt", "fun"];
/** Ways for `C` to become `v`. */
const ROUTES = [
    "v = C",
    "a = C\nv = a",
    "v = [C]",
    "v = { k: [C] }",
    "l = []\nl.add(C)\nv = l.summary",
    "o = { k: 1 }\no.k = C\nv = id(o)",
    "v = pass(C)",
    "v = pass([pass(C)])",
    "v = { ...{ k: C } }",
    "v = [...[C], 1].slice(0, 2)",
    "v = [1, 2].map((x) => C)",
    "v = parallel for x in [1] max 1 { C }",
    "v = if true { C } else { none }",
];
/** Ways for `v` to come out. */
const SINKS = [
    'use v as data\ngenerate({ input: "q" })',
    'use { a: v }\ngenerate({ input: "q" })',
    "generate({ input: v })",
    'generate({ input: "x" + v })',
    't = "x" + text(v)\nuse t\ngenerate({ input: "q" })',
    't = json.text(v)\nuse t\ngenerate({ input: "q" })',
    't = [v].join(",")\nuse t\ngenerate({ input: "q" })',
    "Notes.add({ r: v })",
    "Notes.add({ r: { s: [v] } })",
    "Notes.query({ where: { r: v } })",
    "Echo.say(v)",
    "Echo.say({ a: [v] })",
    "v == v",
    'v == "capmarker"',
    "[v].unique()",
    "raise v",
    "raise { message: v }",
    "v",
    "return { out: [v] }",
    "r = try { Echo.say(v) } catch f { f.message + text(f) }\nuse r\ngenerate({ input: r })",
    "Other(v)",
];

test("a capability is in no request, ledger, memory or failure, whatever route it took", async () => {
    const leaks: string[] = [];
    const ends = new Map<string, number>();
    for (const [at, route] of ROUTES.entries())
        for (const [nth, sink] of SINKS.entries()) {
            const capability = CAPABILITIES[(at * 7 + nth) % CAPABILITIES.length] as string;
            for (const laundered of [false, true]) {
                const c = laundered ? "wash(C)" : "C";
                const statements = `${route.replace(/\bC\b/g, c)}\n${sink}`.replace(/\bC\b/g, capability);
                const text = `import tool Tool from "https://capmarker.example/"
import llm Llm from "openai://capmarker"
import memory Mem from "file://capmarker.jsonl"
import memory Notes from "file://n.jsonl"
import tool Echo from "host:echo"
${inMain(statements).replace("func id(x) { x }", 'func id(x) { x }\nfunc pass(x) { x }\nfunc fun(x) { "capmarker" + x }\nfunc wash(x) { l = [] l.add([x]) o = { n: l } for y in o.n max 1 { for z in y max 1 { return { z: z }.z } } }')}
agent Agt { main func(x) { "capmarker" } }
agent Other { model M role "r" description "d" main func(x) { use x as given
generate({ input: "q" }) } }`;
                const said: Json[] = [];
                const played = await play(text, {
                    replies: (_turn, index) => `r${index}`,
                    tools: { Echo: { say: (x: Json) => void said.push(x) } },
                });
                const end = played.codes.length > 0 ? "refused" : (played.failure?.kind ?? "value");
                ends.set(end, (ends.get(end) ?? 0) + 1);
                let kept = "";
                try {
                    kept = readFileSync(join(played.folder, "n.jsonl"), "utf8");
                } catch {
                    // Nothing was written.
                }
                const out = JSON.stringify([played.turns, played.events, played.value ?? null, played.failure ?? null, said, kept]);
                if (out.includes("capmarker") && !sink.includes("capmarker")) leaks.push(`${statements} → ${end}`);
                const unexpected =
                    played.failure !== undefined &&
                    played.codes.length === 0 &&
                    !["violation.capability", "value"].includes(played.failure.kind);
                if (unexpected) leaks.push(`${statements} → ${played.failure?.kind}: ${played.failure?.message}`);
            }
        }
    expect(leaks).toEqual([]);
    expect(ends.get("violation.capability")).toBeGreaterThan(100);
});

// ---- a budget holds ----------------------------------------------------------------------------------------------------

const anyJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const anyValue = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(fc.string({ maxLength: 12 }), { maxLength: 8 }),
    anyJson,
) as fc.Arbitrary<Json>;

describe("a clipped item never exceeds its budget", () => {
    test("in characters", async () => {
        await fc.assert(
            fc.asyncProperty(anyValue, fc.integer({ min: 1, max: 60 }), fc.boolean(), async (v, max, end) => {
                const { prompts, failure } = await play(
                    inMain(`use input.v max ${max}${end ? " keep end" : ""} as v\ngenerate({ input: "q" })`),
                    { input: { v }, replies: ["r"] },
                );
                expect(failure).toBeUndefined();
                const item = prompts[0]?.items[0];
                const whole = typeof v === "string" ? v : JSON.stringify(v, null, 2);
                if (item === undefined) return;
                expect(item.text.length).toBeLessThanOrEqual(max);
                expect(item.clipped_size).toBe(item.text.length);
                expect([item.clipped, item.text === whole]).toEqual(whole.length > max ? [true, false] : [false, true]);
                // A number that does not fit is dropped whole.
                if (typeof v !== "string" && item.text !== "" && item.clipped) expect(() => JSON.parse(item.text)).not.toThrow();
            }),
            { numRuns: 120 },
        );
    });

    test("in tokens", async () => {
        const tokenizer = await tokenizerOf("");
        await fc.assert(
            fc.asyncProperty(anyValue, fc.integer({ min: 1, max: 30 }), async (v, max) => {
                const { prompts, failure } = await play(inMain(`use input.v max ${max} tokens as v\ngenerate({ input: "q" })`), {
                    input: { v },
                    replies: ["r"],
                });
                expect(failure).toBeUndefined();
                const text = prompts[0]?.items[0]?.text;
                if (text === undefined) return;
                const counted = countItems(
                    {
                        op: "count",
                        model: { name: "M", uri: "" },
                        items: [{ pieces: [text], whole: false, max: 1_000_000, keep: "start" }],
                    },
                    tokenizer,
                );
                expect(counted.items[0]?.total).toBeLessThanOrEqual(max);
            }),
            { numRuns: 80 },
        );
    });
});

// ---- a run is determined by its program and its outcomes ---------------------------------------------------------------

test("same program, same outcomes: same steps and same canonical ledger", async () => {
    const text = `import tool Work from "host:work"
import llm M from "openai://m"
main agent A {
    model M
    role "r"
    description "d"
    main func(input) {
        rows = parallel for n in input.items max 9 {
            a = Work.step(n)
            use a as a
            said = generate({ input: "q", attempts: 2 }) -> {
                n: number
                note
            }
            if said.n > 2 { return B(said.n) }
            { a: a, n: said.n }
        }
        total = 0
        for r in rows max 9 { total += json.text(r).length }
        [rows, total, Work.step(total)].length
        { rows: rows, total: total }
    }
}
agent B { main func(n) { out = parallel for k in [n, n + 1] max 2 { Work.step(k) } out } }`;
    const runs = cases(300);
    let seed = 1;
    const pause = async (): Promise<void> => {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        for (let turns = seed % 5; turns > 0; turns--) await new Promise((done) => setImmediate(done));
    };
    const seen = new Set<string>();
    const program = await load<Json, Json>(
        { source: text },
        {
            root: folderWith(),
            tools: { Work: { step: async (n: number) => pause().then(() => n * 2) } },
            performers: {
                model: async (effect) => {
                    await pause();
                    const n = Number(/\/parallel\[(\d)\]/.exec(effect.path)?.[1]);
                    const value = { n, note: "x" };
                    const first = effect.path.includes("attempt[0]") && n % 2 === 1;
                    const reply = first
                        ? { text: "no", finish: "stop", model: "m", error: { kind: "not_json", message: "no" } }
                        : { text: "", finish: "stop", model: "m", value };
                    return { ok: true, value: reply as unknown as Json, origins: ["model:M"], usage: { input: 5, output: n } };
                },
            },
        },
    );
    for (let run = 0; run < runs; run++) {
        const handle = program.run({ items: [0, 1, 2, 3, 4, 5] });
        const result = await handle.result;
        const events = [];
        for await (const event of handle.events) events.push(event);
        seen.add(JSON.stringify([result.value, result.steps, result.effects, result.usage, canonicalLedger(events)]));
    }
    await program.close();
    expect(seen.size).toBe(1);
});

// ---- labels follow data ------------------------------------------------------------------------------------------------

/** Expression over what has an origin each; the origins of its value. */
const ORIGINS: readonly (readonly [expression: string, origins: string])[] = [
    ['"literal"', ""],
    ["input.a", "user"],
    ["D", "file:d.txt"],
    ["J.k", "file:j.json"],
    ['E.get({ name: "K" }).value', "tool:E"],
    ["said", "model:M"],
    ["kept", "memory:N"],
    ["D + said", "file:d.txt model:M"],
    ["[input.a, D][0]", "user"],
    ["[input.a, D].length", ""],
    ["{ x: D, y: kept }.y", "memory:N"],
    ["{ x: D, y: [kept] }", "file:d.txt memory:N"],
    ["input.n + 1 > 2", "user"],
    ["said == D", "file:d.txt model:M"],
    ["not D", "file:d.txt"],
    ["json.parse(json.text({ a: D, b: input.a })).b", "file:d.txt user"],
    ['D.upper().split("e").join(said)', "file:d.txt model:M"],
    ["[1, 2].map((x) => x + input.n)", "user"],
    ["J.k.slice(0, 1)", "file:j.json"],
    ["pass(D)", "file:d.txt"],
    ["W(input.a)", "user"],
    ["(parallel for x in [input.a, 1] max 2 { x })[1]", ""],
    ["seen", "file:d.txt model:M"],
    ["asked", "model:M user"],
];

describe("labels follow data", () => {
    test.each(ORIGINS)("%s", async (expression, origins) => {
        const text = inMain(
            `said = generate({ input: "plain" })
            seen = said
            if true { use D as d
            seen = generate({ input: "with context" }) }
            asked = generate({ input: "about " + input.a })
            kept = N.query({})[0].record.t
            return ${expression}`,
            'import file D from "./d.txt"\nimport file J from "./j.json"\nimport tool E from "env://process"\nimport memory N from "file://n.jsonl"\nagent W { main func(x) { x } }',
        ).replace("func id(x) { x }", "func pass(x) { x }");
        const envelope = { id: "1", created_at: "2024-01-01T00:00:00.000Z", updated_at: "2024-01-01T00:00:00.000Z", record: { t: "kept" } };
        const played = await play(text, {
            files: { "d.txt": "text of d", "j.json": '{"k":[1,2]}', "n.jsonl": `${JSON.stringify(envelope)}\n` },
            env: { K: "v" },
            input: { a: "A", n: 5 },
            replies: ["r1", "r2", "r3"],
        });
        expect([played.codes, played.failure]).toEqual([[], undefined]);
        expect(played.events.find((event) => event.kind === "run.ended")?.labels.join(" ")).toBe(origins);
    });

    test("an effect's request carries the origins of everything in it", async () => {
        const { events } = await play(
            inMain(
                'use D as d\nuse input.a as a\nr = generate({ input: "q" })\nEcho.say({ x: [r] })',
                'import file D from "./d.txt"\nimport tool Echo from "host:echo"',
            ),
            {
                files: { "d.txt": "D" },
                input: { a: 1 },
                replies: ["r"],
                tools: { Echo: { say: () => 1 } },
            },
        );
        const labels = (kind: string): string => events.find((event) => event.kind === kind)?.labels.join(" ") ?? "";
        expect(labels("generate.started")).toBe("file:d.txt user");
        expect(labels("tool.started")).toBe("file:d.txt model:M user");
    });
});

// ---- nothing throws anything but a RemitError --------------------------------------------------------------------------

const FOLDER = fileURLToPath(new URL("programs/", import.meta.url));
const CORPUS = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".as"))
    .map((name) => readFileSync(join(FOLDER, name), "utf8"));

/** Plays a text and says how it ended; throws what must not be thrown. */
async function survives(text: string, folder: string): Promise<Played | null> {
    try {
        const played = await play(text, {
            folder,
            replies: () => "{}",
            limits: { steps: 20_000, calls: 50, time: 5_000 },
            input: {},
            performers: { tool: async () => ({ ok: true, value: null, origins: [] }) },
        });
        if (played.failure !== undefined) expect(played.failure.message.length).toBeGreaterThan(0);
        for (const one of played.diagnostics) expect(one.range.end).toBeLessThanOrEqual(text.length);
        return played;
    } catch (error) {
        if (error instanceof RemitError) return null;
        throw error;
    }
}

describe("whatever is fed in, nothing is thrown but a RemitError", () => {
    test("random bytes", async () => {
        const folder = folderWith();
        await fc.assert(
            fc.asyncProperty(
                fc.oneof(
                    fc.string({ unit: "binary", maxLength: 200 }),
                    fc.uint8Array({ maxLength: 200 }).map((bytes) => String.fromCharCode(...bytes)),
                ),
                async (text) => void (await survives(text, folder)),
            ),
            { numRuns: 120 },
        );
    });

    test("programs that are cut, doubled and mixed", async () => {
        const folder = folderWith();
        const pieces = CORPUS.flatMap((text) => text.match(/\w+|\s+|"[^"\n]*"|./g) ?? []);
        const piece = fc.integer({ min: 0, max: pieces.length - 1 });
        await fc.assert(
            fc.asyncProperty(
                fc.constantFrom(...CORPUS),
                fc.array(fc.record({ at: fc.nat(5000), cut: fc.nat(12), from: piece, take: fc.nat(6) }), { minLength: 1, maxLength: 4 }),
                async (text, edits) => {
                    let words: string[] = text.match(/\w+|\s+|"[^"\n]*"|./g) ?? [];
                    for (const { at, cut, from, take } of edits) {
                        const place = at % Math.max(1, words.length);
                        words = [...words.slice(0, place), ...pieces.slice(from, from + take), ...words.slice(place + cut)];
                    }
                    await survives(words.join(""), folder);
                },
            ),
            { numRuns: 150 },
        );
    });

    const DEEP: readonly (readonly [string, (n: number) => string])[] = [
        ["lists", (n) => `x = ${"[".repeat(n)}${"]".repeat(n)}`],
        ["objects", (n) => `x = ${"{ a: ".repeat(n)}1${" }".repeat(n)}`],
        ["parentheses", (n) => `x = ${"(".repeat(n)}1${")".repeat(n)}`],
        ["blocks", (n) => `${"if true { ".repeat(n)}1${" }".repeat(n)}`],
        ["calls", (n) => `x = ${"id(".repeat(n)}1${")".repeat(n)}`],
        ["not", (n) => `x = ${"not ".repeat(n)}1`],
        ["minus", (n) => `x = ${"- ".repeat(n)}1`],
        ["members", (n) => `x = { a: 1 } y = x${".a".repeat(n)}`],
        ["contracts", (n) => `generate({ input: "q" }) -> { x: ${"list[".repeat(n)}string${"]".repeat(n)} }`],
        ["unclosed", (n) => `x = ${"[{ a: (".repeat(n)}`],
    ];
    test.each(DEEP)("10,000 deep: %s", async (_what, make) => {
        const started = await load({ source: inMain(make(10_000)) }, { root: folderWith() }).catch((error: unknown) => error);
        expect(started).toBeInstanceOf(LoadError);
        expect((started as LoadError).diagnostics.some((one) => one.severity === "error")).toBe(true);
    });

    test("a value that is nested 10,000 deep at run time ends in a failure where it is shown", async () => {
        const { failure } = await play(inMain('x = [] repeat * 10000 { x = [x] } use x\ngenerate({ input: "q" })'), { replies: ["r"] });
        expect(failure?.kind).toBe("value");
    });
});
