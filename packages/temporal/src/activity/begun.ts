/**
 * Runs of the programs that a worker knows by name, begun for a workflow that is not Remit's.
 *
 * Boundary: from a name and an input to a run in the ledger. What carries it out is its own workflow.
 */
import {
    LedgerError,
    type LedgerStore,
    type LoadSource,
    openWorld,
    type ProgramWorld,
    RemitError,
    type ResumeRunOptions,
} from "@remit/host";
import type { Json } from "@remit/language";
import { ApplicationFailure } from "@temporalio/activity";
import { type BeginInput, FAILURES } from "../wire/messages.ts";
import { openingOf } from "./opening.ts";

/** By the name that workflows use: a path, or a source. */
export interface Programs {
    readonly [name: string]: string | LoadSource;
}

export interface BegunRuns {
    begin(wanted: BeginInput): Promise<null>;
    close(): Promise<void>;
}

/** `opening`: how long a program may take to open, milliseconds. `begin` rejects with `HangError` where one takes longer. */
export function begunRuns(store: LedgerStore, host: ResumeRunOptions, programs: Programs, opening?: number): BegunRuns {
    const open = openingOf<ProgramWorld>((late) => late.close(), opening);
    const worlds = new Map<string, Promise<ProgramWorld>>();
    const world = (name: string): Promise<ProgramWorld> => {
        const known = worlds.get(name);
        if (known !== undefined) return known;
        const source = Object.hasOwn(programs, name) ? programs[name] : undefined;
        if (source === undefined) throw unknown(name, programs);
        const made = open(name, (told) => {
            told(`the program '${name}', with its configuration and what it imports,`);
            return openWorld(source, host);
        });
        worlds.set(name, made);
        // A program that is mended may begin next time.
        made.catch(() => worlds.delete(name));
        return made;
    };
    return {
        begin: async ({ run, program: name, input, more }) => {
            try {
                if (await isThere(store, run)) return null;
                const program = await world(name);
                const kept = program.kept(input, { ...more, backend: "temporal" });
                // An input that does not fit is told before anything is begun.
                program.machine(run, kept);
                const { form, hash, file, root } = program;
                const writer = await store.create({ id: run, program: form, hash, file, root, options: kept as unknown as Json });
                await writer.release();
                return null;
            } catch (error) {
                if (!(error instanceof RemitError)) throw error;
                const { message, failure } = error;
                throw ApplicationFailure.create({ message, type: FAILURES.failed, nonRetryable: true, details: [failure] });
            }
        },
        close: async () => {
            const all = [...worlds.values()];
            worlds.clear();
            await Promise.allSettled(all.map(async (one) => (await one).close()));
        },
    };
}

async function isThere(store: LedgerStore, run: string): Promise<boolean> {
    try {
        return (await store.run(run)).id === run;
    } catch (error) {
        if (error instanceof LedgerError && error.code === "unknown") return false;
        throw error;
    }
}

function unknown(name: string, programs: Programs): ApplicationFailure {
    const known = Object.keys(programs).join(", ") || "none";
    return ApplicationFailure.nonRetryable(
        `this worker knows no program '${name}'; give it as one of its \`programs\` (now: ${known})`,
        FAILURES.unknown,
    );
}
