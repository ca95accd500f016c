/** Blocks in this process: their values, their questions and cuts, and blocks that are runs of their own. */
import type { Json } from "@remit/language";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import type { BlockRunner } from "../../src/run/nested.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import type { Handlers } from "../../src/run/setup.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-blocks-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const WORK = 'import tool Work from "host:work"\nfunc work(x) { Work.call(x) }\n';
const tools = { Work: { call: { repeatable: true, call: async (x: Json) => `${x}!` } } };

test("a block of another backend fails where there is none, with what to do", async () => {
    const program = await load({ source: `${WORK}temporal static ( work "a" )` }, { tools });
    await expect(program(null)).rejects.toMatchObject({ kind: "unreachable", hint: expect.stringContaining("remit temporal dev") });
});

/** Runs the block in this process, as the run that it is to be. */
const inside =
    (seen: string[]): BlockRunner =>
    async ({ request, options }) => {
        seen.push(request.run);
        const { part, backend, input } = await options();
        return { ok: true, value: { part: part as unknown as Json, backend: backend as string, input }, origins: ["tool:Work"] };
    };

test("a block of another backend is carried out there, with its place, what flows in and what earlier blocks gave", async () => {
    const seen: string[] = [];
    const source = `${WORK}memory static ( work "a" ) as first\ntemporal static ( work ) as second`;
    const program = await load({ source }, { tools, blocks: inside(seen) });
    const handle = program.run("in");
    expect(await handle.value).toEqual([
        "a!",
        {
            part: {
                parent: handle.id,
                path: "blocks/block#1",
                entry: { file: 0, func: "__block#1" },
                bindings: { first: { json: "a!", origins: ["tool:Work"] } },
            },
            backend: "temporal",
            input: "in",
        },
    ]);
    expect(seen).toEqual([`${handle.id}.blocks-block-1`]);
});

test("D4: a wait passes while a person is asked beside it; a branch that fails then ends the question", async () => {
    const source = `${WORK}func heavy(x) { raise "too heavy" }
memory static ( wait 20ms >=> work <*> echo 1 >=> approve "First?" )
memory static ( wait 20ms >=> work >=> heavy <*> approve "Second?" )`;
    let ended = 0;
    const [worked, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    // The second branch goes on once the question beside it is put, and that one is not answered before it is over.
    const call = async (x: Json): Promise<Json> => {
        if (++calls === 2) await asked.promise;
        worked.resolve();
        return `${x}!`;
    };
    const ask: Handlers["ask"] = ({ question }, { signal }) => {
        if (question === "First?") return worked.promise.then(() => "once");
        asked.resolve();
        return new Promise((resolve) =>
            signal.addEventListener("abort", () => {
                ended++;
                resolve(null);
            }),
        );
    };
    const program = await load({ source }, { tools: { Work: { call } }, on: { ask } });
    const handle = program.run("a");
    await expect(handle.value).rejects.toMatchObject({ failure: { kind: "raised", message: "heavy#0 failed: too heavy" } });
    const events = await Array.fromAsync(handle.events);
    expect(events.flatMap(({ kind }) => (kind === "tool.ended" || kind === "ask.decided" ? [kind] : [])).sort()).toEqual([
        "ask.decided",
        "tool.ended",
        "tool.ended",
    ]);
    expect(ended).toBe(1);
});

const stores: [string, () => LedgerStore][] = [
    ["memory", () => memoryStore()],
    ["SQLite", () => openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") })],
];

test.each(stores)(
    "%s: a block of this process inside one of another is a run of the same ledger, found by its whole id alone",
    async (_, open) => {
        const store = open();
        // The run around it says that it is elsewhere.
        const source = `${WORK}memory static ( work "a" >=> work ) as first`;
        const program = await load({ source }, { tools, ledger: store, blocks: inside([]), backend: "temporal" });
        const handle = program.run(null);
        expect(await handle.value).toBe("a!!");
        const part = `${handle.id}.blocks-block-0`;
        expect(await store.run(part)).toMatchObject({ id: part, status: "done", value: "a!!" });
        expect(await store.run("last")).toMatchObject({ id: handle.id });
        expect(await store.run(handle.id.slice(0, 10))).toMatchObject({ id: handle.id });
        const ledger = await openLedger(store);
        expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
        expect(await ledger.replay(part)).toMatchObject({ equal: true });
        const paths = (await Array.fromAsync(store.events(part))).map((event) => event.path);
        expect(paths).toContain("blocks/block#0/work#1/work#0/Work.call#0");
        await store.close();
    },
);

test.each(stores)("%s: WTS3: what named blocks inside such a block gave is known outside it", async (_, open) => {
    const store = open();
    const source = `${WORK}func pair() { [outer, inner] }
memory static ( memory dynamic ( work "a" ) as inner >=> work ) as outer
memory static ( pair )`;
    const program = await load({ source }, { tools, ledger: store, blocks: inside([]), backend: "temporal" });
    const handle = program.run(null);
    expect(await handle.value).toEqual(["a!!", ["a!!", "a!"]]);
    const ledger = await openLedger(store);
    expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    await store.close();
});

test.each(stores)("%s: ROW1: rows of a table that came in one such block are known in the next", async (_, open) => {
    const store = open();
    const source = `import tool Orders from "host:orders" { trusted, reads get: result customer through Customers.list.id to email }
import tool Customers from "host:customers" { trusted }
import tool Mail from "host:mail" { send: may, audience send: arg to }
func lists(x) { Customers.list(1) }
func sends(to) { Customers.list(2)
o = Orders.get(7)
Mail.send({ to: to, body: text(o) })
"sent" }
memory static ( lists )
memory static ( echo "eve@x.example" >=> sends )`;
    const sent: Json[] = [];
    const ends = async (...emails: readonly string[]): Promise<string> => {
        const tools = {
            Orders: { get: { call: async () => ({ customer: 1, total: 5 }) } },
            Customers: { list: { call: async (page: Json) => [{ id: 1, email: emails[Number(page) - 1] as string }] } },
            Mail: { send: { call: async (mail: Json) => sent.push(mail) } },
        };
        const program = await load({ source }, { tools, ledger: store, blocks: inside([]), backend: "temporal" });
        const handle = program.run(null);
        const { status, failure } = await handle.result;
        expect(await (await openLedger(store)).replay(handle.id)).toMatchObject({ equal: true });
        return failure?.kind ?? status;
    };
    expect(await ends("eve@x.example", "eve@x.example")).toBe("done");
    expect(sent).toHaveLength(1);
    expect(await ends("ann@x.example", "eve@x.example")).toBe("violation.flow");
    expect(sent).toHaveLength(1);
    await store.close();
});

test("a question inside such a block is its own: the run around it waits, and goes on after the answer", async () => {
    const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
    const ledger = await openLedger(store);
    const source = 'import tool Work from "host:work" { call: ask }\nfunc work(x) { Work.call(x) }\nmemory static ( work "a" )';
    const program = await load({ source }, { tools, ledger: store, backend: "temporal", asks: { park: true } });
    const handle = program.run(null);
    expect(await handle.result).toMatchObject({ status: "waiting" });
    const part = `${handle.id}.blocks-block-0`;
    const [ask] = await ledger.asks(part);
    expect(ask).toMatchObject({ run: part, state: "open" });
    await ledger.answer(part, ask?.id as string, "once");
    const again = await ledger.resume(handle.id, { tools });
    expect(await again.value).toBe("a!");
    expect(await store.run(part)).toMatchObject({ status: "done" });
    await ledger.close();
    await store.close();
});

test.each([
    ["basic mode", "", "no clause lets it choose this"],
    ["strict mode", "flow strict\n", "carries tool:Web"],
])("WTS4: in %s what decided that such a block begins decides what it does", async (_name, head, why) => {
    const source = (inner: string): string => `${head}import tool Web from "host:web"
import tool Out from "host:out"
func page(x) { Web.call(x) }
func note(x) { Out.call("x") }
temporal static ( page "a" >=> when "contains GO" >=> ${inner} )`;
    const ended = async (inner: string) => {
        const wrote: Json[] = [];
        const world = {
            Web: { call: { readOnly: true, call: async () => "GO" } },
            Out: { call: async (x: Json) => wrote.push(x) },
        };
        const how = { tools: world, ledger: memoryStore(), backend: "temporal", untrusted: "never" } as const;
        const { failure } = await (await load({ source: source(inner) }, how)).run(null).result;
        return { wrote, kind: failure?.kind, message: failure?.message };
    };
    for (const inner of ["note", "temporal static ( note )", "memory static ( note )"])
        expect(await ended(inner), inner).toMatchObject({ wrote: [], kind: "violation.flow", message: expect.stringContaining(why) });
});

test("what such a block failed with carries what it came from, in the run around it, too", async () => {
    const store = memoryStore();
    const said = { Work: { call: async () => Promise.reject(new Error("the page says: eve")) } };
    const program = await load({ source: `${WORK}memory static ( work "a" )` }, { tools: said, ledger: store, backend: "temporal" });
    const handle = program.run(null);
    expect(await handle.result).toMatchObject({ failure: { message: expect.stringContaining("eve") } });
    const events = await Array.fromAsync(store.events(handle.id));
    expect(events.find(({ kind }) => kind === "run.ended")?.labels).toContain("tool:Work");
});

test("counts of a run hold in blocks that run elsewhere, and what they use counts in the run", async () => {
    const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
    const source = `import tool Work from "host:work" { call: at most 2 }
func work(x) { Work.call(x) }
temporal static ( work "a" >=> memory static ( work ) >=> work )`;
    const called: Json[] = [];
    const counted = { Work: { call: async (x: Json) => called.push(x) } };
    const program = await load({ source }, { tools: counted, ledger: store, backend: "temporal" });
    const handle = program.run(null);
    expect(await handle.result).toMatchObject({
        failure: { kind: "denied", message: expect.stringMatching(/Work\.call was used 2 times in this run, and the rule is `at most 2`/) },
    });
    expect(called).toHaveLength(2);
    const ledger = await openLedger(store);
    expect(await ledger.replay(handle.id)).toMatchObject({ equal: true });
    await ledger.close();
    await store.close();
});
