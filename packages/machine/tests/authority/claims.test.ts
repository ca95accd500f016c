/** Labels that a server states of what it gives (RST1), which restrict and grant nothing; and what who chose a use tells those who hear of it. */
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

test.each([
    ["a read that leaves the machine", 'import tool Web from "https://w.example"', 'Web.get({ url: "/a" })', [], "violation.flow"],
    [
        "one whose audience may know",
        'import tool Web from "https://w.example" { audience get: "alice" }',
        'Web.get({ url: "/a" })',
        ["Web.get"],
        1,
    ],
    [
        "one that others hear of",
        'import tool Web from "https://w.example" { audience get: "alice", audience get: "bob" }',
        'Web.get({ url: "/a" })',
        [],
        "violation.flow",
    ],
    ["a server of which it is not known", 'import tool Web from "mcp://w" { choice: any }', "Web.go({})", [], "violation.flow"],
] as const)("what chose %s is held against who hears of it", (_name, imported, call, calls, end) => {
    const text = `import memory Notes from "file://n.jsonl" { reads query: "alice" }
${imported}
main func(input) { n = Notes.query({})
if n.count > 1 { ${call} }
1 }`;
    const answer = (e: Effect): Outcome | undefined =>
        e.kind === "recall" ? { ok: true, value: { count: 2 }, origins: ["memory:Notes"] } : undefined;
    const one = run(text, { answer, yes: "once", options: { input: {}, policy: { untrusted: { gate: "ask" } } } });
    expect([did(one).filter((what) => what.startsWith("Web")), outcome(one)]).toEqual([calls, end]);
});
