/** One program, several shells: the same ledger; stopped on one and gone on with on another, too. */
import type { Program } from "@remit/language";
import { canonicalLedger, Compiled, Machine, type MachineEvent } from "@remit/machine";
import fc from "fast-check";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cases } from "../../../machine/tests/cases.ts";
import { Kept, simulate } from "../../../machine/tests/conduct/simulated.ts";
import { OPTIONS, runAll } from "../../../machine/tests/run/forms.ts";
import { randomProgram } from "../../../machine/tests/run/random.ts";
import { formOf } from "../../../machine/tests/run/text.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import { conduct, type LocalEnd, type LocalOptions } from "../../src/run/local.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { type Remote, remote } from "./remote/remote.ts";
import { world } from "./remote/world.ts";
import { scriptAt } from "../script.ts";

const RUNS = cases(100);
let far: Remote;
beforeAll(() => {
    far = remote(pathToFileURL(scriptAt("packages/host/tests/run/remote/world.ts")));
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

const SHELLS = ["local", "remote", "simulated"] as const;
type Shell = (typeof SHELLS)[number];

/** How a part of a run ends before the run does: after so many commits it is cancelled, or its process is gone and no later commit is kept. */
interface Cut {
    readonly commits: number;
    readonly kind: "cancel" | "kill";
}

/** A process that is gone. */
class Gone extends Error {}

/** On the first shell up to the first cut, on the second to the second, and so on, round; the last goes to the end. */
async function shelled(program: Program, shells: readonly Shell[], cuts: readonly Cut[] = []): Promise<Shelled> {
    const kept = new Kept();
    let [shown, parts] = [0, 0];
    for (;;) {
        const cut = cuts[parts];
        const shell = shells[parts++ % shells.length];
        if (shell === "simulated") {
            const { end, events } = simulate(program, { choices: [1, 2, 3, 5, 8], kept, ...(cut === undefined ? {} : { cut }) });
            if (events !== kept.events) throw new Error("the simulation keeps elsewhere");
            if (end !== null && end.status !== "stopped") return { end: end as LocalEnd, kept, shown, parts };
            continue;
        }
        const isNew = kept.documents.length === 0;
        const machine = isNew
            ? Machine.start(new Compiled(program), OPTIONS)
            : Machine.load(new Compiled(program), OPTIONS, kept.documents);
        const cancel = new AbortController();
        let left = cut?.commits ?? Number.POSITIVE_INFINITY;
        const writer: LocalOptions["writer"] = {
            batches: 0,
            timed: () => undefined,
            release: async () => undefined,
            commit: async (batch) => {
                if (left-- <= 0 && cut?.kind === "kill") throw new Gone();
                kept.commit(batch);
                if (left === 0 && cut?.kind === "cancel") cancel.abort();
                return null;
            },
        };
        const end = await conduct(machine, {
            store: { ...memoryStore(), durable: true },
            writer,
            host: world,
            secrets: createScrubber(),
            signal: cancel.signal,
            part: () => void shown++,
            ...(shell === "local" ? {} : { perform: far.perform }),
            ...(isNew ? {} : { recovered: kept.recovered }),
        }).catch((error: unknown) => {
            if (error instanceof Gone) return null;
            throw error;
        });
        if (end !== null && end.status !== "stopped") return { end, kept, shown, parts };
    }
}

test("a local and a remote shell, and a simulated world, give the same canonical ledger", async () => {
    let shown = 0;
    await fc.assert(
        fc.asyncProperty(randomProgram, async (program) => {
            const whole = runAll(program);
            const { result } = whole;
            const expected = result.ok ? { status: "done", value: result.value } : { status: "failed", failure: result.failure };
            const [here, there] = [await shelled(program, ["local"]), await shelled(program, ["remote"])];
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
});

const cuts = fc.array(fc.record({ commits: fc.integer({ min: 1, max: 12 }), kind: fc.constantFrom("cancel", "kill") }), {
    minLength: 1,
    maxLength: 3,
});

test("stopped or killed anywhere on one, it goes on on another: nothing finished is done again", async () => {
    const ended = new Map<string, number>();
    await fc.assert(
        fc.asyncProperty(randomProgram, fc.shuffledSubarray([...SHELLS], { minLength: 2 }), cuts, async (program, shells, cuts) => {
            const whole = runAll(program);
            const { kept, parts } = await shelled(program, shells, cuts);
            expect(own(kept.events)).toBe(canonicalLedger(whole.events));
            expect(new Set(kept.outcomes.map(({ path }) => path)).size).toBe(kept.outcomes.length);
            for (let part = 0; part < parts - 1; part++) {
                const name = `${cuts[part]?.kind} on ${shells[part % shells.length]}`;
                ended.set(name, (ended.get(name) ?? 0) + 1);
            }
        }),
        { numRuns: RUNS, seed: 42 },
    );
    for (const kind of ["cancel", "kill"]) for (const shell of SHELLS) expect([...ended.keys()]).toContain(`${kind} on ${shell}`);
});

test("a large text crosses to a remote shell once, however many requests, answers and prompts hold it", async () => {
    const size = 700_000;
    const program = formOf(`import tool T from "host:t"

main func() {
    s = "0123456789"
    repeat * 17 { s = s + s }
    s = s.slice(0, ${size})
    said = T.get(s).given
    T.get({ body: said, more: [s, "x"] })
    return said.length
}
`);
    const before = far.crossed();
    const there = await shelled(program, ["remote"]);
    const crossed = far.crossed() - before;
    expect(there.end).toMatchObject({ status: "done", value: size });
    expect(canonicalLedger(there.kept.events)).toBe(canonicalLedger((await shelled(program, ["local"])).kept.events));
    expect(crossed).toBeGreaterThan(size);
    expect(crossed).toBeLessThan(1.2 * size);
});
