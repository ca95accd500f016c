/** What holds of the store in PostgreSQL alone: several processes, a server that goes away, rights, TLS, what is seen of changes by another hand. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { BLOB_THRESHOLD } from "../../src/ledger/blob.ts";
import { LedgerError } from "../../src/ledger/error.ts";
import { openStore } from "../../src/ledger/open.ts";
import { addressOf } from "../../src/ledger/address.ts";
import { openPostgres, type PostgresOptions } from "../../src/ledger/postgres/store.ts";
import type { LedgerStore, RunWriter } from "../../src/ledger/store.ts";
import { type PostgresServer, postgres, postgresOfItsOwn } from "../postgres-server.ts";
import { crowdOn } from "./crowds.ts";
import { codeOf, event, fill, kept, newRun, pathOf } from "./stores.ts";

let folder = "";
let address = "";
const open: LedgerStore[] = [];
beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "remit-pg-"));
    address = (await postgres()).fresh();
});
afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
    rmSync(folder, { recursive: true, force: true });
});

/** Another process's view of the same ledger, with the same key. */
async function store(more: Partial<PostgresOptions> = {}, at = address): Promise<LedgerStore> {
    const made = await openPostgres(at, { config: join(folder, "config"), state: join(folder, "state"), ...more });
    open.push(made);
    return made;
}
const schemaOf = (at: string): string => new URL(at).searchParams.get("schema") ?? "";
const sql = async (text: string): Promise<unknown[]> => {
    const server = await postgres();
    return server.query(text.replaceAll("@", `${schemaOf(address)}.`));
};
const failure = async (work: () => Promise<unknown>): Promise<LedgerError> => {
    try {
        await work();
    } catch (error) {
        if (error instanceof LedgerError) return error;
        throw error;
    }
    throw new Error("nothing was thrown");
};

describe("several processes", () => {
    test("of stores that open an empty database at once one makes the tables, and all use them", async () => {
        const all = await Promise.all([1, 2, 3, 4].map(() => store()));
        await Promise.all(all.map((one, i) => fill(one, `r${i}`, 2)));
        expect((await (await store()).runs()).map(({ id }) => id).sort()).toEqual(["r0", "r1", "r2", "r3"]);
    });

    test("of owners that take a run at once one has it", async () => {
        const all = await Promise.all([1, 2, 3, 4].map(() => store()));
        for (let round = 1; round <= 5; round++) {
            const first = await (all[0] as LedgerStore).create(newRun(`r${round}`));
            await first.commit({ events: [event(1)] });
            await first.release();
            const taken = await Promise.allSettled(all.map((one) => one.own(`r${round}`)));
            const won = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
            expect(won.length).toBe(1);
            for (const one of taken) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "owned" });
            await won[0]?.commit({ events: [event(2)] });
            expect(await kept(all[3] as LedgerStore, `r${round}`)).toEqual([1, 2]);
        }
    });

    test("one that commits together with others and fails, fails alone", async () => {
        const one = await store();
        const [a, b] = [await one.create(newRun("a")), await one.create(newRun("b"))];
        const other = await (await store()).own("b", { from: 1 });
        const said = await Promise.allSettled([
            a.commit({ events: [event(1)] }),
            b.commit({ events: [event(1)] }),
            one.create(newRun("a")),
        ]);
        expect(said.map((s) => (s.status === "fulfilled" ? "kept" : s.reason.code))).toEqual(["kept", "owned", "exists"]);
        await other.commit({ events: [event(7)] });
        expect([await kept(one, "a"), await kept(one, "b")]).toEqual([[1], [7]]);
    });

    test("killed after 150 acknowledgements: each of them is there, the chains hold, and the runs can be gone on with", async () => {
        const { signal, acks } = await crowdOn({ ledger: address, config: join(folder, "config") }, 8, null, 150);
        expect([signal, acks.size]).toEqual(["SIGKILL", 8]);
        const next = await store();
        for (const [run, n] of acks) {
            expect((await kept(next, run)).length).toBeGreaterThanOrEqual(n);
            const writer = await next.own(run);
            await writer.commit({ events: [event(1)] });
            expect(await next.verify(run)).toMatchObject({ ok: true, bound: "yes" });
        }
    });

    test("a commit of the owner before that lands while the run is taken is no other owner", async () => {
        const [one, other] = [await store(), await store()];
        for (let n = 0; n < 20; n++) {
            const before = await one.create(newRun(`late-${n}`));
            await before.commit({ events: [event(1)] });
            const [, after] = await Promise.allSettled([before.commit({ events: [event(2)] }), other.own(`late-${n}`, { from: 1 })]);
            expect(after).toMatchObject({ status: "fulfilled", value: { epoch: 2 } });
            expect(await other.verify(`late-${n}`)).toMatchObject({ ok: true, bound: "yes" });
        }
    });

    test("a lease of another machine lasts as long as its heartbeat is young; then the run is taken, and the owner before is refused", async () => {
        const here = await store({ stale: 60_000 });
        const writer = await here.create(newRun("r1"));
        await writer.commit({ events: [event(1)] });
        await sql(`UPDATE @runs SET owner = '{"host":"elsewhere","pid":1,"start":"1 x","nonce":"00"}'`);
        expect(await codeOf(() => here.own("r1"))).toBe("owned");
        // The server runs longer than a lease lasts, and no heartbeat has come for as long.
        const impatient = await store({ stale: 1 });
        await new Promise((resolve) => setTimeout(resolve, 20));
        const next = await impatient.own("r1");
        await next.commit({ events: [event(2)] });
        expect(await codeOf(() => writer.commit({ events: [event(3)] }))).toBe("owned");
        expect(await kept(here, "r1")).toEqual([1, 2]);
    });

    test("a process on another machine of the same name is not taken for one of this machine that ended", async () => {
        const here = await store({ stale: 60_000 });
        await here.create(newRun("r1"));
        const [row] = (await sql("SELECT owner FROM @runs")) as { owner: string }[];
        const owner = JSON.parse(row?.owner as string) as { start: string };
        await sql(`UPDATE @runs SET owner = '${JSON.stringify({ ...owner, pid: 999_999_999, start: "1 another-boot" })}'`);
        expect(await codeOf(() => here.own("r1"))).toBe("owned");
    });

    test("a run waits for an owner although an execution elsewhere has a part of it, and not while a process has one", async () => {
        const one = await store();
        for (const id of ["s-a", "s-b", "s-c"]) await (await one.create(newRun(id))).release();
        await one.create({ ...newRun("s-a.t1"), by: "temporal default/s-a.t1/1" });
        const part = await one.create(newRun("s-b.t1"));
        await one.own("s-c", { by: "temporal default/s-c/1" });
        const open = (await one.team?.open("s-"))?.map(({ id, live }) => [id, live]).sort();
        expect(open).toEqual([
            ["s-a", false],
            ["s-b", true],
            ["s-c", true],
        ]);
        await part.release();
    });

    test("a process hears that another one has committed", async () => {
        const [a, b] = [await store(), await store()];
        const writer = await a.create(newRun("r1"));
        await using heard = hearing(b);
        await heard.until(null);
        await writer.commit({ events: [event(1)] });
        await heard.until("r1");
        expect(await kept(b, "r1")).toEqual([1]);
    });
});

test("PGC4: a ledger that is closed while its connection begins to listen leaves none behind", async () => {
    const server = await postgres();
    const at = server.fresh();
    const store = await openPostgres(at, { config: join(folder, "config") });
    const { team } = store as Required<LedgerStore>;
    const heard = failure(() => team.hear(() => undefined));
    store.changed?.(() => undefined);
    await store.close();
    expect(await heard).toMatchObject({ code: "away" });
    const { schema } = Object.fromEntries(new URL(at).searchParams) as { readonly schema: string };
    // A connection that was being made when the ledger was closed would be there by now.
    for (let looked = 0; looked < 10; looked++) {
        const left = await server.query("SELECT query FROM pg_stat_activity WHERE query LIKE $1", [`LISTEN "remit_${schema}_%`]);
        expect(left).toEqual([]);
    }
});

/** Waits for news without looking at a clock. */
function hearing(one: LedgerStore): AsyncDisposable & { until(run: string | null): Promise<void> } {
    const said: (string | null)[] = [];
    let wake = (): void => undefined;
    const end = one.changed?.((run) => {
        said.push(run);
        wake();
    });
    return {
        until: async (run) => {
            while (!said.includes(run)) await new Promise<void>((resolve) => (wake = resolve));
        },
        [Symbol.asyncDispose]: async () => end?.(),
    };
}

describe("a server that goes away", () => {
    let server: PostgresServer;
    afterAll(async () => server?.stop());
    const own = async (): Promise<string> => {
        server ??= await postgresOfItsOwn("max_connections = 12");
        return server.fresh();
    };

    test("PJ2: connections that are ended in the middle of commits lose nothing and double nothing", async () => {
        const at = await own();
        const one = await store({}, at);
        const writers = await Promise.all(["a", "b", "c"].map((id) => one.create(newRun(id))));
        const all: Promise<unknown>[] = [];
        for (let n = 1; n <= 60; n++) {
            for (const writer of writers) all.push(writer.commit({ events: [event(n)] }));
            if (n % 4 === 0) await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'remit'");
        }
        await Promise.all(all);
        for (const { id } of writers) {
            expect(await kept(one, id)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
            expect(await one.verify(id)).toMatchObject({ ok: true, events: 60, bound: "yes" });
        }
    });

    test("killed and started again in the middle of commits: what was acknowledged is there, what was called is kept once", async () => {
        const at = await own();
        const one = await store({}, at);
        const writer = await one.create(newRun("r1"));
        await writer.commit({ events: [event(1)] });
        const all = [2, 3, 4].map((n) => patiently(writer, n));
        await server.kill();
        all.push(...[5, 6].map((n) => patiently(writer, n)));
        const reading = one.run("r1");
        await server.start();
        await Promise.all(all);
        expect(await kept(one, "r1")).toEqual([1, 2, 3, 4, 5, 6]);
        expect((await reading).id).toBe("r1");
        expect(await one.verify("r1")).toMatchObject({ ok: true, bound: "yes" });
        await one.asks.list();
    });

    test("PJ3: a run is told that the server is away, and what it has in hand is kept when it comes back", async () => {
        const at = await own();
        const one = await store({}, at);
        const writer = await one.create(newRun("r1"));
        await server.kill();
        try {
            expect(await failure(() => writer.commit({ events: [event(1)] }, 1))).toMatchObject({ code: "away" });
            expect(await failure(() => openPostgres(at, { config: join(folder, "config") }))).toMatchObject({ code: "away" });
        } finally {
            await server.start();
        }
        await writer.commit({ events: [event(1)] }, 1);
        await writer.commit({ events: [event(2)] }, 2);
        expect(await kept(one, "r1")).toEqual([1, 2]);
    });

    test("a store that is closed while the server is away ends, and refuses what waits", async () => {
        const at = await own();
        const one = await openPostgres(at, { config: join(folder, "config") });
        const writer = await one.create(newRun("r1"));
        await server.kill();
        try {
            const waits = failure(() => writer.commit({ events: [event(1)] }));
            await one.close();
            expect(await waits).toMatchObject({ code: "away" });
        } finally {
            await server.start();
        }
    });

    test("more readers than connections wait for each other; a server without room is waited for", async () => {
        const at = await own();
        const one = await store({}, `${at}&pool=2`);
        await fill(one, "r1", 5);
        const all = await Promise.all(Array.from({ length: 60 }, () => one.run("r1")));
        expect(new Set(all.map(({ events }) => events))).toEqual(new Set([5]));
        // 12 connections, 3 of them for superusers.
        const others = await Promise.all(Array.from({ length: 12 }, () => held(server)));
        const other = failure(() => openPostgres(at, { config: join(folder, "config") }));
        expect(await other).toMatchObject({ code: "away" });
        const waits = one.run("r1");
        for (const release of others) await release();
        expect((await waits).id).toBe("r1");
    });
});

/** As the shell of a run does (SW1): what the store could not take for a while is given to it again under its number. */
async function patiently(writer: RunWriter, n: number): Promise<void> {
    for (;;)
        try {
            return void (await writer.commit({ events: [event(n)] }, n));
        } catch (error) {
            if (!(error instanceof LedgerError) || error.code !== "away") throw error;
        }
}

/** A connection that is held until it is let go; null where there is no room for it. */
async function held(server: PostgresServer): Promise<() => Promise<void>> {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: server.address });
    client.on("error", () => undefined);
    try {
        await client.connect();
        return () => client.end();
    } catch {
        // No room is what this is for.
        return async () => undefined;
    }
}

describe("who may", () => {
    test("a wrong password is told without the password, and a right one works, from the environment too", async () => {
        const server = await postgresOfItsOwn();
        try {
            await server.query("CREATE ROLE team LOGIN PASSWORD 'corr%ct horse'");
            await server.query("CREATE DATABASE team OWNER team");
            const hba = join(server.folder, "data", "pg_hba.conf");
            writeFileSync(hba, "host team team 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n");
            await server.query("SELECT pg_reload_conf()");
            const at = (password: string): string => `postgres://team${password}@127.0.0.1:${server.port}/team`;
            for (const [password, env] of [
                [":wrong-secret", {}],
                ["", { PGPASSWORD: "wrong-secret" }],
            ] as const) {
                const error = await failure(() => openPostgres(at(password), { config: join(folder, "config"), env }));
                expect(error.code).toBe("denied");
                expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain("wrong-secret");
            }
            const one = await store({}, at(":corr%25ct%20horse"));
            expect(one.path).toBe(`postgres://127.0.0.1:${server.port}/team`);
            await fill(one, "r1", 1);
            const other = await store({ env: { PGPASSWORD: "corr%ct horse" } }, at(""));
            expect((await other.run("r1")).status).toBe("done");
            // A user that may only look.
            await server.query("CREATE ROLE looker LOGIN PASSWORD 'look'");
            const error = await failure(() => openPostgres(`postgres://looker:look@127.0.0.1:${server.port}/team`, { config: folder }));
            expect(error.code).toBe("denied");
            await Promise.all(open.splice(0).map((each) => each.close()));
        } finally {
            await server.stop();
        }
    });

    test("PA2: TLS is checked on another machine, and where the address says so", async () => {
        expect(addressOf("postgres://h.example/db", {}).client.ssl).toMatchObject({ rejectUnauthorized: true });
        expect(addressOf("postgres://h.example/db?sslmode=disable", {}).client.ssl).toBe(false);
        const server = await postgresOfItsOwn();
        try {
            const data = join(server.folder, "data");
            const files = { key: join(data, "server.key"), cert: join(data, "server.crt") };
            const args = [
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost",
            ];
            expect(spawnSync("openssl", [...args, "-keyout", files.key, "-out", files.cert]).status).toBe(0);
            const { uid, gid } = statSync(data);
            for (const file of Object.values(files)) chownSync(file, uid, gid);
            chmodSync(files.key, 0o600);
            await server.query("ALTER SYSTEM SET ssl = on");
            await server.query("SELECT pg_reload_conf()");
            const at = (more: string): string => `postgres://postgres@localhost:${server.port}/postgres?${more}`;
            const mine = `sslmode=verify-full&sslrootcert=${encodeURIComponent(files.cert)}`;
            // The server answers in plain until it has read its settings.
            let one: LedgerStore | null = null;
            while (one === null) one = await openPostgres(at(mine), { config: folder }).catch(() => null);
            await fill(one, "r1", 1);
            await one.close();
            // Nothing vouches for the certificate.
            expect(await failure(() => openPostgres(at("sslmode=verify-full"), { config: folder }))).toMatchObject({ code: "away" });
            await (await openPostgres(at("sslmode=require"), { config: folder })).close();
        } finally {
            await server.stop();
        }
    });

    test.each([
        ["postgres://h/db?shema=x", /'shema'/],
        ["postgres://h", /no database/],
        ["postgres://h/db?schema=a;b", /schema/],
        ["postgres://h/db?pool=0", /pool/],
        ["postgres://h/db?sslmode=prefer", /sslmode/],
        ["postgres://u:se%2cret%@h/db", /%/],
    ])("an address that is wrong is told without what is secret in it: %s", async (wrong, message) => {
        const error = await failure(() => openStore(wrong, { config: folder }));
        expect(error.code).toBe("address");
        expect(error.message).toMatch(message);
        expect(error.message).not.toContain("se%2cret");
    });

    test("a schema with other tables is not ours, and one of a newer version is refused", async () => {
        const schema = schemaOf(address);
        const server = await postgres();
        await server.query(`CREATE SCHEMA ${schema}`);
        await server.query(`CREATE TABLE ${schema}.customers (id int)`);
        expect(await failure(() => store())).toMatchObject({ code: "foreign" });
        expect(await server.query(`SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`)).toEqual([{ tablename: "customers" }]);
        await server.query(`DROP TABLE ${schema}.customers`);
        await fill(await store(), "r1", 1);
        await sql("UPDATE @meta SET value = '99' WHERE key = 'version'");
        expect(await failure(() => store())).toMatchObject({ code: "schema" });
    });

    test("read only: it makes nothing, and shows what is there", async () => {
        expect(await failure(() => store({ readOnly: true }))).toMatchObject({ code: "unknown" });
        expect(await sql(`SELECT 1 FROM pg_namespace WHERE nspname = '${schemaOf(address)}'`)).toEqual([]);
        await fill(await store(), "r1", 2);
        const looks = await store({ readOnly: true });
        expect((await looks.run("r1")).value).toBe(2);
        expect(await looks.verify("r1")).toMatchObject({ ok: true, anchored: "yes" });
        await expect(looks.create(newRun("r2"))).rejects.toMatchObject({ code: expect.stringMatching(/readonly|busy/) });
    });

    test("REMIT_LEDGER_KEY is the key of processes on several machines; one that is none is refused", async () => {
        const env = { REMIT_LEDGER_KEY: "ab".repeat(32) };
        const one = await store({ env, config: join(folder, "a") });
        await (await one.create(newRun("r1"))).release();
        expect((await (await store({ env, config: join(folder, "b") })).own("r1")).epoch).toBe(2);
        expect(await codeOf(async () => (await store({ config: join(folder, "c") })).own("r1"))).toBe("owned");
        await (await one.create(newRun("r2"))).release();
        expect(await codeOf(async () => (await store({ config: join(folder, "c") })).own("r2"))).toBe("elsewhere");
        const error = await failure(() => store({ env: { REMIT_LEDGER_KEY: "short-secret" } }));
        expect([error.code, error.message.includes("short-secret")]).toEqual(["key", false]);
    });
});

describe("what another hand changed is seen", () => {
    test.each([
        ["an event", "UPDATE @events SET data = '{\"n\":9}' WHERE seq = 2", "event"],
        ["an event that was dropped", "DELETE FROM @events WHERE seq = 1", "event"],
        ["an outcome", 'UPDATE @outcomes SET data = \'{"ok":true,"value":9,"origins":[]}\' WHERE n = 1', "outcome"],
        ["the row", "UPDATE @runs SET steps = 99", "row"],
        ["the program", "UPDATE @programs SET form = '{}'", undefined],
    ])("%s", async (_name, change, what) => {
        const one = await store();
        const writer = await one.create(newRun("r1"));
        for (let n = 1; n <= 3; n++)
            await writer.commit({ events: [event(n)], outcomes: [{ path: pathOf(n), outcome: { ok: true, value: n, origins: [] } }] });
        await writer.commit({ end: { status: "stopped" } });
        expect(await one.verify("r1")).toMatchObject({ ok: true, anchored: "yes" });
        await sql(change);
        if (what !== undefined) expect(await one.verify("r1")).toMatchObject({ ok: false, problem: { what } });
        if (what === "row" || what === "outcome") expect(await codeOf(() => one.own("r1"))).toBe("tampered");
        if (what === undefined) expect(await codeOf(async () => one.program((await one.run("r1")).program))).toBe("tampered");
    });

    test("ANP1: a tail that was cut is seen where the run was written, and a run that was dropped is missed there", async () => {
        const one = await store();
        for (const id of ["r1", "r2", "r3"]) await fill(one, id, 3);
        await sql("DELETE FROM @events WHERE seq = 3 AND run = (SELECT key FROM @runs WHERE id = 'r1')");
        const [last] = (await sql("SELECT hash FROM @events WHERE seq = 2 AND run = (SELECT key FROM @runs WHERE id = 'r1')")) as {
            hash: string;
        }[];
        await sql(`UPDATE @runs SET count = 2, head = '${last?.hash}' WHERE id = 'r1'`);
        expect(await one.verify("r1")).toMatchObject({ ok: false, problem: { what: "event", seq: 3 } });
        await sql("DELETE FROM @runs WHERE id = 'r2'");
        // Another process of another machine removes one in good order.
        await (await store({ state: join(folder, "another machine") })).remove(["r3"]);
        expect(await one.dropped()).toEqual(["r2"]);
        // Only who has the key can say that it went in good order.
        await sql(`INSERT INTO @removed VALUES ('r2', '${"0".repeat(64)}')`);
        expect(await one.dropped()).toEqual(["r2"]);
    });

    test("a text stays as long as a run needs it, also with a character that PostgreSQL takes in no text", async () => {
        const one = await store();
        const big = `\u0000${"ü".repeat(BLOB_THRESHOLD)}`;
        for (const id of ["r1", "r2"])
            await (await one.create(newRun(id))).commit({ events: [event(1, { n: 1, big })], end: { status: "stopped" } });
        expect(await sql("SELECT count(*)::int AS n FROM @blobs")).toEqual([{ n: 1 }]);
        await one.remove(["r1"]);
        expect((await Array.fromAsync(one.events("r2")))[0]?.data).toEqual({ n: 1, big });
        await one.remove(["r2"]);
        expect(await sql("SELECT (SELECT count(*) FROM @blobs)::int AS blobs, (SELECT count(*) FROM @programs)::int AS programs")).toEqual([
            { blobs: 0, programs: 0 },
        ]);
    });

    test("CPR2: a text that is compressed on another one stays readable when the run that wrote the other is removed", async () => {
        const one = await store();
        const base = Array.from({ length: 4000 }, (_, n) => `${n.toString(36)} line ${n * 7919}`).join("\n");
        const first = await one.create(newRun("r1"));
        await first.commit({ events: [event(1, { n: 1, base })] });
        await first.commit({ events: [event(2, { n: 2, more: `${base} and more` })], end: { status: "stopped" } });
        const second = await one.create(newRun("r2"));
        await second.commit({ events: [event(1, { n: 1, more: `${base} and more` })], end: { status: "stopped" } });
        await one.remove(["r1"]);
        expect((await Array.fromAsync(one.events("r2")))[0]?.data).toEqual({ n: 1, more: `${base} and more` });
        expect(await one.verify("r2")).toMatchObject({ ok: true });
        await one.remove(["r2"]);
        expect(await sql("SELECT count(*)::int AS n FROM @blobs")).toEqual([{ n: 0 }]);
    });

    test("an id with a character that PostgreSQL takes in no text names nothing", async () => {
        const one = await store();
        expect(await codeOf(() => one.run("r\u00001"))).toBe("unknown");
        await expect(one.asks.decide("a\u0000", "once", "os:1")).rejects.toMatchObject({ code: "unknown" });
    });
});
