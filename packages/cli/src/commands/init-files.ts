/** What a new project begins with: nothing from elsewhere goes into what writes unseen. */
const POLICY = { path: "remit.json", text: '{\n    "policy": { "untrusted": "ask" }\n}\n' } as const;

/** The files of a new project, as data. */
export const PROJECT: readonly { readonly path: string; readonly text: string }[] = [
    {
        path: "main.remit",
        text: `// Finds out which order each message of a mailbox is about.
// Run: remit run main.remit --input @input.json
import llm Model from "local:"
import tool Files from "file://workspace"

shape Copied { order_number: string }

main agent Desk {
    model Model
    role "a helpful assistant"
    description "You copy facts from a text exactly as they are written."

    func copied(message: string) {
        use message max 600 as "text"
        generate({
            input: "Copy the order number.",
            attempts: 2,
            max_output: 24,
            temperature: 0
        }) -> Copied
    }

    // What plain code can tell, no model is asked: a message without a digit holds no order number.
    // A model may be wrong: a number that does not stand in the message is none.
    func order_of(message: string) {
        if message.match("[0-9]") == none {
            return none
        }
        number = copied(message).order_number
        if number != "" and message.contains(number) {
            return number
        }
        none
    }

    main func(input { mailbox: string }) {
        text = Files.read({ path: input.mailbox }).content
        messages = text.split("\\n---\\n").map((m) => m.trim()).filter((m) => m != "")
        parallel for message in messages max 50 {
            { order: order_of(message), message: message.slice(0, 60) }
        }
    }
}
`,
    },
    {
        path: "mailbox.txt",
        text: `I was charged twice for order A-1042. Please refund one of them.
---
Hello, my order B-2077 has not arrived yet. When will it come? Ben
---
Do you also have the blue lamp with a longer cable?
`,
    },
    { path: "input.json", text: '{ "mailbox": "mailbox.txt" }\n' },
    POLICY,
    {
        path: "README.md",
        text: `# A Remit project

\`\`\`sh
remit run main.remit --input @input.json    # the value as JSON
remit explain main.remit                    # every prompt it can build
remit runs                                  # what ran
\`\`\`

\`remit.json\` has the project's policy: before what comes from elsewhere goes into a call that writes or sends, you are asked.

Another model: \`--model openai://gpt-5-mini\`, or change the \`import llm\` line.
`,
    },
    { path: ".gitignore", text: ".remit/\n" },
];

/** The files of a new project that hands control to an agent: a stub at first, so that it runs without one. */
export const AGENT_PROJECT: readonly { readonly path: string; readonly text: string }[] = [
    {
        path: "main.remit",
        text: `// Hands the log of a failing build to an agent, which answers with a function: it runs here, with what it was passed.
// Run: remit run main.remit --input @input.json
import tool Files from "file://workspace"
import skill Triage from "./skills/triage"
// A stub that answers from a file. For a real agent write "acp://opencode" (or qwen-code, claude, codex, gemini) in its place.
import agent Fixer from "stub:source:answer.remit" { remit { spend 6 turns, 100k steps, 10 min } }

main func(input { log: string }) {
    log = Files.read({ path: input.log }).content
    Fixer.yield(log: log, files: Files.only(read, list)) with { skills: [Triage], turns: 4 } -> {
        cause: string "in one sentence"
        file: string
        line: string "the line to look at"
    }
}
`,
    },
    {
        path: "answer.remit",
        text: `// What the stub answers with: the kind of function that a real agent writes.
func answer(agent, log, files) {
    place = log.match("at ([\\\\w./-]+):(\\\\d+)")
    if place == none {
        raise "the log names no place"
    }
    path = place.groups[0]
    source = files.read({ path: path }).content
    {
        cause: log.lines().first(),
        file: path,
        line: source.lines()[number(place.groups[1]) - 1].trim()
    }
}
`,
    },
    {
        path: "skills/triage/SKILL.md",
        text: `---
name: triage
description: Find the line that makes a build fail. Use when a build log is at hand.
---

1. The first error counts; later ones often follow from it.
2. Open the file that it names and read the lines around the place.
3. Name one line. If the log names no place, say so: do not guess.
`,
    },
    { path: "build.log", text: "TypeError: Cannot read properties of undefined (reading 'price')\n    at src/total.mjs:2\n" },
    { path: "src/total.mjs", text: "export function total(items) {\n    return items[0].price;\n}\n" },
    { path: "input.json", text: '{ "log": "build.log" }\n' },
    POLICY,
    {
        path: "README.md",
        text: `# A Remit project with an agent

\`\`\`sh
remit run main.remit --input @input.json    # the value as JSON
remit trace last                            # what was sent, what came back, what its function did
remit check --authority main.remit          # who may do what
\`\`\`

For a real agent change the \`import agent\` line. What it may do stands in its remit and in the call.
`,
    },
    { path: ".gitignore", text: ".remit/\n" },
];
