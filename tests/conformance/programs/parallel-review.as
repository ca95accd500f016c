import llm Fast from "openai://gpt-4.1-mini"
import tool Repo from "file://workspace"
main agent Review {
    model Fast
    role "a reviewer"
    description "Reviews files side by side."
    main func(input { paths: list[string]
        focus: string
    }) {
        use input.focus as focus
        reviews = parallel for path in input.paths max 8 {
            file = Repo.read({ path: path })
            use file.content max 2k as "file under review"
            r = generate({ input: "Review this file.", attempts: 2 }) -> {
                severity: string
                notes: list[string]
            }
            { path: path, severity: r.severity, notes: r.notes }
        }
        high = []
        for r in reviews max 8 {
            if r.severity == "high" { high.add(r.path) }
        }
        use reviews max 4k as reviews
        { high: high, summary: generate({ input: "Summarise all reviews." }), count: reviews.length }
    }
}
