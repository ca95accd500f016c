/**
 * What authority costs: the work of the machine's section and a chain of effects, once with nothing said and nothing labelled, once with a label on
 * all input, a remit, clauses and a budget around it; and one decision by itself, with what a call asks of it.
 *
 * Labels and checks cannot be turned off: where nothing is said and nothing is labelled there is only nothing to carry and nothing to check.
 */
import type { Json } from "@remit/language";
import { type Compiled, Machine } from "@remit/machine";
import { decide, type Standing, type Use } from "../../packages/machine/src/authority/decide.ts";
import { valuesGiven } from "../../packages/machine/src/authority/given.ts";
import type { Frame } from "../../packages/machine/src/state/fiber.ts";
import { gate, standingOn } from "../../packages/machine/src/state/gate.ts";
import { waitingCall } from "../../packages/machine/src/state/ops.ts";
import { Labelled, type Raw, type Value } from "../../packages/machine/src/value/value.ts";
import { figure, geometricMean, median, QUICK, type Row, type Section } from "./harness.ts";
import { WORK } from "./programs.ts";
import { compileText, runPure } from "./remit.ts";

const EFFECTS = 1_000;
const CHAIN = `
 items = []
 total = 0
 i = 0
 loop until i >= n max 1000000 {
 got = Work.step({ i: i, before: total })
 total += got
 items.add({ i: i, got: got })
 i += 1
 }
 items.length`;
const BARE = `import tool Work from "mcp://work"\nimport tool Files from "file://workspace"\n`;
const CLAUSES = `
import tool Work from "mcp://work" { arg to: trusted, arg i: from("user", "tool:Work") or ask, arg before: from("user", "tool:Work"), reset: ask }
import tool Files from "file://workspace" { write: never }
`;
/** The same, and a rule about who decides that a call happens. */
const CHOICE = CLAUSES.replace("reset: ask", 'reset: ask, choice: from("user", "tool:Work") or ask');
/** Of what a rule about choices does not let decide: every condition of the work depends on it. */
const FOREIGN = ["user", "tool:Web"];
const REMIT = `remit { may Work.step  may Work.look  ask Work.send  may Files.read in "src/**", "docs/*.md"  never Files.write }`;

/** The same body with nothing said about authority, and with something said about everything. */
function bareAndBound(funcs: string, body: string): { readonly bare: Compiled; readonly bound: Compiled; readonly choosing: Compiled } {
    const inner = `main func(n) {\n${body}\n}`;
    const paid = `main func(n) {\nspend 90M steps, 1M calls, 1000M tokens {\nreturn work(n)\n}\n}\nfunc work(n) {\n${body}\n}`;
    const imports = body.includes("Work.") ? BARE : "";
    return {
        bare: compileText(`${imports}${funcs}\nmain agent Bench {\n${inner}\n}\n`),
        bound: compileText(`${CLAUSES}${funcs}\nmain agent Bench {\n${REMIT}\n${paid}\n}\n`),
        choosing: compileText(`${CHOICE}${funcs}\nmain agent Bench {\n${REMIT}\n${paid}\n}\n`),
    };
}

/** What `Work` says of itself. */
const METHODS = ["step", "look", "send", "reset"].map((name) => ({
    name,
    input: { type: "object", properties: { i: {}, before: {}, to: {} } },
}));

function chain(compiled: Compiled, inputLabels: readonly string[], origins: string[]): unknown {
    const machine = Machine.start(compiled, { run: "bench", programHash: "bench", input: EFFECTS, inputLabels });
    for (let i = 0; ; ) {
        const { state, effects, result } = machine.advance();
        if (state === "done") return result?.ok === true ? result.value : JSON.stringify(result);
        for (const { path, kind, request } of effects) {
            if (kind !== "tool") throw new Error(`asked at ${path}`);
            const isAsked = (request as { readonly op?: Json }).op === "describe";
            machine.resolve(path, { ok: true, value: isAsked ? { methods: METHODS } : i++ % 7, origins });
        }
    }
}

const WHOLE = "all that stands before a call";
const AGAIN = "the same call once more";

/** Decisions at one time; a clock cannot tell one. */
const AT_ONCE = 1_000;

interface Case {
    readonly name: string;
    readonly run: () => unknown;
}

/** One decision about each of some uses, in a run that waits inside the bound chain; all that stands before a call, and before the same call once more. */
function decisions(compiled: Compiled): Case[] {
    const m = Machine.start(compiled, { run: "bench", programHash: "bench", input: EFFECTS, inputLabels: ["user"] });
    for (const { path, request } of m.advance().effects)
        if ((request as { readonly op?: Json }).op === "describe") m.resolve(path, { ok: true, value: { methods: METHODS }, origins: [] });
    m.advance();
    const fiber = [...m.waiting.values()][0]?.fiber;
    if (fiber === undefined) throw new Error("the chain does not wait");
    const frame: Frame = fiber.top;
    const from = m.run.labels.of(["user", "tool:Work"]);
    const value = (json: Json): Value => new Labelled(m.fromJson(json) as Raw, from);
    const thing = (name: string) => m.compiled.capabilityAt(m.compiled.fileName(0), name);
    const standing = (name: string): Standing => standingOn(m, fiber, frame.principal, thing(name), m.authority.keyOf(thing(name)));
    const use = (name: string, uri: string, method: string, args: readonly Value[]): Use => ({
        principal: frame.principal,
        key: m.authority.keyOf(thing(name)),
        uri,
        method,
        given: valuesGiven(args, m.run),
        chosenBy: "program",
        chosen: from,
        readOnly: undefined,
        right: null,
    });
    const one = (name: string, of: Use, on: Standing): Case => {
        if (decide(of, on).kind !== "may") throw new Error(`${name}: ${JSON.stringify(decide(of, on))}`);
        return {
            name,
            run: () => {
                let last: unknown;
                for (let i = 0; i < AT_ONCE; i++) last = decide(of, on);
                return last;
            },
        };
    };
    const args = [value({ i: 1, before: 2 })];
    const call = waitingCall(fiber, { path: "main" });
    const c = thing("Work");
    const target = { c, name: "Work", uri: "mcp://work", method: "step", direct: true };
    return [
        one("a method of a remit", use("Work", "mcp://work", "look", []), standing("Work")),
        one("and a clause about the origins of an argument", use("Work", "mcp://work", "step", args), standing("Work")),
        one("a path within bounds", use("Files", "file://workspace", "read", [value({ path: "src/a/b.ts" })]), standing("Files")),
        {
            name: WHOLE,
            run: () => {
                let last: unknown;
                for (let i = 0; i < AT_ONCE; i++) {
                    m.run.letThrough.clear();
                    last = gate(m, call, target, args);
                }
                return last;
            },
        },
        {
            name: AGAIN,
            run: () => {
                let last: unknown;
                for (let i = 0; i < AT_ONCE; i++) last = gate(m, call, target, args);
                return last;
            },
        },
    ];
}

/** Median milliseconds of the thread's own processor time of one run of each: of short things the clock tells what others did meanwhile. */
function processorTimes(cases: readonly Case[]): number[] {
    const samples: number[][] = cases.map(() => []);
    for (let round = 0; round < (QUICK ? 1 : 9); round++)
        cases.forEach(({ run }, i) => {
            let runs = 0;
            let passed = 0;
            const before = process.threadCpuUsage();
            do {
                run();
                runs++;
                const { user, system } = process.threadCpuUsage(before);
                passed = (user + system) / 1000;
            } while (passed < (QUICK ? 1 : 40));
            (samples[i] as number[]).push(passed / runs);
        });
    return samples.map(median);
}

export async function authority(): Promise<Section> {
    const works = WORK.map((work) => {
        const { bare, bound, choosing } = bareAndBound(work.remit.funcs ?? "", work.remit.body);
        return {
            name: work.name,
            bare: () => runPure(bare, work.n, []),
            bound: () => runPure(bound, work.n, ["user"]),
            choosing: () => runPure(choosing, work.n, FOREIGN),
        };
    });
    const chosen = works.map(({ name, bare, choosing }) => ({ name: `${name}: chosen by another`, bare, bound: choosing }));
    const { bare, bound, choosing } = bareAndBound("", CHAIN);
    const effects = {
        name: `${EFFECTS.toLocaleString("en")} effects`,
        bare: () => chain(bare, [], []) as never,
        bound: () => chain(bound, ["user"], ["tool:Work"]) as never,
    };
    const cases = [
        ...decisions(bound),
        ...decisions(choosing)
            .slice(1, 2)
            .map(({ name, run }) => ({ name: `${name}, and about who chose`, run })),
    ];
    const all = [...works, effects, ...chosen];
    for (const work of all) {
        const [one, other] = [work.bare(), work.bound()];
        if (one !== other || typeof one !== "number") throw new Error(`${work.name}: ${String(one)} and ${String(other)}`);
        for (let i = 0; i < 20; i++) {
            work.bare();
            work.bound();
        }
    }
    for (const { run } of cases) for (let i = 0; i < 20; i++) run();
    const rows: Row[] = [];
    const ratios: number[] = [];
    for (const work of all) {
        const [free, held] = processorTimes([
            { name: "bare", run: work.bare },
            { name: "bound", run: work.bound },
        ]) as [number, number];
        const ratio = held / free;
        ratios.push(ratio);
        rows.push({
            name: work.name,
            ours: held * 1000,
            unit: "µs",
            against: [{ name: "nothing said, nothing labelled", value: free * 1000, ratio: free / held }],
            goal: "≤ 1.5×",
            met: ratio <= 1.5,
            note: `${figure(ratio)}× the time without`,
        });
    }
    const times = processorTimes(cases);
    cases.forEach(({ name }, i) => {
        const time = ((times[i] as number) * 1e6) / AT_ONCE;
        const whole = name === WHOLE || name === AGAIN;
        rows.push({
            name: `one check: ${name}`,
            ours: time,
            unit: "ns",
            against: [],
            ...(whole ? {} : { goal: "≤ 1000 ns", met: time <= 1000 }),
        });
    });
    return {
        title: "Labels, remits, clauses and budgets",
        how: `The work of the machine's section and a chain of effects: with an origin on all input and results, a remit, clauses of imports and a budget, against the same with none of them. Ratio is time without ÷ time with, the note says it the other way round; geometric mean ${figure(geometricMean(ratios))}× the time. A check is one decision about one use, in a run that stands inside that chain. Times are processor time of the thread.`,
        cause: "Calls: every number that a labelled one goes into is a box of its own, and `fib` does little else than make and compare numbers. Effects: each call is decided, counted on an account, and told with the origins of each argument; where nothing is said and nothing is labelled none of that happens. Attempts: arguments looked at only where a rule asks, and at their labels alone where it asks for no more; rows of a remit gone through without a list made of them; paths and patterns compared where they stand, without lists of their parts and past what is the same in both, a text read once for all patterns of a bound; schemes, clauses and who pays looked up without text made for it; labelled numbers computed where they are met, and compared without a box where only the way that is taken depends on it; the tables of a program's rules made once and not at each run; items of a lambda or a loop, and arguments of a built-in, without a box for what their place has anyway; what a condition lends to its place noticed where it is what it lent before; no list of flows, of choices or of readers where there is none, and the text of a thing's place made once (together 16% of a bound effect, in interleaved rounds); a use let through again without a decision where neither its place nor the labels of its arguments changed (a sixth of a bound effect); a labelled number that a call gives back returned without the look for lists and objects (2% of `fib` chosen by another, so left out): what is left is labels, the account and the origins in events.",
        rows,
    };
}
