/**
 * Answers of MCP servers as the library is given them. Results that do not say of which type they are: they are complete (revision 2026-07-28; the
 * library refuses them). Answers that are refused here, as errors that carry why.
 *
 * Boundary: messages of a transport, before the library reads them.
 */
import type { JSONRPCErrorResponse, RequestId, Transport } from "@modelcontextprotocol/client";
import { ToolFail } from "./tool.ts";

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

/** An answer that is refused on our side: `refusedOf` finds again why. */
export function refusal(id: RequestId, fail: ToolFail): JSONRPCErrorResponse {
    return { jsonrpc: "2.0", id, error: { code: PARSE_ERROR, message: fail.message, data: fail } };
}

/** What comes over the wire is never a `ToolFail`. */
export function refusedOf(error: unknown): ToolFail | null {
    return Error.isError(error) && "data" in error && error.data instanceof ToolFail ? error.data : null;
}

/** JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32700;

function whole(message: Parameters<NonNullable<Transport["onmessage"]>>[0]): typeof message {
    if (!("result" in message) || typeof message.result !== "object" || "resultType" in message.result) return message;
    return { ...message, result: { ...message.result, resultType: "complete" } };
}
