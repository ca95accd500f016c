// ReAct loop: think, act, observe.
import llm  Gpt    from "openai://gpt-4.1-mini"
import tool Search from "mcp://search"

main agent ReAct {
    model Gpt
    role "a careful research agent"
    description "Answers questions step by step using a search tool."

    main func(input {
        question: string
    }) {
        scratch = []
        use input.question as user
        use scratch.summary max 4k as "past observations"

        done = false
        answer = ""
        loop until done max 6 {
            thought = generate({
                input: "Decide the next action. Set finish to true when the answer is known.",
                attempts: 2,
                max_output: 1k
            }) -> {
                thought: string
                query: string
                finish: boolean
                answer
            }
            scratch.add({ thought: thought.thought, query: thought.query })
            if thought.finish {
                answer = thought.answer
                done = true
            } else {
                obs = Search.call({ tool: "search", args: { query: thought.query } })
                scratch.add(obs.text)
            }
        }
        { answer: answer, steps: scratch.length }
    }
}
