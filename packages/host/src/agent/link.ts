/**
 * A connection that speaks the Agent Client Protocol, whatever carries it.
 *
 * Boundary: the SDK's client around a stream; what is asked and answered is in `session.ts` and `serve.ts`.
 *
 * LN1: updates are taken in the order in which they came, before the answer that follows them. What is no message of the protocol, an answer to
 *     nothing and an unknown notification are dropped, an unknown request is answered with -32601, and the connection goes on.
 * LN2: no message of more than 32 MiB is taken.
 * LN3: bytes of an agent's process that are not UTF-8 end the connection: they would be replaced in silence.
 */
import type { AnyMessage, ClientApp, ClientConnection, Stream } from "@agentclientprotocol/sdk";
import { headOf } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { AgentFail } from "./fail.ts";
import { objectOf } from "./given.ts";

export type Sdk = typeof import("@agentclientprotocol/sdk");

/** Both ways, for the code that checks or keeps them. */
export type Trace = (direction: "in" | "out", message: unknown) => void;

export interface Link {
    request(method: string, params: unknown): Promise<unknown>;
    notify(method: string, params: unknown): Promise<void>;
    /** Resolves when nothing more comes. */
    readonly closed: Promise<void>;
    close(): void;
}

export interface LinkOptions {
    readonly sdk: Sdk;
    readonly stream: Stream;
    /** Registers what the client serves. */
    readonly serve: (app: ClientApp) => ClientApp;
    /** A notification `session/update`. */
    readonly update: (params: unknown) => void;
    /** A sign of life. */
    readonly life: () => void;
    readonly trace?: Trace | undefined;
}

export const MAX_MESSAGE = 32 * 1024 * 1024;

export function link({ sdk, stream, serve, update, life, trace }: LinkOptions): Link {
    const asked = new Set<unknown>();
    const inward = new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, out) => {
            trace?.("in", message);
            life();
            const { method, id, params } = objectOf(message);
            if (typeof method === "string" && id === undefined) {
                if (method === "session/update") update(params);
                else if (method === "$/cancel_request") out.enqueue(message);
                return;
            }
            if (method === undefined && !asked.delete(id)) return;
            out.enqueue(message);
        },
    });
    const outward = new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, out) => {
            trace?.("out", message);
            const { method, id } = objectOf(message);
            if (method !== undefined && id !== undefined) asked.add(id);
            out.enqueue(message);
        },
    });
    // A pipe that breaks ends the connection, which the waiting caller is told.
    outward.readable.pipeTo(stream.writable).catch(() => undefined);
    const connection: ClientConnection = serve(sdk.client({ name: "remit" })).connect({
        readable: stream.readable.pipeThrough(inward),
        writable: outward.writable,
    });
    return {
        request: (method, params) => connection.agent.request<unknown, unknown>(method, params),
        notify: (method, params) => connection.agent.notify(method, params),
        closed: connection.closed,
        close: () => connection.close(),
    };
}

/** An answer that was an error, in words. */
export function refusedBy(sdk: Sdk, error: unknown, { what, secrets }: { readonly what: string; readonly secrets: Scrubber }): AgentFail {
    if (error instanceof AgentFail) return error;
    if (error instanceof sdk.RequestError) {
        const more = typeof objectOf(error.data).details === "string" ? `: ${String(objectOf(error.data).details)}` : "";
        return new AgentFail("unreachable", `it refused ${what}: ${headOf(`${error.message}${more}`, 1000, secrets)} (${error.code})`);
    }
    return new AgentFail("unreachable", `${what} failed: ${headOf(Error.isError(error) ? error.message : String(error), 1000, secrets)}`);
}
