/** Labels that a server states of what it gives (RST1), which restrict and grant nothing; and what who chose a use tells those who hear of it. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { Claims, Effect, Grants, Outcome, Policy } from "../../src/index.ts";
import { did, outcome, run, trying } from "./running.ts";

const program = (imports: string, audience = "") => `
import tool Far from "mcp://far" ${imports}
import tool Out from "file://out" { write: may, arg path: trusted${audience} }
main func(input) { m = Far.read({})\nx = ${trying('Out.write({ path: m.who, content: "x" })')}\nx }`;

function ran(claims: Claims | undefined, imports: string, audience = "", grants?: Grants, policy: Policy = {}): [string[], Json] {
    const answer = (e: Effect): Outcome | undefined =>
        (e.request as { tool?: string; op?: string }).tool === "Far" && (e.request as { op?: string }).op === "call"
            ? {
                  ok: true,
                  value: { who: "bob" },
                  origins: ["tool:Far"],
                  ...(claims === undefined ? {} : { claims }),
                  ...(grants === undefined ? {} : { grants }),
              }
            : undefined;
    const one = run(program(imports, audience), { answer, options: { input: {}, policy } });
    return [did(one).filter((what) => what === "Out.write"), outcome(one)];
}

test("what a trusted import brings is not trusted where its server says so", () => {
    expect(ran(undefined, "{ trusted }")[0]).toEqual(["Out.write"]);
    expect(ran({}, "{ trusted }")[0]).toEqual(["Out.write"]);
    expect(ran({ untrusted: true }, "{ trusted }")).toEqual([[], "violation.flow"]);
});

test("nor is what a failure of such a tool tells, thrown or in its result", () => {
    const text = `
import tool Far from "mcp://far" { trusted }
import tool Out from "file://out" { write: may, arg path: trusted }
main func(input) { said = try { Far.read({}).text } catch e { e.message }\nx = ${trying('Out.write({ path: said, content: "x" })')}\nx }`;
    const failure = { kind: "tool", message: "the page says: eve", site: null } as const;
    const result = { ok: false, isError: true, text: "the page says: eve", content: [], structured: null };
    const of = (claims: Claims) =>
        (
            [
                { ok: false, failure, claims },
                { ok: true, value: result, origins: ["tool:Far"], claims },
            ] satisfies Outcome[]
        ).map((told) =>
            outcome(
                run(text, {
                    answer: (e) => {
                        const { tool, op } = e.request as { tool?: string; op?: string };
                        return tool === "Far" && op === "call" ? told : undefined;
                    },
                }),
            ),
        );
    expect(of({})).toEqual([{ did: "Out.write" }, { did: "Out.write" }]);
    expect(of({ untrusted: true })).toEqual(["violation.flow", "violation.flow"]);
    expect(of({ private: true })).toEqual(["violation.flow", "violation.flow"]);
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

test("labels of a server grant where every import of it says so", () => {
    const grants = { trusted: true, public: true } as const;
    const granted = (imports: string, audience = "", claims?: Claims): boolean => ran(claims, imports, audience, grants)[0].length === 1;
    expect([granted(""), granted("{ labels from server }")]).toEqual([false, true]);
    // What it does not call trusted is not.
    expect(ran(undefined, "{ labels from server }", "", { public: true })[0]).toEqual([]);
    // Its own stricter word, and the program's clause, hold beside it.
    expect(granted("{ labels from server }", "", { untrusted: true })).toBe(false);
    const shared = 'import tool Other from "mcp://far"\n';
    expect(granted(`{ labels from server }\n${shared}`)).toBe(false);
    // Who may read it: what the import says, until the server says that every person may.
    expect(granted('{ labels from server, reads: "alice" }', ', audience write: "eve"')).toBe(true);
    expect(ran(undefined, '{ trusted, labels from server, reads: "alice" }', ', audience write: "eve"', { trusted: true })[0]).toEqual([]);
    expect(granted('{ trusted, reads: "alice" }', ', audience write: "eve"')).toBe(false);
});

test("what a project says of readers holds whatever a server states", () => {
    const policy: Policy = { clauses: { Far: [{ kind: "reads", readers: { names: ["alice"] }, at: [0, 0, 0, 0] }] } };
    const to = (who: string): string[] =>
        ran(undefined, "{ labels from server }", `, audience write: "${who}"`, { trusted: true, public: true }, policy)[0];
    expect([to("alice"), to("eve")]).toEqual([["Out.write"], []]);
});

test("what a server calls trusted is still from that tool for clauses that name it", () => {
    const text = (clause: string) => `
import tool Far from "mcp://far" { labels from server }
import tool Out from "file://out" { write: may, arg path: ${clause} }
main func(input) { m = Far.read({})\nx = ${trying('Out.write({ path: m.who, content: "x" })')}\nx }`;
    const of = (clause: string) => {
        const answer = (e: Effect): Outcome | undefined =>
            (e.request as { tool?: string; op?: string }).tool === "Far" && (e.request as { op?: string }).op === "call"
                ? { ok: true, value: { who: "bob" }, origins: ["tool:Far"], grants: { trusted: true } }
                : undefined;
        return outcome(run(text(clause), { answer, options: { input: {} } }));
    };
    for (const clause of ['from("tool:Far")', 'among("tool:Far")', "among(Far.read.who)"]) expect(of(clause)).toEqual({ did: "Out.write" });
    expect(of('from("user")')).toBe("violation.flow");
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

/** A read on this machine that what alice alone may read decides, and what it gave. */
const READS = [
    ["one of two", 'f = ""\nif n.count > 1 { f = Files.read({ path: "a" }).content } else { f = Files.read({ path: "b" }).content }', "f"],
    ["one in a function", 'f = ""\nif n.count > 1 { f = get("b") }', "f"],
    ["one of a path that was chosen", 'p = "a"\nif n.count > 1 { p = "b" }\nf = Files.read({ path: p }).content', "f"],
    ["one of a path that was chosen, in a function", 'p = "a"\nif n.count > 1 { p = "b" }\nf = get(p)', "f"],
    [
        "one of a path that was chosen, which fails",
        'p = "a"\nif n.count > 1 { p = "missing" }\nf = try { Files.read({ path: p }).content } catch e { e.message }',
        "f",
    ],
    ["that one failed", 'p = "a"\nif n.count > 1 { p = "missing" }\nf = "no"\ntry { Files.read({ path: p }) } catch e { f = "yes" }', "f"],
    [
        "that one did not fail",
        'p = "missing"\nif n.count > 1 { p = "a" }\nf = try { Files.read({ path: p })\n"yes" } catch e { "no" }',
        "f",
    ],
    ["one that returns", "f = early(n.count)", "f"],
    ["one behind `and`", 'f = n.count > 1 and Files.read({ path: "a" }).content == "in a"', "f"],
    ["one that is added to a list", 'l = []\nif n.count > 1 { l.add(Files.read({ path: "a" }).content) }\nf = l.join()', "f"],
    ["whether there is one", 'f = "no"\nif n.count > 1 { Files.read({ path: "a" })\nf = "yes" }', "f"],
    ["one that fails", 'f = try { if n.count > 1 { Files.read({ path: "missing" }) }\n"" } catch e { e.message }', "f"],
    ["one for each", 'f = ""\nfor one in n.many max 9 { f = Files.read({ path: "a" }).content }', "f"],
] as const;

const reading = (files: string, body: string, then: string) => {
    const text = `import memory Notes from "file://n.jsonl" { reads query: "alice" }
import tool Files from "file://workspace" ${files}
import tool Web from "https://w.example" { choice: any }
func get(p) { Files.read({ path: p }).content }
func early(n) { if n > 1 { return Files.read({ path: "a" }).content }\n"" }
main func(input) { n = Notes.query({})\n${body}\n${then}\n1 }`;
    const answer = (e: Effect): Outcome | undefined => {
        if (e.kind === "recall") return { ok: true, value: { count: 2, many: [1, 2] }, origins: ["memory:Notes"] };
        const { tool, args } = e.request as { tool?: string; args?: { path?: string }[] };
        const path = args?.[0]?.path;
        if (path === "missing") return { ok: false, failure: { kind: "tool", message: "it is not there" } };
        return tool === "Files" ? { ok: true, value: { content: `in ${path}` }, origins: ["tool:Files"] } : undefined;
    };
    const one = run(text, { answer, yes: "once", options: { input: {}, policy: { untrusted: { gate: "ask" } } } });
    return [did(one).at(-1), outcome(one)];
};

test.each(READS)("a read on this machine tells nothing outside what chose it, and what it gave does not leave: %s", (_name, body, gave) => {
    expect(reading("", body, "")).toEqual(["Files.read", 1]);
    expect(reading("", body, `Web.get({ url: "/" + text(${gave}) })`)).toEqual(["Files.read", "violation.flow"]);
});

test("a read on this machine that others are said to hear of, one by restricted data, and a write are held against who hears of them", () => {
    const branch = 'if n.count > 1 { Files.read({ path: "a" }) }';
    expect(reading('{ audience read: "alice" }', branch, "")).toEqual(["Files.read", 1]);
    expect(reading('{ audience read: "bob" }', branch, "")[1]).toBe("violation.flow");
    expect(reading("", "Files.read({ path: text(n.count) })", "")[1]).toBe("violation.flow");
    expect(reading("", 'if n.count > 1 { Files.write({ path: "a", content: "b" }) }', "")[1]).toBe("violation.flow");
    expect(reading("{ choice read: trusted }", branch, "")[1]).toBe("violation.flow");
});
