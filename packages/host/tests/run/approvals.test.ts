/**
 * Questions that wait (AP1–AP4, AK1–AK4): what an answer is good for, and every way to get one that is not given.
 *
 * Why it is long: one list of ways to come by an approval, all of which begin with the same program and ledger.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Json } from "@remit/language";
import type { AskRequest } from "@remit/machine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { type Ledger, openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import type { RunResult } from "../../src/run/handle.ts";

const ME = "os:me";
let folder = "";
let store: LedgerStore;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-asks-"));
    store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
});
afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
});

/** Sends through a tool of the calling program; `sent` is what arrived. */
const sent: Json[] = [];
beforeEach(() => void sent.splice(0));
const mail = (description = "sends") => ({
    Mail: {
        send: {
            description,
            input: { type: "object" } as Json,
            call: (args: Json) => {
                sent.push(args);
                return { ok: true };
            },
        },
    },
});
const PROGRAM = `import tool Mail from "host:mail" { send: ask }
main agent A { main func(input) {
    a = Mail.send({ to: input.to })
    b = Mail.send({ to: "second" })
    [a, b]
} }`;

async function begin(options: LoadOptions = {}, text = PROGRAM): Promise<RunResult> {
    const program = await load(
        { source: text },
        {
            ledger: store,
            workspace: folder,
            cache: false,
            tools: mail(),
            asks: { park: true, owner: ME },
            ...options,
        },
    );
    try {
        return await program.run({ to: "bob" }).result;
    } finally {
        await program.close();
    }
}

test("a question about a write shows the file as it is, without its secrets, of one line or of several", async () => {
    const [key, pem] = ["sk-1234567890abcdef1234", "-----BEGIN KEY-----\nMIIabcdefghijkl\n-----END KEY-----"];
    writeFileSync(join(folder, "a.env"), `KEY=${key}\nPEM=${pem}\nX=1\n`);
    const text = `import tool Files from "file://workspace" { write: ask }\nmain func() { Files.write({ path: "a.env", content: "X=1\\n" }) }`;
    await begin({ env: { OPENAI_API_KEY: key, MY_PRIVATE_KEY: pem } }, text);
    const [ask] = await store.asks.list();
    expect(ask?.request.detail).toMatchObject({
        changes: { content: "- KEY=[secret env:OPENAI_API_KEY]\n- PEM=[secret env:MY_PRIVATE_KEY]\n  X=1\n" },
    });
});
async function again(id: string, tools = mail()): Promise<RunResult> {
    const ledger = await openLedger(store);
    return (await ledger.resume<Json>(id, { tools })).result;
}
const open = async (run: string) => (await store.asks.list(run)).filter((one) => one.state === "open");
const one = async (run: string) => (await open(run))[0] as NonNullable<Awaited<ReturnType<typeof open>>[number]>;
/** The whole record, as it is in the file. */
const record = (id: string): unknown => {
    const db = new DatabaseSync(join(folder, "ledger.db"), { readOnly: true });
    try {
        return { ...db.prepare("SELECT * FROM asks WHERE id = ?").get(id) };
    } finally {
        db.close();
    }
};
const forge = (sql: string, ...values: string[]): void => {
    const db = new DatabaseSync(join(folder, "ledger.db"));
    try {
        db.prepare(sql).run(...values);
    } finally {
        db.close();
    }
};
/** Refused with this code, and the record is untouched. */
async function refused(id: string, code: string, work: () => Promise<unknown>): Promise<void> {
    const before = record(id);
    await expect(work).rejects.toThrow(expect.objectContaining({ code }));
    expect(record(id)).toEqual(before);
}

describe("a question that waits", () => {
    test("the run stops, the answer comes from elsewhere, the run goes on; once is for one call", async () => {
        const first = await begin();
        expect(first).toMatchObject({ status: "waiting", ok: false, failure: { kind: "waiting" } });
        expect(await open(first.run)).toMatchObject([
            {
                path: "main/Mail.send#0/ask",
                owner: ME,
                request: { detail: { capability: "Mail.send", args: [{ to: "bob" }], origins: { to: ["user"] } } },
            },
        ]);
        expect(sent).toEqual([]);
        await store.asks.decide((await one(first.run)).id, "once", ME);
        const second = await again(first.run);
        expect(second.status).toBe("waiting");
        expect(sent).toEqual([{ to: "bob" }]);
        await store.asks.decide((await one(first.run)).id, "deny", ME);
        const third = await again(first.run);
        expect(third).toMatchObject({ status: "failed", failure: { kind: "denied" } });
        expect(sent).toEqual([{ to: "bob" }]);
        const ledger = await openLedger(store);
        expect((await ledger.verify(first.run)).ok).toBe(true);
        expect(await ledger.replay(first.run)).toMatchObject({ equal: true });
    });

    test("an answer for the session is for every call of that method, also after the process ended", async () => {
        const { run } = await begin();
        await store.asks.decide((await one(run)).id, "session", ME);
        expect(await again(run)).toMatchObject({ status: "done" });
        expect(sent).toEqual([{ to: "bob" }, { to: "second" }]);
    });

    test("abort ends the run, and nothing waits any more", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        await store.asks.decide(id, "abort", ME);
        expect(await again(run)).toMatchObject({ status: "failed", failure: { kind: "cancelled" } });
        await refused(id, "answered", () => store.asks.decide(id, "once", ME));
        expect(sent).toEqual([]);
    });

    test("nobody there and nothing said of waiting is a no", async () => {
        expect(await begin({ asks: { owner: ME } })).toMatchObject({ status: "failed", failure: { kind: "denied" } });
        expect(await store.asks.list()).toEqual([]);
    });

    test("resuming without an answer keeps the question as it is", async () => {
        const { run } = await begin();
        const before = record((await one(run)).id);
        expect((await again(run)).status).toBe("waiting");
        expect(record((await one(run)).id)).toEqual(before);
        expect(await open(run)).toHaveLength(1);
    });

    test("the same in memory", async () => {
        await store.close();
        store = memoryStore();
        const { run } = await begin();
        await expect(async () => store.asks.decide((await one(run)).id, "once", "os:you")).rejects.toThrow(
            expect.objectContaining({ code: "owner" }),
        );
        await store.asks.decide((await one(run)).id, "session", ME);
        expect((await again(run)).status).toBe("done");
        await expect(async () => store.asks.decide((await store.asks.list(run))[0]?.id ?? "", "once", ME)).rejects.toThrow(
            expect.objectContaining({ code: "answered" }),
        );
    });

    test("a run that is removed takes its questions along", async () => {
        const { run } = await begin();
        const other = await begin();
        await store.remove([run]);
        expect((await store.asks.list()).map((one) => one.run)).toEqual([other.run]);
    });

    test("no secret is in a record", async () => {
        const text = PROGRAM.replace('"second"', "input.to");
        const program = await load(
            { source: text },
            {
                ledger: store,
                workspace: folder,
                cache: false,
                tools: mail(),
                env: { MAIL_TOKEN: "s3cr3t-and-long-enough" },
                asks: { park: true, owner: ME },
            },
        );
        const { run } = await program.run({ to: "x s3cr3t-and-long-enough y" }).result;
        await program.close();
        expect(JSON.stringify(record((await one(run)).id))).not.toContain("s3cr3t");
        expect(JSON.stringify(await Array.fromAsync(store.events(run)))).not.toContain("s3cr3t");
        expect((await one(run)).request.detail).toMatchObject({ args: [{ to: "x [secret env:MAIL_TOKEN] y" }] });
    });
});

describe("attacks on an approval", () => {
    const ledgerOf = (): Promise<Ledger> => openLedger(store);

    test("wrong owner", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        await refused(id, "owner", () => store.asks.decide(id, "once", "os:you"));
        const ledger = await ledgerOf();
        await refused(id, "owner", () => ledger.answer(run, id, "once", "os:0:root"));
        expect((await again(run)).status).toBe("waiting");
        expect(sent).toEqual([]);
    });

    test("double click: the second answer is told, whatever it says", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        await store.asks.decide(id, "deny", ME);
        for (const answer of ["once", "session", "deny"]) await refused(id, "answered", () => store.asks.decide(id, answer, ME));
        expect((await again(run)).failure?.kind).toBe("denied");
        await refused(id, "answered", () => store.asks.decide(id, "once", ME));
    });

    test("an answer that was not offered", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        for (const answer of ["", "yes", "ONCE", "__proto__", "once "])
            await refused(id, "option", () => store.asks.decide(id, answer, ME));
    });

    test("after expiry: a no", async () => {
        const { run } = await begin({ asks: { park: true, owner: ME, expires: 1 } });
        const [ask] = await store.asks.list(run);
        await new Promise((resolve) => setTimeout(resolve, 5));
        await refused(ask?.id ?? "", "expired", () => store.asks.decide(ask?.id ?? "", "once", ME));
        expect(await again(run)).toMatchObject({
            status: "failed",
            failure: { kind: "denied", message: expect.stringContaining("in time") },
        });
        expect(sent).toEqual([]);
    });

    test("when that is, is told by the ledger's clock", async () => {
        const { asks } = store;
        const now = Date.parse("2030-01-01T00:00:00.000Z");
        const shared = { ...store, asks: { ...asks, now: () => now } };
        const program = await load({ source: 'memory static ( approve "Send it?" )' }, { ledger: shared, asks: { owner: ME } });
        const { run } = await program.run(null, { asks: { park: true, owner: ME, expires: 60_000 } }).result;
        await program.close();
        expect(await asks.list(run)).toMatchObject([{ expires: "2030-01-01T00:01:00.000Z" }]);
    });

    test("a stage says itself how long it can be answered, also while a person looks at the question", async () => {
        const source = 'memory static ( approve "Send it?" with { timeout: 20ms } )';
        const program = await load({ source }, { ledger: "memory", asks: { owner: ME } });
        const ask = (_: AskRequest, { signal }: { readonly signal: AbortSignal }): Promise<null> =>
            new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));
        const { failure } = await program.run(null, { on: { ask } }).result;
        await program.close();
        expect(failure).toMatchObject({ kind: "denied", message: expect.stringContaining("no answer came in time") });
    });

    test.each([
        [Number.POSITIVE_INFINITY, "open", "+275760-09-13T00:00:00.000Z"],
        [1e17, "open", "+275760-09-13T00:00:00.000Z"],
        [Number.NaN, "expired", "1970-01-01T00:00:00.000Z"],
    ])("an end after %d ms is the furthest one that can be told, or none at all", async (expires, state, end) => {
        const { run } = await begin({ asks: { park: true, owner: ME, expires } });
        expect(await store.asks.list(run)).toMatchObject([{ state, expires: end }]);
    });

    test("after the run has ended", async () => {
        const both = `import tool Mail from "host:mail" { send: ask }
main agent A { main func(input) { parallel for to in ["a", "b"] max 2 { Mail.send({ to: to }) } } }`;
        const { run } = await begin({}, both);
        const [a, b] = await open(run);
        await store.asks.decide(a?.id ?? "", "abort", ME);
        expect((await again(run)).failure?.kind).toBe("cancelled");
        await refused(b?.id ?? "", "lost", () => store.asks.decide(b?.id ?? "", "once", ME));
        expect(sent).toEqual([]);
    });

    test("a decision written by hand: forged state, owner, arguments, bound, expiry, seal of another record", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        const other = await begin();
        const theirs = (await one(other.run)).id;
        await store.asks.decide(theirs, "once", ME);
        const tries: [string, ...string[]][] = [
            ["UPDATE asks SET state = 'answered', decision = 'once', decider = ?, decided = 1, seal = '' WHERE id = ?", ME, id],
            [
                "UPDATE asks SET state = 'answered', decision = 'once', decider = (SELECT decider FROM asks WHERE id = ?1), decided = (SELECT decided FROM asks WHERE id = ?1), seal = (SELECT seal FROM asks WHERE id = ?1) WHERE id = ?2",
                theirs,
                id,
            ],
        ];
        for (const [sql, ...values] of tries) {
            const before = record(id);
            forge(sql, ...values);
            expect((await store.asks.list(run))[0]).toMatchObject({ tampered: true });
            await expect(async () => store.asks.decide(id, "once", ME)).rejects.toThrow(expect.objectContaining({ code: "tampered" }));
            expect((await again(run)).status).toBe("waiting");
            expect(sent).toEqual([]);
            // Put back, and what was asked anew meanwhile is taken away.
            forge("DELETE FROM asks WHERE run = ? AND id <> ?", run, id);
            forge("UPDATE asks SET state = 'open', decision = NULL, decider = NULL, decided = NULL, seal = NULL WHERE id = ?", id);
            expect(record(id)).toEqual(before);
        }
        for (const change of [
            "owner = 'os:you'",
            "expires = expires + 1",
            "request = replace(request, 'bob', 'eve')",
            "path = 'main/x'",
            "bound = 'x'",
            "schema = 'x'",
        ]) {
            const before = record(id) as { [key: string]: string };
            forge(`UPDATE asks SET ${change} WHERE id = ?`, id);
            await refused(id, "tampered", () => store.asks.decide(id, "once", ME));
            await refused(id, "tampered", () => store.asks.decide(id, "once", "os:you"));
            const column = change.split(" ")[0] as string;
            forge(`UPDATE asks SET ${column} = ? WHERE id = ?`, String(before[column]), id);
        }
        // The record is as it was, and takes an answer.
        await store.asks.decide(id, "session", ME);
        expect((await again(run)).status).toBe("done");
    });

    test("replayed: a used answer put back does nothing, and none is good for another call or another run", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        await store.asks.decide(id, "once", ME);
        expect((await again(run)).status).toBe("waiting");
        forge("UPDATE asks SET state = 'answered' WHERE id = ?", id);
        expect((await again(run)).status).toBe("waiting");
        expect(sent).toHaveLength(1);
        // For the second call, and for another run.
        const next = await one(run);
        forge("UPDATE asks SET path = ? WHERE id = ?", next.path, id);
        expect((await again(run)).status).toBe("waiting");
        const other = await begin();
        forge("UPDATE asks SET run = ?, path = ? WHERE id = ?", other.run, "main/Mail.send#0/ask", id);
        expect((await again(other.run)).status).toBe("waiting");
        expect(sent).toHaveLength(1);
    });

    test("AU1: given before the ledger was copied: used in one of the two, asked again in the other", async () => {
        const { run } = await begin();
        await store.asks.decide((await one(run)).id, "once", ME);
        const copy = join(folder, "copy.db");
        const db = new DatabaseSync(join(folder, "ledger.db"));
        db.exec(`VACUUM INTO '${copy}'`);
        db.close();
        await again(run);
        expect(sent).toEqual([{ to: "bob" }]);
        const other = openSqlite(copy, { config: join(folder, "config") });
        const result = await (await (await openLedger(other)).resume<Json>(run, { tools: mail() })).result;
        expect(result.status).toBe("waiting");
        expect(sent).toEqual([{ to: "bob" }]);
        expect((await other.asks.list(run)).map(({ state, decision }) => [state, decision])).toEqual([
            ["withdrawn", "once"],
            ["open", undefined],
        ]);
        await other.close();
    });

    test("AU1: where the state folder does not remember an answer, it is asked again", async () => {
        const { run } = await begin();
        await store.asks.decide((await one(run)).id, "once", ME);
        rmSync(join(folder, "config", "answers"), { recursive: true });
        expect((await again(run)).status).toBe("waiting");
        expect(sent).toEqual([]);
    });

    test.each(["DELETE FROM asks", "DROP TABLE asks"])(
        "a record that is taken away while a person is asked (%s) is no yes, and ends no process",
        async (sql) => {
            const ask = (_request: unknown, { signal }: { readonly signal: AbortSignal }) => {
                forge(sql);
                return new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("once")));
            };
            const { run, ok } = await begin({ on: { ask }, asks: { owner: ME } });
            expect(ok).toBe(false);
            expect(sent).toEqual([]);
            expect((await store.verify(run)).ok).toBe(true);
        },
    );

    test("a tool that changed after it was asked about is asked about again, with the answer kept out", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        await store.asks.decide(id, "once", ME);
        const changed = mail("sends, and a copy to everybody");
        expect((await again(run, changed)).status).toBe("waiting");
        expect(sent).toEqual([]);
        expect((await one(run)).id).not.toBe(id);
        expect((await store.asks.list(run))[0]).toMatchObject({ id, state: "withdrawn" });
        await store.asks.decide((await one(run)).id, "once", ME);
        expect((await again(run, changed)).status).toBe("waiting");
        expect(sent).toEqual([{ to: "bob" }]);
    });

    test("AP6: while the tool cannot be described its question and a yes stay, to be used when it can; a no counts at once", async () => {
        const { run } = await begin();
        const { id } = await one(run);
        const without = async (): Promise<RunResult> => {
            const ledger = await openLedger(store);
            return (await ledger.resume<Json>(run, { tools: {}, park: false })).result;
        };
        expect(await without()).toMatchObject({ status: "waiting" });
        expect(await one(run)).toMatchObject({ id });
        await store.asks.decide(id, "once", ME);
        expect(await without()).toMatchObject({
            status: "waiting",
            failure: { message: expect.stringMatching(/Mail\.send.*cannot be described now.*answer to its question is kept/) },
        });
        expect((await store.asks.list(run)).map((ask) => [ask.id, ask.state])).toEqual([[id, "answered"]]);
        expect((await again(run)).status).toBe("waiting");
        expect(sent).toEqual([{ to: "bob" }]);
        await store.asks.decide((await one(run)).id, "deny", ME);
        expect(await without()).toMatchObject({ status: "failed", failure: { kind: "denied" } });
    });

    test.each([
        ["changes", "turn", [expect.stringContaining("not described as it was")], "had changed"],
        ["leaves", "leave", [], "Mail.send cannot be described now"],
    ])(
        "a tool that %s under an answer for the session is not taken to be the same: what changed is asked about again",
        async (_what, how, more, said) => {
            const asked: string[] = [];
            const text = `import tool Mail from "host:mail" { send: ask }
main agent A { main func(input) {
    a = Mail.send({ to: "one" })
    try { Mail.${how}({}) } catch e { e.kind }
    b = try { Mail.send({ to: "two" }) } catch e { e.message }
    b
} }`;
            const file = join(folder, "server.mjs");
            writeFileSync(file, server());
            writeFileSync(
                join(folder, "remit.json"),
                JSON.stringify({ mcpServers: { mail: { command: process.execPath, args: [file] } } }),
            );
            const program = await load(
                { source: text.replace("host:mail", "mcp://mail") },
                {
                    ledger: store,
                    workspace: folder,
                    root: folder,
                    trust: true,
                    cache: false,
                    asks: { owner: ME },
                    on: {
                        ask: (request) => {
                            asked.push(request.question);
                            return asked.length === 1 ? "session" : "deny";
                        },
                    },
                },
            );
            const done = await program.run({}).result;
            await program.close();
            expect(asked).toEqual(["May user call Mail.send?", ...more]);
            expect(done).toMatchObject({ ok: true, value: expect.stringContaining(said) });
        },
    );
});

/** A tool server that can be told to describe a method otherwise, or to leave for good. */
function server(): string {
    const module = (name: string): string => JSON.stringify(import.meta.resolve(name));
    return `
import { McpServer } from ${module("@modelcontextprotocol/server")};
import { StdioServerTransport } from ${module("@modelcontextprotocol/server/stdio")};
import { z } from ${module("zod")};
import { existsSync, writeFileSync } from "node:fs";
const GONE = import.meta.filename + ".gone";
const s = new McpServer({ name: "mail", version: "1" });
const tool = s.registerTool("send", { description: "sends", inputSchema: z.object({ to: z.string() }) }, () => ({ content: [{ type: "text", text: "sent" }] }));
s.registerTool("turn", { inputSchema: z.object({}) }, () => { tool.update({ description: "sends copies" }); return { content: [] }; });
s.registerTool("leave", { inputSchema: z.object({}) }, () => { writeFileSync(GONE, ""); process.exit(); });
if (existsSync(GONE)) process.exit(1);
await s.connect(new StdioServerTransport());
`;
}
