/** Labels that a server states of what it gives (RST1): they restrict, and grant nothing. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { Claims, Effect, Outcome } from "../../src/index.ts";
import { did, outcome, run, trying } from "./running.ts";

const program = (imports: string, audience = "") => `
import tool Far from "mcp://far" ${imports}
import tool Out from "file://out" { write: may, arg path: trusted${audience} }
main func(input) { m = Far.read({})\nx = ${trying('Out.write({ path: m.who, content: "x" })')}\nx }`;

function ran(claims: Claims | undefined, imports: string, audience = ""): [string[], Json] {
    const answer = (e: Effect): Outcome | undefined =>
        (e.request as { tool?: string; op?: string }).tool === "Far" && (e.request as { op?: string }).op === "call"
            ? { ok: true, value: { who: "bob" }, origins: ["tool:Far"], ...(claims === undefined ? {} : { claims }) }
            : undefined;
    const one = run(program(imports, audience), { answer, options: { input: {} } });
    return [did(one).filter((what) => what === "Out.write"), outcome(one)];
}

test("what a trusted import brings is not trusted where its server says so", () => {
    expect(ran(undefined, "{ trusted }")[0]).toEqual(["Out.write"]);
    expect(ran({}, "{ trusted }")[0]).toEqual(["Out.write"]);
    expect(ran({ untrusted: true }, "{ trusted }")).toEqual([[], "violation.flow"]);
});

test("what is not said to be untrusted is no more trusted than its import", () => {
    for (const claims of [undefined, {}, { untrusted: true }] as const) expect(ran(claims, "")).toEqual([[], "violation.flow"]);
});

test("what is private goes to the person of the run alone", () => {
    expect(ran({ private: true }, "{ trusted }")).toEqual([[], "violation.flow"]);
    expect(ran({ private: true }, "{ trusted }", ', audience write: "user"')[0]).toEqual(["Out.write"]);
    expect(ran({ private: true }, "{ trusted }", ', audience write: "eve"')[0]).toEqual([]);
    // Who may read it besides is what the import says, and both hold.
    expect(ran({ private: true }, '{ trusted, reads: "eve" }', ', audience write: "eve"')[0]).toEqual([]);
    expect(ran({ private: true }, '{ trusted, reads: "eve" }', ', audience write: "user"')[0]).toEqual([]);
});
