/**
 * A workflow whose code is the machine: every effect is an activity. Not the Temporal backend, only the proof that the machine passes the
 * workflow bundler and runs in its sandbox under replay.
 */
import type { Program } from "@remit/language";
import { compileProgram, type Effect, Machine, type Outcome } from "@remit/machine";
import { proxyActivities } from "@temporalio/workflow";

const { perform } = proxyActivities<{ perform(effect: Effect): Promise<Outcome> }>({
    startToCloseTimeout: "1 minute",
    retry: { maximumAttempts: 1 },
});

export async function runProgram(program: Program, input: string): Promise<Outcome> {
    const machine = Machine.start(compileProgram(program), { run: "run", programHash: "0", input: { text: input } });
    for (;;) {
        const advanced = machine.advance();
        if (advanced.state === "done") return advanced.result as Outcome;
        const outcomes = await Promise.all(advanced.effects.map(async (effect) => [effect.path, await perform(effect)] as const));
        for (const [path, outcome] of outcomes) machine.resolve(path, outcome);
    }
}
