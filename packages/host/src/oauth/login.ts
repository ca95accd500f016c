/**
 * Logging in: a user delegates a token, in a browser here (authorization code with PKCE) or on another device.
 *
 * Boundary: the two flows up to the token. Keeping it is its caller's, telling the user too.
 *
 * OAI1: a code is exchanged only with the verifier, the state and the redirect of this login, and at the issuer that gave it.
 */
import { setTimeout as after } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import type { Token } from "../token/store.ts";
import { OAuthError } from "./error.ts";
import { redirectHere } from "./loopback.ts";
import { type AuthorizationServer, told } from "./server.ts";

/** How long a user has for a login in a browser, milliseconds. */
const LOGIN_MS = 10 * 60_000;
/** Between two looks where the provider says nothing (RFC 8628, section 3.2), and what `slow_down` adds, seconds. */
const INTERVAL_S = 5;

export interface LoginOptions {
    readonly scopes?: readonly string[] | undefined;
    readonly signal: AbortSignal;
    /** Tells the user where to go; `code`: what to type there. */
    readonly tell: (where: string, code: string | null) => void;
}

/** In a browser of this machine. Throws `OAuthError`. */
export async function loginHere(server: AuthorizationServer, { scopes, signal, tell }: LoginOptions): Promise<Token> {
    const { metadata, client, authentication, provider, request } = server;
    const at = metadata.authorization_endpoint;
    if (at === undefined) throw new OAuthError("setup", `${provider.name} has no login in a browser`, "log in with --device");
    await using redirect = await redirectHere(provider.port);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const asked = scopes ?? provider.scopes;
    const url = new URL(at);
    const parameters = {
        ...provider.parameters,
        client_id: client.client_id,
        response_type: "code",
        redirect_uri: redirect.uri,
        ...(asked.length === 0 ? {} : { scope: asked.join(" ") }),
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(provider.resource === undefined ? {} : { resource: provider.resource }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const coming = redirect.come(state, AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]));
    tell(url.href, null);
    const came = await coming;
    return told(provider, async () => {
        // OAI1: throws for another issuer, and for an answer that says no.
        const checked = oauth.validateAuthResponse(metadata, client, came, state);
        const response = await oauth.authorizationCodeGrantRequest(
            metadata,
            client,
            authentication,
            checked,
            redirect.uri,
            verifier,
            request,
        );
        return tokenOf(server, await oauth.processAuthorizationCodeResponse(metadata, client, response, server.reading), asked);
    });
}

/** On a device of the user's choice. Throws `OAuthError`. */
export async function loginElsewhere(server: AuthorizationServer, { scopes, signal, tell }: LoginOptions): Promise<Token> {
    const { metadata, client, authentication, provider, request } = server;
    if (metadata.device_authorization_endpoint === undefined)
        throw new OAuthError("setup", `${provider.name} has no login on another device`, "log in without --device");
    const asked = scopes ?? provider.scopes;
    const grant = await told(provider, async () => {
        const scope = new URLSearchParams(asked.length === 0 ? [] : [["scope", asked.join(" ")]]);
        const response = await oauth.deviceAuthorizationRequest(metadata, client, authentication, scope, request);
        return oauth.processDeviceAuthorizationResponse(metadata, client, response);
    });
    tell(grant.verification_uri_complete ?? grant.verification_uri, grant.user_code);
    const until = Date.now() + grant.expires_in * 1000;
    for (let seconds = grant.interval ?? INTERVAL_S; ; ) {
        await paused(seconds * 1000, signal);
        if (Date.now() > until) throw new OAuthError("expired", `the code of ${provider.name} was not used in time`, "log in again");
        try {
            return await told(provider, async () => {
                const response = await oauth.deviceCodeGrantRequest(metadata, client, authentication, grant.device_code, request);
                return tokenOf(server, await oauth.processDeviceCodeResponse(metadata, client, response, server.reading), asked);
            });
        } catch (error) {
            const said = error instanceof OAuthError ? error.said : undefined;
            if (said === "slow_down") seconds += INTERVAL_S;
            else if (said !== "authorization_pending") throw error;
        }
    }
}

async function paused(ms: number, signal: AbortSignal): Promise<void> {
    try {
        await after(ms, undefined, { signal });
    } catch (error) {
        if (!signal.aborted) throw error;
        throw new OAuthError("cancelled", "the login was stopped", "log in again");
    }
}

/** What is kept of an answer. */
export function tokenOf(
    { provider, client, secret, metadata }: AuthorizationServer,
    answer: oauth.TokenEndpointResponse,
    asked: readonly string[],
): Token {
    const { access_token: access, refresh_token: refresh, expires_in: seconds, scope } = answer;
    return {
        access,
        ...(refresh === undefined ? {} : { refresh }),
        ...(seconds === undefined ? {} : { expires: Date.now() + seconds * 1000 }),
        scopes: scope === undefined ? asked : scope.split(/[\s,]+/).filter((one) => one !== ""),
        client: client.client_id,
        ...(secret === null ? {} : { secret }),
        server: metadata.token_endpoint ?? metadata.issuer,
        ...(provider.resource === undefined ? {} : { issuer: provider.issuer, resource: provider.resource }),
        origins: provider.origins,
    };
}
