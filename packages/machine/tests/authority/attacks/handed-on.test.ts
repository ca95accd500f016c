/** What is handed on by ways round about: out of a list, by a function that came as a value. */
import { expect, test } from "vitest";
import { did, outcome, run } from "../running.ts";

const WRITES = 'write({ path: "x", content: "c" })';

test.each([
    ["of a list", "[Repo]", "given[0]"],
    ["of an object", "{ held: Repo }", "given.held"],
    ["of a list, narrowed", "[Repo]", "given[0].only(write)"],
])("who takes a thing out %s has no right to hand on that it has not itself", (_name, given, taken) => {
    const ran = run(`
import tool Repo from "file://workspace"
agent Middle { remit { may Last } func go(given) { Last.go(${taken}) } }
agent Last { remit { may Middle } func go(repo) { repo.${WRITES} } }
main agent { main func() { Middle.go(${given}) } }`);
    expect(outcome(ran)).toBe("violation.remit");
    expect(did(ran)).toEqual([]);
});

test("what it has itself it does hand on, with its bounds", () => {
    const text = (path: string): string => `
import tool Repo from "file://workspace"
agent Middle { remit { may Last, Repo.write in "src/**" } func go(given) { Last.go(given[0]) } }
agent Last { remit { may Middle } func go(repo) { repo.write({ path: "${path}" }) } }
main agent { main func() { Middle.go([Repo]) } }`;
    expect(did(run(text("src/a")))).toEqual(["Repo.write"]);
    expect(outcome(run(text("lib/a")))).toBe("violation.remit");
});

test.each([
    ["ends", ""],
    ["fails", 'raise "no"'],
])("what a function that came as a value is given dies when its call %s", (_name, end) => {
    const ran = run(`
import tool Repo from "file://workspace"
func keep(box, repo) { box.add(repo) ${end} }
agent First {
    remit { may Second }
    func go() {
        box = []
        Second.go(keep, box)
        box[0].${WRITES}
    }
}
agent Second { remit { may Repo } func go(keep, box) { try { keep(box, Repo) } catch e { } } }
main agent { main func() { First.go() } }`);
    expect(outcome(ran)).toBe("violation.revoked");
    expect(did(ran)).toEqual([]);
});
