/** What lies in lists and objects, or comes from another file, is no grant: not for functions, and not under `may all` either. */
import { describe, expect, test } from "vitest";
import { did, outcome, run } from "../running.ts";

const program = (body: string, call: string, more = ""): string => `
import tool Mail from "mcp://mail"
func plain() { Mail.send({ to: "plain" }) }
agent Fixer { remit { may Helper } func go(x) { ${body} } }
agent Helper { remit { } func use(box) { box[0]() } func give() { [plain] } }
main agent M { main func(input) { ${call} } }
${more}`;

describe("a function value that was not handed over", () => {
    test.each([
        ["in a list", "f = x[0]  f()", "Fixer.go([plain])"],
        ["called in place", "x[0]()", "Fixer.go([plain])"],
        ["under a key", "x.f()", "Fixer.go({ f: plain })"],
        ["through built-ins", "f = x.filter((y) => true).concat([]).first()  f()", "Fixer.go([plain])"],
        ["in a nested object", "x.a.b[0]()", "Fixer.go({ a: { b: [plain] } })"],
        ["through a spread", "y = [...x]  y[0]()", "Fixer.go([plain])"],
        ["made by another agent", "y = Helper.give()  y[0]()", "Fixer.go(1)"],
    ])("runs as whoever calls it: %s", (_name, body, call) => {
        const ran = run(program(body, call));
        expect(did(ran)).toEqual([]);
        expect(outcome(ran)).toBe("violation.remit");
    });

    test("one that was handed over is not for others, in a list, while the call goes on", () => {
        const ran = run(program("Helper.use([x])", "Fixer.go(plain)"));
        expect(did(ran)).toEqual([]);
        expect(outcome(ran)).toBe("violation.remit");
    });

    test("as an argument of its own it is a grant, also handed on", () => {
        const text = program("Other.use(x)", "Fixer.go(plain)", "agent Other { remit { } func use(f) { f() } }").replace(
            "may Helper",
            "may Other",
        );
        // It runs as Fixer, who handed it on, and Fixer may not send.
        expect(outcome(run(text))).toBe("violation.remit");
        expect(did(run(program("x()", "Fixer.go(plain)")))).toEqual(["Mail.send"]);
    });
});

describe("`may all` gives what the agent's own file names", () => {
    const main = (call: string): string => `
import tool Mail from "mcp://mail"
import tool Files from "file://workspace"
import agent Fixer from "./f.remit"
main agent M { main func(input) { ${call} } }`;
    const fixer = (gate: string, body: string): { [file: string]: string } => ({
        "f.remit": `import tool Repo from "file://workspace"
agent Fixer { remit { ${gate} all } func go(x) { ${body} } }
agent Near { remit { may Repo } func read() { Repo.read({ path: "a" }) } }`,
    });

    test("not what comes from another file in a list", () => {
        const ran = run(main("Fixer.go([Mail])"), { files: fixer("may", 'x[0].send({ to: "x" })') });
        expect([did(ran), outcome(ran)]).toEqual([[], "violation.remit"]);
    });

    test("nor under `ask all`, whatever the answer would be", () => {
        const ran = run(main("Fixer.go([Mail])"), { yes: "session", files: fixer("ask", 'x[0].send({ to: "x" })') });
        expect([ran.effects.length, outcome(ran)]).toEqual([0, "violation.remit"]);
    });

    test("its own imports and agents, and the same thing under another file's name", () => {
        const ran = run(main("Fixer.go([Files])"), {
            files: fixer("may", 'Repo.read({ path: "a" })  Near.read()  x[0].read({ path: "a" })'),
        });
        expect(did(ran)).toEqual(["Repo.read", "Repo.read", "Files.read"]);
    });

    test("`never all` forbids what comes as an argument too", () => {
        const ran = run(main("Fixer.go(Mail)"), { files: fixer("may Repo  never", 'x.send({ to: "x" })') });
        expect([did(ran), outcome(ran)]).toEqual([[], "violation.remit"]);
    });
});
