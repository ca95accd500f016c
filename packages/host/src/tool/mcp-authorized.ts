/**
 * Requests to an MCP server with the credential of a stage.
 *
 * Boundary: one header of the transport's requests; redirects and sizes are `mcp-fetch.ts`, where values come from `../credential`.
 *
 * MAU1: the header goes to the origin that the configuration names, whatever URL the library asks for.
 * MAU2: a connection has one credential and one identity; the value may be another one with each call.
 * MAU3: where a stage names none and the configuration gives no header, the token of a login for this server is sent; a 401 to one who has none
 *     waits for a login, where it says that a token is what it wants. So does a 403 for want of a scope.
 */
import { authorizationOf, type Credentials, type Given, type Sender } from "../credential/credentials.ts";
import { loginLine } from "../credential/stored.ts";
import { isLoopback } from "../process/loopback.ts";
import { CredentialError, type Destination } from "../credential/source.ts";
import { type Asked, ToolFail } from "./tool.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface Authorizing {
    /** Tells it from other credentials and identities; holds no value. */
    readonly key: string;
    /** The newest value, and why the last request with one failed: the library may say that in words of its own. */
    readonly newest: { given: Given | null; fail: ToolFail | null };
    fetch(inner: Fetch): Fetch;
}

/** Null where the request goes without one. `own`: the configuration gives it a header. Throws `CredentialError`. */
export async function authorizing(url: string, asked: Asked, credentials: Credentials, own: boolean): Promise<Authorizing | null> {
    const { signal } = asked;
    const isNamed = asked.effect?.credential !== undefined;
    if (!isNamed && own) return null;
    // MAU3.
    const effect = isNamed ? asked.effect : { ...asked.effect, credential: { source: "login", arg: url } };
    const { origin, host } = new URL(url);
    const to: Destination = { origin, named: true, free: isLoopback(host) };
    const never = new AbortController().signal;
    const sender: Sender = { ...(effect === undefined ? {} : { effect }), signal: signal ?? never };
    const given = await credentials.of(sender, to);
    if (given === null && isNamed) return null;
    const newest: Authorizing["newest"] = { given, fail: null };
    const later: Sender = { ...sender, signal: never };
    return {
        key: JSON.stringify([effect?.credential, effect?.as ?? null]),
        newest,
        fetch: (inner) => async (at, init) => {
            if (new URL(at).origin !== to.origin) return inner(at, init);
            try {
                const answer = await credentials.send(later, to, {
                    ...(newest.given === null ? {} : { first: newest.given }),
                    send: (one) => {
                        if (one !== null) newest.given = one;
                        return inner(at, one === null ? init : withHeader(init, one));
                    },
                    unauthorized: ({ status }) => status === 401,
                });
                const wanted = isNamed ? null : await wantedBy(answer);
                if (wanted === null) return answer;
                await answer.body?.cancel();
                const scopes = wanted.length === 0 ? "" : ` --scope ${wanted.join(" ")}`;
                const what = wanted.length === 0 ? "a login" : `the ${wanted.length === 1 ? "scope" : "scopes"} ${wanted.join(", ")}`;
                throw new CredentialError("missing", `${origin} wants ${what}`, `${loginLine(url, effect?.as)}${scopes}`);
            } catch (error) {
                if (!(error instanceof CredentialError)) throw error;
                newest.fail = credentialFail(error);
                throw newest.fail;
            }
        },
    };
}

/** Scopes that a login would need besides those that are asked for anyway; null: a login is not what the answer wants. */
async function wantedBy(answer: Response): Promise<readonly string[] | null> {
    if (!/^bearer\b/i.test(answer.headers.get("www-authenticate") ?? "")) return null;
    if (answer.status === 401) return [];
    if (answer.status !== 403) return null;
    const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const { error, scope = "" } = extractWWWAuthenticateParams(answer);
    const scopes = scope.split(" ").filter((one) => one !== "");
    // They stand in a command that a person copies.
    const isPlain = scopes.length > 0 && scopes.every((one) => /^\w[\w.:/@+-]{0,99}$/.test(one));
    return error === "insufficient_scope" && isPlain ? scopes : null;
}

function withHeader(init: RequestInit | undefined, given: Given): RequestInit {
    const headers = new Headers(init?.headers);
    headers.set("authorization", authorizationOf(given));
    return { ...init, headers };
}

/** In the words of tools; what is missing can still be told. */
function credentialFail(error: CredentialError): ToolFail {
    const fail = new ToolFail(error.message, { kind: error.kind, hint: error.hint });
    fail.cause = error;
    return fail;
}

/** What is missing, where that is why a tool failed. */
export function missingIn(error: unknown): CredentialError | null {
    const found = error instanceof ToolFail ? error.cause : error;
    return found instanceof CredentialError && found.code === "missing" ? found : null;
}
