/**
 * A workflow whose code is the machine: every effect is an activity. Not the Temporal backend, only the proof that the machine passes the
 * workflow bundler and runs in its sandbox under replay, also with its state saved, printed, read and loaded at every stop.
 */
import type { Json, Program } from "@remit/language";
import { compileProgram, type Effect, Machine, type Outcome } from "@remit/machine";
import { proxyActivities } from "@temporalio/workflow";

const { perform } = proxyActivities<{ perform(effect: Effect): Promise<Outcome> }>({
    startToCloseTimeout: "1 minute",
    retry: { maximumAttempts: 1 },
});

export async function runProgram(program: Program, input: string): Promise<Outcome> {
    const compiled = compileProgram(program);
    const options = { run: "run", programHash: "0", input: { text: input } };
    let machine = Machine.start(compiled, options);
    for (;;) {
        const advanced = machine.advance();
        if (advanced.state === "done") return advanced.result as Outcome;
        const outcomes = await Promise.all(advanced.effects.map(async (effect) => [effect.path, await perform(effect)] as const));
        const saved = machine.save({ image: true });
        if (!("image" in saved)) throw new Error("an image was asked for");
        machine = Machine.load(compiled, options, [JSON.parse(JSON.stringify(saved.image)) as Json]);
        for (const [path, outcome] of outcomes) machine.resolve(path, outcome);
    }
}
