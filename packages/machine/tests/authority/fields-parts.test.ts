/** EVI3: what stood in a field of results is evidence over parts of a run that run elsewhere as within one run. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { partOf } from "./parts.ts";
import { formOf, once, outcome, said } from "./running.ts";

/** How a run ends, and to whom a mail went. `find`: what the directory is asked; `part`: a part's outcome as the run gets it. */
function ended(body: string, to: string, find = "ann", part: (came: Outcome) => Outcome = (came) => came): Json {
    const form = formOf(`import tool Contacts from "mcp://contacts"
import tool Mail from "mcp://mail" { send: may, arg to: among(Contacts.find.people.email) }
func finds(x) { Contacts.find({ q: "${find}" })
1 }
func sends(x) { Mail.send({ to: text(Contacts.pick({ of: "${to}" })), body: "b" })
2 }
memory static ( ${body} )`);
    const sent: Json[] = [];
    const answer = (e: Effect): Outcome | undefined => {
        if (e.kind === "run") return part(partOf(form, e, { answer }));
        const { tool, op, method, args } = e.request as {
            tool?: string;
            op?: string;
            method?: string;
            args?: readonly { [key: string]: Json }[];
        };
        if (op === "describe") return undefined;
        if (tool === "Mail") sent.push(args?.[0]?.to ?? null);
        if (method === "pick") return said(to, ["tool:Contacts"]);
        return tool === "Contacts" ? said({ people: [{ email: "ann@x.example" }] }, ["tool:Contacts"]) : undefined;
    };
    return [outcome(once(form, { answer })), sent];
}

describe.each([
    "finds >=> sends",
    "finds >=> temporal static ( sends )",
    "temporal static ( finds ) >=> sends",
    "temporal static ( finds ) >=> temporal static ( sends )",
    "temporal static ( temporal static ( finds ) ) >=> memory static ( temporal static ( sends ) )",
])("%s", (body) => {
    test("lets in what stood there, and nothing else", () => {
        expect(ended(body, "ann@x.example")).toEqual([2, ["ann@x.example"]]);
        expect(ended(body, "eve@x.example")).toEqual(["violation.flow", []]);
    });

    test("not what only repeats what was asked", () => {
        expect(ended(body, "ann@x.example", "ann@x.example")).toEqual(["violation.flow", []]);
    });
});

test("what a part does not tell is no evidence", () => {
    const silent = (came: Outcome): Outcome => {
        const { rows: _, ...rest } = came;
        return rest as Outcome;
    };
    expect(ended("temporal static ( finds ) >=> sends", "ann@x.example", "ann", silent)).toEqual(["violation.flow", []]);
});

test("nor is what stands in the name of the part", () => {
    const silent = (came: Outcome): Outcome => ({ ...came, rows: undefined }) as unknown as Outcome;
    expect(ended("temporal static ( finds ) >=> sends", "?main/block#0", "ann", silent)).toEqual(["violation.flow", []]);
});
