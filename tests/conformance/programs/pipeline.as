import llm M from "openai://gpt-4.1-mini"
main agent Pipeline {
    model M
    role "an extractor"
    description "Extracts, validates and repairs."
    func extract(text) {
        use text max 1k as text
        generate({ input: { task: "extract", fields: ["name", "age"] }, attempts: 2 }) -> {
            name
            age: number
            extra: json
        }
    }
    func validate(p) {
        problems = []
        if p.name == "" { problems.add("name is empty") }
        if p.age < 0 or p.age > 150 { problems.add("age " + p.age + " is out of range") }
        problems
    }
    main func process(input { texts: list[string] }) {
        people = []
        rejected = 0
        for t in input.texts max 5 {
            p = extract(t)
            problems = validate(p)
            if problems { rejected += 1 } else { people.add(p) }
        }
        return { people: people, rejected: rejected }
    }
}
