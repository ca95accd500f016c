/**
 * The verbs that Remit has (LANGUAGE 8): the entries. What each does is Remit source (`code/`), but for what only the machine can do.
 *
 * Boundary: data.
 */
import type { Contract } from "../contract/contract.ts";
import { CONVERGE, SUPERVISOR, TOOL_AGENT } from "./code/agents.ts";
import { ASK, FETCH, READ, SAVE, SUMMARIZE } from "./code/effects.ts";
import { ECHO, KINDS, MERGE, WHEN } from "./code/plain.ts";
import { FLOWING, registryOf, type Registry, type Verb, type VerbParam } from "./verb.ts";

const JSON_VALUE: Contract = { type: "json" };
const TEXT: Contract = { type: "string" };
const NUMBER: Contract = { type: "number" };
const LIST: Contract = { type: "list" };

function param(name: string, contract: Contract, description: string, more: Partial<VerbParam> = {}): VerbParam {
    return { name, contract, description, ...more };
}
/** What flows in; it may be left out where nothing needs to. */
function flowing(description: string, more: Partial<VerbParam> = {}): VerbParam {
    return param(FLOWING, JSON_VALUE, description, { flows: true, ...more });
}
const OPTIONAL = { optional: true } as const;
const BOTH = ["memory", "temporal"] as const;

function object(fields: { readonly [name: string]: Contract }): Contract {
    return { type: "object", fields: Object.entries(fields).map(([name, contract]) => ({ name, contract })) };
}
const BOOLEAN: Contract = { type: "boolean" };

/** What a researcher and a critic may ask for by the names of their parameters. */
const RESEARCHER = ["question", "input", "answer", "feedback", "round"] as const;
const CRITIC = ["question", "input", "answer", "round"] as const;
const PLANNER = ["question", "input", "max_subquestions"] as const;

function agent(name: string, description: string, gives: readonly string[]): VerbParam {
    return param(name, JSON_VALUE, description, { ...OPTIONAL, takes: "agent", gives });
}

const PLAIN: readonly Verb[] = [
    {
        name: "echo",
        description: "Gives its text, or what came in where it has none.",
        params: [param("text", JSON_VALUE, "what it gives", OPTIONAL), flowing("given where there is no text", OPTIONAL)],
        result: JSON_VALUE,
        effects: [],
        backends: BOTH,
        example: 'echo "hello"',
        code: ECHO,
    },
    {
        name: "merge",
        description:
            "Joins a list to one text, each item under a heading with its place in the list; what is none, such as a skipped branch, is left out.",
        params: [flowing("the list")],
        result: TEXT,
        effects: [],
        backends: BOTH,
        example: '( read "a.md" <*> read "b.md" ) >=> merge',
        code: MERGE + KINDS,
    },
    {
        name: "map",
        description:
            "Calls a verb, function or agent with each item of a list, side by side, and gives the list of what they gave in the same order.",
        params: [
            param("each", JSON_VALUE, "the verb, function or agent", { takes: "call" }),
            param(FLOWING, LIST, "the list", { flows: true }),
        ],
        result: LIST,
        effects: [],
        backends: BOTH,
        example: "map summarize",
        native: "map",
    },
    {
        name: "when",
        description:
            "Passes on what came in if a condition holds for it, else ends its branch: what follows in it is skipped, and its value is none.",
        params: [
            param("condition", TEXT, "contains X, not_contains X, field OP value (== != > >= < <=), field, not field", { condition: true }),
            flowing("what the condition is about", OPTIONAL),
        ],
        result: JSON_VALUE,
        effects: [],
        backends: BOTH,
        example: "when \"severity == 'high'\"",
        code: WHEN + KINDS,
    },
];

const EFFECTS: readonly Verb[] = [
    {
        name: "read",
        description: "Reads a file of the workspace as text.",
        params: [param("path", TEXT, "path in the workspace", { place: "path" })],
        result: TEXT,
        effects: ["tool:Verb_files.read"],
        backends: BOTH,
        example: 'read "notes.md"',
        code: READ,
    },
    {
        name: "save",
        description: "Writes what came in to a file of the workspace, a text as it is and anything else as JSON, and passes it on.",
        params: [param("path", TEXT, "path in the workspace", { place: "path" }), flowing("what is written")],
        result: JSON_VALUE,
        effects: ["tool:Verb_files.write"],
        backends: BOTH,
        example: 'save "report.md"',
        code: SAVE + KINDS,
    },
    {
        name: "fetch",
        description: "Gets a page from the web as text; a status that is no success fails.",
        params: [param("url", TEXT, "address, with https:// or http://", { place: "address" })],
        result: TEXT,
        effects: ["tool:Verb_web.call"],
        backends: BOTH,
        example: 'fetch "https://example.com"',
        credential: "the Authorization header of the request",
        code: FETCH,
    },
    {
        name: "ask",
        description: "Asks a model; what came in is its context. A person is asked by `approve`.",
        params: [param("prompt", TEXT, "the instruction"), flowing("the context", OPTIONAL)],
        result: JSON_VALUE,
        effects: ["model"],
        backends: BOTH,
        example: 'ask "What changed, in one sentence?"',
        credential: "the model's own key",
        code: ASK,
    },
    {
        name: "summarize",
        description: "Lets a model sum up what came in.",
        params: [flowing("what is summed up")],
        result: JSON_VALUE,
        effects: ["model"],
        backends: BOTH,
        example: "summarize",
        credential: "the model's own key",
        code: SUMMARIZE,
    },
    {
        name: "approve",
        description:
            "Asks a person, who is shown what came in; passes it on after a yes, and fails as `denied` after a no or when the time is up. A model is asked by `ask`.",
        params: [param("text", TEXT, "the question"), flowing("what the person is shown", OPTIONAL)],
        result: JSON_VALUE,
        effects: ["ask"],
        backends: BOTH,
        example: 'approve "Publish this?"',
        native: "approve",
    },
    {
        name: "wait",
        description: "Waits for a time and passes on what came in.",
        params: [param("duration", NUMBER, "30s, 5 min, 2 h", { duration: true }), flowing("passed on", OPTIONAL)],
        result: JSON_VALUE,
        effects: ["sleep"],
        backends: BOTH,
        example: "wait 5 min",
        native: "wait",
    },
];

const CONVERGED = object({
    answer: JSON_VALUE,
    converged: BOOLEAN,
    rounds: NUMBER,
    confidence: NUMBER,
    history: { type: "list", item: object({ round: NUMBER, answer: JSON_VALUE, verdict: JSON_VALUE }) },
});

const AGENTS: readonly Verb[] = [
    {
        name: "converge",
        description:
            "Lets a researcher answer a question and a critic judge the answer, round after round, until the critic approves or the rounds are used up.",
        params: [
            param("question", TEXT, "the question"),
            agent("researcher", "an agent or function that answers, instead of the default one", RESEARCHER),
            agent("critic", "one that judges: gives {approved, confidence, feedback}, instead of the default one", CRITIC),
            param(
                "threshold",
                NUMBER,
                "confidence from which an answer counts as approved; without it the critic's `approved` decides",
                OPTIONAL,
            ),
            param("max_rounds", NUMBER, "rounds at most, 1 to 100", { default: 3, range: [1, 100] }),
            param(
                "keep",
                {
                    type: "union",
                    of: [
                        { type: "literal", value: "best" },
                        { type: "literal", value: "last" },
                    ],
                },
                "which answer is given where none was approved",
                {
                    default: "best",
                },
            ),
            flowing("material for the researcher and the critic", OPTIONAL),
        ],
        result: CONVERGED,
        effects: ["model"],
        backends: BOTH,
        example: 'converge(question: "Why did sales drop?", threshold: 0.8, max_rounds: 4)',
        credential: "the model's own key",
        code: CONVERGE + KINDS,
    },
    {
        name: "tool_agent",
        description:
            "Lets a model reach a goal by calling tools, one step at a time, until it says that it is done or the steps are used up.",
        params: [
            param("task", TEXT, "the goal"),
            param("tools", { type: "list", item: TEXT }, "imported tools or methods of them: [Search, Repo.read]", {
                takes: "tools",
                default: [],
            }),
            param("prompt", TEXT, "how to work", { default: "" }),
            param("max_steps", NUMBER, "steps at most, 1 to 100", { default: 8, range: [1, 100] }),
            flowing("what the task is about", OPTIONAL),
        ],
        result: object({ answer: JSON_VALUE, converged: BOOLEAN, steps: LIST }),
        effects: ["model"],
        backends: BOTH,
        example: 'tool_agent(task: "Find the failing test", tools: [Files], max_steps: 6)',
        credential: "the model's own key",
        code: TOOL_AGENT,
    },
    {
        name: "supervisor",
        description: "Splits a question into parts, lets each converge side by side, and joins the answers.",
        params: [
            param("question", TEXT, "the question"),
            agent("researcher", "as of converge", RESEARCHER),
            agent("critic", "as of converge", CRITIC),
            agent("planner", "an agent or function that gives the list of parts, instead of splitting the text", PLANNER),
            param("max_subquestions", NUMBER, "parts at most, 1 to 50; what is beyond is told in `dropped`", {
                default: 5,
                range: [1, 50],
            }),
            param("max_rounds_per_child", NUMBER, "rounds of each part at most, 1 to 100", { default: 3, range: [1, 100] }),
            flowing("material for the researcher and the critic", OPTIONAL),
        ],
        result: object({ synthesis: TEXT, answers: LIST, success_count: NUMBER, failure_count: NUMBER, dropped: LIST }),
        effects: ["model"],
        backends: BOTH,
        example: 'supervisor(question: "What is new in A and B?", max_subquestions: 3)',
        credential: "the model's own key",
        code: SUPERVISOR + CONVERGE + KINDS,
    },
];

export const NATIVE_VERBS: Registry = registryOf(PLAIN, EFFECTS, AGENTS);
