/** `reads get: result customer_id through Customers.list.id to email`: who may read a record is found in the rows of another tool's result. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { did, outcome, run, trying } from "./running.ts";

const ROWS: Json = [
    { id: 1, email: "ann@x.example" },
    { id: 2, email: "bob@x.example" },
    { id: "2", email: "eve@x.example" },
    { id: 3, email: ["ann@x.example", "carl@x.example"] },
    { id: 4, email: "ann@x.example" },
    { id: 4, email: "eve@x.example" },
    { id: 5, email: "" },
];
/** As a server of MCP gives it. */
const wrapped = (structured: Json): Json => ({ ok: true, text: "", content: [], structured, isError: false });

/** `body`: of main, which gets order `o`; `to`: whom it is mailed. */
const program = (
    body: string,
    to: string,
    clause = "reads get: result customer_id through Customers.list.customers.id to email",
): string => `
import tool Orders from "mcp://orders" { trusted, ${clause} }
import tool Customers from "mcp://customers" { trusted }
import tool Mail from "mcp://mail" { send: may, audience send: arg to }
main agent A { main func() { ${body}
x = ${trying(`Mail.send({ to: "${to}", body: text(o) })`)}
x } }`;

function sent(
    text: string,
    { customer = 1, rows = ROWS, origins = ["tool:Customers"] }: { customer?: Json; rows?: Json; origins?: string[] } = {},
): boolean {
    const answer = (e: Effect): Outcome | undefined => {
        const { tool, op } = e.request as { tool?: string; op?: string };
        if (op === "describe") return undefined;
        if (tool === "Orders") return { ok: true, value: wrapped({ customer_id: customer, total: 5 }), origins: ["tool:Orders"] };
        return tool === "Customers" ? { ok: true, value: wrapped({ customers: rows }), origins } : undefined;
    };
    const ran = run(text, { answer });
    const went = did(ran).includes("Mail.send");
    if (!went) expect(outcome(ran)).toBe("violation.flow");
    return went;
}

const LISTED = "c = Customers.list({})\no = Orders.get({ id: 7 })";

describe("a record goes to the people of its row alone", () => {
    test.each([
        [1, "ann@x.example", true],
        [1, "bob@x.example", false],
        [2, "bob@x.example", true],
        // A number is no text.
        [2, "eve@x.example", false],
        ["2", "eve@x.example", true],
        [3, "carl@x.example", true],
        [[1, 3], "carl@x.example", true],
        // Two rows that differ, none, and one that names nobody.
        [4, "ann@x.example", false],
        [9, "ann@x.example", false],
        [5, "", false],
        [null, "ann@x.example", false],
    ] as const)("customer %j to %s: %s", (customer, to, isSent) => {
        expect(sent(program(LISTED, to), { customer: customer as Json })).toBe(isSent);
    });

    test("rows that come after the record, that another vouches for, or that repeat the call's own argument, are none", () => {
        expect(sent(program("o = Orders.get({ id: 7 })\nc = Customers.list({})", "ann@x.example"))).toBe(false);
        expect(sent(program(LISTED, "ann@x.example"), { origins: ["tool:Customers", "tool:Web"] })).toBe(false);
        const asked = 'c = Customers.list({ like: "eve@x.example" })\no = Orders.get({ id: 7 })';
        expect(sent(program(asked, "eve@x.example"), { rows: [{ id: 1, email: "eve@x.example" }] })).toBe(false);
    });

    test("the people of a row can be those who hear of what is sent", () => {
        const text = `
import tool Notes from "mcp://notes" { trusted, reads get: "ann@x.example" }
import tool Customers from "mcp://customers" { trusted }
import tool Mail from "mcp://mail" { send: may, audience send: arg customer through Customers.list.customers.id to email }
main agent A { main func(input) { c = Customers.list({})
o = Notes.get({})
Mail.send({ customer: 1, body: text(o) })
Mail.send({ customer: 2, body: text(o) }) } }`;
        const answer = (e: Effect): Outcome | undefined => {
            const { tool, op } = e.request as { tool?: string; op?: string };
            return tool === "Customers" && op !== "describe"
                ? { ok: true, value: wrapped({ customers: ROWS }), origins: ["tool:Customers"] }
                : undefined;
        };
        const ran = run(text, { answer, options: { input: {} } });
        // The first goes to Ann, the second would go to Bob.
        expect([did(ran).filter((one) => one === "Mail.send"), outcome(ran)]).toEqual([["Mail.send"], "violation.flow"]);
    });
});
