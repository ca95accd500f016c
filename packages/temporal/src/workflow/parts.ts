/**
 * Blocks that are runs of their own, as child workflows.
 *
 * Boundary: Temporal's calls around the effect `run`. What the run is made of, and what it came to, is `activity/parts.ts`.
 *
 * WPA1: a part is a child workflow with the id of its run. One that goes on already (from an earlier execution of this workflow) is followed: it
 *     tells when it ends, and is asked now and then, as it may have ended without telling.
 * WPA2: a cancel of this run goes to its parts. An execution that goes on in a new one leaves them as they are; where the run is let go they are
 *     let go before it.
 */
import type { Effect, RunRequest } from "@remit/machine";
import {
    ApplicationFailure,
    CancellationScope,
    ChildWorkflowFailure,
    condition,
    defineSignal,
    getExternalWorkflowHandle,
    isCancellation,
    ParentClosePolicy,
    proxyActivities,
    startChild,
    Trigger,
    setHandler,
    TemporalFailure,
    workflowInfo,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { beginOf } from "../wire/begin.ts";
import {
    type Carried,
    FAILURES,
    type Follower,
    type NamedActivities,
    type Part,
    type Performed,
    type RunInput,
    type RunOutput,
    type Settings,
    SIGNALS,
    WORKFLOW,
} from "../wire/messages.ts";

/** Between two looks at a part that is followed, milliseconds: the first, and the most. */
const LOOK_MS = 60_000;
const MOST_LOOK_MS = 3_600_000;

const remote = proxyActivities<NamedActivities>({ startToCloseTimeout: 60_000 });

export interface PartsOps {
    readonly run: string;
    readonly epoch: number;
    readonly settings: Settings;
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
        const { run, epoch } = this.ops;
        const part = await remote["remit.part"]({ ...carried, effect });
        if (!("begins" in part)) return part;
        if (this.drains !== null || (await this.carriedOut(effect, part)) === "left") return { later: null };
        const over = { run, epoch, batches: [], effect, over: true } as const;
        const came = await CancellationScope.nonCancellable(() => remote["remit.part"](over));
        return "begins" in came ? { lost: true, repeatable: true } : came;
    }

    private async carriedOut({ path, request }: Effect, { begins, goesOn }: Begins): Promise<"over" | "left"> {
        const { run } = request as unknown as RunRequest;
        const { settings } = this.ops;
        const input: RunInput = { run, settings, ...(goesOn === undefined ? {} : { goesOn }) };
        const left = new Trigger<"left">();
        this.open.set(path, { run, left });
        try {
            const options = { ...beginOf(begins, input, workflowInfo().taskQueue), parentClosePolicy: ParentClosePolicy.ABANDON };
            const child = await startChild<(input: RunInput) => Promise<RunOutput>>(WORKFLOW, options);
            return await Promise.race([left, child.result().then((): "over" => "over", endOf)]);
        } catch (error) {
            if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
            return await Promise.race([left, this.followed(path, run)]);
        } finally {
            this.open.delete(path);
        }
    }

    /** WPA1. */
    private async followed(path: string, run: string): Promise<"over"> {
        const scope = CancellationScope.current();
        scope.cancelRequested.catch(() =>
            getExternalWorkflowHandle(run)
                .cancel()
                .catch(() => undefined),
        );
        const { workflowId } = workflowInfo();
        return CancellationScope.nonCancellable(async (): Promise<"over"> => {
            for (let wait = LOOK_MS; ; wait = Math.min(2 * wait, MOST_LOOK_MS)) {
                if (!(await signalled(run, SIGNALS.follow, { workflow: workflowId, path }))) return "over";
                if (await condition(() => this.told.has(path), wait)) return "over";
            }
        });
    }
}

/** A part that was let go goes on elsewhere, as this run does. */
function endOf(error: unknown): "over" | "left" {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    return error.cause instanceof ApplicationFailure && error.cause.type === FAILURES.drained ? "left" : "over";
}

/** False where there is no such workflow that goes on. */
async function signalled(run: string, signal: string, ...args: unknown[]): Promise<boolean> {
    try {
        await getExternalWorkflowHandle(run).signal(signal, ...args);
        return true;
    } catch (error) {
        if (isCancellation(error) || !(error instanceof TemporalFailure)) throw error;
        return false;
    }
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
