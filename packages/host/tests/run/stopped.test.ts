/** A run that is stopped while it computes goes on from where it stood; what is told again of it ends there. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { timelineOf } from "../../src/debug/timeline.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { type LedgerStore, keptRun } from "../../src/ledger/store.ts";
import { type Ledger, openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";

let folder = "";
let ledger: Ledger;
const open = async (): Promise<Ledger> => openLedger(openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") }));
beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "remit-stopped-"));
    ledger = await open();
});
afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
});

const PASSES = 2_000_000;
const LOOP = `n = 0\nrepeat * ${PASSES} { n += 1 }`;
const source = (body: string): { source: string } => ({
    source: `import tool Work from "host:work"\nfunc part(x) { if x == 1 { return Work.call(x) }  counted() }\nfunc counted() {\n${LOOP}\nn }\nmain agent A { main func(input) { ${body} } }\n`,
});

/** A signal that stops a run some turns of the event loop after it began to compute. */
function soon(): AbortSignal {
    const cancel = new AbortController();
    let turns = 0;
    const turn = (): void => void (++turns > 1 ? cancel.abort() : setImmediate(turn));
    setImmediate(turn);
    return cancel.signal;
}

/** Steps at which the state that the ledger keeps stands. */
async function savedAt(id: string): Promise<number> {
    const saved = await ledger.store.state(id);
    const last = saved?.deltas.at(-1) ?? saved?.image ?? null;
    return (last as { readonly steps: number } | null)?.steps ?? -1;
}

async function resumed(id: string, signal?: AbortSignal): Promise<unknown> {
    await ledger.close();
    ledger = await open();
    const handle = await ledger.resume<Json>(id, { tools: { Work: { call: (n: Json) => n } }, ...(signal ? { signal } : {}) });
    const result = await handle.result;
    return result.ok ? result.value : result.failure;
}

test("a loop without an effect, stopped twice: its trace, a replay and the debugger end where it stood, and it goes on from there", async () => {
    const whole = await load(source(`counted()`));
    const { steps } = await whole.run({}).result;
    const program = await load(source(`counted()`), { ledger: ledger.store });
    const { id, result } = program.run({}, { signal: soon() });
    expect(await result).toMatchObject({ status: "stopped" });
    const first = await savedAt(id);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(steps);
    const events = await Array.fromAsync(ledger.events(id));
    expect(events.map(({ kind }) => kind)).toEqual(["run.started"]);
    expect(await ledger.replay(id)).toMatchObject({ equal: true, steps: { recorded: first, replayed: first } });
    const timeline = await timelineOf(ledger.store, id);
    let leaps = 0;
    while (timeline.leap() !== null) leaps++;
    expect(leaps).toBeGreaterThan(0);
    expect(timeline.moment).toMatchObject({ steps: first, ended: false });
    const end = timeline.moment;
    expect(timeline.tick()).toBe(null);
    timeline.back();
    expect(timeline.moment.steps).toBeLessThan(first);
    timeline.seek(end);
    expect(timeline.moment).toEqual(end);

    expect(await resumed(id, soon())).toMatchObject({ kind: "cancelled" });
    const second = await savedAt(id);
    expect(second).toBeGreaterThan(first);
    expect(await resumed(id)).toBe(PASSES);
    expect(await ledger.run(id)).toMatchObject({ status: "done", steps });
    expect(await ledger.verify(id)).toMatchObject({ ok: true });
    expect(await ledger.replay(id)).toMatchObject({ equal: true });
});

test("beside a call whose outcome comes after the stop: it is kept, and the call is not made again", async () => {
    const made: Json[] = [];
    const cancel = new AbortController();
    const tools = {
        Work: {
            call: async (n: Json, { signal }: { signal: AbortSignal }): Promise<Json> => {
                made.push(n);
                soon().addEventListener("abort", () => cancel.abort());
                await new Promise((resolve) => signal.addEventListener("abort", resolve));
                return n;
            },
        },
    };
    const body = `parallel for x in [1, 2] max 2 { part(x) }`;
    const program = await load(source(body), { ledger: ledger.store, tools });
    const { id, result } = program.run({}, { signal: cancel.signal });
    expect(await result).toMatchObject({ status: "stopped", effects: 1 });
    const stopped = await savedAt(id);
    expect(stopped).toBeGreaterThan(100);
    expect(await ledger.replay(id)).toMatchObject({ equal: true, outcomes: 1, steps: { recorded: stopped, replayed: stopped } });
    expect(await resumed(id)).toEqual([1, PASSES]);
    expect(made).toEqual([1]);
    expect(await ledger.replay(id)).toMatchObject({ equal: true });
});

/** A ledger in which the state of the run is one of another build. */
async function ofAnotherBuild(store: LedgerStore, id: string): Promise<LedgerStore> {
    const { info, program, options } = await keptRun(store, id);
    const saved = await store.state(id);
    const last = (saved?.deltas.at(-1) ?? saved?.image) as unknown as { readonly code: readonly { readonly version: string }[] };
    const other = memoryStore();
    const writer = await other.create({ id, program, hash: info.program, file: info.file, root: info.root, options });
    await writer.commit({
        outcomes: await Array.fromAsync(store.outcomes(id)),
        events: await Array.fromAsync(store.events(id)),
        state: { kind: "image", json: { ...last, form: "image", code: last.code.map((one) => ({ ...one, version: "0" })) } },
        steps: info.steps,
        end: { status: "stopped" },
    });
    await writer.release();
    return other;
}

test("with a state that this build does not load it is told again to the same step", async () => {
    const made: Json[] = [];
    const cancel = new AbortController();
    const tools = {
        Work: {
            call: (n: Json): number => {
                if (n === 1) soon().addEventListener("abort", () => cancel.abort());
                return made.push(n);
            },
        },
    };
    const program = await load(source("a = Work.call(1)\nb = counted()\nWork.call(b)"), { ledger: ledger.store, tools });
    const { id, result } = program.run({}, { signal: cancel.signal });
    expect(await result).toMatchObject({ status: "stopped", effects: 1 });
    const other = await openLedger(await ofAnotherBuild(ledger.store, id));
    const handle = await other.resume<Json>(id, { tools });
    expect(await handle.value).toBe(2);
    expect(made).toEqual([1, PASSES]);
    expect(await other.replay(id)).toMatchObject({ equal: true });
});
