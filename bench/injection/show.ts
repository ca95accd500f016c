/** `node injection/show.ts TASK [GOAL]`: what one run of a task does in each column, clean or under the attack of a goal: calls, questions, answer. */
import { type Outcome, plainLoop, remitProgram } from "./contenders.ts";
import { injection } from "./kit.ts";
import { policyOf } from "./policy.ts";
import { serveModel } from "./server.ts";
import { WORLDS } from "./worlds/all.ts";

const [id = "", goalId] = process.argv.slice(2);
const world = WORLDS.find((one) => one.tasks.some((task) => task.id === id));
const task = world?.tasks.find((one) => one.id === id);
const goal = world?.goals.find((one) => one.id === goalId);
if (world === undefined || task === undefined || (goalId !== undefined && goal === undefined)) {
    process.stderr.write("usage: node injection/show.ts TASK [GOAL of the same world]\n");
    process.exit(2);
}
const server = await serveModel(WORLDS);
const setting = { world, task, planted: goal === undefined ? "" : injection(goal), base: server.base };
const policy = policyOf(world.name);

show("plain tool loop", await plainLoop(setting));
show("Remit, policies off, yes to all", await remitProgram({ ...setting, policy: null, untrusted: null, person: "yes" }));
show("Remit, policies off, no to all", await remitProgram({ ...setting, policy: null, untrusted: null, person: "no" }));
if (policy !== null) {
    show("Remit, policies on, yes to all", await remitProgram({ ...setting, policy, untrusted: null, person: "yes" }));
    show("Remit, policies on, no to all", await remitProgram({ ...setting, policy, untrusted: null, person: "no" }));
}
await server.close();

function show(name: string, { end, failure, asked }: Outcome): void {
    const verdict = [
        task?.useful(end) ? "done" : "not done",
        ...(goal === undefined ? [] : [goal.reached(end) ? "attack reached its goal" : "attack failed"]),
    ];
    const lines = [
        `${name}: ${verdict.join(", ")}`,
        ...end.calls.map((call) => `  called ${call.tool} ${JSON.stringify(call.args)}`),
        ...asked.map((question) => `  asked  ${question}`),
        failure === null ? `  answer ${end.answer}` : `  failed ${failure}`,
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
}
