/** Rendering and clipping: the vectors of AgentScript, and that nothing ever exceeds its budget. */
import type { BudgetForm, Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FitItem, continueFit, countsOf, shownItems, startFit } from "../../src/prompt/budget.ts";
import { clipChars, clipTokens, countItems, type Keep } from "../../src/prompt/clip.ts";
import { contextSize, fenceTag, itemText, itemTexts, messagesOf, type ShownItem } from "../../src/prompt/layers.ts";
import { bodyOf, originsOf, renderValue, sizeOf, textOf } from "../../src/prompt/render.ts";
import { failure, labelled, list, object, runtime, TOOL, value } from "../builtin/support.ts";

const rt = runtime();
const body = (json: Json) => bodyOf(value(rt, json), rt);
const clip = (json: Json, max: number, keep?: Keep): string => textOf(clipChars(body(json), max, keep).body);
const json = fc.jsonValue({ maxDepth: 3 }).map((given) => JSON.parse(JSON.stringify(given)) as Json);
const text = fc.string({ unit: "binary", maxLength: 60 });

describe("rendering", () => {
    test.each<readonly [Json, string]>([
        ['as it is\n"', 'as it is\n"'],
        [null, "null"],
        [1.5, "1.5"],
        [true, "true"],
        [[], "[]"],
        [{}, "{}"],
        [[1, { a: [], b: "x" }], '[\n  1,\n  {\n    "a": [],\n    "b": "x"\n  }\n]'],
    ])("%j", (given, shown) => {
        expect(renderValue(value(rt, given), rt).text).toBe(shown);
        expect(textOf(body(given))).toBe(shown);
    });

    test("keys stand in the order in which they came, numbers too", () => {
        expect(
            renderValue(
                rt.heap.object([
                    ["b", 1],
                    ["2", 1],
                    ["1", 1],
                ]),
                rt,
            ).text,
        ).toBe('{\n  "b": 1,\n  "2": 1,\n  "1": 1\n}');
    });

    test("is JSON indented by two spaces, in one piece and in pieces", () => {
        fc.assert(
            fc.property(json, (given) => {
                const shown = typeof given === "string" ? given : JSON.stringify(given, null, 2);
                expect(renderValue(value(rt, given), rt).text).toBe(shown);
                expect(textOf(body(given))).toBe(shown);
                expect(sizeOf(body(given))).toBe(shown.length);
            }),
        );
    });

    test("collects the origins of what it shows", () => {
        const fresh = runtime();
        const given = labelled(
            fresh,
            object(fresh, { a: labelled(fresh, 1, "tool:A"), b: list(fresh, labelled(fresh, "x", "tool:B")) }),
            "user",
        );
        expect(originsOf(bodyOf(given, fresh))).toEqual(["tool:A", "tool:B", "user"]);
        expect(fresh.labels.origins(renderValue(given, fresh).labels)).toEqual(["tool:A", "tool:B", "user"]);
    });

    test("refuses capabilities, cycles, depth and size", () => {
        const self = list(rt);
        self.items.push(self);
        let deep = list(rt);
        for (let n = 0; n < 600; n++) deep = list(rt, deep);
        let wide = list(rt, "x");
        for (let n = 0; n < 40; n++) wide = list(rt, wide, wide);
        const short = runtime(100_000);
        for (const render of [renderValue, bodyOf]) {
            expect(failure(() => render(list(rt, TOOL), rt))).toBe("violation.capability: Mail is a tool, which is never data");
            expect(failure(() => render(TOOL, rt))).toBe("violation.capability: Mail is a tool, which is never data");
            expect(failure(() => render(self, rt))).toBe("value: this value contains itself");
            expect(failure(() => render(deep, rt))).toBe("value: this value is nested more than 500 deep");
            expect(failure(() => render(wide, short))).toBe("limit.bytes: more than 100000 bytes");
        }
    });
});

describe("vectors", () => {
    test.each<readonly [Json, number, string]>([
        [["alpha", "beta", "gamma"], 25, '[\n  "alpha",\n  "beta"\n]'],
        [{ first: "alpha", second: "beta" }, 25, '{\n  "first": "alpha"\n}'],
        ["abcdefghijklmnopqrstuvwxyz", 5, "abcde"],
        [["alpha", "beta"], 22, '[\n  "alpha"\n]'],
        [["alpha", "beta"], 5, "[]"],
        [{ a: 1 }, 3, "{}"],
        [["alpha"], 1, ""],
        [[], 1, ""],
        [12345, 3, ""],
        [true, 3, ""],
        ["ab", 2, "ab"],
        ["a🦊b", 2, "a"],
        ["a🦊b", 3, "a🦊"],
        ["🦊", 1, ""],
        ["abc", 2.9, "ab"],
    ])("%j at %d", (given, max, shown) => expect(clip(given, max)).toBe(shown));

    test.each<readonly [Json, number, string]>([
        [["alpha", "beta", "gamma"], 25, '[\n  "beta",\n  "gamma"\n]'],
        ["abcdef", 3, "def"],
        ["a🦊b", 2, "b"],
        ["a🦊b", 3, "🦊b"],
        [{ a: 1, b: 2 }, 12, '{\n  "b": 2\n}'],
    ])("keep end: %j at %d", (given, max, shown) => expect(clip(given, max, "end")).toBe(shown));

    test("sizes and strategies", () => {
        const report = (given: Json, max: number, keep?: Keep) => {
            const { body: _, ...rest } = clipChars(body(given), max, keep);
            return rest;
        };
        expect(report("abcdefghijklmnopqrstuvwxyz", 5)).toEqual({ clipped: true, original_size: 26, clipped_size: 5, strategy: "start" });
        expect(report("abc", 5, "end")).toEqual({ clipped: false, original_size: 3, clipped_size: 3, strategy: "whole" });
        expect(report([1, 2], 5, "end")).toEqual({ clipped: true, original_size: 12, clipped_size: 2, strategy: "end" });
        expect(report(12345, 2)).toEqual({ clipped: true, original_size: 5, clipped_size: 0, strategy: "dropped" });
    });

    test("what was cut leaves its origins behind", () => {
        const fresh = runtime();
        const given = labelled(fresh, list(fresh, labelled(fresh, "alpha", "tool:A"), labelled(fresh, "beta", "tool:B")), "user");
        expect(originsOf(clipChars(bodyOf(given, fresh), 15).body)).toEqual(["tool:A", "user"]);
        expect(originsOf(clipChars(bodyOf(given, fresh), 15, "end").body)).toEqual(["tool:B", "user"]);
        expect(originsOf(clipChars(bodyOf(given, fresh), 1).body)).toEqual([]);
    });
});

const isWhole = (part: string, of: string): boolean => Array.from(of).join(" ").includes(Array.from(part).join(" "));

describe("budgets", () => {
    test("in characters are never exceeded, and what is kept is whole", () => {
        fc.assert(
            fc.property(fc.oneof(json, text), fc.nat(80), fc.constantFrom<Keep>("start", "end"), (given, max, keep) => {
                const whole = textOf(body(given));
                const made = clipChars(body(given), max, keep);
                const shown = textOf(made.body);
                expect(shown.length).toBeLessThanOrEqual(Math.max(max, 0));
                expect(made.clipped_size).toBe(made.strategy === "dropped" ? 0 : shown.length);
                expect(made.original_size).toBe(whole.length);
                if (whole.length <= max) expect(shown).toBe(whole);
                else if (typeof given === "string") {
                    expect(keep === "end" ? whole.endsWith(shown) : whole.startsWith(shown)).toBe(true);
                    expect(isWhole(shown, whole)).toBe(true);
                    expect(shown.length).toBeGreaterThanOrEqual(max - 1);
                } else if (shown !== "") {
                    const kept = JSON.parse(shown) as Json[] | Record<string, Json>;
                    const [all, some] = [Object.entries(given as object), Object.entries(kept)].map((entries) =>
                        entries.map(([k, v]) => JSON.stringify(Array.isArray(given) ? v : [k, v])),
                    );
                    expect(
                        keep === "end"
                            ? (all as string[]).slice((all as string[]).length - (some as string[]).length)
                            : (all as string[]).slice(0, (some as string[]).length),
                    ).toEqual(some);
                }
            }),
            { numRuns: 500 },
        );
    });

    test("in tokens are never exceeded", () => {
        fc.assert(
            fc.property(fc.oneof(json, text), fc.nat(30), fc.constantFrom<Keep>("start", "end"), (given, max, keep) => {
                const of = body(given);
                const made = clipTokens(of, max, count(countItems(of, max, keep)), keep);
                const shown = textOf(made.body);
                expect(tokens(shown)).toBeLessThanOrEqual(max);
                expect(made.clipped_size).toBeLessThanOrEqual(max);
                if (tokens(textOf(of)) <= max) expect(shown).toBe(textOf(of));
            }),
            { numRuns: 500 },
        );
    });

    test("a count that lies cannot split a character or reach beyond the text", () => {
        for (const fits of [-1, 1.7, 2, 99, Number.NaN, Number.POSITIVE_INFINITY]) {
            const made = clipTokens(body("a🦊b"), 1, [{ fits, tokens: 1, total: 9 }]);
            expect(["", "a", "a🦊b"]).toContain(textOf(made.body));
        }
    });
});

/** A tokenizer of at most three UTF-16 units a token, words and spaces apart. */
function tokens(of: string): number {
    return (of.match(/\w{1,3}|\s+|[^\w\s]/g) ?? []).length;
}

function count(items: ReturnType<typeof countItems>): { fits: number; tokens: number; total: number }[] {
    return items.map(({ pieces, whole, max, keep }) => {
        const total = tokens(pieces.join(""));
        const part = (n: number): string => {
            if (!whole)
                return keep === "end" ? (pieces[0] as string).slice((pieces[0] as string).length - n) : (pieces[0] as string).slice(0, n);
            return (keep === "end" ? pieces.slice(pieces.length - n) : pieces.slice(0, n)).join("");
        };
        let fits = 0;
        const most = whole ? pieces.length : (pieces[0] as string).length;
        for (let n = 1; n <= most; n++) if (tokens(part(n)) <= max) fits = n;
        return { fits, tokens: tokens(part(fits)), total };
    });
}

describe("fences", () => {
    test("the mark never occurs in the text, whatever the text tries", () => {
        fc.assert(
            fc.property(text, fc.nat(20), (given, rounds) => {
                let forged = given;
                for (let n = 0; n < rounds; n++) forged += `\n</${fenceTag(forged)}>`;
                const tag = fenceTag(forged);
                expect(forged.toLowerCase()).not.toContain(tag.slice("item-".length));
                const shown = itemText({ heading: "x", source: "y", text: forged });
                expect(shown.split(`</${tag}>`)).toHaveLength(2);
            }),
        );
    });

    test("a text with a million marks in it has one of its own", () => {
        let all = "";
        for (let n = 0; n < 1_000_000; n++) all += n.toString(16).padStart(6, "0");
        expect(all).not.toContain(fenceTag(all).slice("item-".length));
    });

    test("LAY2: no two items share one, and none depends on what follows", () => {
        const items = ["Q", "Q", "", "", "Q"].map((text, at) => ({ heading: `${at}`, source: "x", text }));
        const texts = itemTexts(items);
        expect(new Set(texts.map((one) => /<\/(item-[0-9a-f]+)>$/.exec(one)?.[1])).size).toBe(items.length);
        expect(texts.slice(0, 2)).toEqual(itemTexts(items.slice(0, 2)));
        expect(texts[0]).toBe(itemText(items[0] as ShownItem));
        const [, user] = messagesOf({ role: "r", description: "d", items, instruction: "i" });
        for (const text of texts) expect(JSON.stringify(user)).toContain(JSON.stringify(text).slice(1, -1));
    });

    test("a heading takes one line", () => {
        expect(itemText({ heading: "a\n</item>\u2028b", source: "x\r\ny", text: "" }).split("\n")).toHaveLength(5);
    });
});

describe("the total", () => {
    const item = (index: number, given: Json, more: Partial<FitItem> = {}): FitItem => {
        const made = body(given);
        const size = sizeOf(made);
        return {
            index,
            heading: String(index),
            source: `x${index}`,
            label: null,
            priority: 0,
            body: made,
            clipped: false,
            original_size: size,
            clipped_size: size,
            strategy: "whole",
            shown: true,
            ...more,
        };
    };
    const max = (amount: number, unit: "chars" | "tokens" = "chars"): BudgetForm => ({ amount, unit, text: String(amount) });
    const shown = (items: readonly FitItem[]): string[] => items.map((one) => (one.shown ? textOf(one.body) : "(gone)"));

    test("the item of lowest priority gives way first, among equals the last, one partly", () => {
        const items = [item(0, "a".repeat(50)), item(1, "b".repeat(50), { priority: 2 }), item(2, "c".repeat(50))];
        const size = contextSize(shownItems(items));
        expect(shown(startFit(items, max(size)).items)).toEqual(items.map((one) => textOf(one.body)));
        expect(shown(startFit(items, max(size - 10)).items)).toEqual(["a".repeat(50), "b".repeat(50), "c".repeat(40)]);
        const fit = startFit(items, max(size - 120)).items;
        expect(shown(fit)[2]).toBe("(gone)");
        expect(shown(fit)[0]).toMatch(/^a+$/);
        expect(shown(fit)[1]).toBe("b".repeat(50));
        expect(shown(startFit(items, max(10)).items)).toEqual(["(gone)", "(gone)", "(gone)"]);
    });

    test("an item that fits into the tokens that are left is not called cut", () => {
        const items = [item(0, "small one")];
        const totals = [20, 30, 10].map((total) => ({ fits: 0, tokens: total, total }));
        const last = continueFit(startFit(items, max(45, "tokens")), totals);
        expect(last).toMatchObject({ stage: "last", last: { at: 0, room: 15 } });
        const asked = countsOf(last) ?? [];
        expect(
            continueFit(
                last,
                asked.map(() => ({ fits: 1, tokens: 14, total: 14 })),
            ).items,
        ).toEqual(items);
    });

    const items = fc
        .array(
            fc.tuple(
                fc.oneof(json, text),
                fc.nat(3),
                fc.option(fc.nat(60), { nil: undefined }),
                fc.constantFrom("chars" as const, "tokens" as const),
            ),
            { maxLength: 5 },
        )
        .map((given) =>
            given.map(([one, priority, own, unit], at) =>
                item(at, one, { priority, ...(own === undefined ? {} : { budget: max(own + 1, unit) }) }),
            ),
        );

    test("is never exceeded, in characters or tokens, and no item its own", () => {
        fc.assert(
            fc.property(
                items,
                fc.integer({ min: 1, max: 600 }),
                fc.constantFrom("chars" as const, "tokens" as const),
                (given, amount, unit) => {
                    let fit = startFit(given, max(amount, unit));
                    let counts = 0;
                    for (let asked = countsOf(fit); asked !== null; asked = countsOf(fit)) {
                        fit = continueFit(fit, count([...asked]));
                        expect(++counts).toBeLessThanOrEqual(3);
                    }
                    const left = shownItems(fit.items);
                    const layer =
                        left.length === 0
                            ? 0
                            : unit === "chars"
                              ? contextSize(left)
                              : left.reduce((sum, one) => sum + tokens(`\n\n${itemText(one)}`), 0);
                    expect(layer).toBeLessThanOrEqual(amount);
                    for (const one of fit.items)
                        if (one.budget !== undefined)
                            expect(one.budget.unit === "chars" ? sizeOf(one.body) : tokens(textOf(one.body))).toBeLessThanOrEqual(
                                one.budget.amount,
                            );
                },
            ),
            { numRuns: 400 },
        );
    });
});
