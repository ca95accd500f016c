/**
 * The machine of a run that goes on: from its saved state where this build can read that, else told again from the ledger.
 *
 * Boundary: between the machine's refusal and the ledger; performs nothing, writes nothing.
 *
 * U4: a state of another build is never read. The program is run again on this one with all that came in up to that state; only where every event
 *     comes out equal does the run go on, else it is refused with both versions and the build to go on with.
 */
import { type Conducted, Fail, Machine, compileProgram, computedTo, isOfAnotherBuild, takeWorld } from "@remit/machine";
import type { KeptRun, RunRecord, SavedState } from "../ledger/store.ts";
import { machineId } from "../load/engine.ts";
import { leaving } from "../secret/exits.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { RemitError } from "../failure/error.ts";
import { startOptionsOf } from "./machine.ts";
import type { KeptOptions } from "./options.ts";
import { replayRun } from "./replay.ts";

/** `record`: read where it is needed, without what is known to be a secret now. Throws `RemitError`. */
export async function machineGoingOn(
    run: KeptRun,
    saved: SavedState,
    secrets: Scrubber,
    record: () => Promise<RunRecord>,
): Promise<Conducted> {
    const compiled = compileProgram(run.program);
    const options = startOptionsOf(run);
    const documents = [saved.image, ...saved.deltas].map((one) => secrets.reveal(one));
    try {
        return leaving(Machine.load(compiled, options, documents), secrets);
    } catch (error) {
        if (!(error instanceof Fail)) throw error;
        if (!isOfAnotherBuild(error)) throw new RemitError(error.toFailure(), run.info.id);
        const machine = Machine.start(compiled, options);
        const told = leaving(machine, secrets);
        const { outcomes, ...rest } = await record();
        const upTo = { ...rest, outcomes: outcomes.filter(({ n }) => n <= saved.outcomes) };
        const { first } = await replayRun(upTo, () => told, machineId(), {
            steps: computedTo(documents) ?? Number.POSITIVE_INFINITY,
        });
        if (first !== undefined) throw refused(error, run, `${first.path}: ${first.message}`);
        takeWorld(machine, documents);
        return told;
    }
}

function refused(fail: Fail, { info, options }: KeptRun, difference: string): RemitError {
    const { engine = "of an earlier version" } = options as Partial<KeptOptions>;
    const message = `${fail.message}; told again from its ledger, the run goes another way at ${difference}`;
    const hint = `go on with it in the build of Remit that recorded it (${engine}); this one is ${machineId()}`;
    return new RemitError({ kind: fail.kind, message, hint }, info.id);
}
