/** `remit audit` and `remit run --monitor` as a person and a CI job meet them: exit 0 clean, 1 findings, 2 it could not be told. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
    at.write("ws/where.txt", "out.txt");
    at.write(
        "p.remit",
        `import tool Repo from "file://workspace"

agent Fixer {
    remit { may Repo.write in "**" }
    func go(input) { Repo.write({ path: input.path, content: "x" }) }
}

main agent A {
    main func(input) {
        path = input.path
        if (input.obey) { path = Repo.read({ path: "where.txt" }).content }
        if (input.fix) { Fixer.go({ path: "fixed.txt" }) }
        Repo.write({ path: path, content: "hello" })
        "done"
    }
}
`,
    );
});
afterEach(() => at.clear());

const run = (input: object = {}, ...more: string[]) =>
    at.remit(
        "run",
        "p.remit",
        "-w",
        "ws",
        "--quiet",
        "--input",
        JSON.stringify({ path: "a.txt", obey: false, fix: false, ...input }),
        ...more,
    );
const audit = (...more: string[]) => at.remit("audit", ...more);
const clean = () => expect(run().code).toBe(0);
const tainted = () => expect(run({ obey: true }).code).toBe(0);
const json = (
    ...more: string[]
): { findings: { rule: string }[]; accepted: unknown[]; unsure: string[]; fabricated: unknown[]; failOn: string } =>
    JSON.parse(audit(...more, "--json").out);

describe("F51: exit codes", () => {
    test("0 clean, 1 at or over the threshold, 0 below it", () => {
        clean();
        expect(audit()).toMatchObject({ code: 0 });
        tainted();
        const { code, out } = audit("last");
        expect(code).toBe(1);
        expect(out).toContain("medium p.remit:13:9  Repo.write goes where tool:Repo says (argument path)  taint-to-target");
        expect(out).toMatch(/event \d+ at main\/Repo\.write#0/);
        expect(audit("last", "--fail-on", "high").code).toBe(0);
        expect(audit("last", "--fail-on", "note").code).toBe(1);
    });

    test("2 for a run that is not there, an option that is none, an invariant about nothing", () => {
        clean();
        for (const args of [
            ["nope"],
            ["last", "--fail-on", "dreadful"],
            ["last", "--invariant", "Fixer may Repo"],
            ["last", "--invariant", "Fxer never Repo"],
            ["last", "--ledger", "absent.db"],
            ["p.remit", "--auditor", "a.remit"],
        ])
            expect([args, audit(...args).code]).toEqual([args, 2]);
    });

    test("2 for a record that was changed, although nothing is found in it", () => {
        clean();
        const db = new DatabaseSync(join(at.folder, "remit", "ledger.db"));
        db.prepare("UPDATE events SET principal = 'agent:p.remit#Fixer' WHERE kind = 'tool.started'").run();
        db.close();
        const { code, out, err } = audit("last");
        expect(code).toBe(2);
        expect(out).not.toContain("clean");
        expect(err).toContain("does not verify");
        expect(audit("last", "--junit").out).toContain("<error ");
    });

    test("2 for a record without a code of one's own key, unless it is taken as it is", () => {
        clean();
        const before = JSON.parse(at.remit("runs", "--json").out)[0].id as string;
        clean();
        const db = new DatabaseSync(join(at.folder, "remit", "ledger.db"));
        db.prepare("UPDATE runs SET bound = '' WHERE id = ?").run(before);
        db.close();
        expect(audit(before)).toMatchObject({ code: 2, err: expect.stringContaining("under no key") });
        expect(audit("last", "--against", before)).toMatchObject({ code: 2, err: expect.stringContaining("under no key") });
        expect(audit(before, "--accept-foreign")).toMatchObject({ code: 0 });
        const watched = at.remit(
            "run",
            "p.remit",
            "-w",
            "ws",
            "--monitor",
            "--against",
            before,
            "--input",
            '{"path":"a","obey":false,"fix":false}',
        );
        expect(watched).toMatchObject({ code: 2, out: "", err: expect.stringContaining("under no key") });
    });

    test("a file of the project that is called 'last' stands for no run", () => {
        tainted();
        at.write("last", "main func(input) { 42 }\n");
        expect(audit().code).toBe(1);
        expect(audit("last", "--json", "--sarif")).toMatchObject({ code: 2, err: expect.stringContaining("use one") });
        expect(audit("./last").code).toBe(0);
        expect(at.remit("explain", "last").err).toContain("This run");
    });

    test("2 for a configuration that cannot be read", () => {
        clean();
        at.write("remit.json", '{"audit": {"invariants": ["Fixer may Repo"]}}');
        expect(audit("last")).toMatchObject({ code: 2, err: expect.stringContaining("audit.invariants[0]") });
    });
});

describe("a project's own invariants", () => {
    test("count without trust, and can only make an audit stricter", () => {
        expect(run({ fix: true }).code).toBe(0);
        expect(audit("last").code).toBe(0);
        at.write("remit.json", JSON.stringify({ audit: { invariants: ['Fixer never Repo.write outside "src/**"'], failOn: "high" } }));
        const { findings, failOn } = json("last");
        expect(findings.map((one) => one.rule)).toEqual(["invariant"]);
        expect(failOn).toBe("medium");
        at.write("remit.json", JSON.stringify({ audit: { failOn: "low" } }));
        expect(json("last").failOn).toBe("low");
    });

    test("a trusted file may say what fails", () => {
        tainted();
        at.write("remit.json", JSON.stringify({ audit: { failOn: "high" } }));
        expect(audit("last").code).toBe(1);
        expect(at.remit("trust", "--yes").code).toBe(0);
        expect(audit("last").code).toBe(0);
    });
});

describe("F53: baselines", () => {
    test("what is accepted does not fail until its day is over", () => {
        tainted();
        expect(audit("last", "--write-baseline", "b.json").code).toBe(2);
        expect(audit("last", "--write-baseline", "b.json", "--until", "2020-01-01", "--reason", "r").code).toBe(2);
        expect(audit("last", "--write-baseline", "b.json", "--until", "2999-02-30", "--reason", "r").code).toBe(2);
        expect(audit("last", "--write-baseline", "b.json", "--until", "2999-12-31", "--reason", "moves with the file").code).toBe(0);
        const written = readFileSync(join(at.folder, "b.json"), "utf8");
        expect(JSON.parse(written)).toMatchObject({
            accepted: [{ rule: "taint-to-target", until: "2999-12-31", reason: "moves with the file" }],
        });
        tainted();
        const good = audit("last", "--baseline", "b.json");
        expect(good).toMatchObject({ code: 0, out: expect.stringContaining("0 at medium or over, 1 in the baseline") });
        writeFileSync(join(at.folder, "b.json"), written.replace("2999-12-31", "2020-12-31"));
        expect(audit("last", "--baseline", "b.json").code).toBe(1);
    });

    test("none is written through a link", () => {
        tainted();
        symlinkSync(join(at.folder, "elsewhere.json"), join(at.folder, "base.json"));
        // Some editors begin a file so.
        at.write("empty.json", '\ufeff{"version": 1, "accepted": []}');
        expect(audit("last", "--baseline", "empty.json").code).toBe(1);
        const { code, err } = audit("last", "--write-baseline", "base.json", "--until", "2099-01-31", "--reason", "known");
        expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("is a link") });
        expect(existsSync(join(at.folder, "elsewhere.json"))).toBe(false);
    });

    test("a second one keeps the first; a record that was changed writes none", () => {
        tainted();
        audit("last", "--write-baseline", "b.json", "--until", "2999-12-31", "--reason", "one");
        expect(run({ obey: true, fix: true }).code).toBe(0);
        const rule = ["--invariant", "Fixer never Repo"];
        expect(audit("last", ...rule, "--write-baseline", "b.json", "--until", "2999-06-30", "--reason", "two").code).toBe(0);
        expect(JSON.parse(readFileSync(join(at.folder, "b.json"), "utf8")).accepted).toHaveLength(2);
        const db = new DatabaseSync(join(at.folder, "remit", "ledger.db"));
        db.prepare("UPDATE events SET principal = 'user'").run();
        db.close();
        const last = audit("last", "--write-baseline", "c.json", "--until", "2999-06-30", "--reason", "three");
        expect(last.code).not.toBe(0);
        expect(() => readFileSync(join(at.folder, "c.json"))).toThrow();
    });
});

test("SARIF and JUnit say the same as the lines", () => {
    tainted();
    const log = JSON.parse(audit("last", "--sarif").out);
    expect(log.runs[0].results[0]).toMatchObject({
        ruleId: "taint-to-target",
        level: "warning",
        locations: [{ physicalLocation: { artifactLocation: { uri: "p.remit" }, region: { startLine: 13, startColumn: 9 } } }],
    });
    expect(audit("last", "--junit")).toMatchObject({ code: 1, out: expect.stringContaining('failures="1"') });
});

test("against another run: one new grant used is one finding", () => {
    clean();
    const before = JSON.parse(at.remit("runs", "--json").out)[0].id as string;
    clean();
    expect(audit("last", "--against", before).code).toBe(0);
    expect(run({ fix: true }).code).toBe(0);
    expect(json("last", "--against", before).findings.map((one) => one.rule)).toEqual(
        ["unused-grant", "drift"].filter((r) => r === "drift"),
    );
    expect(audit("last", "--against", before, "--fail-on", "low").code).toBe(1);
});

test("auditors: added, made up, and not there", () => {
    clean();
    const id = JSON.parse(at.remit("runs", "--json").out)[0].id as string;
    const auditor = (name: string, value: string) => at.write(name, `main agent { main func(input) { ${value} } }\n`);
    auditor("good.remit", `[{ rule: "odd", severity: "high", message: "odd path", events: [input.trace[1].seq] }]`);
    auditor("liar.remit", `[{ rule: "odd", severity: "high", message: "made up", events: [9999] }]`);
    auditor("dead.remit", `raise "gone"`);
    expect(audit(id, "--auditor", "good.remit")).toMatchObject({
        code: 1,
        out: expect.stringMatching(/odd path.*agent\/odd by good\.remit/),
    });
    expect(audit(id, "--auditor", "liar.remit")).toMatchObject({
        code: 0,
        err: expect.stringContaining("its evidence is not there: made up"),
    });
    expect(audit(id, "--auditor", "dead.remit")).toMatchObject({
        code: 2,
        err: expect.stringContaining("could not tell: auditor dead.remit"),
    });
    expect(audit(id, "--auditor", "absent.remit").code).toBe(2);
    // What was found stands whoever else could not answer.
    expect(audit(id, "--auditor", "dead.remit", "--auditor", "good.remit").code).toBe(1);
});

test("a file: what the checker says of authority", () => {
    expect(audit("p.remit").code).toBe(0);
    at.write("bad.remit", "main agent {");
    expect(audit("bad.remit").code).toBe(2);
    at.write(
        "wide.remit",
        `import tool Repo from "file://workspace"\nagent F { remit { may Repo.read } func go() { Repo.write({ path: "a", content: "b" }) } }\nmain agent { main func() { F.go() } }\n`,
    );
    expect(audit("wide.remit")).toMatchObject({ code: 1, out: expect.stringContaining("nothing gives Repo.write to F") });
});

test("--monitor prints findings as they happen, keeps the value, and exits with 1", () => {
    at.write("remit.json", JSON.stringify({ audit: { invariants: ["Fixer never Repo"] } }));
    const watched = run({ fix: true }, "--monitor");
    expect(watched).toMatchObject({ code: 1, out: '"done"\n' });
    expect(watched.err).toContain("Fixer never Repo: Fixer called Repo.write");
    expect(run({ fix: false }, "--monitor")).toMatchObject({ code: 0, out: '"done"\n' });
    const lines = at.remit("run", "p.remit", "-w", "ws", "--json", "--monitor", "--input", '{"path":"a.txt","obey":true,"fix":false}');
    const found = lines.err.split("\n").flatMap((line) => (line.includes('"finding"') ? [JSON.parse(line).finding.rule] : []));
    expect([lines.code, found]).toEqual([1, ["taint-to-target"]]);
    expect(run({}, "--against", "last").code).toBe(2);
});
