/** In which order models and agents inside concurrent iterations are asked, and what they ask for, in strict code (ORD6): not by when answers come. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases } from "../cases.ts";
import type { Effect, Outcome } from "../../src/index.ts";
import { type How, type Ran, runAll } from "../run/forms.ts";
import { answer as answered, replied } from "../run/handing.ts";
import { functions, iterations } from "./order-programs.ts";
import { answering, differ, sameView, secrets, visible } from "./pairs.ts";
import { random } from "./random.ts";
import { formOf, said } from "./running.ts";

const METHODS: Json = ["get", "tell", "more", "note"].map((name) => ({
    name,
    input: { type: "object", properties: { v: {}, x: {} } },
    ...(name === "get" ? { readOnly: true } : {}),
}));

const whole = (body: string, { flow = "flow strict", spend = "" } = {}): string => `${flow}
import tool T from "https://t.example"
import tool U from "https://u.example" { tell: may, get: may, more: may }
import tool W from "https://w.example" { note: ask }
import llm M from "mock://m"
import agent X from "acp://x"
agent A {
model M
role "r"
description "d"
func go(x) { generate({ input: \`go {x}\`, tools: [U.tell, U.get], turns: 4 }) }
func ask(x) { generate({ input: \`ask {x}\`, tools: [W.note], turns: 4 }) }
func fails(x) { generate({ input: \`fails {x}\`, tools: [U.tell], turns: 4 }) }
}
${functions("U.more")}
main agent Main {
main func() {
s = T.secret({})
${spend}
r = parallel for x in [1, 2, 3, 4] max 4 {
v = {}
w = 0
${body}
U.tell({ v: "end", x: x })
x }
${spend === "" ? "" : "}"}
U.tell({ v: "all" })
1
}
}
`;

/** A model calls two tools, then one, then says something: by the words that it was given first, and how many turns it had. */
function modelSays(e: Effect): Outcome {
    const { messages, tools = [] } = e.request as unknown as { messages: { role: string }[]; tools?: { name: string }[] };
    const usage = { input: 10, output: 20 };
    const turn = messages.filter(({ role }) => role === "assistant").length;
    const words = JSON.stringify(messages[1]);
    if (turn === 1 && words.includes("fails 2")) return { ok: false, failure: { kind: "model", message: "no" } };
    const calls = tools.slice(0, Math.max(0, 2 - turn)).map(({ name }, i) => ({ id: `c${i}`, name, args: { v: turn, x: words.length } }));
    const value = { text: "t", model: "m", finish: calls.length > 0 ? "tool" : "stop", calls };
    return { ...said(value as Json, ["model:M"]), usage };
}

/** An agent first says what is no function. */
function agentSays(e: Effect): Outcome {
    const { turn } = e.request as { turn?: number };
    return replied(turn === 0 ? "what?" : answered("q = u.get({ v: 7 })\nreturn 1", "n", "u"), {}, "X");
}

const answer = answering(METHODS, (e, tool) => {
    if (e.kind === "model") return modelSays(e);
    if (e.kind === "agent") return agentSays(e);
    if (e.kind === "ask") return said("once", ["user"]);
    return said({ n: 1 }, [`tool:${tool}`]);
});

/** Runs in which the next answer is one for the iteration that comes first in an order of them. */
function inOrder(form: ReturnType<typeof formOf>, secret: Json, order: readonly number[], how: How = {}): Ran {
    const rank = ({ path }: Effect): number => order.indexOf(Number(/parallel\[(\d+)\]/.exec(path)?.[1] ?? 0));
    const pick = (all: readonly Effect[]): number => all.reduce((best, e, i) => (rank(e) < rank(all[best] as Effect) ? i : best), 0);
    return runAll(form, { answer: answer(secret), pick, ...how, options: { concurrency: 4, ...how.options } });
}

function timed(form: ReturnType<typeof formOf>, secret: Json, seed: number, how: How = {}): Ran {
    const next = random(seed);
    const pick = (all: readonly Effect[]): number => Math.floor(next() * all.length);
    return runAll(form, { answer: answer(secret), pick, ...how, options: { concurrency: 3, ...how.options } });
}

const ORDERS = [0, 1, 2, 3].flatMap((a) =>
    [0, 1, 2, 3].flatMap((b) =>
        [0, 1, 2, 3].flatMap((c) =>
            new Set([a, b, c]).size < 3 ? [] : [[a, b, c, [0, 1, 2, 3].find((d) => ![a, b, c].includes(d)) as number]],
        ),
    ),
);

const GO = "y = A.go(x)";

describe("in whichever of 24 orders the iterations' answers come", () => {
    test.each<[string, string, string?]>([
        ["turns and tools", GO],
        ["between the program's own calls", `U.tell({ v: 1, x: x })\n${GO}\nU.tell({ v: 2, x: x })`],
        ["in some of them", `if x < 3 { ${GO} } else { U.tell({ v: 1, x: x })\nU.tell({ v: 2, x: x }) }`],
        ["one after the other", `${GO}\nz = A.go(x)`],
        ["two inside an iteration", "z = parallel for n in [1, 2] max 2 { q = A.go(n)\nU.tell({ v: n, x: x })\nn }"],
        ["where a person is asked", `if x > 2 { y = A.ask(x) } else { ${GO} }`],
        ["where one of them fails", "try { y = A.fails(x) } catch e { U.tell({ v: 0, x: x }) }\nU.tell({ v: 2, x: x })"],
        ["where turns wait for a budget", `${GO}\nU.tell({ v: 2, x: x })`, "spend 5000 tokens {"],
        ["and agents that are asked again", `if x < 3 { y = X.yield(n: x, u: U) } else { ${GO} }\nU.tell({ v: 2, x: x })`],
        ["under a secret", `if s > 1 and x == 1 { ${GO} }\n${GO}\nU.tell({ v: 2, x: x })`],
        ["after a wait under a secret", `if s > 1 and x == 1 { T.more({}) }\nU.tell({ v: 2, x: x })\n${GO}`],
    ])("%s", (_name, body, spend = "") => {
        const form = formOf(whole(body, { spend }));
        const first = inOrder(form, 2, [0, 1, 2, 3]);
        expect(first.result).toMatchObject({ ok: true });
        expect(first.effects.filter(({ kind }) => kind === "model" || kind === "agent").length).toBeGreaterThan(3);
        ORDERS.forEach((order, i) => {
            const secret = i % 2 === 0 ? 2 : 0;
            const one = inOrder(form, secret, order);
            expect(visible(one)).toEqual(visible(first));
            if (i % 6 !== 5) return;
            for (const how of [{ saving: true }, { saving: 3 }, { options: { mode: "frames" } }] as const)
                expect(inOrder(form, secret, order, how)).toEqual(one);
        });
    });
});

test("a model's calls do not tell a secret by the time that another iteration takes under it", () => {
    // Each answer takes as long whatever the secret is: the first that was asked for is the first that comes.
    const source = (flow: string): string =>
        whole(`if x == 1 { v = U.get({ v: 1, x: x }) }\nif s > 1 and x == 1 { T.more({}) }\nif x > 1 { ${GO} }`, { flow });
    const run = (secret: Json, flow: string): Ran => runAll(formOf(source(flow)), { answer: answer(secret), options: { concurrency: 4 } });
    expect(differ(run(2, ""), run(0, ""))).toBe(true);
    sameView(run(2, "flow strict"), run(0, "flow strict"));
});

test("nor by whatever iterations do", () => {
    let telling = 0;
    let ending = 0;
    let runs = 0;
    const call = fc.constantFrom(GO, "y = A.ask(x)", "if x < 3 { y = A.go(x) }", "y = X.yield(n: x, u: U)", "if s > 1 { y = A.go(x) }");
    const body = fc.tuple(call, iterations, call).map(([a, b, c]) => [a, b.replaceAll("W.note", "U.more"), c].join("\n"));
    fc.assert(
        fc.property(
            body,
            secrets,
            fc.tuple(fc.nat(), fc.nat()),
            fc.integer({ min: 2, max: 4 }),
            (code, [a, b], [one, other], concurrency) => {
                const how = { options: { concurrency } };
                const form = formOf(whole(code));
                const ran = timed(form, a as Json, one, how);
                sameView(ran, timed(form, b as Json, other, how));
                expect(timed(form, a as Json, one, { ...how, saving: 2 })).toEqual(ran);
                const loose = formOf(whole(code, { flow: "" }));
                runs++;
                ending += Number(ran.result.ok);
                telling += Number(differ(timed(loose, a as Json, one, how), timed(loose, b as Json, one, how)));
            },
        ),
        { numRuns: cases(40), seed: 8 },
    );
    expect(ending).toBeGreaterThan(runs / 2);
    expect(telling).toBeGreaterThan(0);
});
