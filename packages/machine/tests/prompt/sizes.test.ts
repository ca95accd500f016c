/** Sizes that are not those of a text of the program: files in budgets, and results of tools in the conversation with a model. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type FitItem, startFit } from "../../src/prompt/budget.ts";
import { fileSize } from "../../src/prompt/image.ts";
import { RESULT_LIMIT, shownResult } from "../../src/prompt/shown.ts";
import { runtime } from "../builtin/support.ts";
import { drive, inOrder, ok, setup, text } from "./support.ts";

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const picture = { source: "shot", label: "shot", value: PNG, image: true };
const words = { source: "log", label: "log", value: "one two three" };
const chars = (amount: number) => ({ amount, unit: "chars" as const, text: `${amount} chars` });
const tokens = (amount: number) => ({ amount, unit: "tokens" as const, text: `${amount} tokens` });

function shownOf(given: Parameters<typeof setup>[0], counts: number[][] = []): { shown: Json[]; files: Json[]; parts: string[] } {
    const outcomes = counts.map((totals) => ok({ tokenizer: "words", items: totals.map((total) => ({ fits: 0, tokens: total, total })) }));
    const ran = drive(setup(given), runtime(), inOrder(...outcomes, text("x")));
    const started = ran.events.find((event) => event.kind === "generate.started");
    const { items } = (started ?? { data: { items: [] } }).data as { items: Record<string, Json>[] };
    const user = ran.turns[0]?.messages.find((message) => message.role === "user");
    return {
        shown: items.map((item) => item.shown as Json),
        files: items.map((item) => item.file ?? null),
        parts: user?.role === "user" ? user.content.map((part) => part.type) : [],
    };
}

describe("files in budgets", () => {
    test("a picture counts 1,600 tokens, another file a token for each four bytes, and four characters a token", () => {
        expect(fileSize({ mediaType: "image/png", data: "AAAA" }, "tokens")).toBe(1600);
        expect(fileSize({ mediaType: "image/png", data: "A".repeat(1_000_000) }, "chars")).toBe(6400);
        expect(fileSize({ mediaType: "application/pdf", data: "A".repeat(4000) }, "tokens")).toBe(750);
        expect(fileSize({ mediaType: "application/pdf", data: "A".repeat(4000) }, "chars")).toBe(3000);
    });
    test("a total in characters counts it: it leaves where there is no room", () => {
        expect(shownOf({ items: [words, picture], contextMax: chars(8000) }).shown).toEqual([true, true]);
        const tight = shownOf({ items: [words, picture], contextMax: chars(3000) });
        expect(tight.shown).toEqual([true, false]);
        expect(tight.parts).toEqual(["text"]);
    });
    test("a total in tokens counts it", () => {
        // opening; block and frame of the text; block and frame of the picture
        const counts = [[20, 10, 5, 8, 8]];
        expect(shownOf({ items: [words, picture], contextMax: tokens(1700) }, counts).shown).toEqual([true, true]);
        expect(shownOf({ items: [words, picture], contextMax: tokens(1600) }, counts).shown).toEqual([true, false]);
    });
    test("one that is larger than its own budget leaves, also in tokens, without a count", () => {
        expect(shownOf({ items: [{ ...picture, budget: chars(6399) }] }).shown).toEqual([false]);
        expect(shownOf({ items: [{ ...picture, budget: chars(6400) }] }).shown).toEqual([true]);
        expect(shownOf({ items: [{ ...picture, budget: tokens(1599) }] }).shown).toEqual([false]);
        expect(shownOf({ items: [{ ...picture, budget: tokens(1600) }] }).shown).toEqual([true]);
    });
    test("the ledger shows the estimate", () =>
        expect(shownOf({ items: [picture] }).files).toEqual([{ media_type: "image/png", base64_length: 12, tokens: 1600 }]));
    test("an item that is not shown is not counted", () => {
        const fit = startFit(
            [{ file: { mediaType: "image/png", data: "" }, shown: false, budget: chars(1) } as unknown as FitItem],
            undefined,
        );
        expect(fit.items[0]?.strategy).toBeUndefined();
    });
});

describe("results of tools", () => {
    test("what is within the limit is shown as it is", () => {
        for (const value of [null, 1, "x".repeat(RESULT_LIMIT), { a: [1, "two"] }] as Json[])
            expect(shownResult(value)).toEqual({ result: value, files: [] });
    });
    test("a longer text is cut with a line that says so", () => {
        expect(shownResult("abcdef", 4)).toEqual({
            files: [],
            result: "abcd\n[cut here: 4 of 6 characters are shown]",
            cut: { limit: 4, original_size: 6, clipped_size: 4 },
        });
    });
    test("a longer value is shown as the beginning of its JSON", () => {
        expect(shownResult({ rows: [1, 2, 3] }, 10).result).toBe('{"rows":[1\n[cut here: 10 of 16 characters are shown]');
    });
    const DATA = "iVBORw0KGgoAAAAA";
    const LINE = "image/png, 12 bytes";
    test("a picture follows its result, wherever it stands as one; what is no picture stays", () => {
        const picture = { type: "image", mimeType: "image/png", data: DATA };
        const files = [{ mediaType: "image/png", data: DATA, optional: true }];
        const said = { type: "text", text: `[picture 1: ${LINE}; it follows]` };
        expect(shownResult([{ type: "text", text: "a" }, picture])).toEqual({ result: [{ type: "text", text: "a" }, said], files });
        expect(shownResult({ ok: true, content: [picture] })).toEqual({ result: { ok: true, content: [said] }, files });
        expect(shownResult({ ok: true, media_type: "image/png", data: DATA })).toEqual({
            result: { ok: true, media_type: "image/png", data: `[picture 1: ${LINE}; it follows]` },
            files,
        });
        for (const value of [[{ ...picture, mimeType: "text/html" }], [{ ...picture, data: "<b>" }], { a: [picture] }] as Json[])
            expect(shownResult(value)).toEqual({ result: value, files: [] });
        const many = shownResult(Array.from({ length: 9 }, () => picture));
        expect(many.files).toHaveLength(8);
        expect((many.result as Json[])[8]).toEqual({
            type: "text",
            text: `[a picture was left out: ${LINE}; 8 are shown of one result]`,
        });
    });
    test("a character is never split", () => {
        expect(shownResult("ab😀", 3).result).toBe("ab\n[cut here: 2 of 4 characters are shown]");
    });
});
