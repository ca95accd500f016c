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
        name: "W4: a failure raises what only the try can name",
        body: "o = [0]\ntry { y = { a: o }\nz = 1 / h.v\ny.a.add(1) } catch e { }\no.length",
        secrets: [0, 1],
        only: "strict",
    },
    {
        name: "W4: a callee's failure raises what only the try can name",
        body: "o = [0]\ntry { y = { a: o }\nz = [h].map(part)\ny.a.add(1) } catch e { }\no.length",
        functions: "func part(o) { 1 / o.v }",
        secrets: [0, 1],
        only: "strict",
    },
    {
        name: "W2: a failure that leaves a function carries its place",
        body: "x = 0\ntry { f(h)\nx = 2 } catch e { x = 1 }\nx",
        functions: "func f(o) { if o.v { y = [1][5] } }",
        secrets: BOOL,
    },
    {
        name: "W2: a failure that leaves a lambda's function carries its place",
        body: "x = 0\ntry { [h].map(f)\nx = 2 } catch e { x = 1 }\nx",
        functions: "func f(o) { if o.v { y = [1][5] } }",
        secrets: BOOL,
    },
    {
        name: "W2: what a handler is told of",
        body: 'l = []\ntry { if h.v { y = [1][5] }\nraise "other" } catch e { l.add(e.message) }\nl[0]',
        secrets: BOOL,
    },
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
        name: "a way out on the right of and",
        body: "x = h.v and (if p { return 1 } else { true })\n1",
        secrets: BOOL,
    },
    {
        name: "a way out on the right of `or`",
        body: "x = h.v or (if p { return 1 } else { true })\n1",
        secrets: BOOL,
    },
    {
        name: "a way out on the right of ??",
        body: "x = h.v ?? (if p { return 1 } else { true })\n1",
        secrets: [null, 1],
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
    { name: "CL4: the items beside one that was written", body: "l = [0, 1]\nl[h.v] = 5\nl[0]", secrets: [0, 1] },
    { name: "CL2: a list that was changed under another name", body: "l = []\nm = l\nif h.v { l.add(1) }\nm.length", secrets: BOOL },
    { name: "CL2: its items", body: "l = [0]\nm = l\nif h.v { l[0] = 1 }\nm[0]", secrets: BOOL },
    {
        name: "CL2: passes over it",
        body: "l = [0]\nm = { l: l }\nn = 0\nif h.v { l.add(1) }\nfor x in m.l max 3 { n = n + 1 }\nn",
        secrets: BOOL,
    },
    { name: "CL1: a literal", body: "q = []\nx = 0\nif h.v { x = [1]\nq.add(x) } else { x = [2]\nq.add(x) }\nq[0][0]", secrets: BOOL },
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
        body: "l = A.f(s)\nl.length",
        functions: "func f(s) { l = []\nif s { l.add(1) }\nl }",
        secrets: BOOL,
    },
];
