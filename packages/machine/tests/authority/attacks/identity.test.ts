/** Principals are told apart by where they are declared, not by what they are called; and what a narrowed handle gives is no wider than it. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { did, outcome, run, trying } from "../running.ts";

const FIXER = (remit: string): string => `import tool Repo from "file://workspace"
main agent Fixer {
    remit { ${remit} }
    main func() { 1 }
    func read() { x = [Repo]  x[0].read({ path: "a" }) }
    func write() { x = [Repo]  x[0].write({ path: "a", content: "b" }) }
}
`;
const SUB = `import agent Fixer from "./b.remit"
main agent Sub {
    main func() { 1 }
    func read() { Fixer.read() }
    func write() { Fixer.write() }
}
`;
const two = (body: string): string => `import tool Repo from "file://workspace"
import agent Fixer from "./a.remit"
import agent Sub from "./sub.remit"
main agent Main { main func() {
${body}
} }
`;
const ran = (body: string, a: string, b: string, yes = "once") =>
    run(two(body), { yes, files: { "a.remit": FIXER(a), "b.remit": FIXER(b), "sub.remit": SUB } });

describe("F21: two agents of one name in two files", () => {
    test("have each their own remit", () => {
        const both = `[${trying("Fixer.read()")}, ${trying("Fixer.write()")}, ${trying("Sub.read()")}, ${trying("Sub.write()")}]`;
        const yes = (method: string): Json => ({ did: `Repo.${method}` });
        expect(outcome(ran(both, "may Repo.read", "may Repo.write"))).toEqual([
            yes("read"),
            "violation.remit",
            "violation.remit",
            yes("write"),
        ]);
    });
    test("a delegation to one is none to the other, in its block too", () => {
        const body = `x = 0\ndelegate Repo.write to Fixer onward { x = [${trying("Fixer.write()")}, ${trying("Sub.write()")}] }\nx`;
        expect(outcome(ran(body, "", ""))).toEqual([{ did: "Repo.write" }, "violation.remit"]);
    });
    test("a yes for the session to one is none to the other", () => {
        const asks = (body: string): number =>
            ran(body, "ask Repo.write", "ask Repo.write", "session").effects.filter((e) => e.kind === "ask").length;
        expect(asks("Fixer.write()\nFixer.write()")).toBe(1);
        expect(asks("Fixer.write()\nSub.write()\nFixer.write()\nSub.write()")).toBe(2);
    });
    test("one has not what the other was given to spend", () => {
        const body = `[${trying("Fixer.read()")}, ${trying("Sub.read()")}]`;
        expect(outcome(ran(body, "may Repo  spend 5 calls", "may Repo  spend 0 calls"))).toEqual([{ did: "Repo.read" }, "limit.calls"]);
    });
});

describe("F28: what a narrowed handle gives", () => {
    const text = (body: string): string => `import tool Repo from "file://workspace"
agent Lib {
    func give() { Repo }
    func inside() { [1, { r: Repo }] }
    func narrowed() { Repo.only(read) }
    func onto(box) { box.add(Repo)  1 }
    func wrote() { Repo.write({ path: "a", content: "b" }) }
    func later() { wrote }
    func hidden() { 1 }
}
func wrote() { Repo.write({ path: "a", content: "b" }) }
agent Fixer {
    remit {}
    func go(lib) { ${trying(body)} }
}
main agent Main { main func() { Fixer.go(Lib.only(give, inside, narrowed, onto, later)) } }
`;
    test.each([
        ["itself", 'r = lib.give()  r.write({ path: "a", content: "b" })'],
        ["in a list", 'r = lib.inside()  r[1].r.write({ path: "a", content: "b" })'],
        ["narrowed once more", 'r = lib.narrowed()  r.write({ path: "a", content: "b" })'],
        ["narrowed once more, as it allows", 'r = lib.narrowed()  r.read({ path: "a" })'],
        ["left in a list of the caller's", 'box = []  lib.onto(box)  box[0].write({ path: "a", content: "b" })'],
        ["a function", "f = lib.later()  f()"],
        ["a method that it has not", "lib.wrote()"],
        ["another that it has not", "lib.hidden()"],
        ["a wider one", "l = lib.only(hidden, wrote)  l.wrote()"],
    ])("%s", (_name, body) => {
        const tried = run(text(body));
        expect(outcome(tried)).toMatch(/^violation\.(?:remit|revoked)$/);
        expect(did(tried)).toEqual([]);
    });
});
