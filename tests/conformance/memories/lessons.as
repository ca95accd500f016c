import llm M from "openai://gpt-4.1-mini"
import memory Lessons from "sqlite://lessons.db#writing"
main agent Writer {
  model M
  role "a writer of release notes"
  description "Learns from what a reviewer says."
  main func(input { change: string }) {
    kept = Lessons.query({ kind: "lesson", text: "NOTES" })
    lessons = []
    for one in kept max 10 { lessons.add(one.record.text) }
    use input.change as change
    use lessons max 2k as "what reviewers said before"
    drafts = 0
    done = false
    text = ""
    loop until done max 3 {
      text = generate({ input: "Write the note." })
      drafts += 1
      review = Reviewer(text)
      done = review.good
      if not review.good {
        Lessons.add({ kind: "lesson", text: review.lesson })
        lessons.add(review.lesson)
      }
    }
    { text: text, drafts: drafts }
  }
}
agent Reviewer {
  model M
  role "a reviewer"
  description "Looks at one note."
  main func(text) {
    use text as note
    generate({ input: "Is the note good? If not, say the lesson." }) -> {
      good: boolean
      lesson: string
    }
  }
}
