/** RB1: runs of a program share a rulebook as long as their policy says the same. */
import { expect, test } from "vitest";
import { rulebookOf } from "../../src/authority/rulebook.ts";
import { compileProgram } from "../../src/index.ts";
import { formOf } from "../run/text.ts";

test("a policy that says something else has a rulebook of its own, also where it is the same object", () => {
    const program = compileProgram(formOf('import tool Mail from "mcp://mail"\nmain func(input) { Mail.send({}) }'));
    const clause = { kind: "gate" as const, method: "send", gate: "ask" as "ask" | "never" };
    const policy = { clauses: { Mail: [clause] } };
    const gate = (): unknown => rulebookOf(program, policy).clauses[0]?.get("Mail")?.gates.get("send")?.gate;
    const first = rulebookOf(program, policy);
    expect(gate()).toBe("ask");
    expect(rulebookOf(program, structuredClone(policy))).toBe(first);
    clause.gate = "never";
    expect(gate()).toBe("never");
    expect(rulebookOf(program, {}).plain).toBe(true);
    expect(gate()).toBe("never");
});

test("what is changed in a policy afterwards changes no rulebook that was made of it", () => {
    const program = compileProgram(formOf('import tool Mail from "mcp://mail"\nmain func(input) { Mail.send({}) }'));
    const from = ["user"];
    const policy = { clauses: { Mail: [{ kind: "arg" as const, name: "to", from }] } };
    const asked = structuredClone(policy);
    const allowed = (said: typeof policy): unknown => rulebookOf(program, said).clauses[0]?.get("Mail")?.args[0]?.from;
    expect(allowed(policy)).toEqual(["user"]);
    from.push("tool:Inbox");
    expect(allowed(asked)).toEqual(["user"]);
    expect(allowed(policy)).toEqual(["user", "tool:Inbox"]);
});
