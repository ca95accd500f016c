/** What a yes was said of stands in the saved state, with the answer (AV3, AP3). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { forkRun } from "../../src/debug/fork.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";

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

const forge = (sql: string, ...values: string[]): void => {
    const db = new DatabaseSync(join(folder, "ledger.db"));
    try {
        db.prepare(sql).run(...values);
    } finally {
        db.close();
    }
};
const text = `import tool Mail from "host:mail" { send: ask }
import tool Hold from "host:hold"
main agent A { main func(input) {
    a = Mail.send({ to: "one" })
    Hold.here(1)
    Hold.here(2)
    Mail.send({ to: "two" })
} }`;
/** Stops the run in the second call of `Hold`. */
const hold = (stop: AbortController | null) => ({
    Hold: {
        here: (n: Json) => {
            if (n === 2) stop?.abort();
            return stop !== null && n === 2 ? new Promise<Json>(() => undefined) : null;
        },
    },
});
/** What is asked when the run goes on with such a tool; what it sends then, where the answer is a no the second time. */
async function askedAgain(id: string, description: string): Promise<string[]> {
    const asked: string[] = [];
    const ask = (request: { readonly question: string }): string => {
        asked.push(request.question);
        return asked.length === 1 ? "session" : "deny";
    };
    const ledger = await openLedger(store);
    const tools = { ...mail(description), ...hold(null) };
    const resumed = await ledger.resume<Json>(id, { tools, on: { ask, unknown: () => ({ answer: "again" }) } });
    expect(await resumed.result).toMatchObject({ status: "done" });
    return asked;
}
async function stopped(): Promise<string> {
    const stop = new AbortController();
    const program = await load(
        { source: text },
        { ledger: store, workspace: folder, cache: false, tools: { ...mail(), ...hold(stop) }, asks: { owner: ME } },
    );
    const result = await program.run({}, { signal: stop.signal, on: { ask: () => "session" } }).result;
    await program.close();
    expect(result.status).toBe("stopped");
    // The answer is the run's, whatever becomes of the record of the question.
    forge("DELETE FROM asks");
    return result.run;
}

test("the run goes on with the same tool and asks nothing, with another one and asks again", async () => {
    expect(await askedAgain(await stopped(), "sends")).toEqual([]);
    expect(sent).toEqual([{ to: "one" }, { to: "two" }]);
    const again = await askedAgain(await stopped(), "sends, and a copy to everybody");
    expect(again).toEqual([expect.stringContaining("not described as it was")]);
});

test("so does a run that was forked off, when it goes on in another process", async () => {
    const fork = async (): Promise<string> => {
        const stop = new AbortController();
        const from = await stopped();
        const tools = { ...mail(), ...hold(stop) };
        const forked = { path: "main/Hold.here#0", value: null, origin: "user", proposal: from };
        const handle = await forkRun<Json>(store, from, forked, { tools, signal: stop.signal });
        expect(await handle.result).toMatchObject({ status: "stopped" });
        return handle.id;
    };
    expect(await askedAgain(await fork(), "sends")).toEqual([]);
    expect(await askedAgain(await fork(), "sends, and a copy to everybody")).toHaveLength(1);
});

test("a yes for the session to the tool as it is now holds for the calls after it, and replays as equal", async () => {
    const asked: string[] = [];
    const twice = text.replace('Mail.send({ to: "two" })', 'for n in [1, 2] max 2 { Mail.send({ to: "two" }) }');
    const stop = new AbortController();
    const program = await load(
        { source: twice },
        { ledger: store, workspace: folder, cache: false, tools: { ...mail(), ...hold(stop) }, asks: { owner: ME } },
    );
    const { run } = await program.run({}, { signal: stop.signal, on: { ask: () => "session" } }).result;
    await program.close();
    const ledger = await openLedger(store);
    const on = {
        ask: (request: { readonly question: string }) => {
            asked.push(request.question);
            return "session";
        },
        unknown: () => ({ answer: "again" }) as const,
    };
    const resumed = await ledger.resume<Json>(run, { tools: { ...mail("sends copies"), ...hold(null) }, on });
    expect(await resumed.result).toMatchObject({ status: "done" });
    expect(asked).toEqual([expect.stringContaining("not described as it was")]);
    expect(sent).toEqual([{ to: "one" }, { to: "two" }, { to: "two" }]);
    expect(await ledger.replay(run)).toMatchObject({ equal: true });
});

test("AP3: also where the caller answers questions by a performer of its own", async () => {
    const outcomes: Json[] = [];
    const program = await load(
        { source: PROGRAM },
        {
            ledger: store,
            cache: false,
            tools: mail(),
            performers: { ask: async () => ({ ok: true, value: "once", origins: ["user"] }) },
        },
    );
    const { run } = await program.run({ to: "bob" }).result;
    await program.close();
    for await (const { path, outcome } of store.outcomes(run)) if (path.endsWith("/ask")) outcomes.push(outcome as unknown as Json);
    expect(outcomes).toEqual([0, 1].map(() => expect.objectContaining({ described: expect.stringMatching(/^[0-9a-f]{64}$/) })));
    expect(sent).toHaveLength(2);
});
