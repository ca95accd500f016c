/**
 * A text that a server keeps beside a workflow or a schedule, in a namespace that others may use, too.
 *
 * Boundary: one payload. Temporal's own calls decode all of a row, and fail where one payload of it cannot be decoded.
 */
import type { Payload, SerializationContext } from "@temporalio/common";
import type { Client } from "@temporalio/client";

/** Empty where there is none, null where it cannot be read. */
export async function textIn(client: Client, payload: Payload | null | undefined, context?: SerializationContext): Promise<string | null> {
    if (payload === null || payload === undefined) return "";
    const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
    try {
        let read: Payload | undefined = payload;
        for (const codec of [...payloadCodecs].reverse()) [read] = await codec.decode(read === undefined ? [] : [read], context);
        const value = read === undefined ? null : payloadConverter.fromPayload<unknown>(read, context);
        return typeof value === "string" ? value : null;
    } catch {
        // A key or a codec is missing here. A codec of a team throws what it likes. The reader of the list is told (LST1).
        return null;
    }
}
