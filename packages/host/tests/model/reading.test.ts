/** Reading of replies: what holds for every text, and single cases with a story. */
import type { Contract, Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ReadOptions, readReply } from "../../src/model/reading.ts";
import { lay, LAYOUTS, SUBJECTS } from "./faults.ts";

const string: Contract = { type: "string" };
const number: Contract = { type: "number" };
const object = (fields: { readonly [name: string]: Contract }): Contract => ({
    type: "object",
    fields: Object.entries(fields).map(([name, contract]) => ({ name, contract })),
});

function read(text: string, contract: Contract, options: Partial<ReadOptions> = {}): Json {
    const result = readReply(text, contract, {}, { strict: false, ...options });
    return "error" in result ? `${result.error.kind}` : result.value;
}

/** Texts that are expensive to read badly. */
const HOSTILE = [
    "[",
    "{",
    '"',
    "`",
    '{"',
    '["',
    '{"a":',
    "{'",
    "<think>",
    "<think></think>",
    "</think>",
    "```\n",
    '```json\n{"a":1}\n',
    "[a",
    "{a:",
    '{"a": "x" ',
    "\\",
    '{\\"a\\":',
    "{/*",
    "[//\n",
    "[#",
    "\n",
    "[(",
    "[...",
    ",",
    "[a] ",
    "- a\n",
    "severity: x\n",
    "{“a”: “",
    '", "b ',
    "<answer>",
    "<",
    "{&quot;",
    "~~~\n",
    "1 ",
    "a:",
    "*",
    " ",
    "\ud83d",
    "例え",
    '{"severity":"low"}\n',
    "final draft {}",
];

describe("properties", () => {
    it("no text makes it throw, and the same text is read the same way twice", () => {
        const piece = fc.oneof(
            fc.string(),
            fc.constantFrom(...HOSTILE),
            fc.constantFrom('"severity"', ":", '"high"', "}", "]", "null", "True", "1e999", "..."),
        );
        const contracts = Object.values(SUBJECTS).map((subject) => subject.contract as Contract);
        fc.assert(
            fc.property(
                fc.array(piece, { maxLength: 30 }),
                fc.constantFrom(...contracts, string, number),
                fc.boolean(),
                (pieces, contract, strict) => {
                    const text = pieces.join("");
                    const once = readReply(text, contract, {}, { strict });
                    expect(readReply(text, contract, {}, { strict })).toEqual(once);
                    if ("error" in once) expect(once.error.message).not.toBe("");
                },
            ),
            { numRuns: 1500 },
        );
    });

    it("JSON written well is read as JSON.parse reads it, in every layout, fence or prose", () => {
        const name = fc.string({ minLength: 1, maxLength: 8 });
        const value = fc.letrec<{ value: Json }>((tie) => ({
            value: fc.oneof(
                { maxDepth: 3 },
                fc.constant(null),
                fc.boolean(),
                fc.integer(),
                fc.double({ noNaN: true, noDefaultInfinity: true }),
                fc.string({ unit: "grapheme" }),
                fc.array(tie("value"), { maxLength: 4 }),
                fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
            ),
        })).value;
        const contract = object({ data: { type: "json" } });
        fc.assert(
            fc.property(value, fc.constantFrom(...LAYOUTS), fc.constantFrom("", "```json\n", "Here it is:\n"), (data, layout, before) => {
                fc.pre(!JSON.stringify(data).includes("__proto__") && !/"(?:constructor|prototype)"/.test(JSON.stringify(data)));
                const text = before + lay({ data }, layout) + (before.startsWith("```") ? "\n```" : "");
                expect(read(text, contract)).toEqual(JSON.parse(JSON.stringify({ data })));
            }),
            { numRuns: 500 },
        );
    });

    it("a value that is read holds its contract: what is lost from well-written JSON never goes unnoticed", () => {
        const subject = SUBJECTS.triage;
        const text = JSON.stringify(subject.value);
        fc.assert(
            fc.property(fc.integer({ min: 0, max: text.length }), (at) => {
                const value = read(text.slice(0, at), subject.contract);
                if (typeof value !== "string") expect(value).toEqual(subject.value);
            }),
        );
    });

    it("100 KB of anything is read or refused in time that grows with its length", () => {
        for (const unit of HOSTILE) {
            for (const subject of [SUBJECTS.triage, SUBJECTS.words, SUBJECTS.answer]) {
                const result = readReply(unit.repeat(Math.ceil(100_000 / unit.length)), subject.contract, {}, { strict: false });
                expect(result).toBeTypeOf("object");
            }
        }
    });
});

describe("what is said about a reading", () => {
    const triage = SUBJECTS.triage.contract;
    it("names the place and every repair", () => {
        const text = '```json\n{\'severity\': "HIGH", reason: "x", lines: "3", flaky: False, tags: [],}\n```';
        expect(readReply(text, triage, {}, { strict: false, constrained: true })).toEqual({
            value: { severity: "high", reason: "x", lines: 3, flaky: false, tags: [] },
            reading: {
                from: "fence",
                repairs: [
                    "other quotes read as JSON's",
                    "quotes put around names",
                    "comma before a closing bracket left out",
                    "'HIGH' read as 'high'",
                    "False read as false",
                ],
                constrained: true,
            },
        });
    });
    it("a well-written reply has no repairs", () => {
        expect(readReply('{"ok": 1}', object({ ok: number }), {}, { strict: false })).toEqual({
            value: { ok: 1 },
            reading: { from: "whole reply", repairs: [], constrained: false },
        });
    });
    it("both candidates of an ambiguous reply are shown", () => {
        const result = readReply('{"ok": 1}\n{"ok": 2}', object({ ok: number }), {}, { strict: false });
        expect(result).toMatchObject({ error: { kind: "ambiguous", rejected: [{ ok: 1 }, { ok: 2 }] } });
        expect(JSON.stringify(result)).toContain('{\\"ok\\":1} and {\\"ok\\":2}');
    });
    it("a value of the wrong shape comes back for the next attempt", () => {
        expect(readReply('{"ok": "maybe"}', object({ ok: number }), {}, { strict: false })).toMatchObject({
            error: { kind: "shape", message: expect.stringMatching(/^LLM result field must be a number/), rejected: { ok: "maybe" } },
        });
    });
});

describe("kinds of errors", () => {
    const ok = object({ ok: number, why: string });
    it.each([
        ["", "empty"],
        ["<think>only this</think>", "empty"],
        ["nonsense", "not_json"],
        ['{"ok": 1, "why": "half', "truncated"],
        ["I'm sorry, but I can't help with that.", "refused"],
        ['{"ok": 1}', "shape"],
        ['{"ok": 1, "ok": 2, "why": "x"}', "ambiguous"],
    ])("%j is %s", (text, kind) => {
        expect(read(text, ok)).toBe(kind);
    });
    it("the provider's word decides where there is one", () => {
        expect(read('{"ok": 1, "why": "x"', ok, { finish: "length" })).toBe("truncated");
        expect(read("No.", ok, { finish: "refusal" })).toBe("refused");
    });
});

describe("strict", () => {
    const strict = { strict: true };
    const answer = object({ answer: string });
    it("mends syntax, never shape", () => {
        expect(read("{'answer': 'x',}", answer, strict)).toEqual({ answer: "x" });
        expect(read('Sure:\n```json\n{"answer": "x"}\n```', answer, strict)).toEqual({ answer: "x" });
        expect(read('{"Answer": "x"}', answer, strict)).toBe("shape");
        expect(read('{"result": {"answer": "x"}}', answer, strict)).toBe("shape");
        expect(read("just words", answer, strict)).toBe("not_json");
        expect(read('{"ok": "1"}', object({ ok: number }), strict)).toBe("shape");
        expect(read('{"answer": "x", "more": 1}', answer, strict)).toBe("shape");
    });
});

describe("single cases", () => {
    it("a mark inside a text is text", () => {
        const value = { path: "a.md", patch: '```json\n{}\n```\n<think>x</think> {"a": 1}' };
        expect(read(JSON.stringify(value), SUBJECTS.code.contract)).toEqual(value);
        expect(read(`Done:\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``, SUBJECTS.code.contract)).toEqual(value);
    });
    it("thinking that is never closed, with the answer at its end", () => {
        expect(read('<think>Let me see.\n{"score": 42}', SUBJECTS.score.contract)).toEqual({ score: 42 });
        expect(read('<think>Perhaps {"score": 42}, or more', SUBJECTS.score.contract)).toBe("empty");
    });
    it("thinking that was never opened", () => {
        expect(read('It could be {"score": 7}.\n</think>\n{"score": 42}', SUBJECTS.score.contract)).toEqual({ score: 42 });
    });
    it("the last channel is the answer", () => {
        const text = '<|channel|>analysis<|message|>{"score": 7}?<|end|><|channel|>final<|message|>{"score": 42}';
        expect(read(text, SUBJECTS.score.contract)).toEqual({ score: 42 });
    });
    it("a good draft is not taken where the final answer is broken", () => {
        expect(read('Draft: {"score": 7}\nFinal: {"score": 4', SUBJECTS.score.contract)).toBe("truncated");
        expect(read('Draft: {"score": 7}\nFinal: {"score": "high"}', SUBJECTS.score.contract)).toBe("shape");
    });
    it("other JSON in the prose is no attempt", () => {
        expect(read('The config {"debug": true} is fine.\n{"score": 42}', SUBJECTS.score.contract)).toEqual({ score: 42 });
        expect(read('{"score": 42}\nI read it from {"points": 42, "of": 50}.', SUBJECTS.score.contract)).toEqual({ score: 42 });
    });
    it("what is inside a broken object is not an answer of its own", () => {
        expect(read('{"a": 1, ~ "b": {"score": 3}}', SUBJECTS.score.contract)).toBe("not_json");
    });
    it("names that reach into prototypes are ordinary names that a contract does not take", () => {
        const value = read('{"score": 42, "__proto__": {"x": 1}}', SUBJECTS.score.contract);
        expect(({} as { x?: number }).x).toBeUndefined();
        expect(typeof value === "string" || Object.hasOwn(value as object, "score")).toBe(true);
    });
    it("a contract of a text takes the reply as it is", () => {
        expect(read("Two words.", string)).toBe("Two words.");
        expect(read('"Two words."', string)).toBe("Two words.");
        expect(read("<think>hm</think>\nTwo words.", string)).toBe("Two words.");
        expect(read('{"answer": "Two words."}', string)).toBe("Two words.");
        expect(read("I can't help with that.", string)).toBe("refused");
    });
    it("shapes by name, also ones that hold themselves", () => {
        const tree: Contract = object({ name: string, children: { type: "list", item: { type: "ref", name: "Tree" } } });
        const result = readReply(
            '{"Tree": {"name": "a", "children": [{"name": b, "children": []}]}}',
            { type: "ref", name: "Tree" },
            { Tree: tree },
            { strict: false },
        );
        expect(result).toMatchObject({ value: { name: "a", children: [{ name: "b", children: [] }] } });
    });
    it("a union takes the member that needs no change", () => {
        const union: Contract = { type: "union", of: [string, number] };
        expect(read('{"v": "7"}', object({ v: union }))).toEqual({ v: "7" });
        expect(read('{"v": 7}', object({ v: union }))).toEqual({ v: 7 });
    });
    it.each([
        ['{"verdict": "accept"} // or "reject"', "ambiguous"],
        ["verdict: accept\nverdict: reject", "not_json"],
        ["Verdict: not accept", "not_json"],
    ])("an alternative is no answer: %j", (text, kind) => {
        expect(read(text, SUBJECTS.verdict.contract)).toBe(kind);
    });
    it.each(['{"answer": "a" "b"}', "{'answer': 'a' 'b'}", '{"answer": "a", b", "c": 1}'])(
        "nobody can say where the text ends: %j",
        (text) => {
            expect(read(text, object({ answer: string }))).toBeTypeOf("string");
        },
    );
    it("quotes around the items of a list of lines are not part of them", () => {
        expect(read('- "north"\n- "east"', SUBJECTS.words.contract)).toEqual(["north", "east"]);
    });
    it("integers beyond 2^53 are never rounded", () => {
        expect(read('{"score": 9007199254740991}', SUBJECTS.score.contract)).toEqual({ score: 9007199254740991 });
        expect(read('{"score": 9007199254740993}', SUBJECTS.score.contract)).toBe("not_json");
    });
});
