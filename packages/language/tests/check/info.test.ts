/** What the checker tells the later phases: effects, changed parameters, and what every prompt is made of. */
import { expect, test } from "vitest";
import { promptSurfaces } from "../../src/index.ts";
import { run } from "./cases.ts";

function functions(text: string): Record<string, string> {
    return Object.fromEntries(
        [...run(text).info.functions.values()].map((f) => [
            f.name,
            [...f.effects, ...f.mutates.map((name) => `changes ${name}`)].join(" "),
        ]),
    );
}

test("effects are the least that hold, through calls, circles, aliases and functions given in place of lambdas", () => {
    expect(
        functions(`
            import llm M from "mock:"
            import tool Repo from "file://workspace"
            import memory Notes from "file://n.jsonl"
            func pure(x) { x + 1 }
            func reads(p) { Repo.read({ path: p }) }
            func both(p) { pure(reads(p)) }
            func ping(n) { pong(n) }
            func pong(n) { if n { ping(n - 1) } else { Notes.add({ n: n }) } }
            func alias() { t = Repo  t.list({ path: "." }) }
            func given(t) { t.write({}) }
            func gives() { given(Repo) }
            func asks() { model M role "r" description "d" generate({ input: "x", tools: [Repo.read, Repo] }) }
            func fan(xs) { parallel for x in xs max 3 { reads(x) } }
            func mapped(xs) { xs.map(pure) }
            main func(input) { both(input) }
        `),
    ).toEqual({
        pure: "",
        reads: "tool:Repo.read",
        both: "tool:Repo.read",
        ping: "memory:Notes.add",
        pong: "memory:Notes.add",
        alias: "tool:Repo.list",
        given: "tool:Repo.write",
        gives: "tool:Repo.write",
        asks: "model tool:Repo.* tool:Repo.read",
        fan: "tool:Repo.read",
        mapped: "",
        __main: "tool:Repo.read",
    });
});

test("changed parameters: direct, through names, results, functions and circles", () => {
    expect(
        functions(`
            func push(xs, x) { xs.add(x) }
            func keep(o) { o.seen = true }
            func item(xs) { xs[0].n = 1 }
            func each(xs) { for x in xs max 3 { x.n = 1 } }
            func named(a, b) { c = b  c.add(1) }
            func through(a, b) { push(b, a) }
            func result(a) { same(a).add(1) }
            func same(x) { x }
            func fresh(a) { b = [...a]  b.add(1) }
            func own(a) { b = []  b.add(a) }
            func even(xs, n) { if n { odd(xs, n - 1) } }
            func odd(xs, n) { xs.add(n)  even(xs, n) }
            func over(a) { a = []  a.add(1) }
        `),
    ).toEqual({
        push: "changes xs",
        keep: "changes o",
        item: "changes xs",
        each: "changes xs",
        named: "changes b",
        through: "changes b",
        result: "changes a",
        same: "",
        fresh: "",
        own: "",
        even: "changes xs",
        odd: "changes xs",
        over: "changes a",
    });
});

test("prompt surfaces: items outer to inner, and what is left out", () => {
    const surfaces = promptSurfaces(
        run(`import llm M from "mock:"
import llm N from "mock:n"
import file Doc from "./doc.md"
import file Spare from "./spare.md"
main agent A {
    model M
    role "a tester"
    description "Tests."
    use Doc max 2k as rules
    func helper(x) { use x
        generate({ input: "Second.", model: N }) -> list[string] }
    main func(input, secret) {
        use input.question max 4k tokens keep end as "the question"
        gone = 1
        if gone { use gone as "in the block"
            inner = 2 }
        token = "t"
        for word in input.words max 3 {
            use one of {
                none: empty
                all: input.words max 500 selected
            } as words
            answer = generate({ input: "First " + word }) -> { ok: boolean }
            later = answer
        }
        helper(token)
    }
}`),
    );
    expect(
        surfaces.map(({ site, ...rest }) => ({
            ...rest,
            line: site.line,
            items: rest.items.map(({ from, ...item }) => ({ ...item, line: from.line })),
        })),
    ).toEqual([
        {
            agent: "A",
            func: "helper",
            model: "N",
            role: "a tester",
            description: "Tests.",
            items: [
                { source: "Doc", label: "rules", budget: "2k", image: false, priority: null, line: 9 },
                { source: "x", label: null, budget: null, image: false, priority: null, line: 10 },
            ],
            contextMax: null,
            tools: [],
            attempts: 1,
            options: [],
            instruction: '"Second."',
            instructionTakesData: false,
            contract: "list[string]",
            notInPrompt: ["Spare"],
            line: 11,
        },
        {
            agent: "A",
            func: "main",
            model: "M",
            role: "a tester",
            description: "Tests.",
            items: [
                { source: "Doc", label: "rules", budget: "2k", image: false, priority: null, line: 9 },
                { source: "input.question", label: "the question", budget: "4k tokens keep end", image: false, priority: null, line: 13 },
                {
                    source: "input.words",
                    label: "words",
                    budget: "500",
                    image: false,
                    priority: null,
                    line: 19,
                    candidates: [
                        { name: "none", source: null, budget: null, selected: false },
                        { name: "all", source: "input.words", budget: "500", selected: true },
                    ],
                },
            ],
            contextMax: null,
            tools: [],
            attempts: 1,
            options: [],
            instruction: '"First " + word',
            instructionTakesData: true,
            contract: "{ ok: boolean }",
            notInPrompt: ["secret", "gone", "token", "Spare"],
            line: 23,
        },
    ]);
});

test("prompt surfaces: pictures, priorities, the bound of all items, tools, attempts and options", () => {
    const [first, second, third] = promptSurfaces(
        run(`import llm M from "mock:"
import tool Files from "file://workspace"
import tool Web from "https://example.com"
import file Doc from "./doc.md"
main agent A {
    model M
    role "a tester"
    description "Tests."
    context max 20k tokens
    use Doc max 2k priority 3 as rules
    main func(input: { picture: string }) {
        use image input.picture as "the picture"
        generate({ input: "First.", tools: [Files.read, Web], attempts: 3, turns: 4, max_output: 2k, timeout: 30s })
        if input.picture == "" {
            context max 500
            Held = Files
            generate({ input: "Second.", tools: [Held] })
        }
        generate({ input: "Third." })
    }
}`),
    );
    expect(first?.items.map(({ source, image, priority }) => ({ source, image, priority }))).toEqual([
        { source: "Doc", image: false, priority: 3 },
        { source: "input.picture", image: true, priority: null },
    ]);
    expect([first, second, third].map((one) => one?.contextMax)).toEqual(["20k tokens", "500", "20k tokens"]);
    expect(first).toMatchObject({
        tools: [
            { source: "Files.read", uri: "file://workspace" },
            { source: "Web", uri: "https://example.com" },
        ],
        attempts: 3,
        options: ["turns: 4", "max_output: 2k", "timeout: 30s"],
    });
    expect(second?.tools).toEqual([{ source: "Held", uri: null }]);
    expect(third).toMatchObject({ tools: [], attempts: 1, options: [] });
});

test("D14: a note stands at each call whose error nothing looks at, and at no other", () => {
    const { diagnostics } = run(`
        import tool S from "mcp://s"
        import tool F from "file://workspace"
        func kept() { S.send({ to: "kept" }) }
        main func() {
            S.send({ to: "dropped" })
            F.list({})
            words = S.send({ to: "read" }).text
            seen = S.send({ to: "seen" })
            if seen.isError { return seen.text }
            words + kept().text
        }`);
    const told = diagnostics.filter(({ code }) => code === "TOOL_ERROR_FAILS");
    expect(told.map(({ severity, range }) => [severity, range.end - range.start])).toEqual([
        ["note", "S.send".length],
        ["note", "S.send".length],
    ]);
});
