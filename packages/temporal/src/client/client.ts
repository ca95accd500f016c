/**
 * Runs on Temporal as a caller holds them: submitted, looked at, answered, cancelled.
 *
 * Boundary: between a ledger and Temporal's client. What a run is begun with is in the ledger before a workflow is.
 *
 * TC1: nothing is left half-submitted: where the workflow was not started the run is taken out of the ledger again. Where it may have been (STW1) the run
 *     stays: it has one execution at most, as its id is taken.
 * TC2: a run is Temporal's from its submission on, before a worker opens it: the ledger tells it as running, and it is not resumed here by mistake.
 */
import { type KeyObject, randomUUID } from "node:crypto";
import type { Json, Program } from "@remit/language";
import {
    type GoesOn,
    handOver,
    type KeptOptions,
    knownSecrets,
    LedgerError,
    type LedgerStore,
    newRunId,
    type NewRun,
    type ProgramWorld,
    RemitError,
    type ResumeRunOptions,
} from "@remit/host";
import { type Failure, mayAnswer } from "@remit/machine";
import {
    ActivityFailure,
    ApplicationFailure,
    Client,
    type Connection,
    WorkflowExecutionAlreadyStartedError,
    type WorkflowExecutionStatusName,
    WorkflowFailedError,
    WorkflowNotFoundError,
    type WorkflowHandle,
    type WorkflowStartOptions,
} from "@temporalio/client";
import { converter } from "../codec/converter.ts";
import type { Keys } from "../codec/encryption.ts";
import {
    type Answer,
    FAILURES,
    type LedgerPage,
    ownerOf,
    QUERIES,
    type Question,
    QUEUE,
    type RunInput,
    type RunOutput,
    SETTINGS,
    type Settings,
    SIGNALS,
    type Status,
    UPDATES,
    WORKFLOW,
} from "../wire/messages.ts";

import { beginOf } from "../wire/begin.ts";
import { signed } from "../wire/signature.ts";
import { known, shownOf } from "./attributes.ts";
import { type Listed, listedRuns, type Tell } from "./lists.ts";
import { executionOf, type Released, type ReleaseOptions, release } from "./owner.ts";
import { type Schedules, schedulesOf } from "./schedules.ts";
import { UnclearError, workflowStarted } from "./start.ts";
import { answered, attended, called, hasWorker, reachable, tellOf, unheard } from "./workers.ts";

export type RemitClientOptions = RemitClientSettings &
    (
        | { readonly connection: Connection; readonly client?: undefined }
        /** A team's own client, which has `RemitPlugin`. */
        | { readonly client: Client; readonly connection?: undefined }
    );

export interface RemitClientSettings {
    /** The ledger that the workers have too. */
    readonly store: LedgerStore;
    readonly namespace?: string;
    /** With which payloads are encrypted. */
    readonly keys?: Keys;
    /** Ed25519 key with which answers are signed, for workers that take no others. */
    readonly signer?: KeyObject;
    /** In which known secrets are looked for. */
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly queue?: string;
    readonly settings?: Partial<Settings>;
}

export interface SubmitOptions {
    /** Of the run, and of its workflow. Default: a new one. */
    readonly id?: string;
    /** What else Temporal takes: retention, a delay, versioning. */
    readonly start?: Partial<WorkflowStartOptions>;
    /** A workflow of the run that goes on already is the one that is meant. */
    readonly attach?: boolean;
}

export interface RemitClient {
    readonly client: Client;
    /** Begins a run of a program; gives its id. */
    submit(program: Pick<ProgramWorld, "form" | "hash" | "file" | "root">, kept: KeptOptions, options?: SubmitOptions): Promise<string>;
    /**
     * Goes on with a run of the ledger that no owner has, or that an execution has that ended without letting it go. `resume`: as for a resume in this
     * process; without it a failed run fails again. Rejects with `LedgerError` `owned`, and with `RemitError` where what was said does not fit.
     */
    goOn(run: string, options?: Pick<SubmitOptions, "start" | "attach"> & { readonly resume?: ResumeRunOptions }): Promise<void>;
    /** Lets a run go on elsewhere: its execution is drained or ended, if it is not gone. Its next owner takes it from the epoch that this gives. */
    release(run: string, options?: ReleaseOptions): Promise<Released & { readonly epoch: number }>;
    /** Waits for the value; rejects with `RemitError` as the run failed. */
    result(run: string): Promise<Json>;
    /**
     * Lets a run that an execution has go on in a new one, which any worker takes that serves now: another build, where the execution was pinned to one
     * or its history does not replay on it. The state in the ledger is loaded there, or told again.
     */
    move(run: string, options?: ReleaseOptions & Pick<SubmitOptions, "start">): Promise<Released>;
    status(run: string): Promise<Status>;
    /** Of the run, and of its blocks that are runs of their own: each is answered at its run. */
    questions(run: string): Promise<readonly Asked[]>;
    /** Events of the execution that goes on, from number `from` on. */
    ledger(run: string, from?: number): Promise<LedgerPage>;
    /** `shown`: the question as the person saw it, for which the answer is signed; default: as it is asked now. */
    answer(run: string, answer: Answer, shown?: Question): Promise<void>;
    /** Its answers are signed. */
    readonly signs: boolean;
    cancel(run: string): Promise<void>;
    /** Lets the run go once what was begun is answered, so that it can go on elsewhere. */
    drain(run: string): Promise<void>;
    /** Runs that the server lists. `tell` hears how many of them cannot be read here (LST1). */
    list(query?: string, tell?: Tell): AsyncIterable<Listed>;
    /**
     * Rejects with `ConnectError` where no worker takes runs from the queue, or from one that a stage of the program names. `hasWorker` only looks for
     * the first.
     */
    attended(program?: Program): Promise<void>;
    readonly queue: string;
    hasWorker(): Promise<boolean>;
    /** Rejects with `ConnectError` where a run cannot be asked what it does: it has no workflow here, or no worker. */
    reachable(run: string): Promise<void>;
    readonly schedules: Schedules;
}

export interface Asked {
    readonly run: string;
    readonly question: Question;
}

export function remitClient(options: RemitClientOptions): RemitClient {
    const { store, queue = QUEUE, settings = {}, signer } = options;
    const client = clientOf(options);
    const flow = (id: string): WorkflowHandle => client.workflow.getHandle(id);
    const attributes = known(client);
    const whole = async (): Promise<Settings> => ({ ...SETTINGS, ...settings, attributes: await attributes() });
    const start = async (run: string, more: SubmitOptions["start"], goesOn?: GoesOn): Promise<void> => {
        const { id, file, program } = await store.run(run);
        const kept = (await store.options(id)) as unknown as KeptOptions;
        const input: RunInput = { run: id, settings: await whole(), ...(goesOn === undefined ? {} : { goesOn }) };
        const begin = beginOf({ file, program, ...shownOf(kept) }, input, queue);
        await workflowStarted(client, begin, more);
    };
    return {
        client,
        submit: ({ form, hash, file, root }, kept, { id = newRunId(), start: more } = {}) => {
            const options = { ...kept, backend: "temporal" } as unknown as Json;
            // By a name of its own: the store takes the same name for the same submission made again (T8).
            const by = `${ownerOf(client.options.namespace, id)}${randomUUID()}`;
            return begun(store, { id, program: form, hash, file, root, by, options }, () => start(id, more));
        },
        goOn: async (run, { start: more, attach = false, resume } = {}) => {
            const begin = async (goesOn?: GoesOn): Promise<void> => {
                try {
                    await start(run, more, goesOn);
                } catch (error) {
                    if (!attach || !(error instanceof WorkflowExecutionAlreadyStartedError)) throw refused(error, run);
                }
            };
            if (resume === undefined) return begin();
            const info = await store.run(run);
            const status = await executionOf(client, info);
            if (status === "RUNNING") throw new LedgerError("owned", `run ${info.id} goes on on Temporal already`);
            const from = status === null ? {} : { from: info.epoch };
            await handOver(store, info.id, { ...(options.env === undefined ? {} : { env: options.env }), ...resume, ...from }, begin);
        },
        release: (run, how = {}) => release(client, store, run, how),
        move: async (run, { start: more, ...how } = {}) => {
            const { epoch: _, ...released } = await release(client, store, run, how);
            await start(run, more).catch((error: unknown) => {
                throw refused(error, run);
            });
            return released;
        },
        result: async (id) => {
            try {
                return ((await flow(id).result()) as RunOutput).value;
            } catch (error) {
                throw failed(error, id);
            }
        },
        status: (id) => statusOf(client, id),
        questions: (id) => asked(client, id),
        ledger: (id, from = 1) => tellOf<LedgerPage>(client, id, QUERIES.ledger, from),
        answer: async (id, answer, shown) => {
            try {
                await flow(id).executeUpdate<null, [Answer]>(UPDATES.answer, {
                    args: [await signedFor(client, id, { signer, answer, shown })],
                });
            } catch (error) {
                await noteRefused(store, id, answer);
                throw unheard(error, id, `no worker takes the answer to a question of run ${id} now`);
            }
        },
        cancel: async (id) => {
            await answered(flow(id).cancel(), `run ${id} was not told to stop`);
        },
        drain: (id) => answered(flow(id).signal(SIGNALS.drain), `run ${id} was not told to drain`),
        list: (query = `WorkflowType = '${WORKFLOW}'`, tell) => listedRuns(client, query, tell),
        ...{ queue, signs: signer !== undefined },
        attended: (program) => attended(client, queue, program),
        hasWorker: () => hasWorker(client, queue),
        reachable: (run) => reachable(client, run),
        schedules: schedulesOf({ client, store, queue, settings: whole }),
    };
}

/** TC1, TC2. Gives the id. */
async function begun(store: LedgerStore, run: NewRun, start: () => Promise<void>): Promise<string> {
    const { id } = run;
    const writer = await store.create(run);
    await writer.release();
    try {
        await start();
    } catch (error) {
        if (error instanceof UnclearError) throw error;
        await (await store.own(id, { from: writer.epoch })).release();
        await store.remove([id]);
        throw refused(error, id);
    }
    return id;
}

/** State of a run whose execution the server ended: by a person, by a limit of its, or as what the run begins with failed. */
const ENDED: Partial<Record<WorkflowExecutionStatusName, Status["state"]>> = {
    FAILED: "failed",
    TIMED_OUT: "failed",
    TERMINATED: "stopped",
    CANCELLED: "stopped",
};

/** A query tells how far the execution came, also of one that has ended. */
async function statusOf(client: Client, run: string): Promise<Status> {
    const now = await tellOf<Status>(client, run, QUERIES.status);
    if (!["opening", "running", "waiting"].includes(now.state)) return now;
    const { name } = (await client.workflow.getHandle(run).describe()).status;
    // It ended between the two.
    if (name === "COMPLETED") return tellOf<Status>(client, run, QUERIES.status);
    // A run that waits for what cannot be given there fails by it, and goes on waiting.
    const state = name === "FAILED" && now.state === "waiting" ? undefined : ENDED[name];
    return state === undefined ? now : { ...now, state, performing: [], questions: [], parts: [] };
}

/** By a key. One to a question that is not open is left as it is: the workflow refuses it. */
async function signedFor(
    client: Client,
    run: string,
    { signer, answer, shown }: { readonly signer: KeyObject | undefined; readonly answer: Answer; readonly shown: Question | undefined },
): Promise<Answer> {
    if (signer === undefined) return answer;
    const question =
        shown ??
        (await tellOf<Status>(client, run, QUERIES.status)).questions.find(
            ({ id, path }) => id === answer.question || path === answer.question,
        );
    return question === undefined ? answer : signed(signer, run, question, answer);
}

/** An answer of a user who may not give it is told by the record of the question (AK4), as one that comes to the ledger is. */
async function noteRefused(store: LedgerStore, run: string, { question, by, decision = "" }: Answer): Promise<void> {
    const known = (await store.asks.list(run)).find(({ id }) => id === question);
    if (known !== undefined && !mayAnswer(known.owner, by)) await store.asks.note(known.id, { kind: "refused", who: by, text: decision });
}

function clientOf({ client, connection, store, namespace = "default", keys, env = {} }: RemitClientOptions): Client {
    if (client !== undefined) return client;
    const secrets = knownSecrets(env);
    const dataConverter = converter({ store, shows: true, scrubbers: () => [secrets], ...(keys === undefined ? {} : { keys }) });
    return new Client({ connection, namespace, dataConverter });
}

async function asked(client: Client, run: string): Promise<readonly Asked[]> {
    const { questions, parts } = await tellOf<Status>(client, run, QUERIES.status);
    const inside = await Promise.all(parts.map((one) => askedIn(client, one.run)));
    return [...questions.map((question) => ({ run, question })), ...inside.flat()];
}

/** Of a part that the run has named, and that the server may not have begun yet. */
async function askedIn(client: Client, run: string): Promise<readonly Asked[]> {
    try {
        return await asked(client, run);
    } catch (error) {
        if (error instanceof WorkflowNotFoundError) return [];
        throw error;
    }
}

function refused(error: unknown, id: string): unknown {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) return called(error, `run ${id} was not begun there`);
    return new RemitError({ kind: "value", message: `there is a workflow ${id} already`, hint: "give the run another id with --id" });
}

/** The ledger of its worker could not be read or written, or is another one than that in which the run was begun. */
function notIn({ message, details }: ApplicationFailure): Failure {
    const isOther = details?.[0] === "unknown";
    const hint = isOther
        ? "workers, commands and programs share one ledger: give them the same one, or give this worker a queue of its own (--queue)"
        : "mend that where the worker runs, then: remit resume RUN --on temporal";
    return { kind: "unreachable", message: `the worker that took the run cannot use its ledger: ${message}`, hint, site: null };
}

function failed(error: unknown, id: string): unknown {
    if (!(error instanceof WorkflowFailedError))
        return called(error, `run ${id} goes on where it has a worker, and its value is not known here`);
    // What an activity says of itself stands in its own cause.
    const cause = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
    if (cause instanceof ApplicationFailure && cause.type === FAILURES.failed) return new RemitError(cause.details?.[0] as Failure, id);
    if (cause instanceof ApplicationFailure && cause.type === FAILURES.ledger) return new RemitError(notIn(cause), id);
    const isCancelled = cause?.name === "CancelledFailure";
    return new RemitError({ kind: "cancelled", message: isCancelled ? "the run was cancelled" : (cause?.message ?? error.message) }, id);
}
