/**
 * Random programs that use the same things again and again at the same places, under random clauses, remits and policies, with arguments, principals and
 * choosers that change between two uses; and the world that they run in.
 */
import type { Json } from "@remit/language";
import fc from "fast-check";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import type { Answer, How } from "../run/forms.ts";

export interface Repeating {
    readonly text: string;
    readonly policy: Policy;
    /** What a person answers, in turn. */
    readonly yes: readonly string[];
    /** What the tool says of itself. */
    readonly isReading: boolean;
}

export const fill = (text: TemplateStringsArray, ...parts: fc.Arbitrary<string | number>[]): fc.Arbitrary<string> =>
    fc.tuple(...parts).map((values) => text.reduce((all, piece, i) => `${all}${values[i - 1]}${piece}`));

const text = fc.constantFrom(
    "web.text",
    "own.text",
    "input.text",
    '"x"',
    '"mine"',
    '"see https://a.example"',
    "none",
    "1",
    "web.n",
    "box.text",
);
const bag = fc.oneof(
    { weight: 4, arbitrary: fill`{ content: ${text} }` },
    { weight: 2, arbitrary: fill`{ content: ${text}, note: ${text} }` },
    fill`{ note: ${text}, content: ${text} }`,
    fill`{ to: ${text} }`,
    fill`{ n: ${fc.constantFrom("1", "6", "web.n", '"1"')} }`,
    fill`{ content: [${text}] }`,
    fill`{ content: { to: ${text} } }`,
    fc.constantFrom("web", "own", "{}", "{ ...web, note: 1 }", "keyed", "{ ...keyed, content: 1 }", "grown", "list"),
    text,
);

const use = fc.oneof(
    { weight: 6, arbitrary: fc.constant("Out.write(one)") },
    { weight: 2, arbitrary: fc.constant("Out.look(one)") },
    fc.constantFrom(
        'Out.call({ tool: "write", args: one })',
        "Out.call({ tool: web.name, args: one })",
        'act("Out.write", { content: one })',
        'act("Out." + web.name, { content: one })',
        "put(Out, one)",
        "put(Out, one)\nput(Far, one)",
        "put(Out.only(write), one)",
        "put(Out.only(look), one)",
        "One.go(one)",
        "One.go(one)\nTwo.go(one)",
        "Two.go(one)",
        "One.by(Out, one)",
        "One.by(Far, one)",
        "One.by(Out.only(write), one)",
        "One.hand(one)",
        "low(2, one)",
        "Notes.add({ text: one })",
        "Notes.query({ text: one })",
        "Files.read({ path: one })",
        "Out.write()",
        "Out.write(one, one)",
        "Out.write({ content: one })",
        "Out.write({ ...bag, note: one })",
        "bag.content = one\nOut.write(bag)",
        "bag[web.name] = one\nOut.write(bag)",
        "box = Box.read({})",
        "web = Web.read({})",
        "Out.write({ content: Out.write(one).text })",
    ),
);

const { body } = fc.letrec<{ body: string; statement: string }>((tie) => ({
    statement: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        { weight: 8, arbitrary: use },
        {
            weight: 6,
            arbitrary: fill`for one in [${fc.array(bag, { minLength: 2, maxLength: 5 }).map((all) => all.join(", "))}] max 9 {\n${tie("body")}\n}`,
        },
        {
            weight: 2,
            arbitrary: fill`for go in [${fc.array(fc.constantFrom("web", "own", "input"), { minLength: 2, maxLength: 4 }).map((all) => all.map((one) => `${one}.go`).join(", "))}] max 9 { if go {\n${tie("body")}\n} }`,
        },
        { weight: 2, arbitrary: fill`try {\n${tie("body")}\n} catch e { 0 }` },
        fill`r = parallel for one in [${fc.array(bag, { minLength: 2, maxLength: 4 }).map((all) => all.join(", "))}] max 9 {\n${use}\n1 }`,
        fill`delegate ${fc.constantFrom("Out.write", "all", 'Out.write in content: "x"')} to ${fc.constantFrom("One", "Two")} {\n${tie("body")}\n}`,
        fill`if ${fc.constantFrom("web", "own", "input")}.go {\n${tie("body")}\n}`,
        fill`one = ${bag}`,
    ),
    body: fc.array(tie("statement"), { minLength: 1, maxLength: 3 }).map((all) => all.join("\n")),
}));

export const clauses = fc
    .shuffledSubarray(
        [
            "write: ask",
            "look: may",
            "write: at most 9",
            "write: once by content",
            "arg content: trusted or ask",
            "arg note: trusted or ask",
            "arg to: trusted or ask",
            'arg content: from("user", "tool:Own") or ask',
            'arg content: among("user") or ask',
            'arg content: addresses from("user") or ask',
            "arg content: plain or ask",
            "arg 1: trusted or ask",
            "in n: 0..5",
            "choice write: trusted or ask",
            'choice write: from("user", "tool:Own") or ask',
            "choice write: any",
        ],
        { maxLength: 3 },
    )
    .map((some) => some.join(", "));

export const rows = fc
    .shuffledSubarray(
        [
            "may Out.write",
            "may Out",
            "may Out",
            "may Out.look",
            "ask Out.write",
            "may Out.write in n: 0..5",
            'never Out.write in content: "x"',
            "may Far",
            "may Two",
        ],
        { maxLength: 4 },
    )
    .map((some) => some.join("\n"));

export const policies: fc.Arbitrary<Policy> = fc.constantFrom<Policy>(
    {},
    {},
    { untrusted: { gate: "ask" } },
    { untrusted: { gate: "ask" } },
    { strict: true },
    { strict: true, untrusted: { gate: "ask" } },
    { reach: [{ origins: ["https://a.example"], tools: [], by: "the project" }] },
);

export const programs: fc.Arbitrary<Repeating> = fc
    .record({
        clauses,
        far: clauses,
        one: rows,
        two: rows,
        box: fc.constantFrom("", ' { reads: "ann" }'),
        head: fc.constantFrom("", "", "flow strict\n"),
        // What is used in a way that loops go back to.
        body: fill`for one in [${fc.array(bag, { minLength: 3, maxLength: 5 }).map((all) => all.join(", "))}] max 9 {\n${body}\n}\n${body}`,
        policy: policies,
        yes: fc.array(fc.constantFrom("once", "once", "once", "once", "session", "deny"), { minLength: 1, maxLength: 4 }),
        isReading: fc.boolean(),
    })
    .map(({ policy, yes, isReading, ...p }) => ({ policy, yes, isReading, text: source(p) }));

type Parts = { readonly [part in "clauses" | "far" | "one" | "two" | "box" | "head" | "body"]: string };

const source = (p: Parts): string => `${p.head}import tool Web from "mcp://web"
import tool Own from "mcp://own" { trusted }
import tool Box from "mcp://box"${p.box}
import tool Out from "mcp://out" { ${p.clauses} }
import tool Far from "mcp://far" { ${p.far} }
import tool Files from "file://workspace"
import memory Notes from "file://notes.jsonl"
func put(it, a) { it.write(a) }
func low(n, a) { if n < 1 { return 0 }
Out.write(a)
low(n - 1, a) }
agent One { remit {\n${p.one}\n}
func go(a) { Out.write(a) }
func by(t, a) { put(t, a) }
func hand(a) { delegate Out.write to Two { Two.go(a) } } }
agent Two { remit {\n${p.two}\n}
func go(a) { put(Out, a) } }
main agent M { role "r"  description "d"
main func(input) {
web = Web.read({})
own = Own.read({})
box = { text: "b" }
keyed = {}
keyed[web.name] = "k"
grown = {}
grown.content = "g"
list = [web.text]
bag = { content: "b" }
one = "o"
${p.body}
1 } }`;

const page = { text: "from the network", go: true, n: 1, name: "write" };
const properties = Object.fromEntries(["content", "note", "to", "text", "n", "go", "name"].map((name) => [name, {}]));

const hashOf = (text: string): number => [...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 9973, 7);

/** Answers follow from the path of what is asked. */
export function worldOf({ policy, yes, isReading }: Repeating): How & { readonly answer: Answer } {
    const methods = ["write", "look", "read", "call"].map((name) => ({
        name,
        readOnly: name === "look" || (isReading && name === "write"),
        input: { type: "object", properties },
    }));
    const answer = (e: Effect): Outcome => {
        if (e.kind === "ask") return { ok: true, value: yes[hashOf(e.path) % yes.length] as Json, origins: ["user"] };
        const { op, tool } = e.request as { op?: string; tool?: string };
        if (op === "describe") return { ok: true, value: { methods }, origins: [`tool:${tool}`] };
        if (e.kind === "recall") return { ok: true, value: [], origins: [] };
        if (e.kind === "remember") return { ok: true, value: null, origins: [] };
        return { ok: true, value: page, origins: [`tool:${tool}`] };
    };
    return { answer, options: { input: { text: "mine", go: true }, policy } };
}
