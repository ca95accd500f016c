/** ROW1: what rows of a table say of people holds over parts of a run that run elsewhere as within one run. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { Standing } from "../../src/state/delegations.ts";
import { partOf } from "./parts.ts";
import { formOf, once, outcome, said } from "./running.ts";

type Page = readonly { readonly id: number; readonly email: string }[];

const ANN: Page = [{ id: 1, email: "ann@x.example" }];
const EVE: Page = [{ id: 1, email: "eve@x.example" }];
const NOBODY: Page = [];

/** How a run ends, and to whom the order of customer 1 went. `pages`: what the table says at each time that it is read. `part`: a part's outcome as the run gets it. */
function ended(body: string, to: string, pages: readonly Page[], part: (came: Outcome) => Outcome = (came) => came): Json {
    const form =
        formOf(`import tool Orders from "mcp://orders" { trusted, reads get: result customer_id through Customers.list.id to email }
import tool Customers from "mcp://customers" { trusted }
import tool Mail from "mcp://mail" { send: may, audience send: arg to }
func lists(x) { Customers.list({ page: "a" })
1 }
func sends(x) { Customers.list({ page: "b" })
o = Orders.get({ id: 7 })
Mail.send({ to: "${to}", body: text(o) })
2 }
memory static ( ${body} )`);
    const sent: string[] = [];
    let read = 0;
    const answer = (e: Effect): Outcome | undefined => {
        if (e.kind === "run") return part(partOf(form, e, { answer }));
        const { tool, op, args } = e.request as { tool?: string; op?: string; args?: readonly { to?: string }[] };
        if (op === "describe") return undefined;
        if (tool === "Mail") sent.push(String(args?.[0]?.to));
        if (tool === "Orders") return said({ customer_id: 1, total: 5 }, ["tool:Orders"]);
        return tool === "Customers" ? said(pages[read++] as unknown as Json, ["tool:Customers"]) : undefined;
    };
    return [outcome(once(form, { answer })), sent];
}

describe.each([
    "lists >=> sends",
    "lists >=> temporal static ( sends )",
    "temporal static ( lists ) >=> sends",
    "temporal static ( lists ) >=> temporal static ( memory static ( sends ) )",
    "temporal static ( memory static ( lists ) ) >=> sends",
])("%s", (body) => {
    test("two rows that name different people name no person", () => {
        expect(ended(body, "eve@x.example", [ANN, EVE])).toEqual(["violation.flow", []]);
        expect(ended(body, "ann@x.example", [ANN, EVE])).toEqual(["violation.flow", []]);
    });

    test("a row that came before counts", () => {
        expect(ended(body, "ann@x.example", [ANN, NOBODY])).toEqual([2, ["ann@x.example"]]);
        expect(ended(body, "eve@x.example", [ANN, NOBODY])).toEqual(["violation.flow", []]);
    });
});

test("behind a part that does not tell which rows came in it, no row names a person", () => {
    const silent = (came: Outcome): Outcome => {
        const { rows: _, ...rest } = came;
        return rest as Outcome;
    };
    expect(ended("temporal static ( lists ) >=> sends", "eve@x.example", [ANN, EVE], silent)).toEqual(["violation.flow", []]);
    expect(ended("temporal static ( lists ) >=> sends", "eve@x.example", [NOBODY, EVE])).toEqual([2, ["eve@x.example"]]);
});

test("a part that was withdrawn and goes on: until it ends no row names a person outside it, and in it those do that came before", () => {
    const row = '1\n["ann@x.example"]';
    const around = new Standing();
    around.learnRows("t", [row]);
    around.rowsCame("main/block#0", ["t"], undefined);
    expect(around.people("t", 1)).toBeUndefined();
    const part = new Standing();
    part.rowsCame("main/block#0", ["t"], around.rowsOf(["t"]));
    expect(part.people("t", 1)).toEqual(["ann@x.example"]);
    const other = new Standing();
    other.rowsCame("main/block#1", ["t"], around.rowsOf(["t"]));
    expect(other.people("t", 1)).toBeUndefined();
    around.rowsCame("main/block#0", ["t"], part.rowsOf(["t"], [["t", [row]]]));
    expect(around.people("t", 1)).toEqual(["ann@x.example"]);
});
