/** LIC1: who used up what is counted decides what its refusal leads to, also where parts run elsewhere. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import { partOf } from "./parts.ts";
import { formOf, once, outcome, said } from "./running.ts";

const policy: Policy = { untrusted: { gate: "never" } };

/** How a run ends in which a mail lets a count be used up, and what is written behind the refusal. */
function ended(body: string): Json {
    const form = formOf(`import tool Inbox from "mcp://inbox"
import tool Pay from "mcp://pay" { refund: at most 1, choice refund: any }
import tool Out from "mcp://out"
func uses(x) { if Inbox.read({}).subject.contains("REFUND") { Pay.refund({ order_id: "a" }) }
1 }
func tries(x) { try { Pay.refund({ order_id: "b" }) } catch e { Out.write({ content: "x" }) }
2 }
memory static ( ${body} )`);
    const wrote: string[] = [];
    const answer = (e: Effect): Outcome | undefined => {
        if (e.kind === "run") return partOf(form, e, { answer, options: { policy } });
        const { tool, method, op } = e.request as { tool?: string; method?: string; op?: string };
        if (op === "describe") return undefined;
        if (tool === "Out") wrote.push(`${tool}.${method}`);
        return tool === "Inbox" ? said({ subject: "REFUND" }, ["tool:Inbox"]) : undefined;
    };
    return [outcome(once(form, { answer, options: { policy } })), wrote];
}

test.each([
    "uses >=> tries",
    "uses >=> temporal static ( tries )",
    "temporal static ( uses ) >=> tries",
    "temporal static ( uses ) >=> temporal static ( memory static ( tries ) )",
    "temporal static ( memory static ( uses ) ) >=> tries",
])("%s", (body) => {
    expect(ended(body)).toEqual(["violation.flow", []]);
});

/** How a run ends that the ledger refuses a call for what other runs used up, and what is written behind the refusal. */
function refusedByDay(clauses: string): Json {
    const form = formOf(`import tool Pay from "mcp://pay" { trusted, ${clauses} }
import tool Out from "mcp://out"
main agent A { main func() { try { Pay.refund({ order_id: "b" }) } catch e { Out.write({ content: "x" }) }
1 } }`);
    const wrote: string[] = [];
    const answer = ({ request }: Effect): Outcome | undefined => {
        const { tool, method, op } = request as { tool?: string; method?: string; op?: string };
        if (op === "describe") return undefined;
        if (tool === "Out") wrote.push(`${tool}.${method}`);
        return tool === "Pay" ? { ok: false, failure: { kind: "denied", message: "it was used 1 times", site: null } } : undefined;
    };
    return [outcome(once(form, { answer, options: { policy } })), wrote];
}

test("who used up a count of a day in other runs is not known, and not trusted", () => {
    expect(refusedByDay("refund: at most 1 per day")).toEqual(["violation.flow", []]);
    // Nothing is counted: what the trusted tool says decides.
    expect(refusedByDay("refund: may")).toEqual([1, ["Out.write"]]);
});
