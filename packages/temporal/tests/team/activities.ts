/** A team's own activities. */
import { ApplicationFailure } from "@temporalio/activity";

/** Orders that were refunded, as often as they were. */
export const refunded: number[] = [];

export async function refundOrder({
    order,
    cents,
}: {
    readonly order: number;
    readonly cents: number;
}): Promise<{ readonly refunded: number }> {
    if (cents > 10_000) throw ApplicationFailure.nonRetryable(`order ${order} is too much`);
    refunded.push(order);
    return { refunded: cents };
}

export async function shout(text: string): Promise<string> {
    return text.toUpperCase();
}
