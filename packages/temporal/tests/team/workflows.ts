/** A team's own workflows, which know nothing of Remit. */
import { proxyActivities } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { shout } = proxyActivities<typeof activities>({ startToCloseTimeout: 10_000 });

export async function greet(name: string): Promise<string> {
    return shout(`hello ${name}`);
}

/** Takes what no other workflow has the name of. */
export default async function other(): Promise<string> {
    return "other";
}
