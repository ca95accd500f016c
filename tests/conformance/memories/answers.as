import llm M from "openai://gpt-4.1-mini"
import memory Answers from "file://./answers.jsonl"
main agent Help {
  model M
  role "a help desk"
  description "Answers a question once and remembers it."
  main func(input { question: string }) {
    known = Answers.query({ text: input.question, limit: 1 })
    if known.length > 0 { return { answer: known[0].record.answer, asked: false } }
    use input.question as question
    answer = generate({ input: "Answer in one sentence." })
    Answers.add({ question: input.question, answer: answer })
    return { answer: answer, asked: true }
  }
}
