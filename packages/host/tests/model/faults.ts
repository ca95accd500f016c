/**
 * Faults of model replies as data: what a model meant, how it wrote it, and whether that can be read without loss.
 *
 * A case is a fault × a layout of the JSON × surroundings. `read`: the value must come out. `refuse`: it must not be read, since something is
 * missing or unclear. `either`: a reader may do both, but must never give another value. Also used by the benchmarks against other readers.
 *
 * Why it is long: it is a list.
 */
import type { Contract, Json, Shapes } from "@remit/language";

export type Layout = "pretty" | "minified" | "line";
export type Surroundings = "none" | "prose" | "fence" | "think" | "draft";
export const LAYOUTS: readonly Layout[] = ["pretty", "minified", "line"];
export const SURROUNDINGS: readonly Surroundings[] = ["none", "prose", "fence", "think", "draft"];

export interface Subject {
    readonly contract: Contract;
    readonly shapes?: Shapes;
    readonly value: Json;
    /** Another value of the same contract, for drafts. */
    readonly draft: Json;
}

export interface Fault {
    readonly name: string;
    readonly subject: keyof typeof SUBJECTS;
    /** From well-written JSON to what the model wrote. `write` lays out any other JSON the same way. */
    readonly spoil: (json: string, write: (value: Json) => string, value: Json) => string;
    readonly expect: "read" | "refuse" | "either";
    readonly finish?: "stop" | "length";
    /** The reply ends here: nothing can stand after it. */
    readonly last?: boolean;
    /** What must come out where it is not the subject's value. */
    readonly reads?: Json;
    /** Surroundings in which the fault makes no sense. */
    readonly without?: readonly Surroundings[];
}

const string: Contract = { type: "string" };
const number: Contract = { type: "number" };
const boolean: Contract = { type: "boolean" };
const list = (item: Contract): Contract => ({ type: "list", item });
const object = (fields: { readonly [name: string]: Contract }): Contract => ({
    type: "object",
    fields: Object.entries(fields).map(([name, contract]) => ({ name, contract })),
});
const oneOf = (...words: string[]): Contract => ({ type: "union", of: words.map((value) => ({ type: "literal", value })) });

export const SUBJECTS = {
    triage: {
        contract: object({ severity: oneOf("low", "medium", "high"), reason: string, lines: number, flaky: boolean, tags: list(string) }),
        value: { severity: "high", reason: "the linker ran out of memory", lines: 1289, flaky: false, tags: ["linker", "memory"] },
        draft: { severity: "low", reason: "a warning", lines: 3, flaky: true, tags: ["lint"] },
    },
    quoting: {
        contract: object({ title: string, quote: string }),
        value: { title: "Minutes", quote: 'she said "ship it" and left' },
        draft: { title: "Notes", quote: "nothing yet" },
    },
    code: {
        contract: object({ path: string, patch: string }),
        value: { path: "src/main.ts", patch: "if (ready) {\n    go([1, 2]);\n}" },
        draft: { path: "src/old.ts", patch: "stop();" },
    },
    invoice: {
        contract: object({
            customer: object({ name: string, city: string }),
            items: list(object({ sku: string, count: number })),
        }),
        value: {
            customer: { name: "Ada Byron", city: "Zürich" },
            items: [
                { sku: "A-1", count: 2 },
                { sku: "B-7", count: 10 },
            ],
        },
        draft: { customer: { name: "Nobody", city: "Nowhere" }, items: [{ sku: "X", count: 1 }] },
    },
    people: {
        contract: list(object({ name: string, age: number })),
        value: [
            { name: "Ann", age: 31 },
            { name: "Bo", age: 40 },
        ],
        draft: [{ name: "Zed", age: 1 }],
    },
    words: { contract: list(string), value: ["north", "east", "south"], draft: ["up", "down"] },
    numbers: { contract: list(number), value: [3, 5, 8], draft: [1] },
    verdict: { contract: object({ verdict: oneOf("accept", "reject") }), value: { verdict: "accept" }, draft: { verdict: "reject" } },
    answer: { contract: object({ answer: string }), value: { answer: "Paris is the capital" }, draft: { answer: "Lyon" } },
    score: { contract: object({ score: number }), value: { score: 42 }, draft: { score: 7 } },
    labels: {
        contract: object({ labels: list(string) }),
        value: { labels: ["bug", "docs", "help wanted"] },
        draft: { labels: ["none of them"] },
    },
    spam: { contract: object({ spam: boolean }), value: { spam: true }, draft: { spam: false } },
    maybe: {
        contract: {
            type: "object",
            fields: [
                { name: "file", contract: string },
                { name: "line", contract: number, optional: true },
            ],
        },
        value: { file: "a.ts" },
        draft: { file: "b.ts", line: 9 },
    },
} as const satisfies { readonly [name: string]: Subject };

const quoteNames = /"([A-Za-z_]+)"(\s*:)/g;
const replaceLast = (text: string, what: string, by: string): string => {
    const at = text.lastIndexOf(what);
    return at < 0 ? text : text.slice(0, at) + by + text.slice(at + what.length);
};

export const FAULTS: readonly Fault[] = [
    // ---- written well --------------------------------------------------------------------------------------------------
    { name: "nothing wrong", subject: "triage", spoil: (json) => json, expect: "read" },
    { name: "nothing wrong, nested", subject: "invoice", spoil: (json) => json, expect: "read" },
    { name: "nothing wrong, code with brackets in a text", subject: "code", spoil: (json) => json, expect: "read" },
    { name: "nothing wrong, list on top", subject: "people", spoil: (json) => json, expect: "read" },
    {
        name: "fields in another order",
        subject: "triage",
        spoil: (_json, write, value) => write(Object.fromEntries(Object.entries(value as object).reverse()) as Json),
        expect: "read",
    },
    { name: "escaped as \\u", subject: "invoice", spoil: (json) => json.replace("ü", "\\u00fc"), expect: "read" },
    {
        name: "byte order mark and spaces that have no width",
        subject: "triage",
        spoil: (json) => `\ufeff${json.replaceAll(": ", ":\u00a0")}`,
        expect: "read",
    },
    // ---- commas, colons, brackets --------------------------------------------------------------------------------------
    { name: "comma before the closing brace", subject: "triage", spoil: (json) => replaceLast(json, "}", ",}"), expect: "read" },
    { name: "comma before the closing bracket", subject: "triage", spoil: (json) => json.replace(/"memory"/, '"memory",'), expect: "read" },
    {
        name: "commas before all closing brackets",
        subject: "invoice",
        spoil: (json) => json.replace(/(["\d}\]])(\s*[}\]])/g, "$1,$2"),
        expect: "read",
    },
    {
        name: "comma missing between fields",
        subject: "triage",
        spoil: (json) => json.replace(/memory",(\s*"lines")/, 'memory" $1'),
        expect: "read",
    },
    {
        name: "comma missing between objects of a list",
        subject: "people",
        spoil: (json) => json.replace(/\},\s*\{/, "} {"),
        expect: "read",
    },
    { name: "comma missing after a number", subject: "triage", spoil: (json) => json.replace("1289,", "1289 "), expect: "read" },
    { name: "two commas between fields", subject: "triage", spoil: (json) => json.replace("1289,", "1289,,"), expect: "read" },
    { name: "two commas in a list", subject: "words", spoil: (json) => json.replace('"north",', '"north",,'), expect: "refuse" },
    { name: "semicolons for commas", subject: "triage", spoil: (json) => json.replace("1289,", "1289;"), expect: "read" },
    { name: "colon missing", subject: "triage", spoil: (json) => json.replace(/"lines"\s*:\s*/, '"lines" '), expect: "read" },
    { name: "arrow for colon", subject: "triage", spoil: (json) => json.replaceAll(/"\s*:/g, '" =>'), expect: "read" },
    {
        name: "equals sign for colon, names unquoted",
        subject: "triage",
        spoil: (json) => json.replaceAll(quoteNames, "$1 ="),
        expect: "read",
    },
    {
        name: "last brace missing",
        subject: "quoting",
        spoil: (_j, write) => write({ title: "Minutes", quote: "ship it" }).replace(/\s*\}$/, ""),
        reads: { title: "Minutes", quote: "ship it" },
        expect: "either",
        last: true,
    },
    {
        name: "last brace missing after a list",
        subject: "triage",
        spoil: (json) => json.replace(/\s*\}$/, ""),
        expect: "either",
        last: true,
    },
    { name: "brace of an inner object missing", subject: "people", spoil: (json) => json.replace(/31\s*\}/, "31"), expect: "read" },
    { name: "bracket of a list missing", subject: "triage", spoil: (json) => replaceLast(json, "]", ""), expect: "read" },
    { name: "bracket too many at the end", subject: "triage", spoil: (json) => `${json}}`, expect: "read" },
    {
        name: "no closing bracket of a list on top",
        subject: "words",
        spoil: (json) => json.replace(/\s*\]$/, ""),
        expect: "refuse",
        last: true,
    },
    { name: "round brackets for a list", subject: "triage", spoil: (json) => json.replace("[", "(").replace("]", ")"), expect: "read" },
    { name: "braces for a list of texts", subject: "words", spoil: (json) => json.replace("[", "{").replace("]", "}"), expect: "read" },
    {
        name: "full-width punctuation",
        subject: "triage",
        spoil: (json) => json.replaceAll(/":/g, '"：').replace("1289,", "1289，"),
        expect: "read",
    },
    // ---- quotes --------------------------------------------------------------------------------------------------------
    { name: "single quotes", subject: "triage", spoil: (json) => json.replaceAll('"', "'"), expect: "read" },
    {
        name: "single quotes around an apostrophe",
        subject: "answer",
        spoil: (_j, write) => write({ answer: "it's the builder's fault" }).replaceAll('"', "'"),
        reads: { answer: "it's the builder's fault" },
        expect: "read",
    },
    { name: "names without quotes", subject: "triage", spoil: (json) => json.replaceAll(quoteNames, "$1$2"), expect: "read" },
    { name: "names and texts without quotes", subject: "triage", spoil: (json) => json.replaceAll('"', ""), expect: "read" },
    {
        name: "a text without quotes",
        subject: "triage",
        spoil: (json) => json.replace('"the linker ran out of memory"', "the linker ran out of memory"),
        expect: "read",
    },
    { name: "a choice without quotes", subject: "verdict", spoil: (json) => json.replace('"accept"', "accept"), expect: "read" },
    { name: "curly quotes", subject: "triage", spoil: (json) => json.replaceAll(/"([^"]*)"/g, "“$1”"), expect: "read" },
    { name: "backticks for quotes", subject: "answer", spoil: (json) => json.replaceAll(/"(Paris[^"]*)"/g, "`$1`"), expect: "read" },
    {
        name: "triple quotes",
        subject: "code",
        spoil: (json, _w, value) =>
            json.replace(JSON.stringify((value as { patch: string }).patch), `"""${(value as { patch: string }).patch}"""`),
        expect: "read",
    },
    { name: "quotes inside a text not escaped", subject: "quoting", spoil: (json) => json.replaceAll('\\"', '"'), expect: "read" },
    {
        name: "quotes inside a text, first field",
        subject: "quoting",
        spoil: (_j, write) => write({ title: "the Q_plan_Q file", quote: "ok" }).replaceAll("Q_", '"').replaceAll("_Q", '"'),
        reads: { title: 'the "plan" file', quote: "ok" },
        expect: "read",
    },
    {
        name: "a quoted word and a comma inside a text",
        subject: "quoting",
        spoil: (_j, write) => write({ title: "a", quote: "QyesQ, QnoQ and QmaybeQ" }).replaceAll("Q", '"'),
        reads: { title: "a", quote: '"yes", "no" and "maybe"' },
        expect: "either",
    },
    {
        name: "closing quote of a text missing",
        subject: "quoting",
        spoil: (_j, write) => write({ title: "Minutes", quote: "done" }).replace('Minutes"', "Minutes"),
        reads: { title: "Minutes", quote: "done" },
        expect: "either",
    },
    { name: "opening quote of a name missing", subject: "triage", spoil: (json) => json.replace('"lines"', 'lines"'), expect: "either" },
    { name: "raw line breaks in a text", subject: "code", spoil: (json) => json.replaceAll("\\n", "\n"), expect: "read" },
    {
        name: "raw tab in a text",
        subject: "answer",
        spoil: (json) => json.replace("is the", "is\tthe"),
        reads: { answer: "Paris is\tthe capital" },
        expect: "read",
    },
    {
        name: "texts joined by +",
        subject: "answer",
        spoil: (json) => json.replace('"Paris is the capital"', '"Paris is " + "the capital"'),
        expect: "read",
    },
    {
        name: "single backslashes of a pattern",
        subject: "answer",
        spoil: (_j, write) => write({ answer: "PATTERN" }).replace("PATTERN", "\\d+\\.\\w"),
        reads: { answer: "\\d+\\.\\w" },
        expect: "read",
    },
    {
        name: "single backslashes of a path, some of them escapes",
        subject: "answer",
        spoil: (_j, write) => write({ answer: "PATH" }).replace("PATH", "C:\\Users\\new"),
        expect: "refuse",
    },
    {
        name: "escaped apostrophe",
        subject: "answer",
        spoil: (_j, write) => write({ answer: "it's" }).replace("it's", "it\\'s"),
        reads: { answer: "it's" },
        expect: "read",
    },
    { name: "all quotes escaped", subject: "triage", spoil: (json) => json.replaceAll('"', '\\"'), expect: "read" },
    {
        name: "JSON inside a JSON text",
        subject: "triage",
        spoil: (_j, _w, value) => JSON.stringify(JSON.stringify(value)),
        expect: "read",
        without: ["prose", "draft"],
    },
    { name: "quotes as HTML references", subject: "triage", spoil: (json) => json.replaceAll('"', "&quot;"), expect: "read" },
    // ---- words and numbers ---------------------------------------------------------------------------------------------
    { name: "words of Python", subject: "triage", spoil: (json) => json.replace("false", "False"), expect: "read" },
    {
        name: "None for an optional field",
        subject: "maybe",
        spoil: (json) => json.replace(/"a\.ts"/, '"a.ts", "line": None'),
        expect: "read",
    },
    {
        name: "null for an optional field",
        subject: "maybe",
        spoil: (json) => json.replace(/"a\.ts"/, '"a.ts", "line": null'),
        expect: "read",
    },
    { name: "number as a text", subject: "triage", spoil: (json) => json.replace("1289", '"1289"'), expect: "read" },
    { name: "boolean as a text", subject: "triage", spoil: (json) => json.replace("false", '"False"'), expect: "read" },
    { name: "number with a plus", subject: "score", spoil: (json) => json.replace("42", "+42"), expect: "read" },
    { name: "number with a unit", subject: "score", spoil: (json) => json.replace("42", "42 points"), expect: "refuse" },
    { name: "number with a thousands comma", subject: "numbers", spoil: () => "[1,289, 5]", expect: "either", reads: [1, 289, 5] },
    { name: "integer too large to hold", subject: "score", spoil: (json) => json.replace("42", "12345678901234567890"), expect: "refuse" },
    { name: "number with a leading zero", subject: "score", spoil: (json) => json.replace("42", "042"), expect: "refuse" },
    { name: "NaN", subject: "score", spoil: (json) => json.replace("42", "NaN"), expect: "refuse" },
    { name: "no value", subject: "triage", spoil: (json) => json.replace("1289", ""), expect: "refuse" },
    { name: "choice in capitals", subject: "triage", spoil: (json) => json.replace('"high"', '"HIGH"'), expect: "read" },
    { name: "choice with a full stop", subject: "verdict", spoil: (json) => json.replace('"accept"', '"Accept."'), expect: "read" },
    { name: "choice that is none of them", subject: "triage", spoil: (json) => json.replace('"high"', '"severe"'), expect: "refuse" },
    {
        name: "choice with a remark",
        subject: "triage",
        spoil: (json) => json.replace('"high"', '"high, since builds fail"'),
        expect: "refuse",
    },
    { name: "two choices", subject: "verdict", spoil: (json) => json.replace('"accept"', '"accept or reject"'), expect: "refuse" },
    // ---- comments and omissions ----------------------------------------------------------------------------------------
    {
        name: "comments of two kinds",
        subject: "triage",
        spoil: (json) => json.replace(/("lines"\s*:\s*1289,)/, "/* counted */ $1 // from the log\n"),
        expect: "read",
    },
    { name: "comment with a hash", subject: "triage", spoil: (json) => json.replace("1289,", "1289, # from the log\n"), expect: "read" },
    { name: "ellipsis in a list", subject: "words", spoil: (json) => json.replace('"south"', '"south", ...'), expect: "refuse" },
    { name: "ellipsis for the rest of an object", subject: "triage", spoil: (json) => replaceLast(json, "}", ", ... }"), expect: "refuse" },
    { name: "ellipsis as a comment-like text", subject: "people", spoil: (json) => replaceLast(json, "]", ", … ]"), expect: "refuse" },
    { name: "name given twice, same value", subject: "triage", spoil: (json) => json.replace("{", '{"lines": 1289,'), expect: "read" },
    {
        name: "name given twice, other value",
        subject: "triage",
        spoil: (json) => json.replace("{", '{"severity": "low",'),
        expect: "refuse",
    },
    {
        name: "field missing",
        subject: "triage",
        spoil: (_j, write, value) => write(Object.fromEntries(Object.entries(value as object).slice(0, 3)) as Json),
        expect: "refuse",
    },
    // ---- shape ---------------------------------------------------------------------------------------------------------
    { name: "wrapped in result", subject: "triage", spoil: (_j, write, value) => write({ result: value }), expect: "read" },
    { name: "wrapped in the name of a shape", subject: "triage", spoil: (_j, write, value) => write({ Triage: value }), expect: "read" },
    { name: "wrapped twice", subject: "triage", spoil: (_j, write, value) => write({ response: { data: value } }), expect: "read" },
    {
        name: "envelope of a tool call",
        subject: "triage",
        spoil: (_j, write, value) => write({ name: "answer", arguments: value }),
        expect: "read",
    },
    {
        name: "tool call with its arguments as text",
        subject: "triage",
        spoil: (_j, write, value) => write({ type: "function", function: { name: "answer", arguments: JSON.stringify(value) } }),
        expect: "read",
    },
    { name: "put into a list of one", subject: "triage", spoil: (_j, write, value) => write([value]), expect: "read" },
    {
        name: "schema with values in it",
        subject: "triage",
        spoil: (_j, write, value) => write({ type: "object", properties: value }),
        expect: "read",
    },
    {
        name: "schema given back",
        subject: "verdict",
        spoil: (_j, write) =>
            write({ type: "object", properties: { verdict: { type: "string", enum: ["accept", "reject"] } }, required: ["verdict"] }),
        expect: "refuse",
    },
    {
        name: "names in another style",
        subject: "triage",
        spoil: (json) => json.replace('"severity"', '"Severity"').replace('"flaky"', '"Flaky"'),
        expect: "read",
    },
    {
        name: "list as an object with numbers",
        subject: "words",
        spoil: (_j, write, value) => write(Object.fromEntries((value as Json[]).map((item, at) => [String(at), item]))),
        expect: "read",
    },
    { name: "list in a wrapper", subject: "people", spoil: (_j, write, value) => write({ people: value }), expect: "read" },
    {
        name: "list where its field was asked for",
        subject: "labels",
        spoil: (_j, write, value) => write((value as { labels: Json }).labels),
        expect: "read",
    },
    {
        name: "list of a field as JSON text",
        subject: "labels",
        spoil: (_j, write, value) => write({ labels: JSON.stringify((value as { labels: Json }).labels) }),
        expect: "read",
    },
    {
        name: "one word where a list was asked for",
        subject: "triage",
        spoil: (_j, write, value) => write({ ...(value as object), tags: "linker, memory" }),
        expect: "refuse",
    },
    {
        name: "objects one after the other for a list",
        subject: "people",
        spoil: (_j, write, value) => (value as Json[]).map(write).join("\n"),
        expect: "read",
        without: ["prose", "draft"],
    },
    {
        name: "object one level too flat",
        subject: "invoice",
        spoil: (_j, write) => write({ name: "Ada Byron", city: "Zürich", items: [] }),
        expect: "refuse",
    },
    // ---- no JSON at all ------------------------------------------------------------------------------------------------
    {
        name: "bare choice where an object was asked for",
        subject: "verdict",
        spoil: () => "Accept",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    {
        name: "choice at the end of a sentence",
        subject: "verdict",
        spoil: () => "The tests pass and the change is small. Verdict: **accept**",
        expect: "read",
        without: ["prose", "draft"],
    },
    {
        name: "choice somewhere in prose",
        subject: "verdict",
        spoil: () => "I would not accept this without tests, although others might reject it.",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    {
        name: "bare text where an object was asked for",
        subject: "answer",
        spoil: () => "Paris is the capital",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    {
        name: "bare number where an object was asked for",
        subject: "score",
        spoil: () => "42",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    {
        name: "two numbers in prose",
        subject: "score",
        spoil: () => "Between 40 and 42 points.",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    { name: "bare yes where an object was asked for", subject: "spam", spoil: () => "Yes.", expect: "refuse", without: ["prose", "draft"] },
    {
        name: "list with bullets where an object was asked for",
        subject: "labels",
        spoil: () => "- bug\n- docs\n- help wanted",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    { name: "numbered list", subject: "words", spoil: () => "1. north\n2. east\n3. south", expect: "read", without: ["prose", "draft"] },
    {
        name: "list with a line that is no item",
        subject: "labels",
        spoil: () => "- bug\n- docs\nand perhaps more:",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    {
        name: "lines of names and values",
        subject: "triage",
        spoil: () => "severity: high\nreason: the linker ran out of memory\nlines: 1289\nflaky: false\ntags:\n  - linker\n  - memory",
        expect: "read",
        without: ["prose", "draft"],
    },
    {
        name: "tags named after fields",
        subject: "quoting",
        spoil: () => '<title>Minutes</title>\n<quote>she said "ship it" and left</quote>',
        expect: "read",
        without: ["prose", "draft"],
    },
    {
        name: "a refusal",
        subject: "triage",
        spoil: () => "I'm sorry, but I can't help with that request.",
        expect: "refuse",
        without: ["prose", "draft"],
    },
    {
        name: "a refusal where a text was asked for",
        subject: "answer",
        spoil: () => "I cannot assist with this.",
        expect: "refuse",
        without: ["prose", "draft", "fence"],
    },
    { name: "nothing", subject: "triage", spoil: () => "", expect: "refuse", without: ["prose", "draft", "fence"] },
    // ---- cut off -------------------------------------------------------------------------------------------------------
    {
        name: "cut inside a text",
        subject: "triage",
        spoil: (json) => json.slice(0, json.indexOf("ran out")),
        expect: "refuse",
        finish: "length",
        last: true,
    },
    {
        name: "cut inside a text, provider silent about it",
        subject: "triage",
        spoil: (json) => json.slice(0, json.indexOf("ran out")),
        expect: "refuse",
        last: true,
    },
    {
        name: "cut inside a number",
        subject: "triage",
        spoil: (json) => json.slice(0, json.indexOf("1289") + 2),
        expect: "refuse",
        last: true,
    },
    { name: "cut after a comma", subject: "words", spoil: (json) => json.slice(0, json.indexOf('"south"')), expect: "refuse", last: true },
    {
        name: "cut inside a list of objects",
        subject: "people",
        spoil: (json) => json.slice(0, json.indexOf("Bo")),
        expect: "refuse",
        finish: "length",
        last: true,
    },
    {
        name: "cut before the last brace",
        subject: "score",
        spoil: (json) => json.replace(/\s*\}$/, ""),
        expect: "refuse",
        finish: "length",
        last: true,
    },
    // ---- several answers -----------------------------------------------------------------------------------------------
    {
        name: "two answers, neither marked",
        subject: "verdict",
        spoil: (json, write) => `${json}\n${write({ verdict: "reject" })}`,
        expect: "refuse",
        without: ["draft"],
    },
    { name: "the same answer twice", subject: "verdict", spoil: (json) => `${json}\n\n${json}`, expect: "read" },
    {
        name: "an example and then the answer",
        subject: "verdict",
        spoil: (json, write) => `For example ${write({ verdict: "reject" })} would be wrong here.\nFinal answer: ${json}`,
        expect: "read",
        without: ["draft"],
    },
    {
        name: "a corrected answer",
        subject: "score",
        spoil: (json, write) => `${write({ score: 7 })}\nWait, I miscounted. Corrected: ${json}`,
        expect: "read",
        without: ["draft"],
    },
    {
        name: "the answer taken back",
        subject: "score",
        spoil: (_j, write) => `${write({ score: 7 })}\nWait, that is wrong.`,
        expect: "refuse",
        without: ["prose", "fence", "draft"],
    },
    {
        name: "a choice of two",
        subject: "verdict",
        spoil: (json, write) => `${json}\nAlternatively: ${write({ verdict: "reject" })}`,
        expect: "refuse",
        without: ["draft"],
    },
    // ---- what a hostile reader would try -------------------------------------------------------------------------------
    ...(
        [
            ["a percent sign", "42%"],
            ["a unit in a text", '"42 kg"'],
            ["a currency", "$42"],
            ["a thousands comma in a text", '"1,289"'],
            ["a decimal comma", "42,5"],
            ["a thousands space", "1 289"],
            ["hexadecimal digits", "0x2A"],
            ["infinity", "Infinity"],
            ["a power too large", "1e400"],
            ["a range", "40-42"],
            ["a fraction", "84/2"],
            ["an approximation", "~42"],
            ["a sum", "40 + 2"],
            ["a call", 'parseInt("42")'],
            ["digits of full width", "４２"],
            ["a list of one", "[42]"],
            ["an empty text", '""'],
            ["not applicable", '"N/A"'],
            ["a text that says null", '"null"'],
            ["null", "null"],
        ] as const
    ).map(
        ([what, by]): Fault => ({
            name: `number: ${what}`,
            subject: "score",
            spoil: (json) => json.replace("42", by),
            expect: "refuse",
        }),
    ),
    { name: "number with underscores", subject: "score", spoil: (json) => json.replace("42", "4_2"), expect: "read" },
    {
        name: "a text that says null is a text",
        subject: "answer",
        spoil: (_j, write) => write({ answer: "null" }),
        reads: { answer: "null" },
        expect: "read",
    },
    { name: "null where a text is needed", subject: "answer", spoil: (_j, write) => write({ answer: null }), expect: "refuse" },
    { name: "None where a text is needed", subject: "answer", spoil: () => '{"answer": None}', expect: "refuse" },
    { name: "choice in quotes of its own", subject: "verdict", spoil: (json) => json.replace('"accept"', "\"'ACCEPT'\""), expect: "read" },
    ...(
        ["acept", "not accept", "accept|reject", "accept (with changes)", "\u202eaccept", "аccept", "ac\u00adcept", "accept?!"] as const
    ).map(
        (by): Fault => ({
            name: `choice: ${by}`,
            subject: "verdict",
            spoil: (json) => json.replace('"accept"', JSON.stringify(by)),
            expect: by === "accept?!" ? "either" : "refuse",
        }),
    ),
    { name: "choice in a list of one", subject: "verdict", spoil: (json) => json.replace('"accept"', '["accept"]'), expect: "refuse" },
    ...(["yes", '"yes"', "1", '"true?"', '"False."', "not true"] as const).map(
        (by): Fault => ({ name: `yes or no: ${by}`, subject: "spam", spoil: (json) => json.replace("true", by), expect: "refuse" }),
    ),
    {
        name: "braces in the prose after it",
        subject: "score",
        spoil: (json) => `${json}\nI used {braces}, {"x"} and { } here. See {score}.`,
        expect: "read",
    },
    {
        name: "braces in the prose before it",
        subject: "score",
        spoil: (json) => `In {template} form, {score} is:\n${json}`,
        expect: "read",
        without: ["draft"],
    },
    {
        name: "another value in the prose after it",
        subject: "score",
        spoil: (json) => `${json}\nSet {score: 7} to change.`,
        expect: "refuse",
    },
    { name: "name in capitals", subject: "score", spoil: (json) => json.replace("score", "SCORE"), expect: "read" },
    { name: "name twice, in two styles", subject: "score", spoil: (json) => json.replace("{", '{"SCORE": 7,'), expect: "refuse" },
    { name: "name twice, neither as declared", subject: "score", spoil: () => '{"SCORE": 7, "Score": 42}', expect: "refuse" },
    { name: "name twice, once escaped", subject: "score", spoil: (json) => json.replace("{", '{"sc\\u006fre": 7,'), expect: "refuse" },
    { name: "name of like letters", subject: "score", spoil: (json) => json.replace("score", "scоre"), expect: "refuse" },
    {
        name: "name with a character of no width",
        subject: "score",
        spoil: (json) => json.replace("score", "sc\u200bore"),
        expect: "refuse",
    },
    {
        name: "characters of no width around",
        subject: "score",
        spoil: (json) => json.replaceAll(/([{}])/g, "\u200b$1\u200b"),
        expect: "either",
    },
    {
        name: "a fence inside a text",
        subject: "code",
        spoil: (_j, write) => write({ path: "a.md", patch: '```json\n{"path": "b", "patch": "c"}\n```' }),
        reads: { path: "a.md", patch: '```json\n{"path": "b", "patch": "c"}\n```' },
        expect: "read",
    },
    {
        name: "a fence inside a text, line breaks raw",
        subject: "code",
        spoil: (_j, write) => write({ path: "a.md", patch: "```js\nx\n```" }).replaceAll("\\n", "\n"),
        reads: { path: "a.md", patch: "```js\nx\n```" },
        expect: "read",
    },
    { name: "an answer tag around it", subject: "score", spoil: (json) => `<result>${json}</result>`, expect: "read" },
    { name: "a tag of its own around it", subject: "score", spoil: (json) => `<score_report>${json}</score_report>`, expect: "read" },
    { name: "server-sent events", subject: "score", spoil: (json) => `data: ${json}\n\ndata: [DONE]`, expect: "read" },
    { name: "quoted as in a mail", subject: "score", spoil: (json) => json.replaceAll(/^/gm, "> "), expect: "either" },
    {
        name: "lines with numbers",
        subject: "triage",
        spoil: (json) =>
            json
                .split("\n")
                .map((line, at) => `${at + 1} ${line}`)
                .join("\n"),
        expect: "either",
    },
    { name: "struck out and then right", subject: "score", spoil: (json, write) => `~~${write({ score: 7 })}~~ ${json}`, expect: "either" },
    {
        name: "a difference of two",
        subject: "score",
        spoil: (json, write) => `- ${write({ score: 7 })}\n+ ${json}`,
        expect: "refuse",
        without: ["draft"],
    },
    {
        name: "HTML comment around another",
        subject: "score",
        spoil: (json, write) => `<!-- ${write({ score: 7 })} -->\n${json}`,
        expect: "either",
    },
    { name: "a field in a comment", subject: "score", spoil: (json) => json.replace("{", '{ /* "score": 7, */ '), expect: "read" },
    { name: "an alternative in a comment", subject: "score", spoil: (json) => json.replace("42", "42 /* or 43 */"), expect: "refuse" },
    {
        name: "assigned to a name",
        subject: "triage",
        spoil: (json) => `result = ${json.replaceAll('"', "'").replace("false", "False")}`,
        expect: "read",
    },
    { name: "an expression in backticks", subject: "answer", spoil: (_j) => '{"answer": `Paris is $' + "{what}`}", expect: "refuse" },
    { name: "a text with a prefix", subject: "answer", spoil: (json) => json.replace('"Paris', 'f"Paris'), expect: "refuse" },
    { name: "guillemets", subject: "answer", spoil: (json) => json.replaceAll(/"([^"]*)"/g, "«$1»"), expect: "refuse" },
    { name: "curly single quotes", subject: "answer", spoil: (json) => json.replaceAll(/"([^"]*)"/g, "‘$1’"), expect: "read" },
    {
        name: "objects of a list of one",
        subject: "invoice",
        spoil: (_j, write) => write({ customer: [{ name: "Ada", city: "X" }], items: [] }),
        expect: "refuse",
    },
    { name: "two objects in a list", subject: "score", spoil: (_j, write) => write([{ score: 42 }, { score: 43 }]), expect: "refuse" },
    {
        name: "JSON text in each field",
        subject: "invoice",
        spoil: (_j, write, value) =>
            write(Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, JSON.stringify(one)]))),
        expect: "read",
    },
    {
        name: "JSON in a text in a text",
        subject: "score",
        spoil: (json) => JSON.stringify(JSON.stringify(JSON.stringify(json))),
        expect: "refuse",
        without: ["prose", "draft"],
    },
    { name: "two lines of JSON that differ", subject: "score", spoil: (json) => `${json}\n{"score": 43}`, expect: "refuse" },
    { name: "two lines of JSON that are the same", subject: "score", spoil: (json) => `${json}\n{"score": 42}`, expect: "read" },
    { name: "another record on the next line", subject: "score", spoil: (json) => `${json}\n{"done": true}`, expect: "read" },
    { name: "one object in two parts", subject: "quoting", spoil: () => '{"title": "Minutes"}\n{"quote": "done"}', expect: "refuse" },
    { name: "a whole brace too many on both sides", subject: "score", spoil: (json) => `{${json}}`, expect: "refuse" },
    {
        name: "too deep lists around it",
        subject: "score",
        spoil: (json) => `${"[".repeat(5000)}${json}${"]".repeat(5000)}`,
        expect: "refuse",
        without: ["draft"],
    },
    {
        name: "too deep objects around it",
        subject: "score",
        spoil: (json) => `${'{"a":'.repeat(300)}${json}${"}".repeat(300)}`,
        expect: "refuse",
        without: ["draft"],
    },
    {
        name: "deep lists around it, never closed",
        subject: "score",
        spoil: (json) => `${"[".repeat(300)}${json}`,
        expect: "refuse",
        without: ["draft"],
    },
    ...(
        [
            ["lines with a comment", "title: Minutes # of today\nquote: done", "refuse"],
            ["lines with a block of text", "title: Minutes\nquote: |\n  one\n  two", "refuse"],
            ["lines with one name twice", "title: a\nquote: b\ntitle: c", "refuse"],
            ["lines with a name too many", "title: Minutes\nquote: done\nsure: yes", "refuse"],
            ["lines in bold", "**Title:** Minutes\n**Quote:** done", "read"],
            ["lines of TOML", 'title = "Minutes"\nquote = "done"', "read"],
            ["lines of JSON without braces", '"title": "Minutes",\n"quote": "done"', "read"],
            ["names and values on one line", "title: Minutes, quote: done", "refuse"],
            ["a table", "| title | quote |\n|---|---|\n| Minutes | done |", "refuse"],
            ["tags with references", "<title>Minutes</title><quote>a &amp; b</quote>", "refuse"],
            ["tags with one twice", "<title>Minutes</title><quote>done</quote><title>Other</title>", "refuse"],
            ["tags with one too many", "<title>Minutes</title><quote>done</quote><note>x</note>", "refuse"],
            ["tags in a root", "<response><title>Minutes</title><quote>done</quote></response>", "read"],
            ["attributes of a tag", '<response title="Minutes" quote="done"/>', "refuse"],
            ["a call of Python", "dict(title='Minutes', quote='done')", "refuse"],
        ] as const
    ).map(
        ([name, text, expect]): Fault => ({
            name,
            subject: "quoting",
            spoil: () => text,
            reads: { title: "Minutes", quote: "done" },
            expect,
            without: ["prose", "draft"],
        }),
    ),
    ...(
        [
            ["a doubt before the mark", "I do not think the verdict is accept"],
            ["a condition before the mark", "If the tests pass, the verdict is accept"],
            ["two marks that differ", "Verdict: reject\nOn the other hand, the verdict: accept\nVerdict: accept"],
            ["words after the value", "Verdict: accept, I think"],
            ["a negation after the mark", "Verdict: not accept"],
        ] as const
    ).map(
        ([name, text]): Fault => ({
            name: `end of a sentence: ${name}`,
            subject: "verdict",
            spoil: () => text,
            expect: "refuse",
            without: ["prose", "draft"],
        }),
    ),
    {
        name: "talk in two lines where a list was asked for",
        subject: "words",
        spoil: () => "I looked at all of it.\nNothing was found.",
        expect: "refuse",
        without: ["prose", "draft"],
    },
];

export interface Case {
    readonly name: string;
    readonly fault: Fault;
    readonly subject: Subject;
    readonly layout: Layout;
    readonly surroundings: Surroundings;
    readonly text: string;
    readonly finish: "stop" | "length";
    /** What the model meant. */
    readonly value: Json;
}

export function lay(value: Json, layout: Layout): string {
    if (layout === "pretty") return JSON.stringify(value, null, 2);
    if (layout === "minified") return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((item) => lay(item, layout)).join(", ")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    return `{ ${Object.entries(value)
        .map(([key, item]) => `${JSON.stringify(key)}: ${lay(item, layout)}`)
        .join(", ")} }`;
}

function surround(text: string, surroundings: Surroundings, draft: string, last: boolean): string {
    switch (surroundings) {
        case "none":
            return text;
        case "prose":
            return `I looked at everything you gave me {briefly} and [of course] in order.\nHere is the result:\n\n${text}${last ? "" : "\n\nTell me if you need anything else :)"}`;
        case "fence":
            return `\`\`\`json\n${text}${last ? "" : "\n```"}`;
        case "think":
            return `<think>\nThe schema wants an object. Perhaps ${draft}? No, that does not fit {the facts}.\n</think>\n\n${text}`;
        case "draft":
            return `First draft:\n${draft}\n\nThat draft misses the point. Final answer:\n${text}`;
    }
}

/** Every fault in every layout and all surroundings it makes sense in. Texts that come out the same are given once. */
export function cases(): Case[] {
    const out: Case[] = [];
    for (const fault of FAULTS) {
        const subject: Subject = SUBJECTS[fault.subject];
        const seen = new Set<string>();
        for (const layout of LAYOUTS) {
            for (const surroundings of SURROUNDINGS) {
                if (fault.without?.includes(surroundings)) continue;
                const write = (value: Json): string => lay(value, layout);
                const text = surround(
                    fault.spoil(write(subject.value), write, subject.value),
                    surroundings,
                    write(subject.draft),
                    fault.last === true,
                );
                if (seen.has(text)) continue;
                seen.add(text);
                const value = fault.reads ?? subject.value;
                const name = `${fault.name} · ${layout} · ${surroundings}`;
                out.push({ name, fault, subject, layout, surroundings, text, finish: fault.finish ?? "stop", value });
            }
        }
    }
    return out;
}
