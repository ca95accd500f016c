/** The command over a ledger in PostgreSQL: it is named by option, environment or configuration, and no password of it is shown. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { postgres } from "../../host/tests/postgres-server.ts";
import { type Room, room } from "./remit.ts";

let at: Room;
let ledger: string;
beforeEach(async () => {
    ledger = (await postgres()).fresh();
    at = room();
    at.write("ws/a.txt", "the text");
    at.write(
        "p.remit",
        `import tool Repo from "file://workspace" {
    write: ask
}

main agent A {
    main func() {
        text = Repo.read({ path: "a.txt" }).content
        Repo.write({ path: "b.txt", content: text })
        "done"
    }
}
`,
    );
});
afterEach(() => at.clear());

test("a run waits, is answered and goes on by other commands; trace, why, audit and verify read it", () => {
    const env = { REMIT_LEDGER: ledger };
    const remit = (...args: string[]) => at.remitWith({ env }, ...args);
    expect(remit("runs").out + remit("runs").err).toMatch(/no run/i);
    expect(at.remit("run", "p.remit", "-w", "ws", "--park", "--ledger", ledger).code).toBe(3);
    const [ask] = JSON.parse(remit("asks", "--json").out) as { id: string; run: string }[];
    expect(remit("answer", "last", ask?.id ?? "", "once").code).toBe(0);
    const resumed = remit("resume", "last");
    expect([resumed.code, resumed.out.trim()]).toEqual([0, '"done"']);
    expect(existsSync(join(at.folder, "ws", "b.txt"))).toBe(true);
    for (const args of [
        ["trace", "last"],
        ["trace", "verify", "last"],
        ["trace", "last", "--ndjson"],
        ["why", "last"],
        ["audit", "last"],
        ["replay", "last"],
        ["runs"],
    ]) {
        const { code, out, err } = remit(...args);
        expect(`${args.join(" ")}: ${code} ${err}`).toMatch(/: 0 /);
        expect(out).not.toBe("");
    }
    expect(remit("runs", "--prune", "last", "--yes").code).toBe(0);
    expect(existsSync(join(at.folder, "remit", "ledger.db"))).toBe(false);
});

test("a configuration file that is trusted names it; one that is not does not, and one with a password is wrong", () => {
    at.write("remit.json", JSON.stringify({ ledger }));
    at.remit("run", "p.remit", "-w", "ws");
    expect(at.remitWith({ env: { REMIT_LEDGER: ledger } }, "runs", "--json").out.trim()).toMatch(/^(\[\])?$/);
    at.remit("run", "p.remit", "-w", "ws", "--trust");
    expect(at.remit("trust", "--yes").code).toBe(0);
    at.remit("run", "p.remit", "-w", "ws");
    expect(JSON.parse(at.remitWith({ env: { REMIT_LEDGER: ledger } }, "runs", "--json").out).length).toBe(1);
    at.write("remit.json", JSON.stringify({ ledger: ledger.replace("postgres@", "postgres:hidden-word@") }));
    const { code, out, err } = at.remit("run", "p.remit", "-w", "ws");
    expect(code).not.toBe(0);
    expect(err).toContain("PGPASSWORD");
    expect(out + err).not.toContain("hidden-word");
});

test("a database that is not there, or refuses the password, is told without it", () => {
    const away = "postgres://ada:hidden-word@127.0.0.1:1/team";
    for (const args of [["runs"], ["run", "p.remit", "-w", "ws"], ["trace", "last"]]) {
        const { code, out, err } = at.remit(...args, "--ledger", away);
        expect(code).not.toBe(0);
        expect(err).toContain("postgres://127.0.0.1:1/team cannot be reached");
        expect(out + err).not.toMatch(/hidden-word|ada|\.ts:\d/);
    }
});
