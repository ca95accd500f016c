/**
 * Forty near-misses: what goes to `to` stands beside what the page said and does not come from it. `chain` is what is behind it instead.
 */
import type { Flow } from "./setup.ts";

export interface Near extends Flow {
    readonly name: string;
    readonly chain: readonly string[];
}

const P = "p = Page.get({})\n";
const near = (name: string, body: string, chain: readonly string[] = [], more: Partial<Flow> = {}): Near => ({
    name,
    body: P + body,
    chain,
    ...more,
});

export const NEAR: readonly Near[] = [
    near("a text of the program", 'Send.go({ to: "a@b.c", body: p.text })'),
    near("the input", "Send.go({ to: input.to, body: p.text })", ["0 input"]),
    near("another field of one object", 'o = { dirty: p.text, clean: "a@b.c" }\nSend.go({ to: o.clean })'),
    near("another item of one list", 'l = [p.text, "a@b.c"]\nSend.go({ to: l[1] })'),
    near("a variable that was overwritten", 'x = p.text\nx = "a@b.c"\nSend.go({ to: x })'),
    near("a field that was overwritten", 'o = { v: p.text }\no.v = "a@b.c"\nSend.go({ to: o.v })'),
    near("an item that was overwritten", 'l = [p.text]\nl[0] = "a@b.c"\nSend.go({ to: l[0] })'),
    near("a later key that wins", 'o = { v: p.text, v: "a@b.c" }\nSend.go({ to: o.v })'),
    near("a spread that is overruled", 'o = { v: "x", ...{ v: p.text }, v: "a@b.c" }\nSend.go({ to: o.v })'),
    near("what was there before a spread", 'o = { ...{ q: "a@b.c" }, v: p.text }\nSend.go({ to: o.q })'),
    near("after a call with it", 'Send.go({ to: "first", body: p.text })\nSend.go({ to: "a@b.c" })'),
    near("what a call said that was given it, trusted", "b = Book.get({ q: p.text })\nSend.go({ to: b.to })", ["2 tool Book.get"]),
    near("a default where it is missing", 'x = none ?? "a@b.c"\ny = p.text\nSend.go({ to: x })'),
    near("the branch that was not taken", 'x = if 1 == 2 { p.text } else { "a@b.c" }\nSend.go({ to: x })'),
    near("a branch that it chose, in basic mode", 'x = if p.flag { "a@b.c" } else { "d@e.f" }\nSend.go({ to: x })'),
    near("a loop that it bounds, in basic mode", 's = ""\nfor v in p.list max 3 {\ns = s + "a"\n}\nSend.go({ to: s })'),
    near("a loop's own counter", "n = 0\nfor v in p.list max 3 {\nn += 1\n}\nSend.go({ to: n })"),
    near("the length of a clean list that holds it", "l = [p.text, 1]\nSend.go({ to: l.length })"),
    near("the length of a clean text", 't = "abc"\nu = p.text\nSend.go({ to: t.length })'),
    near("the keys of an object that holds it", "o = { name: p.text }\nSend.go({ to: o.keys()[0] })"),
    near("whether a clean object has a clean key", 'o = { name: p.text }\nSend.go({ to: o.has("name") })'),
    near("a clean value among values", 'o = { a: "a@b.c", b: p.text }\nSend.go({ to: o.values()[0] })'),
    near("a clean entry", 'o = { a: "a@b.c", b: p.text }\ne = o.entries()[0]\nSend.go({ to: e.value })'),
    near(
        "what a map made of clean items beside it",
        'l = ["a", "b"].map((v) => v + "@b.c")\nm = [p.text].map((v) => v)\nSend.go({ to: l[0] })',
    ),
    near("a clean item of a mapped list", 'l = ["a@b.c", p.text].map((v) => v)\nSend.go({ to: l[0] })'),
    near("a slice before it", 'l = ["a@b.c", p.text].slice(0, 1)\nSend.go({ to: l[0] })'),
    near("the first of joined lists", 'l = ["a@b.c"].concat([p.text])\nSend.go({ to: l.first() })'),
    near("added before it", 'l = []\nl.add("a@b.c")\nl.add(p.text)\nSend.go({ to: l[0] })'),
    near("without the key that holds it", 'o = { a: "a@b.c", b: p.text }.without("b")\nSend.go({ to: o.a })'),
    near("the clean half of a merge", 'o = { a: "a@b.c" }.merge({ b: p.text })\nSend.go({ to: o.a })'),
    near("JSON of the clean field", 'o = { a: { t: "a@b.c" }, b: p.text }\nt = json.parse(json.text(o.a))\nSend.go({ to: t.t })'),
    near("a function that ignores it", 'x = f(p.text)\nSend.go({ to: x })\n---\nfunc f(t) {\nu = t\n"a@b.c"\n}\n'),
    near("a function that gives its other argument", 'x = f(p.text, "a@b.c")\nSend.go({ to: x })\n---\nfunc f(t, u) {\nu\n}\n'),
    near(
        "an agent that gives its other argument",
        'x = B.f(p.text, "a@b.c")\nSend.go({ to: x })\n---\nagent B {\nfunc f(t, u) {\nu\n}\n}\n',
    ),
    near("the same function called with what is clean", 'a = f(p.text)\nb = f("a@b.c")\nSend.go({ to: b })\n---\nfunc f(t) {\nt + ""\n}\n'),
    near(
        "a clean iteration beside one that has it",
        'l = parallel for i in [0, 1] max 2 {\nif i == 0 { return p.text }\n"a@b.c"\n}\nSend.go({ to: l[1] })',
    ),
    near("a clean pass of a loop", 'to = ""\nfor v in [p.text, "a@b.c"] max 2 {\nto = v\n}\nSend.go({ to: to })'),
    near("a failure that does not quote it", 'x = try {\nraise "a@b.c"\n} catch e { e.message }\nq = p.text\nSend.go({ to: x })'),
    near(
        "a contract's default beside it",
        'x = f({ name: p.text })\nSend.go({ to: x })\n---\nfunc f(o: { name: string, to: string = "a@b.c" }) {\no.to\n}\n',
    ),
    near("a capability's narrowing beside it", 's = Send.only(go)\nq = p.text\ns.go({ to: "a@b.c" })'),
    near("endorsed", 'x = endorse p.to as trusted because "checked by hand"\nSend.go({ to: x })', ["2 endorsed"]),
    near("a prompt that did not hold it, of a trusted model", 'x = generate({ input: "Whom?" })\nSend.go({ to: x })', ["2 model Model"], {
        replies: ["a@b.c"],
        clauses: 'arg to: from("model:Model")',
    }),
    near(
        "a memory record beside it",
        'Notes.add({ kind: "clean", to: "a@b.c" })\nNotes.add({ kind: "dirty", to: p.to })\nl = Notes.query({ kind: "clean" })\nx = l[0].record.to\nSend.go({ to: x })',
        ["4 memory Notes", "5"],
        { clauses: 'arg to: from("memory:Notes")' },
    ),
    near(
        "a delegated call beside one with it",
        'x = B.go(p.text)\nSend.go({ to: "a@b.c", body: x })\n---\nagent B {\nremit { may Other.get }\nfunc go(t) {\nOther.get({ q: t })\n}\n}\n',
    ),
    near("an allowed origin beside another", "o = Other.get({})\nSend.go({ to: o.v, body: p.text })", ["2 tool Other.get"], {
        clauses: 'arg to: from("tool:Other")',
    }),
    near("a clean field three objects deep", 'o = { a: { b: { dirty: p.text, clean: "a@b.c" } }, l: [p.a] }\nSend.go({ to: o.a.b.clean })'),
    near(
        "the key of a group of clean items beside a group that has it",
        'l = [{ k: "a@b.c", v: 1 }, { k: "d@e.f", v: p.text }]\ng = l.group_by((one) => one.k)\nSend.go({ to: g.keys()[0] })',
    ),
    near(
        "a clean item that is found",
        'l = [{ n: 1, to: "a@b.c" }, { n: 2, to: p.to }]\nx = l.find((one) => one.n == 1)\nSend.go({ to: x.to })',
    ),
    near(
        "the name of a memory record that holds it",
        "r = Notes.add({ dirty: p.to })\nl = Notes.query({})\nx = l[0].id\nSend.go({ to: x })",
        ["3 memory Notes", "4"],
        { clauses: 'arg to: from("memory:Notes")' },
    ),
    near(
        "a model that was not shown what another was",
        'd = B.tell(p.text)\nx = generate({ input: "Whom?" })\nSend.go({ to: x, body: d })\n---\nagent B {\nmodel Model\nrole "r"\ndescription "d"\nfunc tell(t) {\nuse t as "t"\ngenerate({ input: "Tell." })\n}\n}\n',
        ["3 model Model"],
        { replies: ["told", "a@b.c"], clauses: 'arg to: from("model:Model")' },
    ),
    near(
        "what a model was asked before the page was in its context",
        'x = generate({ input: "Whom?" })\nuse p.text as "page"\ny = generate({ input: "What?" })\nSend.go({ to: x, body: y })',
        ["2 model Model"],
        { replies: ["a@b.c", "told"], clauses: 'arg to: from("model:Model")' },
    ),
    near(
        "what reason() gave of a clean prompt beside one that has it",
        'd = reason(["What?", p.text], { answer: "" })\nx = reason(["Whom?"], { answer: "" })\ny = x.data.answer\nSend.go({ to: y, body: d.data.answer })',
        ["3 model Model", "4"],
        { replies: [{ json: { answer: "told" } }, { json: { answer: "a@b.c" } }], clauses: 'arg to: from("model:Model")' },
    ),
    near(
        "a text of the program beside what an agent said of it",
        'x = Ext.send(p.text)\nSend.go({ to: "a@b.c", body: x })\n---\nimport agent Ext from "stub:text?say=hello" { remit {} }',
    ),
    near(
        "what an agent said before it was handed the page",
        'x = Ext.send("Whom?")\ny = Ext.send(p.text)\nSend.go({ to: x, body: y })\n---\nimport agent Ext from "stub:text?say=hello" { remit {} }',
        ["2 agent Ext"],
        { clauses: 'arg to: from("agent:Ext")' },
    ),
    near(
        "what a function of an agent gave back of the clean one of what it was handed",
        'x = Ext.yield(q: "a@b.c", r: p.text) with { turns: 2 } -> string\nSend.go({ to: x })\n---\nimport agent Ext from "stub:passthrough?param=q" { remit {} }',
        ["2 agent Ext"],
        { clauses: 'arg to: from("agent:Ext")' },
    ),
    near("its text where only addresses are held", "Send.go({ to: input.to, body: p.text })", ["0 input"], {
        clauses: "arg to: trusted, arg body: addresses trusted",
    }),
];
