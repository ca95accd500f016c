/**
 * What people write from other languages, and what stands for it here. The reader and the checker say it instead of what they stumble
 * over.
 *
 * Boundary: data only. A word counts as foreign only where it is bound to nothing: AgentScript reserves none of them.
 */

/** What a word at the start of a statement begins elsewhere. */
export type ForeignStart = "name" | "context" | "each" | "loop" | "branch" | "function" | "choice" | "failure";

export const FOREIGN_STARTS: ReadonlyMap<string, ForeignStart> = new Map<string, ForeignStart>([
    ["let", "name"],
    ["const", "name"],
    ["var", "name"],
    ["uses", "context"],
    ["using", "context"],
    ["foreach", "each"],
    ["while", "loop"],
    ["elseif", "branch"],
    ["elif", "branch"],
    ["elsif", "branch"],
    ["func", "function"],
    ["function", "function"],
    ["def", "function"],
    ["fn", "function"],
    ["switch", "choice"],
    ["match", "choice"],
    ["throw", "failure"],
]);

export const FOREIGN_ADVICE: { readonly [K in ForeignStart]: { readonly message: string; readonly hint: string } } = {
    name: { message: "A name is made by assigning it.", hint: "Leave the word out: `x = 1`." },
    context: { message: "What a model sees is selected with `use`.", hint: "Write `use`." },
    each: { message: "A `for` goes over the items of a list.", hint: "Write `for x in items max 10 { … }`." },
    loop: { message: "There is no such loop.", hint: "Write `loop until done max 10 { … }`: it goes on until the condition holds." },
    branch: { message: "A further condition begins with `else if`.", hint: "Write `else if x { … }`." },
    function: {
        message: "A function stands beside the other functions, not inside one.",
        hint: "Move it out of this function: `func f(x) { … }`.",
    },
    choice: { message: "There is no such choice.", hint: "Write `if x == 1 { … } else if x == 2 { … } else { … }`." },
    failure: { message: "A failure is raised with `raise`.", hint: "Write `raise`." },
};

/** Names of values and calls that have another name, or none, here. */
export const FOREIGN_NAMES: ReadonlyMap<string, { readonly write?: string; readonly hint?: string }> = new Map([
    ["null", { write: "none" }],
    ["nil", { write: "none" }],
    ["None", { write: "none" }],
    ["undefined", { write: "none" }],
    ["True", { write: "true" }],
    ["False", { write: "false" }],
    ["await", { hint: "leave the word out: a call waits for its result" }],
    ["async", { hint: "leave the word out: a call waits for its result" }],
    ["raise", { hint: 'write what fails after it, on the same line: raise "…"' }],
    ["new", { hint: "leave the word out: an object is written { key: value }" }],
    ["self", { hint: "call a function of the agent by its name alone" }],
    ["this", { hint: "call a function of the agent by its name alone" }],
    ["print", { hint: "give the value back as the result; the trace shows what was done" }],
    ["console", { hint: "give the value back as the result; the trace shows what was done" }],
    ["len", { hint: "write .length after the list or text" }],
    ["str", { hint: "write text(…)" }],
    ["String", { hint: "write text(…)" }],
    ["int", { hint: "write number(…), and .floor() or .round() for a whole one" }],
    ["float", { hint: "write number(…)" }],
    ["Number", { hint: "write number(…)" }],
    ["parseInt", { hint: "write number(…), and .floor() or .round() for a whole one" }],
    ["parseFloat", { hint: "write number(…)" }],
    ["JSON", { hint: "write json.parse(text) and json.text(value)" }],
    ["Math", { hint: "write min(…) and max(…), or a method after the number: .round(), .floor(), .ceil(), .abs()" }],
    ["Date", { hint: "write time.now(), or time.parse(text)" }],
    ["Object", { hint: "write .keys(), .values() or .entries() after the object" }],
    ["range", { hint: "write repeat * 10 { … } to repeat, or a list of the numbers" }],
    ["in", { hint: "write items.any(x => x == item) for a list, object.has(key) or text.contains(part)" }],
    ["is", { write: "==" }],
    ["as", { hint: "a value keeps its type: number(…) and text(…) make another" }],
    ["assert", { hint: 'write if not x { raise "…" }' }],
    ["pass", { hint: "leave the block empty: { }" }],
    ["del", { hint: 'write object = object.without("key"), or items = items.filter((item, index) => index != 0)' }],
    ["typeof", { hint: "a contract says what a value is: func f(x: string)" }],
    ["instanceof", { hint: "a contract says what a value is: func f(x: string)" }],
    ["isinstance", { hint: "a contract says what a value is: func f(x: string)" }],
    ["sorted", { hint: "write .sort_by(x => x) after the list" }],
    ["enumerate", { hint: "write .map((item, index) => …) after the list" }],
    ["open", { hint: 'a file is read by a tool: import tool Files from "file://workspace", then Files.read({ path: "…" })' }],
    ["fetch", { hint: 'a page is read by a tool: import tool Web from "https://example.com", then Web.get({ url: "/" })' }],
    ["requests", { hint: 'a page is read by a tool: import tool Web from "https://example.com", then Web.get({ url: "/" })' }],
    ["process", { hint: 'a variable is read by a tool: import tool Env from "env://process", then Env.get({ name: "…" })' }],
    ["os", { hint: 'a variable is read by a tool: import tool Env from "env://process", then Env.get({ name: "…" })' }],
    ["require", { hint: 'a module is an import at the top of the file: import tool Name from "./tools.ts"' }],
]);

/** Types of contracts by other names. */
export const FOREIGN_TYPES: ReadonlyMap<string, string> = new Map([
    ["int", "number"],
    ["integer", "number"],
    ["float", "number"],
    ["double", "number"],
    ["num", "number"],
    ["str", "string"],
    ["text", "string"],
    ["bool", "boolean"],
    ["any", "json"],
    ["object", "json"],
    ["dict", "json"],
    ["map", "json"],
    ["array", "list"],
    ["null", "none"],
]);

/** What stands at the top of a file and is none of it. */
export const OUTSIDE = "Statements stand inside functions: `main agent { main func() { … } }`.";

/** What begins a line at the top of a file elsewhere. A word with `=` or `:` behind it is told by that. */
export const FOREIGN_ITEMS: ReadonlyMap<string, string> = new Map([
    ["from", 'Write `import tool Name from "…"`; a library of Python or JavaScript is no import here.'],
    ["interface", "A contract with a name is a shape: `shape Order { id: string }`."],
    ["type", "A contract with a name is a shape: `shape Order { id: string }`."],
    ["struct", "A contract with a name is a shape: `shape Order { id: string }`."],
    ["enum", 'Values to choose from are a shape, too: `shape Level "low" | "high"`.'],
    ["class", "Functions stand in an `agent` or beside it, fields in a `shape`: there are no classes."],
    ["export", "Leave the word out: agents and functions need no `export`."],
    ["async", "Leave the word out: a call waits for its result."],
]);
export const FOREIGN_CONSTANT = "There are no variables at the top of a file. A function stands for a constant: `func limit() { 3 }`.";
export const FOREIGN_SETTING =
    "This is no YAML. What an agent is stands in its braces (`agent Name { model Model … }`), what a project sets in `remit.json`.";

/** Lines of an agent by other names. */
const AS_ROLE = 'Write `role "…"` for who the model is, and `description "…"` for what it does.';

export const FOREIGN_LINES: ReadonlyMap<string, string> = new Map([
    ["system", AS_ROLE],
    ["instructions", AS_ROLE],
    ["prompt", AS_ROLE],
    ["persona", AS_ROLE],
    ["backstory", AS_ROLE],
    ["goal", 'Write `description "…"`.'],
    ["name", "The name stands before the brace: `agent Name { … }`."],
    ["llm", 'Write `model Model`, and `import llm Model from "…"` at the top of the file.'],
    ["tools", "A tool is imported at the top of the file, and offered at the call: `generate({ input: …, tools: [Name] })`."],
    ["memory", 'A memory is imported at the top of the file: `import memory Notes from "sqlite://notes.db"`.'],
    ["temperature", "It is an option of the call: `generate({ input: …, temperature: 0 })`."],
    ["max_tokens", "It is an option of the call: `generate({ input: …, max_output: 800 })`."],
]);

/** Options of `generate` by other names: the option that is meant, where it is one, and what to write. */
interface ForeignOption {
    readonly for?: string;
    readonly hint: string;
}
const AS_INPUT: ForeignOption = { for: "input", hint: "write input" };
const AS_CONTRACT: ForeignOption = { hint: "the contract stands behind the call: generate({ input: … }) -> { field: string }" };
const AS_ATTEMPTS: ForeignOption = { for: "attempts", hint: "write attempts: the tries in all, the first included" };

export const FOREIGN_OPTIONS: ReadonlyMap<string, ForeignOption> = new Map([
    ["prompt", AS_INPUT],
    ["instruction", AS_INPUT],
    ["instructions", AS_INPUT],
    ["query", AS_INPUT],
    ["question", AS_INPUT],
    ["task", AS_INPUT],
    [
        "messages",
        { for: "input", hint: 'write input: "…" for the instruction; data that the model has to see goes before it: use x as "label"' },
    ],
    ["context", { hint: 'data that the model has to see goes before the call: use x as "label"' }],
    ["system", { hint: 'write role "…" and description "…" in the agent' }],
    ["schema", AS_CONTRACT],
    ["output", AS_CONTRACT],
    ["output_type", AS_CONTRACT],
    ["response_format", AS_CONTRACT],
    ["returns", AS_CONTRACT],
    ["max_tokens", { for: "max_output", hint: "write max_output" }],
    ["retries", AS_ATTEMPTS],
    ["max_retries", AS_ATTEMPTS],
    ["max_steps", { for: "turns", hint: "write turns" }],
    ["max_turns", { for: "turns", hint: "write turns" }],
]);

/** Types with brackets of other languages. */
export const FOREIGN_GENERICS: ReadonlyMap<string, string> = new Map([
    ["optional", "What may be none is written `string?`."],
    ["union", "Write `string | number`."],
    ["literal", 'Write `"low" | "high"`.'],
    ["enum", 'Write `"low" | "high"`.'],
    ["dict", "Write `{ key: string }`, or `json` where the keys are not known."],
    ["record", "Write `{ key: string }`, or `json` where the keys are not known."],
    ["map", "Write `{ key: string }`, or `json` where the keys are not known."],
]);
