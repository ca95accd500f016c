/**
 * Reading programs: parsing and checking Remit against acorn parsing (only) JavaScript that says the same with the same number of bytes.
 */
import { check, loadProgram, parse, source } from "@remit/language";
import { apart } from "./apart.ts";
import { figure, other, QUICK, type Row, rounds, type Section } from "./harness.ts";

const remitFunc = (i: number): string => `
// Adds up what ${i} customers ordered, and says who is late.
func orders_${i}(orders, today, limit) {
    total = 0
    late = []
    for order in orders max 1000 {
        price = order.amount * order.price + ${i}
        if order.due < today and not order.paid {
            late.add({ name: order.name, days: today - order.due, amount: price })
        } else if order.rush {
            total += price * 2
        } else {
            total += price
        }
    }
    names = late.map((l) => l.name).filter((n) => n != "" and n.length > 2)
    summary = { total: total, late: late, first: names[0], text: "total of " + total + " for " + limit }
    if total > limit { return { ...summary, note: "over the limit" } }
    summary
}
`;
const jsFunc = (i: number): string => `
// Adds up what ${i} customers ordered, and says who is late.
function orders_${i}(orders, today, limit) {
    let total = 0;
    const late = [];
    for (const order of orders) {
        const price = order.amount * order.price + ${i};
        if (order.due < today && !order.paid) {
            late.push({ name: order.name, days: today - order.due, amount: price });
        } else if (order.rush) {
            total += price * 2;
        } else {
            total += price;
        }
    }
    const names = late.map((l) => l.name).filter((n) => n !== "" && n.length > 2);
    const summary = { total: total, late: late, first: names[0], text: "total of " + total + " for " + limit };
    if (total > limit) { return { ...summary, note: "over the limit" }; }
    return summary;
}
`;

/** Programs of about so many functions, in the same number of bytes. */
export function corpus(functions: number): { readonly js: string; readonly remit: string } {
    const js = Array.from({ length: functions }, (_, i) => jsFunc(i)).join("");
    let remit = "main agent Bench {\n    main func(n) { n }\n}\n";
    for (let i = 0; remit.length + remitFunc(i).length < js.length; i++) remit += remitFunc(i);
    // the same number of bytes to the last
    remit += `//${"-".repeat(Math.max(0, js.length - remit.length - 2))}`;
    return { js, remit };
}

type Asked = { readonly functions: number; readonly parseOnly?: true };

/** Each text once. */
function kept(of: (functions: number) => string): (functions: number) => string {
    const texts = new Map<number, string>();
    return (functions) => {
        const text = texts.get(functions) ?? of(functions);
        texts.set(functions, text);
        return text;
    };
}

/** Remit's own process: parses, and checks; gives the number of errors, or of items. */
export function remit(): (asked: Asked) => number {
    const textOf = kept((functions) => corpus(functions).remit);
    return ({ functions, parseOnly }) => {
        const text = textOf(functions);
        if (parseOnly) return parse(source(text, "b.remit")).items.length;
        const { diagnostics } = check(loadProgram("b.remit", { read: () => text, resolve: () => null }));
        return diagnostics.filter((one) => one.severity === "error").length;
    };
}

export async function acorn(): Promise<(asked: Asked) => number> {
    const { parse: parseJs } = await import("acorn");
    const textOf = kept((functions) => corpus(functions).js);
    return ({ functions }) => parseJs(textOf(functions), { ecmaVersion: "latest", sourceType: "module", locations: true }).body.length;
}

export async function parsing(): Promise<Section> {
    const own = apart("Remit", { module: import.meta.url, make: "remit" });
    const theirs = apart("acorn, parse only", { module: import.meta.url, make: "acorn" });
    const rows: Row[] = [];
    for (const functions of QUICK ? [10, 100] : [10, 100, 1000]) {
        const errors = (await own.ask({ functions })).value;
        if (errors !== 0) throw new Error(`the corpus has ${String(errors)} errors`);
        const [first, ...others] = await rounds(
            [own.at({ functions }), own.at({ functions, parseOnly: true }, "Remit, parse only"), theirs.at({ functions })],
            // Where one run takes long there are few in a round, and collecting garbage is a good part of it.
            { most: functions >= 1000 ? 21 : 9, slice: 60 },
        );
        if (first === undefined || first.lost !== null) throw new Error(`Remit was ended: ${first?.lost}`);
        const against = others.map((one) => other(one, first.median, (ms) => ms));
        const bytes = corpus(functions).js.length;
        rows.push({
            name: `${figure(bytes / 1000)} kB`,
            ours: first.median,
            unit: "ms parse + check",
            against,
            goal: "≥ 1× acorn",
            met: (against.find((one) => one.name === theirs.name)?.ratio ?? 1) >= 1,
            note: `${figure(bytes / 1e6 / (first.median / 1000))} MB/s`,
        });
    }
    for (const one of [own, theirs]) one.close();
    return {
        title: "Reading programs",
        cause: "Checking does more than parsing: names, contracts, effects and budgets of every function are found out over the whole program.",
        how: "The same bytes of similar code; acorn with locations, as every tool uses it. Ratio is time of the other ÷ time of Remit parsing and checking.",
        rows,
    };
}
