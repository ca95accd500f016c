/** What the help of a command shows below its options: notes and examples. */
import { BLOCK_EXAMPLES } from "./of-blocks.ts";
import { CREDENTIAL_EXAMPLES } from "./of-credentials.ts";
import { SERVING_EXAMPLES } from "./of-serving.ts";

/** Shown below the options of a command. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
    run: [
        `remit run triage.remit --input '{"log": "build.log"}'`,
        "remit run triage.remit --input @input.json --model mock:",
        "cat log.json | remit run triage.remit --input - --trace-file run.ndjson > verdict.json",
    ],
    resume: [
        "remit resume last",
        "remit resume last --answer 'main/Mail.send#0=again'",
        "remit resume last --retry",
        "remit resume last --raise tokens=200k",
        "remit resume last --on temporal",
    ],
    asks: ["remit asks", "remit asks last --full"],
    answer: ["remit answer last 3f9c once", "remit answer last 3f9c deny session"],
    replay: ["remit replay last"],
    repl: ["remit repl", "echo '1 + 1' | remit repl"],
    debug: ["remit debug last", "echo 'goto failure' | remit debug last", "remit debug last --agent opencode --at main.remit:12"],
    snapshot: ["remit snapshot last --json", "remit snapshot last --at main/helper#0"],
    ras: [
        "remit ras run triage.py --input repo=web --llm ollama://llama3.2",
        "remit ras run health-check --input @inputs.json",
        "remit ras list",
    ],
    agent: [
        `remit agent --prompt 'Find the cause.' --prompt - --agent acp://opencode < build.log`,
        `agent --prompt 'Sum it up.' --agent acp://opencode --config '{"budget": {"max_steps": 20}}' | jq -r .data.text`,
    ],
    reason: [
        `remit reason --prompt 'Why did it fail?' --prompt - --structure '{"cause": ""}' < build.log`,
        `act --manual | reason --prompt 'Which tools fit?' --prompt - --structure '["name"]' | jq -r '.data[]'`,
    ],
    act: ["remit act --manual", "remit act --yes bash npm test", `remit act webfetch '{"url": "https://example.com"}'`],
    check: ["remit check *.remit", "remit check main.remit --fix"],
    policy: ["remit policy suggest main.remit", "remit policy suggest main.remit --runs 50 --json"],
    fmt: ["remit fmt main.remit", "remit fmt --fix *.remit", "remit fmt --check *.remit"],
    types: ["remit types", "remit types --check", "remit types src/desk.remit"],
    parse: ["remit parse main.remit"],
    compile: ["remit compile main.remit --output program.json"],
    explain: ["remit explain main.remit", "remit explain last", "remit explain last --full --at generate#0"],
    runs: ["remit runs --limit 5", "remit runs --waiting", "remit runs --prune --older-than 30d --keep 100"],
    atif: [
        "remit atif validate trajectory.json",
        "remit atif show trajectory.json --full",
        "remit trace last --atif | remit atif validate -",
    ],
    trace: ["remit trace last", "remit trace last --follow", "remit trace last --otel http://localhost:4318", "remit trace verify"],
    diff: ["remit diff mwqe last"],
    why: ["remit why last", "remit why last /diff", "remit why last main/Mail.send#0/to"],
    audit: ["remit audit last", "remit audit last --sarif > audit.sarif", "remit audit main.remit --fail-on low"],
    cost: ["remit cost last"],
    errors: ["remit errors", "remit errors limit.turns", "remit errors FLOW_REFUSED"],
    init: ["remit init hello", "remit init hello --template triage", "remit init --from langgraph"],
    models: ["remit models", "remit models pull local"],
    tools: ["remit tools", "remit tools main.remit"],
    skills: ["remit skills", "remit skills show triage", "remit skills validate skills/triage"],
    lock: ["remit lock main.remit", "remit lock --check"],
    trust: ["remit trust", "remit trust --show", "remit trust --revoke"],
};

/** What else is said, before the examples. */
const NOTES: Readonly<Record<string, string>> = {
    debug: `RUN is a run's id, the beginning of one, or \`last\`. \`help\` lists the debugger's commands; piped in, they are read one a line.`,
    run: `Models: openai://M, anthropic://M, google://M, ollama://M, https://HOST/v1#M, local: (built in),
mock: (zero values), scripted:FILE, recorded:FILE.`,
};
const RUN_NOTE = "RUN is a run's id, the beginning of one, or `last`.";
const OF_RUNS: ReadonlySet<string> = new Set([
    "status",
    "result",
    "cancel",
    "approve",
    "signal",
    "why",
    "resume",
    "asks",
    "answer",
    "replay",
    "explain",
    "trace",
    "diff",
    "cost",
    "snapshot",
]);

/** The text below the options of a command. */
export function examples(name: string): string {
    const shown = EXAMPLES[name] ?? BLOCK_EXAMPLES[name] ?? SERVING_EXAMPLES[name] ?? CREDENTIAL_EXAMPLES[name] ?? [];
    const note = NOTES[name] ?? (OF_RUNS.has(name) ? RUN_NOTE : undefined);
    return [
        ...(note === undefined ? [] : ["", note]),
        "",
        shown.length === 1 ? "Example:" : "Examples:",
        ...shown.map((one) => `  ${one}`),
    ].join("\n");
}
