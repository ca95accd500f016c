/**
 * The machine as the driver steps it.
 *
 * Boundary: between the machine package's names and the driver's; no policy.
 */
import type { Program } from "@remit/language";
import { type Compiled, Fail, type FileContent, Machine, type StartOptions, compileProgram } from "@remit/machine";
import type { RunInfo, SavedState } from "../ledger/store.ts";
import type { Advance, Steppable } from "./drive.ts";
import { RemitError } from "./error.ts";
import type { Entry, KeptOptions } from "./options.ts";

/** Which function a run begins with. Throws `RemitError` where there is none of that name. */
export function entryOf(program: Program, entry: Entry | undefined): StartOptions["entry"] {
    if (entry === undefined || (entry.agent === undefined && entry.func === undefined)) {
        if (program.entry === undefined)
            throw noEntry("this file has no main agent and no main func", "name a function to run with --function");
        return program.entry;
    }
    const file = program.files.length - 1;
    const form = program.files[file];
    if (entry.agent === undefined) {
        const func = entry.func as string;
        if (form?.funcs.some((one) => one.name === func)) return { file, func };
        // A function of the main agent is meant where the file itself has none of that name.
        const main = form?.agents.find((agent) => agent.name === program.entry?.agent);
        if (main?.funcs.some((one) => one.name === func)) return { file, agent: main.name, func };
        throw noEntry(`there is no func ${func} in ${form?.file}`, namesHint((form?.funcs ?? []).map((one) => one.name)));
    }
    const agent = form?.agents.find((one) => one.name === entry.agent);
    if (agent === undefined)
        throw noEntry(`there is no agent ${entry.agent} in ${form?.file}`, namesHint((form?.agents ?? []).map((one) => one.name)));
    const func =
        entry.func === undefined ? agent.funcs.find((one) => one.main === true) : agent.funcs.find((one) => one.name === entry.func);
    if (func === undefined)
        throw noEntry(`agent ${agent.name} has no ${entry.func ?? "main func"}`, namesHint(agent.funcs.map((one) => one.name)));
    return { file, agent: agent.name, func: func.name };
}

function noEntry(message: string, hint: string): RemitError {
    return new RemitError({ kind: "value", message, hint });
}
function namesHint(names: readonly string[]): string {
    return names.length === 0 ? "it declares none" : `it declares ${names.join(", ")}`;
}

export function startOptions(run: string, program: Program, hash: string, kept: KeptOptions, slice: number): StartOptions {
    return {
        run,
        programHash: hash,
        entry: entryOf(program, kept.entry),
        input: kept.input,
        imports: kept.imports as { readonly [place: string]: FileContent },
        limits: kept.limits,
        slice,
        ...(kept.concurrency === undefined ? {} : { concurrency: kept.concurrency }),
        ...(kept.variants === undefined ? {} : { variants: kept.variants }),
        ...(kept.interactive === undefined ? {} : { interactive: kept.interactive }),
    };
}

/** Steps between two looks at the outside: about 20 ms of computing. */
export const SLICE = 500_000;

export function startMachine(compiled: Compiled, options: StartOptions): Steppable {
    return steppable(Machine.start(compiled, options));
}

/** The machine of a run in the ledger: as it was saved, or at its start. */
export function machineOf(info: RunInfo, program: Program, saved: SavedState | null, slice = SLICE): Steppable {
    const compiled = compileProgram(program);
    const options = startOptions(info.id, program, info.program, info.options as unknown as KeptOptions, slice);
    if (saved === null) return startMachine(compiled, options);
    try {
        return steppable(Machine.load(compiled, options, [saved.image, ...saved.deltas]));
    } catch (error) {
        if (error instanceof Fail) throw new RemitError(error.toFailure(), info.id);
        throw error;
    }
}

const STATES = { waiting: "waiting", slice: "sliced", done: "ended" } as const;

function steppable(machine: Machine): Steppable {
    const advance = (until?: number): Advance => {
        const { state, effects, events, withdrawn, result } = machine.advance(until);
        return { state: STATES[state], effects, events, dropped: withdrawn, ...(result === undefined ? {} : { end: result }) };
    };
    return {
        advance,
        resolve: (path, outcome) => void machine.resolve(path, outcome),
        end: (failure) => {
            machine.exceed(failure.kind, failure.message);
            return advance();
        },
        save: () => {
            const saved = machine.save();
            return "image" in saved ? { kind: "image", json: saved.image } : { kind: "delta", json: saved.delta };
        },
        get pending() {
            return machine.pending;
        },
        get steps() {
            return machine.usage.steps;
        },
        get reach() {
            return machine.reach;
        },
    };
}
