/** English of messages: articles and amounts. */
import { expect, test } from "vitest";
import { amountOf, withArticle } from "../src/index.ts";

test.each([
    [0, "0 steps"],
    [1, "1 step"],
    [2, "2 steps"],
    [1.5, "1.5 steps"],
])("%d of something", (n, text) => expect(amountOf(n, "step")).toBe(text));

test("an amount of what has its own plural, and articles", () => {
    expect(amountOf(2, "entry", "entries")).toBe("2 entries");
    expect(["tool", "agent", "llm", "mcp server"].map(withArticle)).toEqual(["a tool", "an agent", "an llm", "an mcp server"]);
});
