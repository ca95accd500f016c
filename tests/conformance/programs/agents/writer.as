import llm Pen from "openai://gpt-4.1-mini"
agent Writer {
    model Pen
    role "a writer"
    description "Writes short texts."
    main func(topic) { draft(topic, "plain") }
    func draft(topic, tone) {
        use topic as topic
        use tone as tone
        generate({ input: "Write one paragraph." })
    }
    func revise(text, comments) {
        use text as "previous draft"
        use comments
        generate({ input: "Revise the draft.", max_output: 2k, })
    }
}
