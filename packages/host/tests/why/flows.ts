/**
 * Forty flows and the chain behind each, written by hand: where the data entered, then every statement that took it, passed it on or made something
 * of it, in order; the statement that uses it last only where it joins several.
 */
import type { Flow } from "./setup.ts";

export interface Seeded extends Flow {
    readonly name: string;
    /** Default: the argument `to` of the first call of `Send.go`. */
    readonly of?: string;
    readonly chain: readonly string[];
}

const NO = { clauses: "" };

export const FLOWS: readonly Seeded[] = [
    { name: "a field of a field", ...NO, body: "p = Page.get({})\nx = p.a.b\nSend.go({ to: x })", chain: ["1 tool Page.get", "2"] },
    { name: "straight into the call", ...NO, body: "Send.go({ to: Page.get({}).to })", chain: ["1 tool Page.get"] },
    {
        name: "through three variables",
        ...NO,
        body: "p = Page.get({})\na = p\nb = a\nc = b.text\nSend.go({ to: c })",
        chain: ["1 tool Page.get", "2", "3", "4"],
    },
    { name: "the input", ...NO, body: "x = input.q\nSend.go({ to: x })", chain: ["0 input", "1"] },
    { name: "a file", ...NO, body: "x = Data.name\nSend.go({ to: x })", chain: ["-5 file data.json", "1"] },
    {
        name: "joined texts of two sources",
        ...NO,
        body: "p = Page.get({})\no = Other.get({})\nx = p.text + o.v\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "2 tool Other.get", "3"],
    },
    {
        name: "joined in the call itself",
        ...NO,
        body: "p = Page.get({})\no = Other.get({})\nSend.go({ to: p.text + o.v })",
        chain: ["1 tool Page.get", "2 tool Other.get", "3"],
    },
    {
        name: "arithmetic with a constant",
        ...NO,
        body: "p = Page.get({})\nn = p.n * 2 + 1\nSend.go({ to: n })",
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "an object made of it",
        ...NO,
        body: "p = Page.get({})\no = { inner: { v: p.text } }\nx = o.inner.v\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "a list made of it",
        ...NO,
        body: 'p = Page.get({})\nl = ["clean", p.text]\nx = l[1]\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "a list, mapped, filtered, sorted",
        ...NO,
        body: 'p = Page.get({})\na = p.list.map((v) => v + "!")\nb = a.filter((v) => v != "")\nc = b.sort_by((v) => v)\nSend.go({ to: c[0] })',
        chain: ["1 tool Page.get", "2", "3", "4"],
    },
    {
        name: "split and joined",
        ...NO,
        body: 'p = Page.get({})\na = p.text.split(" ")\nb = a.join("-")\nSend.go({ to: b })',
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "a match",
        ...NO,
        body: 'p = Page.get({})\nm = p.text.match("f(r)om")\nx = m.groups[0]\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "keys, values, entries",
        ...NO,
        body: "p = Page.get({})\ne = p.a.entries()\nk = e[0].key\nSend.go({ to: k })",
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "merge",
        ...NO,
        body: "p = Page.get({})\nm = { x: 1 }.merge(p)\ny = m.text\nSend.go({ to: y })",
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "get with a clean key",
        ...NO,
        body: 'p = Page.get({})\nx = p.get("text")\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "a number built-in",
        ...NO,
        body: "p = Page.get({})\nn = p.n.max(1).round()\nSend.go({ to: n })",
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "text and number",
        ...NO,
        body: "p = Page.get({})\nt = text(p.n)\nn = number(t)\nSend.go({ to: n })",
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "JSON and back",
        ...NO,
        body: "p = Page.get({})\nt = json.text({ a: p.text })\no = json.parse(t)\nx = o.a\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "2", "3", "4"],
    },
    {
        name: "JSON from outside",
        ...NO,
        body: "p = Page.get({})\no = json.parse(p.json)\nx = o.k[0]\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "a lambda that takes from around it",
        ...NO,
        body: 'p = Page.get({})\nl = ["a"].map((v) => v + p.text)\nSend.go({ to: l[0] })',
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "a function",
        ...NO,
        body: 'p = Page.get({})\nx = wrap(p.text)\nSend.go({ to: x })\n---\nfunc wrap(t) {\nu = t + "!"\nu + "?"\n}\n',
        chain: ["1 tool Page.get", "6", "2"],
    },
    {
        name: "a function that asks a tool",
        ...NO,
        body: "x = fetch()\nSend.go({ to: x })\n---\nfunc fetch() {\np = Page.get({})\np.text\n}\n",
        chain: ["5 tool Page.get", "1"],
    },
    {
        name: "an agent",
        ...NO,
        body: "p = Page.get({})\nx = B.echo(p.text)\nSend.go({ to: x })\n---\nagent B {\nfunc echo(t) {\nu = t\nu\n}\n}\n",
        chain: ["1 tool Page.get", "7", "2"],
    },
    {
        name: "an agent under a remit that asks a tool",
        ...NO,
        body: "x = B.find()\nSend.go({ to: x })\n---\nagent B {\nremit { may Page.get }\nfunc find() {\nPage.get({}).text\n}\n}\n",
        chain: ["7 tool Page.get", "1"],
    },
    {
        name: "parallel for",
        ...NO,
        body: "l = parallel for i in [1, 2] max 2 {\nPage.get({}).text + i\n}\nx = l[1]\nSend.go({ to: x })",
        chain: ["2 tool Page.get", "1", "4"],
    },
    {
        name: "a loop that adds up",
        ...NO,
        body: 'p = Page.get({})\ns = ""\nfor v in p.list max 3 {\ns = s + v\n}\nSend.go({ to: s })',
        chain: ["1 tool Page.get", "3", "4"],
    },
    {
        name: "repeat that overwrites itself",
        ...NO,
        body: "x = Page.get({}).text\nrepeat * 3 {\nx = x + x\n}\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "3"],
    },
    {
        name: "an index assignment",
        ...NO,
        body: 'p = Page.get({})\nl = ["a", "b"]\nl[1] = p.text\nx = l[1]\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "3", "4"],
    },
    {
        name: "a member assignment",
        ...NO,
        body: "p = Page.get({})\no = { a: 1 }\no.b = p.text\nx = o.b\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "3", "4"],
    },
    {
        name: "add to a list",
        ...NO,
        body: "p = Page.get({})\nl = []\nl.add(p.text)\nx = l[0]\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "3", "4"],
    },
    {
        name: "spread into an object",
        ...NO,
        body: "p = Page.get({})\no = { ...p, extra: 1 }\nx = o.to\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "2", "3"],
    },
    { name: "spread into the call", ...NO, body: "p = Page.get({})\nSend.go({ ...p })", chain: ["1 tool Page.get"] },
    {
        name: "if as an expression",
        ...NO,
        body: 'p = Page.get({})\nx = if 1 == 1 { p.text } else { "none" }\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "a caught failure that quotes it",
        ...NO,
        body: "p = Page.get({})\nx = try {\nraise { message: p.text }\n} catch e { e.message }\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "3", "4"],
    },
    {
        name: "a default beside it",
        ...NO,
        body: "p = Page.get({})\nx = p?.missing ?? p.text\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "a contract with defaults",
        ...NO,
        body: 'p = Page.get({})\nx = fill({ name: p.text })\nSend.go({ to: x.name })\n---\nfunc fill(o: { name: string, more: string = "m" }) {\no\n}\n',
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "memory",
        ...NO,
        body: "p = Page.get({})\nNotes.add({ what: p.text })\nl = Notes.query({})\nx = l[0].record.what\nSend.go({ to: x })",
        chain: ["1 tool Page.get", "2", "3 memory Notes", "4"],
    },
    {
        name: "a model that was shown it",
        ...NO,
        replies: ["said"],
        body: 'p = Page.get({})\nuse p.text as "page"\nx = generate({ input: "Say it." })\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "3 model Model"],
    },
    {
        name: "a model whose instruction holds it",
        ...NO,
        replies: ["said"],
        body: 'p = Page.get({})\nx = generate({ input: "Say: " + p.text })\ny = x + "!"\nSend.go({ to: y })',
        chain: ["1 tool Page.get", "2 model Model", "3"],
    },
    {
        name: "a model's tool",
        ...NO,
        replies: [{ calls: [{ name: "Page_get", args: {} }] }, "found"],
        body: 'x = generate({ input: "Look.", tools: [Page.get] })\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "1 model Model"],
    },
    {
        name: "one model's answer in another's prompt",
        ...NO,
        replies: ["one", "two"],
        body: 'p = Page.get({})\nuse p.text as "page"\na = generate({ input: "First." })\nb = again(a)\nSend.go({ to: b })\n---\nagent Z { func z() { 1 } }\nfunc again(t) {\nB.go(t)\n}\nagent B {\nmodel Model\nrole "r"\ndescription "d"\nfunc go(t) {\nuse t as "t"\ngenerate({ input: "Second." })\n}\n}\n',
        chain: ["1 tool Page.get", "3 model Model", "17 model Model", "9", "4"],
    },
    {
        name: "endorsed",
        ...NO,
        body: 'p = Page.get({})\nx = endorse p.text as trusted because "seen"\nSend.go({ to: x })',
        chain: ["2 endorsed"],
    },
    {
        name: "the run's value",
        of: "/out/0",
        body: "p = Page.get({})\no = Other.get({})\n{ out: [p.text, 1], side: o.v }",
        chain: ["1 tool Page.get"],
    },
    {
        name: "what a chosen call was given by a model",
        ...NO,
        of: "main/generate#0/attempt[0]/turn[0]/call[0]",
        replies: [{ calls: [{ name: "Page_get", args: { q: "x" } }] }, "found"],
        body: 'o = Other.get({})\nuse o.v as "other"\nx = generate({ input: "Look.", tools: [Page.get] })\nx',
        chain: ["1 tool Other.get", "3 model Model"],
    },
    {
        name: "what an agent outside the program said",
        ...NO,
        body: 'p = Page.get({})\nx = Ext.send(p.text)\nSend.go({ to: x })\n---\nimport agent Ext from "stub:text?say=hello" { remit {} }',
        chain: ["1 tool Page.get", "2 agent Ext"],
    },
    {
        name: "what a function of an agent gave back of what it was handed",
        ...NO,
        body: 'p = Page.get({})\nx = Ext.yield(q: p.text) with { turns: 2 } -> string\nSend.go({ to: x })\n---\nimport agent Ext from "stub:passthrough?param=q" { remit {} }',
        chain: ["1 tool Page.get", "2 agent Ext", "Ext's answer:2", "2"],
    },
    {
        name: "what a function of an agent said itself",
        ...NO,
        body: 'p = Page.get({})\nx = Ext.yield(q: p.text) with { turns: 2 } -> string\ny = x + "!"\nSend.go({ to: y })\n---\nimport agent Ext from "stub:value?json=%22abc%22" { remit {} }',
        chain: ["2 agent Ext", "3"],
    },
    {
        name: "what agent() gave",
        ...NO,
        body: 'p = Page.get({})\nx = agent(p.text, { agent: Ext })\ny = x.data.text\nSend.go({ to: y })\n---\nimport agent Ext from "stub:text?say=hello" { remit {} }',
        chain: ["1 tool Page.get", "2 agent Ext", "3"],
    },
    {
        name: "what reason() gave",
        ...NO,
        replies: [{ json: { answer: "yes" } }],
        body: 'p = Page.get({})\nx = reason(["Is it?", p.text], { answer: "no" })\ny = x.data.answer\nSend.go({ to: y })',
        chain: ["1 tool Page.get", "2 model Model", "3"],
    },
    {
        name: "what an agent of the program said when it was asked",
        ...NO,
        body: "p = Page.get({})\nx = B.send(p.text)\nSend.go({ to: x })\n---\nagent B {\nremit { may Other.get }\nmain func(t) {\no = Other.get({})\no.v + t\n}\n}\n",
        chain: ["1 tool Page.get", "2", "8 tool Other.get", "9", "2 agent B"],
    },
    {
        name: "a tool that act() called",
        ...NO,
        body: 'x = act("Page.get", {})\ny = x.content[0].text\nSend.go({ to: y })',
        chain: ["1 tool Page.get", "2"],
    },
    {
        name: "what an agent outside the program was told",
        of: "main/Ext.send#0/0",
        ...NO,
        body: 'p = Page.get({})\nx = Ext.send(p.text)\nx\n---\nimport agent Ext from "stub:text?say=hello" { remit {} }',
        chain: ["1 tool Page.get"],
    },
    {
        name: "the key of a group",
        ...NO,
        body: "p = Page.get({})\ng = p.list.group_by((v) => v)\nk = g.keys()\nSend.go({ to: k[0] })",
        chain: ["1 tool Page.get", "2", "3"],
    },
    {
        name: "found in a list of objects in an object",
        ...NO,
        body: 'p = Page.get({})\no = { l: [{ n: 1, v: "clean" }, { n: 2, v: p.a.b }] }\nx = o.l.find((one) => one.n == 2)\ny = x.v\nSend.go({ to: y })',
        // The whole object that line 3 takes has no origin itself.
        chain: ["1 tool Page.get", "2", "4"],
    },
    {
        name: "a model's object, field by field, in a memory and back",
        ...NO,
        replies: [{ json: { who: "said" } }],
        body: 'p = Page.get({})\nuse p.text as "page"\nm = generate({ input: "Who?" }) -> { who: string }\nNotes.add({ who: m.who })\nl = Notes.query({})\nx = l[0].record.who\nSend.go({ to: x })',
        chain: ["1 tool Page.get", "3 model Model", "4", "5 memory Notes", "6"],
    },
    {
        name: "an agent's word in another agent's hands",
        ...NO,
        body: 'p = Page.get({})\na = Ext.send(p.text)\nb = Two.send(a)\nSend.go({ to: b })\n---\nimport agent Ext from "stub:text?say=hello" { remit {} }\nimport agent Two from "stub:text?say=there" { remit {} }',
        chain: ["1 tool Page.get", "2 agent Ext", "3 agent Two"],
    },
];
