/**
 * Whole programs in AgentScript's current spelling, of the kinds people write: each is run with replies, and again with `mock:`, unchanged.
 * Their warnings are part of the expectation: a program that was correct there has none that says otherwise.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "@remit/host";
import type { Json } from "@remit/language";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Played, type Setting, folderWith, play, seenBy } from "./harness.ts";

const FOLDER = fileURLToPath(new URL("programs/", import.meta.url));
const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

const text = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
const shared: Record<string, string> = {
    "agents/critic.as": text("agents/critic.as"),
    "agents/writer.as": text("agents/writer.as"),
    "style.md": "Be short. Be clear. Say one thing at a time, and say it with words that a newcomer to the field has heard before now.",
    "rubric.txt": "10 is perfect",
    "config.json": '{ "tone": "dry", "limits": { "score": 8 } }',
    "data/a.txt": "alpha step\n",
    "data/b.md": "# b\n",
    "agentscript.mcp.json": JSON.stringify({
        mcpServers: {
            search: { transport: "stdio", command: process.execPath, args: [SERVER], env: { GREETING: "$HELLO" }, timeoutMs: 10000 },
        },
    }),
    "agentscript.npm.json": JSON.stringify({ allow: { node: ["path"], npm: { tinyyaml: { version: "^2.3", exports: ["lib"] } } } }),
    "node_modules/tinyyaml/package.json": JSON.stringify({
        name: "tinyyaml",
        version: "2.4.1",
        main: "index.js",
        exports: { ".": "./index.js", "./lib": "./lib.mjs" },
    }),
    "node_modules/tinyyaml/index.js":
        "module.exports = { parse: (text) => { const [k, v] = text.split(': '); return { [k]: Number(v) }; }, dump: async (value) => JSON.stringify(value) };",
    "node_modules/tinyyaml/lib.mjs": "export const twice = (n) => n * 2;",
};

let base = "";
const api = createServer((request, response) => {
    const { method, url } = request;
    let body = "";
    request.on("data", (piece) => {
        body += piece;
    });
    request.on("end", () => {
        if (method === "GET" && url === "/base/items/1")
            response.setHeader("content-type", "application/json").end(JSON.stringify({ name: "one", user: request.headers["x-user"] }));
        else if (method === "POST" && url === "/items") response.writeHead(201).end(`{"got":${body}}`);
        else response.writeHead(404).end("no such page");
    });
});
beforeAll(async () => {
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    base = `127.0.0.1:${(api.address() as AddressInfo).port}`;
});
afterAll(() => api.close());

interface Case {
    readonly setting: Setting;
    readonly value: Json;
    /** `heading|source|text`, an item a line, for each prompt. */
    readonly prompts?: readonly (readonly string[])[];
    readonly warnings?: readonly string[];
    readonly more?: (played: Played) => void;
}

const CASES: { readonly [name: string]: Case } = {
    "react.as": {
        setting: {
            input: { question: "Who?" },
            env: { HELLO: "hi " },
            replies: [
                { thought: "look", query: "who", finish: "false", answer: "" },
                "I should think about this.",
                '```json\n{"thought": "done", "query": "", "finish": true, "answer": "me"}\n```',
            ],
        },
        value: { answer: "me", steps: 3 },
        prompts: [
            ["user|input.question|Who?", "past observations|scratch.summary|[]"],
            [
                "user|input.question|Who?",
                'past observations|scratch.summary|[\n  {\n    "thought": "look",\n    "query": "who"\n  },\n  "hi found who\\ntwice"\n]',
            ],
        ],
    },
    "plan-execute.as": {
        setting: {
            input: { goal: "tidy" },
            replies: [
                { steps: ["alpha", "beta", "gamma", "delta"] },
                { result: "A", ok: true },
                { result: "B", ok: "false" },
                { result: "C", ok: true },
                "All but one.",
            ],
        },
        value: { report: "All but one.", done: 2, saved: "Goal: tidy\nAll but one." },
        prompts: [
            ["goal|input.goal|tidy"],
            [
                "current step|step|alpha",
                "notes|notes|[]",
                '2|hits.matches|[\n  {\n    "path": "data/a.txt",\n    "line": 1,\n    "text": "alpha step"\n  }\n]',
            ],
            ["current step|step|beta", 'notes|notes|[\n  {\n    "step": "alpha",\n    "result": "A"\n  }\n]', "2|hits.matches|[]"],
            [
                "current step|step|gamma",
                'notes|notes|[\n  {\n    "step": "alpha",\n    "result": "A"\n  },\n  {\n    "step": "beta",\n    "result": "B"\n  }\n]',
                "2|hits.matches|[]",
            ],
            [
                "goal|input.goal|tidy",
                'results|notes.summary|[\n  {\n    "step": "alpha",\n    "result": "A"\n  },\n  {\n    "step": "beta",\n    "result": "B"\n  },\n  {\n    "step": "gamma",\n    "result": "C"\n  }\n]',
            ],
        ],
    },
    "memory-agent.as": {
        setting: { input: { name: "Ann", fact: "likes tea" }, replies: ["Hello Ann"] },
        value: { greeting: "Hello Ann", known: 1, people: 1 },
        prompts: [['known facts|texts|[\n  "likes tea"\n]', 'person|people[0].record|{\n  "kind": "person",\n  "name": "Ann"\n}']],
    },
    "keywords.as": {
        setting: { input: { items: [{ max: 1 }, { max: 2 }] } },
        value: { string: [1, 2], number: 1, boolean: false, from: "oneof", none: null, true: true, agent: 3, use: 2 },
    },
    "one-line.as": { setting: {}, value: { d: [1, 2, 5, 3, 11, 11], o: { a: 1, b: { c: 6 }, n: "yes" }, c: 11 } },
    "multi.as": {
        setting: {
            input: { topic: "cats" },
            replies: ["Draft 1", { score: 5, comments: ["longer"] }, "Draft 2", { score: 9, comments: [] }],
        },
        value: { draft: "Draft 2", rounds: 2, style: shared["style.md"] as string },
        prompts: [
            ["topic|topic|cats", "tone|tone|dry"],
            ["rubric|Rubric|10 is perfect", "draft|request.text|Draft 1"],
            ["previous draft|text|Draft 1", '1|comments|[\n  "longer"\n]'],
            ["rubric|Rubric|10 is perfect", "draft|request.text|Draft 2"],
        ],
        more: ({ turns }) => {
            expect(turns.map((turn) => turn.model.name)).toEqual(["Pen", "Judge", "Pen", "Judge"]);
            expect(turns.map((turn) => [turn.strict, turn.maxOutput])).toEqual([
                [false, undefined],
                [true, undefined],
                [false, 2000],
                [true, undefined],
            ]);
        },
    },
    "variants.as": {
        setting: { input: { more: "m" }, replies: ["one", "two"] },
        value: ["one", "two"],
        prompts: [
            [`style|Long|${(shared["style.md"] as string).slice(0, 100)}`, "evidence|scratch.summary|a long summary"],
            [
                `style|Long|${(shared["style.md"] as string).slice(0, 100)}`,
                "evidence|scratch.summary|a long summary",
                "more evidence|input.more|m",
            ],
        ],
    },
    "parallel-review.as": {
        setting: {
            input: { paths: ["data/a.txt", "data/b.md"], focus: "style" },
            replies: (turn) =>
                turn.contract === undefined
                    ? "Fine."
                    : seenBy(turn).includes("# b")
                      ? { severity: "high", notes: ["b"] }
                      : { severity: "low", notes: [] },
        },
        value: { high: ["data/b.md"], summary: "Fine.", count: 2 },
    },
    "strings.as": {
        setting: {},
        value: { text: 'line one\n  line two // not a comment\nsingle "double" insideit\'s "quoted" \\ \t|', same: true, d: "" },
    },
    "chains.as": { setting: {}, value: [["a", { k: [1, 2, 3] }, -1], { deep: { list: [3], total: 14 } }, 3] },
    "http.as": {
        setting: { input: { id: 7 }, env: { API_USER: "me" } },
        value: {
            ok: true,
            status: 200,
            name: "one",
            user: "me",
            made: { got: { id: 7, tags: ["a"] } },
            body: '{"got":{"id":7,"tags":["a"]}}',
            missing: 404,
            missing_ok: false,
            text: "no such page",
            json: null,
        },
    },
    "node-tools.as": {
        setting: {},
        value: { joined: join("b", "c.txt"), base: "c", parsed: { a: 1 }, dumped: '{"x":[1,true,null]}', lib: 42 },
    },
    "files.as": {
        setting: {},
        value: {
            before: { ok: true, entries: ["a.txt", "b.md"] },
            action: "write",
            undoable: true,
            existed: false,
            tool: "F",
            range: { ok: true, text: "2", start: 2, end: 2 },
            found: ["rubric.txt", "data/a.txt", "data/new.txt"],
            undone: true,
            after: "one\ntwo\nthree\n",
            left: ["a.txt", "b.md"],
            u2: true,
        },
    },
    "classify.as": {
        setting: {
            input: {
                tickets: [
                    { id: 1, title: "crash" },
                    { id: 2, title: "how" },
                    { id: 3, title: "hm" },
                ],
            },
            replies: [
                { kind: "bug", confidence: "0.9", tags: [] },
                { kind: "question", confidence: 1, tags: ["x"] },
                { kind: "?" },
                { kind: "other", confidence: 0, tags: [] },
            ],
        },
        value: { bug: [1], question: [2], other: [3] },
    },
    "debate.as": {
        setting: { input: { topic: "tea" }, replies: ["p1", "c1", "p2", "c2", { winner: "pro", margin: "1" }] },
        value: { winner: "pro", margin: 1, turns: 4 },
        more: ({ prompts }) => {
            expect(prompts.map((prompt) => prompt.items.map((item) => item.heading).join())).toEqual([
                "motion,transcript",
                "motion,transcript",
                "motion,transcript",
                "motion,transcript",
                "transcript",
            ]);
            expect(prompts.map((prompt) => prompt.identity.role)).toEqual([
                "the proponent",
                "the opponent",
                "the proponent",
                "the opponent",
                "the judge",
            ]);
        },
    },
    "pipeline.as": {
        setting: {
            input: { texts: ["Ann, 30", "?, 200", "Bob"] },
            replies: [
                { name: "Ann", age: "30", extra: null },
                { name: "", age: 200, extra: {} },
                "no idea",
                { name: "Bob", age: 5, extra: ["x"] },
            ],
        },
        value: {
            people: [
                { name: "Ann", age: 30, extra: null },
                { name: "Bob", age: 5, extra: ["x"] },
            ],
            rejected: 1,
        },
    },
};

describe("programs in the current spelling", () => {
    test.each(Object.keys(CASES))("%s", async (name) => {
        const { setting, value, prompts, warnings = [], more } = CASES[name] as Case;
        const played = await play(text(name).replaceAll("127.0.0.1:PORT", base), { ...setting, name, files: shared, trust: true });
        expect({ codes: played.codes, failure: played.failure }).toEqual({ codes: [], failure: undefined });
        expect(played.value).toEqual(value);
        if (prompts !== undefined)
            expect(played.prompts.map((prompt) => prompt.items.map((item) => `${item.heading}|${item.source}|${item.text}`))).toEqual(
                prompts,
            );
        expect([...new Set(played.warnings)]).toEqual(warnings);
        more?.(played);
    });

    test("every program has its case", () => {
        expect(Object.keys(CASES).sort()).toEqual(
            readdirSync(FOLDER)
                .filter((name) => name.endsWith(".as"))
                .sort(),
        );
    });
});

/** Those that end under a model which answers with zero values, and need nobody else. */
const MOCKED: { readonly [name: string]: Json } = {
    "plan-execute.as": { report: null, done: 0 } as Json,
    "multi.as": { rounds: 3, draft: null } as Json,
    "variants.as": [null, null],
    "parallel-review.as": { high: [], summary: null, count: 2 },
    "classify.as": { bug: [], question: [], other: [1] },
    "debate.as": { winner: "", margin: 0, turns: 4 },
    "pipeline.as": { people: [], rejected: 1 },
};

describe("row 39 and 1.15: with mock:", () => {
    test.each(Object.keys(MOCKED))("%s", async (name) => {
        const folder = folderWith({ ...shared, [name]: text(name).replace('\\n" + report', '\\n"') });
        const inputs: { readonly [name: string]: Json } = {
            "classify.as": { tickets: [{ id: 1, title: "t" }] },
            "pipeline.as": { texts: ["x"] },
        };
        const input = inputs[name] ?? (CASES[name]?.setting.input as Json) ?? {};
        const program = await load<Json, Json>(join(folder, name), {
            root: folder,
            workspace: folder,
            cache: false,
            model: "mock:",
            folders: { config: join(folder, ".remit") },
            env: {},
            trust: true,
        });
        try {
            const value = await program(input);
            expect(value).toMatchObject(MOCKED[name] as object);
        } finally {
            await program.close();
        }
    });
});
