/**
 * Pure work: the machine with labels and steps on, against QuickJS (compiled to WebAssembly, release build) and JSONata.
 * Twice for Remit: input without and with a label on every number that is computed.
 */
import { apart } from "./apart.ts";
import { figure, geometricMean, other, type Other, type Row, rounds, type Section } from "./harness.ts";
import { compileText, runPure } from "./remit.ts";
import { jsSource, remitSource, WORK } from "./programs.ts";

/** Number of a piece of work, and whether its input has a label. */
type Asked = { readonly at: number; readonly labelled?: true };

/** Remit's own process. Everything runs before anything is measured: a program alone in its process is faster than it ever is in use. */
export function remit(): (asked: Asked) => unknown {
    const compiled = WORK.map((work) => compileText(remitSource(work)));
    const run = ({ at, labelled }: Asked): unknown =>
        runPure(compiled[at] as (typeof compiled)[number], WORK[at]?.n as number, labelled ? ["user"] : []);
    for (let i = 0; i < 20; i++)
        for (let at = 0; at < WORK.length; at++) {
            run({ at });
            run({ at, labelled: true });
        }
    return run;
}

export async function quickjs(): Promise<(asked: Asked) => number> {
    const { getQuickJS } = await import("quickjs-emscripten");
    const quick = await getQuickJS();
    const contexts = WORK.map((work) => {
        const context = quick.newContext();
        context.unwrapResult(context.evalCode(jsSource(work))).dispose();
        return context;
    });
    return ({ at }) => {
        const context = contexts[at] as (typeof contexts)[number];
        const handle = context.unwrapResult(context.evalCode(`main(${WORK[at]?.n})`));
        const value = context.getNumber(handle);
        handle.dispose();
        return value;
    };
}

export async function jsonata(): Promise<(asked: Asked) => unknown> {
    const { default: compile } = await import("jsonata");
    const expressions = WORK.map((work) => (work.jsonata === undefined ? null : compile(work.jsonata)));
    return ({ at }) => expressions[at]?.evaluate({}, { n: WORK[at]?.n });
}

export async function machine(): Promise<Section> {
    const own = apart("Remit", { module: import.meta.url, make: "remit" });
    const quick = apart("QuickJS", { module: import.meta.url, make: "quickjs" });
    const json = apart("JSONata", { module: import.meta.url, make: "jsonata" });
    const rows: Row[] = [];
    const ratios = { plain: [] as number[], labelled: [] as number[], jsonata: [] as number[] };
    for (const [at, work] of WORK.entries()) {
        const labelled = own.at({ at, labelled: true }, "all labelled");
        const peers = work.jsonata === undefined ? [quick] : [quick, json];
        const wanted = (await quick.ask({ at })).value;
        for (const [who, value] of [
            ["Remit", (await own.ask({ at })).value],
            ["Remit labelled", (await own.ask({ at, labelled: true })).value],
            ["JSONata", peers.includes(json) ? (await json.ask({ at })).value : wanted],
        ] as const)
            if (value !== wanted) throw new Error(`${work.name}: ${who} says ${String(value)}, QuickJS says ${String(wanted)}`);
        const [first, ...others] = await rounds([own.at({ at }), labelled, ...peers.map((one) => one.at({ at }))], { most: 7, slice: 60 });
        if (first === undefined || first.lost !== null) throw new Error(`Remit was ended: ${first?.lost}`);
        const micro = (ms: number): number => ms * 1000;
        const against: Other[] = others.map((one) => other(one, micro(first.median), micro));
        const ratio = (name: string): number | undefined => against.find((one) => one.name === name)?.ratio;
        const [marked, inQuick, inJson] = [ratio("all labelled"), ratio("QuickJS"), ratio("JSONata")];
        if (inQuick !== undefined) ratios.plain.push(inQuick);
        if (inQuick !== undefined && marked !== undefined) ratios.labelled.push(inQuick / marked);
        if (inJson !== undefined) ratios.jsonata.push(inJson);
        rows.push({
            name: work.name,
            ours: micro(first.median),
            unit: "µs",
            against,
            goal: "≥ 1× of each",
            met: (inQuick ?? 1) >= 1 && (inJson ?? 1) >= 1,
        });
    }
    for (const one of [own, quick, json]) one.close();
    const means = { plain: geometricMean(ratios.plain), labelled: geometricMean(ratios.labelled), jsonata: geometricMean(ratios.jsonata) };
    return {
        title: "Machine: pure work",
        how: `Labels and steps on; ratio is time of the other ÷ time of Remit. Geometric means: ${figure(means.plain)}× QuickJS, ${figure(means.labelled)}× QuickJS with every value labelled, ${figure(means.jsonata)}× JSONata.`,
        rows,
    };
}
