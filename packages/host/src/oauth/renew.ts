/**
 * A token that is good now: the one that is kept, or a new one for it.
 *
 * Boundary: between the store and the provider. What a request does with it is `../credential`.
 *
 * OAR1: a token is renewed once, by one process; each of the others looks again when it is its turn, and takes what another one got.
 * OAR2: a new token is kept before a caller gets it, since the old one renews nothing any more.
 * OAR3: a token is renewed only by the server and the client that gave it; another description of the provider means logging in again.
 */
import * as oauth from "oauth4webapi";
import type { Environment } from "../ledger/place.ts";
import type { Place } from "../token/seal.ts";
import type { Token, TokenStore } from "../token/store.ts";
import { OAuthError } from "./error.ts";
import { tokenOf } from "./login.ts";
import type { Provider } from "./providers.ts";
import { serverOf, told } from "./server.ts";

/** A token that ends sooner than this counts as ended, milliseconds: a request takes time. */
const LEEWAY_MS = 30_000;
/** How long another process is waited for, milliseconds. */
const WAIT_MS = 45_000;

export interface Renewing {
    readonly provider: Provider;
    readonly place: Place;
    readonly store: TokenStore;
    readonly env: Environment;
    readonly signal: AbortSignal;
    /** The access token that a server did not accept. */
    readonly refused?: string | undefined;
}

/** Null: a user has to log in. Throws `OAuthError` and `TokenError`. */
export async function goodToken(wanted: Renewing): Promise<Token | null> {
    const { place, store, signal, refused } = wanted;
    const kept = await store.get(place);
    if (kept === null || isGood(kept, refused)) return kept;
    if (kept.refresh === undefined) return hasEnded(kept) ? null : kept;
    // OAR1.
    return store.alone(place, { signal, waitMs: WAIT_MS }, async () => {
        const now = await store.get(place);
        return now === null || isGood(now, refused) ? now : renewedOr(wanted, now);
    });
}

function isGood({ access, expires }: Token, refused: string | undefined): boolean {
    return access !== refused && (expires === undefined || expires - LEEWAY_MS > Date.now());
}

function hasEnded({ expires }: Token): boolean {
    return expires !== undefined && expires <= Date.now();
}

/** A token that ends soon is still good where its provider cannot be reached. */
async function renewedOr(wanted: Renewing, old: Token): Promise<Token | null> {
    try {
        return await renewed(wanted, old);
    } catch (error) {
        const isStill = old.access !== wanted.refused && !hasEnded(old);
        if (isStill && error instanceof OAuthError && error.code === "unreachable") return old;
        throw error;
    }
}

async function renewed({ provider, place, store, env, signal }: Renewing, old: Token): Promise<Token | null> {
    const { refresh, client, secret } = old;
    const server = await serverOf(provider, { env, signal, client, secret });
    const { metadata } = server;
    // OAR3.
    if (refresh === undefined || (metadata.token_endpoint ?? metadata.issuer) !== old.server) return null;
    try {
        const answer = await told(provider, async () => {
            const response = await oauth.refreshTokenGrantRequest(metadata, server.client, server.authentication, refresh, server.request);
            return oauth.processRefreshTokenResponse(metadata, server.client, response, server.reading);
        });
        // A provider that gives no new refresh token means the old one to go on.
        const token: Token = {
            ...tokenOf(server, answer, old.scopes ?? []),
            refresh: answer.refresh_token ?? refresh,
            origins: old.origins ?? [],
        };
        await store.put(place, token);
        return token;
    } catch (error) {
        if (!(error instanceof OAuthError) || error.said !== "invalid_grant") throw error;
        // It was taken back, has ended, or was used twice: nothing renews it.
        await store.remove(place);
        return null;
    }
}

/** Takes a token back at its provider. False: the provider has no endpoint for that. Throws `OAuthError`. */
export async function revoked(
    provider: Provider,
    { access, refresh, client, secret }: Token,
    { env, signal }: Pick<Renewing, "env" | "signal">,
): Promise<boolean> {
    const server = await serverOf(provider, { env, signal, client, secret });
    if (server.metadata.revocation_endpoint === undefined) return false;
    for (const token of refresh === undefined ? [access] : [refresh, access])
        await told(provider, async () => {
            const response = await oauth.revocationRequest(server.metadata, server.client, server.authentication, token, server.request);
            return oauth.processRevocationResponse(response);
        });
    return true;
}
