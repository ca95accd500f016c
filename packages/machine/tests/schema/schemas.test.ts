/** SC1: the published schemas are what the tables give, take everything that real runs write, and refuse what is not of their forms. */
import { readFileSync } from "node:fs";
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
    Compiled,
    type Effect,
    EVENT_KINDS,
    FAILURE_KINDS,
    Machine,
    type MachineEvent,
    type Outcome,
    redactEvent,
} from "../../src/index.ts";
import { REQUESTS } from "../../src/effect/effect.ts";
import type { StartOptions } from "../../src/state/options.ts";
import { PUBLISHED } from "../../src/schema/published.ts";
import { seal, sha256 } from "../ledger/support.ts";
import { OPTIONS } from "../run/forms.ts";
import { body, formOf } from "../run/text.ts";

type JsonObject = { [key: string]: Json };
type JSONSchema = Parameters<typeof z.fromJSONSchema>[0];

const print = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
const fileOf = (name: string): string => readFileSync(new URL(`../../schema/${name}.json`, import.meta.url), "utf8");

/** A validator of one definition of a published file. */
function validatorOf(name: string, def: string): (document: unknown) => string {
    const { $schema, $defs } = JSON.parse(fileOf(name)) as JsonObject;
    const schema = z.fromJSONSchema({ $schema, $ref: `#/$defs/${def}`, $defs } as JSONSchema);
    return (document) => {
        const read = schema.safeParse(document);
        return read.success ? "" : z.prettifyError(read.error);
    };
}

const effect = validatorOf("effect-1", "Effect");
const outcome = validatorOf("effect-1", "Outcome");
const event = validatorOf("ledger-event-1", "Event");
const image = validatorOf("continuation-1", "Image");
const delta = validatorOf("continuation-1", "Delta");

interface Written {
    readonly effects: JsonObject[];
    readonly outcomes: JsonObject[];
    readonly events: MachineEvent[];
    readonly images: JsonObject[];
    readonly deltas: JsonObject[];
}

const reply = (value: Json, more: JsonObject = {}): Outcome => ({
    ok: true,
    value: { text: JSON.stringify(value), value, finish: "stop", model: "m", ...more },
    origins: ["model:M"],
    usage: { input: 10, cached: 2, output: 5, reasoning: 1, usd: 0.01 },
});

const IMPORTS = { "0/F": { json: { x: 5 }, origins: ["file:f.json"] } } as const satisfies StartOptions["imports"];

function answer(asked: Effect): Outcome {
    const request = asked.request as JsonObject;
    if (asked.kind === "input") return { ok: true, value: "given", origins: ["user"] };
    if (asked.kind === "ask") return { ok: true, value: "once", origins: ["user"] };
    if (request.op === "count")
        return {
            ok: true,
            value: { tokenizer: "t", items: (request.items as Json[]).map(() => ({ fits: 1, tokens: 1, total: 9 })) },
            origins: [],
        };
    if (request.op === "describe")
        return { ok: true, value: { methods: [{ name: "get", input: { type: "object" }, readOnly: true }] }, origins: ["tool:T"] };
    if (asked.kind === "model") {
        const said = JSON.stringify(request.messages);
        if (Array.isArray(request.tools) && !said.includes('"role":"tool"'))
            return reply(null, { calls: [{ id: "c1", name: "T_get", args: { q: 1 } }], finish: "tool" });
        return asked.path.includes("attempt[0]") ? reply({ wrong: 1 }) : reply({ a: "yes" });
    }
    const first = (request.args as Json[] | undefined)?.[0];
    if (first === "fail")
        return {
            ok: false,
            failure: { kind: "timeout", message: "slow", site: asked.site, detail: { ms: 5 }, hint: "wait" },
            usage: { usd: 0.1 },
        };
    return { ok: true, value: { got: first ?? null, list: [1, 2] }, origins: ["tool:T"] };
}

/** Of several effects that wait the last is answered, so that outcomes come out of order. */
function ran(source: string, options: Partial<StartOptions> = {}): Written {
    const machine = Machine.start(new Compiled(formOf(source, true)), { ...OPTIONS, imports: IMPORTS, ...options });
    const written: Written = { effects: [], outcomes: [], events: [], images: [], deltas: [] };
    const keep = (saved: { image?: Json } | { delta?: Json }): void => {
        if ("image" in saved) written.images.push(print(saved.image));
        else if ("delta" in saved) written.deltas.push(print(saved.delta));
    };
    for (let turn = 0; turn < 500; turn++) {
        const step = machine.advance();
        written.effects.push(...step.effects.map(print));
        written.events.push(...step.events);
        keep(machine.save({ image: turn % 4 === 3 }));
        if (step.state === "done") return written;
        const next = machine.pending[machine.pending.length - 1];
        if (next === undefined) continue;
        const given = answer(next);
        written.outcomes.push(print(given));
        machine.resolve(next.path, given);
        // Also with an outcome that is not applied yet.
        keep(machine.save());
    }
    throw new Error("the run does not end");
}

const HEAD = `
import llm M from "mock://m"
import tool T from "http://example.test"
import memory Notes from "file://notes.jsonl"
import file F from "f.json"
`;

const RUNS: { readonly [name: string]: Written } = {
    "values of every sort, a failure that is caught": ran(
        body(
            `x = 1  repeat * 400 { x = x * 10 }
             o = { t: T, z: -0 * 1, big: x, xs: [1, "two", none, true] }  o.self = o
             r = T.get({ q: F.x })  o.xs.add(r)
             try { T.get("fail") } catch e { Notes.add({ text: e.message }) }
             Notes.query({ text: "x" })
             o.t.get(2)
             o.xs.length`,
            HEAD,
        ),
    ),
    "iterations side by side, one of which fails": ran(
        body(
            `try { parallel for x in [1, "fail", 3, 4] max 4 { made = [x]  r = T.get(x)  made.add(r)  T.put(r)  made } } catch e { e.kind }`,
            HEAD,
        ),
    ),
    "a generate with a retry, a budget in tokens and tools": ran(
        `${HEAD}main agent A {\n model M\n role "a tester"\n description "Tests."\n main func(input) {\n` +
            ` x = T.get({})\n use x max 2 tokens as "found"\n generate({ input: "Go", attempts: 3 }) -> { a: string, b?: string | none }\n` +
            ` generate({ input: "Go", attempts: 3, tools: [T] }) -> { a: string }\n }\n}`,
    ),
    "questions for what the input lacks": ran(
        `${HEAD}main agent A { main func(input: { q: string, n?: number }) { T.get(input.q)  input.q } }`,
        { interactive: true },
    ),
    "a failure that nobody catches": ran(body(`T.get("fail")`, HEAD)),
};

/** Every object in a document, with the way to it. */
function objectsIn(value: Json, way: readonly (string | number)[] = []): (readonly (string | number)[])[] {
    if (value === null || typeof value !== "object") return [];
    if (Array.isArray(value)) return value.flatMap((item, i) => objectsIn(item, [...way, i]));
    return [way, ...Object.keys(value).flatMap((key) => objectsIn(value[key] as Json, [...way, key]))];
}

function withKey(document: JsonObject, way: readonly (string | number)[]): JsonObject {
    const copy = print(document);
    let at = copy;
    for (const step of way) at = at[step as string] as JsonObject;
    at.unheard_of = 1;
    return copy;
}

/** Keys below which anything may stand: JSON of programs, models and tools, and the state of a generate. */
const OPEN = new Set([
    "value",
    "detail",
    "args",
    "arg",
    "data",
    "result",
    "input",
    "state",
    "provider",
    "default",
    "rejected",
    "shapes",
    "kept",
]);
const closed = (way: readonly (string | number)[]): boolean => !way.some((step) => OPEN.has(String(step)));

describe("published schemas", () => {
    test.each(Object.keys(PUBLISHED))("%s is what is generated", (name) => {
        expect(fileOf(name)).toBe(`${JSON.stringify(PUBLISHED[name]?.(), null, 2)}\n`);
    });

    test("the runs write what there is to be read", () => {
        const all = Object.values(RUNS);
        const kinds = new Set(all.flatMap((run) => run.effects.map((e) => e.kind)));
        expect([...kinds].sort()).toEqual(["input", "model", "recall", "remember", "tool"]);
        const text = JSON.stringify(all);
        for (const part of ['"n":"-0"', '"n":"Infinity"', '{"c":["tool"', '"kind":"generate"', '"kind":"parallel"', '"op":"count"', '"l":'])
            expect(text).toContain(part);
        expect(all.some((run) => run.deltas.length > 0)).toBe(true);
        expect(text).toMatch(/"failures":\[\{"index"/);
        expect(text).toMatch(/"questions":\[\{/);
        expect(text).toMatch(/"inbox":\[\{/);
        expect(text).toContain('"op":"describe"');
    });
});

describe.each(Object.keys(RUNS))("%s", (name) => {
    const run = RUNS[name] as Written;
    const sealed = seal(run.events);
    const lines = [
        ...sealed,
        ...sealed.map((one) => redactEvent(one, ["content"], sha256)),
        ...sealed.map((one) => redactEvent(one, ["labels", "content", "data"], sha256)),
    ].map(print);
    const documents: readonly (readonly [(document: unknown) => string, readonly JsonObject[]])[] = [
        [effect, run.effects],
        [outcome, run.outcomes],
        [event, lines],
        [image, run.images],
        [delta, run.deltas],
    ];

    test("everything it writes is valid", () => {
        for (const [validate, all] of documents) for (const document of all) expect(validate(document)).toBe("");
    });

    test("with an unknown key anywhere it is not", () => {
        for (const [validate, all] of documents)
            for (const document of all.slice(0, 12))
                for (const way of objectsIn(document).filter(closed))
                    expect(validate(withKey(document, way)), `${JSON.stringify(way)} of ${JSON.stringify(document)}`).not.toBe("");
    });

    test("with another kind, version, engine or form, or without a field, it is not", () => {
        for (const [validate, all] of documents)
            for (const document of all.slice(0, 12))
                for (const key of ["kind", "version", "engine", "form", "ok", "seq", "hash", "prev", "salt", "time", "labels", "heap"]) {
                    if (!Object.hasOwn(document, key)) continue;
                    expect(validate({ ...document, [key]: "unheard of" }), key).not.toBe("");
                    const { [key]: _, ...rest } = document;
                    expect(validate(rest), key).not.toBe("");
                }
    });
});

describe("closed sets", () => {
    test("every kind of event, failure and effect is taken, no other", () => {
        const line = print(seal(RUNS["a failure that nobody catches"]?.events ?? [])[0]);
        for (const kind of EVENT_KINDS) expect(event({ ...line, kind })).toBe("");
        expect(event({ ...line, kind: "run.paused" })).not.toBe("");
        for (const kind of Object.keys(FAILURE_KINDS)) expect(outcome({ ok: false, failure: { kind, message: "" } })).toBe("");
        expect(outcome({ ok: false, failure: { kind: "limit.moons", message: "" } })).not.toBe("");
        const bare = { path: "p", principal: "user", site: null, labels: [], deadline: 5 };
        const requests: { readonly [kind: string]: Json } = {
            ask: { question: "May it?", detail: { tool: "T" }, options: ["once", "deny"] },
            sleep: { ms: 5 },
            clock: null,
            random: null,
            agent: {
                op: "turn",
                agent: { name: "Fixer", uri: "acp://x", file: "main.remit" },
                session: "main/Fixer.yield#0",
                turn: 0,
                prompt: [{ type: "text", text: "x" }],
                hands: [{ tool: "Repo", uri: "file://w", file: "main.remit", methods: [{ method: null, gate: "ask", whole: false }] }],
                limits: { ms: 5 },
            },
            author: {},
        };
        for (const [kind, request] of Object.entries(requests)) expect(effect({ ...bare, kind, request })).toBe("");
        for (const kind of Object.keys(REQUESTS).filter((k) => !Object.hasOwn(requests, k)))
            expect(effect({ ...bare, kind, request: { unheard_of: 1 } })).not.toBe("");
        expect(effect({ ...bare, kind: "shout", request: {} })).not.toBe("");
    });

    test("an image has its imports and ends nothing; a delta has no imports", () => {
        const [first] = (RUNS["a failure that nobody catches"] as Written).images;
        const whole = first as JsonObject;
        expect(image(whole)).toBe("");
        expect(image({ ...whole, gone: [1] })).not.toBe("");
        expect(image({ ...whole, form: "delta" })).not.toBe("");
        expect(delta({ ...whole, form: "delta" })).not.toBe("");
    });

    test("turns of agents and their replies are closed records", () => {
        const value = validatorOf("effect-1", "AgentReply");
        const said = {
            text: "x",
            stop: "end_turn",
            entries: [
                { kind: "message", text: "x" },
                { kind: "call", id: "1", name: "bash", status: "completed", input: {}, permission: { allowed: false, by: "remit" } },
            ],
            confinement: "sandbox",
            spent: { steps: 1, calls: 0, ms: 1.5 },
        };
        expect(value(said)).toBe("");
        expect(value({ ...said, stop: "tired" })).not.toBe("");
        expect(value({ ...said, more: 1 })).not.toBe("");
        expect(value({ ...said, entries: [{ kind: "shout", text: "x" }] })).not.toBe("");
    });

    test("values that the machine reads", () => {
        const value = validatorOf("effect-1", "ModelReply");
        const said = { text: "", finish: "stop", model: "m", reading: { from: "whole", repairs: [], constrained: false } };
        expect(value(said)).toBe("");
        expect(value({ ...said, finish: "never" })).not.toBe("");
        expect(validatorOf("effect-1", "CountReply")({ tokenizer: "t", items: [{ fits: 1, tokens: 1, total: 1 }] })).toBe("");
        expect(validatorOf("effect-1", "ToolDescription")({ methods: [{ name: "get", input: {}, readOnly: true }] })).toBe("");
    });
});
