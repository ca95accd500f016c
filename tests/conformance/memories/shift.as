import llm M from "openai://gpt-4.1-mini"
import agent Clerk from "./agents/clerk.as"
import memory Log from "file://./log.jsonl"
main agent Shift {
  model M
  role "the head of a shift"
  description "Reads what the last shift left."
  main func(input { report: string }) {
    last = Log.query({ kind: "handover", limit: 1 })
    left = "nothing"
    if last.length > 0 { left = last[0].record.text }
    use left as "from the last shift"
    use input.report as report
    plan = generate({ input: "Plan the shift." })
    Clerk(input.report, plan)
    { plan: plan, left: left }
  }
}
