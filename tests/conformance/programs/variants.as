import llm M from "openai://gpt-4.1-mini"
import file Long from "./style.md"
main agent Variants {
    model M
    role "an analyst"
    description "Chooses evidence."
    use one of {
        off:   empty
        on:    Long max 100   selected
    } as style
    main func(input) {
        scratch = { summary: "a long summary", digest: "short" }
        use one of {
            none:     empty
            compact:  scratch.digest max 500
            verbose:  scratch.summary max 4k selected
        } as evidence
        a = generate({ input: "Answer." })
        if input.more {
            use one of {
                first: input.more
                second: "x"
            } as "more evidence"
            return [a, generate({ input: "Again." })]
        }
        [a]
    }
}
