/** What a person writes by hand on Temporal for the same work: no machine, no plan, the same two appends an effect. */
import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import type { HandActivities, Work } from "./temporal-hand.ts";

const options = { startToCloseTimeout: 600_000, retry: { maximumAttempts: 1 } };
const remote = proxyActivities<HandActivities>({ ...options, heartbeatTimeout: 30_000 });
const local = proxyLocalActivities<HandActivities>(options);

export async function hand({ shape, n, isLocal }: Work): Promise<number> {
    const { step } = isLocal ? local : remote;
    if (shape === "fan") {
        const all = await Promise.all(Array.from({ length: n }, (_, i) => step(i)));
        return all.length;
    }
    let done = 0;
    for (let i = 0; i < n; i++) {
        await step(i);
        done++;
    }
    return done;
}
