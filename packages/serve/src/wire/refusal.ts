/**
 * What a server refuses, for every client of it: the package's, the console's and the panel's.
 *
 * Boundary: from an answer to an error. How a request goes is each client's own.
 */

/** What the server refuses, or that it cannot be reached (`status` 0). */
export class ServerRefusal extends Error {
    override readonly name = "ServerRefusal";
    readonly status: number;
    readonly kind: string;
    readonly hint: string | undefined;
    constructor(status: number, kind: string, message: string, hint?: string) {
        super(message);
        this.status = status;
        this.kind = kind;
        this.hint = hint;
    }
}

/** `body`: the answer, read from its JSON; anything, where it was none of this protocol. */
export function refusalOf(status: number, body: unknown): ServerRefusal {
    const said = body as
        | { readonly error?: { readonly kind?: string; readonly message?: string; readonly hint?: string } }
        | null
        | undefined;
    const { kind = "protocol", message = `the server answered ${status} and no word of this protocol`, hint } = said?.error ?? {};
    return new ServerRefusal(status, kind, message, hint);
}

/** As a page says it, which the server itself gave. */
export function serverAway(): ServerRefusal {
    return new ServerRefusal(0, "unreachable", "the server cannot be reached", "is `remit serve` still running?");
}
