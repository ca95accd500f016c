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

/** Ports to which a browser, and `fetch` of Node, opens no connection ("bad port" of the Fetch standard, 2.9). */
export const BAD_PORTS: ReadonlySet<number> = new Set([
    ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115],
    ...[117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587],
    ...[601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679],
    ...[6697, 10080],
]);

/** Throws `ServeError` for a port at which no browser finds the server. */
export function checkPort(port: number, hint: string): void {
    if (BAD_PORTS.has(port)) throw new ServeError(`browsers and fetch refuse port ${port}, which belongs to another protocol`, hint);
}

/** As it stands in an address. */
export function bracketed(host: string): string {
    return host.includes(":") ? `[${host}]` : host;
}
