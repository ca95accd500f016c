import llm M from "openai://gpt-4.1-mini"
import memory Notes from "file://./notes.jsonl"
import memory Facts from "sqlite://facts.db#people"
main agent Remember {
  model M
  role "a note keeper"
  description "Keeps notes across runs."
  main func(input { name: string
    fact: string }) {
    Notes.add({ kind: "fact", text: input.fact, who: input.name })
    Facts.add({ kind: "person", name: input.name })
    recent = Notes.query({ kind: "fact", limit: 3 })
    people = Facts.query({ where: { name: input.name } })
    texts = []
    for r in recent max 3 { texts.add(r.record.text) }
    use texts as "known facts"
    use people[0].record as person
    say = generate({ input: "Greet the person using what is known." })
    return { greeting: say, known: texts.length, people: people.length }
  }
}
