/**
 * Listening where a server was told to, and why it cannot.
 *
 * Boundary: errors of the system in, ours out.
 */
import type { Server } from "node:http";
import { REFUSED_PORTS } from "@remit/host";
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

export function notListening(
    error: NodeJS.ErrnoException,
    { host, port, hint }: { readonly host: string; readonly port: number; readonly hint: string },
): ServeError {
    const why: { readonly [code: string]: string } = {
        EADDRINUSE: `another program listens on ${host}:${port}`,
        EACCES: `this user may not listen on ${host}:${port}`,
        EADDRNOTAVAIL: `this machine has no address ${host}`,
        ENOTFOUND: `there is no host ${host}`,
    };
    return new ServeError(why[error.code ?? ""] ?? `cannot listen on ${host}:${port}: ${error.message}`, hint);
}

/** Throws `ServeError` for a port at which no browser finds the server. */
export function checkPort(port: number, hint: string): void {
    if (REFUSED_PORTS.has(port)) throw new ServeError(`browsers and fetch refuse port ${port}, which belongs to another protocol`, hint);
}

/** As it stands in an address. */
export function bracketed(host: string): string {
    return host.includes(":") ? `[${host}]` : host;
}
