/**
 * Results of MCP servers that do not say of which type they are: they are complete (revision 2026-07-28; the library refuses them).
 *
 * Boundary: messages of a transport, before the library reads them.
 */
import type { Transport } from "@modelcontextprotocol/client";

/** The same transport, each result of which says its type. */
export function typed<T extends Transport>(transport: T): T {
    type Hear = NonNullable<Transport["onmessage"]>;
    let hear: Hear | undefined;
    return Object.defineProperty(transport, "onmessage", {
        get: (): Hear | undefined => hear,
        set: (to: Hear | undefined) => {
            hear = to === undefined ? undefined : (message, ...about) => to(whole(message), ...about);
        },
    });
}

function whole(message: Parameters<NonNullable<Transport["onmessage"]>>[0]): typeof message {
    if (!("result" in message) || typeof message.result !== "object" || "resultType" in message.result) return message;
    return { ...message, result: { ...message.result, resultType: "complete" } };
}
