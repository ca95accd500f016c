/** A team's own workflows, one of which calls a program of Remit. */
import { remitChild, remitFailure } from "@remit/temporal/workflow";
import { ActivityFailure, proxyActivities, scheduleActivity } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { shout } = proxyActivities<typeof activities>({ startToCloseTimeout: 10_000 });

export async function greet(name: string): Promise<string> {
    return shout(`hello ${name}`);
}

/** Of one object, as tools are called. */
export async function greeted({ name }: { readonly name: string }): Promise<string> {
    return greet(name);
}

/** Calls a program of Remit as a child, on the queue of the workflow or another one. */
export async function measured(words: string[], taskQueue?: string): Promise<string> {
    const sizes = remitChild<{ words: string[] }, number>("Sizes", taskQueue === undefined ? {} : { taskQueue });
    try {
        return `${await sizes({ words })} letters`;
    } catch (error) {
        const failure = remitFailure(error);
        if (failure === null) throw error;
        return `${failure.kind}: ${failure.message}`;
    }
}

/** Calls an activity of another queue, as any workflow may: what it gave, or the type of its failure. */
export async function forged(taskQueue: string, activity: string, wanted: unknown): Promise<string> {
    const options = { taskQueue, startToCloseTimeout: 10_000, retry: { maximumAttempts: 1 } };
    try {
        return JSON.stringify(await scheduleActivity(activity, [wanted], options));
    } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        return String((error.cause as { readonly type?: unknown } | undefined)?.type);
    }
}

/** Takes what no other workflow has the name of. */
export default async function other(): Promise<string> {
    return "other";
}
