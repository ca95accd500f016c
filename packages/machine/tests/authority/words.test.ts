/** What a bound on a text forbids, asks about or gives, where a text may be read in more than one way. */
import { describe, expect, test } from "vitest";
import { did, outcome, run } from "./running.ts";

/** What became of a mail under lines of a remit, and how many questions were put. */
function sent(lines: string, args: string): readonly [boolean, number] {
    const ran = run(`import tool Mail from "mcp://mail"
agent Clerk {
    remit {
        ${lines}
    }
    func go() { Mail.send({ ${args} }) }
}
main agent Main { main func() { Clerk.go() } }
`);
    return [did(ran).includes("Mail.send") && outcome(ran) !== "denied", ran.effects.filter(({ kind }) => kind === "ask").length];
}

const NEVER = 'may Mail\n        never Mail.send in to: "*@evil.example", "eve"';
const PEOPLE: readonly (readonly [string, boolean])[] = [
    ["a@evil.example", false],
    ["a@EVIL.example", false],
    ["  a@evil.example ", false],
    ["a@evil.ex\\u{200b}ample", false],
    ["\\u{ff41}@evil.example", false],
    ["ann@x.example, a@evil.example", false],
    ["a@evil.example; ann@x.example", false],
    ["Ann <a@evil.example>", false],
    ["Eve", false],
    ["Ann <ann@x.example> <a@evil.example>", false],
    ["a@evil.example ann@x.example", false],
    ["a@evil.example (Ann)", false],
    ["a@evil.example.", false],
    ["a@evil\\u{3002}example", false],
    ["ann\\u{ff0c}eve", false],
    ["ann\\u{2028}eve", false],
    ["mailto:a@evil.example?subject=hi", false],
    ['[\\"a@evil.example\\",\\"ann@x.example\\"]', false],
    ["ann and eve", true],
    ["eve@x.example", true],
    ["ann@x.example", true],
    ["ann@x.example, bob@x.example", true],
    ["a@evil.example.org", true],
    ["steve", true],
    ["", true],
];

test.each(PEOPLE)("what is never mailed: %j", (to, passes) => {
    expect(sent(NEVER, `to: "${to}"`)).toEqual([passes, 0]);
});

describe("a question about an empty text", () => {
    const EMPTY = 'may Mail\n        ask Mail.send in body: ""';

    test.each(["", " ", "\\n\\t", "\\u{200b}", "\\u{2800}", "\\u{3164}", "\\u{feff} "])("is put about %j", (body) => {
        expect(sent(EMPTY, `to: "ann", body: "${body}"`)).toEqual([false, 1]);
    });

    test.each(["yes", "a, , b", ",", "."])("is put about no other: %j", (body) => {
        expect(sent(EMPTY, `to: "ann", body: "${body}"`)).toEqual([true, 0]);
    });
});

test.each([
    ["ann@x.example", true],
    ["ann@X.example", false],
    [" ann@x.example", false],
    ["eve@y.example, ann@x.example", false],
    ["Ann <ann@x.example>", false],
])("what a line gives is taken as it stands: %j", (to, passes) => {
    expect(sent('may Mail.send in to: "*@x.example"', `to: "${to}"`)).toEqual([passes, 0]);
});
