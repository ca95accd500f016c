/**
 * Records the continuations that tests go on with: `node scripts/record-continuations.mjs [NAME …]`, for each program of
 * `packages/host/tests/run/continuations/programs.ts`, or for those that are named. What was recorded stays: a later build has to load it, to tell it
 * again or to refuse it by name. Record anew only what is new, under a new name.
 */
import { writeFileSync } from "node:fs";
import { check, loadProgram, lower } from "../packages/language/src/index.ts";
import { answeredOutcome, canonicalJson, Compiled, Machine } from "../packages/machine/src/index.ts";
import { sha256 } from "../packages/host/src/ledger/blob.ts";
import { machineId } from "../packages/host/src/load/engine.ts";
import { startOptions } from "../packages/host/src/run/machine.ts";
import { answerTo, PROGRAMS } from "../packages/host/tests/run/continuations/programs.ts";

const names = process.argv.slice(2);
for (const one of PROGRAMS) if (names.length === 0 || names.includes(one.name)) record(one);

/** What the world says of an effect; a call of `down` fails before the run goes on. */
function outcomeOf(effect, isDown) {
    const isThere = !isDown || effect.kind !== "tool" || effect.request.args?.[0] !== "down";
    return isThere ? answerTo(effect) : { ok: false, failure: { kind: "tool", message: "it is down" } };
}

function record({ name, source, told, goneOn = null, padded = false }) {
    const checked = check(
        loadProgram("main.remit", { read: () => source, resolve: (_from, uri) => uri, allowTool: () => ({ allowed: true }) }),
    );
    const errors = checked.diagnostics.filter(({ severity }) => severity === "error");
    if (errors.length > 0) throw new Error(`${name}: ${errors.map(({ message }) => message).join("; ")}`);
    const program = lower(checked);
    const kept = { input: null, limits: {}, modelFolder: "/", workspace: "/", imports: {}, engine: machineId(), asks: { owner: "os:1" } };
    const hash = sha256(canonicalJson(program));
    const machine = Machine.start(new Compiled(program, null, padded), startOptions(name, program, hash, kept, 100_000));

    const batches = [];
    let waiting = [];
    let outcomes = [];
    let isDown = goneOn !== null;
    for (let count = 0; ; ) {
        const { state, effects, events, withdrawn } = machine.advance();
        const fails = state === "done" && isDown && machine.canGoOn;
        if (state !== "waiting" && !fails) throw new Error(`${name} is ${state} after ${batches.length} outcomes`);
        waiting = [...waiting, ...effects].filter(({ path }) => !withdrawn.includes(path));
        const saved = machine.save({ spent: 10 * batches.length });
        const json = "image" in saved ? { kind: "image", json: saved.image } : { kind: "delta", json: saved.delta };
        const pending = effects.map(({ path }) => ({ path, begun: false }));
        batches.push({
            outcomes,
            events,
            pending,
            dropped: withdrawn,
            state: json,
            steps: machine.usage.steps,
            spent: 10 * batches.length,
        });
        if (fails) {
            isDown = false;
            const { answers = {}, ...how } = goneOn;
            outcomes = machine.failed
                .filter(({ path }) => Object.hasOwn(answers, path))
                .map((effect) => ({ path: effect.path, outcome: answeredOutcome(effect, answers[effect.path]) }));
            machine.goOn({ ...how, answer: Object.keys(answers) }, "os:1");
            for (const { path, outcome } of outcomes) machine.resolve(path, outcome);
            waiting = [];
            count += outcomes.length;
            continue;
        }
        if (count >= told) break;
        count++;
        const at = waiting.findIndex(({ kind }) => kind !== "sleep");
        const [next] = waiting.splice(at, 1);
        outcomes = [{ path: next.path, outcome: outcomeOf(next, isDown) }];
        machine.resolve(next.path, outcomes[0].outcome);
    }
    const file = new URL(`../packages/host/tests/run/continuations/${name}.json`, import.meta.url);
    writeFileSync(file, `${JSON.stringify({ run: { id: name, program, hash, file: "main.remit", root: "", options: kept }, batches })}\n`);
}
