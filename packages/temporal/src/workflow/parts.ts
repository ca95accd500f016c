/**
 * Blocks that are runs of their own, as child workflows.
 *
 * Boundary: Temporal's calls around the effect `run`. What the run is made of, and what it came to, is `activity/parts.ts`.
 *
 * WPA1: a part is a child workflow with the id of its run. One that goes on already (from an earlier execution of this workflow) is followed: it
 *     tells when it ends, and is asked now and then, as it may have ended without telling.
 * WPA2: a cancel of this run goes to its parts. An execution that goes on in a new one leaves them as they are; where the run is let go they are
 *     let go before it.
 * WPA3: no part goes on alone: a guard (WG1) cancels it where the execution around it ends in another way (terminated, out of time). A part that was
 *     cancelled so is begun again where the run around it goes on.
 */
import type { Effect, RunRequest } from "@remit/machine";
import {
    ApplicationFailure,
    CancellationScope,
    ChildWorkflowFailure,
    ChildWorkflowCancellationType,
    condition,
    defineSignal,
    getExternalWorkflowHandle,
    ParentClosePolicy,
    proxyActivities,
    setHandler,
    startChild,
    Trigger,
    uuid4,
    workflowInfo,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { beginOf } from "../wire/begin.ts";
import {
    type Carried,
    FAILURES,
    type Follower,
    GUARD,
    type GuardInput,
    type NamedActivities,
    type Part,
    type Performed,
    type RunInput,
    type RunOutput,
    type Settings,
    SIGNALS,
    WORKFLOW,
} from "../wire/messages.ts";
import { signalled } from "./guard.ts";

/** Between two looks at a part that is followed, milliseconds: the first, and the most. */
const LOOK_MS = 60_000;
const MOST_LOOK_MS = 3_600_000;

const remote = proxyActivities<NamedActivities>({ startToCloseTimeout: 60_000 });

export interface PartsOps {
    readonly run: string;
    readonly epoch: number;
    readonly settings: Settings;
    /** Runs of parts that this execution began, or one before it that went on in this one. */
    readonly begun: Set<string>;
}

interface Open {
    readonly run: string;
    /** It is not waited for any more. */
    readonly left: Trigger<"left">;
}

type Begins = Extract<Part, { readonly begins: unknown }>;

export class Parts {
    private readonly ops: PartsOps;
    private readonly open = new Map<string, Open>();
    /** Nothing is waited for any more. */
    private drains: "on" | "drained" | null = null;
    /** Paths of those that told of their end. */
    private readonly told = new Set<string>();

    constructor(ops: PartsOps) {
        this.ops = ops;
    }

    get list(): { readonly path: string; readonly run: string }[] {
        return [...this.open].map(([path, { run }]) => ({ path, run }));
    }

    /** A part that is followed has ended. */
    ended(path: string): void {
        this.told.add(path);
    }

    /** WPA2. */
    drain(how: "on" | "drained"): void {
        this.drains = how;
        for (const { run, left } of this.open.values()) {
            if (how === "on") left.resolve("left");
            // One that has ended meanwhile is let go.
            else void signalled(run, SIGNALS.drain);
        }
    }

    async perform(effect: Effect, carried: Carried): Promise<Performed> {
        const { run, epoch, begun } = this.ops;
        const part = await remote["remit.part"]({ ...carried, effect });
        if (!("begins" in part)) return part;
        const isOwn = begun.has((effect.request as unknown as RunRequest).run);
        const how = this.drains === null ? await this.guarded(effect, part) : "left";
        if (how === "left") return { later: null };
        const over = { run, epoch, batches: [], effect, over: true } as const;
        const came = await CancellationScope.nonCancellable(() => remote["remit.part"](over));
        if ("begins" in came) return { lost: true, repeatable: true };
        // WPA3.
        const isAgain = how === "followed" && !isOwn && wasStopped(came) && !CancellationScope.current().consideredCancelled;
        return isAgain ? this.perform(effect, { run, epoch, batches: [] }) : came;
    }

    /** WPA3. */
    private async guarded(effect: Effect, begins: Begins): Promise<"over" | "followed" | "left"> {
        const { run: part } = effect.request as unknown as RunRequest;
        const { taskQueue, workflowId: around } = workflowInfo();
        const guard = new CancellationScope({ cancellable: true });
        const options = {
            ...{ taskQueue, workflowId: `${part}/guard/${uuid4()}`, args: [{ around, part }] as [GuardInput] },
            parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
            cancellationType: ChildWorkflowCancellationType.TRY_CANCEL,
            staticSummary: "ends the block where the run around it is ended",
        };
        try {
            // The part begins in the same turn.
            guard.run(() => startChild<(input: GuardInput) => Promise<null>>(GUARD, options)).catch(() => undefined);
            return await this.carriedOut(effect, begins);
        } finally {
            guard.cancel();
        }
    }

    private async carriedOut({ path, request }: Effect, { begins, goesOn }: Begins): Promise<"over" | "followed" | "left"> {
        const { run } = request as unknown as RunRequest;
        const { settings, begun } = this.ops;
        const input: RunInput = { run, settings, ...(goesOn === undefined ? {} : { goesOn }) };
        const left = new Trigger<"left">();
        this.open.set(path, { run, left });
        try {
            const options = { ...beginOf(begins, input, workflowInfo().taskQueue), parentClosePolicy: ParentClosePolicy.ABANDON };
            const child = await startChild<(input: RunInput) => Promise<RunOutput>>(WORKFLOW, options);
            begun.add(run);
            return await Promise.race([left, child.result().then((): "over" => "over", endOf)]);
        } catch (error) {
            if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
            return await Promise.race([left, this.followed(path, run)]);
        } finally {
            this.open.delete(path);
        }
    }

    /** WPA1. */
    private async followed(path: string, run: string): Promise<"followed"> {
        const scope = CancellationScope.current();
        scope.cancelRequested.catch(() =>
            getExternalWorkflowHandle(run)
                .cancel()
                .catch(() => undefined),
        );
        const { workflowId } = workflowInfo();
        return CancellationScope.nonCancellable(async (): Promise<"followed"> => {
            for (let wait = LOOK_MS; ; wait = Math.min(2 * wait, MOST_LOOK_MS)) {
                if (!(await signalled(run, SIGNALS.follow, { workflow: workflowId, path }))) return "followed";
                if (await condition(() => this.told.delete(path), wait)) return "followed";
            }
        });
    }
}

/** It was cancelled: what that means is not in the ledger. */
function wasStopped(came: Performed): boolean {
    return "outcome" in came && !came.recorded && !came.outcome.ok && came.outcome.failure.kind === "cancelled";
}

/** A part that was let go goes on elsewhere, as this run does. */
function endOf(error: unknown): "over" | "left" {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    return error.cause instanceof ApplicationFailure && error.cause.type === FAILURES.drained ? "left" : "over";
}

/** Workflows that wait for the end of this one; those that earlier executions heard of first. */
export function followersOf({ followers = [] }: Pick<RunInput, "followers">): Follower[] {
    const all = [...followers];
    setHandler(defineSignal<[Follower]>(SIGNALS.follow), (one) => {
        if (!all.some(({ workflow, path }) => workflow === one.workflow && path === one.path)) all.push(one);
    });
    return all;
}

/** Tells them. One that has ended itself needs not know. */
export async function tell(followers: readonly Follower[]): Promise<void> {
    const all = followers.map(({ workflow, path }) => signalled(workflow, SIGNALS.ended, path));
    await CancellationScope.nonCancellable(() => Promise.all(all));
}
