/**
 * The checker held to the machine: what it says is refused is refused when the program runs, wherever it gets there; and what it says nothing of
 * is not all refused.
 */
import { parseClausesText, type Project, source } from "@remit/language";
import { describe, expect, test } from "vitest";
import { both } from "./flow-check.ts";
import { flowProgram } from "./flow-programs.ts";

/** The clauses about arguments of a program's tools, as its project says them instead: by the URI, or by the name. */
function moved(text: string, seed: number): { readonly text: string; readonly project: Project } {
    const clauses: { [place: string]: ReturnType<typeof clausesIn> } = {};
    const bare = text.replace(/^import tool (\w+) from "([^"]+)" \{ (.*) \}$/gm, (_, name: string, uri: string, all: string) => {
        const [mine, theirs] = [/^arg /, /^(?!arg )/].map((kind) => all.split(/, (?=arg |audience|reads)/).filter((one) => kind.test(one)));
        if ((mine as string[]).length > 0) clauses[seed % 2 === 0 ? name : uri] = clausesIn((mine as string[]).join(", "));
        return `import tool ${name} from "${uri}"${theirs?.length === 0 ? "" : ` { ${theirs?.join(", ")} }`}`;
    });
    return { text: bare, project: { policy: { clauses }, sources: new Map([["remit.json", source("{}", "remit.json")]]) } };
}

function clausesIn(text: string) {
    const read = parseClausesText(text);
    if (!read.ok) throw new Error(read.problems.join());
    return read.value.map((clause) => ({ ...clause, site: { file: "remit.json", line: 1, column: 1 } }));
}

test.each([1, 2, 3])("program %i: what its project says of arguments is told and refused as if the program said it", (seed) => {
    const whole = flowProgram(seed);
    const { text, project } = moved(whole, seed);
    expect(text).not.toMatch(/\barg /);
    expect(both(text, project)).toEqual(both(whole));
});

describe("random strict programs", () => {
    let decided = 0;
    let passed = 0;
    const ways = ["file", "agent", "project"] as const;
    const rows = Array.from({ length: 18 }, (_, i) => [i < 6 ? 2 * i + 1 : 2 * i, ways[i % ways.length]] as const);
    test.each(rows)("program %i, strict by its %s: nothing that is let through is called refused", (seed, strict) => {
        const text = flowProgram(seed, strict);
        const project = strict === "project" ? { policy: { strict: true }, sources: new Map() } : null;
        const { flagged, sent, lost } = both(text, project, true);
        const wrong = [...flagged.keys()].filter((mark) => sent.has(mark));
        if (wrong.length > 0) throw new Error(`${wrong.join()} was sent\n${text}`);
        for (const mark of lost) if (/decides over/.test(flagged.get(mark) ?? "")) decided++;
        passed += sent.size;
    });
    test("what decides over a use is among what is told, and much passes", () => {
        expect(decided).toBeGreaterThan(3);
        expect(passed).toBeGreaterThan(10);
    });
});

/** Refused where what is chosen does not carry what chose it, in runs other than this one. */
const CHANGED = ['if Find.get({}).a == "none" { l[0] = "r" }'];

describe("a list in strict code", () => {
    const program = (body: string): string => `flow strict
import tool Find from "mcp://find"
import tool Mail from "mcp://mail" { arg to: trusted }
func of(x, l) { if x { return l }
l }
main func(input) {
a = ["p", "q"]
b = ["p", "q"]
${body}
}
`;
    test.each([
        ["an index that a page chose", 'a[Find.get({}).n] = "r"\nMail.send({ to: a[0], mark: "m0" })', ["m0"]],
        ["a key that a page chose", 'o = { k: "p" }\no[Find.get({}).a] = "r"\nMail.send({ to: o, mark: "m0" })', ["m0"]],
        ["an index of its own", 'i = 0\na[i] = "r"\nMail.send({ to: a[0], mark: "m0" })', []],
        ["another list", 'a[Find.get({}).n] = "r"\nMail.send({ to: b[0], mark: "m0" })', []],
        [
            "an alias that the input chose",
            'l = if input.yes { a } else { b }\nif Find.get({}).a == "none" { l[0] = "r" }\nMail.send({ to: l[0], mark: "m0" })',
            [],
            CHANGED,
        ],
        [
            "a result that the input chose",
            'l = of(input.yes, a)\nif Find.get({}).a == "none" { l[0] = "r" }\nMail.send({ to: l[0], mark: "m0" })',
            [],
            CHANGED,
        ],
    ])("%s: what is said to be refused is", (_name, body, marks, more: readonly string[] = []) => {
        const { flagged, sent, lost } = both(program(body));
        expect([...lost]).toEqual(marks);
        expect([...flagged.keys()]).toEqual([...more, ...marks]);
        expect([...sent]).toEqual(marks.length === 0 ? ["m0"] : []);
    });
});

describe("random programs", () => {
    let refused = 0;
    let missed = 0;
    let passed = 0;
    test.each(Array.from({ length: 12 }, (_, i) => i + 1))("program %i: nothing that is let through is called refused", (seed) => {
        const text = flowProgram(seed);
        const { flagged, sent, lost } = both(text);
        const wrong = [...flagged.keys()].filter((mark) => sent.has(mark));
        if (wrong.length > 0) throw new Error(`${wrong.join()} was sent\n${text}`);
        for (const mark of lost) {
            if (flagged.has(mark)) refused++;
            else if (!sent.has(mark)) missed++;
        }
        passed += sent.size;
    });
    test("all come out", () => {
        expect(Math.min(refused, passed)).toBeGreaterThan(15);
        // What depends on the input, and what is refused only in one of several branches, it cannot know.
        expect(missed).toBeLessThan(refused * 1.2);
    });
});
