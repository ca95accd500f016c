/**
 * Who sends a request of the Model Context Protocol, and what that client can do.
 *
 * Boundary: reads what the SDK knows of a request; both eras.
 */
import type { Server, ServerContext } from "@modelcontextprotocol/server";

/** The extension of the revision 2026-07-28; earlier ones have tasks of their own. */
export const TASKS = "io.modelcontextprotocol/tasks";

export interface Caller {
    readonly name: string;
    readonly isModern: boolean;
    /** It can put a question to a person. */
    readonly canAsk: boolean;
    /** It says that it takes a task in place of a result. Clients of earlier revisions say so with each call. */
    readonly takesTasks: boolean;
}

interface Capabilities {
    readonly elicitation?: { readonly form?: object; readonly url?: object };
    readonly extensions?: { readonly [name: string]: unknown };
}

/** A client of the earlier era says what it can do when it begins a session: without one, over HTTP, it is asked nothing. */
export function callerOf(server: Server, { mcpReq }: ServerContext): Caller {
    const envelope = (mcpReq.envelope ?? {}) as { readonly [key: string]: unknown };
    const isModern = mcpReq.envelope !== undefined;
    const capabilities = (isModern ? envelope["io.modelcontextprotocol/clientCapabilities"] : server.getClientCapabilities()) as
        | Capabilities
        | undefined;
    const info = (isModern ? envelope["io.modelcontextprotocol/clientInfo"] : server.getClientVersion()) as
        | { readonly name?: unknown }
        | undefined;
    const { elicitation, extensions = {} } = capabilities ?? {};
    const name =
        String(info?.name ?? "")
            .replace(/[^A-Za-z0-9._-]/g, "-")
            .slice(0, 40) || "client";
    return {
        name,
        isModern,
        canAsk: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
        takesTasks: isModern && Object.hasOwn(extensions, TASKS),
    };
}
