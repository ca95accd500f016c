/** A Mastra agent on Temporal without a package of theirs for it: its loop is one activity. */
import { proxyActivities } from "@temporalio/workflow";
import type { MastraActivities } from "./mastra.ts";

const { whole } = proxyActivities<MastraActivities>({ startToCloseTimeout: 600_000, heartbeatTimeout: 5_000 });

export async function agent(): Promise<string> {
    return whole();
}
