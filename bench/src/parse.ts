/**
 * Reading programs: parsing and checking Remit against acorn parsing (only) JavaScript that says the same with the same number of bytes.
 */
import * as acorn from "acorn";
import { check, loadProgram, parse, source } from "@remit/language";
import { alternate, figure, type Section } from "./harness.ts";

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

export async function parsing(): Promise<Section> {
    const rows = [];
    for (const functions of [10, 100, 1000]) {
        const { js, remit } = corpus(functions);
        const whole = (): number => check(loadProgram("b.remit", { read: () => remit, resolve: () => null })).diagnostics.length;
        const errors = check(loadProgram("b.remit", { read: () => remit, resolve: () => null })).diagnostics.filter(
            (one) => one.severity === "error",
        );
        if (errors.length > 0) throw new Error(`the corpus has errors: ${errors[0]?.message}`);
        const [ours, only, theirs] = (await alternate(
            [
                { name: "parse + check", run: whole },
                { name: "parse", run: () => parse(source(remit, "b.remit")).items.length },
                { name: "acorn", run: () => acorn.parse(js, { ecmaVersion: "latest", sourceType: "module", locations: true }) },
            ],
            // Where one run takes long there are few in a round, and collecting garbage is a good part of it.
            { rounds: functions >= 1000 ? 21 : 9 },
        )) as [number, number, number];
        const mb = js.length / 1e6;
        rows.push({
            name: `${figure(js.length / 1000)} kB`,
            ours,
            unit: "ms parse + check",
            against: [
                { name: "Remit, parse only", value: only, ratio: only / ours },
                { name: "acorn, parse only", value: theirs, ratio: theirs / ours },
            ],
            goal: "≥ 1× acorn",
            met: theirs / ours >= 1,
            note: `${figure(mb / (ours / 1000))} MB/s`,
        });
    }
    return {
        title: "Reading programs",
        cause: "Checking does more than parsing: names, contracts, effects and budgets of every function are found out over the whole program.",
        how: "The same bytes of similar code; acorn with locations, as every tool uses it. Ratio is time of the other ÷ time of Remit parsing and checking.",
        rows,
    };
}
