/**
 * A block that runs as a run of its own, in this process: begun, or gone on with where it was begun before.
 *
 * Boundary: from the request to a run of the same ledger and its outcome. What of a program runs so is the machine's (WTS2); who its people are is
 * the caller's.
 *
 * NST1: its id follows from the run around it and the path, so that performing the effect again finds it.
 * NST3: one that failed goes on with a retry where its effect is tried again.
 * NST2: it has the options of the run around it, but for its entry, its input and what it may use.
 */
import type { Json } from "@remit/language";
import type { Effect, Outcome, RunRequest } from "@remit/machine";
import { given } from "../input/given.ts";
import { LedgerError } from "../ledger/error.ts";
import { type KeptRun, keptRun, type LedgerStore, recordOf, type RunInfo, type RunWriter } from "../ledger/store.ts";
import { shownStore } from "../ledger/shown.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { machineGoingOn } from "./going-on.ts";
import { execute, type RunResult } from "./handle.ts";
import type { Host, Later, Performer, PerformIO } from "./host.ts";
import { machineOf } from "./machine.ts";
import { type KeptOptions, PART_KNOWS } from "./options.ts";
import { continueRun } from "./resume.ts";
import type { Handlers } from "./setup.ts";

/** A block that another backend runs. */
export interface BlockElsewhere {
    readonly request: RunRequest;
    readonly store: LedgerStore;
    /** The run around it. */
    readonly run: string;
    /** Asks the people of the run, and tells them. */
    readonly on: Handlers;
    readonly io: PerformIO;
    /** What the run that it becomes is begun with. */
    options(): Promise<KeptOptions>;
}

/** Carries out blocks of another backend, as runs of the same ledger. */
export type BlockRunner = (block: BlockElsewhere) => Promise<Outcome | Later>;

export interface NestedOptions {
    /** For blocks that are not of this process; null: there is no such backend here. */
    readonly elsewhere: BlockRunner | null;
    readonly store: LedgerStore;
    /** The run around it. */
    readonly run: string;
    readonly secrets: Scrubber;
    readonly on: Handlers;
    /** Performs the effects of a run, and asks its people. */
    host(run: string): Host;
}

export function nestedRuns(options: NestedOptions): Performer {
    return async (effect, io) => {
        const request = effect.request as unknown as RunRequest;
        const { store, run, on, elsewhere } = options;
        if (request.backend !== "memory") {
            if (elsewhere === null) return unreachable(request, effect);
            return elsewhere({ request, store, run, on, io, options: async () => partOptions(await keptRun(store, run), request) });
        }
        const known = await infoOf(store, request.run);
        if (known?.status === "done") return gaveOf(store, known);
        const writer = known === null ? await begun(options, request) : await store.own(known.id);
        const again = known?.status === "failed" && (effect.attempt ?? 1) > 1;
        return outcomeOf(await carriedOut(options, writer, io, again), effect, store, request.run);
    };
}

function unreachable({ backend, name }: RunRequest, { site }: Effect): Outcome {
    const message = `the block ${name === undefined ? "" : `'${name}' `}runs on ${backend}, and no ${backend} backend is set up here`;
    const hint = "start one with `remit temporal dev`, say where one is with --address, or write `memory` for the block";
    return { ok: false, failure: { kind: "unreachable", message, site, hint }, uses: [] };
}

/** Of the run with this very id; null where there is none. */
export async function infoOf(store: LedgerStore, id: string): Promise<RunInfo | null> {
    try {
        const found = await store.run(id);
        return found.id === id ? found : null;
    } catch (error) {
        if (error instanceof LedgerError && error.code === "unknown") return null;
        throw error;
    }
}

/** NST2. */
export function partOptions(around: KeptRun, request: RunRequest): KeptOptions {
    const { entry: _, ...kept } = around.options as unknown as KeptOptions;
    const { entry, path, bindings, input, limits, backend } = request;
    return {
        ...kept,
        input: input.json,
        inputOrigins: input.origins,
        limits: { ...kept.limits, ...limits },
        part: { parent: around.info.id, path, entry, bindings, ...given(request, PART_KNOWS) },
        backend,
    };
}

async function begun({ store, run }: NestedOptions, request: RunRequest): Promise<RunWriter> {
    const around = await keptRun(store, run);
    const { program, info } = around;
    const { program: hash, file, root } = info;
    return store.create({ id: request.run, program, hash, file, root, options: partOptions(around, request) as unknown as Json });
}

async function carriedOut(
    { store, secrets, on, host: hostOf }: NestedOptions,
    writer: RunWriter,
    { signal }: PerformIO,
    again: boolean,
): Promise<RunResult> {
    const host = hostOf(writer.id);
    const { machine, recovered, info } = await continueRun(store, writer.id, host, (of, saved) =>
        saved === null
            ? machineOf(of, secrets)
            : machineGoingOn(of, saved, secrets, () => recordOf(shownStore(store, secrets), of.info.id)),
    );
    const { program, options } = await keptRun(store, writer.id);
    const { spent } = info;
    const { pending } = machine;
    const retried = again && machine.canGoOn === true;
    if (retried) machine.goOn?.({ retry: true }, (options as unknown as KeptOptions).asks?.owner ?? "");
    // Its time is that of the run around it, and so is its world, which that one closes.
    const how = { timeout: undefined, over: () => undefined };
    return execute<Json>(machine, {
        store,
        id: writer.id,
        program,
        writer,
        host,
        secrets,
        on,
        signal,
        spent,
        ...how,
        recovered: retried ? { ...recovered, pending } : recovered,
    }).result;
}

async function outcomeOf(result: RunResult, { site }: Effect, store: LedgerStore, run: string): Promise<Outcome | Later> {
    const { status, failure } = result;
    if (status === "done") return gaveOf(store, run);
    if (status === "waiting") return { later: true, ...(result.missing === undefined ? {} : { why: result.missing }) };
    const { kind, message, hint, detail } = failure ?? { kind: "cancelled", message: "the block was stopped" };
    const more = { ...(hint === undefined ? {} : { hint }), ...(detail === undefined ? {} : { detail }) };
    return {
        ok: false,
        failure: { kind: kind === "waiting" ? "cancelled" : kind, message, site: failure?.site ?? site, ...more },
        ...(await leftBy(store, run)),
    };
}

/** The value of a run that is done, with its origins. */
export async function gaveOf(store: LedgerStore, of: RunInfo | string): Promise<Outcome> {
    const info = typeof of === "string" ? await store.run(of) : of;
    const { origins, ...end } = await endOf(store, info);
    return {
        ok: true,
        value: info.value ?? null,
        origins: [...origins],
        usage: info.usage,
        ...given(end, ["bindings", ...PART_LEFT]),
    };
}

/** What a part of a run leaves to the run around it, besides its value or failure. */
const PART_LEFT = ["uses", "met", "rows"] as const;
type Left = (typeof PART_LEFT)[number];

/** Of a run that failed: what its failure carries, and what the run used of what is counted, and who may have; nothing where that is not known. */
export async function leftBy(store: LedgerStore, run: string): Promise<Pick<Outcome & { readonly ok: false }, "origins" | Left>> {
    const { origins, ...end } = await endOf(store, await store.run(run));
    return { ...(origins.length === 0 ? {} : { origins: [...origins] }), ...given(end, PART_LEFT) };
}

type End = Pick<Outcome & { readonly ok: true }, "bindings" | Left> & { readonly origins: readonly string[] };

/** What the last event tells of a run that has ended. */
async function endOf(store: LedgerStore, { id, events }: RunInfo): Promise<End> {
    for await (const { kind, labels, data } of store.events(id, events))
        if (kind === "run.ended") return { ...(data as Omit<End, "origins">), origins: labels };
    return { origins: [] };
}
