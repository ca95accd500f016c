/**
 * Whether a host is this machine itself.
 *
 * Boundary: names and literal addresses; nothing is looked up.
 */

/** With or without a port. */
export function isLoopback(host: string): boolean {
    const name = host.replace(/:\d+$/, "").toLowerCase();
    return name === "localhost" || name === "[::1]" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}
