/** Attacks through where a command runs: who may write one folder must not make what another command means. */
import { expect, test } from "vitest";
import { run } from "../running.ts";

const text = (remit: string, args: string): string => `
import tool Sh from "shell:"
agent Fixer {
    remit { ${remit} }
    func go() { Sh.run(${args}) }
}
main agent Main { main func() { Fixer.go() } }
`;

/** Whether it was run, and whether somebody was asked. */
function ruled(remit: string, args: string): string {
    const ran = run(text(remit, args), { yes: "once" });
    const asked = ran.effects.some(({ kind }) => kind === "ask");
    return ran.result.ok ? (asked ? "asked" : "may") : "refused";
}

test.each([
    ['{ command: "npm test" }', "may"],
    ['{ command: "npm test", cwd: "." }', "may"],
    ['{ command: "npm test", cwd: "./" }', "may"],
    ['{ command: "npm test", cwd: "out/.." }', "may"],
    ['{ command: "npm test", cwd: "out" }', "refused"],
    ['{ command: "npm", args: ["test"], cwd: "out" }', "refused"],
    ['{ command: "npm test", cwd: "./out/" }', "refused"],
    ['{ command: "npm test", cwd: "../x" }', "refused"],
    ['{ command: "npm test", cwd: ["out"] }', "refused"],
    ['{ command: "npm test", cwd: { a: 1 } }', "refused"],
])("a command that may run may in the tool's own folder: %s is %s", (args, expected) => {
    for (const remit of ['may Sh.run in "npm test"', 'may Sh.run in command: "npm *"']) expect(ruled(remit, args)).toBe(expected);
});

test("a bound on the folder says in which else", () => {
    const remit = 'may Sh.run in "npm test" in cwd: "out"';
    expect(ruled(remit, '{ command: "npm test", cwd: "out" }')).toBe("may");
    expect(ruled(remit, '{ command: "npm test", cwd: "other" }')).toBe("refused");
});

test("what is forbidden or asked about is so everywhere", () => {
    expect(ruled('may Sh.run never Sh.run in "npm test"', '{ command: "npm test", cwd: "out" }')).toBe("refused");
    expect(ruled('may Sh.run ask Sh.run in "npm test"', '{ command: "npm test", cwd: "out" }')).toBe("asked");
    expect(ruled("may Sh.run", '{ command: "npm test", cwd: "out" }')).toBe("may");
});
