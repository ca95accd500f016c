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

    // A model may be wrong: a number that does not stand in the message is none.
    func order_of(message: string) {
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
    {
        path: "README.md",
        text: `# A Remit project

\`\`\`sh
remit run main.remit --input @input.json    # the value as JSON
remit explain main.remit                    # every prompt it can build
remit runs                                  # what ran
\`\`\`

Another model: \`--model openai://gpt-5-mini\`, or change the \`import llm\` line.
`,
    },
    { path: ".gitignore", text: ".remit/\n" },
];
