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

const SPELLED = [
    '{ command: "rm victim" }',
    '{ command: " rm victim" }',
    '{ command: "rm  victim " }',
    '{ command: "\\trm victim" }',
    '{ command: "\\nrm victim" }',
    '{ command: "/bin/rm victim" }',
    '{ command: "env rm victim" }',
    '{ command: "A=b rm victim" }',
    '{ command: "r\\\\m victim" }',
    '{ command: "true; rm victim" }',
    '{ command: "echo $(rm victim)" }',
    '{ command: "rm", args: ["victim"] }',
    '{ command: "/bin/rm", args: ["victim"] }',
    '{ command: "env", args: ["rm", "victim"] }',
    '{ command: "sh", args: ["-c", "rm victim"] }',
    '{ command: ["rm victim"] }',
    '{ command: { a: "rm victim" } }',
];

test.each(SPELLED)("a command is forbidden or asked about however it is spelled: %s", (args) => {
    expect(ruled('may Sh never Sh.run in "rm *"', args)).toBe("refused");
    expect(ruled('may Sh ask Sh.run in "rm *"', args)).toBe("asked");
});

test.each(['{ command: "npm test" }', '{ command: "rmdir x" }', '{ command: "npm", args: ["test"] }'])(
    "another command is neither: %s",
    (args) => {
        expect(ruled('may Sh never Sh.run in "rm *"', args)).toBe("may");
        expect(ruled('may Sh ask Sh.run in "rm *"', args)).toBe("may");
    },
);

test("what asks about some commands gives none that cannot be told", () => {
    expect(ruled('ask Sh.run in "npm *"', '{ command: "npm test" }')).toBe("asked");
    expect(ruled('ask Sh.run in "npm *"', '{ command: "npm test; rm victim" }')).toBe("refused");
});

test.each([
    ['{ command: "npm", args: ["run", "a b"] }', "may"],
    ['{ command: "npm", args: ["run", "a;b"] }', "refused"],
    ['{ command: "npm x/evil", args: [] }', "refused"],
    ['{ command: "npm ", args: ["test"] }', "refused"],
    ['{ command: "./npm test" }', "refused"],
])("a program is named by one word: %s is %s", (args, expected) => expect(ruled('may Sh.run in "npm *"', args)).toBe(expected));
