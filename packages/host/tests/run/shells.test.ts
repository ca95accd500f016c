/** One program, several shells: the same ledger; stopped on one and gone on with on another, too. */
import type { Program } from "@remit/language";
import { canonicalLedger, Compiled, Machine, type MachineEvent } from "@remit/machine";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Kept, simulate } from "../../../machine/tests/conduct/simulated.ts";
import { OPTIONS, runAll } from "../../../machine/tests/run/forms.ts";
import { randomProgram } from "../../../machine/tests/run/random.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import { conduct, type LocalEnd, type LocalOptions } from "../../src/run/local.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { type Remote, remote } from "./remote/remote.ts";
import { world } from "./remote/world.ts";

const RUNS = Number(process.env.REMIT_TEST_SHELLS ?? 100);
let far: Remote;
beforeAll(() => {
    far = remote();
});
afterAll(() => far[Symbol.asyncDispose]());

const own = (events: readonly MachineEvent[]): string =>
    canonicalLedger(events.filter(({ data }) => (data as { readonly host?: unknown } | null)?.host !== true));

interface Shelled {
    readonly end: LocalEnd;
    readonly kept: Kept;
    readonly shown: number;
    readonly parts: number;
}

/** `stops`: after so many commits it is cancelled, and goes on on the other shell. */
async function shelled(program: Program, isFar: boolean, stops = Number.POSITIVE_INFINITY): Promise<Shelled> {
    const kept = new Kept();
    let [isHere, left, shown, parts] = [!isFar, stops, 0, 0];
    for (;;) {
        const isNew = kept.documents.length === 0;
        const machine = isNew
            ? Machine.start(new Compiled(program), OPTIONS)
            : Machine.load(new Compiled(program), OPTIONS, kept.documents);
        const cancel = new AbortController();
        const writer: LocalOptions["writer"] = {
            id: "run",
            timed: () => undefined,
            release: async () => undefined,
            commit: async (batch) => {
                kept.commit(batch);
                if (--left === 0) cancel.abort();
            },
        };
        const end = await conduct(machine, {
            store: { ...memoryStore(), durable: true },
            writer,
            host: world,
            secrets: createScrubber(),
            signal: cancel.signal,
            part: () => void shown++,
            ...(isHere ? {} : { perform: far.perform }),
            ...(isNew ? {} : { recovered: kept.recovered }),
        });
        parts++;
        if (end.status !== "stopped") return { end, kept, shown, parts };
        isHere = !isHere;
    }
}

test("a local and a remote shell, and a simulated world, give the same canonical ledger", async () => {
    let shown = 0;
    await fc.assert(
        fc.asyncProperty(randomProgram, async (program) => {
            const whole = runAll(program);
            const { result } = whole;
            const expected = result.ok ? { status: "done", value: result.value } : { status: "failed", failure: result.failure };
            const [here, there] = [await shelled(program, false), await shelled(program, true)];
            for (const one of [here, there]) {
                expect(one.end).toEqual(expected);
                expect(own(one.kept.events)).toBe(canonicalLedger(whole.events));
            }
            expect(own(simulate(program, { choices: [1, 2, 3, 5, 8] }).events)).toBe(canonicalLedger(whole.events));
            // What crossed is all there, too.
            expect(canonicalLedger(there.kept.events)).toBe(canonicalLedger(here.kept.events));
            expect(there.shown).toBe(here.shown);
            shown += there.shown;
        }),
        { numRuns: RUNS, seed: 41 },
    );
    expect(shown).toBeGreaterThan(RUNS);
}, 600_000);

test("stopped anywhere on one, it goes on on the other: nothing finished is done again", async () => {
    let restarts = 0;
    await fc.assert(
        fc.asyncProperty(randomProgram, fc.boolean(), fc.integer({ min: 1, max: 12 }), async (program, isFar, stops) => {
            const whole = runAll(program);
            const { kept, parts } = await shelled(program, isFar, stops);
            expect(own(kept.events)).toBe(canonicalLedger(whole.events));
            expect(new Set(kept.outcomes.map(({ path }) => path)).size).toBe(kept.outcomes.length);
            restarts += parts - 1;
        }),
        { numRuns: RUNS, seed: 42 },
    );
    expect(restarts).toBeGreaterThan(RUNS / 10);
}, 600_000);
