/** Counting tokens and cutting to so many. */
import type { CountReply, ModelCount } from "@remit/machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createModels } from "../../src/model/models.ts";
import { countItems, encodingOf, tokenizerOf } from "../../src/model/tokens.ts";
import { effectOf, quiet } from "./setup.ts";

const tokenizer = await tokenizerOf("gpt-4o");
const count = (item: ModelCount["items"][number]): CountReply["items"][number] =>
    countItems({ op: "count", model: { name: "L", uri: "" }, items: [item] }, tokenizer).items[0] as CountReply["items"][number];

describe("tokens", () => {
    it("says which tokenizer counted", async () => {
        expect(encodingOf("gpt-4")).toEqual({ encoding: "cl100k_base", exact: true });
        expect(encodingOf("claude-sonnet-4-5")).toEqual({ encoding: "o200k_base", exact: false });
        const models = createModels({ env: { REMIT_MODEL: "anthropic://claude-sonnet-4-5" } });
        const request: ModelCount = {
            op: "count",
            model: { name: "L", uri: "openai://gpt-4o" },
            items: [{ pieces: ["hello world"], whole: false, max: 9, keep: "start" }],
        };
        expect(await models.perform(effectOf(request), quiet())).toEqual({
            ok: true,
            value: { tokenizer: "o200k_base (nearest known)", items: [{ fits: 11, tokens: 2, total: 2 }] },
            origins: [],
        });
    });

    it("keeps the start or the end", () => {
        expect(count({ pieces: ["one two three four"], whole: false, max: 2, keep: "start" })).toMatchObject({
            fits: 7,
            tokens: 2,
            total: 4,
        });
        expect(count({ pieces: ["one two three four"], whole: false, max: 2, keep: "end" })).toMatchObject({ fits: 11, tokens: 2 });
        expect(count({ pieces: ["aa ", "bb ", "cc "], whole: true, max: 3, keep: "start" }).fits).toBeLessThan(3);
        expect(count({ pieces: ["aa", "bb"], whole: true, max: 0, keep: "end" })).toMatchObject({ fits: 0, tokens: 0 });
        expect(count({ pieces: [], whole: true, max: 5, keep: "start" })).toEqual({ fits: 0, tokens: 0, total: 0 });
    });

    it("special marks in data are text", () => {
        expect(count({ pieces: ["a <|endoftext|> b"], whole: false, max: 100, keep: "start" }).total).toBeGreaterThan(4);
    });

    it("never keeps more than allowed and never cuts a character", () => {
        const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 200 }), fc.string({ unit: "grapheme-composite", maxLength: 60 }));
        fc.assert(
            fc.property(text, fc.nat(40), fc.constantFrom("start", "end"), (whole, max, keep) => {
                const { fits, tokens, total } = count({ pieces: [whole], whole: false, max, keep });
                const kept = keep === "start" ? whole.slice(0, fits) : whole.slice(whole.length - fits);
                expect(tokenizer.count(kept)).toBe(tokens);
                expect(tokens).toBeLessThanOrEqual(max);
                if (total <= max) expect(fits).toBe(whole.length);
                expect(kept.isWellFormed()).toBe(whole.isWellFormed() || kept.isWellFormed());
                if (whole.isWellFormed()) expect(kept.isWellFormed()).toBe(true);
            }),
            { numRuns: 300 },
        );
    });

    it("pieces are kept whole, as many as fit", () => {
        fc.assert(
            fc.property(
                fc.array(fc.string({ maxLength: 20 }), { maxLength: 20 }),
                fc.nat(40),
                fc.constantFrom("start", "end"),
                (pieces, max, keep) => {
                    const { fits, tokens } = count({ pieces, whole: true, max, keep });
                    expect(tokens).toBeLessThanOrEqual(max);
                    expect(fits).toBeLessThanOrEqual(pieces.length);
                },
            ),
            { numRuns: 200 },
        );
    });

    it("a run without a break costs no more than its length", () => {
        expect(count({ pieces: ["a".repeat(200_000)], whole: false, max: 100, keep: "end" }).tokens).toBeLessThanOrEqual(100);
    });
});
