/** Programs of an attacker who has read the rules of strict mode and wants its secret: each tells it where control flow carries no labels, and not in strict code. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { type Ran, runAll } from "../../run/forms.ts";
import { formOf } from "../../run/text.ts";
import { answering, differ, sameView } from "../pairs.ts";

const HEAD = `
import tool T from "https://t.example"
import tool U from "https://u.example"
import tool K from "mcp://k" { arg a: from("user", "tool:T", "tool:D") }
import tool C from "https://c.example" { use: at most 2, put: once by id }
import tool Look from "inspect:"
import memory Notes from "file://notes.jsonl"
import agent X from "acp://x"
`;
const METHODS = ["a", "b", "use", "put"].map((name) => ({ name, input: { type: "object", properties: { a: {}, id: {} } } }));

const answer = answering(METHODS, ({ kind }) => {
    if (kind === "recall") return { ok: true, value: [{ text: "a" }], origins: ["memory:Notes"] };
    if (kind !== "agent") return { ok: true, value: { items: [1, 2, 3] }, origins: [] };
    const reply = { text: "hello", stop: "end_turn", entries: [], confinement: "remote", spent: { steps: 0, calls: 0, ms: 0 } };
    return { ok: true, value: reply, origins: ["agent:X"] };
});

/** What it does, its statements, two values of the secret `s`, and functions of its own. */
const PROGRAMS: readonly (readonly [string, string, readonly [Json, Json], string?])[] = [
    ["describe under secret", "if s { K.a({ a: 1 }) }\nK.b({ a: 2 })", [true, false]],
    ["summary", "l = [1]\nif s { l.add(2) }\nU.tell({ v: l.summary.length })", [true, false]],
    ["concat", "l = [1]\nif s { l.add(2) }\nU.tell({ v: [0].concat(l).length })", [true, false]],
    ["spread after", "l = [1]\nif s { l.add(2) }\nU.tell({ v: [...l].length })", [true, false]],
    ["key order", "o = {}\nif s { o.a = 1\no.b = 1 } else { o.b = 1\no.a = 1 }\nU.tell({ v: o.keys()[0] })", [true, false]],
    ["json text key order", "o = {}\nif s { o.a = 1\no.b = 1 } else { o.b = 1\no.a = 1 }\nU.tell({ v: json.text(o) })", [true, false]],
    ["try value", "x = try { number(s) } catch e { 1 }\nU.tell({ v: x })", ["1", "q"]],
    ["e.kind", 'k = try { number(s)\n"ok" } catch e { e.kind }\nU.tell({ v: k })', ["1", "q"]],
    [
        "inspect stack branch line",
        "if s { x = Look.stack({})\nU.tell({ v: json.text(x) }) } else { x = Look.stack({}) }\nU.tell({ v: 1 })",
        [true, false],
    ],
    ["memory add", 'if s { Notes.add({ text: "z" }) }\nU.tell({ v: Notes.query({ text: "z" }).length })', [true, false]],
    ["send vs session", 'if s { a = X.send("x") }\nb = X.send("y")\nU.tell({ v: b })', [true, false]],
    ["agent() under", 'if s { r = agent("do", { agent: X }) }\nr2 = agent("do", { agent: X })\nU.tell({ v: r2 })', [true, false]],
    ["item after parallel", 'r = parallel for x in [1,2] max 2 { if x == s { return "q" }\n"w" }\nU.tell({ v: r })', [1, 3]],
    ["alias in object field", "a = []\no = { l: a }\nif s { o.l.add(1) }\nU.tell({ v: a.length })", [true, false]],
    ["alias by function", "a = []\nb = same(a)\nif s { b.add(1) }\nU.tell({ v: a.length })", [true, false], "func same(l) { l }"],
    ["alias by lambda", "a = [[]]\nif s { a.map((x) => x.add(1)) }\nU.tell({ v: a[0].length })", [true, false]],
    ["alias by group", 'a = [[0]]\ng = a.group_by((x) => "k")\nif s { g.k[0].add(1) }\nU.tell({ v: a[0].length })', [true, false]],
    ["alias by entries", "o = { l: [] }\ne = o.entries()\nif s { e[0].value.add(1) }\nU.tell({ v: o.l.length })", [true, false]],
    ["alias by merge", "o = { l: [] }\nq = {}.merge(o)\nif s { q.l.add(1) }\nU.tell({ v: o.l.length })", [true, false]],
    [
        "alias parallel result",
        "a = [[1]]\nr = parallel for x in a max 2 { x }\nif s { r[0].add(1) }\nU.tell({ v: a[0].length })",
        [true, false],
    ],
    ["chosen alias read", "a = [1]\nb = [2]\nc = if s { a } else { b }\nU.tell({ v: c[0] })", [true, false]],
    ["compound", "n = 1\nif s { n += 1 }\nU.tell({ v: n })", [true, false]],
    ["nested func assign", "o = { n: 1 }\ninc(o, s)\nU.tell({ v: o.n })", [true, false], "func inc(o, s) { if s { o.n += 1 } }"],
    ["try return", "U.tell({ v: f(s) })", [true, false], 'func f(s) { try { if s { return 1 }\nraise "x" } catch e { return 2 } }'],
    ["loop try break", "n = 0\nrepeat * 3 { try { if s { break }\n n += 1 } catch e { } }\nU.tell({ v: n })", [true, false]],
    ["loop until secret", 'n = 0\nloop until n > s max 9 { n += 1 }\nU.tell({ v: "done" })\nU.tell({ v: n })', [1, 4]],
    [
        "delegate under",
        'if s { delegate all to X { X.send("a") } }\nr = try { X.send("b") } catch e { "no" }\nU.tell({ v: 1 })',
        [true, false],
    ],
    [
        "spend budget left",
        "spend 9 calls { if s { U.a({}) }\nr = try { U.tell({ v: 1 }) } catch e { 0 } }\nU.tell({ v: 2 })",
        [true, false],
    ],
    [
        "spend tokens exhausted",
        'r = try { spend 3 calls { if s { T.x({})\nT.y({}) }\nT.q({})\nT.r({}) }\n"ok" } catch e { "no" }\nU.tell({ v: r })',
        [true, false],
    ],
    ["clock", "if s { a = time.now() }\nb = time.now()\nU.tell({ v: b })", [true, false]],
    ["backtick cond", 'U.tell({ v: `x{if s { "a" } else { "b" }}` })', [true, false]],
    ["object computed read", "o = { a: 1 }\no[s] = 2\nU.tell({ v: o.a })", ["a", "b"]],
    ["list item assign alias", "l = [[1],[2]]\nx = l[0]\nl[s][0] = 9\nU.tell({ v: x[0] })", [0, 1]],
    ["alias ?? none", "a = []\no = {}\nb = o?.z ?? a\nif s { b.add(1) }\nU.tell({ v: a.length })", [true, false]],
    ["match named alias", "a = [[1]]\nb = a.filter((x) => true)\nif s { b[0].add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["slice alias", "a = [[1]]\nb = a.slice(0)\nif s { b[0].add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["concat alias", "a = [[1]]\nb = [].concat(a)\nif s { b[0].add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["values alias", "o = { l: [] }\nif s { o.values()[0].add(1) }\nU.tell({ v: o.l.length })", [true, false]],
    ["find alias", "a = [[1]]\nx = a.find((x) => x.length == 1)\nif s { x.add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["sort alias", "a = [[1]]\nx = a.sort_by((x) => x.length)\nif s { x[0].add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["unique alias", "a = [[1]]\nx = a.unique()\nif s { x[0].add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["get alias", 'o = { l: [] }\nx = o.get("l")\nif s { x.add(1) }\nU.tell({ v: o.l.length })', [true, false]],
    ["get otherwise alias", 'a = []\nx = {}.get("l", a)\nif s { x.add(1) }\nU.tell({ v: a.length })', [true, false]],
    ["without alias", 'o = { l: [], z: 1 }\nx = o.without("z")\nif s { x.l.add(1) }\nU.tell({ v: o.l.length })', [true, false]],
    ["last alias", "a = [[1]]\nx = a.last()\nif s { x.add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["reduce alias", "a = []\nx = [1].reduce((m, x) => m, a)\nif s { x.add(1) }\nU.tell({ v: a.length })", [true, false]],
    ["if expr alias", "a = []\nx = if true { a } else { [] }\nif s { x.add(1) }\nU.tell({ v: a.length })", [true, false]],
    ["try expr alias", "a = []\nx = try { a } catch e { [] }\nif s { x.add(1) }\nU.tell({ v: a.length })", [true, false]],
    ["spread alias", "a = [[1]]\nx = [...a]\nif s { x[0].add(1) }\nU.tell({ v: a[0].length })", [true, false]],
    ["object spread alias", "o = { l: [] }\nx = { ...o }\nif s { x.l.add(1) }\nU.tell({ v: o.l.length })", [true, false]],
    ["for item alias", "a = [[1]]\nfor x in a max 2 { if s { x.add(1) } }\nU.tell({ v: a[0].length })", [true, false]],
    ["self containing", "a = [1]\na.add(a)\nif s { a[1].add(2) }\nU.tell({ v: a.length })", [true, false]],
    ["cyclic", "o = { n: 1 }\no.me = o\nif s { o.me.me.n = 2 }\nU.tell({ v: o.n })", [true, false]],
    ["swap then add to orig", "a = [1]\nb = [2]\nk = [a, b]\nif s { k[0] = b }\nk[0].add(3)\nU.tell({ v: b.length })", [true, false]],
    [
        "field pick",
        "a = [1]\nb = [2]\no = { l: a }\nif s { o.l = b }\ntry { o.l.add(3) } catch e { }\nU.tell({ v: a.length })",
        [true, false],
    ],
    ["index pick", "a = [1]\nb = [2]\nk = [a, b]\ntry { k[s].add(3) } catch e { }\nU.tell({ v: a.length })", [0, 1]],
    ["find pick", "a = [1]\nb = [2]\nk = [a, b]\ntry { k.find((x) => x[0] == s).add(3) } catch e { }\nU.tell({ v: a.length })", [1, 2]],
    [
        "sort pick",
        "a = [1]\nb = [2]\nk = [a, b].sort_by((x) => x[0] * s)\ntry { k[0].add(3) } catch e { }\nU.tell({ v: a.length })",
        [1, -1],
    ],
    [
        "group pick",
        'a = [1]\nb = [2]\nk = [a, b].group_by((x) => if x[0] == s { "q" } else { "w" })\ntry { k.q[0].add(3) } catch e { }\nU.tell({ v: a.length })',
        [1, 2],
    ],
    [
        "filter pick",
        "a = [1]\nb = [2]\nk = [a, b].filter((x) => x[0] == s)\ntry { k[0].add(3) } catch e { }\nU.tell({ v: a.length })",
        [1, 2],
    ],
    ["slice pick", "a = [1]\nb = [2]\nk = [a, b].slice(s)\ntry { k[0].add(3) } catch e { }\nU.tell({ v: b.length })", [0, 1]],
    ["get pick", "a = [1]\nb = [2]\no = { a: a, b: b }\ntry { o.get(s).add(3) } catch e { }\nU.tell({ v: b.length })", ["a", "b"]],
    [
        "merge pick",
        "a = [1]\nb = [2]\no = { k: a }.merge(if s { { k: b } } else { {} })\ntry { o.k.add(3) } catch e { }\nU.tell({ v: b.length })",
        [true, false],
    ],
    [
        "reduce pick",
        "a = [1]\nb = [2]\nx = [a, b].reduce((m, x) => if x[0] == s { x } else { m }, a)\ntry { x.add(3) } catch e { }\nU.tell({ v: b.length })",
        [1, 2],
    ],
    ["any early", "n = [0]\nx = [1,2,3].any((x) => n.add(x).length > s)\nU.tell({ v: n.length })", [1, 3]],
    ["all early", "n = [0]\nx = [1,2,3].all((x) => n.add(x).length < s)\nU.tell({ v: n.length })", [2, 4]],
    ["find early", "n = [0]\nx = [1,2,3].find((x) => n.add(x).length > s)\nU.tell({ v: n.length })", [1, 3]],
    [
        "map fails midway",
        'n = [0]\ntry { x = [1,2,3].map((x) => if x == s { number("q") } else { n.add(x) }) } catch e { }\nU.tell({ v: n.length })',
        [1, 3],
    ],
    [
        "reduce fails midway",
        'n = [0]\ntry { x = [1,2,3].reduce((m, x) => if x == s { number("q") } else { n.add(x) }, 0) } catch e { }\nU.tell({ v: n.length })',
        [1, 3],
    ],
    [
        "contract fails midway",
        "n = []\ntry { n.add(1)\nf({ a: 1, b: s })\nn.add(2) } catch e { }\nU.tell({ v: n.length })",
        [1, "q"],
        "func f(o: { a: number, b: number }) { 1 }",
    ],
    ["json.parse fails", "n = []\ntry { n.add(1)\nx = json.parse(s)\nn.add(2) } catch e { }\nU.tell({ v: n.length })", ["1", "q"]],
    ["csv fails", "n = []\ntry { x = csv.parse(s)\nn.add(2) } catch e { }\nU.tell({ v: n.length })", ["a,b\n1,2", "a,b\n1"]],
    ["time fails", "n = []\ntry { x = time.parse(s)\nn.add(2) } catch e { }\nU.tell({ v: n.length })", ["2026-01-01T00:00:00Z", "q"]],
    ["match flags fails", 'n = []\ntry { x = "a".match("a", s)\nn.add(2) } catch e { }\nU.tell({ v: n.length })', ["i", "q"]],
    ["spread fails", "n = []\ntry { x = [...s]\nn.add(2) } catch e { }\nU.tell({ v: n.length })", [[1], "q"]],
    ["backtick fails", "n = []\ntry { x = `{1 / s}`\nn.add(2) } catch e { }\nU.tell({ v: n.length })", [0, 1]],
    ["for max secret list len", "n = 0\nfor x in [1,2,3].slice(0, s) max 9 { n += 1 }\nU.tell({ v: n })", [1, 3]],
    ["for over object values", "n = 0\nfor x in s.values() max 9 { n += 1 }\nU.tell({ v: n })", [{ a: 1 }, { a: 1, b: 2 }]],
    [
        "parallel stop",
        'r = try { parallel for x in [1,2,3] max 9 stop after 1 failure { if x == s { raise "q" }\nx } } catch e { e.detail }\nU.tell({ v: r })',
        [1, 3],
    ],
    [
        "parallel fail msg",
        'r = try { parallel for x in [1,2,3] max 9 { if x == s { raise "q" }\nx } } catch e { e.message }\nU.tell({ v: r })',
        [1, 3],
    ],
    [
        "return in parallel item",
        "r = parallel for x in [1,2] max 2 { if s { return [x] }\nx }\nU.tell({ v: r.length })\nU.tell({ v: text(r) })",
        [true, false],
    ],
    ["recursion depth", "n = [0]\nrec(n, s)\nU.tell({ v: n.length })", [1, 3], "func rec(n, k) { if k > 0 { n.add(k)\nrec(n, k - 1) } }"],
    [
        "mutual recursion",
        "n = [0]\nra(n, s)\nU.tell({ v: n.length })",
        [1, 3],
        "func ra(n, k) { if k > 0 { rb(n, k) } }\nfunc rb(n, k) { n.add(k)\nra(n, k - 1) }",
    ],
    [
        "func value call",
        "n = [0]\no = { f: if s { ad } else { no } }\no.f(n)\nU.tell({ v: n.length })",
        [true, false],
        "func ad(n) { n.add(1) }\nfunc no(n) { 1 }",
    ],
    [
        "func in list by index",
        "n = [0]\nfs = [ad, no]\nfs[s](n)\nU.tell({ v: n.length })",
        [0, 1],
        "func ad(n) { n.add(1) }\nfunc no(n) { 1 }",
    ],
    [
        "func from get",
        "n = [0]\nfs = { a: ad, b: no }\nf = fs.get(s)\nf(n)\nU.tell({ v: n.length })",
        ["a", "b"],
        "func ad(n) { n.add(1) }\nfunc no(n) { 1 }",
    ],
    [
        "func passed deep",
        "n = [0]\nap({ g: [if s { ad } else { no }] }, n)\nU.tell({ v: n.length })",
        [true, false],
        "func ad(n) { n.add(1) }\nfunc no(n) { 1 }\nfunc ap(o, n) { o.g[0](n) }",
    ],
    ["call order in strict fn", "x = [f(s), U.tell({ v: 3 })]\nU.tell({ v: 4 })", [true, false], "func f(s) { if s { T.more({}) }\n1 }"],
    [
        "generate in parallel order",
        "r = parallel for x in [1,2,3] max 3 { y = if x == 1 and s { T.more({}) } else { 0 }\nU.get({ v: x }) }\nU.tell({ v: r.length })",
        [true, false],
    ],
    [
        "memory query under",
        'if s { a = Notes.query({ text: "z" }) }\nb = Notes.query({ text: "z" })\nU.tell({ v: b.length })',
        [true, false],
    ],
    ["endorse under", 'x = 0\nif s { x = endorse 1 as trusted because "r" }\nU.tell({ v: x })', [true, false]],
    [
        "spend steps len",
        'r = try { spend 40 steps { s.map((x) => x) }\n"ok" } catch e { "no" }\nU.tell({ v: r })',
        [
            [1],
            [
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
                34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45,
            ],
        ],
    ],
    [
        "spend bytes",
        'r = try { spend 900 bytes { x = s + s + s + s\ny = x + x + x + x }\n"ok" } catch e { "no" }\nU.tell({ v: r })',
        [
            "a",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ],
    ],
    [
        "result default alias",
        "q = {}\nif s { q.a = 5 }\no = dflt(q)\nU.tell({ v: o.a })",
        [true, false],
        "shape Sh { a?: number = 1 }\nfunc dflt(o) -> Sh { o }",
    ],
    ["union contract", 'r = try { un(s)\n"ok" } catch e { "no" }\nU.tell({ v: r })', ["a", "z"], 'func un(o: "a" | "b") { o }'],
    [
        "nested try rethrow",
        'x = 0\ntry { try { if s { raise "a" }\nx = 1 } catch e { raise "b" }\nx = 2 } catch e { }\nU.tell({ v: x })',
        [true, false],
    ],
    [
        "continue in try in loop",
        "n = 0\nfor x in [1,2,3] max 3 { try { if x == s { continue }\nn += 1 } catch e { } }\nU.tell({ v: n })",
        [1, 7],
    ],
    ["loop max reached", "n = 0\nloop until s max 2 { n += 1 }\nU.tell({ v: n })", [true, false]],
    ["until with effect on list", "l = []\nloop until l.add(1).length > s max 9 { }\nU.tell({ v: l.length })", [1, 3]],
    ["and chain effect", "l = []\nx = s and (l.add(1).length > 0 or true) and l.add(2).length > 0\nU.tell({ v: l.length })", [true, false]],
    ["compound assign index", "l = [1,2]\nl[s] += 5\nU.tell({ v: l[0] })", [0, 1]],
    ["has in object literal", 'o = { a: 1 }\nif s { o = { b: 1 } }\nU.tell({ v: o.has("a") })', [true, false]],
    ["sum of labelled list", "l = [1]\nif s { l.add(2) }\nU.tell({ v: l.sum() })", [true, false]],
    ["entries of changed", "o = { a: 1 }\nif s { o.a = 2 }\nU.tell({ v: o.entries()[0].value })", [true, false]],
    ["map index", "l = [1]\nif s { l.add(2) }\nU.tell({ v: l.map((x, i) => i).last() })", [true, false]],
];

const all = PROGRAMS.map(([name, body, secrets, more = ""]) => ({ name, body, secrets, more }));

test.each(all)("$name", ({ body, secrets: [a, b], more }) => {
    const source = `${HEAD}\n${more}\nmain func() {\ns = T.secret({})\n${body}\nU.tell({ v: "end" })\n1\n}`;
    const of = (flow: string, secret: Json): Ran => runAll(formOf(`${flow}\n${source}`, true), { answer: answer(secret) });
    sameView(of("flow strict", a), of("flow strict", b));
    expect(differ(of("", a), of("", b))).toBe(true);
});
