/**
 * `remit init --from`: a small agent as another framework has it, beside the same one here.
 *
 * Boundary: text. The agents are the files of `templates/from`; those of other frameworks ran as they stand, with the versions named here.
 */
import { readFileSync } from "node:fs";
import stringWidth from "fast-string-width";
import { TEMPLATE_FOLDER } from "./init-files.ts";

interface Framework {
    readonly title: string;
    readonly file: string;
    /** Its word → the word here. */
    readonly words: readonly (readonly [string, string])[];
}

const KNOWN = {
    langgraph: {
        title: "LangGraph 1.7, LangChain 1.5",
        file: "langgraph.ts",
        words: [
            ["createAgent, a node of a graph", "an agent, a func; an edge is a call or an `if`"],
            ["systemPrompt and messages", "role, description and each `use … as …`: nothing else reaches the model"],
            ["responseFormat", "generate(…) -> { … }"],
            ["interruptOn, Command({ resume })", "`ask` at the import; `remit answer`, or a person at the terminal"],
            ["checkpointer", "the ledger, always; `remit resume` goes on inside a step"],
            ["recursionLimit", "`spend 6 turns`, tokens, money, time"],
            ["Send, map over a list", "parallel for … max N"],
        ],
    },
    "ai-sdk": {
        title: "AI SDK 7",
        file: "ai-sdk.ts",
        words: [
            ["ToolLoopAgent, generateText", "an agent, generate(…)"],
            ["instructions and messages", "role, description and each `use … as …`: nothing else reaches the model"],
            ["Output.object", "generate(…) -> { … }"],
            ["needsApproval", "`ask` at the import; a run that waits is in the ledger"],
            ["stopWhen, isStepCount(6)", "turns: 6, and `spend 6 turns, 20k tokens`"],
            ["useChat", "`remit serve` speaks the same stream: docs/streaming.md"],
        ],
    },
    mastra: {
        title: "Mastra 1.71",
        file: "mastra.ts",
        words: [
            ["Agent", "an agent, a func"],
            ["instructions", "role, description and each `use … as …`: nothing else reaches the model"],
            ["structuredOutput", "generate(…) -> { … }"],
            ["requireApproval, approveToolCall…", "`ask` at the import; `remit answer`, or a person at the terminal"],
            ["createWorkflow, .then, .parallel", "memory static ( a >=> (b <*> c) )"],
            ["storage", "the ledger, always"],
            ["maxSteps", "turns: 6, and `spend 6 turns, 20k tokens`"],
        ],
    },
} as const satisfies { readonly [name: string]: Framework };

export const FRAMEWORKS = Object.keys(KNOWN) as (keyof typeof KNOWN)[];

const HERE = "Remit";
const GAP = "   ";

/** `width`: columns of the terminal. Where both do not fit beside each other, one stands after the other. */
export function sideBySide(from: keyof typeof KNOWN, width: number): string {
    const { title, file, words } = KNOWN[from];
    const theirs = linesOf(file);
    const ours = linesOf("main.remit");
    const left = Math.max(...[title, ...theirs].map((line) => stringWidth(line)));
    const right = Math.max(...[HERE, ...ours].map((line) => stringWidth(line)));
    const code =
        left + GAP.length + right <= width
            ? columns([title, "", ...theirs], [HERE, "", ...ours], left)
            : [`// ${title}`, "", ...theirs, "", `// ${HERE}`, "", ...ours];
    const most = Math.max(...words.map(([word]) => word.length));
    return [
        ...code,
        "",
        ...words.map(([word, here]) => `${word.padEnd(most)}${GAP}${here}`),
        "",
        "The same checks on both sides: at most 500, and a person before money moves. Here they also hold for each order once, for what the model",
        "spends, and for what it was told: `remit check --authority`, `remit explain`.",
    ].join("\n");
}

function columns(left: readonly string[], right: readonly string[], width: number): string[] {
    const rows = Math.max(left.length, right.length);
    return Array.from({ length: rows }, (_, at) => {
        const line = left[at] ?? "";
        return `${line}${" ".repeat(width - stringWidth(line))}${GAP}${right[at] ?? ""}`.trimEnd();
    });
}

function linesOf(name: string): string[] {
    return readFileSync(new URL(`from/${name}`, TEMPLATE_FOLDER), "utf8")
        .trimEnd()
        .split("\n");
}
