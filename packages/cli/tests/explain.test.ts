/** `remit explain`: all that a prompt is made of, before a run and after it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeAll(() => {
    at = room();
});
afterAll(() => at.clear());

test("a file's prompts are shown with pictures, priorities, bounds, tools, attempts and options", () => {
    at.write(
        "a.remit",
        `import llm M from "mock:"
import tool Files from "file://workspace"
main agent A {
    model M
    role "a tester"
    description "Tests."
    context max 20k tokens
    main func(input: { picture: string, rules: string, secret: string }) {
        use input.rules max 2k priority 3 as rules
        use image input.picture as "the picture"
        use one of {
            none: empty
            all: input.rules max 100 selected
        } priority 2 as more
        generate({ input: "What is it?", tools: [Files.read], attempts: 3, turns: 4, temperature: 0 }) -> { name: string }
    }
}
`,
    );
    const { code, out } = at.remit("explain", "a.remit");
    expect(code).toBe(0);
    expect(out.trimEnd().split("\n")).toEqual([
        "1. A.main  a.remit:15:9",
        "  model        M",
        "  identity     You are a tester. Tests.",
        "  context      [rules] input.rules max 2k priority 3 ← line 9",
        "               [the picture] image input.picture ← line 10",
        "               [more] one of none, all (selected) priority 2 ← line 11",
        "               all items together max 20k tokens",
        '  instruction  "What is it?"',
        "  contract     { name: string }",
        "  tools        Files.read ← file://workspace",
        "               their methods, with descriptions and schemas; then each call and what came of it",
        "  attempts     3: each after the first also shows what was wrong with the answer before",
        "  options      turns: 4, temperature: 0",
    ]);
});
