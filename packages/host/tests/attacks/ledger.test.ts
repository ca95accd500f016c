/** Attacks by a ledger that came with somebody's project: what a person is shown of it is shown, and nothing in it is obeyed or hides the rest. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { load, openLedger } from "../../src/index.ts";

const SOURCE = `import tool Mail from "host:mail" { send: ask }
main agent A { main func() { Mail.send({ to: "dana" }) } }`;
const sent: string[] = [];
const tools = { Mail: { send: (args: { to: string }) => sent.push(args.to) } };

let folder = "";
let file = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-hostile-"));
    file = join(folder, "ledger.db");
    sent.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A run whose question waits. */
async function waiting(): Promise<string> {
    const ledger = await openLedger(file, { config: join(folder, "config") });
    const program = await load({ source: SOURCE }, { ledger: ledger.store, tools, asks: { park: true }, cache: false });
    const { run } = await program.run(null).result;
    await program.close();
    await ledger.close();
    return run;
}
function edit(sql: string): void {
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
}

test.each([
    ["name", "id = id || char(27) || '[2J'"],
    ["name", "id = ''"],
    ["status", "status = 'done' || char(27) || '[2J'"],
    ["beginning", "started = char(27) || ']0;x'"],
    ["end", "ended = 'yesterday'"],
])("a run whose %s no Remit wrote (%s) is told as one that cannot be read", async (field, change) => {
    await waiting();
    const whole = await waiting();
    edit(`UPDATE runs SET ${change} WHERE key = 1`);
    const ledger = await openLedger(file, { config: join(folder, "config") });
    const unreadable: string[] = [];
    expect((await ledger.runs(10, ({ error }) => unreadable.push(error.message))).map(({ id }) => id)).toEqual([whole]);
    expect(unreadable).toEqual([expect.stringContaining(`whose ${field} cannot be read`)]);
    await ledger.close();
});

test.each([
    ["expires", "4000000000000000"],
    ["expires", "9007199254740991"],
    ["asked", "-9007199254740991"],
    ["owner", "'nobody'"],
    ["pending", "'main'"],
    ["path", "'main/Mail.send#7'"],
    ["request", "replace(request, 'dana', 'eve')"],
    ["request", "'{'"],
    ["bound", "'x'"],
    ["schema", "'x'"],
    ["run", "'gone'"],
])("a question whose %s was made %s is shown as changed, and cannot be answered", async (column, value) => {
    const run = await waiting();
    edit(`UPDATE asks SET ${column} = ${value}`);
    const ledger = await openLedger(file, { config: join(folder, "config") });
    const [one, ...others] = await ledger.asks();
    expect(others).toEqual([]);
    expect(one?.tampered).toBe(true);
    const before = JSON.stringify(await ledger.asks());
    await expect(async () => ledger.answer(run, one?.id ?? "", "once")).rejects.toThrow();
    expect(JSON.stringify(await ledger.asks())).toBe(before);
    await ledger.close();
    expect(sent).toEqual([]);
});

test.each([
    ["made an answer by hand", "state = 'answered', decision = 'once', decider = owner, decided = asked, seal = mac"],
    ["made a used answer by hand", "state = 'used', decision = 'session', decider = owner, decided = asked, seal = mac"],
])("whoever %s has allowed nothing", async (_name, change) => {
    const run = await waiting();
    edit(`UPDATE asks SET ${change}`);
    const ledger = await openLedger(file, { config: join(folder, "config") });
    const handle = await ledger.resume(run, { tools });
    expect((await handle.result).status).toBe("waiting");
    expect(sent).toEqual([]);
    expect((await ledger.asks(run)).map(({ state, tampered }) => [state, tampered])).toEqual([
        [expect.anything(), true],
        ["open", undefined],
    ]);
    await ledger.close();
});

test("a changed record, however new it says it is, stands in no other question's way", async () => {
    const run = await waiting();
    edit("UPDATE asks SET asked = 9007199254740991, owner = 'nobody'");
    const ledger = await openLedger(file, { config: join(folder, "config") });
    await (await ledger.resume(run, { tools })).result;
    const asked = (await ledger.asks(run)).find(({ tampered }) => tampered !== true);
    await ledger.answer(run, asked?.id ?? "", "once");
    expect((await (await ledger.resume(run, { tools })).result).status).toBe("done");
    expect(sent).toEqual(["dana"]);
    await ledger.close();
});

test("an answer that was used is used up, also where the file says that it was not", async () => {
    const run = await waiting();
    const config = join(folder, "config");
    const ledger = await openLedger(file, { config });
    await ledger.answer(run, (await ledger.asks(run))[0]?.id ?? "", "once");
    await (await ledger.resume(run, { tools })).result;
    await ledger.close();
    expect(sent).toEqual(["dana"]);
    edit("UPDATE asks SET state = 'answered'");
    const again = await openLedger(file, { config });
    await expect(again.resume(run, { tools })).rejects.toMatchObject({ code: "finished" });
    const other = await waiting();
    edit(`UPDATE asks SET run = '${other}' WHERE run = '${run}'; DELETE FROM asks WHERE state = 'open'`);
    expect((await (await again.resume(other, { tools })).result).status).toBe("waiting");
    await again.close();
    expect(sent).toEqual(["dana"]);
});

test("a file with a journal that names a file to be removed, or with code of a module, is not opened", async () => {
    await waiting();
    const opened = await openLedger(file, { config: join(folder, "config") });
    await (await opened).close();
    // The end of a rollback journal with the name of a "super-journal": SQLite removes what it names.
    const name = join(folder, "precious.txt");
    const rest = Buffer.alloc(16);
    rest.writeUInt32BE(name.length, 0);
    rest.writeUInt32BE(
        Buffer.from(name).reduce((sum, byte) => sum + byte, 0),
        4,
    );
    Buffer.from("d9d505f920a163d7", "hex").copy(rest, 8);
    const journal = `${file}-journal`;
    writeFileSync(journal, Buffer.concat([Buffer.alloc(512), Buffer.from(name), rest]));
    await expect(openLedger(file, { config: join(folder, "config") })).rejects.toMatchObject({ code: "foreign" });
    expect(existsSync(journal)).toBe(true);
    rmSync(journal);
    edit("CREATE VIRTUAL TABLE found USING fts5(text)");
    await expect(openLedger(file, { config: join(folder, "config") })).rejects.toMatchObject({ code: "foreign" });
});
