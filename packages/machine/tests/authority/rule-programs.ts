/**
 * Programs in which a secret `s` decides what a function gives, each by one rule of propagation and, as far as that can be, by no other one.
 * The secret is hidden in an object (`h.v`) where a rule that looks at variables would find it too.
 */
import type { Json } from "@remit/language";

export interface Row {
    readonly name: string;
    readonly body: string;
    readonly functions?: string;
    /** Values of the secret: with them the program takes its different ways. */
    readonly secrets: readonly Json[];
    /** Where the row holds; both where it is absent. */
    readonly only?: "strict" | "basic";
}

const BOOL = [true, false];
const LISTS = [[], [1], [1, 2, 3]];

export const ROWS: readonly Row[] = [
    { name: "CL5: a file that a way may change", body: "if s { D.l.add(1) }\nD.l.length", secrets: BOOL },
    {
        name: "W4: a method's failure raises what only the try can name",
        body: "l = [0]\no = { v: l }\ntry { y = o.v\no.v = [9]\nz = s.upper()\ny.add(1) } catch e { }\nl.length",
        secrets: ["a", 5],
        only: "strict",
    },
    {
        name: "W4: an operation's failure raises what only the try can name",
        body: "l = [0]\no = { v: l }\ntry { y = o.v\no.v = [9]\nz = 1 + s.upper()\ny.add(1) } catch e { }\nl.length",
        secrets: ["a", 5],
        only: "strict",
    },
    {
        name: "W4: a callee's failure raises what only the try can name",
        body: "l = [0]\no = { v: l }\ntry { y = o.v\no.v = [9]\nz = [h].map(part)\ny.add(1) } catch e { }\nl.length",
        functions: "func part(o) { 1 / o.v }",
        secrets: [0, 1],
        only: "strict",
    },
    {
        name: "W2: a failure that leaves a function carries its place",
        body: "x = 0\ntry { f(h)\nx = 2 } catch e { x = 1 }\nx",
        functions: 'func f(o) { if o.v { raise "no" } }',
        secrets: BOOL,
    },
    {
        name: "W2: a failure that leaves a lambda's function carries its place",
        body: "x = 0\ntry { [h].map(f)\nx = 2 } catch e { x = 1 }\nx",
        functions: 'func f(o) { if o.v { raise "no" } }',
        secrets: BOOL,
    },
    {
        name: "W2: what a handler is told of",
        body: 'l = []\ntry { if h.v { y = [1][5] }\nraise "other" } catch e { l.add(e.message) }\nl[0]',
        secrets: BOOL,
    },
    { name: "W1: a handler depends on what was raised", body: "x = 0\ntry { raise s } catch e { x = 1 }\nx", secrets: ["a"] },
    {
        name: "W1: how often a lambda runs",
        body: "n = 0\ny = h.v.map(x => if p {\nn = n + 1\nx } else { x })\nn",
        secrets: LISTS,
    },
    {
        name: "CL4: an index on the way to what is changed",
        body: "q = [[1], [2]]\nl = q[0]\nq[h.v][0] = 9\nl[0]",
        secrets: [0, 1],
    },
    { name: "unique: which items are alike", body: "l = [[1], [h.v]].unique()\nl.length", secrets: [1, 2] },
    {
        name: "CL7: a list that a choice picked and that was written",
        body: "l = [0]\nm = [1]\nk = m\nif h.v { k = l }\nk[0] = 5\nl[0]",
        secrets: [true],
        only: "basic",
    },
    {
        name: "CL3: what was put into a marked object is marked where it is changed",
        body: "v = [0]\no = { x: 0 }\nif h.v { o.x = 1 }\no.v = v\nif h.v { o.v[0] = 9 }\nv[0]",
        secrets: BOOL,
    },
    { name: "W3: what a way does not assign", body: "x = 0\nif h.v { x = 1 }\nx", secrets: BOOL },
    { name: "W3: the value of a branch", body: "x = if h.v { 1 } else { 2 }\nx", secrets: BOOL },
    { name: "W3: what the handler of a `try` does not assign", body: "x = 0\ntry { y = 1 / h.v } catch e { x = 1 }\nx", secrets: [0, 1] },
    {
        name: "W4: the left side of `and` may fail",
        body: "x = 0\ntry { y = (1 / h.v > 0) and p\nx = 1 } catch e { }\nx",
        secrets: [0, 1],
    },
    {
        name: "W4: that a method gave its value, W1: its failure",
        body: "x = 0\ntry { y = s.upper()\nx = 2 } catch e { x = 1 }\nx",
        secrets: ["a", 5],
    },
    { name: "W1: the failure of a spread", body: "x = 0\ntry { y = [...s]\nx = 2 } catch e { x = 1 }\nx", secrets: [[1], 5] },
    {
        name: "W4: the failure of a spread raises what only the try can name",
        body: "l = [0]\no = { v: l }\ntry { y = o.v\no.v = [9]\nz = [...s]\ny.add(1) } catch e { }\nl.length",
        secrets: [[1], 5],
        only: "strict",
    },
    {
        name: "W4: a contract of a parameter",
        body: "x = 0\ntry { f(h)\nx = 2 } catch e { x = 1 }\nx",
        functions: "func f(o: { v: number }) { 1 }",
        secrets: [5, "no"],
    },
    {
        name: "W4: a contract of a result",
        body: "x = 0\ntry { f(h)\nx = 2 } catch e { x = 1 }\nx",
        functions: "func f(o) -> { v: number } { o }",
        secrets: [5, "no"],
    },
    {
        name: "W5: a list that a callee made under a condition may be changed there",
        body: "x = 0\nif h.v { y = made()\ny.add(1)\nx = y.length }\nx",
        functions: "func made() { [1] }",
        secrets: BOOL,
    },
    {
        name: "CL1: a list that was made under a condition may be changed there",
        body: "x = 0\nif h.v { y = [1]\ny.add(2)\nx = y.length }\nx",
        secrets: BOOL,
    },
    { name: "how many a filter kept", body: "[1, 2, 3].filter(x => x > h.v).length", secrets: [0, 1, 3] },
    {
        name: "a list that a lambda of its method changes",
        body: "l = [5, 2]\nl.filter(x => put(l, h) > 0)[1]",
        functions: "func put(l, o) { if o.v { l[1] = 9 }\n1 }",
        secrets: BOOL,
    },
    {
        name: "a list that an argument of its method changes",
        body: "l = [1, 2]\nl.join(put(l, h))",
        functions: 'func put(l, o) { if o.v { l[0] = 9 }\n"," }',
        secrets: BOOL,
    },
    { name: "CL4: the items beside one that was written", body: "l = [0, 1]\nl[h.v] = 5\nl[0]", secrets: [0, 1] },
    { name: "CL2: a list that was changed under another name", body: "l = []\nm = l\nif h.v { l.add(1) }\nm.length", secrets: BOOL },
    { name: "CL2: its items", body: "l = [0]\nm = l\nif h.v { l[0] = 1 }\nm[0]", secrets: BOOL },
    {
        name: "CL2: passes over it",
        body: "l = [0]\nm = { l: l }\nn = 0\nif h.v { l.add(1) }\nfor x in m.l max 3 { n = n + 1 }\nn",
        secrets: BOOL,
    },
    { name: "CL1: a literal", body: "q = []\nx = 0\nif h.v { x = [1]\nq.add(x) } else { x = [2]\nq.add(x) }\nq[0][0]", secrets: BOOL },
    { name: "CL1: a literal on the right of `??`", body: "x = h.v ?? [1]\nx[0]", secrets: [null] },
    { name: "spread", body: "l = [...h.v, 1]\nl.length", secrets: LISTS },
    { name: "a spread object", body: "o = { ...h.v, a: 1 }\no.keys().length", secrets: [{}, { b: 1 }] },
    { name: "W2: a field", body: "o = { k: 1 }\nif h.v { o.k = 2 }\no.k", secrets: BOOL },
    {
        name: "the end of a callee",
        body: "f(h)",
        functions: "func f(o) { if o.v { return 1 }\n2 }",
        secrets: BOOL,
    },
];

/** Code that is not strict and keeps no choices calls an agent that is strict. */
export const GIVEN: readonly Row[] = [
    {
        name: "CL1: a list of other code has the label of its reference",
        body: "A.f(s)\ns.length",
        functions: "func f(l) { l.add(1)\n l.length }",
        secrets: LISTS,
    },
    {
        name: "a list that strict code gives to other code shows its label",
        body: "o = A.f(s)\no.l.length",
        functions: "func f(s) { l = []\no = { l: l }\nif s { l.add(1) }\no }",
        secrets: BOOL,
    },
    {
        name: "W2: what strict code puts into a list of other code carries the place",
        body: "l = [0]\nA.f(l, s)\nl[0]",
        functions: "func f(l, s) { if s { l[0] = 1 } }",
        secrets: [true],
    },
];

/** What a value is made of, in code that keeps labels of values alone. */
export const DATA: readonly Row[] = [
    { name: "a field of an object", body: "s.k", secrets: [{ k: 1 }] },
    { name: "a field by its name", body: 's["k"]', secrets: [{ k: 1 }] },
    { name: "an item of a list", body: "s[0]", secrets: [[1]] },
    { name: "an item at an index", body: "l = [1, 2]\nl[s]", secrets: [0, 1] },
    { name: "what was written at an index", body: "l = [0, 0]\nl[s] = 5\nl[1]", secrets: [1] },
    { name: "keys that an index made", body: "o = {}\no[s] = 1\no.keys()", secrets: ["a"] },
    {
        name: "the failure of an absent key",
        body: 'o = {}\no[s] = 1\nm = ""\ntry { x = o["b"] } catch e { m = e.message }\nm',
        secrets: ["a"],
    },
    { name: "an absent property", body: "o = {}\no[s] = 1\no?.b", secrets: ["a"] },
    { name: "`get` of an absent key", body: 'o = {}\no[s] = 1\no.get("b")', secrets: ["a"] },
    { name: "a whole with the keys", body: "o = {}\no[s] = 1\njson.text(o).length", secrets: ["a"] },
    { name: "equality with the keys alone", body: "o = {}\no[s] = 1\no.a = 2\no == { a: 2 }", secrets: ["a", "b"] },
    { name: "equality with the keys", body: "o = {}\no[s] = 1\no == {}", secrets: ["a"] },
    { name: "`and`", body: "x = true and s\nx", secrets: BOOL },
    { name: "`??`", body: "x = s ?? 5\nx", secrets: [null] },
    { name: "how many `filter` kept", body: "[1, 2, 3].filter(x => x > s).length", secrets: [0, 1] },
    { name: "the variable of a loop", body: "x = 0\nfor y in s max 3 { x = y }\nx", secrets: [[1]] },
    { name: "a list with a spread one", body: "[...s, 1].length", secrets: LISTS },
    { name: "keys of a spread object", body: "o = {}\no[s] = 1\nq = { ...o }\nq.keys()", secrets: ["a"] },
    { name: "keys that decide which value wins", body: "o = {}\no[s] = 1\nq = { b: 0, ...o }\nq.b", secrets: ["a", "b"] },
    {
        name: "the failure of a method by its receiver",
        body: 'm = ""\ntry { x = s.sum() } catch e { m = e.message }\nm',
        secrets: [["a"], [true]],
    },
    {
        name: "the failure of a method by an item",
        body: 'l = [s, 5]\nm = ""\ntry { x = l.map(y => y.upper()) } catch e { m = e.message }\nm',
        secrets: ["a", true],
    },
    {
        name: "the failure of a method by an argument",
        body: 'm = ""\ntry { x = "a".match(s) } catch e { m = e.message }\nm',
        secrets: ["(", "["],
    },
    { name: "what was raised", body: 'm = ""\ntry { raise s } catch e { m = e.message }\nm', secrets: ["a"] },
    { name: "a contract that fills in", body: "f(s)", functions: "func f(o: { k: number, j: number = 1 }) { o.k }", secrets: [{ k: 1 }] },
    {
        name: "a default, by the keys",
        body: "o = {}\no[s] = 1\nf(o)",
        functions: "func f(o: { k: number, j: number = 1 }) { o.j }",
        secrets: ["k"],
    },
    {
        name: "a union contract",
        body: "o = { k: [s] }\nf(o)",
        functions: "func f(o: { k: string } | { k: list, j: number = 1 }) { o.j }",
        secrets: [1],
    },
    { name: "`join`", body: 'l = [s]\nl.join(",")', secrets: ["a"] },
    { name: "`unique`", body: "l = [1, s].unique()\nl.length", secrets: [1, 2] },
    {
        name: "what an object says that was raised",
        body: 'm = ""\ntry { raise { message: s } } catch e { m = e.message }\nm',
        secrets: ["a"],
    },
    { name: "JSON text", body: "o = [[s]]\njson.text(o)", secrets: [1] },
];

/** Bodies of the main function, whose own calls of `U.tell` depend on the secret. */
export const EFFECTS: readonly Row[] = [
    {
        name: "an item of a list that iterations go over",
        body: "r = parallel for x in s max 3 { U.tell({ v: x }) }",
        secrets: [[1]],
        only: "basic",
    },
    {
        name: "whether an iteration runs",
        body: "r = parallel for x in s max 3 { U.tell({ v: 1 }) }",
        secrets: [[1], [1, 2]],
        only: "strict",
    },
];

/** Statements under `if s`, and the effect that each begins: it carries the secret. */
export const UNDER: readonly (readonly [name: string, statement: string, effect: string])[] = [
    ["W2: a call without arguments", "U.send()", "tool"],
    ["W2: a prompt", 'x = generate({ input: "k" })', "model"],
    ["a name that `act` is given, which makes it a question", 'act("U.send", {})', "ask"],
];

/** Blocks of which a gate depends on the secret. */
export const BLOCKS: readonly (readonly [name: string, blocks: string, secret: Json])[] = [
    ["a stage behind a gate", 'memory static ( secret >=> when "input > 1" >=> tell )', 2],
    ["a stage behind one behind a gate", 'memory static ( secret >=> when "input > 1" >=> one >=> tell )', 2],
    ["what is skipped", 'memory static ( secret >=> when "input > 1" >=> one ) as r\nmemory static ( show )', 0],
];
