import llm M from "openai://gpt-4.1-mini"
import memory Terms from "file://./terms.jsonl"
main agent Glossary {
  model M
  role "an editor"
  description "Explains each term once."
  main func(input { terms: list[string] }) {
    new = 0
    for term in input.terms max 20 {
      met = Terms.query({ kind: "term", where: { term: term } })
      if met.length == 0 {
        meaning = explain(term)
        Terms.add({ kind: "term", term: term, text: meaning })
        new += 1
      }
    }
    all = Terms.query({ kind: "term", limit: 20 })
    names = []
    for one in all max 20 { names.add(one.record.term) }
    { new: new, newest_first: names }
  }
  func explain(term) {
    use term as term
    generate({ input: "Explain the term." })
  }
}
