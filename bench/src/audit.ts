/**
 * What auditing costs where it goes along: an assertion with the hook of `auditBeforeAssertion` against the same without, in tests of a stub agent;
 * and the machine section's work run through the host with a monitor that has nothing to tell against the same without.
 */
import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, monitor, type RemitProgram } from "@remit/host";
import type { LedgerEvent } from "@remit/machine";
import { type HeardRun, RUNS } from "../../packages/host/src/run/started.ts";
import { guarded } from "../../packages/host/src/testing/expect.ts";
import { type Guard, guardOf } from "../../packages/host/src/testing/guard.ts";
import { type Chain, chain } from "./chain.ts";
import { figure, geometricMean, here, median, type Row, rounds, type Section } from "./harness.ts";
import { type Work, WORK } from "./programs.ts";

/** Goals, of one assertion: microseconds added where nothing is new, and where a run of a stub agent is looked at for the first time. */
const QUIET = 5;
const FRESH = 1_000;
/** What a whole test may take more, that runs a stub agent and asserts: microseconds. */
const TEST = 2_000;
/** Of a run with an idle monitor, and of a chain of effects with one that looks at every event. */
const IDLE = 1.05;
const BUSY = 1.5;
const EFFECTS = 1_000;
const AT_ONCE = 1_000;
/** How often a run does the work of the machine's section: what a run has to begin and end with is not what is idle. */
const TIMES = 20;
const MEMORY = "/dev/shm";

const STUB = `import tool Mail from "host:mail"
import agent Fixer from "stub:value?json=%7B%22to%22%3A%22bob%22%7D" { remit { spend 3 turns, 1k steps } }
main func(input: { text: string }) {
    said = Fixer.yield(text: input.text) with { turns: 2 } -> { to: string }
    Mail.list({ text: said.to }).length
}
`;

/** Milliseconds of this thread's processor time, of one of many. */
function processorTime(work: () => void): number {
    const samples: number[] = [];
    for (let round = 0; round < 9; round++) {
        let runs = 0;
        let passed = 0;
        const before = process.threadCpuUsage();
        do {
            work();
            runs++;
            const { user, system } = process.threadCpuUsage(before);
            passed = (user + system) / 1000;
        } while (passed < 40);
        samples.push(passed / runs);
    }
    return median(samples);
}

export async function audit(): Promise<Section> {
    const rows = [...(await assertions()), ...(await monitored())];
    return {
        title: "Auditing while it happens",
        how: `Processor time. An assertion is \`assert.equal\` of Node, with and without the hook's look before it, in a test that ran an agent that is a stub. A run with a monitor is followed event by event; idle means that the work, ${TIMES} times that of the machine's section, asks nothing of the world, so that its run has two events. Ratio is time without ÷ time with, the note says it the other way round.`,
        rows,
        cause: "A ledger in memory seals an event only when it is read, so that a monitor, or a test's hook, there pays for the hashes that a ledger on disk makes anyway: by profile that is nearly all of it.",
    };
}

async function assertions(): Promise<Row[]> {
    const program: RemitProgram<{ text: string }, number> = await load(
        { source: STUB },
        { tools: { Mail: { list: { call: () => [1, 2], readOnly: true } } }, cache: false },
    );
    const heard: HeardRun[] = [];
    const hear = (message: unknown): void => void heard.push(message as HeardRun);
    channel(RUNS).subscribe(hear);
    if ((await program({ text: "a" })) !== 2) throw new Error("the stub's program gives something else");
    channel(RUNS).unsubscribe(hear);
    const [run] = heard;
    if (run === undefined) throw new Error("no run was heard");

    const many = (check: (a: unknown, b: unknown) => void): (() => void) => {
        return () => {
            for (let i = 0; i < AT_ONCE; i++) check(2, 2);
        };
    };
    const guard = guardOf({});
    channel(RUNS).publish({ ...run, events: [...run.events] });
    guard.look();
    const plain = processorTime(many(assert.equal));
    const looked = processorTime(many(guarded(assert.equal, guard.look)));
    const added = ((looked - plain) * 1000) / AT_ONCE;
    const events: LedgerEvent[] = [...run.events];
    const first = processorTime(() => {
        channel(RUNS).publish({ ...run, events });
        guard.look();
        guard.end();
    });
    guard.close();

    const test = async (guard: Guard | null): Promise<void> => {
        const equal: (a: unknown, b: unknown) => void = guard === null ? assert.equal : guarded(assert.equal, guard.look);
        equal(await program({ text: "a" }), 2);
        guard?.end();
        guard?.close();
    };
    const [without, hooked] = await rounds([here("without", () => test(null)), here("with", () => test(guardOf({})))], {
        budget: 20_000,
        slice: 200,
        most: 15,
    });
    await program.close();
    if (without === undefined || hooked === undefined) throw new Error("nothing was measured");
    return [
        {
            name: "an assertion, nothing new behind it",
            ours: (looked * 1000) / AT_ONCE,
            unit: "µs",
            against: [{ name: "without the hook", value: (plain * 1000) / AT_ONCE, ratio: plain / looked }],
            goal: `≤ ${QUIET} µs added`,
            met: added <= QUIET,
            note: `${figure(added)} µs added`,
        },
        {
            name: "the first assertion after a run of a stub agent",
            ours: first * 1000,
            unit: "µs",
            against: [],
            goal: `≤ ${FRESH} µs`,
            met: first * 1000 <= FRESH,
            note: `${events.length} events, ${figure((first * 1000) / events.length)} µs each`,
        },
        {
            name: "a test: that run and an assertion",
            ours: hooked.cpu * 1000,
            unit: "µs",
            against: [{ name: "without the hook", value: without.cpu * 1000, ratio: without.cpu / hooked.cpu }],
            goal: `≤ ${TEST} µs added`,
            met: (hooked.cpu - without.cpu) * 1000 <= TEST,
            note: `${figure((hooked.cpu - without.cpu) * 1000)} µs added, ${figure(hooked.cpu / without.cpu)}× the time without`,
        },
    ];
}

/** The work of one of the machine's programs, several times in one run. */
function repeated({ remit }: Work): string {
    return `${remit.funcs ?? ""}
func work(n) {
${remit.body}
}
main func(n) {
    last = none
    repeat * ${TIMES} { last = work(n) }
    last
}
`;
}

async function monitored(): Promise<Row[]> {
    const rows: Row[] = [];
    const ratios: number[] = [];
    for (const work of WORK) {
        const program = await load<number, number>({ source: repeated(work) }, { cache: false, limits: { steps: 1_000_000_000 } });
        const run = async (watched: boolean): Promise<void> => {
            const handle = program.run(work.n);
            if (watched) {
                const told = await monitor(handle);
                if (told.length > 0) throw new Error(`${work.name}: ${told[0]?.message}`);
            }
            await handle.value;
        };
        const [without, watched] = await rounds([here("without", () => run(false)), here("with", () => run(true))], {
            budget: 8_000,
            slice: 100,
            most: 15,
        });
        await program.close();
        if (without === undefined || watched === undefined) throw new Error("nothing was measured");
        ratios.push(watched.cpu / without.cpu);
        rows.push({
            name: `idle monitor: ${work.name}`,
            ours: watched.cpu * 1000,
            unit: "µs",
            against: [{ name: "without", value: without.cpu * 1000, ratio: without.cpu / watched.cpu }],
            note: `${figure(watched.cpu / without.cpu)}× the time without`,
        });
    }
    const mean = geometricMean(ratios);
    const all = {
        name: "idle monitor: geometric mean of the times",
        ours: mean,
        unit: "×",
        against: [],
        goal: `≤ ${IDLE}×`,
        met: mean <= IDLE,
    };
    const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "remit-bench-"));
    try {
        const kept = await followed("a ledger on a file system in memory", await chain({ ledger: join(folder, "ledger.db") }));
        return [
            ...rows,
            all,
            { ...kept.row, goal: `≤ ${BUSY}×`, met: kept.ratio <= BUSY },
            (await followed("a ledger in memory", await chain({}))).row,
        ];
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

async function followed(where: string, effects: Chain): Promise<{ readonly row: Row; readonly ratio: number }> {
    const follow = async (watched: boolean): Promise<void> => {
        const handle = effects.start(EFFECTS, new AbortController().signal);
        if (watched) await monitor(handle);
        if ((await handle.value) !== EFFECTS) throw new Error("the chain gives something else");
    };
    const [without, watched] = await rounds([here("without", () => follow(false)), here("with", () => follow(true))], {
        budget: 20_000,
        most: 15,
    });
    await effects.close();
    if (without === undefined || watched === undefined) throw new Error("nothing was measured");
    const ratio = watched.cpu / without.cpu;
    const row = {
        name: `monitor of ${EFFECTS.toLocaleString("en")} effects, ${where}`,
        ours: (watched.cpu * 1000) / EFFECTS,
        unit: "µs/effect",
        against: [{ name: "without", value: (without.cpu * 1000) / EFFECTS, ratio: without.cpu / watched.cpu }],
        note: `${figure(ratio)}× the time without`,
    };
    return { row, ratio };
}
