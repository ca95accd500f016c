import llm M from "openai://gpt-4.1-mini"
import memory Book from "file://../log.jsonl"
agent Clerk {
  model M
  role "a clerk"
  description "Writes the handover for those who come next."
  main func(report, plan) {
    use report as report
    use plan as plan
    text = generate({ input: "Write the handover." })
    Book.add({ kind: "handover", text: text })
  }
}
