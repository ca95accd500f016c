/** The files of a new project, as data. */
export const PROJECT: readonly { readonly path: string; readonly text: string }[] = [
    {
        path: "main.remit",
        text: `// Sorts the messages of a mailbox into the team that should answer them.
// Run: remit run main.remit --input @input.json
import llm Model from "local:"
import tool Files from "file://workspace"

shape Routed { team: "billing" | "technical" | "sales" }

main agent Router {
    model Model
    role "a support dispatcher"
    description "Decides which team answers a message. billing: invoices, payments, refunds. technical: errors, crashes, logins. sales: prices, offers, new customers."

    func route(message: string) {
        use message max 600 as "message"
        generate({ input: "Which team answers this message?", attempts: 2 }) -> Routed
    }

    main func(input { mailbox: string }) {
        text = Files.read({ path: input.mailbox }).content
        messages = text.split("\\n---\\n").map((m) => m.trim()).filter((m) => m != "")
        parallel for message in messages max 50 {
            { team: route(message).team, message: message.slice(0, 60) }
        }
    }
}
`,
    },
    {
        path: "mailbox.txt",
        text: `I was charged twice for my May invoice. Please refund one of them.
---
The app crashes with an error every time I log in.
---
What would 200 licences cost us per year?
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
