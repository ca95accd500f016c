/** U4, VE4: continuations that earlier builds recorded are loaded, told again, or refused by name; nothing that has an outcome is performed again. */
import { readFileSync } from "node:fs";
import { Machine, compileProgram } from "@remit/machine";
import type { Json } from "@remit/language";
import type { Effect, Outcome } from "@remit/machine";
import { expect, test } from "vitest";
import { memoryStore } from "../../src/ledger/memory.ts";
import { type Batch, keptRun, type LedgerStore, type NewRun } from "../../src/ledger/store.ts";
import { RemitError } from "../../src/failure/error.ts";
import { startOptionsOf } from "../../src/run/machine.ts";
import { openLedger } from "../../src/run/open.ts";
import { answerTo, PROGRAMS } from "./continuations/programs.ts";

interface Recording {
    readonly run: NewRun;
    readonly batches: readonly Batch[];
}

const recording = (name: string): Recording =>
    JSON.parse(readFileSync(new URL(`./continuations/${name}.json`, import.meta.url), "utf8")) as Recording;

/** A ledger that holds the run as it was when its process ended. */
async function kept({ run, batches }: Recording): Promise<LedgerStore> {
    const store = memoryStore();
    const writer = await store.create(run);
    for (const batch of batches) await writer.commit(batch);
    await writer.release();
    return store;
}

/** What becomes of a run that goes on, and the paths of what was performed for that. */
async function goneOn(
    store: LedgerStore,
    id: string,
): Promise<{ readonly value: Json | RemitError; readonly performed: readonly string[] }> {
    const performed: string[] = [];
    const perform = async (effect: Effect): Promise<Outcome> => {
        performed.push(effect.path);
        return answerTo(effect);
    };
    const ledger = await openLedger(store);
    try {
        const handle = await ledger.resume<Json>(id, {
            performers: { tool: perform, model: perform, agent: perform, author: perform, recall: perform, remember: perform },
            on: { ask: () => "once" },
        });
        return { value: await handle.value, performed };
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        return { value: error, performed };
    }
}

test.each(PROGRAMS)("$name: the run goes on in this build, or is refused by name", async ({ name, value }) => {
    const was = recording(name);
    const { value: now, performed } = await goneOn(await kept(was), was.run.id);
    const told = was.batches.flatMap(({ outcomes = [] }) => outcomes.map(({ path }) => path));
    expect(performed.filter((path) => told.includes(path))).toEqual([]);
    if (now instanceof RemitError) {
        expect(now.message).toMatch(/this continuation cannot be loaded: .*; told again from its ledger, the run goes another way at /);
        expect(now.hint).toMatch(/the build of Remit that recorded it \(0\.1\.0 .*\); this one is 0\.1\.0 /);
        expect(performed).toEqual([]);
    } else expect(now).toEqual(value);
});

/**
 * Told again they go another way. Since `define` was recorded, what a remit or a delegation gives an agent tells it what it has before the first turn.
 * Since `approval-timeout` was, a question says in which time it can be answered.
 */
const REFUSED: ReadonlySet<string> = new Set(["define", "approval-timeout"]);

test.each(PROGRAMS)(
    "$name: told again where the state is of another build, and goes on, or is refused by name",
    async ({ name, value }) => {
        const was = recording(name);
        const batches = was.batches.map(({ state, ...batch }): Batch => {
            const json = state?.json as { readonly code: { readonly version: string }[] };
            return {
                ...batch,
                state: { kind: state?.kind ?? "image", json: { ...json, code: json.code.map((one) => ({ ...one, version: "0" })) } },
            };
        });
        const { value: now, performed } = await goneOn(await kept({ ...was, batches }), was.run.id);
        const told = was.batches.flatMap(({ outcomes = [] }) => outcomes.map(({ path }) => path));
        if (REFUSED.has(name))
            expect(now).toMatchObject({ message: expect.stringMatching(/told again from its ledger, the run goes another way at /) });
        else expect(now).toEqual(value);
        expect(performed.filter((path) => told.includes(path))).toEqual([]);
    },
);

test.each(["plain", "plain-raised"])("of $0 and another listing this build loads at most one, and both go on", async (one) => {
    const loads: boolean[] = [];
    for (const name of [one, `${one}-another-listing`]) {
        const was = recording(name);
        const store = await kept(was);
        const run = await keptRun(store, was.run.id);
        const state = await store.state(was.run.id);
        const load = (): Machine =>
            Machine.load(compileProgram(run.program), startOptionsOf(run), [state?.image as Json, ...(state?.deltas ?? [])]);
        let loaded = true;
        try {
            load();
        } catch {
            loaded = false;
        }
        loads.push(loaded);
        expect((await goneOn(store, was.run.id)).value).toEqual(["get one", "put two", "put three"]);
    }
    expect(loads).not.toEqual([true, true]);
});

test("a run that goes another way when it is told again is refused with the reason of both, and stays as it was", async () => {
    const was = recording("plain-another-listing");
    const batches = was.batches.map((batch, i) =>
        i > 0
            ? batch
            : {
                  ...batch,
                  events: (batch.events ?? []).map((event) => (event.kind === "tool.started" ? { ...event, principal: "agent:X" } : event)),
              },
    );
    const store = await kept({ ...was, batches });
    const before = await store.state(was.run.id);
    const { value, performed } = await goneOn(store, was.run.id);
    expect(value).toBeInstanceOf(RemitError);
    expect((value as RemitError).message).toMatch(
        /this continuation cannot be loaded: .+; told again from its ledger, the run goes another way at main\/T\.get#0: tool\.started/,
    );
    expect(performed).toEqual([]);
    expect(await store.state(was.run.id)).toEqual(before);
});
