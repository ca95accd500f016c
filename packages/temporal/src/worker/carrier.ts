/**
 * Runs that the callers of this process hold and Temporal conducts: a worker here performs their effects, and what they tell and ask is told and asked
 * here, as of a run in this process.
 *
 * Boundary: between a caller's run and its workflow. Whose turn or task the run is, is the caller's.
 *
 * CRR1: the queue is this process's alone, so that effects come to the process that can perform them. A run whose execution is on the queue of an
 *     earlier process is moved here: the ledger takes nothing more of that execution (TOW1).
 * CRR3: an answer that reaches a run from elsewhere counts only where the key of this process signed it (SGN1).
 * CRR4: where the server does not tell whether an execution began (STW1), the start is made again when the server answers: one that began keeps the run.
 * CRR2: a process that leaves its runs lets their executions be; only the caller's cancel ends one.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { setTimeout as after } from "node:timers/promises";
import {
    follow,
    type KeptOptions,
    type LedgerStore,
    type Missing,
    type OfRun,
    RemitError,
    resultElsewhere,
    type RunCarrier,
    type RunCarriers,
    type RunElsewhere,
    type RunResult,
} from "@remit/host";
import { isOfRun } from "@remit/machine";
import { WorkflowNotFoundError } from "@temporalio/client";
import { type Asking, asked, isAway } from "../client/asked.ts";
import { type RemitClient, type RemitClientSettings, remitClient } from "../client/client.ts";
import { UnclearError } from "../client/start.ts";
import { ConnectError, connect, placeOf } from "../server/connect.ts";
import { SETTINGS } from "../wire/messages.ts";
import { createWorker, type RemitWorkerOptions } from "./worker.ts";

export interface RunCarrierOptions
    extends Pick<RemitWorkerOptions, "connect" | "host" | "cache" | "tune">,
        Pick<RemitClientSettings, "settings" | "keys" | "env"> {
    /** Ed25519, private: what people decide here is signed with it, and nothing else is taken. Default: one of this process alone. */
    readonly signer?: KeyObject;
}

/** Effects here wait for clients and people more than they compute: so many at once. */
const EFFECTS = 2_000;
/** After news a question is looked for so soon, then ever more rarely; and so often a ledger is looked at without news, milliseconds. */
const SOON_MS = 25;
const LOOK_MS = 2_000;
/** Between two tries where the server is away, milliseconds. */
const AGAIN_MS = 1_000;

/** Rejects with `ConnectError` where no server answers. */
export function runCarriers(options: RunCarrierOptions): RunCarriers {
    const { connect: settings, host, cache, tune, keys, settings: runs, env } = options;
    const { signer = generateKeyPairSync("ed25519").privateKey } = options;
    return async (store) => {
        const place = placeOf(settings);
        const queue = `remit-${randomUUID()}`;
        const held = new Map<string, { readonly of: OfRun; readonly news: News }>();
        const ofRun = (run: string): OfRun => {
            const found = [...held].find(([id]) => isOfRun(run, id));
            if (found === undefined) throw new Error(`this process has left the run ${run}`);
            const [, { of, news }] = found;
            const acted = (): void => {
                of.acted?.();
                news.tell();
            };
            return { ...of, acted };
        };
        const connection = await connect(place);
        const sealed = keys === undefined ? {} : { keys };
        const worker = await createWorker({
            ...{ connect: settings, ledger: store, queue, signers: [createPublicKey(signer)], ...sealed },
            ...(host === undefined ? {} : { host }),
            ...(cache === undefined ? {} : { cache }),
            tune: { maxConcurrentActivityTaskExecutions: EFFECTS, ...tune },
            ofRun,
        }).catch(async (error: unknown) => {
            await connection.close();
            throw error;
        });
        const client = remitClient({
            ...{ connection, store, namespace: place.namespace, queue, signer, ...sealed },
            // A client or a person may take as long as the caller lets it; that this process lives is seen by its heartbeats.
            settings: { patience: SETTINGS.agents, ...runs },
            ...(env === undefined ? {} : { env }),
        });
        const lost = worker.ended.then((): never => {
            throw new ConnectError("the worker that performs the effects of this run has ended", "start its process again", undefined);
        });
        lost.catch(() => undefined);
        const carrier: RunCarrier = {
            carryOut: async (run) => {
                const news = new News();
                held.set(run.run, { of: run.of, news });
                try {
                    return await carriedOut({ client, store, lost, news }, run);
                } finally {
                    held.delete(run.run);
                }
            },
            [Symbol.asyncDispose]: async () => {
                await worker.shutdown();
                await connection.close();
            },
        };
        return carrier;
    };
}

/** That there may be something new. */
class News {
    private woken = Promise.withResolvers<void>();

    tell(): void {
        const { resolve } = this.woken;
        this.woken = Promise.withResolvers();
        resolve();
    }

    /** Resolves with the next news (true), or after so many milliseconds. */
    next(ms: number): Promise<boolean> {
        const { promise } = this.woken;
        return new Promise((resolve) => {
            const timer = setTimeout(() => resolve(false), ms);
            void promise.then(() => {
                clearTimeout(timer);
                resolve(true);
            });
        });
    }
}

interface Carrying {
    readonly client: RemitClient;
    readonly store: LedgerStore;
    /** Rejects where the worker has ended. */
    readonly lost: Promise<never>;
    readonly news: News;
}

async function carriedOut({ client, store, lost, news }: Carrying, of: RunElsewhere): Promise<RunResult> {
    const { run, begins, on, signal, leave } = of;
    leave.throwIfAborted();
    const before = begins === null ? await store.run(run) : null;
    if (before !== null && (before.status === "done" || before.status === "failed")) return resultElsewhere(store, run, null);
    try {
        if (begins !== null) await client.submit(begins.program, begins.kept, { id: run });
        // CRR1.
        else await client.move(run, { unserved: true });
    } catch (error) {
        if (!(error instanceof UnclearError)) throw error;
        // CRR4.
        await persistent(leave, () => client.goOn(run, { attach: true }));
        leave.throwIfAborted();
    }
    const { asks: { owner = "" } = {} } = begins?.kept ?? ((await store.options(run)) as unknown as KeptOptions);
    const over = new AbortController();
    const until = AbortSignal.any([over.signal, leave]);
    let lacks: Missing | null = null;
    const missing: Asking["missing"] = ({ request }) => {
        const { question: message, hint } = request as { readonly question: string; readonly hint: string };
        if (lacks === null) void persistent(until, () => client.drain(run));
        lacks = { message, hint };
        return false;
    };
    let pause = SOON_MS;
    const looks = async (): Promise<void> => {
        pause = (await news.next(pause)) ? SOON_MS : Math.min(2 * pause, LOOK_MS);
    };
    const asks = asked({ client, store, run, on, by: owner, until: AbortSignal.any([until, signal]), missing, news: looks });
    const shows = shown(of, { store, news, from: (before?.events ?? 0) + 1, until });
    const cancel = (): void => void persistent(until, () => client.cancel(run));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    const ended = ending(client, run, until);
    try {
        await Promise.race([ended, asks.then(() => ended), shows.then(() => ended), lost]);
    } catch (error) {
        // What it asks cannot be answered any more.
        if (!leave.aborted) await persistent(leave, () => client.cancel(run));
        throw error;
    } finally {
        signal.removeEventListener("abort", cancel);
        over.abort();
        news.tell();
        await Promise.allSettled([asks, shows]);
    }
    // CRR2.
    leave.throwIfAborted();
    return resultElsewhere(store, run, lacks);
}

/** Resolves when the workflow has ended, however: the ledger says what became of the run. Also when it is not waited for any more. */
async function ending(client: RemitClient, run: string, until: AbortSignal): Promise<void> {
    await persistent(until, async () => {
        try {
            await client.client.withAbortSignal(until, () => client.result(run));
        } catch (error) {
            if (!(error instanceof RemitError)) throw error;
        }
    });
}

/** Tries until the server answers; what a workflow that has ended is told is of no use any more. */
async function persistent(until: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (!until.aborted) {
        try {
            return await work();
        } catch (error) {
            if (until.aborted || error instanceof WorkflowNotFoundError) return;
            if (!isAway(error)) throw error;
            await after(AGAIN_MS, undefined, { signal: until }).catch(() => undefined);
        }
    }
}

interface Showing {
    readonly store: LedgerStore;
    readonly news: News;
    readonly from: number;
    readonly until: AbortSignal;
}

/** Its events, as the ledger has them. */
async function shown({ run, on }: RunElsewhere, { store, news, from, until }: Showing): Promise<void> {
    const { event } = on;
    if (event === undefined) return;
    const next = async (): Promise<null> => {
        await news.next(LOOK_MS);
        return null;
    };
    for await (const one of follow(store, run, { from, news: next, live: () => !until.aborted })) event(one);
}
