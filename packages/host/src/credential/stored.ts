/**
 * The sources that keep something for a user: tokens that were delegated (`oauth`), and secrets that were given by name (`secret`).
 *
 * Boundary: between a request and the store of tokens; renewing is `../oauth/renew.ts`. Both are loaded when the first such stage comes.
 *
 * CST1: a token goes where its provider let it go when the user logged in; what a configuration says later widens nothing.
 * CST2: without an identity there is no delegated token.
 */
import type { Config } from "../config/config.ts";
import type { Environment } from "../ledger/place.ts";
import type { TokenStore } from "../token/store.ts";
import { type CredentialAnswer, CredentialError, type CredentialSources, type CredentialWanted } from "./source.ts";

export interface StoredSetup {
    readonly config: Config;
    readonly env: Environment;
}

/** Under what a secret that was given by name is kept. */
export const named = (name: string): string => `secret:${name}`;

export function storedSources(setup: StoredSetup): CredentialSources {
    let store: Promise<TokenStore> | null = null;
    const tokens = (): Promise<TokenStore> => {
        store ??= import("../token/store.ts").then(({ openTokens }) => openTokens(setup.env));
        return store;
    };
    return {
        oauth: (wanted) => inWords(async () => delegated(wanted, setup, await tokens())),
        secret: (wanted) => inWords(async () => given(wanted, await tokens())),
        login: (wanted) => inWords(async () => loggedIn(wanted, setup, await tokens())),
    };
}

async function delegated(wanted: CredentialWanted, { config, env }: StoredSetup, store: TokenStore): Promise<CredentialAnswer> {
    const { arg, as, to, signal, refused } = wanted;
    const [{ mayGo, providerOf }, { goodToken }] = await Promise.all([import("../oauth/providers.ts"), import("../oauth/renew.ts")]);
    const provider = providerOf(arg, config);
    // CST2.
    if (as === null)
        throw new CredentialError(
            "denied",
            `oauth(${JSON.stringify(arg)}) belongs to a user, and nothing says which`,
            "say it with --as user:NAME",
        );
    const place = { provider: arg, as };
    const kept = await store.get(place);
    if (!mayGo(kept?.origins ?? provider.origins, to.origin)) return { kind: "elsewhere" };
    const token = kept === null ? null : await goodToken({ provider, place, store, env, signal, refused });
    if (token !== null) return { kind: "given", value: token.access };
    const message = kept === null ? `${as} has not logged in` : `the login of ${as} has ended`;
    return { kind: "missing", message, hint: `remit login ${arg} --as ${as}` };
}

/** For a server that says itself who gives its tokens; `arg` is its address. The token of the identity, else the one for all. */
async function loggedIn(wanted: CredentialWanted, { env }: StoredSetup, store: TokenStore): Promise<CredentialAnswer> {
    const { arg, as, to, signal, refused } = wanted;
    const [{ resourceOf, resourceAt }, { goodToken }, { mayGo }] = await Promise.all([
        import("../oauth/resource.ts"),
        import("../oauth/renew.ts"),
        import("../oauth/providers.ts"),
    ]);
    const address = resourceAt(arg).href;
    const own = as === null || (await store.get({ provider: address, as })) === null ? "" : as;
    const place = { provider: address, as: own };
    const kept = await store.get(place);
    // CST1.
    if (kept === null || !mayGo(kept.origins ?? [], to.origin)) return { kind: "elsewhere" };
    const provider = resourceOf(address, kept);
    const token = provider === null ? kept : await goodToken({ provider, place, store, env, signal, refused });
    if (token !== null && token.access !== refused) return { kind: "given", value: token.access };
    return { kind: "missing", message: "the login has ended", hint: loginLine(address, as) };
}

/** The command that gets a token for a server. */
export function loginLine(address: string, as: string | null | undefined): string {
    return `remit login ${address}${as == null ? "" : ` --as ${as}`}`;
}

/** The one of the identity, else the one for all. */
async function given({ arg, as, to }: CredentialWanted, store: TokenStore): Promise<CredentialAnswer> {
    const own = as === null ? null : await store.get({ provider: named(arg), as });
    const found = own ?? (await store.get({ provider: named(arg), as: "" }));
    const hint = `remit credentials add ${arg} --origin ${to.origin}`;
    if (found === null) return { kind: "missing", message: "it was not given", hint };
    return found.origins?.includes(to.origin) === true ? { kind: "given", value: found.access } : { kind: "elsewhere" };
}

/** What goes wrong with stores and providers, as credentials fail. */
async function inWords(work: () => Promise<CredentialAnswer>): Promise<CredentialAnswer> {
    const [{ TokenError }, { OAuthError }] = await Promise.all([import("../token/error.ts"), import("../oauth/error.ts")]);
    try {
        return await work();
    } catch (error) {
        if (error instanceof TokenError) throw new CredentialError("denied", error.message, error.hint);
        if (!(error instanceof OAuthError)) throw error;
        throw new CredentialError(error.code === "unreachable" ? "unreachable" : "denied", error.message, error.hint);
    }
}
