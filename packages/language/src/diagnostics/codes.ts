/**
 * Every diagnostic code with its severity, its rule in one sentence, and what to do about it. AgentScript's name where the rule is
 * the same, so that a reader who knows one knows the other.
 *
 * Boundary: data only. Codes of the reading phase are kept beside the parser and joined in here.
 *
 * N1: a code has one severity, everywhere.
 * N2: an error means that the program cannot run, or would fail or break a promise of the language wherever the place is reached.
 *     A warning means that it runs and probably not as meant. A note asks for nothing.
 */
import { SYNTAX_CODES, type SyntaxCodeName } from "../syntax/codes.ts";
import type { Severity } from "./diagnostic.ts";

export interface CodeRow {
    readonly severity: Severity;
    /** The rule, in one sentence. */
    readonly summary: string;
    /** What to do about it, where one sentence fits every case. */
    readonly hint?: string;
}

const CHECKS = {
    // ---- imports and files ----
    DUPLICATE_IMPORT: { severity: "error", summary: "Two imports of a file bind the same name.", hint: "rename or remove one of them" },
    UNAUTHORIZED_TOOL_IMPORT: {
        severity: "error",
        summary: "A `node:`, `npm:` or local module is imported that the allow list does not name.",
        hint: "allow it in the configuration of the project, or import another tool",
    },
    INVALID_IMPORT_URI: { severity: "error", summary: "The text after `from` does not name anything of that kind." },
    IMPORT_NOT_FOUND: {
        severity: "error",
        summary: "There is no file where an agent is imported from.",
        hint: "name the path from the importing file, such as ./reviewer.remit",
    },
    IMPORT_CYCLE: {
        severity: "error",
        summary: "Files import agents from one another in a circle.",
        hint: "move what both files need into a third one",
    },
    IMPORT_AGENT_MISSING: {
        severity: "error",
        summary: "The imported file declares no agent of that name.",
        hint: "import it under the name that the file gives it, or declare it there",
    },
    IMPORT_OUTSIDE_TREE: {
        severity: "error",
        summary: "A file outside the program's folder is imported.",
        hint: "move the file into the program's folder, or grant the folder when starting",
    },
    IMPORT_NOT_SHARED: {
        severity: "error",
        summary: "A name is used that another file of the program imports or declares, but not this one: each file has its own imports.",
        hint: "import it in this file, too",
    },
    UNUSED_IMPORT: { severity: "note", summary: "An import is not used in its file.", hint: "leave the import out" },

    // ---- agents, functions, parameters ----
    DUPLICATE_AGENT: { severity: "error", summary: "Two agents of a file have the same name.", hint: "rename one of them" },
    DUPLICATE_MAIN_AGENT: {
        severity: "error",
        summary: "More than one agent is marked `main`.",
        hint: "leave `main` at the one to start with",
    },
    MISSING_MAIN_AGENT: { severity: "error", summary: "There is no single agent to start with.", hint: "mark one agent with `main`" },
    MISSING_MAIN_FUNC: { severity: "error", summary: "The agent to start with has no `main func`.", hint: "mark one func with `main`" },
    DUPLICATE_MAIN_FUNC: { severity: "error", summary: "An agent has more than one `main func`.", hint: "leave `main` at one of them" },
    DUPLICATE_FUNCTION: {
        severity: "error",
        summary: "Two functions of one agent, or of one file, have the same name.",
        hint: "rename one of them",
    },
    DUPLICATE_BINDING: {
        severity: "error",
        summary: "A function, agent or shape has the name of an import or of something else in its file.",
        hint: "rename one of them",
    },
    DUPLICATE_PARAM: { severity: "error", summary: "Two parameters of a function have the same name.", hint: "rename one of them" },
    PARAM_SHADOWS_IMPORT: { severity: "error", summary: "A parameter has the name of an import.", hint: "rename the parameter" },

    // ---- authority ----
    REMIT_REFERENCE: {
        severity: "error",
        summary: "A remit, a delegation or a clause names something that is not there, or cannot be granted.",
    },
    REMIT_UNKNOWN_METHOD: {
        severity: "error",
        summary: "A grant or a clause names a method that the tool does not have.",
        hint: "`remit tools FILE` lists the methods of the tool",
    },
    REMIT_UNKNOWN_ARGUMENT: {
        severity: "error",
        summary: "A bound or a clause names an argument that the tool does not take, so that it would bind nothing.",
        hint: "`remit tools FILE` lists the arguments of each method",
    },
    ORIGIN_UNKNOWN: { severity: "error", summary: "A clause names an origin that nothing has and that is nearly the name of one." },
    REMIT_DENIED: {
        severity: "error",
        summary: "An agent uses what neither its remit nor any call or delegation of the program gives it, or a `never` forbids the use.",
        hint: "name it in the agent's remit, or pass it as an argument",
    },
    REMIT_UNUSED: { severity: "warning", summary: "A remit gives what the agent never uses.", hint: "leave the grant out" },
    REMIT_TOO_WIDE: {
        severity: "warning",
        summary: "A remit gives every method where the agent uses only some.",
        hint: "name the methods",
    },
    CLAUSES_DIFFER: {
        severity: "warning",
        summary: "Two imports lead to one thing, and one says less of it: the strictest of both binds both.",
        hint: "say the same at both, or import it once",
    },
    FOLDERS_OVERLAP: {
        severity: "warning",
        summary: "Two tools reach the same files, and what is said of one of their folders does not bind the other.",
        hint: "say the same of both, or import one of them",
    },
    ORIGIN_SHARED: {
        severity: "warning",
        summary: "A clause names an origin that several things of the program give: it lets none of them in.",
        hint: "import one of them under another name",
    },
    REMIT_BOUND: { severity: "error", summary: "A bound names an argument that cannot be told, or a pattern that nothing can match." },
    DELEGATE_DENIED: {
        severity: "error",
        summary: "A delegation gives what the one who delegates does not have.",
        hint: "delegate what this code has, or give it that first",
    },
    DELEGATE_UNUSED: {
        severity: "warning",
        summary: "A block delegates to an agent that is not called in it.",
        hint: "call the agent inside the block, or leave the delegation out",
    },
    DELEGATE_TO_USER: { severity: "warning", summary: "A block delegates to an agent that has no remit and runs as `user` anyhow." },
    FLOW_REFUSED: {
        severity: "error",
        summary: "A value reaches an argument whose clause will refuse it.",
        hint: "take the value from the input or the program, change the clause, or endorse the value",
    },
    FLOW_MAY_BE_REFUSED: {
        severity: "note",
        summary:
            "A function gives a value to an argument whose clause will refuse it, if the function gets to that call; or the input reaches such an argument, if the run does not name another origin for it. In `flow strict`: a value decides which list or object changes, and the run refuses the change if that list or object lacks the value's origins; or a value decides that an agent may define functions, or is told to one that may.",
    },
    FLOW_NOT_FOLLOWED: {
        severity: "note",
        summary:
            "The checker stops following what flows through a function, because its loops, the functions around it or its uses are too many. The run still refuses what clauses refuse there.",
        hint: "split the function",
    },
    CHOICE_ASKED: {
        severity: "note",
        summary: "What is not trusted may decide that a use happens, and no clause lets it: the run then asks, or refuses the use.",
        hint: "decide by what is trusted, or let it choose with a `choice` clause at the import",
    },
    ENDORSE_DENIED: {
        severity: "error",
        summary: "An agent endorses a value without `may endorse` in its remit.",
        hint: "write `may endorse` in its remit",
    },
    SPEND_NOTHING: {
        severity: "error",
        summary: "An amount is zero or given twice, so that nothing can be spent.",
        hint: "give each amount once, above zero",
    },

    // ---- contracts ----
    INVALID_PARAM_CONTRACT: { severity: "error", summary: "A parameter's contract or default value is not a valid one." },
    DUPLICATE_CONTRACT_FIELD: { severity: "error", summary: "A contract declares one field twice.", hint: "rename or remove one of them" },
    UNKNOWN_CONTRACT_TYPE: { severity: "error", summary: "A contract names a type that does not exist." },
    INVALID_CONTRACT_DEFAULT: {
        severity: "error",
        summary: "The default of a field is no literal of the field's own contract.",
        hint: "give a literal of the field's contract, or take the default away",
    },
    ENDLESS_SHAPE: {
        severity: "error",
        summary: "A shape requires a value of itself, so that no value of it can exist.",
        hint: "make the field optional, or a list of the shape",
    },
    CONTRACT_MISMATCH: {
        severity: "error",
        summary: "A value is passed or returned that can never meet the contract declared for it.",
        hint: "give a value of that shape, or change the contract",
    },
    UNKNOWN_PROPERTY: { severity: "error", summary: "A property is read that a value of known shape does not have." },
    MAYBE_ABSENT: {
        severity: "warning",
        summary: "A field that a contract allows to be absent is read as if it were there: the read fails where it is not.",
        hint: "read it with `?.`, and give a value for its absence with `??`",
    },
    UNDECLARED_PROPERTY: {
        severity: "warning",
        summary:
            "A property of a parameter is read that its contract does not declare: a caller may pass it, and nothing says so. An error where a declared name is nearly the same.",
        hint: "declare the field, with `?` if it may be absent",
    },
    UNKNOWN_METHOD: { severity: "error", summary: "A method is called that a value of known kind does not have." },
    INVALID_OPERAND: { severity: "error", summary: "An operator is given a value that it never takes." },
    INVALID_PATTERN: { severity: "error", summary: "`match` is given a pattern, or flags, that it refuses." },
    NEVER_EQUAL: {
        severity: "warning",
        summary: "A value is compared with a text that its contract rules out. An error where a text of the contract is nearly the same.",
    },
    LOST_IN_CONCAT: {
        severity: "warning",
        summary: "A list or object is added to a text and contributes nothing to it.",
        hint: "write text(…) around it, or .join(…) on a list",
    },

    // ---- names and calls ----
    UNKNOWN_IDENTIFIER: { severity: "error", summary: "A name is read that nothing has defined at this place." },
    UNKNOWN_FUNCTION: { severity: "error", summary: "A function is called that does not exist." },
    NOT_CALLABLE: {
        severity: "error",
        summary: "Something is called that is no function.",
        hint: "call a function by its name, or a member of an agent, tool, memory or value",
    },
    INVALID_ARGUMENT_COUNT: {
        severity: "error",
        summary: "A call has too few or too many arguments.",
        hint: "give one argument for each parameter that has no default",
    },
    DEFINE_PLACE: { severity: "error", summary: "A function is defined while the program runs only by what an agent answers." },
    INVALID_YIELD_ARGUMENT: {
        severity: "error",
        summary: "What is handed to an agent has names of its own, and none is called `agent`.",
    },
    INVALID_YIELD_OPTION: {
        severity: "error",
        summary: "A yield or `agent()` has no such option, or the option does not take this value.",
    },
    NAMED_ARGUMENT: {
        severity: "error",
        summary: "Arguments have names only where an agent is handed control.",
        hint: "write the value alone",
    },
    MISSING_FIELD: {
        severity: "error",
        summary: "A call of a `file:`, `sh:` or `temporal:` tool leaves out a field that its method needs.",
    },
    UNKNOWN_FIELD: {
        severity: "error",
        summary: "A call of one of the runtime's own tools, or of one that a file describes, names a field that its method does not have.",
    },
    UNKNOWN_MEMORY_METHOD: { severity: "error", summary: "A memory has the methods `add` and `query`." },
    LAMBDA_PLACE: {
        severity: "error",
        summary: "A lambda stands where no built-in takes one.",
        hint: "give it to a built-in method such as map, filter or sort_by, or write a func",
    },
    LAMBDA_EFFECT: {
        severity: "error",
        summary: "A lambda reaches a model, a tool or a memory.",
        hint: "write a `for` or a `parallel for` loop instead",
    },
    LAMBDA_RETURN: { severity: "error", summary: "`return` stands inside a lambda.", hint: "let the value be the last expression" },
    BREAK_OUTSIDE_LOOP: {
        severity: "error",
        summary: "`break` or `continue` stands outside a loop.",
        hint: "write `return` to leave a function",
    },
    UNREACHABLE: {
        severity: "warning",
        summary: "A statement can never run because the one before it always leaves.",
        hint: "leave the statement out, or put the one before it under a condition",
    },

    TOOL_TYPES_UNREAD: {
        severity: "note",
        summary: "Nothing is known of the functions of a TypeScript module: its types cannot be read here.",
    },
    TOOL_ERROR_FAILS: {
        severity: "note",
        summary:
            "Where an `mcp:` tool tells an error, this call fails with it: of its result nothing is read but `text`, `content` or `structured`.",
        hint: "read `ok` or `isError` of the result to go on with an error, or catch the failure",
    },
    LOST_VALUE: {
        severity: "note",
        summary:
            "A function ends in an `if` or `try` whose branches end in values: as a statement it gives none, and so does the function.",
        hint: "write `return` in the branches, or assign it: x = if … { … } else { … }",
    },

    // ---- blocks ----
    UNKNOWN_STAGE: { severity: "error", summary: "A stage calls what is neither in its file nor a verb." },
    STAGE_BACKEND: { severity: "error", summary: "A verb is not there on the backend of its block." },
    INVALID_STAGE: {
        severity: "error",
        summary:
            "A stage is something that cannot be called as one: a tool without a method, a value, a model, an agent without a main func.",
    },
    UNKNOWN_STAGE_ARGUMENT: { severity: "error", summary: "A stage names a parameter that what it calls does not have." },
    INVALID_STAGE_ARGUMENT: {
        severity: "error",
        summary:
            "An argument of a stage is missing, given twice, one too many, computed, or the name of something that cannot stand there.",
    },
    INVALID_STAGE_OPTION: { severity: "error", summary: "A stage has no such option, or the option does not take this value." },
    INVALID_CONDITION: { severity: "error", summary: "`when` takes a condition, and this is none." },
    STAGE_INPUT: { severity: "error", summary: "What flows into a stage does not fit the parameters that are free." },
    STAGE_INPUT_UNUSED: {
        severity: "warning",
        summary: "What flows into a stage is lost: nothing of it is free to take it.",
        hint: "leave one of its arguments out, or put the stage first in a branch of its own",
    },
    STAGE_WHO: { severity: "warning", summary: "`ask` looks meant for a person, or `approve` for a model." },
    BLOCK_ORDER: { severity: "error", summary: "The value of a block is read before the block has run." },
    BLOCKS_NOT_RUN: { severity: "warning", summary: "A file that is imported has blocks, which its importer does not run." },

    // ---- assignment ----
    IMMUTABLE_ASSIGNMENT: {
        severity: "error",
        summary: "An import, agent, function or shape is assigned to.",
        hint: "assign to a variable of another name",
    },
    INVALID_ASSIGNMENT_TARGET: { severity: "error", summary: "Only a name, a property or an item can be assigned to." },

    // ---- model, role, description ----
    UNKNOWN_MODEL: {
        severity: "error",
        summary: "`model` names something that is not imported.",
        hint: 'import it: import llm Model from "openai://…"',
    },
    INVALID_MODEL_REFERENCE: { severity: "error", summary: "`model` takes the name of an imported llm and nothing else." },
    INVALID_MODEL_BINDING: { severity: "error", summary: "`model` names something that is no llm." },
    INVALID_CONFIG_VALUE_TYPE: { severity: "error", summary: "`role` and `description` are literal texts." },

    // ---- generate ----
    MISSING_GENERATE_CONFIG: { severity: "error", summary: "`generate` needs a model, a role and a description in scope." },
    INVALID_GENERATE_INPUT: { severity: "error", summary: "`generate` needs an `input`." },
    UNKNOWN_GENERATE_OPTION: { severity: "error", summary: "`generate` has no such option." },
    DUPLICATE_GENERATE_OPTION: { severity: "error", summary: "`generate` is given one option twice." },
    INVALID_GENERATE_ATTEMPTS: { severity: "error", summary: "`attempts` is a whole number above 0." },
    INVALID_GENERATE_HIDE: { severity: "error", summary: '`hide` of a `generate` is "untrusted", and needs `tools`.' },
    INVALID_GENERATE_MAX_OUTPUT: { severity: "error", summary: "`max_output` is a number of tokens, such as 800 or 2k." },
    INVALID_GENERATE_MAX_OUTPUT_UNIT: { severity: "error", summary: "`max_output` knows no unit but `k`." },
    INVALID_GENERATE_TEMPERATURE: { severity: "error", summary: "`temperature` is a literal number." },
    INVALID_GENERATE_THINK: { severity: "error", summary: '`think` is true, false, "auto", "low", "medium" or "high".' },
    INVALID_GENERATE_STRICT: { severity: "error", summary: "`strict` is true or false." },
    INVALID_GENERATE_DEBUG: { severity: "error", summary: "`debug` is true or false." },
    INVALID_GENERATE_STREAM: { severity: "error", summary: "`stream` is true or false." },
    INVALID_GENERATE_TURNS: { severity: "error", summary: "`turns` is a whole number above 0." },
    INVALID_GENERATE_NUDGES: { severity: "error", summary: "`nudges` is a whole number above 0." },
    INVALID_GENERATE_TIMEOUT: { severity: "error", summary: "`timeout` is a literal time above 0, such as 30s, or milliseconds." },
    INVALID_GENERATE_TOOLS: {
        severity: "error",
        summary: "`tools` is a list of imported tools or of their methods, such as [Search, Repo.read].",
    },
    INSTRUCTION_DATA: {
        severity: "warning",
        summary: "Data is spliced into an instruction, where it has no label and no budget.",
        hint: "name the data with `use … as …` and keep the instruction a literal",
    },
    LOOP_MIXES: {
        severity: "note",
        summary: "The model of a tool loop reads untrusted data, and may call methods that do more than read.",
        hint: 'add `hide: "untrusted"`',
    },
    NO_CONTEXT: {
        severity: "note",
        summary: "A `generate` sees no context: its prompt is the instruction alone.",
        hint: "select what the model has to see with `use … as …`",
    },

    // ---- context ----
    INVALID_BUDGET: { severity: "error", summary: "A budget is at least 1." },
    INVALID_BUDGET_UNIT: { severity: "error", summary: "A budget has no unit, or `k` for thousand.", hint: "write 4k, or 4k tokens" },
    INVALID_PRIORITY: { severity: "error", summary: "A priority is a whole number from 0." },
    RESERVED_CONTEXT_LABEL: {
        severity: "error",
        summary: "`system`, `assistant`, `tool` and `developer` are no labels.",
        hint: "choose another label",
    },
    INVALID_USE_CALL: {
        severity: "error",
        summary: "A call stands inside `use`.",
        hint: "assign the result to a name first, then use the name",
    },
    INVALID_USE_RESOURCE: {
        severity: "error",
        summary: "A tool, model, agent, memory or function would be put into a prompt; only data can be.",
        hint: "use data that was got from it",
    },
    POSSIBLE_USE_RESOURCE: {
        severity: "warning",
        summary: "A value is used that may be, or hold, a tool, model, agent, memory or function: the run fails if it is one then.",
        hint: "use data that was got from it",
    },
    IMAGE_FROM_TEXT: {
        severity: "warning",
        summary: "`use image` gets a path or another value that is no picture: it takes a picture that was read, or a data URL.",
        hint: 'read it first: picture = Files.read({ path: "…", as: "image" })',
    },
    INVALID_AGENT_USE: { severity: "error", summary: "A `use` of an agent sees literals and file imports only." },
    INVALID_USE_ONE_OF: { severity: "error", summary: "`use one of` has at least two candidates and a label." },
    DUPLICATE_USE_ONE_OF_CANDIDATE: { severity: "error", summary: "Two candidates have the same name." },
    MULTIPLE_USE_ONE_OF_SELECTED: { severity: "error", summary: "More than one candidate is `selected`." },
    DUPLICATE_LABEL: {
        severity: "warning",
        summary: "Two items of one prompt have the same label.",
        hint: "give one of them another label",
    },
    UNUSED_USE: {
        severity: "warning",
        summary: "No `generate` can see this `use`.",
        hint: "move it before the `generate` that needs it, in the same block or around it, or leave it out",
    },

    // ---- loops ----
    INVALID_ITERATION_LIMIT: { severity: "error", summary: "The limit of a loop is a whole number, above 0 for `for`." },
    INVALID_PARALLEL_FOR_LIMIT: { severity: "error", summary: "The limit of `parallel for` is a whole number above 0." },
    INVALID_PARALLEL_FOR_BODY: {
        severity: "error",
        summary: "The body of `parallel for` ends in an expression, which is the value of the iteration.",
    },
    PARALLEL_FOR_OUTER_ASSIGNMENT: {
        severity: "error",
        summary: "`parallel for` assigns a variable of the outside.",
        hint: "let each iteration give a value, and combine the list of values afterwards",
    },
    PARALLEL_FOR_OUTER_MUTATION: {
        severity: "error",
        summary: "`parallel for` changes a list or object that all iterations share.",
        hint: "let each iteration give a value, and combine the list of values afterwards",
    },
    PARALLEL_FOR_EFFECTFUL_CALL: {
        severity: "error",
        summary: "`parallel for` writes through a tool or a memory.",
        hint: "collect the results, and write them in a `for` loop afterwards",
    },
    PARALLEL_FOR_REACHES_EFFECT: {
        severity: "warning",
        summary: "`parallel for` may write through a tool or a memory, by way of a function or a method that is not marked.",
    },
} as const satisfies Readonly<Record<string, CodeRow>>;

export type Code = SyntaxCodeName | keyof typeof CHECKS;

function joined(): Readonly<Record<Code, CodeRow>> {
    const rows: Record<string, CodeRow> = {};
    for (const [code, row] of Object.entries(SYNTAX_CODES)) rows[code] = { severity: row.severity, summary: row.meaning };
    return { ...rows, ...CHECKS } as Record<Code, CodeRow>;
}

/** Every code of the language. */
export const CODES: Readonly<Record<Code, CodeRow>> = joined();
