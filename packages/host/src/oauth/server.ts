/**
 * An authorization server as the library wants it: its metadata, its client, and requests with bounds.
 *
 * Boundary: between `oauth4webapi`, which knows the protocol, and a provider's description.
 *
 * OAS1: what the provider says is checked as the specifications have it by the library: state, issuer (RFC 9207), PKCE, types of tokens.
 * OAS2: no request is longer than `REQUEST_MS`, follows a redirect, or goes to plain http elsewhere than on this machine.
 */
import { defined } from "@remit/language";
import * as oauth from "oauth4webapi";
import { resolveSecret } from "../secret/ref.ts";
import type { Environment } from "../ledger/place.ts";
import { OAuthError } from "./error.ts";
import { isSafe, type Provider } from "./providers.ts";

/** Three in a row end before the lock of a token is taken for a left one (`../process/lock.ts`), milliseconds. */
const REQUEST_MS = 9_000;

export interface AuthorizationServer {
    readonly provider: Provider;
    /** @internal */
    readonly metadata: oauth.AuthorizationServer;
    /** @internal */
    readonly client: oauth.Client;
    /** Of a client that registered itself, or that a user named: it is kept with the tokens. Null: the client has none, or the provider's description has it. @internal */
    readonly secret: string | null;
    /** @internal */
    readonly authentication: oauth.ClientAuth;
    /** Options of every request. @internal */
    readonly request: oauth.TokenEndpointRequestOptions & oauth.DeviceAuthorizationRequestOptions & oauth.RevocationRequestOptions;
    /** Of every answer with a token. @internal */
    readonly reading: oauth.ProcessTokenResponseOptions;
}

export interface ServerSetup {
    readonly env: Environment;
    readonly signal: AbortSignal;
    /** In place of the provider's. */
    readonly client?: string | undefined;
    readonly secret?: string | undefined;
}

/** Throws `OAuthError`. */
export async function serverOf(provider: Provider, { env, signal, client: said, secret: own }: ServerSetup): Promise<AuthorizationServer> {
    const known = said ?? provider.client;
    const { name, resource } = provider;
    if (known === undefined && resource === undefined) {
        const entry = `"oauth": {"${name}": {"client": "ID"}} in ~/.config/remit/remit.json`;
        throw noClient(provider, `--client-id ID, or ${entry}`);
    }
    const bounded = boundedFetch(provider, signal);
    const insecure = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: bounded };
    const metadata = await metadataOf(provider, insecure);
    const { id, secret } = known === undefined ? await registered(provider, metadata, insecure) : { id: known, secret: own };
    const parameters = resource === undefined ? {} : { additionalParameters: { resource } };
    const types = Object.fromEntries((provider.tokenTypes ?? []).map((type) => [type, () => undefined]));
    return {
        provider,
        metadata,
        client: { client_id: id },
        secret: secret ?? null,
        authentication: authenticationOf(metadata, secret ?? configuredSecret(provider, env), resource !== undefined),
        request: { ...insecure, ...parameters },
        reading: { recognizedTokenTypes: types },
    };
}

function noClient({ name, setup }: Provider, how: string): OAuthError {
    return new OAuthError("setup", `no client is registered for ${name} here`, `${setup}, then say its id: ${how}`);
}

/** RFC 7591: a client of this user's own, whose redirect is on this machine; with a secret only where the server takes no client without. */
async function registered(
    provider: Provider,
    metadata: oauth.AuthorizationServer,
    options: oauth.DynamicClientRegistrationRequestOptions,
): Promise<{ readonly id: string; readonly secret?: string }> {
    if (metadata.registration_endpoint === undefined) throw noClient(provider, "--client-id ID");
    const methods = metadata.token_endpoint_auth_methods_supported ?? ["none"];
    const client = {
        client_name: "Remit",
        application_type: "native",
        redirect_uris: ["http://127.0.0.1/callback"],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: methods.includes("none") ? "none" : (secretMethod(methods) ?? "none"),
    };
    const made = await told(provider, async () => {
        const response = await oauth.dynamicClientRegistrationRequest(metadata, client, options);
        return oauth.processDynamicClientRegistrationResponse(await withExpiry(response));
    });
    const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = made;
    return typeof secret === "string" && method !== "none" ? { id, secret } : { id };
}

/** RFC 7591, section 3.2.1: a secret comes with the time of its end. Servers leave it out where it has none. */
async function withExpiry(response: Response): Promise<Response> {
    const text = await response.text();
    const said = parsed(text);
    const { status, headers } = response;
    const isWhole = said?.client_secret === undefined || said.client_secret_expires_at !== undefined;
    return new Response(isWhole ? text : JSON.stringify({ ...said, client_secret_expires_at: 0 }), { status, headers });
}

async function metadataOf(provider: Provider, options: oauth.DiscoveryRequestOptions): Promise<oauth.AuthorizationServer> {
    const { issuer, endpoints = {}, name } = provider;
    const { authorization, token, device, revocation } = endpoints;
    const own = defined({
        authorization_endpoint: authorization,
        token_endpoint: token,
        device_authorization_endpoint: device,
        revocation_endpoint: revocation,
    });
    if (token !== undefined && (authorization !== undefined || device !== undefined)) return { issuer, ...own };
    if (!isSafe(issuer)) throw new OAuthError("setup", `the issuer of ${name} is no https URL`, "look at its description in remit.json");
    const at = new URL(issuer);
    const found = await told(provider, async () => {
        const oidc = await oauth.discoveryRequest(at, { ...options, algorithm: "oidc" });
        if (oidc.ok) return oauth.processDiscoveryResponse(at, oidc);
        await oidc.body?.cancel();
        return oauth.processDiscoveryResponse(at, await oauth.discoveryRequest(at, { ...options, algorithm: "oauth2" }));
    });
    return { ...found, ...own };
}

/**
 * OAuth 2.1, section 2.4: a client with a secret shows it, one without has PKCE and the rotation of its tokens. `asSpecified`: where the metadata say
 * nothing it is shown as RFC 8414 has it; providers that are described by hand take it in the body.
 */
function authenticationOf(metadata: oauth.AuthorizationServer, secret: string | undefined, asSpecified: boolean): oauth.ClientAuth {
    const methods = metadata.token_endpoint_auth_methods_supported ?? [asSpecified ? "client_secret_basic" : "client_secret_post"];
    const method = secretMethod(methods);
    if (secret === undefined || method === null) return oauth.None();
    return method === "client_secret_post" ? oauth.ClientSecretPost(secret) : basic(secret);
}

/** RFC 6749, section 2.3.1. The library escapes `-`, `.` and `_` as well, which the encoding leaves; servers that do not decode then know no such client. */
function basic(secret: string): oauth.ClientAuth {
    const encoded = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
    return (_server, { client_id: id }, _body, headers) =>
        headers.set("authorization", `Basic ${Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString("base64")}`);
}

/** How a secret is shown to a server that takes these methods; null: it wants none. */
function secretMethod(methods: readonly string[]): "client_secret_post" | "client_secret_basic" | null {
    if (methods.includes("client_secret_post")) return "client_secret_post";
    return methods.includes("client_secret_basic") ? "client_secret_basic" : null;
}

function configuredSecret({ secret, folder, name }: Provider, env: Environment): string | undefined {
    if (secret === undefined) return undefined;
    const found = resolveSecret(secret, { env, ...(folder === undefined ? {} : { folder }) });
    if (!found.ok)
        throw new OAuthError("setup", `the secret of the client of ${name} is not there: ${found.message}`, `give it as ${secret}`);
    return found.value;
}

/** OAS2. The library asks for `redirect: "manual"` itself. */
function boundedFetch({ errorsInOk }: Provider, signal: AbortSignal) {
    return async (url: string, init: oauth.CustomFetchOptions<string, URLSearchParams | string | undefined>): Promise<Response> => {
        if (!isSafe(url)) throw new OAuthError("setup", `${new URL(url).origin} is plain http`, "a provider is reached by https");
        const { body, ...rest } = init;
        const response = await fetch(url, {
            ...rest,
            ...(body === undefined ? {} : { body }),
            redirect: "manual",
            signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
        });
        return errorsInOk === true ? asSpecified(response) : response;
    };
}

/** GitHub and Slack say with status 200 what the specification says with 400. */
async function asSpecified(response: Response): Promise<Response> {
    if (response.status !== 200) return response;
    const text = await response.text();
    const { status, headers } = response;
    const json = parsed(text);
    const isError = typeof json?.error === "string";
    return new Response(text, { status: isError ? 400 : status, headers });
}

function parsed(text: string): { readonly [key: string]: unknown } | null {
    try {
        return JSON.parse(text) as { readonly [key: string]: unknown } | null;
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return null;
    }
}

/** What the library throws, in words for people. */
export async function told<T>({ name }: Provider, work: () => Promise<T>): Promise<T> {
    try {
        return await work();
    } catch (error) {
        if (error instanceof OAuthError) throw error;
        if (error instanceof oauth.ResponseBodyError) {
            const more = error.error_description === undefined ? "" : ` (${error.error_description.slice(0, 200)})`;
            const code = error.error === "access_denied" ? "denied" : error.error === "expired_token" ? "expired" : "refused";
            throw new OAuthError(code, `${name} refused this: ${error.error}${more}`, hintFor(error.error), error.error);
        }
        if (error instanceof oauth.AuthorizationResponseError) {
            const said = error.cause.get("error") ?? "error";
            const code = said === "access_denied" ? "denied" : "refused";
            throw new OAuthError(code, `${name} refused this: ${said}`, hintFor(said), said);
        }
        if (error instanceof oauth.OperationProcessingError)
            throw new OAuthError(
                "refused",
                `${name} gave an answer that cannot be trusted: ${error.message}`,
                "nothing was kept; look at who answered",
            );
        if (error instanceof oauth.WWWAuthenticateChallengeError)
            throw new OAuthError(
                "refused",
                `${name} does not know this client (HTTP ${error.status})`,
                "look at the client's id and secret",
            );
        if (error instanceof oauth.UnsupportedOperationError)
            throw new OAuthError("setup", `${name} speaks in a way that is not supported: ${error.message}`, "look at its description");
        if (Error.isError(error) && (error.name === "TimeoutError" || error.name === "AbortError" || error instanceof TypeError))
            throw new OAuthError("unreachable", `${name} cannot be reached`, "look at the network, then try again");
        throw error;
    }
}

function hintFor(said: string): string {
    switch (said) {
        case "access_denied":
            return "the user said no; log in again to ask once more";
        case "expired_token":
            return "the code was not used in time; log in again";
        case "invalid_client":
        case "unauthorized_client":
            return "look at the client's id and secret, and at what it may do";
        case "invalid_scope":
            return "ask for scopes that the client may have: --scope";
        default:
            return "log in again; if that does not help, look at the client's settings at the provider";
    }
}
