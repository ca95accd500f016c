/** Replies with several answers: the last one that counts is read and the drafts before it are named, or nobody chooses. */
import type { Contract, Json } from "@remit/language";
import { describe, expect, it } from "vitest";
import { type ReadResult, readReply } from "../../src/model/reading.ts";

const number: Contract = { type: "number" };
const score: Contract = { type: "object", fields: [{ name: "score", contract: number }] };
const scores: Contract = { type: "list", item: score };
const labels: Contract = { type: "object", fields: [{ name: "labels", contract: { type: "list", item: { type: "string" } } }] };

const A = '{"score": 7}';
const B = '{"score": 42}';
const fence = (text: string, language = "json"): string => `\`\`\`${language}\n${text}\n\`\`\``;

function read(text: string, contract: Contract = score, finish: "stop" | "length" = "stop"): ReadResult {
    return readReply(text, contract, {}, { strict: false, finish });
}
function outcome(result: ReadResult): Json {
    return "error" in result ? result.error.kind : (result.value as { score: number }).score;
}

describe("the last answer counts, the drafts before it are named", () => {
    it.each([
        ["two fences", `${fence(A)}\n\n${fence(B)}`],
        ["two fences with plain words between", `Let me work it out.\n${fence(A)}\nChecking the log once more.\n${fence(B)}`],
        ["two fences called draft and final", `Draft:\n${fence(A)}\nFinal:\n${fence(B)}`],
        ["headings for draft and final", `### Draft\n${fence(A)}\n### Final answer\n${fence(B)}`],
        ["three fences", `${fence(A)}\n${fence('{"score": 9}')}\n${fence(B)}`],
        ["prose, then a fence", `I think of ${A}.\n${fence(B)}`],
        ["a fence, then an answer tag", `${fence(A)}\n<answer>${B}</answer>`],
        ["a fence, then prose called final", `${fence(A)}\nFinal answer: ${B}`],
        ["prose, then prose called a correction", `${A}\nWait, I miscounted. Corrected: ${B}`],
        ["words that take the first one back", `${fence(A)}\nThat was wrong.\n${fence(B)}`],
        ["a final answer that is corrected", `Final answer:\n${fence(A)}\nCorrected final answer:\n${fence(B)}`],
        ["an example of the format first", `For example, the format is ${A}\nFilled in, as the result:\n${fence(B)}`],
        ["a template first", `${fence('{"score": 0}')}\nFilled in, as the result:\n${fence(B)}`],
        ["thinking with another answer", `<think>${A} or so</think>\n${fence(B)}`],
        ["a draft that does not fit", `${fence('{"score": "high"}')}\n${fence(B)}`],
        ["a draft that is broken", `${fence('{"score": }')}\n${fence(B)}`],
    ])("%s", (_name, text) => {
        const result = read(text);
        expect(outcome(result)).toBe(42);
        const repairs = "reading" in result ? result.reading.repairs.join("\n") : "";
        if (!text.startsWith("<think>")) expect(repairs).toContain("passed over an earlier");
    });
    it("names each draft once, with its value", () => {
        const result = read(`${fence(A)}\n${fence(A)}\n${fence(B)}`);
        expect(result).toMatchObject({ reading: { repairs: ['passed over an earlier draft: {"score":7}'] } });
    });
    it("two equal answers need no word", () => {
        expect(read(`${fence(B)}\nSo the answer is:\n${fence(' { "score" : 42 } ')}`)).toMatchObject({
            value: { score: 42 },
            reading: { repairs: [] },
        });
        expect(outcome(read(`${B}\n\n${B}`))).toBe(42);
    });
});

describe("nobody chooses", () => {
    it.each([
        ["an example of the format after the answer", `${fence(B)}\nHere is an example of the format:\n${fence(A)}`],
        ["an example two sentences before", `${fence(B)}\nBelow is an example. I hope it helps:\n${fence(A)}`],
        ["a wrong answer for comparison", `${fence(B)}\nFor comparison, a wrong answer would be:\n${fence(A)}`],
        ["what the final answer would not be", `${fence(B)}\nThe final answer would not be:\n${fence(A)}`],
        ["the version before a correction", `${fence(B)}\nIn the previous version, before the correction, it was:\n${fence(A)}`],
        ["the final answer first, another fence after it", `Final answer:\n${fence(B)}\nThe input was:\n${fence(A)}`],
        ["an answer tag, then a fence", `<answer>${B}</answer>\n${fence(A)}`],
        ["an answer tag, then prose", `<answer>${B}</answer>\nThat is ${A} doubled.`],
        ["two answer tags", `<answer>${B}</answer>\n<answer>${A}</answer>`],
        ["a fence, then prose", `${fence(B)}\nI took it from ${A}.`],
        ["two that are both called final", `Final answer: ${B}\nFinal answer: ${A}`],
        ["a use of it after the answer", `${fence(B)}\nUsage:\n${fence(A)}`],
        ["a request after the answer", `${fence(B)}\nYou can call the API with:\n${fence(A)}`],
        ["input after output", `Output:\n${fence(B)}\nInput:\n${fence(A)}`],
        ["data after the answer", `The answer is:\n${fence(B)}\nData:\n${fence(A)}`],
        ["what is less likely", `${fence(B)}\nLess likely:\n${fence(A)}`],
        ["what somebody said", `${fence(B)}\nThe user said:\n${fence(A)}`],
        ["a response of a server", `${fence(B)}\nThe server's response:\n${fence(A)}`],
        ["expected and actual", `Expected:\n${fence(B)}\nActual:\n${fence(A)}`],
        ["a statement and a use of it", `It is ${B}.\nUsage:\n${fence(A)}`],
        ["an alternative", `${fence(B)}\nAlternatively:\n${fence(A)}`],
        ["or", `${fence(B)}\nor\n${fence(A)}`],
        ["options by letter", `Option A:\n${fence(B)}\nOption B:\n${fence(A)}`],
        ["one for each file", `For a.ts:\n${fence(B)}\nFor b.ts:\n${fence(A)}`],
        ["one for each name in bold", `**a.ts**\n${fence(B)}\n**b.ts**\n${fence(A)}`],
        ["numbered answers", `1. ${B}\n2. ${A}`],
        ["sentences that begin alike", `Severity of a.ts:\n${fence(B)}\nSeverity of b.ts:\n${fence(A)}`],
        ["two in one fence", fence(`${B}\n${A}`)],
        ["two lines of JSON", `${B}\n${A}`],
        ["two in prose", `It is ${B} and later ${A} again.`],
        ["taken back after the last", `${fence(A)}\n${fence(B)}\nThe above is only an example.`],
        ["not yet final", `${fence(B)}\nThis is not the final answer yet.`],
    ])("%s", (_name, text) => {
        expect(outcome(read(text))).toBe("ambiguous");
    });
    it("the parts of a list cannot be told from its drafts", () => {
        expect(outcome(read(`${fence(`[${A}]`)}\n${fence(`[${B}]`)}`, scores))).toBe("ambiguous");
        expect(outcome(read(`${fence(A)}\nThen:\n${fence(B)}`, scores))).toBe("ambiguous");
        expect(outcome(read(`${fence('{"labels": ["a"]}')}\n${fence('{"labels": ["b"]}')}`, labels))).toBe("ambiguous");
        expect(read(`Draft:\n${fence(`[${A}]`)}\nFinal:\n${fence(`[${B}]`)}`, scores)).toMatchObject({ value: [{ score: 42 }] });
    });
});

describe("a draft never stands in for an answer that failed", () => {
    it.each([
        ["cut off in the second fence", `${fence(A)}\nFinal:\n\`\`\`json\n{"score": 4`, "stop", "truncated"],
        ["cut off in the second fence, by its provider's word", `${fence(A)}\n\`\`\`json\n{"sco`, "length", "truncated"],
        ["cut off at the brace of the second", `${fence(A)}\n\`\`\`json\n{`, "stop", "truncated"],
        ["cut off before the second began", `${fence(A)}\nThat was wrong.\n\`\`\`json\n`, "stop", "truncated"],
        ["the second does not fit", `${fence(A)}\n${fence('{"score": "high"}')}`, "stop", "shape"],
        ["the second is wrong by its words and does not fit", `${A}\nThat is wrong, it should be {"score": "high"}`, "stop", "shape"],
        ["the second is broken", `${fence(A)}\n${fence('{"score": ~}')}`, "stop", "shape"],
        ["an answer in thinking, none outside", `<think>${B}</think>`, "stop", "empty"],
        ["an answer in thinking, words outside", `<think>${B}</think>\nDone, see above.`, "stop", "not_json"],
        ["an answer in thinking, another form outside", `<think>${B}</think>\n${fence('{"points": 42}')}`, "stop", "shape"],
        ["an answer, then thinking that never ends with another", `${A}\n<think>perhaps ${B}`, "stop", "ambiguous"],
    ] as const)("%s", (_name, text, finish, kind) => {
        expect(outcome(read(text, score, finish))).toBe(kind);
    });
});
