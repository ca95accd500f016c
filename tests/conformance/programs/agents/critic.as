import llm Judge from "openai://gpt-4.1"
import file Rubric from "../rubric.txt"
agent Critic {
    model Judge
    role "a strict critic"
    description "Scores drafts from 0 to 10."
    use Rubric max 2k as rubric
    main func review(request) {
        use request.text as draft
        generate({ input: "Score the draft.", strict: true, attempts: 2 }) -> {
            score: number
            comments: list[string]
        }
    }
}
