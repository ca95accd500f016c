/** Methods whose names are no words (`list-issues`): named in quotes wherever a rule names one. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type Effect, refusalIn, refusalText, remedyOf } from "../../src/index.ts";
import { did, outcome, run } from "./running.ts";

/** A call of the tool that the generic `call` names. */
const call = (method: string, args = "{}"): string => `Far.call({ tool: "${method}", args: ${args} })`;
const ran = (clauses: string, remit: string, body: string, about = {}) =>
    run(
        `import tool Far from "mcp://far"${clauses === "" ? "" : ` { ${clauses} }`}
agent Clerk { remit { ${remit} }
func go() { ${body} } func use(far) { far.call({ tool: "list-issues", args: {} }) } }
main agent A { main func() { ${about === "use" ? body : "Clerk.go()"} } }
`,
        {
            answer: (e: Effect) => {
                const { op, tool } = e.request as { op?: string; tool?: string };
                const methods = ["list-issues", "close.issue"].map((name) => ({
                    name,
                    input: { type: "object", properties: { to: {}, id: {} } },
                }));
                return op === "describe" && tool === "Far" ? { ok: true, value: { methods }, origins: ["tool:Far"] } : undefined;
            },
        },
    );

describe("a name in quotes", () => {
    test.each([
        ["", 'may Far."list-issues"', 'Far.call({ tool: "list-issues", args: {} })', true],
        ["", 'may Far."list-issues"', 'Far.call({ tool: "close.issue", args: {} })', false],
        ["", 'may Far."list-issues" in id: "a*"', 'Far.call({ tool: "list-issues", args: { id: "b" } })', false],
        ["", 'may Far  never Far."close.issue"', 'Far.call({ tool: "close.issue", args: {} })', false],
        ['"list-issues": never', "may Far", 'Far.call({ tool: "list-issues", args: {} })', false],
        [
            '"list-issues": at most 1',
            "may Far",
            'Far.call({ tool: "list-issues", args: {} })  Far.call({ tool: "list-issues", args: {} })',
            false,
        ],
        ['arg "list-issues".to: from("tool:Nobody")', "may Far", 'Far.call({ tool: "list-issues", args: { to: "a" } })', true],
    ])("%s, %s: %s", (clauses, remit, body, may) => {
        const one = ran(clauses, remit, body);
        expect([one.result.ok, did(one).length > 0]).toEqual([may, may || body.includes("  ")]);
    });

    test("narrows, and is delegated", () => {
        const use = (given: string) => outcome(ran("", "spend 9 calls", `Clerk.use(${given})`, "use"));
        expect(use('Far.only(."list-issues")')).toEqual({ did: "Far.call" });
        expect(use('Far.only(."close.issue")')).toBe("violation.remit");
        const delegated = (name: string) =>
            outcome(
                run(
                    `import tool Far from "mcp://far"
agent Clerk { remit { spend 9 calls } func go() { Far.call({ tool: "list-issues", args: {} }) } }
main agent A { main func() { delegate Far."${name}" to Clerk { Clerk.go() } } }
`,
                    {
                        answer: (e: Effect) =>
                            (e.request as { op?: string }).op === "describe"
                                ? {
                                      ok: true,
                                      value: { methods: [{ name: "list-issues" }, { name: "close.issue" }] },
                                      origins: [],
                                  }
                                : undefined,
                    },
                ),
            );
        expect([delegated("list-issues"), delegated("close.issue")]).toEqual([null, "violation.remit"]);
    });

    test("stands in what a refusal says and proposes as it is written", () => {
        const one = ran("", 'may Far."list-issues"', call("close.issue"));
        const [refusal] = one.events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json) ?? []) : []));
        if (refusal === undefined) throw new Error("nothing was refused");
        expect(refusalText(refusal)).toContain('Clerk uses Far."close.issue"');
        expect(remedyOf(refusal)).toContain('add `may Far."close.issue"`');
    });
});
