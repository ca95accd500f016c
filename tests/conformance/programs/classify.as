import llm Small from "ollama://llama3.2"
agent Triage {
    model Small
    role "a triager"
    description "Sorts tickets."
    main func(input { tickets: list[json] }) {
        out = { bug: [], question: [], other: [] }
        for t in input.tickets max 20 {
            use t.title as title
            use t max 200 as "whole ticket"
            c = generate({ input: "Classify the ticket as bug, question or other.", attempts: 3 }) -> {
                kind
                confidence: number
                tags: list[string]
            }
            if c.kind == "bug" { out.bug.add(t.id) } else { if c.kind == "question" { out.question.add(t.id) } else { out.other.add(t.id) } }
        }
        out
    }
}
