/**
 * Blocks of a program that runs elsewhere, carried out on Temporal: each is a run of the same ledger and a workflow of its own.
 *
 * Boundary: between a block and the client. What the block is begun with is the host's, what its workflow does `workflow/remit-run.ts`.
 *
 * TBL1: the workflow has the id of the run, so that performing the effect again finds it: it goes on while this process is gone.
 * TBL3: nothing of a block is left where its workflow was not started (STW1), or where no worker would carry it out.
 * TMC1: going on with the run around it is the answer to a credential that was missing: its worker looks again, once.
 * TBL2: a stop of the run around it lets the workflow go on; only its own cancel ends it.
 */
import { setTimeout as after } from "node:timers/promises";
import {
    type BlockElsewhere,
    type BlockRunner,
    follow,
    gaveOf,
    leftBy,
    infoOf,
    keptRun,
    type Later,
    type LedgerStore,
    type QueueCaller,
    RemitError,
} from "@remit/host";
import type { Json } from "@remit/language";
import type { Failure, LedgerEvent, Outcome } from "@remit/machine";
import { Client } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { ConnectError, type ConnectSettings, connect, placeOf } from "../server/connect.ts";
import { type Asking, asked } from "./asked.ts";
import { queueCaller } from "./queues.ts";
import { type RemitClient, type RemitClientSettings, remitClient } from "./client.ts";
import { UnclearError } from "./start.ts";

export interface TemporalBlocksOptions extends Pick<RemitClientSettings, "queue" | "settings" | "keys" | "env"> {
    readonly connect: ConnectSettings;
    /** Who answers questions here. Default: the owner of the run. */
    readonly by?: string;
    /** Of the team whose task queues are called. */
    readonly dataConverter?: DataConverter;
}

export interface TemporalBlocks extends AsyncDisposable {
    readonly blocks: BlockRunner;
    /** Calls what a program imports from a task queue. */
    readonly queues: QueueCaller;
}

/** Between two looks for questions of a workflow, milliseconds. */
const LOOK_MS = 500;

/** The connection is made when the first block comes. */
export function temporalBlocks({ connect: settings, by, dataConverter, ...how }: TemporalBlocksOptions): TemporalBlocks {
    const place = placeOf(settings);
    let opened: ReturnType<typeof connect> | null = null;
    const { namespace } = place;
    const connected = (): ReturnType<typeof connect> => {
        opened ??= connect(place);
        // The next block tries again.
        opened.catch(() => {
            opened = null;
        });
        return opened;
    };
    const client = async (store: LedgerStore): Promise<RemitClient> =>
        remitClient({ connection: await connected(), store, namespace, ...how });
    const plain = async (): Promise<Client> =>
        new Client({ connection: await connected(), namespace, ...(dataConverter === undefined ? {} : { dataConverter }) });
    return {
        queues: queueCaller(plain),
        blocks: async (block) => {
            const { run } = block.request;
            const known = await infoOf(block.store, run);
            if (known?.status === "done") return gaveOf(block.store, run);
            try {
                return await carriedOut(await client(block.store), block, known === null, by);
            } catch (error) {
                if (!(error instanceof ConnectError)) throw error;
                return { ok: false, failure: { kind: "unreachable", message: error.message, hint: error.hint } };
            }
        },
        [Symbol.asyncDispose]: async () => {
            if (opened !== null) await (await opened).close();
        },
    };
}

async function carriedOut(client: RemitClient, block: BlockElsewhere, isNew: boolean, by: string | undefined): Promise<Outcome | Later> {
    const { request, store, io } = block;
    const { run } = request;
    if (isNew) {
        await client.attended(await store.program(request.program));
        await begun(block);
    }
    try {
        await client.goOn(run, { attach: true });
    } catch (error) {
        // TBL3.
        if (isNew && !(error instanceof UnclearError)) await store.remove([run]);
        throw error;
    }
    const over = new AbortController();
    const until = AbortSignal.any([over.signal, io.signal]);
    const lacking = Promise.withResolvers<Later>();
    const missing = lookAgain(isNew, lacking.resolve);
    const { asks: asking } = await block.options();
    const me = by ?? asking?.owner ?? "";
    const unput = unputOf(block, asking?.park === true ? lacking.resolve : null);
    const news = (): Promise<void> => after(LOOK_MS, undefined, { signal: until }).catch(() => undefined);
    const asks = asked({ client, store, run, on: block.on, by: me, until, missing, unput, news });
    const shows = shown(block, until);
    try {
        // A call to the server that is still open would keep the process.
        const result = client.client.withAbortSignal(until, () => client.result(run));
        const ended = stopped(result, io.signal).then(() => null);
        // People are asked until the end: before it, only an error ends the asking.
        const later = await Promise.race([ended, lacking.promise, asks.then(() => ended)]);
        return later ?? (await gaveOf(store, run));
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        return { ok: false, failure: error.failure as Failure, ...(await leftBy(store, run)) };
    } finally {
        over.abort();
        await Promise.all([shows, asks]);
    }
}

/** A question that no person is here for. `parks`: the run around the block waits as one that has the block here would; else its watcher is told. */
function unputOf({ on }: BlockElsewhere, parks: ((later: Later) => void) | null): Asking["unput"] {
    return ({ run, question: { id, path, kind, request } }) => {
        const { question = kind } = request as { readonly question?: string };
        const message = `the block, run ${run}, asks on Temporal: ${question}`;
        const hint = `answer with remit approve ${run} ${id} ANSWER`;
        if (parks === null) on.part?.(path, { type: "notice", text: `${message} ${hint}` });
        else parks({ later: true, why: { message, hint } });
    };
}

/** NST2. */
async function begun({ request, run, store, options }: BlockElsewhere): Promise<void> {
    const { program, info } = await keptRun(store, run);
    const { program: hash, file, root } = info;
    const writer = await store.create({ id: request.run, program, hash, file, root, options: (await options()) as unknown as Json });
    await writer.release();
}

/** What comes first: the result, or the stop of the run around it (TBL2). */
function stopped<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
        const stop = (): void => reject(signal.reason);
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
        result.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    });
}

/** The watcher of the run around it sees its events, too. */
async function shown({ request, store, on, io }: BlockElsewhere, until: AbortSignal): Promise<void> {
    const { event } = on;
    if (event === undefined) return;
    let next = 1;
    const show = (one: LedgerEvent): void => {
        next = one.seq + 1;
        event(one);
    };
    for await (const one of follow(store, request.run, { signal: until, live: () => !until.aborted })) show(one);
    // The result may be here before the last events have been read.
    if (!io.signal.aborted) for await (const one of store.events(request.run, next)) show(one);
}

/** Of a credential that is missing: going on with the run around it is the answer, once; what is missing then is missing (TMC1). */
function lookAgain(isNew: boolean, later: (later: Later) => void): Asking["missing"] {
    const looked = new Set<string>();
    return ({ id, request }) => {
        if (!isNew && !looked.has(id)) {
            looked.add(id);
            return true;
        }
        const { question: message, hint } = request as { readonly question: string; readonly hint: string };
        later({ later: true, why: { message, hint } });
        return false;
    };
}
