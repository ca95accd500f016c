/**
 * What an error of the network is: its code, and that in words.
 *
 * Boundary: told apart by codes and class names, never by the words of a message; knows neither models nor servers.
 */

const NETWORK: { readonly [code: string]: string } = {
    ECONNREFUSED: "nothing listens there",
    ECONNRESET: "the connection was cut",
    EPIPE: "the connection was cut",
    ENOTFOUND: "the host is not known",
    EAI_AGAIN: "the host's name could not be looked up",
    ETIMEDOUT: "no connection in time",
    EHOSTUNREACH: "the host cannot be reached",
    ENETUNREACH: "the network cannot be reached",
    UND_ERR_SOCKET: "the connection was cut",
    UND_ERR_CONNECT_TIMEOUT: "no connection in time",
    UND_ERR_HEADERS_TIMEOUT: "no answer in time",
    UND_ERR_BODY_TIMEOUT: "the answer stopped",
    CERT_HAS_EXPIRED: "its certificate has expired",
    DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not trusted",
    ERR_SSL_WRONG_VERSION_NUMBER: "what listens there does not speak TLS (is it http rather than https?)",
    ERR_SSL_PACKET_LENGTH_TOO_LONG: "what listens there does not speak TLS (is it http rather than https?)",
};
/** For undici's `HTTPParserError`, which has a code of llhttp (`HPE_…`) or none. */
const NO_HTTP = "HPE_INVALID";

/** An error and what caused it, the outermost first. */
export function causes(error: unknown): Error[] {
    const found: Error[] = [];
    let at: unknown = error;
    for (let depth = 0; depth < 6 && Error.isError(at); depth++) {
        found.push(at);
        at = at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : at.cause;
    }
    return found;
}

/** The `code` of the error or of what caused it, where that is one of the network; else null. */
export function networkCode(error: unknown): string | null {
    for (const { code, name } of causes(error) as { code?: unknown; name: string }[]) {
        if (typeof code === "string" && (Object.hasOwn(NETWORK, code) || /^(?:UND_ERR|HPE_|ERR_SSL_|E[A-Z]+$)/.test(code))) return code;
        if (name === "HTTPParserError") return NO_HTTP;
    }
    return null;
}

/** What a code of `networkCode` means, as the end of a sentence; a code without words is given as it is. */
export function networkWords(code: string): string {
    return NETWORK[code] ?? (code.startsWith("HPE_") ? "what listens there does not speak HTTP" : code);
}
