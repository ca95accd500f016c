/** The verbs of blocks, run: files, pages, models played by a script, and the three of several model calls, with what goes wrong in each. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HostOptions } from "../../src/run/setup.ts";
import { load } from "../../src/run/program.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-verbs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a program gives, and the model turns it took. `replies`: what the model says, in order. */
async function ran(
    source: string,
    replies: Json = [],
    options: HostOptions = {},
): Promise<{ value: Json; turns: number; prompts: string[] }> {
    writeFileSync(join(folder, "replies.json"), JSON.stringify(replies));
    writeFileSync(join(folder, "main.remit"), `import llm Model from "scripted:replies.json"\n${source}`);
    const program = await load({ path: join(folder, "main.remit") }, { root: folder, workspace: folder, cache: false, ...options });
    const handle = program.run(null);
    const prompts: string[] = [];
    for await (const event of handle.events) if (event.kind === "generate.attempt") prompts.push(JSON.stringify(event.data));
    const value = (await handle.value) as Json;
    return { value, turns: prompts.length, prompts };
}
const value = async (source: string, replies: Json = [], options: HostOptions = {}): Promise<Json> =>
    (await ran(source, replies, options)).value;
const file = (name: string): string => readFileSync(join(folder, name), "utf8");

describe("data and files", () => {
    test.each(["static", "dynamic"])("%s: read, merge, save, and the value of a block in a later one", async (mode) => {
        writeFileSync(join(folder, "a.md"), "alpha");
        const source = `memory ${mode} ( ( read "a.md" <*> echo "beta" ) >=> merge >=> save "out.md" ) as both
            memory ${mode} ( echo both >=> when "contains alpha" >=> save "copy.md" )
            memory ${mode} ( echo { n: 1 } >=> save "out.json" )`;
        const merged = "## Part 1\n\nalpha\n\n## Part 2\n\nbeta";
        expect(await value(source)).toEqual([merged, merged, { n: 1 }]);
        expect([file("out.md"), file("copy.md"), file("out.json")]).toEqual([merged, merged, '{\n  "n": 1\n}\n']);
    });

    test("what flows in is the path of a read that has none, and the list of an echo", async () => {
        writeFileSync(join(folder, "a.md"), "alpha");
        expect(await value('memory static ( echo "a.md" >=> read )')).toBe("alpha");
        expect(await value('memory static ( ( echo "a" <*> echo 2 ) >=> echo )')).toEqual(["a", 2]);
        expect(await value('memory static ( echo "a" >=> echo "b" )')).toBe("b");
    });

    test("merge takes what is no list as it is", async () => {
        expect(await value('memory static ( echo "a" >=> merge )')).toBe("a");
        expect(await value("memory static ( echo { a: 1 } >=> merge )")).toBe('{"a":1}');
    });

    test("map calls a function, an agent or a verb with each item, in order", async () => {
        const source = `func twice(n) { n * 2 }
            agent Tag { main func(x) { "<" + x + ">" } }
            memory static ( echo [1, 2, 3] >=> map twice >=> map Tag >=> map echo )`;
        expect(await value(source)).toEqual(["<2>", "<4>", "<6>"]);
    });

    test("a file that is not there fails the block, with the node and the line", async () => {
        await expect(value('memory static (\n read "gone.md" )')).rejects.toMatchObject({
            kind: "tool",
            message: expect.stringContaining("read#0"),
        });
    });
});

describe("when", () => {
    const OBJECT = '{ severity: "high", n: 5, deep: { yes: true, list: [1, 2] }, empty: "", five: "5" }';
    const passes = async (condition: string, input = OBJECT): Promise<boolean> =>
        (await value(`memory static ( echo ${input} >=> when ${JSON.stringify(condition)} >=> echo "passed" )`)) === "passed";

    test.each([
        ["severity == high", true],
        ['severity == "high"', true],
        ["severity == 'low'", false],
        ["severity != low", true],
        ["n > 4", true],
        ["n >= 5", true],
        ["n < 5", false],
        ["n<=5", true],
        ["n == 5", true],
        ["five == 5", true],
        ["five > 4", true],
        ["deep.yes", true],
        ["not deep.yes", false],
        ["deep.yes == true", true],
        ["deep.list.length == 2", true],
        ["input.n == 5", true],
        ["empty", false],
        ["not empty", true],
        ["gone", false],
        ["gone == none", true],
        ["gone > 3", false],
        ["deep.gone.further", false],
    ])("%s", async (condition, expected) => {
        expect(await passes(condition)).toBe(expected);
    });

    test.each([
        ['"a book"', "contains boo", true],
        ['"a book"', "not_contains boo", false],
        ['"a book"', 'contains " b"', true],
        ['["a", "b"]', "contains b", true],
        ['["a", "b"]', "contains c", false],
        ["[]", "input", false],
        ["7", "input > 3", true],
        ['"seven"', "length >= 5", true],
    ])("%s %s", async (input, condition, expected) => {
        expect(await passes(condition, input)).toBe(expected);
    });

    test("guesses nothing: a field of a text, and what is no number, are failures that say so", async () => {
        await expect(passes("price > 3", '"the price is 5"')).rejects.toThrow("'price' is a field of an object; a text came in");
        await expect(passes("severity > 3")).rejects.toThrow("a text is none");
        await expect(passes("contains x", "5")).rejects.toThrow("'contains' looks into a text or a list; the value 5 came in");
    });

    test("ends its branch and no other, and passes on what came in", async () => {
        const source = `memory static ( echo { n: 1 } >=> ( when "n > 1" >=> save "never.json" <*> when "n == 1" >=> save "out.json" ) )`;
        expect(await value(source)).toEqual([null, { n: 1 }]);
        expect(() => file("never.json")).toThrow();
    });
});

describe("fetch", () => {
    async function serving<T>(use: (origin: string) => Promise<T>): Promise<T> {
        const server = createServer((request, response) => {
            response.statusCode = request.url === "/gone" ? 404 : 200;
            response.end(`page ${request.url}`);
        });
        await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
        try {
            return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
        } finally {
            server.closeAllConnections();
            await new Promise((done) => server.close(done));
        }
    }

    test("gets the text of a page that the program names, also of this machine", () =>
        serving(async (origin) => {
            expect(await value(`memory static ( fetch "${origin}/a" )`)).toBe("page /a");
        }));

    test("fails with the status that is no success", () =>
        serving(async (origin) => {
            await expect(value(`memory static ( fetch "${origin}/gone" )`)).rejects.toThrow(`${origin}/gone answered with status 404`);
        }));

    test("gets no private address that data chose", () =>
        serving(async (origin) => {
            writeFileSync(join(folder, "url.txt"), `${origin}/a`);
            await expect(value('memory static ( read "url.txt" >=> fetch )')).rejects.toThrow(/private|denied|not allowed/i);
        }));
});

describe("models", () => {
    test("ask has what came in as its context; without an argument it is the prompt", async () => {
        const { value: said, prompts } = await ran('memory static ( echo "the text" >=> ask "What is it?" )', ["a text"]);
        expect([said, prompts[0]]).toEqual(["a text", expect.stringMatching(/the text[\s\S]*What is it\?/)]);
        expect(await value('memory static ( echo "What is it?" >=> ask )', ["it"])).toBe("it");
        expect(await value('memory static ( echo "a long text" >=> summarize )', ["short"])).toBe("short");
    });

    test("the model is the one that the stage names, else the only one of the file, else the one that is set up", async () => {
        writeFileSync(join(folder, "other.json"), JSON.stringify(["from the other"]));
        const source = `import llm Other from "scripted:other.json"
            memory static ( ask "x" with { model: Other } >=> ask "y" with { model: Model } )`;
        expect(await value(source, ["from the first"])).toBe("from the first");
        const program = await load({ source: 'memory static ( ask "x" )' }, { model: `scripted:${join(folder, "other.json")}` });
        expect(await program(null)).toBe("from the other");
    });
});

describe("converge", () => {
    const YES = { approved: true, confidence: 0.9, feedback: "" };
    const no = (confidence: number, feedback = "more"): Json => ({ approved: false, confidence, feedback });

    test("stops at the first answer that is approved", async () => {
        const { value: found, turns } = await ran('memory static ( converge "Why?" )', ["because", YES]);
        expect([found, turns]).toMatchObject([{ answer: "because", converged: true, rounds: 1, confidence: 0.9 }, 2]);
    });

    test("a revision sees the answer before and what the critic said", async () => {
        const { value: found, prompts } = await ran('memory static ( converge "Why?" )', [
            "first",
            no(0.2, "name the cause"),
            "second",
            YES,
        ]);
        expect(found).toMatchObject({ answer: "second", rounds: 2, history: [{ round: 1, answer: "first" }, { round: 2 }] });
        expect(prompts[2]).toMatch(/first[\s\S]*name the cause/);
    });

    test("out of rounds it gives the best answer, or the last, after two calls a round", async () => {
        const replies = ["a", no(0.2), "b", no(0.8), "c", no(0.4)];
        const { value: best, turns } = await ran('memory static ( converge "Why?" )', replies);
        expect([best, turns]).toMatchObject([{ answer: "b", converged: false, rounds: 3, confidence: 0.8 }, 6]);
        expect(await value('memory static ( converge "Why?" (keep: "last") )', replies)).toMatchObject({ answer: "c", confidence: 0.4 });
        expect(await value('memory static ( converge "Why?" (max_rounds: 1) )', replies)).toMatchObject({ answer: "a", rounds: 1 });
    });

    test("with a threshold the confidence decides, which is kept between 0 and 1", async () => {
        const replies = ["a", YES, "b", { approved: false, confidence: 7, feedback: "" }];
        expect(await value('memory static ( converge "Why?" (threshold: 0.95) )', replies)).toMatchObject({
            answer: "b",
            converged: true,
            rounds: 2,
            confidence: 1,
        });
    });

    test("a verdict of nothing is no approval; one that is none is asked for once more, and then fails", async () => {
        expect(await value('memory static ( converge "Why?" (max_rounds: 1) )', ["a", {}])).toMatchObject({
            converged: false,
            confidence: 0,
            history: [{ verdict: { approved: false, confidence: 0, feedback: "" } }],
        });
        expect(await value('memory static ( converge "Why?" )', ["a", "no json", YES])).toMatchObject({ converged: true });
        await expect(value('memory static ( converge "Why?" )', ["a", "no json", "none again"])).rejects.toMatchObject({
            kind: "contract",
        });
    });

    test("needs a question and rounds", async () => {
        await expect(value('memory static ( converge "  " )')).rejects.toThrow("converge needs a question");
        await expect(value('memory static ( converge "Why?" (max_rounds: 0) )')).rejects.toThrow("'max_rounds' is 1 to 100, not 0");
    });

    test("agents and functions of the file stand for the defaults; each gets what its parameters name", async () => {
        const source = `agent Researcher { main func(question: string, feedback: string? = none) { question + " " + (feedback ?? "first") } }
            agent Whole { main func(given) { given.answer + given.round } }
            func critic(answer: string, round: number) { { approved: round == 2, confidence: 0.5, feedback: "go on" } }
            func judge(given) { "\`\`\`json\\n" + json.text({ approved: true, confidence: given.round }) + "\\n\`\`\`" }
            memory static ( converge "Why?" (researcher: Researcher, critic: critic) )
            memory static ( converge "Why?" (researcher: Researcher, critic: judge) )
            memory static ( echo "material" >=> converge "Why?" (critic: critic) )`;
        const { value: found, prompts } = await ran(source, ["one", "two"]);
        expect(found).toMatchObject([
            { answer: "Why? go on", rounds: 2 },
            { answer: "Why? first", rounds: 1, confidence: 1 },
            { answer: "two", rounds: 2 },
        ]);
        expect(prompts[0]).toContain("material");
    });

    test("a critic that gives no verdict fails the stage", async () => {
        const source = (given: string): string => `func critic(answer) { ${given} }\nmemory static ( converge "Why?" (critic: critic) )`;
        await expect(value(source('"fine"'), ["a"])).rejects.toThrow("the critic's verdict is no JSON: fine");
        await expect(value(source("[1]"), ["a"])).rejects.toThrow("the critic's verdict is no object");
    });
});

describe("tool_agent", () => {
    const call = (tool: string, args: Json = {}): Json => ({ action: "tool", reasoning: "look", tool, args });
    const final = (answer: Json): Json => ({ action: "final", answer });
    const REPO = 'import tool Repo from "file://workspace"\n';
    const agent = (more = "tools: [Repo.read]"): string => `${REPO}memory static ( tool_agent "Read it" (${more}) )`;

    test("final at once", async () => {
        expect(await value(agent(), [final("done")])).toEqual({ answer: "done", converged: true, steps: [] });
    });

    test("a tool, then final; the model sees what tools there are and what came of the call", async () => {
        writeFileSync(join(folder, "a.txt"), "alpha");
        const { value: found, prompts } = await ran(agent(), [call("Repo.read", { path: "a.txt" }), final("alpha it is")]);
        expect(found).toMatchObject({
            answer: "alpha it is",
            converged: true,
            steps: [{ reasoning: "look", tool: "Repo.read", args: { path: "a.txt" }, result: { ok: true, content: "alpha" } }],
        });
        expect(prompts[0]).toContain("Repo.read");
        expect(prompts[0]).not.toContain("Repo.write");
        expect(prompts[1]).toContain("alpha");
    });

    test("an unknown tool and one that fails are told to the model, which goes on", async () => {
        const { value: found, prompts } = await ran(agent(), [
            call("Repo.write", { path: "x", content: "y" }),
            call("Repo.read", { path: "gone.txt" }),
            { action: "tool" },
            final("given up"),
        ]);
        expect(found).toMatchObject({
            answer: "given up",
            steps: [
                { tool: "Repo.write", error: "there is no tool 'Repo.write'; there are: Repo.read" },
                { tool: "Repo.read", error: expect.stringContaining("gone.txt") },
                { tool: "", error: expect.stringContaining("there is no tool ''") },
            ],
        });
        expect(prompts[3]).toContain("there is no tool 'Repo.write'");
    });

    test("a malformed reply is asked for once more, and then fails", async () => {
        expect(await value(agent(), ["let me see", final("ok")])).toMatchObject({ answer: "ok", converged: true });
        expect(await value(agent(), [{ action: "think" }, final("ok")])).toMatchObject({ answer: "ok", converged: true });
        await expect(value(agent(), ["let me see", "still looking"])).rejects.toMatchObject({ kind: "contract" });
    });

    test("at the cap it ends without an answer and without a failure", async () => {
        const { value: found, turns } = await ran(agent("tools: [Repo.read], max_steps: 2"), [call("Repo.read"), call("Repo.read")]);
        expect([found, turns]).toMatchObject([{ answer: null, converged: false, steps: [{}, {}] }, 2]);
    });

    test("a method that does more than read is asked about: nobody there is a no, and the model is told", async () => {
        const found = await value(agent("tools: [Repo]"), [call("Repo.write", { path: "x", content: "y" }), final("could not")]);
        expect(found).toMatchObject({ answer: "could not", steps: [{ error: expect.stringContaining("not allowed") }] });
        expect(() => file("x")).toThrow();
    });

    test("has the prompt and what came in before it", async () => {
        const source = `${REPO}memory static ( echo "the ticket" >=> tool_agent "Solve it" (prompt: "Be brief.") )`;
        const { prompts } = await ran(source, [final("ok")]);
        expect(prompts[0]).toMatch(/Solve it[\s\S]*Be brief\.[\s\S]*the ticket/);
        await expect(value('memory static ( tool_agent " " )')).rejects.toThrow("tool_agent needs a task");
    });
});

describe("supervisor", () => {
    const HELP = `func researcher(question: string) { if question.contains("bad") { raise "no idea" } "about " + question }
        func critic(answer) { { approved: answer != "about slow?", confidence: 0.5 } }\n`;
    const asked = (question: string, more = ""): string =>
        `${HELP}memory static ( supervisor ${JSON.stringify(question)} (researcher: researcher, critic: critic${more}) )`;

    test.each<[question: string, parts: string[]]>([
        ["What is A?", ["What is A?"]],
        ["What is A? What is B? What is C?", ["What is A?", "What is B?", "What is C?"]],
        ["Compare A; B; C", ["Compare A", "B", "C"]],
        ["A versus B", ["A", "B"]],
        ["A compared to B and C", ["A", "B and C"]],
        ["A vs. B", ["A", "B"]],
        ["A and B", ["A", "B"]],
    ])("%s", async (question, parts) => {
        const found = (await value(asked(question))) as { answers: { question: string }[] };
        expect(found.answers.map((one) => one.question)).toEqual(parts);
    });

    test("joins the answers, and tells what is beyond the limit", async () => {
        expect(await value(asked("A? B? C?", ", max_subquestions: 2"))).toMatchObject({
            synthesis: "## A?\n\nabout A?\n\n## B?\n\nabout B?\n\n## Not asked, beyond the limit\n\n- C?",
            success_count: 2,
            failure_count: 0,
            dropped: ["C?"],
        });
    });

    test("a part that fails is told beside the others; a part out of rounds counts as answered", async () => {
        expect(await value(asked("bad? slow? good?", ", max_rounds_per_child: 2"))).toMatchObject({
            answers: [
                { question: "bad?", answer: null, error: "no idea", rounds: 0 },
                { question: "slow?", answer: "about slow?", converged: false, rounds: 2, error: null },
                { question: "good?", answer: "about good?", converged: true, rounds: 1, error: null },
            ],
            synthesis: expect.stringContaining("## Could not be answered\n\n- bad?: no idea"),
            success_count: 2,
            failure_count: 1,
        });
    });

    test("fails where every part does, where there is no question and where there is no part", async () => {
        await expect(value(asked("bad? worse bad?"))).rejects.toThrow("no part of the question was answered: bad? (no idea)");
        await expect(value(asked(" "))).rejects.toThrow("supervisor needs a question");
        await expect(value(`func planner(question) { [] }\n${asked("A", ", planner: planner")}`)).rejects.toThrow(
            "no part that could be answered",
        );
    });

    test("a planner of the file decides the parts, as a list, an object or lines", async () => {
        for (const given of ['["X?", "Y?"]', '{ questions: ["X?", "Y?"] }', '"- X?\\n- Y?"', '"Here: [\\"X?\\", \\"Y?\\"]"']) {
            const source = `func planner(question, max_subquestions) { ${given} }\n${asked("anything", ", planner: planner")}`;
            expect(await value(source)).toMatchObject({ answers: [{ question: "X?" }, { question: "Y?" }] });
        }
        await expect(value(`func planner(question) { 5 }\n${asked("A", ", planner: planner")}`)).rejects.toThrow("a list of questions");
    });

    test("asks its own researcher and critic where there is none", async () => {
        const yes = { approved: true, confidence: 1 };
        const rules = {
            rules: [
                { when: ["Judge the answer"], reply: { json: yes } },
                { when: ["Answer the question"], reply: "an answer" },
            ],
        };
        const { value: found, turns } = await ran('memory static ( supervisor "A? B?" )', rules);
        expect([found, turns]).toMatchObject([{ success_count: 2, answers: [{ answer: "an answer" }, { answer: "an answer" }] }, 4]);
    });
});
