/**
 * New words never take old ones away: texts that AgentScript accepts keep the reading they have there, as long as the names they need are
 * in scope. Where a line break decided nothing in AgentScript and decides something here (D6), a warning says so.
 */
import { describe, expect, test } from "vitest";
import { codes, marks, read, readBody, showBody } from "./show.ts";

/** Text, tree, codes of the warnings. */
const NAMES: readonly (readonly [string, string, string?])[] = [
    // bound by assignment
    ["break = 1\nbreak", "(= break 1) break"],
    ["continue = 1\ncontinue", "(= continue 1) continue"],
    ["debugger = 1\ndebugger", "(= debugger 1) debugger"],
    ["for debugger in xs max 3 { debugger }", "(for debugger xs 3 {debugger})"],
    ["x = ys.map(debugger => debugger)\ndebugger", "(= x (call (. ys map) (\\debugger debugger))) DEBUGGER"],
    ['raise = 1\nraise\n"x"', `(= raise 1) raise "x"`],
    [`raise = 1\nraise "x"`, `(= raise 1) raise "x"`],
    ["raise = 1\nraise - 1", "(= raise 1) (- raise 1)"],
    ["try = 1\ntry { a: 1 }", "(= try 1) try {a:1}"],
    ["try = 1 catch = 2 e = 3\ntry {} catch e {}", "(= try 1) (= catch 2) (= e 3) try {} catch e {}"],
    ["context = 1 max = 2\ncontext max 200", "(= context 1) (= max 2) context max 200"],
    ["image = 1 pic = 2\nuse image pic", "(= image 1) (= pic 2) (use image) pic", "WORD_IS_NAME"],
    ["tokens = 1\nuse x max 4k tokens", "(= tokens 1) (use x max:4000c) tokens", "WORD_IS_NAME"],
    ["keep = 1 end = 2\nuse x max 4k keep end", "(= keep 1) (= end 2) (use x max:4000c) keep end", "WORD_IS_NAME"],
    ["priority = 1\nuse x priority 3", "(= priority 1) (use x) priority 3", "WORD_IS_NAME"],
    ["token = 1\nuse x max 4k token", "(= token 1) (use x max:4000c) token"],
    ['f = 1\ny = f"hi"', `(= f 1) (= y f) "hi"`],
    ["fn = 1\nif fn (a) { b }", "(= fn 1) (if (call fn a) {b})"],
    // where the name is not bound AgentScript rejects the text, so that the word is one
    ["context max 200", "(context 200c)"],
    ["use x max 4k tokens", "(use x max:4000t)"],
    ["if a { break = 1 }\nbreak", "(if a {(= break 1)}) BREAK"],
    ["debugger", "DEBUGGER"],
    ["debugger\nx", "DEBUGGER x"],
    ["debugger x", "DEBUGGER x"],
    // used as plain names
    ["break.x", "(. break x)"],
    ["break()", "(call break)"],
    ["debugger.x", "(. debugger x)"],
    ["debugger()", "(call debugger)"],
    ["debugger += 1", "(+= debugger 1)"],
    ["x = debugger", "(= x debugger)"],
    ["x = { debugger: 1 }\nx.debugger", "(= x {debugger:1}) (. x debugger)"],
    ["continue += 1", "(+= continue 1)"],
    ["raise()\nraise.x", "(raise <MISSING>) (. raise x)", "SYNTAX"],
    ["try = 1", "(= try 1)"],
    [
        "shape = 1 remit = 2 delegate = 3 test = 4 with = 5 keep = 6",
        "(= shape 1) (= remit 2) (= delegate 3) (= test 4) (= with 5) (= keep 6)",
    ],
    ["memory = temporal", "(= memory temporal)"],
    ["context.max", "(. context max)"],
    ["image.x", "(. image x)"],
    ["use image", "(use image)"],
    ["use image.x max 2k", "(use (. image x) max:2000c)"],
    ["use image max 2k as image", "(use image max:2000c as:image)"],
    ["use context max 2k", "(use context max:2000c)"],
    ["use tokens max 2k", "(use tokens max:2000c)"],
    ["use x max 2k\ntokens", "(use x max:2000c) tokens"],
    ["use x max 2k\ntokens = 1", "(use x max:2000c) (= tokens 1)"],
    ["use x max 2k tokens = 1", "(use x max:2000c) (= tokens 1)"],
    ["use x max 2k\nkeep end", "(use x max:2000c) keep end"],
    ["use x\npriority 3", "(use x) priority 3"],
    ["use one max 2k", "(use one max:2000c)"],
    ["use one.of", "(use (. one of))"],
    ["one of", "one of"],
    ["x = { try: 1, catch: 2, shape: 3, raise: 4 }", "(= x {try:1 catch:2 shape:3 raise:4})"],
    ["x.break.continue.raise", "(. (. (. x break) continue) raise)"],
    ["for try in raise max 3 { try }", "(for try raise 3 {try})"],
    ["x = delegate with shape", "(= x delegate) with shape"],
    // words of authority
    ...[
        "may",
        "ask",
        "never",
        "spend",
        "endorse",
        "only",
        "flow",
        "strict",
        "to",
        "onward",
        "trusted",
        "reads",
        "audience",
        "because",
        "unconfined",
    ].map(
        (word) =>
            [
                `${word} = 1\n${word}\nx = ${word} + ${word}.${word}\nuse ${word} max 2k\n${word}.only({ ${word}: 1 })`,
                `(= ${word} 1) ${word} (= x (+ ${word} (. ${word} ${word}))) (use ${word} max:2000c) (call (. ${word} only) {${word}:1})`,
            ] as const,
    ),
    ["delegate = 1 all = 2 to = 3 X = 4\ndelegate all to X { a: 1 }", "(= delegate 1) (= all 2) (= to 3) (= X 4) delegate all to X {a:1}"],
    ["spend = 1\nspend 10", "(= spend 1) spend 10"],
    ["endorse = 1\nx = endorse x", "(= endorse 1) (= x endorse) x"],
    ["endorse = 1\nendorse - 1", "(= endorse 1) (- endorse 1)"],
    ["endorse - 1", "(- endorse 1)"],
    ["flow strict", "flow strict"],
    ["x = delegate\ny = spend\nz = endorse", "(= x delegate) (= y spend) (= z endorse)"],
    ["delegate\nall to X {}", "delegate all to X {}"],
    ["spend\n10", "spend 10"],
    // `only` of a tool is called with values, in AgentScript with values that have names too
    ["Repo.only()", "(call (. Repo only))"],
    ["Repo.only({ a: 1 })", "(call (. Repo only) {a:1})"],
    ['Repo.only("read")', '(call (. Repo only) "read")'],
    ['Repo.only("list-issues")', '(call (. Repo only) "list-issues")'],
    ['Repo.only(."list-issues")', "(only Repo list-issues)"],
    ['Repo.only(."10")', "(only Repo 10)"],
    ['read = 1\nRepo.only(read, ."list-issues" in "a")', "(= read 1) (only Repo read list-issues[a])"],
    ["read = 1\nRepo.only(read)", "(= read 1) (call (. Repo only) read)"],
    ["for read in xs max 3 { Repo.only(read) }", "(for read xs 3 {(call (. Repo only) read)})"],
    ["try { 1 } catch e { Repo.only(e) }", "(try {1} e {(call (. Repo only) e)})"],
    ["xs.map((a, b) => o.only(a, b))", "(call (. xs map) (\\a,b (call (. o only) a b)))"],
    ["xs.map(a => o.only(a))", "(call (. xs map) (\\a (call (. o only) a)))"],
    ["x = Repo.only", "(= x (. Repo only))"],
    ["Repo?.only(read)", "(call (?. Repo only) read)"],
    ["Repo\n.only\n(read)", "(. Repo only) <read>", "LINE_CONTINUATION"],
    // names that are no values are methods
    ["Repo.only(read)", "(only Repo read)"],
    ["read = 1\nRepo.only(read, write)", "(= read 1) (only Repo read write)"],
    ['read = 1\nRepo.only(read in "a")', "(= read 1) (only Repo read[a])"],
    // keywords where an expression begins
    ["x = list y = max z = main w = agent", "(= x list) (= y max) (= z main) (= w agent)"],
    ["agent = 1\nagent.func", "(= agent 1) (. agent func)"],
    ["func(x)\n{ a: 1 }", "(call func x) {a:1}"],
    ["f({ return: 1, use: 2 })", "(call f {return:1 use:2})"],
];

describe("words that are names", () => {
    test.each(NAMES)("%s", (text, tree, warnings) => {
        const file = readBody(text as string);
        expect([codes(file), showBody(file)]).toEqual([warnings ?? "", tree]);
    });
});

const PARAMETERS: readonly (readonly [string, string, string])[] = [
    ["if", "x = if + 1", "(= x (+ if 1))"],
    ["if", "x = if y", "(= x if) y"],
    ["else", "else {}", "else {}"],
    ["try", "x = try {}", "(= x try) {}"],
    ["try", "try { x = 1 } catch e { }", "(try {(= x 1)} e {})"],
    ["break", "loop until x max 3 { break }", "(loop x 3 {break})"],
    ["return", "x =\nreturn", "(= x return)"],
    ["delegate", "delegate all to X { a: 1 }", "delegate all to X {a:1}"],
    ["spend", "spend 10 { a: 1 }", "spend 10 {a:1}"],
    ["endorse", "x = endorse x", "(= x endorse) x"],
    ["read", "Repo.only(read)", "(call (. Repo only) read)"],
    ["to", "delegate Repo to X { a }", "(delegate Repo to X {a})"],
];

describe("words that are parameters", () => {
    test.each(PARAMETERS)("func f(%s) { %s }", (name, text, tree) => {
        const file = read(`func f(${name}) {\n${text}\n}`);
        expect([codes(file), showBody(file)]).toEqual(["", tree]);
    });
});

test("names declared at top level are names in every function, before and after", () => {
    for (const declaration of ['import tool raise from "mcp://x"', "func raise(x) { x }", "agent raise { main func(x) { x } }"]) {
        const file = read(`func f() { raise (1) raise "x" }\n${declaration}`);
        expect([codes(file), showBody(file)]).toEqual(["", `(call raise 1) raise "x"`]);
    }
});

test("words of authority that are declared at top level are names in every function", () => {
    for (const word of ["spend", "endorse", "delegate"])
        for (const declaration of [`import tool ${word} from "mcp://x"`, `func ${word}(x) { x }`, `agent ${word} { main func(x) { x } }`]) {
            const file = read(`func f(x) { ${word} (x) y = ${word} x = ${word} (1) }\n${declaration}`);
            expect([codes(file), showBody(file)]).toEqual(["", `(call ${word} x) (= y ${word}) (= x (call ${word} 1))`]);
        }
    const file = read('import file read from "./a.md"\nfunc f() { Mcp.only(read) }');
    expect(showBody({ ...file, items: file.items.slice(1) })).toBe("(call (. Mcp only) read)");
});

test("an item, a failure and a parameter of a lambda bind their names in their own block only", () => {
    const file = readBody(
        "for break in xs max 3 { break }\ntry { 1 } catch continue { continue }\nx = f(raise => raise)\nloop until a max 2 { break }",
    );
    expect(showBody(file)).toBe("(for break xs 3 {break}) (try {1} continue {continue}) (= x (call f (\\raise raise))) (loop a 2 {BREAK})");
});

/** A line that begins with a bracket: tree, and the warning where AgentScript could have joined it. */
const LINES: readonly (readonly [string, string, string])[] = [
    ["x\n[1]", "x [1]", "LINE_CONTINUATION"],
    ["f\n(1)", "f <1>", "LINE_CONTINUATION"],
    ["a.b\n(1)", "(. a b) <1>", "LINE_CONTINUATION"],
    ["x = y\n[1]", "(= x y) [1]", "LINE_CONTINUATION"],
    ["return x\n(1)", "(return x) <1>", "LINE_CONTINUATION"],
    ["f()\n[0]", "(call f) [0]", "LINE_CONTINUATION"],
    ["f()\n(0)", "(call f) <0>", ""],
    ["x = 1\n(2)", "(= x 1) <2>", ""],
    ['x = "a"\n[2]', '(= x "a") [2]', ""],
    ["if a {}\n[1]", "(if a {}) [1]", ""],
    ["use x max 2k\n(y)", "(use x max:2000c) <y>", ""],
    ["x\n(y) => 1", "x (\\y 1)", "LINE_CONTINUATION"],
    // no statement can begin here, so that AgentScript's reading stands
    ["f(a\n[1])", "(call f (@ a 1))", "LINE_CONTINUATION"],
    ["x = [a\n(1)]", "(= x [(call a 1)])", "LINE_CONTINUATION"],
    ["if f\n(1) { a }", "(if (call f 1) {a})", "LINE_CONTINUATION"],
    ["x = [Repo.only\n(read)]", "(= x [(only Repo read)])", "LINE_CONTINUATION"],
    ["read = 1\nx = [Repo.only\n(read)]", "(= read 1) (= x [(call (. Repo only) read)])", "LINE_CONTINUATION"],
    ['x = [endorse\n(y) as trusted because "z"]', '(= x [(endorse <y> TRUSTED "z")])', ""],
    ["x = [endorse\n()]", "(= x [(call endorse)])", "LINE_CONTINUATION"],
    ["x = [\nreturn(y)]", "(= x [(call return y)])", ""],
];

describe("D6: a call or an index begins on the line of its object", () => {
    test.each(LINES)("%s", (text, tree, warning) => {
        const file = readBody(text);
        expect([codes(file), showBody(file)]).toEqual([warning, tree]);
    });

    test("an operator at the start of a line goes on with the one before, the sign included", () => {
        expect(showBody(readBody("x = a\n-b"))).toBe("(= x (- a b))");
        expect(showBody(readBody("x = a\n* b\n?? c\nor d\n.e"))).toBe("(= x (or (?? (* a b) c) (. d e)))");
    });
});

test("`model`, `role` and `description` are taken at the start of a statement, and names elsewhere", () => {
    expect(marks(readBody('role = "x"'))).toEqual(['SYNTAX "="']);
    expect(codes(readBody("x = role\ny = model.description\nf(role: 1)"))).toBe("");
});
