/**
 * Verbs of several model calls in Remit: `converge`, `tool_agent`, `supervisor`.
 *
 * Boundary: source text. An agent or function that stands for a default is called with one object, and the machine gives each of its parameters what
 * has its name there.
 */

export const CONVERGE = `
import llm Verb_model from "default:"

shape Verdict {
    approved: boolean = false
    confidence: number = 0
    feedback: string = ""
}

func converge(
    question: string,
    researcher = none,
    critic = none,
    threshold: number? = none,
    max_rounds: number = 3,
    keep: "best" | "last" = "best",
    input: json = none
) {
    if question.trim() == "" {
        raise "converge needs a question"
    }
    if max_rounds < 1 or max_rounds > 100 {
        raise "converge takes 1 to 100 rounds"
    }
    history = []
    best = none
    answer = none
    feedback = none
    approved = false
    loop until approved or history.length >= max_rounds max 100 {
        round = history.length + 1
        if researcher == none {
            answer = converge_research(question, input, answer, feedback)
        } else {
            answer = researcher({
                question: question,
                input: input,
                answer: answer,
                feedback: feedback,
                round: round
            })
        }
        said = if critic == none {
            converge_judge(question, answer)
        } else {
            critic({ question: question, input: input, answer: answer, round: round })
        }
        verdict = converge_verdict(said)
        feedback = verdict.feedback
        approved = if threshold == none {
            verdict.approved
        } else {
            verdict.confidence >= threshold
        }
        history.add({ round: round, answer: answer, verdict: verdict })
        if best == none or verdict.confidence >= best.verdict.confidence {
            best = history.last()
        }
    }
    kept = if approved or keep == "last" { history.last() } else { best }
    {
        answer: kept.answer,
        converged: approved,
        rounds: history.length,
        confidence: kept.verdict.confidence,
        history: history
    }
}

func converge_research(question: string, material: json, previous: json, feedback: json) {
    model Verb_model
    role "a researcher"
    description "Answers questions and improves the answers"
    use question as "question"
    use material as "material"
    if previous == none {
        return generate({ input: "Answer the question in two to four sentences." })
    }
    use previous as "previous answer"
    use feedback as "feedback"
    generate({
        input: "Answer the question in two to four sentences. Improve the previous answer as the feedback says."
    })
}

func converge_judge(question: string, answer: json) {
    model Verb_model
    role "a critic"
    description "Judges whether an answer is right, complete and to the point"
    use question as "question"
    use answer as "answer"
    generate({
        input: "Judge the answer. approved: whether it can stand as it is. confidence: from 0 to 1. feedback: what to improve.",
        attempts: 2
    }) -> Verdict
}

func converge_verdict(said: json) -> Verdict {
    verdict = if is_text(said) { converge_parsed(said) } else { said }
    if not is_object(verdict) {
        raise "the critic's verdict is no object with approved, confidence and feedback"
    }
    {
        approved: verdict.get("approved", false),
        confidence: verdict.get("confidence", 0).max(0).min(1),
        feedback: verdict.get("feedback", "")
    }
}

func converge_parsed(said: string) {
    held = said.match("\\\\{.*\\\\}", "s")
    try {
        return json.parse(held.text)
    } catch {
        raise "the critic's verdict is no JSON: " + said.slice(0, 200)
    }
}
`;

export const TOOL_AGENT = `
import llm Verb_model from "default:"

shape Step {
    action: "tool" | "final"
    reasoning: string = ""
    tool?: string
    args?: json
    answer?: json
}

func tool_agent(
    task: string,
    tools: list[string] = [],
    prompt: string = "",
    max_steps: number = 8,
    input: json = none
) {
    if task.trim() == "" {
        raise "tool_agent needs a task"
    }
    if max_steps < 1 or max_steps > 100 {
        raise "tool_agent takes 1 to 100 steps"
    }
    manual = tool_agent_manual(tools)
    steps = []
    loop until steps.length >= max_steps max 100 {
        step = tool_agent_step(task, prompt, input, manual, steps)
        if step.action == "final" {
            return { answer: step?.answer, converged: true, steps: steps }
        }
        steps.add(tool_agent_take(step, manual))
    }
    { answer: none, converged: false, steps: steps }
}

func tool_agent_manual(tools: list[string]) {
    known = []
    for name in tools max 100 {
        found = act("__manual__", { name: name.split(".")[0] })
        all = if (found?.isError ?? false) { [] } else { found.structuredContent.tools }
        for one in all max 1000 {
            if one.name == name or one.name.starts_with(name + ".") {
                known.add({
                    name: one.name,
                    description: one.description,
                    arguments: one.inputSchema
                })
            }
        }
    }
    known
}

func tool_agent_step(task: string, prompt: string, input: json, manual: json, steps: json) -> Step {
    model Verb_model
    role "an agent that reaches its goal by calling tools"
    description "Takes one step at a time and looks at what came of it"
    use task as "task"
    use prompt as "how to work"
    use input as "input"
    use manual as "tools"
    use steps as "steps so far"
    generate({
        input: "Choose the next step. To call a tool: action tool, with its name as tool and its arguments as args. When the task is done: action final, with the result as answer.",
        attempts: 2
    }) -> Step
}

func tool_agent_take(step: Step, manual: json) {
    name = step?.tool ?? ""
    args = step?.args ?? {}
    done = { reasoning: step.reasoning, tool: name, args: args }
    if not manual.any((one) => one.name == name) {
        known = manual.map((one) => one.name)
        return { ...done, error: "there is no tool '" + name + "'; there are: " + known.join(", ") }
    }
    result = act(name, args)
    said = result?.structuredContent ?? result.content.map((one) => one?.text ?? "").join("\\n")
    if (result?.isError ?? false) {
        return { ...done, error: said }
    }
    { ...done, result: said }
}
`;

export const SUPERVISOR = `
func supervisor(
    question: string,
    researcher = none,
    critic = none,
    planner = none,
    max_subquestions: number = 5,
    max_rounds_per_child: number = 3,
    input: json = none
) {
    if question.trim() == "" {
        raise "supervisor needs a question"
    }
    if max_subquestions < 1 or max_subquestions > 50 {
        raise "supervisor takes 1 to 50 subquestions"
    }
    planned = if planner == none {
        supervisor_parts(question)
    } else {
        supervisor_planned(planner({
            question: question,
            input: input,
            max_subquestions: max_subquestions
        }))
    }
    if planned.length == 0 {
        raise "the question has no part that could be answered"
    }
    parts = planned.slice(0, max_subquestions)
    dropped = planned.slice(max_subquestions)
    answers = parallel for part in parts max 50 {
        try {
            found = converge(part, researcher, critic, none, max_rounds_per_child, "best", input)
            return {
                question: part,
                answer: found.answer,
                converged: found.converged,
                rounds: found.rounds,
                error: none
            }
        } catch failure {
            return {
                question: part,
                answer: none,
                converged: false,
                rounds: 0,
                error: failure.message
            }
        }
        none
    }
    good = answers.filter((one) => one.error == none)
    bad = answers.filter((one) => one.error != none)
    if good.length == 0 {
        raise {
            message: "no part of the question was answered: "
                + bad.map((one) => one.question + " (" + one.error + ")").join("; "),
            answers: answers
        }
    }
    {
        synthesis: supervisor_synthesis(good, bad, dropped),
        answers: answers,
        success_count: good.length,
        failure_count: bad.length,
        dropped: dropped
    }
}

func supervisor_synthesis(good: list, bad: list, dropped: list) -> string {
    parts = good.map((one) => "## " + one.question + "\\n\\n" + text(one.answer))
    if bad.length > 0 {
        parts.add(
            "## Could not be answered\\n\\n"
                + bad.map((one) => "- " + one.question + ": " + one.error).join("\\n")
        )
    }
    if dropped.length > 0 {
        parts.add(
            "## Not asked, beyond the limit\\n\\n" + dropped.map((one) => "- " + one).join("\\n")
        )
    }
    parts.join("\\n\\n")
}

func supervisor_planned(planned: json) -> list {
    list = if is_text(planned) {
        supervisor_lines(planned)
    } else if is_object(planned) {
        planned.get("questions")
    } else {
        planned
    }
    if not is_list(list) {
        raise "the planner gives a list of questions"
    }
    list.map((one) => text(one).trim()).filter((one) => one != "")
}

func supervisor_lines(planned: string) {
    held = planned.match("\\\\[.*\\\\]", "s")
    if held != none {
        try {
            return json.parse(held.text)
        } catch {
            none
        }
    }
    planned.lines().map((line) => line.replace("- ", "").trim())
}

func supervisor_parts(question: string) -> list {
    marks = question.split("?")
    if marks.length > 2 {
        asked = marks.map((one) => one.trim()).filter((one) => one != "")
        last = marks.last().trim()
        return asked.map(
            (one, i) => if i == asked.length - 1 and last != "" { one } else { one + "?" }
        )
    }
    for separator in ["; ", " versus ", " compared to ", " vs. ", " vs ", " and "] max 10 {
        if question.contains(separator) {
            return question.split(separator).map((one) => one.trim()).filter((one) => one != "")
        }
    }
    [question.trim()]
}
`;
