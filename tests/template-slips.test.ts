/**
 * One slip in a program that `remit init` writes is one error, in its line, with what to write, before anything runs.
 *
 * Each row is an edit of a template that once passed the checker, or whose error did not say what to write.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { check, loadProgram } from "@remit/language";
import { expect, test } from "vitest";

const templates = fileURLToPath(new URL("../packages/cli/templates/", import.meta.url));

/** Errors of a template's main program in which `was` stands as `is`: line, code, and how it is mended. */
function errorsOf(template: string, was: string, is: string, name: string): readonly string[] {
    const right = readFileSync(`${templates}${template}/main.remit`, "utf8");
    const text = right.replace(was, () => is);
    expect(text).not.toBe(right);
    const { diagnostics } = check(loadProgram(name, { read: () => text, resolve: (_, path) => path }));
    return diagnostics
        .filter(({ severity }) => severity === "error")
        .map(({ code, range, hint }) => `${text.slice(0, range.start).split("\n").length} ${code}: ${hint}`);
}

test.each([
    ["triage", "{ trusted }", "{ truste }", "3 SYNTAX: Did you mean 'trusted'?"],
    ["triage", "choice write: from", "choise write: from", "10 SYNTAX: Did you mean 'choice'?"],
    ["triage", "trusted or ask,", "trusted and ask,", "7 SYNTAX: Write `or ask`: what the clause does not let in is asked about."],
    ["triage", "attempts: 3", 'attempts: "3"', "26 INVALID_GENERATE_ATTEMPTS: leave the quotes out: attempts: 3"],
    ["start", "main agent Desk", "main agnet Desk", "8 SYNTAX: Did you mean `agent`?"],
    ["triage", "failure.message", "failure.mesage", "53 UNKNOWN_PROPERTY: did you mean 'message'?"],
    ["triage", "input.table, content", "input.tables, content", "57 UNDECLARED_PROPERTY: did you mean 'table'?"],
    ["extract", "?.text\n", "?.txt\n", "32 UNKNOWN_PROPERTY: did you mean 'text'?"],
    ["review", "skills: [Review]", "skills: [Reviews]", "18 INVALID_YIELD_OPTION: did you mean 'Review'?"],
    ["service", "input.message.contains", "input.mesage.contains", "29 UNDECLARED_PROPERTY: did you mean 'message'?"],
    ["nightly", "{ days: -1 }", "{ day: -1 }", "31 UNKNOWN_FIELD: did you mean 'days'?"],
    ["nightly", 'sentiment == "negative"', 'sentiment == "negativ"', "24 NEVER_EQUAL: did you mean 'negative'?"],
    [
        "nightly",
        "input?.day ?? yesterday",
        "input?.day || yesterday",
        "35 UNEXPECTED_CHARACTER: Write `or`. For the value of what may be absent write `a ?? b`.",
    ],
    ["nightly", "{ ...figures", "{ ..figures", "63 SYNTAX: An object is spread with `...`: `{ ...other, key: value }`."],
])("%s: %j written as %j", (template, was, is, told) => {
    expect(errorsOf(template, was, is, "main.remit")).toEqual([told]);
});

test("a program of AgentScript runs as it did: names that are nearly others are no errors there", () => {
    for (const [template, was, is] of [
        ["triage", "failure.message", "failure.mesage"],
        ["service", "input.message.contains", "input.mesage.contains"],
        ["nightly", 'sentiment == "negative"', 'sentiment == "negativ"'],
    ] as const)
        expect(errorsOf(template, was, is, "main.as")).toEqual([]);
});
