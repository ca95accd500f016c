/**
 * What people write from other languages, and what stands for it here. The reader and the checker say it instead of what they stumble
 * over.
 *
 * Boundary: data only. A word counts as foreign only where it is bound to nothing: AgentScript reserves none of them.
 */

/** What a word at the start of a statement begins elsewhere. */
export type ForeignStart = "name" | "loop" | "branch" | "function" | "choice" | "failure";

export const FOREIGN_STARTS: ReadonlyMap<string, ForeignStart> = new Map<string, ForeignStart>([
    ["let", "name"],
    ["const", "name"],
    ["var", "name"],
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
