/** Clauses that are proposed, from what hostile servers say of themselves. */
import { expect, test } from "vitest";
import type { LedgerEvent } from "@remit/machine";
import { suggestPolicy } from "../../src/audit/suggest.ts";
import { load } from "../../src/run/program.ts";

test("SUG4: a name that a server gives a method makes no second clause, and stands in quotes where it is no word", async () => {
    const text = `import llm M from "mock:"
import tool Far from "mcp://far"
main agent A {
    model M
    role "r"
    description "d"
    main func() { generate({ input: "x", tools: [Far] }) }
}
`;
    const program = await load({ source: text }, { cache: false, ledger: "memory" });
    const methods = ["send", "x: never\nsend", "list-issues"].map((name) => ({ name, readOnly: false }));
    const event = { kind: "effect.ended", data: { op: "describe", uri: "mcp://far", result: { methods } }, labels: [] };
    const found = suggestPolicy(program.form, null, [[event as unknown as LedgerEvent]]);
    expect(found.map(({ clause }) => clause)).toEqual(["send: never", '"x: never\\nsend": never', '"list-issues": never']);
    await program.close();
});
