/** V1: what a later version wrote into a ledger is refused with what is new in it, and never misread. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson, type Json } from "@remit/language";
import { type MachineEvent, type Outcome, toNdjson, whatIsNew } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sha256 } from "../../src/ledger/blob.ts";
import { LedgerError } from "../../src/ledger/error.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { RemitError } from "../../src/failure/error.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";

let folder = "";
let store: LedgerStore;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-newer-"));
    store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
});
afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
});

const event = { path: "main", parent: null, kind: "for", principal: "user", site: null, labels: [], data: {} };
const program = { format: "remit-program/1", files: [] } as const;
/** A ledger as a later version writes it: chained, bound and anchored, with something new in it. */
const written = async (batch: { events?: readonly object[]; outcomes?: readonly object[] }): Promise<string> => {
    const writer = await store.create({
        id: "r1",
        program,
        hash: sha256(canonicalJson(program as unknown as Json)),
        file: "a.remit",
        root: "",
        options: {},
    });
    await writer.commit({
        events: (batch.events ?? []) as unknown as MachineEvent[],
        outcomes: (batch.outcomes ?? []).map((outcome) => ({ path: "main/x", outcome: outcome as unknown as Outcome })),
    });
    await writer.release();
    return "r1";
};
const refusal = async (work: () => unknown): Promise<string> => {
    try {
        await work();
    } catch (error) {
        if (error instanceof LedgerError) return `${error.code}: ${error.message} ${error.hint}`;
        throw error;
    }
    return "read";
};

test.each([["kind", { ...event, kind: "dream.started" }, /schema: event 1 of run r1 .* its kind is "dream.started" .*newer/]])(
    "an event with a new %s",
    async (_name, one, message) => {
        const id = await written({ events: [one] });
        expect(await refusal(async () => await Array.fromAsync(store.events(id)))).toMatch(message);
        // The chain holds all the same.
        expect((await store.verify(id)).ok).toBe(true);
    },
);

test.each([
    ["field", { ok: true, value: 1, origins: [], signed: "x" }, /schema: outcome 1 of run r1 .* has a field 'signed'/],
    ["state", { ok: "later", value: 1, origins: [] }, /does not say whether it is ok/],
    ["kind of failure", { ok: false, failure: { kind: "bored", message: "x" } }, /of its failure its kind is "bored"/],
    ["field of a failure", { ok: false, failure: { kind: "tool", message: "x", blame: 1 } }, /of its failure it has a field 'blame'/],
    ["unit of usage", { ok: true, value: 1, origins: [], usage: { joules: 3 } }, /of its usage it has a field 'joules'/],
])("an outcome with a new %s", async (_name, outcome, message) => {
    const id = await written({ outcomes: [outcome] });
    expect(await refusal(async () => await Array.fromAsync(store.outcomes(id)))).toMatch(message);
});

test("an event with a new field or kind", async () => {
    await written({ events: [event] });
    const [line = ""] = [...toNdjson(await Array.fromAsync(store.events("r1")))];
    const read = (change: object): string => {
        const one = JSON.parse(JSON.stringify({ ...(JSON.parse(line) as object), ...change })) as Json;
        return whatIsNew.event(one) ?? "read";
    };
    expect(read({})).toBe("read");
    expect(read({ version: 2 })).toMatch(/it has a field 'version'/);
    expect(read({ kind: "dream" })).toMatch(/its kind is "dream"/);
    expect(read({ principal: undefined })).toMatch(/it has no field 'principal'/);
});

test("a saved state of a later engine that made an event of its own: resume and its message", async () => {
    const cancel = new AbortController();
    const cut = (): Promise<Json> => new Promise((_, fail) => cancel.signal.addEventListener("abort", () => fail(new Error("cut"))));
    const tools = { Work: { step: cut } };
    const loaded = await load(
        { source: 'import tool Work from "host:work"\nmain func() { Work.step() }\n' },
        { tools, ledger: store, cache: false },
    );
    const handle = loaded.run(null, { signal: cancel.signal });
    for await (const one of handle.events) if (one.kind === "tool.started") break;
    const state = (await store.state(handle.id))?.image as { [key: string]: Json };
    cancel.abort();
    await handle.result;
    const writer = await store.own(handle.id);
    const own = { path: "main", parent: null, kind: "use", principal: "user", site: null, labels: [], data: {} } as const;
    await writer.commit({ events: [own], state: { kind: "image", json: { ...state, engine: "remit-machine/2" } } });
    await writer.release();
    const ledger = await openLedger(store);
    const error = await ledger.resume(handle.id, { tools }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RemitError);
    expect((error as RemitError).message).toMatch(/its engine is remit-machine\/2, this machine is remit-machine\/1/);
    expect((error as RemitError).hint).toMatch(/the build of Remit that recorded it \(0\.1\.0 .*\); this one is 0\.1\.0 /);
});

test("what a performer gives is an outcome, or the effect failed", async () => {
    for (const [given, message] of [
        [undefined, "it is no object"],
        [{ ok: true, value: 1, origins: [], note: "x" }, "it has a field 'note'"],
        [{ ok: true, origins: [] }, "it has no field 'value'"],
    ] as const) {
        const loaded = await load(
            {
                source: 'import tool Work from "host:work"\nmain func() {\n    out = try { Work.step() } catch failure { failure.message }\n    out\n}\n',
            },
            { tools: { Work: { step: () => 1 } }, performers: { tool: async () => given as unknown as Outcome } },
        );
        expect(await loaded(null)).toBe(`a performer gave what is no outcome: ${message}`);
    }
});
