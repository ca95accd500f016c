import llm A from "anthropic://claude-3-5-haiku-latest"
import llm B from "openai://localhost:8080/v1/local-model"
agent Pro { model A role "the proponent" description "Argues for." main func(topic, log) { use topic as motion
 use log.summary max 3k as transcript
 generate({ input: "Make one argument for the motion." }) } }
agent Con { model B role "the opponent" description "Argues against." main func(topic, log) { use topic as motion
 use log.summary max 3k as transcript
 generate({ input: "Make one argument against the motion." }) } }
main agent Debate {
 model A role "the judge" description "Judges fairly."
 main func(input) {
  log = []
  repeat * 2 { log.add({ by: "pro", text: Pro(input.topic, log) }) log.add({ by: "con", text: Con(input.topic, log) }) }
  use log as transcript
  verdict = generate({ input: "Who won?" }) -> { winner
   margin: number }
  { winner: verdict.winner, margin: verdict.margin, turns: log.length }
 }
}
