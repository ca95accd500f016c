/**
 * What a yield in one process costs: from the answer of an agent at hand to the value of its function, without the agent's own time. The machine alone
 * with an agent that answers with a fixed function, against sandboxes in which people run such functions, each fresh for every answer: QuickJS
 * (WebAssembly), an isolate of V8, a context of an isolate that is there already, and the AI SDK's code mode. The same function, the same host callback.
 */
import type { Json } from "@remit/language";
import { type AgentReply, type Compiled, type Effect, Machine, type Outcome } from "@remit/machine";
import type { QuickJSContext } from "quickjs-emscripten";
import { apart } from "./apart.ts";
import { figure, Lost, median, QUICK, type Row, type Section } from "./harness.ts";
import { compileText } from "./remit.ts";

/** Passes of the loop that make 1,000 steps. */
const PASSES = 250;
const CALLS = 100;
const N = 41;

interface Work {
    readonly name: "ready" | "steps" | "calls";
    readonly remit: string;
    /** Body of a function of `n` and `step`, which returns at once where `await` is nothing. */
    readonly js: (wait: string) => string;
    readonly value: number;
}

/** What the host does when it is called. */
const host = (i: number): number => i % 7;
const sum = (times: number, of: (i: number) => number): number => Array.from({ length: times }, (_, i) => of(i)).reduce((a, b) => a + b, 0);

const WORK: { readonly [name in Work["name"]]: Work } = {
    ready: { name: "ready", remit: "return n + 1", js: () => "return n + 1;", value: N + 1 },
    steps: {
        name: "steps",
        remit: `i = 0\nx = n\nloop until i >= ${PASSES} max 1000 {\nx = x + i * 2 % 7\ni = i + 1\n}\nreturn x`,
        js: () => `let i = 0, x = n; while (!(i >= ${PASSES})) { x = x + i * 2 % 7; i = i + 1; } return x;`,
        value: N + sum(PASSES, (i) => (i * 2) % 7),
    },
    calls: {
        name: "calls",
        remit: `i = 0\nx = n\nloop until i >= ${CALLS} max 1000 {\nx = x + Work.step({ i: i, before: x })\ni = i + 1\n}\nreturn x`,
        js: (wait) => `let i = 0, x = n; while (!(i >= ${CALLS})) { x = x + ${wait}step({ i: i, before: x }); i = i + 1; } return x;`,
        value: N + sum(CALLS, host),
    },
};

const SOURCE = `
import agent Writer from "stub:bench"
import tool Work from "host:work"
main agent Yielding {
    main func(input) { return Writer.yield(n: input, Work: Work) -> number }
}`;
const METHODS: Json = { methods: [{ name: "step", description: "One step.", input: { type: "object" }, readOnly: true }] };

/** Milliseconds of processor time, all threads of the process: of so short a thing the clock tells what other programs did meanwhile. */
function clock(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
}

/** What one answer took, in milliseconds, and the value of its function. */
interface Took {
    /** Until its function could take its first step. */
    readonly ready: number;
    /** Until its value was there and what it ran in was gone. */
    readonly whole: number;
    readonly value: unknown;
}

interface Runner {
    readonly name: string;
    run(work: Work): Took | Promise<Took>;
}

// ---- Remit -------------------------------------------------------------------------------------------------------------

function replyOf(text: string): Outcome {
    const reply: AgentReply = {
        text,
        stop: "end_turn",
        entries: [{ kind: "message", text }],
        confinement: "sandbox",
        spent: { steps: 1, calls: 0, ms: 0 },
    };
    return { ok: true, value: reply as unknown as Json, origins: ["agent:Writer"] };
}

/** `fresh`: no two answers have the same text. */
function remit(compiled: Compiled, fresh: boolean): Runner {
    let told = 0;
    const answerTo = (effect: Effect): Outcome => {
        const { op, args } = effect.request as unknown as { op: string; args: readonly [{ i: number }] };
        if (op === "describe") return { ok: true, value: METHODS, origins: ["tool:Work"] };
        return { ok: true, value: host(args[0].i), origins: ["tool:Work"] };
    };
    return {
        name: fresh ? "Remit" : "Remit, an answer met before",
        run(work) {
            const machine = Machine.start(compiled, { run: "bench", programHash: "bench", input: N, inputLabels: ["user"] });
            const note = fresh ? `// ${told++}\n` : "";
            const outcome = replyOf(`Here it is.\n\n\`\`\`remit\n${note}func answer(agent, n, Work) {\n${work.remit}\n}\n\`\`\`\n`);
            let begun = 0;
            let ready = 0;
            for (;;) {
                const { state, effects, result } = machine.advance(begun > 0 && ready === 0 ? machine.run.steps + 1 : undefined);
                if (begun > 0 && ready === 0) ready = clock() - begun;
                if (state === "done")
                    return { ready, whole: clock() - begun, value: result?.ok === true ? result.value : JSON.stringify(result) };
                for (const effect of effects)
                    if (effect.kind === "agent") {
                        begun = clock();
                        machine.resolve(effect.path, outcome);
                    } else machine.resolve(effect.path, answerTo(effect));
            }
        },
    };
}

// ---- the others --------------------------------------------------------------------------------------------------------

async function quickjs(): Promise<Runner> {
    const { getQuickJS } = await import("quickjs-emscripten");
    const quick = await getQuickJS();
    const offer = (context: QuickJSContext): void => {
        const step = context.newFunction("step", (given) => {
            const i = context.getProp(given, "i");
            const got = context.newNumber(host(context.getNumber(i)));
            i.dispose();
            return got;
        });
        context.setProp(context.global, "step", step);
        step.dispose();
    };
    return {
        name: "QuickJS",
        run(work) {
            const text = `(function (n) { ${work.js("")} })`;
            const begun = clock();
            const context = quick.newContext();
            offer(context);
            const func = context.unwrapResult(context.evalCode(text));
            const ready = clock() - begun;
            const n = context.newNumber(N);
            const handle = context.unwrapResult(context.callFunction(func, context.undefined, n));
            const value = context.getNumber(handle);
            for (const one of [handle, n, func]) one.dispose();
            context.dispose();
            return { ready, whole: clock() - begun, value };
        },
    };
}

/** `warm`: an isolate that stays, and a context for every answer, which is what keeps answers of one agent apart and no more. */
async function isolate(warm: boolean): Promise<Runner> {
    const { default: ivm } = await import("isolated-vm");
    const kept = warm ? new ivm.Isolate({ memoryLimit: 64 }) : null;
    return {
        name: warm ? "isolated-vm, isolate kept" : "isolated-vm",
        run(work) {
            const text = `(function (n) { ${work.js("")} })`;
            const begun = clock();
            const vm = kept ?? new ivm.Isolate({ memoryLimit: 64 });
            const context = vm.createContextSync();
            context.global.setSync("step", new ivm.Callback((given: { i: number }) => host(given.i)));
            const func = context.evalSync(text, { reference: true });
            const ready = clock() - begun;
            const value: unknown = func.applySync(undefined, [N]);
            func.release();
            context.release();
            if (kept === null) vm.dispose();
            return { ready, whole: clock() - begun, value };
        },
    };
}

async function codeMode(): Promise<Runner> {
    const { experimental_runCodeMode: runCodeMode } = await import("@ai-sdk/code-mode");
    const [{ tool }, { z }] = await Promise.all([import("ai"), import("zod")]);
    const tools = {
        step: tool({
            description: "One step.",
            inputSchema: z.object({ i: z.number(), before: z.number() }),
            execute: async ({ i }) => host(i),
        }),
    };
    return {
        name: "AI SDK code mode",
        async run(work) {
            const js = `const n = ${N}, step = tools.step; ${work.js("await ")}`;
            const begun = clock();
            const value = await runCodeMode({ js, tools });
            const whole = clock() - begun;
            return { ready: whole, whole, value };
        },
    };
}

// ---- measuring ---------------------------------------------------------------------------------------------------------

/** Milliseconds of processor time that a round gives to each runner and work. */
const SLICE = QUICK ? 1 : 40;
/** And of what goes before. */
const WARM = QUICK ? 0 : 300;
const ROUNDS = QUICK ? 1 : 9;

type Kind = "ready" | "whole";
interface Asked {
    readonly work: Work["name"];
    /** Milliseconds of processor time. */
    readonly slice: number;
}

const RUNNERS: { readonly [name: string]: () => Runner | Promise<Runner> } = {
    Remit: () => remit(compileText(SOURCE), true),
    "Remit, an answer met before": () => remit(compileText(SOURCE), false),
    QuickJS: quickjs,
    "isolated-vm, isolate kept": () => isolate(true),
    "isolated-vm": () => isolate(false),
    "AI SDK code mode": codeMode,
};

/** A runner's own process: the work as often as it fits into the slice, once at least; medians, and the value of the last. */
export async function runner(name: string): Promise<(asked: Asked) => Promise<Took>> {
    const { run } = await (RUNNERS[name] as () => Runner | Promise<Runner>)();
    return async ({ work, slice }) => {
        const took: Took[] = [];
        const until = clock() + slice;
        do took.push(await run(WORK[work]));
        while (clock() < until);
        const of = (kind: Kind): number => median(took.map((one) => one[kind]));
        return { ready: of("ready"), whole: of("whole"), value: took.at(-1)?.value };
    };
}

export async function yielding(): Promise<Section> {
    const all = Object.keys(RUNNERS).map((name) => apart(name, { module: import.meta.url, make: "runner", args: [name] }));
    const works = Object.values(WORK);
    const lost = new Map<string, string>();
    const samples = new Map<string, number[]>();
    const at = (name: string, work: Work["name"], kind: Kind): number[] => {
        const key = `${name}/${work}/${kind}`;
        const found = samples.get(key) ?? [];
        samples.set(key, found);
        return found;
    };
    /** Rounds below zero warm up, the first of them longest: as in a process that goes on for a while. */
    for (let round = -3; round < ROUNDS; round++)
        for (const { name: work, value } of works)
            for (const one of all) {
                if (lost.has(one.name)) continue;
                try {
                    const took = (await one.ask({ work, slice: round === -3 ? WARM : SLICE })).value as Took;
                    if (took.value !== value) throw new Error(`${one.name}, ${work}: ${String(took.value)} and not ${value}`);
                    if (round >= 0) for (const kind of ["ready", "whole"] as const) at(one.name, work, kind).push(took[kind]);
                } catch (error) {
                    if (!(error instanceof Lost)) throw error;
                    lost.set(one.name, error.reason);
                }
            }
    for (const one of all) one.close();
    const runners = all.map(({ name }) => ({ name }));
    const of = (runner: { readonly name: string }, work: Work["name"], kind: Kind) => (round: number) =>
        at(runner.name, work, kind)[round] as number;
    const perCall = (runner: { readonly name: string }) => (round: number) =>
        (of(runner, "calls", "whole")(round) - of(runner, "ready", "whole")(round)) / CALLS;
    const row = (
        name: string,
        unit: string,
        what: (runner: { readonly name: string }) => (round: number) => number,
        goal?: number,
    ): Row => {
        /** Microseconds, by round. */
        const all = runners.map((runner) => Array.from({ length: ROUNDS }, (_, round) => what(runner)(round) * 1000));
        const [own, ...theirs] = all.map(median) as [number, ...number[]];
        return {
            name,
            ours: own,
            unit,
            against: theirs.map((value, i) => {
                const { name: other } = runners[i + 1] as { readonly name: string };
                const reason = lost.get(other);
                return reason === undefined ? { name: other, value, ratio: value / own } : { name: other, lost: reason };
            }),
            ...(goal === undefined ? {} : { goal: `≤ ${goal} µs`, met: own <= goal }),
            note: `best round ${figure(Math.min(...(all[0] as number[])))} µs`,
        };
    };
    return {
        title: "A yield in one process",
        how: `From an agent's answer at hand to the value of its function; the agent's own time is no part of it. Every answer runs in a sandbox of its own; for Remit that is reading, checking, validating and compiling it, and running it strictly, as the agent's principal, with labels, events and budgets. No two answers have the same text, except in the second column. What others leave out: QuickJS and isolated-vm call the host at once and keep no record, decide nothing and cannot be saved at a call; code mode checks arguments by a schema. Ratio is time of the other ÷ time of Remit; times are processor time of the process, medians. Start is until the function could take its first step (code mode, which does not say when that is: a function that returns at once). A host call is the function with ${CALLS} of them, less one that returns at once.`,
        cause: "Start: by profile three fifths of it are reading the answer (a third of that lexing and parsing, a quarter checking, an eighth each lowering and validating what came of it) and a third is putting it in and compiling it to strict frames. Read over and over again with nothing between, an answer takes about half of what it takes behind another run: code that ran once in a run is not at hand in the processor any more, so that only less code is faster. Attempts: one reading and compiling of an answer that a program met before, which is the second column; caps and structure of a form looked at in one pass that keeps no places; fences found without a list of lines, one walk through the body; a loop of an answer compiled for frames alone, on which strict code runs, and its functions looked through for no other form (0.84 of the processor time before, three pairs of processes in turn on a busy machine, after the figures above). No function takes more than 8% of what is left. Validating stays though the form was made here a moment before (8%): it refuses the names that no payload may hold. A host call is an effect with a decision, two events with origins by argument and an outcome that is applied; by profile no part of it takes more than a fifth. Attempts: fewer objects made before a decision, no walk through values that have no parts; schemes, clauses and accounts looked up without text made for it; after the figures above, no set, list or text made before an effect that nothing looks at, and a use through what was handed over let through again without a decision where its place, labels, what it was handed on by and what the agent was told of it are as before: together 0.87 of the processor time of a call, 0.84 of one in an answer met before (such pairs). A call makes 6.5 kB of objects in place of 8.8. The reading of the longer function counts for the calls here, about 2 µs each.",
        rows: [
            row(
                "start of a function of 1,000 steps",
                "µs",
                (runner) => of(runner, runner.name === "AI SDK code mode" ? "ready" : "steps", "ready"),
                100,
            ),
            row("a function that returns at once, whole", "µs", (runner) => of(runner, "ready", "whole")),
            row("a function of 1,000 steps, whole", "µs", (runner) => of(runner, "steps", "whole")),
            row(`a function with ${CALLS} host calls, whole`, "µs", (runner) => of(runner, "calls", "whole")),
            row("one host call", "µs", perCall, 5),
        ],
    };
}
