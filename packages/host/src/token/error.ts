/** Why the store of tokens cannot be used. */

export type TokenErrorCode = "permissions" | "damaged" | "keychain" | "busy";

export class TokenError extends Error {
    override readonly name = "TokenError";
    readonly code: TokenErrorCode;
    readonly hint: string;
    constructor(code: TokenErrorCode, message: string, hint: string) {
        super(message);
        this.code = code;
        this.hint = hint;
    }
}
