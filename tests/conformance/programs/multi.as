import agent Critic from "./agents/critic.as"
import agent Writer from "./agents/writer.as"
import file Style from "./style.md"
import file Config from "./config.json"

main agent Editor {
    main func(input { topic: string }) {
        draft = Writer.draft(input.topic, Config.tone)
        rounds = 0
        ok = false
        loop until ok max 3 {
            review = Critic({ text: draft, limits: Config.limits })
            rounds += 1
            if review.score >= Config.limits.score { ok = true }
            else { draft = Writer.revise(draft, review.comments) }
        }
        { draft: draft, rounds: rounds, style: Style, }
    }
}
