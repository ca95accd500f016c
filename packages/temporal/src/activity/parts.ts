/**
 * Blocks that are runs of their own, as the ledger has them: made before their workflow begins, and what they came to.
 *
 * Boundary: between the effect `run` and the ledger. Their workflows are `workflow/parts.ts`.
 *
 * PRT1: a part is made once: its id follows from the run around it and the path. What it came to is recorded as the outcome of its effect.
 * PRT2: a part that failed goes on with a retry where its effect is tried again.
 */
import {
    gaveOf,
    type GoesOn,
    handOver,
    infoOf,
    partOptions,
    performOnce,
    RemitError,
    type ResumeRunOptions,
    type RunWorld,
    leftBy,
} from "@remit/host";
import type { LedgerStore, RunInfo, Scrubber } from "@remit/host";
import type { Json } from "@remit/language";
import type { Effect, Failure, Outcome, RunRequest } from "@remit/machine";
import type { Part, PartInput } from "../wire/messages.ts";
import { keep, patiently, wholeOf } from "./carried.ts";

export interface PartsOps {
    readonly store: LedgerStore;
    readonly host: ResumeRunOptions;
}

interface Kept {
    readonly store: LedgerStore;
    readonly secrets: Scrubber;
}

export async function part(ops: PartsOps, world: RunWorld, wanted: PartInput): Promise<Part> {
    const { store } = ops;
    const { effect, run, over } = wanted;
    const to = { store, secrets: world.secrets };
    await keep(to, wanted);
    const before = await store.outcome(run, effect.path, effect.attempt ?? 1);
    if (before !== null) return { outcome: before, recorded: true };
    const request = effect.request as unknown as RunRequest;
    const known = await infoOf(store, request.run);
    if (known?.status === "done" || (over === true && known !== null)) return cameTo(to, wanted, known);
    if (known === null) await made(store, world, request);
    const { file, program } = world.run.info;
    const begins = { file, program, entry: request.name ?? request.path, owner: world.owner };
    if (known?.status !== "failed" || (effect.attempt ?? 1) === 1) return { begins };
    // PRT2.
    const told = await again(ops, known.id);
    return "epoch" in told ? { begins, goesOn: told } : recorded(to, wanted, { ok: false, failure: { ...told, site: effect.site } });
}

async function made(store: LedgerStore, { run }: RunWorld, request: RunRequest): Promise<void> {
    const { program, info } = run;
    const { program: hash, file, root } = info;
    const options = partOptions(run, request) as unknown as Json;
    const writer = await store.create({ id: request.run, program, hash, file, root, options });
    await writer.release();
}

async function again({ store, host }: PartsOps, run: string): Promise<GoesOn | Failure> {
    let goesOn: GoesOn | null = null;
    try {
        await handOver(store, run, { ...host, retry: true }, async (given) => {
            goesOn = given;
        });
    } catch (error) {
        if (error instanceof RemitError) return error.failure as Failure;
        throw error;
    }
    return goesOn as unknown as GoesOn;
}

async function cameTo(to: Kept, wanted: PartInput, info: RunInfo): Promise<Part> {
    const { effect } = wanted;
    if (info.status === "done") return recorded(to, wanted, await gaveOf(to.store, info));
    if (info.status === "failed")
        return recorded(to, wanted, { ok: false, failure: failureOf(info, effect), ...(await leftBy(to.store, info.id)) });
    if (info.status === "waiting") return { later: null };
    if (info.status === "stopped") {
        // Whether it is wanted any more is the conductor's to say: it is no outcome.
        const failure: Failure = { kind: "cancelled", message: "the block was stopped", site: effect.site };
        return { outcome: { ok: false, failure }, recorded: false };
    }
    const message = `the execution of the block ended without letting its run ${info.id} go`;
    const hint = "remit resume RUN --retry goes on with it";
    return recorded(to, wanted, { ok: false, failure: { kind: "unreachable", message, hint, site: effect.site } });
}

function failureOf({ failure }: RunInfo, { site }: Effect): Failure {
    const { kind, message, hint, detail, site: own } = failure as Failure;
    return {
        ...{ kind, message, site: own ?? site },
        ...(hint === undefined ? {} : { hint }),
        ...(detail === undefined ? {} : { detail }),
    };
}

/** PRT1. */
async function recorded(to: Kept, wanted: PartInput, outcome: Outcome): Promise<Part> {
    const whole = await patiently(() => wholeOf(to.store, wanted));
    const counts = await patiently(() => performOnce(to, whole, wanted.effect, async () => outcome));
    return { outcome: counts ?? outcome, recorded: counts !== null };
}
