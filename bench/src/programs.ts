/**
 * The same work in three languages. `n` is the size; each program returns a value that depends on all of its work, and all three must
 * return the same one, which the benchmark checks before it measures.
 */
export interface Work {
    readonly name: string;
    readonly n: number;
    /** Body of `main func(n)`; other functions before it. */
    readonly remit: { readonly funcs?: string; readonly body: string };
    /** Body of `function main(n)`. */
    readonly js: { readonly funcs?: string; readonly body: string };
    /** Expression over `$n`; absent where the language cannot say it in a comparable way. */
    readonly jsonata?: string;
}

export const WORK: readonly Work[] = [
    {
        name: "arithmetic loop",
        n: 10_000,
        remit: { body: "s = 0  i = 0\n loop until i >= n max 1000000 {\n s = s + i * 2 % 7\n i = i + 1\n }\n s" },
        js: { body: "let s = 0, i = 0; while (!(i >= n)) { s = s + i * 2 % 7; i = i + 1; } return s;" },
        jsonata: "$reduce([0..$n-1], function($s, $i) { $s + $i * 2 % 7 }, 0)",
    },
    {
        name: "list: add, then sum",
        n: 5_000,
        remit: {
            body: "xs = []  i = 0\n loop until i >= n max 1000000 {\n xs.add(i * 3)\n i += 1\n }\n s = 0\n for x in xs max 1000000 { s += x }\n s",
        },
        js: {
            body: "const xs = []; let i = 0; while (!(i >= n)) { xs.push(i * 3); i += 1; } let s = 0; for (const x of xs) { s += x; } return s;",
        },
        jsonata: "$sum([0..$n-1].($ * 3))",
    },
    {
        name: "string: append, length",
        n: 4_000,
        remit: {
            body: 's = ""  i = 0\n loop until i >= n max 1000000 {\n s = s + "ab"\n if s.length > 1000 { s = "" }\n i += 1\n }\n s.length',
        },
        js: { body: 'let s = "", i = 0; while (!(i >= n)) { s = s + "ab"; if (s.length > 1000) { s = ""; } i += 1; } return s.length;' },
    },
    {
        name: "string: split, map, join",
        n: 300,
        remit: {
            body: 'text = "the quick brown fox jumps over the lazy dog"\n i = 0  total = 0\n loop until i >= n max 1000000 {\n words = text.split(" ")\n up = words.map((w) => w.upper()).filter((w) => w.length > 3)\n total += up.join("-").length\n i += 1\n }\n total',
        },
        js: {
            body: 'const text = "the quick brown fox jumps over the lazy dog"; let i = 0, total = 0; while (!(i >= n)) { const words = text.split(" "); const up = words.map((w) => w.toUpperCase()).filter((w) => w.length > 3); total += up.join("-").length; i += 1; } return total;',
        },
        jsonata:
            '$sum([1..$n].($length($join($filter($map($split("the quick brown fox jumps over the lazy dog", " "), function($w) { $uppercase($w) }), function($w) { $length($w) > 3 }), "-"))))',
    },
    {
        name: "objects: make, read, write",
        n: 3_000,
        remit: {
            body: "s = 0  i = 0\n loop until i >= n max 1000000 {\n o = { a: i, b: 2, c: 3 }\n o.b = o.a + o.c\n s += o.a + o.b - o.c\n i += 1\n }\n s",
        },
        js: {
            body: "let s = 0, i = 0; while (!(i >= n)) { const o = { a: i, b: 2, c: 3 }; o.b = o.a + o.c; s += o.a + o.b - o.c; i += 1; } return s;",
        },
        jsonata: "$sum([0..$n-1].(($o := {'a': $, 'b': $ + 3, 'c': 3}; $o.a + $o.b - $o.c)))",
    },
    {
        name: "calls: fib",
        n: 18,
        remit: { funcs: "func fib(k) {\n if k < 2 { return k }\n fib(k - 1) + fib(k - 2)\n}", body: "fib(n)" },
        js: { funcs: "function fib(k) { if (k < 2) { return k; } return fib(k - 1) + fib(k - 2); }", body: "return fib(n);" },
        jsonata: "($f := function($k) { $k < 2 ? $k : $f($k - 1) + $f($k - 2) }; $f($n))",
    },
    {
        name: "lists: map, filter, sort",
        n: 1_000,
        remit: {
            body: "xs = []  i = 0\n loop until i >= n max 1000000 {\n xs.add(i * 7919 % 1009)\n i += 1\n }\n ys = xs.map((x) => x * 2).filter((x) => x % 3 == 0).sort_by((x) => x)\n ys.sum() + ys[10]",
        },
        js: {
            body: "const xs = []; let i = 0; while (!(i >= n)) { xs.push(i * 7919 % 1009); i += 1; } const ys = xs.map((x) => x * 2).filter((x) => x % 3 === 0).sort((a, b) => a - b); return ys.reduce((a, b) => a + b, 0) + ys[10];",
        },
        jsonata:
            "($xs := [0..$n-1].($ * 7919 % 1009); $ys := $sort($filter($map($xs, function($x) { $x * 2 }), function($x) { $x % 3 = 0 })); $sum($ys) + $ys[10])",
    },
];

/** A whole Remit program of one piece of work. */
export function remitSource(work: Work): string {
    return `${work.remit.funcs ?? ""}\nmain agent Bench {\n main func(n) {\n${work.remit.body}\n }\n}\n`;
}

/** JavaScript that defines `main`. */
export function jsSource(work: Work): string {
    return `${work.js.funcs ?? ""}\nfunction main(n) { ${work.js.body} }\n`;
}
