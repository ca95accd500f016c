/**
 * Remit in a worker or a client that a team has already: its workflow, its activities and its codec beside the team's own.
 *
 * Boundary: what a plugin of Temporal's is asked for. What it adds is made elsewhere.
 *
 * PLG1: the team's workflows, activities, interceptors, codecs and queue stay as they are.
 * PLG2: what the plugin opened is closed when the last worker that has it has ended.
 */
import { join } from "node:path";
import { cacheFolder, knownSecrets, type LedgerStore, openProcess, type Process, type ResumeRunOptions, type Scrubber } from "@remit/host";
import { Context } from "@temporalio/activity";
import type { ClientOptions } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { SimplePlugin } from "@temporalio/plugin";
import type { BundleOptions, ReplayWorkerOptions, Worker, WorkerOptions } from "@temporalio/worker";
import { activitiesOf, type RunActivities } from "../activity/activities.ts";
import { beside, Runs } from "../codec/beside.ts";
import { queueCaller } from "../client/queues.ts";
import { converter } from "../codec/converter.ts";
import { ACTIVITY_NAMES, BEAT_MS, named, type NamedActivities } from "../wire/messages.ts";
import { workerSdk } from "../server/sdk.ts";
import { ownWorkflows, withWorkflow } from "./bundle.ts";
import { ofActivities, type ServingOptions } from "./options.ts";

/** What the worker is told of its server, its queue and its build stays the team's. */
export type RemitPluginOptions = ServingOptions;

/** What workers of one plugin share. */
interface Part {
    /** Of this process alone, to which the effects of its sessions with agents come. */
    readonly queue: string;
    readonly activities: NamedActivities;
    secrets(): Iterable<Scrubber>;
}

export class RemitPlugin extends SimplePlugin implements AsyncDisposable {
    private readonly remit: RemitPluginOptions;
    private readonly on: Process;
    private readonly cache: string;
    private readonly known: Scrubber;
    private readonly runs = new Runs(() => this.store());
    /** By which the process knows who uses the store. */
    private readonly holder = {};
    private opened: Promise<LedgerStore> | null = null;
    private made: Promise<RunActivities> | null = null;
    /** Of what is open. */
    private performing: RunActivities | null = null;
    private part: Part | null = null;
    private running = 0;
    private sessions: { readonly worker: Worker; readonly ended: Promise<void> } | null = null;

    constructor(options: RemitPluginOptions) {
        super({ name: "remit" });
        this.remit = options;
        this.on = options.host?.process ?? openProcess();
        this.cache = options.cache ?? join(cacheFolder(this.on.env), "temporal");
        this.known = knownSecrets(this.on.env);
    }

    override configureClient(options: ClientOptions): ClientOptions {
        return { ...options, dataConverter: this.converted(options.dataConverter, true) };
    }

    override configureWorker(options: WorkerOptions): WorkerOptions {
        this.part ??= this.parted(options.taskQueue ?? "remit");
        if (options.taskQueue === this.part.queue) return options;
        const isAlone = options.workflowsPath === undefined && options.workflowBundle === undefined;
        return {
            ...options,
            dataConverter: this.converted(options.dataConverter, false),
            activities: { ...options.activities, ...this.part.activities },
            maxHeartbeatThrottleInterval: options.maxHeartbeatThrottleInterval ?? BEAT_MS,
            defaultHeartbeatThrottleInterval: options.defaultHeartbeatThrottleInterval ?? BEAT_MS,
            ...(isAlone ? { workflowsPath: ownWorkflows(this.cache) } : {}),
        };
    }

    override configureReplayWorker(options: ReplayWorkerOptions): ReplayWorkerOptions {
        return { ...options, dataConverter: this.converted(options.dataConverter, false) };
    }

    override configureBundler(options: BundleOptions): BundleOptions {
        return withWorkflow(options, this.cache);
    }

    override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
        if (worker.options.taskQueue === this.part?.queue) return next(worker);
        this.running++;
        try {
            await this.startSessions(worker);
            await next(worker);
        } finally {
            // PLG2.
            if (--this.running === 0) await this.close();
        }
    }

    /** Ends what the plugin opened; it opens it again when it is needed. */
    async close(): Promise<void> {
        const { sessions, performing } = this;
        this.sessions = null;
        if (sessions?.worker.getState() === "RUNNING") sessions.worker.shutdown();
        await sessions?.ended;
        [this.made, this.performing, this.opened] = [null, null, null];
        await performing?.ended();
        await this.on.release(this.holder);
        if (this.remit.host?.process === undefined) await this.on.close();
    }

    [Symbol.asyncDispose](): Promise<void> {
        return this.close();
    }

    private store(): Promise<LedgerStore> {
        const { ledger } = this.remit;
        if (typeof ledger !== "string") return Promise.resolve(ledger);
        this.opened ??= this.on.store(ledger, this.holder);
        // The next use tries again.
        this.opened.catch(() => {
            this.opened = null;
        });
        return this.opened;
    }

    private parted(taskQueue: string): Part {
        const queue = `${taskQueue}/${this.on.user}/${process.pid}-${Date.now().toString(36)}`;
        const made = async (): Promise<NamedActivities> => {
            // The client of an activity has the team's codecs and interceptors.
            const queues = queueCaller(() => Context.current().client);
            const { programs = {} } = this.remit;
            const more = ofActivities(this.remit);
            const host: ResumeRunOptions = { queues, ...this.remit.host, process: this.on };
            this.made ??= this.store().then((store) => activitiesOf({ store, host, queue, programs, ...more }));
            this.performing = await this.made;
            return this.performing.activities;
        };
        const all = ACTIVITY_NAMES.map((name) => [
            named(name),
            async (wanted: never): Promise<unknown> => ((await made())[named(name)] as (wanted: never) => Promise<unknown>)(wanted),
        ]);
        const secrets = (): Iterable<Scrubber> => this.performing?.secrets() ?? [];
        return { queue, activities: Object.fromEntries(all) as NamedActivities, secrets };
    }

    private converted(theirs: DataConverter = {}, shows: boolean): DataConverter {
        const { keys } = this.remit;
        const scrubbers = (): Iterable<Scrubber> => [this.known, ...(this.part?.secrets() ?? [])];
        const ours = converter({ store: () => this.store(), shows, scrubbers, ...(keys === undefined ? {} : { keys }) });
        return beside(theirs, ours, this.runs);
    }

    /** Sessions with agents stay in this process. */
    private async startSessions({ connection, options }: Worker): Promise<void> {
        if (this.sessions !== null || this.part === null || connection === undefined) return;
        const { queue, activities } = this.part;
        const { namespace, interceptors, dataConverter } = options;
        const { activity = [], client } = interceptors ?? {};
        const worker = await workerSdk().Worker.create({
            ...{ connection, namespace, taskQueue: queue, activities: { ...activities } },
            ...(dataConverter === undefined ? {} : { dataConverter }),
            interceptors: { activity, ...(client === undefined ? {} : { client }) },
            maxHeartbeatThrottleInterval: BEAT_MS,
            defaultHeartbeatThrottleInterval: BEAT_MS,
        });
        this.sessions = { worker, ended: worker.run() };
    }
}
