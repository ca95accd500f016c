/** No code catches its own violation, whatever else fails beside it. */
import { expect, test } from "vitest";
import { did, outcome, run, trying } from "../running.ts";

test("a violation in one branch stays one where a limit ends another", () => {
    const ran = run(`
import tool Repo from "file://workspace"
agent Fixer {
    remit { may Repo.read }
    func go() {
        try { spend 1 calls { parallel for i in [1, 2, 3] max 3 { if i == 1 { Repo.write({ path: "x" }) } else { Repo.read({ path: "x" }) } } } } catch e { }
        Repo.read({ path: "after" })
    }
}
main agent { main func() { ${trying("Fixer.go()")} } }`);
    expect(did(ran)).toEqual(["Repo.read"]);
    expect(outcome(ran)).toBe("violation.remit");
});
