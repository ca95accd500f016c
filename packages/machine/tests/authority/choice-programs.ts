/** Programs in which a mail `m` decides that `Out.write` is called: bodies of the main function behind `m = Inbox.read({})`, with what stands beside it. */
const IMPORTS = `import tool Inbox from "mcp://inbox"
import tool Own from "mcp://own" { trusted }
import tool Out from "file://out"
import llm Claude from "mock://m"
`;

export const program = (body: string, more = ""): string =>
    `${IMPORTS}${more}\nmain agent M { model Claude  role "r"  description "d"\nmain func(input) {\n${body}\n1 } }`;

export const write = 'Out.write({ path: "a", content: "b" })';

type Row = readonly [name: string, body: string, more?: string];

export const DECIDED: readonly Row[] = [
    ["a condition", `if m.subject.contains("REFUND") { ${write} }`],
    ["a condition, of a call without arguments", "if m.yes { Out.write() }"],
    ["the other way", `if m.subject == "x" { } else { ${write} }`],
    ["a later condition of a chain", `if input.ok == false { } else if m.yes { ${write} }`],
    ["a condition of an expression", `x = if m.yes { ${write} } else { 1 }`],
    ["a variable that a condition set", `go = false\nif m.yes { go = true }\nif go { ${write} }`],
    ["what was not set", `go = true\nif m.subject == "x" { go = false }\nif go { ${write} }`],
    ["which text stands in an argument", 't = "a"\nif m.yes { t = "b" }\nOut.write({ path: "a", content: t })'],
    ["which text an expression gives", 'Out.write({ path: "a", content: if m.yes { "a" } else { "b" } })'],
    ["how many passes a loop has", `for one in m.items max 5 { ${write} }`],
    ["items that were kept by a condition", `xs = []\nfor one in m.items max 5 { xs.add("x") }\nfor x in xs max 5 { ${write} }`],
    ["a list through another name", `xs = []\nys = xs\nif m.yes { ys.add("x") }\nfor x in xs max 5 { ${write} }`],
    ["the length of what a filter kept", `xs = [1, 2].filter(x => m.yes)\nif xs.length > 0 { ${write} }`],
    ["a loop that ends by it", `loop until m.subject == "x" max 3 { ${write} }`],
    ["a way out of a loop", `for i in [1, 2] max 2 { if m.subject == "x" { break }\n${write} }`],
    ["a return before it", `if m.subject == "x" { return 2 }\n${write}`],
    ["a failure that is caught", `try { x = m.record.amount.trim() } catch e { ${write} }`],
    ["a failure that would be caught", `try { x = m.subject.trim()\n${write} } catch e { }`],
    ["a raise that is caught", `try { if m.yes { raise "x" } } catch e { ${write} }`],
    ["and", `x = m.yes and ${write}.did == ""`],
    ["what is there", `x = m.none ?? ${write}`],
    ["a parallel loop", `parallel for one in m.items max 5 { ${write} }`],
    ["a number of passes that a list has", `n = m.items.length\nif n > 1 { ${write} }`],
    ["an object that was written under a condition", `o = { go: false }\nif m.yes { o.go = true }\nif o.go { ${write} }`],
    ["an index that chose", `xs = [false, true]\nif xs[m.n - 1] { ${write} }`],
    ["a number of passes under a condition", `n = 0\nif m.yes { n = 1 }\nfor i in [1, 2].slice(0, n) max 2 { ${write} }`],
    [
        "what a model says of it",
        `s = m.subject\nuse s as mail\na = generate({ input: "Is it urgent?" }) -> string\nif a == "yes" { ${write} }`,
    ],
    ["handing over to an agent", 'if m.yes { x = Far.yield(a: "b") }', 'import agent Far from "stub:noop" { remit { may Out.write } }'],
];

/** By way of functions, agents, tools that are passed, and computed names. */
export const DECIDED_THROUGH: readonly Row[] = [
    ["a function that is called under a condition", "if m.yes { put() }", `func put() { ${write} }`],
    ["a function that decides", "if urgent(m) { put() }", `func put() { ${write} }\nfunc urgent(m) { m.yes }`],
    [
        "a function that decides by its way",
        "if urgent(m) { put() }",
        `func put() { ${write} }\nfunc urgent(m) { if m.yes { return true }\nfalse }`,
    ],
    ["an agent of the program", "if m.yes { H.put() }", `agent H { remit { may Out.write }\nfunc put() { ${write} } }`],
    ["a tool that was passed", "if m.yes { put(Out) }", 'func put(o) { o.write({ path: "a", content: "b" }) }'],
    [
        "a function that a lambda calls",
        "xs = [1].map(x => urgent(m))\nif xs[0] { put() }",
        `func put() { ${write} }\nfunc urgent(m) { if m.yes { return true }\nfalse }`,
    ],
    ["the name of the method", 'act("Out." + m.subject, { path: "a", content: "b" })', ""],
    ["the name of a tool of a server", "Own.call({ tool: m.subject, args: {} })", ""],
];
