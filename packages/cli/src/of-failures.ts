/**
 * What each kind of failure means for the person who meets it: what leads to it and what to do. `remit errors` shows it, and docs/failures.md is made of it.
 *
 * Boundary: words. When a kind comes up, and which code can catch it, is the machine's and stands in docs/language-failures.md.
 */
import type { FailureKind } from "@remit/machine";

export interface AboutFailure {
    /** One sentence. */
    readonly what: string;
    readonly causes: readonly string[];
    readonly remedies: readonly string[];
}

export const ABOUT_FAILURES: { readonly [kind in FailureKind]: AboutFailure } = {
    refusal: {
        what: "A model or an agent answered that it will not do this.",
        causes: [
            "The provider's own rules stopped the answer.",
            "The prompt holds text that looks like a request for harm, such as a hostile mail that is to be sorted.",
        ],
        remedies: [
            "Read what the model was sent: `remit explain last`.",
            "Say in `role` and `input` what the text is for; give less of it.",
            "Catch it where one item of many may be refused: `try { … } catch failure { … }`.",
        ],
    },
    unreachable: {
        what: "A server, a provider, an agent or a process could not be reached, or went away.",
        causes: [
            "The address is wrong, the server is down, or there is no network.",
            "A server that a configuration starts ended at once; the message has its last lines.",
        ],
        remedies: [
            "`remit models` and `remit tools` say what can be reached, and why not.",
            "`remit resume RUN --retry` goes on when the server is back; nothing that was done is done again.",
        ],
    },
    timeout: {
        what: "An effect took longer than it may.",
        causes: ["A slow model or server.", "A command that waits for input, or does not end."],
        remedies: [
            "Give the call more time: `timeout` of `generate`, `Http.get`, `Shell.run`, or `with { timeout: … }` of a stage (milliseconds).",
            "`remit resume RUN --retry` asks again.",
        ],
    },
    rate_limited: {
        what: "A provider asks to wait for longer than a run waits by itself.",
        causes: ["More requests or tokens a minute than the account has.", "A daily amount is used up."],
        remedies: [
            "Ask for less at once: `--concurrency 4`, or `rates` in the configuration, which all turns of an endpoint share.",
            "`remit resume RUN --retry` when the time that the message names is over.",
        ],
    },
    invalid_payload: {
        what: "An agent gave no function that is valid within its turns, or JSON that was to be a program form is none.",
        causes: ["A model that is too small for the language of functions.", "A task that cannot be done with what was passed."],
        remedies: [
            "`remit trace last` shows each answer and what was wrong with it.",
            "Give more turns (`with { turns: 8 }`), a skill with an example, or a smaller task.",
        ],
    },
    contract: {
        what: "A value does not hold its contract, or the input lacks a field.",
        causes: ["A model's reply had another shape after all attempts.", "`--input` has another field, a misspelt one, or none."],
        remedies: [
            "`remit explain last` shows the replies and what was said of each; give more `attempts`, a shorter contract, or descriptions of its fields.",
            "Where the input lacks a field, the message names it: `--input '{…}'`, or `--input @FILE`.",
        ],
    },
    tool: {
        what: "A tool or a memory failed.",
        causes: [
            "What it was asked for is not there: a path, a page, a record.",
            "An MCP server told an error that no line of the program looks at.",
        ],
        remedies: [
            "The message has the tool's own words, its method and its address; `remit tools FILE` says what arguments it takes.",
            "Catch it, or look at `isError` of an MCP result, where it is a normal case.",
        ],
    },
    model: {
        what: "A provider failed, or an answer was cut off.",
        causes: ["A key is missing or wrong.", "The prompt does not fit the model, or `max_output` is too small for the contract."],
        remedies: [
            "`remit models` says which models can be used. `--model URI` or `REMIT_MODEL` names another.",
            "Give the context items budgets (`use x max 1k tokens`), or `generate` a larger `max_output`.",
        ],
    },
    value: {
        what: "An operand, an index, a property or an argument is not what it has to be.",
        causes: ["Data from outside has another shape than the program expects.", "`none` where a value was expected."],
        remedies: [
            "`a?.b` gives none where a key is absent, `a ?? b` the second where the first is none.",
            "Put a contract on what comes in: `-> { … }` at `generate`, types at parameters; then the failure names the field.",
        ],
    },
    denied: {
        what: "A person said no, no person was there to ask, or the project's configuration is not trusted.",
        causes: [
            "A gate or a policy asks, and the run has no terminal.",
            "A configuration of this folder starts commands or loads modules, and no person has looked at it.",
        ],
        remedies: [
            "Run it on a terminal, or with `--park`: `remit asks` shows the question, `remit answer` answers it, `remit resume` goes on.",
            "`remit trust --show` says what the configuration wants; `remit trust` lets it.",
            "To be asked less, say in a clause what is meant: docs/authority.md.",
        ],
    },
    raised: {
        what: "The program itself ended with `raise`.",
        causes: ["What the message says."],
        remedies: ["The place is in the program; `remit trace last` shows the way there, `remit debug last` lets you walk it."],
    },
    cancelled: {
        what: "The run was stopped: Ctrl-C, a signal, a closed connection, `remit cancel`.",
        causes: ["A person or a program wanted it."],
        remedies: ["`remit resume RUN` goes on from where it stopped."],
    },
    "limit.steps": {
        what: "The steps of the run, a block or an agent are used up.",
        causes: ["A loop over more than was thought.", "An agent's function that does not end."],
        remedies: ["`remit debug last` shows where it stood. `--max-steps`, `spend 1M steps`, or `remit resume RUN --raise steps=1M`."],
    },
    "limit.time": {
        what: "The time of the run, a block or an agent is up. Waiting for a person's answer does not count.",
        causes: ["Slow models or servers.", "More items than the time is for."],
        remedies: [
            "`--timeout`, `spend 30 min`, or `remit resume RUN --raise time=30min`.",
            "Side by side: `parallel for`, `--concurrency`.",
        ],
    },
    "limit.tokens": {
        what: "What is left of the tokens does not hold the next prompt with its reply.",
        causes: ["Context items without a budget.", "More turns or items than the amount is for."],
        remedies: [
            "`remit cost last` says which places used them.",
            "`use x max 2k tokens`, `max_output`; or `--max-tokens`, `spend 200k tokens`, `remit resume RUN --raise tokens=200k`.",
        ],
    },
    "limit.cost": {
        what: "What is left of the money does not hold the next turn.",
        causes: ["As with tokens; or a model whose price is not known, which counts as unbounded where money is bounded."],
        remedies: ["`remit cost last`; `--max-cost`, `spend 2 usd`, `remit resume RUN --raise usd=2`; `prices` in the configuration."],
    },
    "limit.turns": {
        what: "The turns of a `generate`, of the run or of an agent's session are used up.",
        causes: ["A model that calls tools again and again.", "An agent whose answers are not valid."],
        remedies: [
            "`remit trace last` shows what each turn was used for.",
            "`turns: 8` in `generate`, `with { turns: 8 }` at a yield, `spend 20 turns`; or a smaller task.",
        ],
    },
    "limit.calls": {
        what: "The effects of the run, a block or an agent are used up.",
        causes: ["A loop that calls a tool for each item."],
        remedies: ["`spend 100 calls`, or `remit resume RUN --raise calls=100`; a call that takes many items at once."],
    },
    "limit.bytes": {
        what: "A value, a text, a list, or all data of the run grew too large.",
        causes: ["A file or a reply of many megabytes.", "A list that grows in a loop."],
        remedies: [
            "Pass a part (`slice`, `sh://read-range`), or the items one by one.",
            "The bounds are in docs/language-limits.md#limits.",
        ],
    },
    "limit.depth": {
        what: "Calls are nested too deep.",
        causes: ["A function that calls itself without an end."],
        remedies: ["Write a `for` loop, or give the function its way out first."],
    },
    "violation.remit": {
        what: "Code used what its remit, an import or the project's policy does not give.",
        causes: [
            "The remit does not name the method, or bounds it in another way.",
            "An agent tried something that it may not: then this is the remit at work.",
        ],
        remedies: [
            "The message names the rule and its line. `remit check --authority FILE` shows who may do what.",
            "Where the use is right: name it in the remit, `delegate` it for a block, or pass it as an argument.",
        ],
    },
    "violation.flow": {
        what: "A value, or a choice, went where a clause or the policy does not let it go.",
        causes: [
            "Text from outside reaches an argument that takes only what is trusted.",
            "Text from outside decided that the call happens.",
        ],
        remedies: [
            "`remit why last 'PATH'`, as the message writes it, shows the way of the value.",
            "Take the value from the input or the program; say in the clause what is let in (`from(…)`, `among(…)`, `or ask`, `choice`); or `endorse` it where that is right.",
        ],
    },
    "violation.capability": {
        what: "A tool, model or agent would have become data, or an agent's answer calls a method that it was not told of.",
        causes: ["A capability in a list that is sent, or shown to a model."],
        remedies: ["Pass it as an argument of its own; `.only(…)` narrows it."],
    },
    "violation.revoked": {
        what: "Authority was used that had ended.",
        causes: ["A capability was kept after the call or the block that lent it.", "A client took back a tool that it had lent."],
        remedies: ["Use it inside the call or the block; lend it again."],
    },
    "violation.payload": {
        what: "An agent's answer uses a name that no answer may use: `__proto__`, `constructor`, `prototype`.",
        causes: ["A hostile or a confused agent."],
        remedies: ["`remit trace last` shows what it sent. Nothing of it was run."],
    },
};

/** The part of the page on a kind; `remit errors KIND` shows the same. */
export function aboutFailure(kind: FailureKind): string {
    const { what, causes, remedies } = ABOUT_FAILURES[kind];
    const list = (items: readonly string[]): string => items.map((one) => `- ${one}`).join("\n");
    return `${what}\n\nWhat leads to it:\n\n${list(causes)}\n\nWhat to do:\n\n${list(remedies)}`;
}

export function failuresPage(): string {
    const kinds = Object.keys(ABOUT_FAILURES) as FailureKind[];
    return `# Failures

A run that fails ends with exit code 1. It says the kind of the failure, a message, the place in the program, and often a line \`help:\` or \`goes on:\` with a command. ([The other exit codes](cli.md#streams-and-exit-codes).) \`try { … } catch failure { … }\` catches one, with the kind as \`failure.kind\`; \`raise "…"\` makes one. \`remit errors KIND\` shows a section of this page in a terminal. Which code can catch which kind: [language reference](language-failures.md#failures). What \`remit check\` says before a run: [Diagnostics](diagnostics.md).

## What to do first

1. \`remit trace last\` shows what the run did up to the failure, \`remit explain last\` what the model was sent, \`remit debug last\` the variables at that place.
2. Look up the kind below, and mend the cause.
3. Go on with the run. What has an outcome is not done or paid for again.

| the run | goes on with |
| --- | --- |
| failed because a server, a model or a tool did | \`remit resume last --retry\` |
| reached a limit of the run | \`remit resume last --raise usd=2\` |
| reached a limit of a \`spend\` block or an agent | the same with the account: \`remit resume last --raise 'main/spend#0:usd=2'\`; the last line of the run is the exact command |
| reached \`turns\` of a \`generate\` | nothing: give the \`generate\` more turns, and run the program anew |
| failed at an effect whose outcome you know | \`remit resume last --answer PATH=VALUE\`; the value is held against its contract |
| was killed, or stopped by Ctrl-C (exit code 130) | \`remit resume last\` |
| waits for an answer (exit code 3) | \`remit asks\`, \`remit answer\`, then \`remit resume last\` |
| failed by a mistake in its program | nothing, because a run finishes on the program that it began with: mend it, and run it anew |

**What is tried again without you.** A model turn that meets passing trouble is tried three more times, after waits of at most a minute each. A call of a tool is made once; [a loop](language-failures.md#failures) can try it again, and a stage of a [block](blocks.md#options-of-a-stage) has \`retries\`.

**After a kill** an effect may have begun and have no outcome. A read and a model turn are done again. Of everything else the run asks what became of it: \`remit resume last --answer 'PATH=done:{"ok":true}'\`, \`PATH=again\` or \`PATH=give-up\`.

**What was done stays done.** A failure takes nothing back. Files that a \`file:\` tool wrote can be taken back by its [\`undo\`](tools.md#files); for the rest write the way back behind a \`try\`.

**In a tool loop** the model is told that a call of its failed, and goes on. Limits and violations end the loop.

**In a \`parallel for\`** the other items finish first. Then one failure tells each message once, with the numbers of its items.

${kinds.map((kind) => `## ${kind}\n\n${sectionOf(ABOUT_FAILURES[kind])}\n`).join("\n")}`;
}

function sectionOf({ what, causes, remedies }: AboutFailure): string {
    return `${what}\n\nCauses: ${causes.join(" ")}\n\n${remedies.map((one) => `- ${one}`).join("\n")}`;
}
