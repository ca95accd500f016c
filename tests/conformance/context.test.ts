/** Sections 1.8 and 1.12: `use`, labels, budgets, clipping; rows 1 to 18, 24 to 27 of the checklist: what a model sees. */
import { describe, expect, test } from "vitest";
import { fails, is, refused, rules, runs } from "./cases.ts";
import { inMain, play, seenBy, systemText, userText } from "./harness.ts";

const R = { replies: ["r", "r", "r", "r", "r", "r"] };
const GEN = 'generate({ input: "q" })';

rules("1.8 items, order, labels, source expressions, texts", [
    [
        "in the order of declaration, labelled or numbered",
        `use input.a\nuse input.b as user\nuse input.c max 4k as "past observations"\nuse input.d max 2k\n${GEN}`,
        { items: [["0|input.a|1", "user|input.b|2", "past observations|input.c|3", "3|input.d|4"]] },
        { ...R, input: { a: 1, b: 2, c: 3, d: 4 } },
    ],
    [
        "nothing is deduplicated",
        `use input.a as x\nuse input.a as x\n${GEN}`,
        { items: [["x|input.a|1", "x|input.a|1"]], warns: "DUPLICATE_LABEL" },
        { ...R, input: { a: 1 } },
    ],
    [
        "agent level first, then outer to inner",
        `main agent A { model M role "r" description "d"\nuse D as file\nuse "lit" as literal\nmain func(input) { use input.a as outer\nif true { use input.b as inner\n${GEN} } } }\nimport llm M from "mock:"\nimport file D from "./d.txt"`,
        { items: [["file|D|text of d", 'literal|"lit"|lit', "outer|input.a|1", "inner|input.b|2"]] },
        { ...R, input: { a: 1, b: 2 }, files: { "d.txt": "text of d" } },
    ],
    [
        "strings render as themselves",
        `use input.a\n${GEN}`,
        { items: [['0|input.a|a "quoted"\n line']] },
        { ...R, input: { a: 'a "quoted"\n line' } },
    ],
    [
        "everything else renders as JSON indented by two",
        `use input\nuse input.b\nuse input.b[0]\nuse none\nuse true\nuse 1.5\n${GEN}`,
        {
            items: [
                [
                    '0|input|{\n  "a": "x",\n  "b": [\n    1,\n    {}\n  ],\n  "c": []\n}',
                    "1|input.b|[\n  1,\n  {}\n]",
                    "2|input.b[0]|1",
                    "3|none|null",
                    "4|true|true",
                    "5|1.5|1.5",
                ],
            ],
        },
        { ...R, input: { a: "x", b: [1, {}], c: [] } },
    ],
    [
        "source expressions are printed again",
        `a = { b: [1] }\nuse a.b[0]\nuse {k:a.b,'l m':"s"}\nuse [a , "x"]\nuse a.b[0]+1\nuse "q\\"\\n"\nuse not a and 1<2 or a==none\nuse a.b.length * 2 - 1\n${GEN}`,
        {
            items: [
                [
                    "0|a.b[0]|1",
                    '1|{ k: a.b, "l m": "s" }|{\n  "k": [\n    1\n  ],\n  "l m": "s"\n}',
                    '2|[a, "x"]|[\n  {\n    "b": [\n      1\n    ]\n  },\n  "x"\n]',
                    "3|a.b[0] + 1|2",
                    '4|"q\\"\\n"|q"\n',
                    "5|not a and 1 < 2 or a == none|false",
                    "6|a.b.length * 2 - 1|1",
                ],
            ],
        },
        R,
    ],
    [
        "a variable named like the label does not change it",
        `user = "x"\nuse input.a as user\n${GEN}`,
        { items: [["user|input.a|1"]] },
        { ...R, input: { a: 1 } },
    ],
    [
        "a label never makes a message of its own",
        `use input.a as user\n${GEN}`,
        { items: [["user|input.a|1"]], turns: 1 },
        { ...R, input: { a: 1 } },
    ],
    [
        "file imports: text and JSON",
        `use D as t\nuse J\nuse J.n[0]\n${GEN}`,
        { items: [["t|D|plain", '1|J|{\n  "n": [\n    7\n  ]\n}', "2|J.n[0]|7"]] },
        { ...R, before: 'import file D from "./d.txt"\nimport file J from "./j.json"', files: { "d.txt": "plain", "j.json": '{"n":[7]}' } },
    ],
    ["an error in the source is told at the generate", `use input.nope\n${GEN}`, fails("value: Unknown object property 'nope'"), R],
    ["… and not where no generate sees it", "use input.nope\n1", is(1)],
]);

rules("1.8 refused", [
    ...(["system", "assistant", "tool", "developer"] as const).map(
        (label) => [`reserved: ${label}`, `use input.a as ${label}\n${GEN}`, refused("RESERVED_CONTEXT_LABEL")] as const,
    ),
    ["reserved as a string too", `use input.a as "system"\n${GEN}`, refused("RESERVED_CONTEXT_LABEL")],
    ["a call of a memory", `use N.query({})\n${GEN}`, refused("INVALID_USE_CALL"), { before: 'import memory N from "file://n.jsonl"' }],
    ["a generate", `use generate({ input: "x" })\n${GEN}`, refused("INVALID_USE_CALL")],
    ["a parallel for", `use parallel for x in [1] max 1 { x }\n${GEN}`, refused("INVALID_USE_CALL")],
    ["a call deep inside", `use { a: [id(1)] }\n${GEN}`, refused("INVALID_USE_CALL")],
    [
        "tool, llm, agent, memory, function",
        `use T\nuse M\nuse A\nuse N\nuse id\n${GEN}`,
        refused("INVALID_USE_RESOURCE INVALID_USE_RESOURCE INVALID_USE_RESOURCE INVALID_USE_RESOURCE INVALID_USE_RESOURCE"),
        { before: 'import tool T from "env://process"\nimport memory N from "file://n.jsonl"' },
    ],
    [
        "inside literals",
        `use { a: T }\nuse [M]\n${GEN}`,
        refused("INVALID_USE_RESOURCE INVALID_USE_RESOURCE"),
        { before: 'import tool T from "env://process"' },
    ],
    ["in a member", `use T.uri\n${GEN}`, refused("INVALID_USE_RESOURCE"), { before: 'import tool T from "env://process"' }],
    ["an unknown name", `use nope\n${GEN}`, refused("UNKNOWN_IDENTIFIER")],
    [
        "agent level: anything but file imports and literals",
        "main agent A { use input.a as a\nuse x\nmain func(input) { 1 } }",
        { codes: "INVALID_AGENT_USE INVALID_AGENT_USE" },
    ],
    ["agent level: calls", "main agent A { use f() as a\nmain func(input) { 1 } func f() { 1 } }", { codes: "INVALID_USE_CALL" }],
    ["budget 0", `use input.a max 0\n${GEN}`, refused("INVALID_BUDGET")],
    ["an unknown unit", `use input.a max 2m\n${GEN}`, refused("INVALID_BUDGET_UNIT")],
    ["the unit is case-sensitive", `use input.a max 2K\n${GEN}`, refused("INVALID_BUDGET_UNIT")],
    ["one of: a candidate twice", `use one of {\n a: input.a\n a: input.b\n} as x\n${GEN}`, refused("DUPLICATE_USE_ONE_OF_CANDIDATE")],
    [
        "one of: two selected",
        `use one of {\n a: input.a selected\n b: input.b selected\n} as x\n${GEN}`,
        refused("MULTIPLE_USE_ONE_OF_SELECTED"),
    ],
    ["one of: calls and capabilities", `use one of {\n a: id(1)\n b: M\n} as x\n${GEN}`, refused("INVALID_USE_CALL INVALID_USE_RESOURCE")],
    ["one of: a reserved label", `use one of {\n a: input.a\n b: empty\n} as system\n${GEN}`, refused("RESERVED_CONTEXT_LABEL")],
]);

const CHOICE = (selected: string): string =>
    `use one of {\n none: empty${selected === "none" ? " selected" : ""}\n compact: input.c max 3\n verbose: input.v max 4k${selected === "verbose" ? " selected" : ""}\n} as evidence\n${GEN}`;
const given = { ...R, input: { c: "abcdef", v: "long text" } };
const SITE = "main.as#A.__main[evidence]";

rules("1.8 use one of (row 26)", [
    ["the first candidate where none is selected; empty leaves the slot out", CHOICE(""), { items: [[]] }, given],
    ["the selected one", CHOICE("verbose"), { items: [["evidence|input.v|long text"]] }, given],
    [
        "a budget belongs to its candidate",
        `use one of {\n a: input.c max 3\n b: empty\n} as e\n${GEN}`,
        { items: [["e|input.c|abc"]] },
        given,
    ],
    ["empty selected", CHOICE("none"), { items: [[]] }, given],
    [
        "a candidate called empty's value and a string are different things",
        `use one of {\n empty: input.c\n b: "empty"\n} as e\n${GEN}`,
        { items: [["e|input.c|abcdef"]] },
        given,
    ],
    [
        "only the chosen expression is evaluated",
        `use one of {\n a: input.c\n b: input.nope\n} as e\n${GEN}`,
        { items: [["e|input.c|abcdef"]] },
        given,
    ],
    [
        "at the level of the agent",
        `main agent A { model M role "r" description "d"\nuse one of {\n a: D\n b: "other" selected\n} as e\nmain func(input) { ${GEN} } }\nimport llm M from "mock:"\nimport file D from "./d.txt"`,
        { items: [['e|"other"|other']] },
        { ...R, files: { "d.txt": "x" } },
    ],
]);

describe("1.8 use one of: hint, trace, names", () => {
    const siteOf = async (): Promise<string> => {
        const { prompts, events } = await play(inMain(CHOICE("verbose")), given);
        expect(prompts[0]?.items[0]?.variant).toMatchObject({
            picked: "verbose",
            available: ["none", "compact", "verbose"],
            reason: "selected",
            empty: false,
        });
        const use = events.find((event) => event.kind === "use")?.data as { variant: { site_id: string } };
        return use.variant.site_id;
    };

    test("the site id is PATH#Agent.func[label]", async () => {
        expect(await siteOf()).toBe(SITE.replace("__main", "main"));
    });

    test("a hint comes before what is selected, with its reason in the trace (row 27)", async () => {
        const site = await siteOf();
        const { prompts, turns } = await play(inMain(CHOICE("verbose")), { ...given, variants: { [site]: "compact" } });
        expect(prompts[0]?.items.map((item) => item.text)).toEqual(["abc"]);
        expect(prompts[0]?.items[0]?.variant).toEqual({
            site_id: site,
            picked: "compact",
            available: ["none", "compact", "verbose"],
            reason: "trial",
            empty: false,
        });
        expect(seenBy(turns[0] as never)).not.toMatch(/compact|verbose/);
    });

    test("a hint for the empty candidate", async () => {
        const { prompts } = await play(inMain(CHOICE("verbose")), { ...given, variants: { [await siteOf()]: "none" } });
        expect(prompts[0]?.items).toEqual([]);
    });

    test("an unknown name is an error", async () => {
        const { failure } = await play(inMain(CHOICE("verbose")), { ...given, variants: { [await siteOf()]: "nope" } });
        expect(failure?.kind).toBe("value");
        expect(failure?.message).toContain("nope");
    });

    test("the second use of a label in a function has a number", async () => {
        const { events } = await play(inMain(`${CHOICE("verbose")}\n${CHOICE("none")}`), given);
        const sites = events
            .filter((event) => event.kind === "use")
            .map((event) => (event.data as { variant: { site_id: string } }).variant.site_id);
        expect(sites).toEqual(["main.as#A.main[evidence]", "main.as#A.main[evidence#2]"]);
    });
});

rules("rows 4 to 10: lazy, scoped, bounded", [
    [
        "4: resolved when the prompt is built",
        `s = []\nuse s.summary as s\ns.add(1)\ns.add(2)\n${GEN}`,
        { items: [["s|s.summary|[\n  1,\n  2\n]"]] },
        R,
    ],
    [
        "4: once a generate, all its attempts share the values",
        `s = []\nuse s as s\ngenerate({ input: "q", attempts: 2 }) -> { ok: boolean }`,
        { items: [["s|s|[]"]], turns: 2, value: { ok: true } },
        { replies: ["I cannot say.", { ok: true }] },
    ],
    [
        "4: each generate anew",
        `s = []\nuse s as s\na = ${GEN}\ns.add(a)\nb = ${GEN}\nb`,
        { items: [["s|s|[]"], ['s|s|[\n  "one"\n]']] },
        { replies: ["one", "two"] },
    ],
    ["5: in the scope where it is declared", `x = 1\nuse x as x\nif true { x = 2\n${GEN} }`, { items: [["x|x|2"]] }, R],
    ["5: a name of a child scope does not shadow it", `x = 1\nuse x as x\nfor y in [5] max 1 { z = y\n${GEN} }`, { items: [["x|x|1"]] }, R],
    [
        "5: a loop variable of the same name does not shadow it",
        `x = 1\nuse x as x\nfor x in [5] max 1 { ${GEN} }`,
        { items: [["x|x|1"]] },
        R,
    ],
    [
        "6: inherited by child scopes, not leaked out",
        `use input.a as a\nif true { use input.b as b\nx = ${GEN} }\n${GEN}`,
        { items: [["a|input.a|1", "b|input.b|2"], ["a|input.a|1"]] },
        { ...R, input: { a: 1, b: 2 } },
    ],
    [
        "6: a generate before the use does not see it",
        `x = ${GEN}\nuse input.a as a\n${GEN}`,
        { items: [[], ["a|input.a|1"]] },
        { ...R, input: { a: 1 } },
    ],
    [
        "7: iterations do not accumulate",
        `for item in [1, 2, 3] max 3 { use item as item\nx = ${GEN} }`,
        { items: [["item|item|1"], ["item|item|2"], ["item|item|3"]] },
        R,
    ],
    [
        "7: nor do passes of loop and repeat",
        `n = 0\nrepeat * 2 { n += 1\nuse n as n\nx = ${GEN} }\nloop until n == 4 max 9 { n += 1\nuse n as n\nx = ${GEN} }`,
        { items: [["n|n|1"], ["n|n|2"], ["n|n|3"], ["n|n|4"]] },
        R,
    ],
    [
        "8: a helper sees the agent's items and its own",
        `import llm M from "mock:"\nmain agent A { model M role "r" description "d"\nuse "g" as g\nmain func(input) { use input.a as a\nhelper(5) }\nfunc helper(x) { use x as x\n${GEN} } }`,
        { items: [['g|"g"|g', "x|x|5"]] },
        { ...R, input: { a: 1 } },
    ],
    [
        "8: and its items do not come back",
        `import llm M from "mock:"\nmain agent A { model M role "r" description "d"\nmain func(input) { helper(5)\n${GEN} }\nfunc helper(x) { use x as x\n1 } }`,
        { items: [[]], warns: "" },
        R,
    ],
    [
        "9: a callee agent sees its own agent's items alone",
        `import llm M from "mock:"\nmain agent A { model M role "r" description "d"\nuse "mine" as mine\nmain func(input) { use input.a as a\nB(7) } }\nagent B { model M role "other" description "e"\nuse "theirs" as theirs\nmain func(x) { use x as x\n${GEN} } }`,
        { items: [['theirs|"theirs"|theirs', "x|x|7"]] },
        { ...R, input: { a: 1 } },
    ],
    [
        "10: shown in every function of the agent",
        `import llm M from "mock:"\nimport file D from "./d.txt"\nmain agent A { model M role "r" description "d"\nuse D as doc\nmain func(input) { x = ${GEN}\nf() }\nfunc f() { ${GEN} } }`,
        { items: [["doc|D|t"], ["doc|D|t"]] },
        { ...R, files: { "d.txt": "t" } },
    ],
    ["15: expression, max, as", "use input.a as a max 2k\n1", { codes: "SYNTAX" }],
    ["configuration is scoped: the nearest wins, and leaves with its block", `if true { role "inner"\nx = ${GEN} }\n${GEN}`, runs, R],
]);

describe("1.6 configuration and 24, 25: identity", () => {
    test("role and description make the system message; the nearest ones count", async () => {
        const { turns } = await play(
            inMain(`if true { role "an inner one"\nx = ${GEN} }\ndescription "Later."\ny = ${GEN}\nother()`).replace(
                "func id(x) { x }",
                `func other() { ${GEN} }`,
            ),
            R,
        );
        expect(turns.map(systemText)).toEqual([
            "You are an inner one.\nTests one rule.",
            "You are a tester.\nLater.",
            "You are a tester.\nTests one rule.",
        ]);
    });

    test("model may be overridden in a scope", async () => {
        const { turns } = await play(inMain(`if true { model M2\nx = ${GEN} }\n${GEN}`, 'import llm M2 from "anthropic://claude-x"'), R);
        expect(turns.map((turn) => turn.model)).toEqual([
            { name: "M2", uri: "anthropic://claude-x" },
            { name: "M", uri: "openai://model-9" },
        ]);
    });

    test("25: no URI is in any text that a model sees", async () => {
        const { turns } = await play(inMain(`use input.a as a\n${GEN}`), { ...R, input: { a: 1 } });
        expect(seenBy(turns[0] as never)).not.toMatch(/openai|model-9/);
    });

    test("24: context, then instruction, then contract, each where the original has it", async () => {
        const { turns } = await play(inMain(`use input.a as q\nuse input.b\ngenerate({ input: "Do it." }) -> {\n ok: boolean\n}`), {
            replies: [{ ok: true }],
            input: { a: "A text", b: [1] },
        });
        const text = userText(turns[0] as never);
        const at = [
            "Context:",
            "[q]\nsource: input.a\n",
            "A text",
            "[1]\nsource: input.b\n",
            "[\n  1\n]",
            "Instruction:\nDo it.",
            "Return JSON matching this schema:\n{",
        ].map((part) => text.indexOf(part));
        expect(at.every((place, index) => place >= 0 && (index === 0 || place > (at[index - 1] as number)))).toBe(true);
        expect(JSON.parse(text.slice(text.indexOf("schema:\n") + 8))).toEqual({
            type: "object",
            properties: { ok: { type: "boolean" } },
            required: ["ok"],
            additionalProperties: false,
        });
    });

    test("no context layer where nothing is visible, no schema where there is no contract", async () => {
        const { turns } = await play(inMain(GEN), R);
        expect(userText(turns[0] as never)).toBe("Instruction:\nq");
    });
});

describe("rows 1 to 3: no implicit capture", () => {
    test("1: locals, tool results, memory, input and earlier replies are in no request unless used", async () => {
        const marker = (name: string): string => `MARK-${name}-7f3a`;
        const { turns, value } = await play(
            inMain(
                `local = "${marker("local")}"
                secret = E.get({ name: "X" }).value
                N.add({ text: "${marker("memory")}" })
                found = N.query({})
                other = helper("${marker("argument")}")
                first = generate({ input: "one" })
                second = generate({ input: "two" })
                [local, secret, found.length, other, first]`.replace("[local", "return [local"),
                'import tool E from "env://process"\nimport memory N from "file://n.jsonl"\nimport file D from "./d.txt"',
            ).replace("func id(x) { x }", 'func helper(x) { y = generate({ input: "three" }) x + D }'),
            {
                env: { X: marker("env") },
                files: { "d.txt": marker("file") },
                input: { q: marker("input") },
                replies: [marker("reply0"), marker("reply1"), marker("reply2")],
            },
        );
        expect(turns.length).toBe(3);
        for (const turn of turns) expect(JSON.stringify(turn)).not.toContain("MARK-");
        expect(JSON.stringify(value)).toContain("MARK-env");
    });

    test("2: the trace never feeds a prompt", async () => {
        const { turns } = await play(
            inMain('a = generate({ input: "one" })\nuse a as first\nb = generate({ input: "two" })\nc = generate({ input: "three" })\nb'),
            { replies: ["FIRST", "SECOND", "THIRD"] },
        );
        expect(turns.map((turn) => [/FIRST/.test(seenBy(turn)), /SECOND/.test(seenBy(turn))])).toEqual([
            [false, false],
            [true, false],
            [true, false],
        ]);
    });

    test("3: what is spliced into an instruction is recorded with its origins, and warned of", async () => {
        const { events, warnings } = await play(inMain('generate({ input: "about " + input.q })'), { replies: ["r"], input: { q: "x" } });
        const started = events.find((event) => event.kind === "generate.started")?.data as {
            instruction: { text: string; labels: string[] };
        };
        expect(started.instruction).toMatchObject({ text: "about x", labels: ["user"] });
        expect(warnings).toContain("INSTRUCTION_DATA");
    });
});

const ALPHABET = "abcdefghijklmnopqrstuvwxyz";

describe("1.12 clipping (rows 16 to 18)", () => {
    const clip = async (value: unknown, budget: string): Promise<readonly [string, boolean, number, number]> => {
        const { prompts } = await play(inMain(`use input.v max ${budget}\n${GEN}`), { ...R, input: { v: value } as never });
        const item = prompts[0]?.items[0];
        return item === undefined ? ["", true, 0, 0] : [item.text, item.clipped, item.original_size, item.clipped_size];
    };

    test("the alphabet at 5: sizes 26 and 5", async () => {
        expect(await clip(ALPHABET, "5")).toEqual(["abcde", true, 26, 5]);
    });

    test("a list keeps whole items (the original's vector fits at 25: it counts no quotes, we count what is shown)", async () => {
        expect((await clip(["alpha", "beta", "gamma"], "25"))[0]).toBe('[\n  "alpha",\n  "beta"\n]');
    });

    test("an object keeps whole fields", async () => {
        expect((await clip({ first: "alpha", second: "beta" }, "25"))[0]).toBe('{\n  "first": "alpha"\n}');
    });

    test("an oversized first element gives an empty list or object", async () => {
        expect((await clip([ALPHABET, "a"], "10"))[0]).toBe("[]");
        expect((await clip({ a: ALPHABET, b: 1 }, "10"))[0]).toBe("{}");
    });

    test("fractions and k", async () => {
        expect((await clip(ALPHABET, "5.9"))[0]).toBe("abcde");
        expect((await clip(ALPHABET.repeat(50), "1k"))[0]).toHaveLength(1000);
        expect((await clip(ALPHABET, "0.003k"))[0]).toBe("abc");
    });

    test("18: an untouched value is whole, with equal sizes", async () => {
        expect(await clip("short", "4k")).toEqual(["short", false, 5, 5]);
        expect(await clip([1, 2], "4k")).toEqual(["[\n  1,\n  2\n]", false, 12, 12]);
        expect(await clip("exact", "5")).toEqual(["exact", false, 5, 5]);
    });

    test("a character is never split", async () => {
        expect((await clip("ab😀cd", "3"))[0]).toBe("ab");
        expect((await clip("ab😀cd", "4"))[0]).toBe("ab😀");
    });

    test("16: a context budget is no output budget, and the other way round", async () => {
        const { turns, prompts } = await play(inMain(`use input.v max 10\nx = ${GEN}\ngenerate({ input: "q", max_output: 2k })`), {
            ...R,
            input: { v: ALPHABET },
        });
        expect(turns.map((turn) => turn.maxOutput)).toEqual([undefined, 2000]);
        expect(prompts.map((prompt) => prompt.items.map((item) => item.text))).toEqual([["abcdefghij"], ["abcdefghij"]]);
    });

    test("no budget: whole, however long", async () => {
        const { prompts } = await play(inMain(`use input.v\n${GEN}`), { ...R, input: { v: ALPHABET.repeat(1000) } });
        expect(prompts[0]?.items[0]).toMatchObject({ clipped: false, original_size: 26000, clipped_size: 26000 });
    });
});
