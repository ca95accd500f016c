/**
 * Providers of delegated credentials, as data: those that are known, and what a configuration adds.
 *
 * Boundary: tables. What is done with them is `server.ts` and `login.ts`.
 *
 * OAP1: where a provider's tokens may go is a part of the provider, never of a program.
 */
import { defined } from "@remit/language";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../process/loopback.ts";
import { OAuthError } from "./error.ts";

export interface Provider {
    readonly name: string;
    /** Its metadata is found there (OpenID Connect Discovery, or RFC 8414), as far as the endpoints below do not say it. */
    readonly issuer: string;
    readonly endpoints?: {
        readonly authorization?: string;
        readonly token?: string;
        readonly device?: string;
        readonly revocation?: string;
    };
    /** Id of the client that the user registered; absent: it has to be said. */
    readonly client?: string;
    /** Reference of the client's secret: `env:NAME` or `file:PATH`. */
    readonly secret?: string;
    /** Folder in which a relative `file:` begins. */
    readonly folder?: string;
    readonly scopes: readonly string[];
    /** The tokens are for this resource (RFC 8707), of a server that says itself who gives them; a client is registered where none is known. */
    readonly resource?: string;
    /** Where its tokens may be sent: origins, of which a host may begin with `*.`. */
    readonly origins: readonly string[];
    /** How a user logs in where the command names neither way. */
    readonly flow: "code" | "device";
    /** What else is said when a user is asked. */
    readonly parameters?: { readonly [name: string]: string };
    /** It answers errors with status 200. */
    readonly errorsInOk?: true;
    /** Types of tokens that are sent like any other. */
    readonly tokenTypes?: readonly string[];
    /** Port on this machine that its redirect goes to; absent: a free one. */
    readonly port?: number;
    /** What a person has to do there first. */
    readonly setup: string;
    /** Where a person takes a token back that it has no endpoint for. */
    readonly revokeAt?: string;
}

const KNOWN: { readonly [name: string]: Omit<Provider, "name"> } = {
    github: {
        issuer: "https://github.com/login/oauth",
        endpoints: {
            authorization: "https://github.com/login/oauth/authorize",
            token: "https://github.com/login/oauth/access_token",
            device: "https://github.com/login/device/code",
        },
        scopes: ["repo", "read:org"],
        origins: ["https://api.github.com", "https://uploads.github.com", "https://api.githubcopilot.com"],
        flow: "device",
        errorsInOk: true,
        setup: "register an OAuth app with device flow at https://github.com/settings/developers",
        revokeAt: "https://github.com/settings/applications",
    },
    google: {
        issuer: "https://accounts.google.com",
        endpoints: {
            authorization: "https://accounts.google.com/o/oauth2/v2/auth",
            token: "https://oauth2.googleapis.com/token",
            device: "https://oauth2.googleapis.com/device/code",
            revocation: "https://oauth2.googleapis.com/revoke",
        },
        scopes: ["openid", "email"],
        origins: ["https://*.googleapis.com"],
        flow: "code",
        parameters: { access_type: "offline", prompt: "consent" },
        setup: "create an OAuth client of type desktop app at https://console.cloud.google.com/apis/credentials",
    },
    slack: {
        issuer: "https://slack.com",
        endpoints: {
            authorization: "https://slack.com/oauth/v2_user/authorize",
            token: "https://slack.com/api/oauth.v2.user.access",
            revocation: "https://slack.com/api/auth.revoke",
        },
        scopes: ["search:read", "channels:history", "chat:write"],
        origins: ["https://slack.com", "https://mcp.slack.com"],
        flow: "code",
        errorsInOk: true,
        tokenTypes: ["user"],
        setup: "create an app with PKCE and token rotation at https://api.slack.com/apps",
    },
    okta: {
        issuer: "",
        scopes: ["openid", "offline_access"],
        origins: [],
        flow: "code",
        port: 8787,
        setup: "add a native app at your Okta domain, with the redirect http://127.0.0.1:8787/callback, and say its issuer and the origins of your APIs",
    },
};

export const PROVIDERS: readonly string[] = Object.keys(KNOWN);

/** By name. Throws `OAuthError` where there is none, or where it lacks something. */
export function providerOf(name: string, { oauth, withheld }: Pick<Config, "oauth" | "withheld">): Provider {
    const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
    const own = Object.hasOwn(oauth, name) ? oauth[name] : undefined;
    if (known === undefined && own === undefined) {
        const file = withheld.get(`oauth:${name}`);
        if (file !== undefined)
            throw new OAuthError(
                "setup",
                `the provider ${name} is described by ${file.name}, which is not trusted`,
                "look at that file, then `remit trust`",
            );
        const all = [...new Set([...PROVIDERS, ...Object.keys(oauth)])].join(", ");
        throw new OAuthError(
            "setup",
            `no provider '${name}' is known`,
            `known are ${all}; others are described under "oauth" of a trusted remit.json`,
        );
    }
    const { authorization, token, device, revocation, file, ...said } = own ?? {};
    const endpoints = { ...known?.endpoints, ...defined({ authorization, token, device, revocation }) };
    const merged = { setup: "register a client there", scopes: [], origins: [], flow: "code", issuer: "", ...known, ...defined(said) };
    const folder = file === undefined ? {} : { folder: file.folder };
    const provider = { ...merged, ...folder, endpoints, name } as Provider;
    const missing = provider.issuer === "" ? "issuer" : provider.origins.length === 0 ? "origins" : null;
    if (missing !== null)
        throw new OAuthError(
            "setup",
            `the provider ${name} has no ${missing}`,
            `write "oauth": {"${name}": {"${missing}": …}} into ~/.config/remit/remit.json; ${provider.setup}`,
        );
    return provider;
}

/** OAP1. A wildcard stands for one or more whole labels, and for https alone. */
export function mayGo(origins: readonly string[], origin: string): boolean {
    return origins.some((one) => {
        if (!one.startsWith("https://*.")) return one === origin;
        const { protocol, hostname, port } = new URL(origin);
        return protocol === "https:" && port === "" && hostname.endsWith(one.slice("https://*".length));
    });
}

/** Requests go to https alone, but on this machine. */
export function isSafe(url: string): boolean {
    if (!URL.canParse(url)) return false;
    const { protocol, host } = new URL(url);
    return protocol === "https:" || (protocol === "http:" && isLoopback(host));
}
