/** What a resume starts from is bound under the user's key: whoever can write the ledger file, but not read the key, cannot steer a run (BN1–BN4). */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { canonicalJson, type Json } from "@remit/language";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../../src/ledger/blob.ts";
import { LedgerError } from "../../src/ledger/error.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore, RunWriter } from "../../src/ledger/store.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";

let folder = "";
let file = "";
let config = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-bound-"));
    file = join(folder, "ledger.db");
    config = join(folder, "config");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SOURCE = `import tool Work from "host:work"
main func(input: { limit: number }) {
    out = []
    for n in [1, 2, 3, 4, 5] max 5 { out.add(Work.step(n)) }
    { limit: input.limit, out: out }
}
`;

/** The ledger file as it stands while runs of `SOURCE` are in their third call, as after `kill -9`. The id of the first run. */
async function stopped(runs = 1): Promise<string> {
    const live = join(folder, "live.db");
    const ledger = await openLedger(live, { config });
    let first = "";
    const begin = async (left: number): Promise<void> => {
        const Work = {
            step: async (n: number): Promise<number> => {
                if (n === 3 && left > 1) await begin(left - 1);
                if (n === 3 && left === 1) {
                    edit(`VACUUM INTO '${file}'`, live);
                    copyFileSync(`${live}.anchors`, `${file}.anchors`);
                }
                return n;
            },
        };
        const program = await load({ source: SOURCE }, { tools: { Work }, ledger: ledger.store, cache: false });
        const handle = program.run({ limit: 10 });
        first ||= handle.id;
        await handle.value;
    };
    await begin(runs);
    await ledger.close();
    edit("UPDATE runs SET owner = NULL");
    return first;
}

function edit(sql: string, at = file): void {
    const db = new DatabaseSync(at);
    db.exec(sql);
    db.close();
}

const calls: number[] = [];
beforeEach(() => {
    calls.length = 0;
});
const Work = {
    step: (n: number): number => {
        calls.push(n);
        return n;
    },
};
async function resumed(at = file, key = config, more: { acceptForeign?: boolean } = {}): Promise<Json> {
    const ledger = await openLedger(at, { config: key });
    try {
        const handle = await ledger.resume<Json>("last", { tools: { Work }, on: { unknown: () => ({ answer: "again" }) }, ...more });
        return await handle.value;
    } finally {
        await ledger.close();
    }
}
async function refusal(at = file, key = config): Promise<LedgerError> {
    try {
        await resumed(at, key);
    } catch (error) {
        if (error instanceof LedgerError) return error;
        throw error;
    }
    throw new Error("it was resumed");
}

test("an untouched run goes on, and verifies before and after", async () => {
    const id = await stopped();
    const ledger = await openLedger(file, { config });
    expect(await ledger.verify(id)).toMatchObject({ ok: true, bound: "yes" });
    await ledger.close();
    expect(await resumed()).toEqual({ limit: 10, out: [1, 2, 3, 4, 5] });
    expect(calls).toEqual([3, 4, 5]);
    const after = await openLedger(file, { config });
    expect(await after.verify(id)).toMatchObject({ ok: true, bound: "yes" });
    await after.close();
});

/** Edits of a file by somebody without the key. */
const ATTACKS: readonly [string, string, RegExp][] = [
    ["another input", `UPDATE runs SET options = json_set(options, '$.input.limit', 99)`, /what the run was started with/],
    ["other limits", `UPDATE runs SET options = json_set(options, '$.limits', json('{"calls":1}'))`, /what the run was started with/],
    ["another workspace", `UPDATE runs SET options = json_set(options, '$.workspace', '/')`, /what the run was started with/],
    ["other locals", `UPDATE continuations SET state = replace(state, '"v":2}', '"v":7}')`, /the saved state/],
    ["a state dropped", "DELETE FROM continuations WHERE n = (SELECT max(n) FROM continuations)", /the saved state/],
    ["all states dropped", "DELETE FROM continuations", /the saved state/],
    ["a state that claims fewer outcomes", "UPDATE continuations SET outcomes = 0", /the saved state/],
    [
        "an effect that had begun made one that had not",
        "UPDATE runs SET pending = replace(pending, ',1,1]', ',0,1]')",
        /effects that had begun/,
    ],
    ["an effect that had begun dropped", "UPDATE runs SET pending = '[]'", /effects that had begun/],
    [
        "an effect added",
        `UPDATE runs SET pending = json_insert(pending, '$[#]', json('["main/Work.step#9",1,1]'))`,
        /effects that had begun/,
    ],
    ["another folder", "UPDATE runs SET root = '/'", /the run's row/],
    ["more time", "UPDATE runs SET spent = 0 - 100000000", /the run's row/],
    ["less spent", "UPDATE runs SET usage = '{\"usd\":0}'", /the run's row/],
    ["fewer steps", "UPDATE runs SET steps = 0", /the run's row/],
    ["another status", "UPDATE runs SET status = 'stopped', ended = 'x'", /the run's row/],
    ["another name", "UPDATE runs SET id = 'zz'", /the run's row|event 1/],
    ["a code of one's own", "UPDATE runs SET bound = substr(bound, 1, length(bound) - 4) || 'beef'", /the run's row/],
];

describe("an edited ledger file is not gone on with", () => {
    test.each(ATTACKS)("%s", async (_name, sql, message) => {
        await stopped();
        const before = readFileSync(file);
        edit(sql);
        expect(readFileSync(file).equals(before)).toBe(false);
        const error = await refusal();
        expect(error.code).toBe("tampered");
        expect(error.message).toMatch(message);
        expect(error.hint).toMatch(/restore a copy/);
        expect(calls).toEqual([]);
        const ledger = await openLedger(file, { config });
        const found = await ledger.verify("last");
        expect(found.ok).toBe(false);
        expect(found.problem?.message).toMatch(message);
        // It can still be looked at.
        expect((await Array.fromAsync(ledger.events("last"))).length).toBeGreaterThan(3);
        await ledger.close();
    });

    test("an outcome that came after the state", async () => {
        const id = await stopped();
        // As if the process had ended between an outcome and the state that follows it.
        const store = openSqlite(file, { config });
        const writer = await store.own(id);
        const [open] = await store.pending(id);
        await writer.commit({ outcomes: [{ path: open?.path ?? "", outcome: { ok: true, value: 3, origins: [] } }] });
        await writer.release();
        await store.close();
        edit(`UPDATE events SET data = replace(data, '"value":3', '"value":8')`);
        const error = await refusal();
        expect(error.code).toBe("tampered");
        expect(error.message).toMatch(/outcome 3/);
        expect(calls).toEqual([]);
    });

    test("the same state of another run of the same program", async () => {
        const first = await stopped(2);
        const key = `(SELECT key FROM runs WHERE id = '${first}')`;
        edit(
            `UPDATE continuations SET state = (SELECT state FROM continuations AS c WHERE c.run = ${key} AND c.n = continuations.n) WHERE run <> ${key}`,
        );
        expect((await refusal()).message).toMatch(/the saved state/);
    });

    test("the code of another run", async () => {
        const first = await stopped(2);
        edit(`UPDATE runs SET bound = (SELECT bound FROM runs WHERE id = '${first}')`);
        expect((await refusal()).code).toBe("tampered");
    });

    test("the file put back to an earlier copy, while its anchors go on", async () => {
        const id = await stopped();
        const early = join(folder, "early.db");
        edit(`VACUUM INTO '${early}'`);
        const store = openSqlite(file, { config });
        const writer = await store.own(id);
        await writer.commit({
            events: [{ path: "main/x", parent: null, kind: "budget", principal: "user", site: null, labels: [], data: { host: true } }],
        });
        await writer.commit({ end: { status: "stopped" } });
        await store.close();
        rmSync(`${file}-wal`, { force: true });
        copyFileSync(early, file);
        const error = await refusal();
        expect(error.code).toBe("tampered");
        expect(error.message).toMatch(/anchored/);
        expect(calls).toEqual([]);
    });
});

describe("a ledger that was copied", () => {
    function copied(): string {
        const copy = join(folder, "copy.db");
        edit(`VACUUM INTO '${copy}'`);
        return copy;
    }

    test("on the same user's machine goes on as it is", async () => {
        await stopped();
        expect(await resumed(copied())).toEqual({ limit: 10, out: [1, 2, 3, 4, 5] });
        expect(calls).toEqual([3, 4, 5]);
    });

    test("to another machine is looked at and replayed, and goes on only when that is said", async () => {
        const id = await stopped();
        const other = join(folder, "other-config");
        const copy = copied();
        const ledger = await openLedger(copy, { config: other });
        expect(await ledger.verify(id)).toMatchObject({ ok: true, bound: "foreign", anchored: "no" });
        expect((await ledger.replay(id)).equal).toBe(true);
        await ledger.close();
        const error = await refusal(copy, other);
        expect(error.code).toBe("elsewhere");
        expect(error.message).toMatch(/another key/);
        expect(error.hint).toMatch(/--accept-foreign/);
        expect(calls).toEqual([]);
        expect(await resumed(copy, other, { acceptForeign: true })).toEqual({ limit: 10, out: [1, 2, 3, 4, 5] });
        const after = await openLedger(copy, { config: other });
        expect(await after.verify(id)).toMatchObject({ ok: true, bound: "yes", anchored: "yes" });
        await after.close();
    });

    test("to another machine and edited there so that its own chains do not hold is refused whatever is said", async () => {
        await stopped();
        const copy = copied();
        edit("UPDATE events SET data = replace(data, '\"value\":2', '\"value\":5')", copy);
        await expect(resumed(copy, join(folder, "other-config"), { acceptForeign: true })).rejects.toMatchObject({ code: "tampered" });
        expect(calls).toEqual([]);
    });

    test("what was edited under one's own key is refused whatever is said", async () => {
        await stopped();
        edit("UPDATE runs SET steps = 0");
        await expect(resumed(file, config, { acceptForeign: true })).rejects.toMatchObject({ code: "tampered" });
    });

    test("a run without a code, of an earlier version or with it taken out, is one from elsewhere", async () => {
        const id = await stopped();
        edit("UPDATE runs SET bound = ''");
        const store = openSqlite(file, { config });
        expect(await store.verify(id)).toMatchObject({ ok: true, bound: "no" });
        await store.close();
        expect((await refusal()).code).toBe("elsewhere");
    });
});

/** A run of a program that holds nothing. */
function begun(store: LedgerStore): Promise<RunWriter> {
    const program = { format: "remit-program/1" as const, files: [] };
    return store.create({ id: "r1", program, hash: sha256(canonicalJson(program)), file: "a.remit", root: "", options: {} });
}

/** Edits of the rows in which a run with many effects under way keeps them. */
const SET_ATTACKS: readonly [string, string, RegExp][] = [
    ["an effect that had begun made one that had not", "UPDATE early SET text = '0 1' WHERE key = 'pending e7'", /effects that had begun/],
    ["one dropped", "DELETE FROM early WHERE key = 'pending e7'", /effects that had begun/],
    ["one added", "INSERT INTO early SELECT run, 'pending e99', '1 1' FROM early LIMIT 1", /effects that had begun/],
    ["one put for another", "UPDATE early SET key = 'pending e99' WHERE key = 'pending e7'", /effects that had begun/],
    [
        "two that trade attempts",
        "UPDATE early SET text = CASE key WHEN 'pending e7' THEN '1 2' ELSE '1 1' END WHERE key IN ('pending e7', 'pending e8')",
        /effects that had begun/,
    ],
    ["all dropped", "DELETE FROM early WHERE key LIKE 'pending %'", /effects that had begun/],
    ["a list in place of the rows", `UPDATE runs SET pending = '[["e7",1,1]]'`, /effects that had begun/],
    ["an empty list in place of the rows", "UPDATE runs SET pending = '[]'", /effects that had begun/],
    [
        "an outcome that came early changed",
        `UPDATE early SET text = replace(text, '"value":1', '"value":2') WHERE key = 'outcome 1 e1'`,
        /before its turn/,
    ],
    ["an outcome that came early dropped", "DELETE FROM early WHERE key = 'outcome 1 e1'", /before its turn/],
    [
        "two outcomes that trade places",
        `UPDATE early SET text = replace(replace(replace(text, '"value":1', '"value":3'), '"value":2', '"value":1'), '"value":3', '"value":2') WHERE key LIKE 'outcome %'`,
        /before its turn/,
    ],
    ["the sets of an earlier moment", "DELETE FROM early; INSERT INTO early SELECT * FROM before", /effects that had begun/],
];

describe("BN5: a run with many effects under way", () => {
    async function many(): Promise<void> {
        const store = openSqlite(file, { config });
        const writer = await begun(store);
        const paths = Array.from({ length: 40 }, (_, i) => `e${i + 1}`);
        await writer.commit({ pending: paths.map((path) => ({ path, begun: false })) });
        edit("CREATE TABLE before AS SELECT * FROM early");
        await writer.commit({ begin: paths, pending: [{ path: "e8", begun: true, attempt: 2 }] });
        for (const n of [1, 2]) await writer.record({ path: `e${n}`, outcome: { ok: true, value: n, origins: [] } });
        await writer.release();
        await store.close();
    }

    test("goes on as it was, down to its last effect", async () => {
        await many();
        const store = openSqlite(file, { config });
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        const writer = await store.own("r1");
        expect((await store.pending("r1")).map(({ path, attempt }) => [path, attempt])).toContainEqual(["e8", 2]);
        for (let n = 1; n <= 40; n++) await writer.commit({ outcomes: [{ path: `e${n}`, outcome: { ok: true, value: 0, origins: [] } }] });
        expect(await store.pending("r1")).toEqual([]);
        // OD3.
        expect((await Array.fromAsync(store.outcomes("r1"))).slice(0, 3).map(({ outcome }) => outcome)).toMatchObject([
            { value: 1 },
            { value: 2 },
            { value: 0 },
        ]);
        await writer.commit({ end: { status: "stopped" } });
        expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await store.close();
    });

    test.each(SET_ATTACKS)("%s: it is not gone on with", async (_name, sql, message) => {
        await many();
        const before = readFileSync(file);
        edit(sql);
        expect(readFileSync(file).equals(before)).toBe(false);
        const store = openSqlite(file, { config });
        await expect(store.own("r1")).rejects.toMatchObject({ code: "tampered", message: expect.stringMatching(message) });
        expect((await store.verify("r1")).problem?.message).toMatch(message);
        await store.close();
    });
});

test("BN4: time that passed between two commits is kept with the heartbeat", async () => {
    const store = openSqlite(file, { config, beat: 5 });
    let now = 0;
    const writer = await begun(store);
    await writer.commit({ spent: 3 });
    now = 41_000;
    writer.timed(() => now);
    await expect.poll(async () => (await store.run("r1")).spent).toBe(41_000);
    expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
    now = 43_000;
    await writer.release();
    expect((await store.run("r1")).spent).toBe(43_000);
    const next = await store.own("r1");
    await next.commit({ end: { status: "stopped" } });
    expect(await store.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
    await store.close();
});

test("a ledger that is closed while a run is under way hears nothing more of it", async () => {
    const store = openSqlite(file, { config, beat: 1 });
    const writer = await begun(store);
    await writer.commit({ spent: 3 });
    const thrown: unknown[] = [];
    const hear = (error: unknown): void => void thrown.push(error);
    process.on("uncaughtExceptionMonitor", hear);
    await store.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("uncaughtExceptionMonitor", hear);
    expect(thrown).toEqual([]);
});
