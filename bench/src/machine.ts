/**
 * Pure work: the machine with labels and steps on, against QuickJS (compiled to WebAssembly, release build) and JSONata.
 * Twice for Remit: input without and with a label on every number that is computed.
 */
import { getQuickJS } from "quickjs-emscripten";
import jsonata from "jsonata";
import { alternate, figure, geometricMean, type Row, type Section } from "./harness.ts";
import { compileText, runPure } from "./remit.ts";
import { jsSource, remitSource, WORK } from "./programs.ts";

export async function machine(): Promise<Section> {
    const quick = await getQuickJS();
    const prepared = WORK.map((work) => {
        const context = quick.newContext();
        context.unwrapResult(context.evalCode(jsSource(work))).dispose();
        const inQuick = (): number => {
            const handle = context.unwrapResult(context.evalCode(`main(${work.n})`));
            const value = context.getNumber(handle);
            handle.dispose();
            return value;
        };
        const compiled = compileText(remitSource(work));
        const expression = work.jsonata === undefined ? null : jsonata(work.jsonata);
        return {
            work,
            inQuick,
            plain: () => runPure(compiled, work.n, []),
            labelled: () => runPure(compiled, work.n, ["user"]),
            inJsonata: expression === null ? null : () => expression.evaluate({}, { n: work.n }),
        };
    });
    // everything runs before anything is measured: a program alone in its process is faster than it ever is in use
    for (const one of prepared) {
        const wanted = one.inQuick();
        for (const [who, value] of [
            ["Remit", one.plain()],
            ["Remit labelled", one.labelled()],
            ["JSONata", one.inJsonata ? await one.inJsonata() : wanted],
        ] as const)
            if (value !== wanted) throw new Error(`${one.work.name}: ${who} says ${String(value)}, QuickJS says ${wanted}`);
        for (let i = 0; i < 20; i++) {
            one.plain();
            one.labelled();
        }
    }
    const rows: Row[] = [];
    const ratios = { plain: [] as number[], labelled: [] as number[], jsonata: [] as number[] };
    for (const one of prepared) {
        const contenders = [
            { name: "Remit", run: one.plain },
            { name: "Remit labelled", run: one.labelled },
            { name: "QuickJS", run: one.inQuick },
            ...(one.inJsonata ? [{ name: "JSONata", run: one.inJsonata }] : []),
        ];
        const [plain, labelled, quickjs, json] = (await alternate(contenders)) as [number, number, number, number?];
        ratios.plain.push(quickjs / plain);
        ratios.labelled.push(quickjs / labelled);
        if (json !== undefined) ratios.jsonata.push(json / plain);
        rows.push({
            name: one.work.name,
            ours: plain * 1000,
            unit: "µs",
            against: [
                { name: "all labelled", value: labelled * 1000, ratio: labelled / plain },
                { name: "QuickJS", value: quickjs * 1000, ratio: quickjs / plain },
                ...(json === undefined ? [] : [{ name: "JSONata", value: json * 1000, ratio: json / plain }]),
            ],
            goal: "≥ 1× of each",
            met: quickjs >= plain && (json ?? plain) >= plain,
        });
    }
    const means = { plain: geometricMean(ratios.plain), labelled: geometricMean(ratios.labelled), jsonata: geometricMean(ratios.jsonata) };
    return {
        title: "Machine: pure work",
        how: `Labels and steps on; ratio is time of the other ÷ time of Remit. Geometric means: ${figure(means.plain)}× QuickJS, ${figure(means.labelled)}× QuickJS with every value labelled, ${figure(means.jsonata)}× JSONata.`,
        rows,
    };
}
