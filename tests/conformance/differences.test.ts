/** LANGUAGE 10: the closed list of differences, each with its own test (D14's is in `tools.test.ts`); and the old spellings of table 0.1. */
import { applyFixes } from "@remit/language";
import { describe, expect, test } from "vitest";
import { fails, is, refused, rules } from "./cases.ts";
import { folderWith, inMain, play, seenBy } from "./harness.ts";

const raw = String.raw;
const W = {
    files: {
        "w.as": 'import tool E from "env://process"\nimport llm M from "mock:"\nagent W { main func(x) { E.get({ name: x }).value } }\nagent Other { main func(x) { x } }',
    },
    env: { K: "v" },
};

rules("D1 equality does not depend on key order", [
    [
        "of objects, at any depth",
        "return [{ a: 1, b: [{ c: 2, d: 3 }] } == { b: [{ d: 3, c: 2 }], a: 1 }, { a: 1 } == { a: 1, b: none }]",
        is([true, false]),
    ],
]);

rules("D2 each file has its own imports", [
    [
        "an imported file's imports are not the importer's",
        'import agent W from "./w.as"\nmain agent A { main func(input) { E.get({ name: "K" }) } }',
        { codes: "IMPORT_NOT_SHARED" },
        W,
    ],
    [
        "nor its models",
        'import agent W from "./w.as"\nmain agent A { model M role "r" description "d" main func(input) { 1 } }',
        { codes: "IMPORT_NOT_SHARED" },
        W,
    ],
    [
        "nor its other agents",
        'import agent W from "./w.as"\nmain agent A { main func(input) { Other(1) } }',
        { codes: "IMPORT_NOT_SHARED" },
        W,
    ],
    [
        "nor the importer's the imported file's",
        'import agent W from "./v.as"\nimport tool T from "env://process"\nmain agent A { main func(input) { W("K") } }',
        { codes: "IMPORT_NOT_SHARED" },
        { files: { "v.as": "agent W { main func(x) { T.get({ name: x }) } }" } },
    ],
    [
        "one name in two files is two things",
        'import agent W from "./w.as"\nimport file E from "./e.txt"\nmain agent A { main func(input) { return [E, W("K")] } }',
        is(["text", "v"]),
        { ...W, files: { ...W.files, "e.txt": "text" } },
    ],
]);

const CHECKED = (argument: string): string =>
    `main agent A { main func(input) { W(${argument}) } }\nagent W { main func(input {\n q: string\n}) { input.q } }`;
rules("D3 contracts hold at every call that declares them (row 33)", [
    ["a literal that never fits is found before", CHECKED("{}"), { codes: "CONTRACT_MISMATCH" }],
    ["what only shows at run time fails", CHECKED("input"), fails("contract: …"), { input: { q: 1 } }],
    ["a value that fits", CHECKED("input"), is("x"), { input: { q: "x", more: 1 } }],
]);

rules("D4 a clipped item never exceeds its budget", [
    [
        "quotes and escapes count",
        'use input.l max 25 as l\ngenerate({ input: "q" })',
        { items: [['l|input.l|[\n  "alpha",\n  "beta"\n]']] },
        { input: { l: ["alpha", "beta", "gamma"] }, replies: ["r"] },
    ],
    [
        "where the original would exceed",
        'use input.l max 22 as l\ngenerate({ input: "q" })',
        { items: [['l|input.l|[\n  "alpha"\n]']] },
        { input: { l: ["alpha", "beta", "gamma"] }, replies: ["r"] },
    ],
    [
        "a character is not split",
        'use input.t max 2 as t\ngenerate({ input: "q" })',
        { items: [["t|input.t|a"]] },
        { input: { t: "a😀" }, replies: ["r"] },
    ],
    ["a budget under 1 is an error", 'use input.t max 0.5\ngenerate({ input: "q" })', refused("INVALID_BUDGET")],
]);

rules("D5 escapes", [
    ["\\u{…} is one", raw`"\u{41}\u{1F600}"`, is("A😀")],
    ["an unknown one is a warning", raw`"\u41\q"`, { value: "u41q", warns: "UNKNOWN_ESCAPE" }],
]);

rules("D6 a call or index begins on the line of its object", [
    ["an index on the next line is a list", "x = [1, 2]\nx\n[0]", is([0])],
    ["the checker tells where the old reading was possible", "x = [1, 2]\ny = x\n[0]", { value: [0], warns: "LINE_CONTINUATION" }],
    ["on the same line it is an index", "x = [1, 2] x [0]", is(1)],
]);

rules("D7 numbers", [
    ["an integer beyond 2^53 is an error", "9007199254740993", { codes: "NUMBER_TOO_LARGE" }],
    ["2^53 is none", "9007199254740992", is(9007199254740992)],
    ["-1 is a number", "return [-1, 2 - -1, - 3]", is([-1, 3, -3])],
]);

rules("D8 parallel for", [
    [
        "mutation through a function is an error where it is seen",
        "agent A { main func(input) { r = [] parallel for x in [1] max 1 { f(r, x) } } func f(l, x) { l.add(x) } }",
        refused("PARALLEL_FOR_OUTER_MUTATION"),
    ],
    [
        "a list inside the list that is gone through is shared too",
        "agent A { main func(input) { xs = [[1], [2]] parallel for x in xs max 2 { x.add(0) x } } }",
        { fails: "value: parallel for failed: …" },
    ],
    [
        "an effect through a function is a warning",
        'agent A { main func(input) { parallel for x in [1] max 1 { f(x) } } func f(x) { N.add({ n: x }) 5 } }\nimport memory N from "file://n.jsonl"',
        { value: [5], warns: "PARALLEL_FOR_REACHES_EFFECT" },
    ],
]);

rules("D9 own keys only; capabilities never render", [
    ["constructor is an absent key", "o = id({ a: 1 }) o.constructor", fails("value: Unknown object property 'constructor'")],
    ["__proto__ is one", "o = id({ a: 1 }) o.__proto__", fails("value: Unknown object property '__proto__'")],
    ["a __proto__ key is a key", 'o = { "__proto__": { x: 1 } } p = {} return [o.__proto__, p == {}]', is([{ x: 1 }, true])],
    [
        "an alias of a tool in use (row 12)",
        't = E use t\ngenerate({ input: "q" })',
        refused("INVALID_USE_RESOURCE"),
        { before: 'import tool E from "env://process"' },
    ],
    [
        "a name that held a tool and holds data when it is used runs, as there",
        'x = E\nx = E.get({ name: "K" }).value\nuse x as x\ngenerate({ input: "q" })',
        { items: [["x|x|v"]], warns: "POSSIBLE_USE_RESOURCE" },
        { before: 'import tool E from "env://process"', env: { K: "v" }, replies: ["r"] },
    ],
    [
        "a tool that came as an argument (row 12)",
        'import llm M from "openai://x"\nimport tool E from "env://process"\nmain agent A { model M role "r" description "d" main func(input) { o = { n: 1 } o[input.k] = E f(o[input.k]) } func f(t) { use t as data\ngenerate({ input: "q" }) } }',
        { fails: "violation.capability: …", turns: 0 },
        { input: { k: "z" }, replies: ["r"] },
    ],
]);

describe("D10 file imports stay inside the tree unless granted", () => {
    test("outside", async () => {
        const outside = folderWith({ "x.txt": "secret" });
        const text = inMain("D", `import file D from "${outside}/x.txt"`);
        expect((await play(text)).codes).toEqual(["IMPORT_OUTSIDE_TREE"]);
        expect((await play(text, { grants: [outside] })).value).toBe("secret");
        expect((await play(inMain("D", 'import file D from "../../etc/hostname"'))).codes).toEqual(["IMPORT_OUTSIDE_TREE"]);
    });
});

rules("D16 sh: and file: tools refuse missing and unknown fields; D17 tools of the host that Remit does not have", [
    [
        "unknown",
        'import tool F from "sh://find"\nmain agent A { main func(input) { F.run({ path: "src", deep: 1 }) } }',
        { codes: "UNKNOWN_FIELD" },
    ],
    [
        "missing",
        'import tool F from "file://workspace"\nmain agent A { main func(input) { F.write({ path: "a" }) } }',
        { codes: "MISSING_FIELD" },
    ],
    [
        "missing, of a command",
        'import tool G from "sh://grep"\nmain agent A { main func(input) { G.run({ path: "src" }) } }',
        { codes: "MISSING_FIELD" },
    ],
    [
        "of another command",
        'import tool F from "sh://find"\nmain agent A { main func(input) { F.run({ path: "src", pattern: "x" }) } }',
        { codes: "UNKNOWN_FIELD" },
    ],
    [
        "of another kind",
        'import tool R from "sh://read-range"\nmain agent A { main func(input) { n = "1" R.run({ path: "src", start: n }) } }',
        { codes: "CONTRACT_MISMATCH" },
    ],
    [
        "at the call, where the checker does not see the fields",
        "F.run(input)",
        fails("tool: Tool F.run (sh://find) failed: there is no field 'pth'"),
        { before: 'import tool F from "sh://find"', input: { pth: "src" } },
    ],
    [
        "a host's",
        'import tool O from "host://optimizer"\nmain agent A { main func(input) { O.trial({}) } }',
        { codes: "INVALID_IMPORT_URI" },
    ],
]);

describe("D13 the layout around items", () => {
    test("no context, no fence and no line about them where there is no item; a fence of its own around each that there is", async () => {
        const text = inMain('a = generate({ input: "first" })\nuse input.q as q\nuse input.q\nb = generate({ input: "second" })\n1');
        const { turns } = await play(text, { input: { q: "Q" }, replies: ["r", "r"] });
        const [first = "", second = ""] = turns.map(seenBy);
        expect(first).not.toMatch(/Context:|tag|<item/);
        const tags = [...second.matchAll(/<(item-[0-9a-f]+)>\\nQ\\n<\/\1>/g)].map(([, tag]) => tag);
        expect(tags).toHaveLength(2);
        expect(new Set(tags).size).toBe(2);
    });
});

rules("D15 an item that its budget leaves out whole is left out with its label", [
    [
        "a list and a number that do not fit at all",
        'use input.l max 1 as gone\nuse input.n max 2 as number\nuse input.q as q\ngenerate({ input: "q" })',
        { items: [["q|input.q|Q"]] },
        { input: { l: ["alpha"], n: 12345, q: "Q" }, replies: ["r"] },
    ],
    [
        "the last one: nothing of the context is left",
        'use input.n max 2 as number\ngenerate({ input: "q" })',
        { items: [[]] },
        { input: { n: 12345 }, replies: ["r"] },
    ],
    [
        "an empty text, of which nothing is left out, keeps its label",
        'use input.e max 2 as e\ngenerate({ input: "q" })',
        { items: [["e|input.e|"]] },
        { input: { e: "" }, replies: ["r"] },
    ],
]);

describe("D18 sites of `use one of` are named by the program's own file and import path", () => {
    const slot = 'use one of {\n short: x max 1\n long: x\n} as evidence\ngenerate({ input: "q" })';
    const files = { "proj/lib/w.as": `import llm M from "mock:"\nagent W { model M role "r" description "d" main func(x) { ${slot} } }` };
    const text = inMain(`x = input.x\n${slot}\nW(x)`, 'import agent W from "../lib/w.as"');
    const picked = async (variants: { readonly [site: string]: string }): Promise<unknown> => {
        const { events, failure } = await play(text, {
            name: "proj/app/main.as",
            files,
            input: { x: "abc" },
            replies: ["r", "r"],
            variants,
        });
        if (failure !== undefined) return failure.message;
        return events.flatMap(({ kind, data }) => {
            const { variant } = data as { variant?: { site_id: string; picked: string } };
            return kind === "use" && variant !== undefined ? [`${variant.site_id} ${variant.picked}`] : [];
        });
    };

    test("wherever the tree begins; a name from there, or from the workspace, is read where it is unambiguous", async () => {
        const chosen = ["main.as#A.main[evidence] long", "../lib/w.as#W.main[evidence] short"];
        for (const site of ["main.as#A.main[evidence]", "proj/app/main.as#A.main[evidence]", "app/main.as#A.main[evidence]"])
            expect(await picked({ [site]: "long" })).toEqual(chosen);
        expect(await picked({ "../lib/w.as#W.main[evidence]": "long" })).toEqual([
            "main.as#A.main[evidence] short",
            "../lib/w.as#W.main[evidence] long",
        ]);
        expect(await picked({ "other.as#A.main[evidence]": "long" })).toBe("there is no use one of at other.as#A.main[evidence]");
    });
});

test("the main func of an imported agent is run where it is named (`--agent`)", async () => {
    const files = { "w.as": "agent W { main func(x) { x + 1 } }\nagent Other { main func(x) { x } }" };
    const text = 'import agent W from "./w.as"\nmain agent A { main func(input) { W(input) } }';
    expect((await play(text, { files, input: 1, entry: { agent: "W" } })).value).toBe(2);
    const { failure } = await play(text, { files, input: 1, entry: { agent: "Other" } });
    expect(failure).toMatchObject({ message: "there is no agent 'Other' in main.as", hint: "it declares A, W" });
});

describe("D11, D12 and row 37: the ledger is the trace, and survives failure", () => {
    test("a run that failed has its ledger up to the failure, each attempt's prompt and reply in it", async () => {
        const { events, failure } = await play(
            inMain('use input.a as a\nx = generate({ input: "q", attempts: 2 }) -> {\n ok: boolean\n n: number\n}\nx'),
            { input: { a: "A" }, replies: ["first words", "second words"] },
        );
        expect(failure?.kind).toBe("contract");
        const attempts = events
            .filter((event) => event.kind === "generate.attempt")
            .map((event) => event.data as { messages: unknown; reply: { text: string } });
        expect(attempts.map((attempt) => attempt.reply.text)).toEqual(["first words", "second words"]);
        expect(JSON.stringify(attempts[1]?.messages)).toContain("Previous generation failed.");
        expect(events.at(-1)?.kind).toBe("run.ended");
        expect(events.some((event) => event.kind === "failure")).toBe(true);
    });

    test("a failure has its file in programs of several files", async () => {
        const { failure } = await play('import agent W from "./sub/w.as"\nmain agent A { main func(input) { W(0) } }', {
            files: { "sub/w.as": "agent W {\n    main func(x) { 1 / x }\n}" },
        });
        expect(failure).toMatchObject({ kind: "value", message: "division by zero", site: { file: "sub/w.as", line: 2, column: 20 } });
    });

    test("failures are caught", async () => {
        const { value } = await play(
            inMain(
                'r = try { generate({ input: "q" }) -> {\n ok: boolean\n n: number\n} } catch f { f.kind }\ns = try { 1 / 0 } catch f { f.message }\nreturn [r, s]',
            ),
            { replies: ["words"] },
        );
        expect(value).toEqual(["contract", "division by zero"]);
    });
});

/** Programs of the eras before, as their manuals have them; the value they give with the replies. */
const OLD: readonly (readonly [
    era: string,
    text: string,
    replies: readonly (string | object)[],
    value: unknown,
    items: readonly string[],
])[] = [
    [
        "era 0",
        `import llm M from "openai://gpt"
main agent A {
    model M
    role "a tester"
    description "Tests."
    main func(input) {
        scratch = []
        use input.q < 2k
        count = 0
        done = false
        loop until done < 6 {
            count = count + 1
            done = count == 2
        }
        for x in input.list < 4 {
            scratch.add({ item: x
                seen: true })
        }
        return generate({ input: "Go.", limit: 800 }) { return { ok boolean
            title string } }
    }
}`,
        [{ ok: true, title: "t" }],
        { ok: true, title: "t" },
        ["0|input.q|Q"],
    ],
    [
        "era A",
        `import llm M from "openai://gpt"
main agent A {
    model M
    role "a tester"
    description "Tests."
    main func(input) {
        use input.q < 0.001k as user question
        use input.list as the list
        generate({ input: "Go."
            max_output: 800 }) -> { ok boolean  title string }
    }
}`,
        [{ ok: "true", title: "t" }],
        { ok: true, title: "t" },
        ["user question|input.q|Q", "the list|input.list|[\n  1,\n  2\n]"],
    ],
    [
        "era B",
        `import llm M from "openai://gpt"
main agent A {
    model M
    role "a tester"
    description "Tests."
    main func(input) {
        use input.q max 2k as "user question"
        n = 0
        loop until n > 1 max 6 { n += 1 }
        r = generate({ input: "Go.", max_output: 1k }) -> {
            ok boolean
            tags list[string]
            title
        }
        r
    }
}`,
        [{ ok: true, tags: ["x"], title: "t" }],
        { ok: true, tags: ["x"], title: "t" },
        ["user question|input.q|Q"],
    ],
];

rules("0.1 `use x < 10`, a budget without a unit", [
    [
        "in a file that is refused today for another spelling",
        'use input.q < 3 as q\nuse input.q < 9\nx = 1 < 2\ngenerate({ input: "q", limit: 80 })',
        { items: [["q|input.q|abc", "1|input.q|abcdef"]], warns: "OLD_SPELLING" },
        { input: { q: "abcdef" }, replies: ["r"] },
    ],
    [
        "where what is bounded is certainly no number",
        'use D < 3\nuse [1, 2] < 4 as l\ngenerate({ input: "q" })',
        { items: [["0|D|abc", "l|[1, 2]|[]"]], warns: "OLD_SPELLING" },
        { before: 'import file D from "./d.txt"', files: { "d.txt": "abcdef" }, replies: ["r"] },
    ],
    [
        "where it is a parameter whose contract takes no number, and no other value is assigned to it",
        'import llm M from "default:"\nmain agent A {\nmodel M\nrole "r"\ndescription "d"\nmain func(q: string) {\nuse q < 3 as q\ngenerate({ input: "q" })\n}\n}',
        { items: [["q|q|abc"]], warns: "OLD_SPELLING" },
        { input: { q: "abcdef" }, replies: ["r"] },
    ],
    [
        "a comparison where a number may be assigned to it",
        'import llm M from "default:"\nmain agent A {\nmodel M\nrole "r"\ndescription "d"\nmain func(q: string) {\nq = 2\nuse q < 3 as q\ngenerate({ input: "q" })\n}\n}',
        { items: [["q|q < 3|true"]] },
        { input: { q: "abcdef" }, replies: ["r"] },
    ],
    [
        "elsewhere it is a comparison, as today",
        'use input.n < 9 as small\nuse D < 3\ngenerate({ input: "q" })',
        { items: [["small|input.n < 9|true", "1|D|abc"]] },
        { input: { n: 5 }, before: 'import file D from "./d.txt"', files: { "d.txt": "abcdef" }, replies: ["r"] },
    ],
]);

describe("0.1 old spellings run with a warning and a fix, after which there is none", () => {
    test.each(OLD)("%s", async (_era, text, replies, value, items) => {
        const setting = { input: { q: "Q", list: [1, 2] }, replies: replies as never };
        const first = await play(text, setting);
        expect(first.codes).toEqual([]);
        expect(first.value).toEqual(value);
        expect(first.prompts[0]?.items.map((item) => `${item.heading}|${item.source}|${item.text}`)).toEqual(items);
        expect(first.warnings).toContain("OLD_SPELLING");
        const fixes = first.diagnostics.flatMap((one) => (one.code === "OLD_SPELLING" ? (one.fixes ?? []) : []));
        expect(fixes.every((fix) => fix.safe)).toBe(true);
        const fixed = applyFixes(text, fixes);
        const second = await play(fixed, setting);
        expect(second.warnings).not.toContain("OLD_SPELLING");
        expect(second.codes).toEqual([]);
        const seen = (turns: typeof first.turns): string[] => turns.map(seenBy);
        expect([second.value, seen(second.turns)]).toEqual([first.value, seen(first.turns)]);
    });
});
