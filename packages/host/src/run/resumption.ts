/**
 * What a resume begins with: the world and the machine of a run that the caller has taken, and what was said of how it goes on.
 *
 * Boundary: checks and sorts what was said; performs nothing and commits nothing. Who conducts the run then is the caller's.
 *
 * RSM1: what does not fit the run is refused before anything of it is done: no question is decided, no event is kept.
 */
import { join } from "node:path";
import { type Answered, type Conducted, Fail, type Failure, type GoOn, type Recovered } from "@remit/machine";
import { type KeptRun, keptRun, type LedgerStore, recordOf, type RunInfo } from "../ledger/store.ts";
import { shownStore } from "../ledger/shown.ts";
import { settingOf } from "../config/setting.ts";
import { openProcess } from "../process/process.ts";
import { RemitError } from "../failure/error.ts";
import { type SortedAnswers, sortedAnswers } from "./answers.ts";
import { machineGoingOn } from "./going-on.ts";
import type { Host } from "./host.ts";
import { machineOf } from "./machine.ts";
import type { ResumeRunOptions } from "./open.ts";
import type { KeptOptions } from "./options.ts";
import { remedyOptions } from "./remedies.ts";
import { type Continued, continueRun } from "./resume.ts";
import type { Handlers } from "./setup.ts";
import { type World, withPeople, worldOf } from "./world.ts";

/** The world of a run that goes on in this process: what it was begun with, where nothing else is said. */
export async function worldAgain(run: KeptRun, options: ResumeRunOptions): Promise<World> {
    const { info, program } = run;
    const kept = run.options as unknown as KeptOptions;
    const model = options.model ?? kept.model;
    const from = info.root === "" ? undefined : join(info.root, info.file);
    (await import("../lock/tools.ts")).checkLock(program, info.root);
    const setting = await settingOf(from, { ...options, workspace: options.workspace ?? kept.workspace });
    return worldOf(
        { program, root: info.root, file: info.file },
        options.model === undefined ? { ...setting, modelFolder: kept.modelFolder } : setting,
        {
            ...options,
            process: options.process ?? openProcess(),
            ...(kept.mode === undefined ? {} : { mode: kept.mode }),
            ...(model === undefined ? {} : { model }),
        },
    );
}

export interface Resumption {
    readonly run: KeptRun;
    readonly world: World;
    /** The caller closes it. */
    readonly host: Host;
    readonly begins: Continued;
    /** With what was said, where the run goes on in this machine. */
    readonly recovered: Recovered;
    /** What was said of a run that failed; null: nothing. */
    readonly how: GoOn | null;
    /** Outcomes that were given: of effects that failed, and of missing fields of the input. */
    readonly given: readonly Answered[];
    readonly user: string;
    /** Decides the questions that were answered. */
    decide(): Promise<void>;
}

/** Of a run that the caller owns. Throws `RemitError` (RSM1). */
export async function resumptionOf(store: LedgerStore, id: string, options: ResumeRunOptions, on: Handlers): Promise<Resumption> {
    const run = await keptRun(store, id);
    const { info, program } = run;
    const kept = run.options as unknown as KeptOptions;
    const owner = kept.asks?.owner ?? options.user;
    const world = await worldAgain(run, owner === undefined ? options : { ...options, user: owner });
    const { secrets } = world;
    const host = withPeople(world, { run: info.id, store, on, asks: kept.asks, park: options.park, as: kept.as ?? options.as });
    try {
        const begins = await continueRun(store, id, host, (of, saved) =>
            saved === null
                ? machineOf(of, secrets)
                : machineGoingOn(of, saved, secrets, () => recordOf(shownStore(store, secrets), of.info.id)),
        );
        const user = options.user ?? world.user;
        const { failed, inputs, questions } = await sortedAnswers(begins, program, options, store.asks);
        const how = goesOn(begins, info, { ...options, failed }, { user, limits: kept.limits });
        const given = [...failed, ...inputs];
        const { answers = [], ...rest } = begins.recovered;
        return {
            ...{ run, world, host, begins, how: how?.how ?? null, given, user },
            recovered: { ...rest, ...(how === null ? {} : { pending: how.pending }), answers: [...answers, ...given] },
            decide: () => decided(store, questions, user),
        };
    } catch (error) {
        // The error that is thrown says more than one of closing.
        host.close?.().catch(() => undefined);
        throw error;
    }
}

async function decided(store: LedgerStore, questions: SortedAnswers["questions"], by: string): Promise<void> {
    for (const { ask, option } of questions) await store.asks.decide(ask.id, option, by);
}

/**
 * How a run that failed goes on (LANGUAGE 7); null: it has not failed. Throws `RemitError` where nothing that is said lets it, and where something is said of a run that did
 * not fail.
 */
function goesOn(
    { machine }: Continued,
    info: RunInfo,
    { raise = [], retry = false, failed }: Pick<ResumeRunOptions, "raise" | "retry"> & Pick<SortedAnswers, "failed">,
    { user, limits }: { readonly user: string; readonly limits: KeptOptions["limits"] },
): { readonly how: GoOn; readonly pending: Continued["machine"]["pending"] } | null {
    const isSaid = raise.length > 0 || retry || failed.length > 0;
    if (machine.canGoOn !== true) {
        if (raise.length === 0 && !retry) return null;
        throw new RemitError(
            { kind: "value", message: `run ${info.id} has not failed`, hint: `remit resume ${info.id} goes on with it` },
            info.id,
        );
    }
    if (!isSaid) throw nothingSaid(machine, info);
    // What it asks for when it goes on it asks for in its next slice.
    const { pending } = machine;
    for (const { account, meter, amount } of raise) {
        const inForce = account === "run" ? (machine.raised?.[meter] ?? limits[meter as keyof typeof limits]) : undefined;
        if (inForce !== undefined && amount < inForce)
            throw new RemitError(
                {
                    kind: "value",
                    message: `--raise ${meter} gives ${amount}, which is less than the ${inForce} that the run may use now`,
                    hint: `give more than ${inForce}`,
                },
                info.id,
            );
    }
    const how: GoOn = { raise, retry, answer: failed.map(({ path }) => path) };
    try {
        machine.goOn?.(how, user);
    } catch (error) {
        throw error instanceof Fail ? new RemitError(error.toFailure(), info.id) : error;
    }
    return { how, pending };
}

/** Nothing was said that lets a failed run go on: what does. */
function nothingSaid({ remedies }: Conducted, { id, failure }: RunInfo): RemitError {
    const { kind, message } = failure as Failure;
    const options = remedies === undefined ? [] : remedyOptions(remedies);
    const hint =
        options.length === 0
            ? "nothing that it asked for failed, the program itself did: mend the program and run it again"
            : `go on with remit resume ${id} ${options.join(", or ")}`;
    return new RemitError({ kind, message: `the run failed: ${message}`, hint }, id);
}
