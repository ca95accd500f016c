/** Why nothing can be served; thrown to the caller that starts a server or a face of a program. */
/** A server, or a face of a program, cannot begin. */
export class ServeError extends Error {
    override readonly name = "ServeError";
    readonly hint: string | undefined;
    constructor(message: string, hint?: string) {
        super(message);
        this.hint = hint;
    }
}
