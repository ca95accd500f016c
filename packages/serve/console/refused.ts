/** What a server refuses, for the console and the panel, whose requests go different ways. */

/** What the server refuses, or that it cannot be reached (`status` 0). */
export class Refused extends Error {
    override readonly name = "Refused";
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
