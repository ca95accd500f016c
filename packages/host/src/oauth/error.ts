/** Why a provider gave no token. Never with a token, a code or a secret in its words. */

export type OAuthErrorCode = "setup" | "denied" | "expired" | "refused" | "unreachable" | "cancelled";

export class OAuthError extends Error {
    override readonly name = "OAuthError";
    readonly code: OAuthErrorCode;
    readonly hint: string;
    /** What the provider calls it (RFC 6749, section 5.2), where it said so. */
    readonly said: string | undefined;
    constructor(code: OAuthErrorCode, message: string, hint: string, said?: string) {
        super(message);
        this.code = code;
        this.hint = hint;
        this.said = said;
    }
}
