/**
 * Listening where a server was told to, and why it cannot.
 *
 * Boundary: errors of the system in, ours out.
 */
import type { Server } from "node:http";
import { ServeError } from "../faces/error.ts";

/** The error that it cannot for; null where it listens. */
export function listening(http: Server, port: number, host: string): Promise<NodeJS.ErrnoException | null> {
    return new Promise((resolve) => {
        http.once("error", resolve);
        http.listen(port, host, () => {
            http.off("error", resolve);
            resolve(null);
        });
    });
}

export function notListening(error: NodeJS.ErrnoException, host: string, port: number): ServeError {
    const why: { readonly [code: string]: string } = {
        EADDRINUSE: `another program listens on ${host}:${port}`,
        EACCES: `this user may not listen on ${host}:${port}`,
        EADDRNOTAVAIL: `this machine has no address ${host}`,
        ENOTFOUND: `there is no host ${host}`,
    };
    return new ServeError(
        why[error.code ?? ""] ?? `cannot listen on ${host}:${port}: ${error.message}`,
        "choose another with --port or --host",
    );
}

/** As it stands in an address. */
export function bracketed(host: string): string {
    return host.includes(":") ? `[${host}]` : host;
}
