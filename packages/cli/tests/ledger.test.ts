/** Commands that read and keep a ledger: rows that cannot be read, edited and foreign ledgers, removing runs. */
import { cpSync, existsSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

const rooms: Room[] = [];
let at: Room;
beforeEach(() => {
    at = room();
    rooms.push(at);
    at.write("one.remit", "main func() { 1 }\n");
});
afterAll(() => {
    for (const one of rooms) one.clear();
});

const ledger = (): string => join(at.folder, "remit", "ledger.db");
const edit = (sql: string): void => {
    const db = new DatabaseSync(ledger());
    db.exec(sql);
    db.close();
};
const ids = (): string[] => (JSON.parse(at.remit("runs", "--json").out) as { id: string }[]).map((run) => run.id);
/** A run that was interrupted: what is said of it is bound, so it is made by ending its process's ownership. */
function interrupted(): void {
    const script = `
import { load } from ${JSON.stringify(new URL("../../host/src/index.ts", import.meta.url).href)};
const program = await load({ source: 'import tool Work from "host:work"\\nmain func() { Work.wait() }\\n' }, {
    tools: { Work: { wait: () => process.kill(process.pid, "SIGKILL") } }, ledger: process.argv[2] });
program.run(null);
setTimeout(() => undefined, 60_000);
`;
    at.write("kill.ts", script);
    at.node("kill.ts", ledger());
}

test("one run that cannot be read hides no other, in runs, cost and verify", () => {
    for (let n = 0; n < 3; n++) at.remit("run", "one.remit");
    const [newest, middle, oldest] = ids();
    edit(`UPDATE runs SET usage = '{' WHERE id = '${middle}'`);
    const runs = at.remit("runs");
    expect(runs.code).toBe(1);
    expect(runs.out).toContain(newest);
    expect(runs.out).toContain(oldest);
    expect(runs.out).not.toContain(middle);
    expect(runs.err).toMatch(new RegExp(`Run ${middle} cannot be read: .*usage cannot be read`));
    const cost = at.remit("cost");
    expect(cost.code).toBe(1);
    expect(cost.out).toContain(oldest);
    expect(cost.err).toContain(`Run ${middle} cannot be read`);
    edit(`UPDATE events SET data = 'x' WHERE run = (SELECT key FROM runs WHERE id = '${oldest}')`);
    expect(at.remit("cost").err).toContain(`Run ${oldest} cannot be read`);
    const verify = at.remit("trace", "verify");
    expect(verify.code).toBe(1);
    expect(verify.out).toContain(`${middle}: NOT SOUND`);
    expect(verify.out).toContain(`${oldest}: NOT SOUND`);
    expect(verify.out).toContain(`${newest}: sound`);
    edit(`DELETE FROM runs WHERE id = '${newest}'`);
    expect(at.remit("trace", "verify").out).toContain(`${newest}: NOT SOUND: it was recorded, and is not in the ledger any more`);
});

test("an edited run is not gone on with, and verify says why", () => {
    interrupted();
    edit("UPDATE runs SET spent = 0 - 1000000");
    for (const args of [
        ["resume", "last"],
        ["resume", "last", "--accept-foreign"],
    ]) {
        const ran = at.remit(...args);
        expect(ran.code).toBe(1);
        expect(ran.err).toMatch(/was changed since it was recorded: the run's row/);
        expect(ran.err).toMatch(/restore a copy/);
        expect(ran.err).not.toMatch(/\n\s+at /);
    }
    expect(at.remit("trace", "verify", "last").out).toContain("NOT SOUND: the run's row is not as it was kept");
    expect(at.remit("trace", "last").code).toBe(0);
});

test("a run without an anchor is not called sound: its tail may have been cut off", () => {
    at.remit("run", "one.remit");
    expect(at.remit("trace", "verify", "last")).toMatchObject({ code: 0, out: expect.stringContaining("anchored") });
    rmSync(`${ledger()}.anchors`);
    const found = at.remit("trace", "verify", "last");
    expect(found).toMatchObject({ code: 1, out: expect.stringContaining("NOT SOUND: this file has no anchor for the run") });
    expect(found.out).not.toMatch(/: sound/);
});

test("a ledger from another machine is shown and replayed, and gone on with only when that is said", () => {
    interrupted();
    const other = { XDG_CONFIG_HOME: join(at.folder, "other") };
    cpSync(ledger(), join(at.folder, "copy.db"));
    cpSync(`${ledger()}-wal`, join(at.folder, "copy.db-wal"));
    const resumed = at.remitWith({ env: other }, "resume", "last", "--ledger", "copy.db");
    expect(resumed.code).toBe(1);
    expect(resumed.err).toMatch(/recorded under another key/);
    expect(resumed.err).toMatch(/--accept-foreign/);
    expect(at.remitWith({ env: other }, "replay", "last", "--ledger", "copy.db").out).toContain("equal");
    expect(at.remitWith({ env: other }, "trace", "verify", "last", "--ledger", "copy.db").out).toContain("recorded under another key");
    const accepted = at.remitWith({ env: other }, "resume", "last", "--ledger", "copy.db", "--accept-foreign");
    expect(accepted.code).toBe(3);
    expect(accepted.err).toContain("--answer");
    expect(at.remitWith({ env: other }, "trace", "verify", "last", "--ledger", "copy.db").out).toMatch(/sound, \d+ events, anchored\n/);
});

test("--prune removes finished runs by age and number, and asks first", () => {
    interrupted();
    for (let n = 0; n < 3; n++) at.remit("run", "one.remit");
    const [c, b, a, open] = ids();
    const dry = at.remit("runs", "--prune", "--keep", "1");
    expect(dry.code).toBe(0);
    expect(dry.out).toContain(b);
    expect(dry.out).toContain(a);
    expect(dry.out).not.toContain(open);
    expect(dry.err).toContain("Nothing was removed");
    expect(ids()).toEqual([c, b, a, open]);
    expect(at.remit("runs", "--prune", "--older-than", "1h").err).toContain("No run is to be removed");
    expect(at.remit("runs", "--prune", "--keep", "1", "--yes").err).toMatch(/Removed 2 runs, .* freed/);
    expect(ids()).toEqual([c, open]);
    expect(at.remit("trace", "verify").code).toBe(0);
    // A run that is not finished goes only when it is named.
    expect(at.remit("runs", "--prune", "--keep", "0", "--yes").err).toContain("Removed 1 run");
    expect(ids()).toEqual([open]);
    expect(at.remit("runs", "--prune", open as string, "--yes").err).toContain("Removed 1 run");
    expect(ids()).toEqual([]);
});

test.each([
    [["--prune"], "--prune needs to know which runs"],
    [["--prune", "--older-than", "30"], "takes an age such as 12h, 30d or 8w"],
    [["--prune", "last", "--keep", "3"], "not both"],
    [["--older-than", "3d"], "--older-than goes with --prune"],
    [["last"], "takes runs only with --prune"],
    [["--prune", "nobody", "--yes"], "has no run nobody"],
])("remit runs %s is refused", (args, message) => {
    at.remit("run", "one.remit");
    const ran = at.remit("runs", ...args);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain(message);
});

test("an address of another kind of database is refused: no file is made of it, and its password is not shown", () => {
    for (const address of ["mysql://ada:hidden-word@db/team", "postgress://ada:hidden-word@db/team", "sqlite:///tmp/l.db"]) {
        const { code, err } = at.remit("run", "one.remit", "--ledger", address);
        expect([code, err]).toEqual([
            1,
            expect.stringContaining(`a ledger is a file, or a database in PostgreSQL, not ${address.split(":")[0]}://`),
        ]);
        expect(err).toContain("postgres://USER@HOST:PORT/DATABASE");
        expect(err).not.toContain("hidden-word");
        at.write("remit.json", JSON.stringify({ ledger: address }));
        const configured = at.remit("runs");
        expect([configured.code, configured.err]).toEqual([1, expect.stringContaining("remit.json: ledger: names no file")]);
        expect(configured.err).not.toContain("hidden-word");
        rmSync(join(at.folder, "remit.json"));
        expect(existsSync(join(at.folder, `${address.split(":")[0]}:`))).toBe(false);
    }
});

test("a ledger that cannot be looked for is not said to be absent", () => {
    symlinkSync("round", join(at.folder, "round"));
    for (const command of [["runs"], ["trace", "last", "--follow"], ["open"]]) {
        const { code, err } = at.remit(...command, "--ledger", "round/ledger.db");
        expect([code, err]).toEqual([2, expect.stringMatching(/whether there is a ledger at \S*round\/ledger\.db cannot be told/)]);
    }
});

test("a session is no run to replay or to look into: its turns are", () => {
    const id = "session-0a1b2c3d-0e0f";
    at.remit("run", "one.remit");
    edit(`UPDATE runs SET id = '${id}'`);
    for (const command of ["replay", "snapshot"]) {
        const { code, err } = at.remit(command, id);
        expect([code, err]).toEqual([2, expect.stringContaining(`${id} is a session, which holds turns`)]);
        expect(err).toContain(`remit ${command} ${id}.t1`);
    }
});

test("a folder that gets a ledger of its own says where the runs before are", () => {
    expect(at.remit("run", "one.remit").code).toBe(0);
    at.write(".remit/keep", "");
    const where = `runs of other folders are in ${ledger()}, which --ledger names`;
    expect(at.remit("runs").err).toContain(where);
    expect(at.remit("trace", "last").err).toContain(where);
    expect(at.remit("runs", "--ledger", ledger()).out).toContain("one.remit");
});
