/**
 * A workflow that runs the conductor: every effect is an activity. Not the Temporal backend, only the proof that the machine and its conductor pass
 * the workflow bundler and run in its sandbox under replay, also with their state saved, printed, read and loaded wherever nothing is performed.
 */
import type { Json, Program } from "@remit/language";
import {
    type Answered,
    Conductor,
    type ConductOptions,
    compileProgram,
    type Effect,
    Machine,
    type News,
    type Outcome,
} from "@remit/machine";
import { condition, proxyActivities } from "@temporalio/workflow";

const { perform } = proxyActivities<{ perform(effect: Effect): Promise<Outcome> }>({
    startToCloseTimeout: "1 minute",
    retry: { maximumAttempts: 1 },
});

export async function runProgram(program: Program, input: string): Promise<Outcome> {
    const compiled = compileProgram(program);
    const options = { run: "run", programHash: "0", input: { text: input } };
    const how: ConductOptions = { saves: true };
    let conductor = new Conductor(Machine.start(compiled, options), how);
    let documents: Json[] = [];
    /** What came after the last state. */
    let told: Answered[] = [];
    let news: News[] = [];
    let performed = 0;
    for (;;) {
        const decisions = conductor.next(Date.now(), news.splice(0));
        for (const decision of decisions) {
            if (decision.kind === "begin") {
                const { effect } = decision;
                performed++;
                perform(effect).then((outcome) => {
                    performed--;
                    news.push({ kind: "outcome", path: effect.path, outcome });
                });
            } else if (decision.kind === "commit") {
                const { state } = decision.batch;
                if (state !== undefined) {
                    const json = JSON.parse(JSON.stringify(state.json)) as Json;
                    documents = state.kind === "image" ? [json] : [...documents, json];
                    told = [];
                }
                news.push({ kind: "committed", n: decision.n });
            } else if (decision.kind === "ended") {
                const { end } = decision;
                if (end.status === "done") return { ok: true, value: end.value, origins: [] };
                throw new Error(JSON.stringify(end));
            }
        }
        if (news.length > 0 || decisions.some(({ kind }) => kind === "compute")) continue;
        await condition(() => news.length > 0);
        if (performed > 0) continue;
        // Nothing is performed: all there is to know is the state, and what came after it.
        for (const one of news) if (one.kind === "outcome") told.push({ path: one.path, outcome: one.outcome });
        news = [];
        conductor = new Conductor(Machine.load(compiled, options, documents), {
            ...how,
            recovered: { outcomes: told, begun: [], repeatable: [] },
        });
    }
}
