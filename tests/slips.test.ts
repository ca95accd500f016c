/**
 * A name in a policy with one letter wrong is told before anything happens (LANGUAGE 5): every such slip of every name in the policies of the
 * injection benchmarks, held against what the tools of their worlds say they have.
 *
 * A slip that makes another name of the same kind is none that can be told. What a result is called in `among(Contacts.find.email)` is not among the names:
 * no tool says what it gives.
 */
import { check, describedSchema, type Json, loadProgram } from "@remit/language";
import { expect, test } from "vitest";
import { POLICIES } from "../bench/injection/adaptive/policy.ts";
import { type AnyWorld, LATER, WORLDS } from "../bench/injection/worlds/all.ts";
import { cases } from "../packages/machine/tests/cases.ts";

/** Words of the language in clauses and remits. */
const WORDS = new Set(
    "may ask never arg choice choose among from or trusted addresses plain reads audience at most once by per day in all".split(" "),
);
/** A string, or a name with what its owner is called before it. */
const TOKEN = /"([^"\n]*)"|((?:[A-Za-z]\w*\.)*)([A-Za-z]\w*)/g;
/** Words that a slip of another one means. */
const MEANT = new Set([...WORDS, "read"]);
/** What is put in by mistake; `REMIT_TEST_TIMES=13` tries every letter. */
const LETTERS = [..."exyasbcdfghijklmnopqrtuvwz"].slice(0, cases(2));
/** Slips that one program holds: what it costs to check grows with its imports. */
const AT_ONCE = 40;

interface Name {
    readonly at: number;
    readonly text: string;
    readonly isOrigin: boolean;
}

/** Names in the words of a policy: of tools, methods and arguments, and of origins. */
function namesIn(words: string): Name[] {
    const found: Name[] = [];
    for (const { 0: all, 1: string, 2: owner = "", 3: name = "", index } of words.matchAll(TOKEN)) {
        if (string !== undefined) {
            if (/^(?:user|trusted|tool:\w+)$/.test(string)) found.push({ at: index + 1, text: string, isOrigin: true });
            continue;
        }
        const parts = all.split(".");
        // `Contacts.find.email`: the third is a field of a result.
        parts.slice(0, 2).forEach((text, i) => {
            const at = index + (i === 0 ? 0 : (parts[0] as string).length + 1);
            if (owner !== "" || !WORDS.has(name)) found.push({ at, text, isOrigin: false });
        });
    }
    return found;
}

/** Every text that is one edit away: a letter left out, put in, in place of another, or in the place of its neighbour. */
function slipsOf(text: string): string[] {
    const made = new Set<string>();
    for (let i = 0; i <= text.length; i++) {
        const [before, here, after] = [text.slice(0, i), text[i] ?? "", text.slice(i + 1)];
        made.add(before + after);
        if (after !== "") made.add(before + after[0] + here + after.slice(1));
        for (const letter of LETTERS) made.add(before + letter + here + after).add(before + letter + after);
    }
    made.delete(text);
    return [...made].filter((one) => /^[A-Za-z]/.test(one) && !WORDS.has(one));
}

type Box = ReturnType<AnyWorld["tools"]>;

/** Which lines of a program have an error, with the tools of a world known as they say themselves. */
function wrongLines(lines: readonly string[], box: Box): ReadonlySet<number> {
    const text = lines.join("\n");
    const loaded = loadProgram("main.remit", { read: () => text, resolve: () => null });
    const schemas = new Map<string, { file: string; text: string; schema: ReturnType<typeof describedSchema> }>(
        Object.entries(box).map(([tool, methods]) => {
            const inputs = Object.fromEntries(Object.entries(methods).map(([method, { input }]) => [method, input as Json]));
            return [`mcp://${tool}`, { file: `${tool}.json`, text: "", schema: describedSchema(inputs) }] as const;
        }),
    );
    const items = loaded.files.get("main.remit")?.items ?? [];
    const described = new Map(
        items.flatMap((item) => {
            const found = item.kind === "import" ? schemas.get(item.uri.value) : undefined;
            return item.kind === "import" && found !== undefined ? [[item, found] as const] : [];
        }),
    );
    const lineOf = (at: number): number => text.slice(0, at).split("\n").length - 1;
    return new Set(
        check({ ...loaded, described })
            .diagnostics.filter((one) => one.severity === "error")
            .map(({ range }) => lineOf(range.start)),
    );
}

/** Where the words of a policy stand in a program. */
const PLACES = {
    imports: (words: string, tool: string, i: number) => `import tool ${tool}${i} from "mcp://${tool}" { ${words} }`,
    bounds: (words: string, _tool: string, i: number) => `agent Bound${i} { remit { may all  ${words} } main func(x) { x } }`,
    models: (words: string, _tool: string, i: number) => `import llm Model${i} from "mock:m${i}" { ${words} }`,
    loops: (words: string, tool: string, i: number) =>
        `agent Loop${i} { model Model role "r" description "d" main func(x) { generate({ input: "x", tools: [${tool}], ${words} }) } }`,
} as const;
type Part = keyof typeof PLACES;

/** Each of these words in a line of its own of a program; those that the checker lets stand. */
function untold(part: Part, tool: string, texts: readonly string[], box: Box): string[] {
    const head = [...Object.keys(box).map((name) => `import tool ${name} from "mcp://${name}"`), 'import llm Model from "mock:m"'];
    const lines = texts.map((words, i) => PLACES[part](words, tool, i));
    const wrong = wrongLines([...head, ...lines, "main agent Assistant { main func(input) { input } }"], box);
    return texts.filter((_, i) => !wrong.has(head.length + i));
}

const ALL = [...WORLDS, ...LATER].flatMap((world) =>
    Object.entries(POLICIES).flatMap(([name, of]) => {
        const policy = of(world.name);
        return policy === null ? [] : [[`${world.name}, ${name}`, world, policy] as const];
    }),
);

test.each(ALL)("%s", (_name, world, policy) => {
    const box = world.tools(world.state(""), []);
    const known = new Set<string>(["user", "trusted", ...Object.keys(box).flatMap((tool) => [tool, `tool:${tool}`])]);
    for (const methods of Object.values(box))
        for (const [method, { input }] of Object.entries(methods)) {
            known.add(method);
            for (const arg of Object.keys((input as { properties: object }).properties)) known.add(arg);
        }
    let looked = 0;
    const passed: string[] = [];
    for (const part of ["imports", "bounds"] as const)
        for (const [tool, words] of Object.entries(policy[part] ?? {})) {
            expect(untold(part, tool, [words], box)).toEqual([words]);
            for (const { at, text } of namesIn(words)) {
                const slips = slipsOf(text).filter((slip) => !known.has(slip));
                looked += slips.length;
                const wrong = slips.map((slip) => words.slice(0, at) + slip + words.slice(at + text.length));
                for (let i = 0; i < wrong.length; i += AT_ONCE)
                    passed.push(
                        ...untold(part, tool, wrong.slice(i, i + AT_ONCE), box).map(
                            (one) => `${tool} ${text}: ${one.slice(at - 5, at + text.length + 5)}`,
                        ),
                    );
            }
        }
    expect([passed.length, passed.slice(0, 20)]).toEqual([0, []]);
    expect(looked).toBeGreaterThan(100);
});

/** Each form that a clause, a line of a remit and an option about authority has, over the tools of a shop. In these, words of the language slip, too. */
const FORMS: readonly (readonly [part: Part, words: string])[] = [
    ["imports", "refund: ask, cancel: never, ship: at most 3, refund: at most 20 per day, refund: once by id"],
    ["imports", 'trusted, labels from server, choice refund: trusted or ask, choice: from("user", "tool:Stock")'],
    [
        "imports",
        'choice ship: any, arg refund.amount: from("trusted", "tool:Stock") or ask, arg text: plain among("user", Customers.find.id)',
    ],
    ["imports", "arg text: addresses trusted, arg refund.id: among(input.id), reads read: result customer, audience note: arg text or ask"],
    ["imports", 'reads read: result customer through Customers.find.rows.id to email, audience: "alice", reads: everyone'],
    [
        "bounds",
        'ask Orders.refund in amount: 0..500, 900..1000  may Orders.note in text: "a*" at most 3 per day  may Orders.ship once by id',
    ],
    ["bounds", "spend 20k tokens, 2 usd, 10 min  flow strict"],
    ["models", "trusted, look: may"],
    ["models", "untrusted, look: ask"],
    ["loops", 'hide: "untrusted"'],
];
/** Texts of people and of arguments, and units of which another one is meant as well. */
const FREE = /^(?:"alice"|"a\*"|email|customer|usd|rows|id|min)$/;

test.each(FORMS)("in %s, any word of %s", (part, words) => {
    const world = LATER.find(({ name }) => name === "shop") as AnyWorld;
    const box = world.tools(world.state(""), []);
    expect(untold(part, "Orders", [words], box)).toEqual([words]);
    const slips = [...words.matchAll(/"[^"]*"|[A-Za-z]\w*/g)].flatMap(({ 0: word, index }) =>
        FREE.test(word)
            ? []
            : slipsOf(word.replaceAll('"', ""))
                  .filter((slip) => !MEANT.has(slip))
                  .map((slip) => {
                      const at = index + (word.startsWith('"') ? 1 : 0);
                      return words.slice(0, at) + slip + words.slice(at + word.replaceAll('"', "").length);
                  }),
    );
    const passed: string[] = [];
    for (let i = 0; i < slips.length; i += AT_ONCE) passed.push(...untold(part, "Orders", slips.slice(i, i + AT_ONCE), box));
    // What cannot be read in one line leaves names of others unsaid.
    expect(passed.filter((one) => untold(part, "Orders", [one], box).length > 0)).toEqual([]);
    expect(slips.length).toBeGreaterThan(10);
});
