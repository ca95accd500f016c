/** What `remit check` says of who decides, and of what hostile data could do. */
import { describe, expect, test } from "vitest";
import { choicesAsked, hostileUses, lineText, lower, position, type ProjectPolicy, showHostile, unknownSeeds } from "../../src/index.ts";
import { load } from "../check/cases.ts";

const IMPORTS = `import tool Inbox from "mcp://inbox"
import tool Own from "mcp://own" { trusted }
import tool Out from "file://out"
import llm Claude from "mock:"
`;
const program = (body: string, more = ""): string =>
    `${IMPORTS}${more}main agent A { model Claude role "r" description "d"\nmain func(input) {\nm = Inbox.read({})\n${body}\n1 } }`;
const WRITE = 'Out.write({ path: "a", content: "b" })';
const ask: ProjectPolicy = { untrusted: { gate: "ask" } };

function notes(text: string, policy: ProjectPolicy = ask): string[] {
    const loaded = load(new Map([["main.remit", text]]), "main.remit");
    return choicesAsked(lower(loaded), policy, loaded.files).map(({ code, message, range, hint, related = [] }) => {
        const { source } = loaded.files.get("main.remit") as { source: Parameters<typeof position>[0] };
        const decides = related.map((one) => position(source, one.range.start).line).join();
        return `${code} ${lineText(source, position(source, range.start).line).trim()} | ${message} | ${decides} | ${/`(.*)`/.exec(hint ?? "")?.[1]}`;
    });
}

describe("who decides", () => {
    test("is noted with the call, the place and the clause", () => {
        expect(notes(program(`if m.yes {\n${WRITE} }`))).toEqual([
            `CHOICE_ASKED ${WRITE} } | what comes from Inbox.read may decide whether Out.write is called: the run then asks (untrusted: ask) | 8 | choice write: from("trusted", "tool:Inbox")`,
        ]);
    });

    test.each([
        [
            "where a clause lets it",
            program(`if m.yes { ${WRITE} }`).replace('"file://out"', '"file://out" { choice write: from("tool:Inbox") }'),
            ask,
        ],
        ["what is trusted", program(`o = Own.read({})\nif o.yes and input.ok { ${WRITE} }`), ask],
        ["what only reads", program('if m.yes { Out.read({ path: "a" }) }'), ask],
        ["where no rule asks", program(`if m.yes { ${WRITE} }`), {}],
        [
            "where the import of an agent lets it",
            program('if m.yes { Far.yield(a: "b") }', 'import agent Far from "acp://far" { choice yield: from("tool:Inbox") }\n'),
            ask,
        ],
    ])("nothing is noted: %s", (_name, text, policy) => {
        expect(notes(text, policy)).toEqual([]);
    });

    test("of handing over, with the clause that the import of the agent takes", () => {
        const text = program('if m.yes {\nFar.yield(a: "b") }', 'import agent Far from "acp://far"\n');
        expect(notes(text)).toEqual([
            expect.stringMatching(/whether Far\.yield is called.*\| choice yield: from\("trusted", "tool:Inbox"\)$/),
        ]);
    });

    test("a clause alone asks, too", () => {
        const text = program(`if m.yes { ${WRITE} }`).replace('"file://out"', '"file://out" { choice write: trusted }');
        expect(notes(text, {})).toMatchObject([expect.stringContaining("the run then refuses it (choice write: trusted, main.remit:3)")]);
    });
});

describe("what hostile data could do", () => {
    const table = (text: string, policy: ProjectPolicy = {}) =>
        hostileUses(lower(load(new Map([["main.remit", text]]), "main.remit")), ["Inbox.read"], { policy });

    test("says the bound that is left, and what stops the rest", () => {
        const clauses =
            '{ send: may, send: at most 3, choice send: from("tool:Inbox"), arg to: trusted, arg body: addresses among("user") }';
        const text = program("if m.yes { Mail.send({ to: m.from, body: m.text }) }", `import tool Mail from "mcp://mail" ${clauses}\n`);
        const { uses, stopped } = table(text);
        expect(uses).toMatchObject([
            {
                tool: "Mail",
                method: "send",
                by: "program",
                choice: { bounds: [{ kind: "allowed", text: 'choice send: from("tool:Inbox")' }] },
                args: [{ name: "body", how: "writes", bounds: [{ kind: "addresses", text: 'addresses among("user")' }] }],
                bounds: [{ kind: "allowed" }, { kind: "count", text: "at most 3" }],
            },
        ]);
        expect(stopped).toMatchObject([{ of: "argument", arg: "to", outcome: "refused", rule: "arg to: trusted" }]);
        expect(showHostile(table(text))).toContain("write body");
    });

    test("is written by what a failure says, not picked alone", () => {
        const text = program('x = ""\ntry { raise m.subject } catch e { x = e.message }\nOut.write({ path: "a", content: x })');
        const found = table(text).uses.flatMap(({ args }) => args.map(({ name, how }) => `${how} ${name}`));
        expect(found).toContain("writes content");
    });

    test("is decided by a gate of a block before a stage", () => {
        const stages = `func fetch() { Inbox.read({}) }\nfunc put() { ${WRITE} }\nmemory static ( fetch >=> when "yes" >=> put )\n`;
        expect(table(`${IMPORTS}${stages}`).uses).toMatchObject([{ method: "write", choice: {} }]);
    });

    test("is nothing where every way is stopped", () => {
        expect(table(program(`if m.yes { ${WRITE} }`), ask).uses).toEqual([]);
        expect(showHostile(table(program("2")))).toMatch(/^Data from Inbox\.read chooses no use/);
    });

    test.each([
        ["may Inbox, Out", [expect.stringContaining("how long hidden results are")]],
        ["may Inbox, Out, Claude.look", []],
    ])("a remit of `%s` lets a model that hides look: not where it gives the model alone", (remit, left) => {
        const loop = 'generate({ input: "x", tools: [Inbox.read, Out.write], hide: "untrusted" })';
        const text = program(loop).replace("model Claude", `model Claude  remit { ${remit} }`);
        const { uses } = table(text.replace("m = Inbox.read({})", ""));
        const choices = uses.flatMap(({ tool, choice }) => (tool === "Out" && choice !== undefined ? [choice] : []));
        expect(choices.map((choice) => choice !== null && "bounds" in choice && choice.bounds.map(({ text }) => text))).toEqual([left]);
    });

    test.each([
        ["Inbox.read", "said", "hidden"],
        ["Inbox", "caller", "hidden"],
        ["Inbox", "pinned", "shown"],
        ["Inbox", "said", "shown"],
        ["Inbox", undefined, "shown"],
    ] as const)("of %s, whose description is of `%s`, a loop that hides has it %s", (hostile, whose, wanted) => {
        const loop = 'generate({ input: "x", tools: [Inbox.read, Out.write], hide: "untrusted" })';
        const text = program(loop).replace("m = Inbox.read({})", "").replace('"file://out"', '"file://out" { write: may }');
        const form = lower(load(new Map([["main.remit", text]]), "main.remit"));
        const { uses } = hostileUses(form, [hostile], { descriptions: () => whose });
        const bounds = uses.flatMap(({ tool, choice }) =>
            tool === "Out" && choice !== null ? [choice.bounds.map(({ kind }) => kind)] : [],
        );
        expect(bounds.map((kinds) => (kinds.includes("shape") ? "hidden" : "shown"))).toEqual([wanted]);
    });

    test("a name that the program does not have is told", () => {
        const form = lower(load(new Map([["main.remit", program("2")]]), "main.remit"));
        expect(unknownSeeds(form, ["Inbox", "Inbox.read", "Out.read", "input"])).toEqual([]);
        expect(unknownSeeds(form, ["Inbxo.read", "Out.raed", "A"]).map(({ hint }) => hint)).toEqual([
            "did you mean Inbox?",
            "did you mean Out.read?",
            expect.stringContaining("it has input"),
        ]);
    });
});
