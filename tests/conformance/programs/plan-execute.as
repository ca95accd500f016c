import llm Planner from "anthropic://claude-sonnet-4-5"
import llm Worker  from "ollama://localhost:11434/qwen2.5"
import tool Files from "file://workspace"
import tool Grep from "sh://grep"

agent Executor {
    model Worker
    role "an executor"
    description "Carries out exactly one step of a plan."
    main func(step, notes) {
        use step as "current step"
        use notes max 1.5k as notes
        hits = Grep.run({ path: ".", pattern: step, include: "*.txt", max: 5 })
        use hits.matches max 800
        generate({ input: "Do the step. Return what you found.", temperature: 0.2 }) -> {
            result
            ok: boolean
        }
    }
}

main agent PlanExecute {
    model Planner
    role 'a planner'
    description 'Splits a goal into small steps
and never does them itself.'

    main func run(input { goal: string }) {
        use input.goal as goal
        plan = generate({ input: "Write a plan of at most 3 steps.", think: "low" }) -> { steps: list[string] }
        notes = []
        failed = 0
        for step in plan.steps max 3 {
            out = Executor(step, notes)
            notes.add({ step: step, result: out.result })
            if not out.ok { failed += 1 }
        }
        use notes.summary max 2k as "results"
        report = generate({ input: "Summarise the results." })
        Files.write({ path: "out/report.txt", content: "Goal: " + input.goal + "\n" + report })
        { report: report, done: notes.length - failed, saved: Files.read({ path: "out/report.txt" }).content }
    }
}
