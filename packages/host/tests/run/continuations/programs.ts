/**
 * Programs whose continuations are kept as fixtures, and the world that answers them: one for each thing that a continuation can hold.
 *
 * Boundary: data. `scripts/record-continuations.mjs` records them, `../versions.test.ts` goes on with what was recorded.
 */
import type { Json } from "@remit/language";
import type { Effect, GoOn, Outcome } from "@remit/machine";

export interface Recorded {
    readonly name: string;
    readonly source: string;
    /** Outcomes that the run had when it was saved. */
    readonly told: number;
    /** Recorded by a build that compiles each function to one instruction more. */
    readonly padded?: true;
    /** The run failed, and its owner let it go on like this; a call of `down` fails before that. */
    readonly goneOn?: GoOn & { readonly answers?: { readonly [path: string]: Json } };
    readonly value: Json;
}

const T = 'import tool T from "host:t" { get: may, put: may }\n';
const FIXER = 'import agent Fixer from "acp://opencode"\n';
const main = (before: string, body: string): string =>
    `${before}main agent Main {\n    model M\n    role "r"\n    description "d"\n    main func() {\n${body}\n    }\n}\n`;
const LLM = 'import llm M from "mock:"\n';
const PLAIN = main(LLM + T, 'a = T.get("one")\nb = T.put("two")\nc = T.put("three")\n[a, b, c]');

export const PROGRAMS: readonly Recorded[] = [
    { name: "plain", source: PLAIN, told: 1, value: ["get one", "put two", "put three"] },
    // Recorded by the first build whose continuations name what was raised.
    { name: "plain-raised", source: PLAIN, told: 1, value: ["get one", "put two", "put three"] },
    { name: "plain-raised-another-listing", source: PLAIN, told: 1, padded: true, value: ["get one", "put two", "put three"] },
    { name: "plain-another-listing", source: PLAIN, told: 1, padded: true, value: ["get one", "put two", "put three"] },
    {
        name: "parallel",
        source: main(
            LLM + T,
            'xs = parallel for i in [1, 2, 3] max 3 {\n    a = T.get("a" + i)\n    b = T.get("b" + i)\n    [a, b]\n}\nxs',
        ),
        told: 3,
        value: [1, 2, 3].map((i) => [`get a${i}`, `get b${i}`]),
    },
    {
        name: "try",
        source: main(
            LLM + T,
            'x = try { T.get("fail") } catch e { [e.kind, T.put("after")] }\ny = try { T.put("more") } catch e { 1 }\n[x, y]',
        ),
        told: 1,
        value: [["tool", "put after"], "put more"],
    },
    {
        name: "delegate",
        source: `${LLM}${T}agent Helper {\n    remit { never T.get }\n    main func(x) {\n        a = T.put(x)\n        b = T.put(a)\n        b\n    }\n}\n${main("", 'x = 0\ndelegate T.put to Helper {\n    x = Helper("lent")\n}\nx')}`,
        told: 1,
        value: "put put lent",
    },
    {
        name: "yield",
        source: main(LLM + T + FIXER, "x = Fixer.yield(a: 1) with { turns: 4 }\ny = T.put(text(x))\ny"),
        told: 1,
        value: "put 1 more",
    },
    {
        name: "generate",
        source: main(LLM + T, 'x = generate({ input: "go", tools: [T.get], turns: 3 })\nx'),
        told: 1,
        value: "done",
    },
    // Recorded by the first build that writes large texts once, and of a turn what is new.
    {
        name: "generate-texts",
        source: main(
            LLM + T,
            's = "a line\\n"\nrepeat * 10 { s = s + s }\nuse s as "log"\nx = generate({ input: "go", tools: [T.get], turns: 3 })\n[x, s.length]',
        ),
        told: 2,
        value: ["done", 7168],
    },
    {
        name: "spend",
        source: main(LLM + T, 'x = 0\nspend 3 calls, 1k steps, 10 min {\n    x = T.get("a")\n    x = T.put(x)\n}\ny = T.put(x)\ny'),
        told: 1,
        value: "put put get a",
    },
    {
        name: "memory",
        source: main(
            `${LLM}${T}import memory Notes from "file://notes.jsonl"\n`,
            'Notes.add({ text: "kept" })\nxs = Notes.query({ text: "kept" })\na = T.put("b")\n[xs.length, a]',
        ),
        told: 1,
        value: [1, "put b"],
    },
    {
        name: "define",
        source: main(
            `${LLM}${T}${FIXER}func f(x) { x }\n`,
            "delegate all to Fixer {\n    Fixer.yield(spec: 1)\n}\na = T.put(text(f(2)))\nb = T.put(text(f(3)))\n[a, b]",
        ),
        told: 3,
        value: ["put 4", "put 6"],
    },
    {
        name: "ask",
        source: main(`${LLM}import tool T from "host:t" { get: may, put: ask }\n`, 'a = T.get("a")\nb = T.put(a)\nb'),
        told: 1,
        value: "put get a",
    },
    // Recorded by a build that told the timeout of an approval as a budget of time around its question, and not as the time to answer it.
    {
        name: "approval-timeout",
        source: `${T}func got(x) { T.get(x) }\nfunc put(x) { T.put(x) }\nmemory static ( got "a" >=> approve "Put it?" with { timeout: 2h } >=> put )`,
        told: 2,
        value: "put get a",
    },
    // The same, saved where the time of a branch beside the question ran.
    {
        name: "wait-beside-question",
        source: `${T}func got(x) { T.get(x) }\nmemory static ( got "a" >=> ( approve "Put it?" <*> wait 1s ) )`,
        told: 2,
        value: ["get a", "get a"],
    },
    {
        name: "gone-on-raised",
        source: main(LLM + T, 'x = ""\nspend 1 calls { x = T.get("a")  x = T.put(x) }\ny = T.put(x)\ny'),
        goneOn: { raise: [{ account: "main/spend#0", meter: "calls", amount: 9 }] },
        told: 2,
        value: "put put get a",
    },
    {
        name: "gone-on-retried",
        source: main(LLM + T, 'xs = parallel for x in ["one", "down"] max 2 { T.get(x) }\ny = T.put("more")\n[xs, y]'),
        goneOn: { retry: true },
        told: 3,
        value: [["get one", "get down"], "put more"],
    },
    {
        name: "gone-on-answered",
        source: main(LLM + T, 'x = T.get("down")\ny = T.put(x)\nz = T.put(y)\nz'),
        goneOn: { answers: { "main/T.get#0": "by hand" } },
        told: 3,
        value: "put put by hand",
    },
];

const FENCE = "`".repeat(3);
const answer = (body: string, param: string): string => `${FENCE}remit\nfunc answer(agent, ${param}) {\n${body}\n}\n${FENCE}`;

/** What the world says: it follows from the effect alone. */
export function answerTo(effect: Effect): Outcome {
    const request = effect.request as { readonly [key: string]: Json };
    const ok = (value: Json, ...origins: string[]): Outcome => ({ ok: true, value, origins });
    switch (effect.kind) {
        case "tool": {
            if (request.op === "describe")
                return ok({ methods: ["get", "put"].map((name) => ({ name, input: {}, readOnly: name === "get" })) });
            const [given] = request.args as Json[];
            if (given === "fail") return { ok: false, failure: { kind: "tool", message: "it failed" } };
            return ok(`${request.method as string} ${typeof given === "string" ? given : JSON.stringify(given)}`, "tool:T");
        }
        case "model": {
            const first = !(request.messages as { role: string }[]).some(({ role }) => role === "tool");
            const calls = [{ id: "1", name: (request.tools as { name: string }[] | undefined)?.[0]?.name ?? "", args: {} }];
            return ok(
                { text: first ? "" : "done", finish: first ? "tool" : "stop", model: "m", ...(first ? { calls } : {}) } as Json,
                "model:M",
            );
        }
        case "agent": {
            const isFirst = request.turn === 0;
            const isSpec = JSON.stringify(request.prompt).includes('\\"spec\\"');
            const text = !isFirst
                ? "more"
                : isSpec
                  ? answer("define f = func(x) { x * 2 } keep\nreturn none", "spec")
                  : answer('said = agent.send("more")\nreturn text(a) + " " + said', "a");
            const reply = {
                text,
                stop: "end_turn",
                entries: [{ kind: "message", text }],
                confinement: "sandbox",
                spent: { steps: 1, calls: 0, ms: 1 },
            };
            return ok(reply, "agent:Fixer");
        }
        case "author":
            return ok("kept.remit");
        case "recall":
            return ok([{ text: "kept" }], "memory:Notes");
        case "ask":
            return ok("once", "user");
        default:
            return ok(null);
    }
}
