/** Monitors: each finding once, as it happens, while the run goes on. */
import type { AuditFinding } from "@remit/machine";
import { expect, test } from "vitest";
import { auditRun, invariantsOf, load, monitor, profileOfRun } from "../../src/index.ts";
import { at, begin, IMPORTS, room, tools } from "./room.ts";

room();

const PROGRAM = `${IMPORTS}
agent Fixer {
    remit { may Repo.read }
    func go(input) { Repo.read({ path: "a" }) }
    func send(input) { Mail.send({ to: "a@example.com" }) }
}
main agent Main {
    main func(input) {
        Fixer.go({})
        if (input.more) {
            delegate Mail.send in to: "*@example.com" to Fixer {
                for i in [1, 2, 3] max 3 { Fixer.send({}) }
            }
        }
        if (input.wait) { Repo.write({ path: "wait" }) }
        "done"
    }
}
`;

test("F54: one new grant mid-run is one finding, told while the run goes on", async () => {
    const profile = await profileOfRun(at.store, (await begin(PROGRAM, { more: false, wait: true })).run);
    const told: AuditFinding[] = [];
    let heard: () => void = () => undefined;
    const finding = new Promise<void>((resolve) => {
        heard = resolve;
    });
    // The last call ends only when the finding was told: otherwise the test does not end.
    const own = { ...tools(), Repo: { ...tools()["Repo"], write: { call: async () => (await finding, true) } } };
    const program = await load({ source: PROGRAM }, { ledger: at.store, workspace: at.folder, cache: false, tools: own });
    const handle = program.run({ more: true, wait: true });
    const all = await monitor(handle, {
        against: profile,
        finding: (one) => {
            told.push(one);
            heard();
        },
    });
    expect(await handle.value).toBe("done");
    await program.close();
    expect(told).toEqual(all);
    expect(all.map((one) => one.message)).toEqual(['new: Fixer was given Mail.send in "*@example.com" by user']);
    // What is told as it happens is what an audit finds afterwards.
    const after = (await auditRun(at.store, handle.id, { against: profile })).findings;
    expect(after.filter((one) => one.rule === "drift")).toEqual(all);
});

test("the same breach at one place is told once, and accepted ones not at all", async () => {
    const { invariants } = invariantsOf(["Fixer never Mail"]);
    const program = await load({ source: PROGRAM }, { ledger: at.store, workspace: at.folder, cache: false, tools: tools() });
    const first = await monitor(program.run({ more: true, wait: false }), { invariants });
    expect(first.map((one) => one.rule)).toEqual(["invariant"]);
    expect(at.sent).toHaveLength(3);
    const { accepting } = await import("@remit/machine");
    const baseline = accepting(null, first, "9999-12-31", "known");
    expect(await monitor(program.run({ more: true, wait: false }), { invariants, baseline })).toEqual([]);
    const expired = accepting(null, first, "2020-01-01", "known");
    expect(await monitor(program.run({ more: true, wait: false }), { invariants, baseline: expired })).toHaveLength(1);
    await program.close();
});

test("whoever is told may end the run", async () => {
    const { invariants } = invariantsOf(["Fixer never Mail"]);
    const program = await load({ source: PROGRAM }, { ledger: at.store, workspace: at.folder, cache: false, tools: tools() });
    const handle = program.run({ more: true, wait: true });
    await monitor(handle, { invariants, finding: () => handle.cancel() });
    expect((await handle.result).status).toBe("stopped");
    await program.close();
});

test("where nobody monitors and nobody listens, nothing is kept; a run that stops for a person ends the monitor", async () => {
    const text = PROGRAM.replace(`"host:repo"`, `"host:repo" { write: ask }`);
    const program = await load(
        { source: text },
        { ledger: at.store, workspace: at.folder, cache: false, tools: tools(), asks: { park: true } },
    );
    const handle = program.run({ more: false, wait: true });
    expect(await monitor(handle)).toEqual([]);
    expect((await handle.result).status).toBe("waiting");
    await program.close();
});
