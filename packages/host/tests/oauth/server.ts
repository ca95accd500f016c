/** A real OAuth server on loopback (`oidc-provider`), users who say yes or no at once, and an API that takes its tokens. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "@remit/language";
import Provider, { type ClientMetadata, type Configuration } from "oidc-provider";

export interface Grants {
    /** What the user answers. */
    answer: "yes" | "no";
    /** Refresh requests that the server took, and all requests for tokens. */
    refreshes: number;
    requests: number;
}

export interface OAuthRoom extends AsyncDisposable {
    readonly issuer: string;
    readonly grants: Grants;
    readonly provider: Provider;
    /** An API whose calls need a token that the server knows and that has not ended. */
    readonly api: string;
    readonly seen: (string | null)[];
    /** As `oauth` of a configuration. */
    readonly described: { readonly [key: string]: Json };
    /** The user's browser: follows where a login leads, logs in, consents; gives the address of the redirect without asking it. */
    browse(url: string): Promise<string>;
    /** The user's other device: types the code there. */
    confirm(code: string): Promise<void>;
}

export interface RoomSettings {
    /** Seconds that an access token is good for. */
    readonly access?: number;
    /** Seconds that a code of a device is good for. */
    readonly device?: number;
    readonly client?: Partial<ClientMetadata>;
    /** Tokens are for the resource that is asked for, and clients register themselves. */
    readonly resources?: boolean;
    /** How clients may show who they are; default: any way. */
    readonly methods?: NonNullable<Configuration["clientAuthMethods"]>;
}

const CLIENT = "remit-test";

const RESOURCES: NonNullable<NonNullable<Configuration["features"]>["resourceIndicators"]> = {
    enabled: true,
    defaultResource: (_context, _client, oneOf) => oneOf ?? [],
    useGrantedResource: () => true,
    getResourceServerInfo: (_context, resource) => ({ scope: "api:read", audience: resource, accessTokenFormat: "opaque" }),
};

export async function oauthRoom({
    access = 3600,
    device = 600,
    client = {},
    resources = false,
    methods,
}: RoomSettings = {}): Promise<OAuthRoom> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const grants: Grants = { answer: "yes", refreshes: 0, requests: 0 };
    const configuration: Configuration = {
        clients: [
            {
                client_id: CLIENT,
                application_type: "native",
                token_endpoint_auth_method: "none",
                grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
                redirect_uris: ["http://127.0.0.1/callback"],
                response_types: ["code"],
                ...client,
            },
        ],
        features: {
            devInteractions: { enabled: false },
            deviceFlow: { enabled: true },
            revocation: { enabled: true },
            introspection: { enabled: true, allowedPolicy: () => true },
            ...(resources ? { registration: { enabled: true }, resourceIndicators: RESOURCES } : {}),
        },
        ...(methods === undefined ? {} : { clientAuthMethods: methods }),
        scopes: ["openid", "offline_access", "api:read"],
        findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
        interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
        rotateRefreshToken: true,
        issueRefreshToken: () => true,
        ttl: {
            AccessToken: access,
            DeviceCode: device,
            RefreshToken: 86_400,
            Grant: 86_400,
            Session: 86_400,
            Interaction: 600,
            IdToken: 600,
            AuthorizationCode: 60,
        },
        cookies: { keys: ["a-key-of-the-test"] },
        pkce: { required: () => true },
    };
    const provider = new Provider(issuer, configuration);
    // Its notices about development are for people.
    const interaction = async (
        request: Parameters<Provider["interactionDetails"]>[0],
        response: Parameters<Provider["interactionDetails"]>[1],
    ) => {
        const details = await provider.interactionDetails(request, response);
        if (grants.answer === "no") return provider.interactionFinished(request, response, { error: "access_denied" });
        if (details.prompt.name === "login") return provider.interactionFinished(request, response, { login: { accountId: "alice" } });
        const grant = new provider.Grant({ accountId: "alice", clientId: String(details.params["client_id"]) });
        grant.addOIDCScope(String(details.params["scope"]));
        if (typeof details.params["resource"] === "string") grant.addResourceScope(details.params["resource"], "api:read");
        await provider.interactionFinished(
            request,
            response,
            { consent: { grantId: await grant.save() } },
            { mergeWithLastSubmission: true },
        );
    };
    const app = provider.callback();
    server.on("request", (request, response) => {
        if (request.url?.startsWith("/interaction/") === true) return void interaction(request, response);
        if (request.method === "POST" && request.url === "/token") grants.requests++;
        void app(request, response);
    });
    provider.on("grant.success", (context) => {
        if (context.oidc.params?.["grant_type"] === "refresh_token") grants.refreshes++;
    });
    const { api, seen, closed } = await apiOf(provider);
    return {
        issuer,
        grants,
        provider,
        api,
        seen,
        described: { issuer, client: CLIENT, scopes: ["openid", "offline_access", "api:read"], origins: [api] },
        browse: (url) => browser(url),
        confirm: async (code) => {
            const jar = new Map<string, string>();
            const page = await (await stepped(`${issuer}/device`, jar)).text();
            const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? "";
            const typed = await stepped(`${issuer}/device`, jar, new URLSearchParams({ xsrf, user_code: code }));
            const confirmed = await typed.text();
            const again = /name="xsrf" value="([^"]+)"/.exec(confirmed)?.[1] ?? xsrf;
            const sent = await stepped(`${issuer}/device`, jar, new URLSearchParams({ xsrf: again, user_code: code, confirm: "yes" }));
            await followed(sent, `${issuer}/device`, jar);
        },
        [Symbol.asyncDispose]: async () => {
            await closed();
            server.closeAllConnections();
            await new Promise((done) => server.close(done));
        },
    };
}

async function apiOf(provider: Provider) {
    const seen: (string | null)[] = [];
    const server = createServer((request, response) => {
        const { authorization = null } = request.headers;
        seen.push(authorization);
        void (async () => {
            const token = await provider.AccessToken.find(authorization?.replace("Bearer ", "") ?? "");
            response.statusCode = token?.isValid === true ? 200 : 401;
            response.end(token?.isValid === true ? `for ${token.accountId}` : "who are you?");
        })();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return {
        api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        seen,
        closed: async () => {
            server.closeAllConnections();
            await new Promise((done) => server.close(done));
        },
    };
}

/** One request as a browser makes it, with the cookies of its jar. */
async function stepped(url: string, jar: Map<string, string>, form?: URLSearchParams): Promise<Response> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
        redirect: "manual",
        headers: { cookie },
        ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const one of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
        if (value === "") jar.delete(name);
        else jar.set(name, value);
    }
    return response;
}

/** Follows redirects until one leads back to the client; gives its address. */
async function followed(first: Response, from: string, jar: Map<string, string>): Promise<string> {
    let [response, at] = [first, from];
    for (let steps = 0; steps < 12; steps++) {
        const location = response.headers.get("location");
        if (location === null) return at;
        at = new URL(location, at).href;
        if (new URL(at).pathname === "/callback") return at;
        response = await stepped(at, jar);
    }
    throw new Error(`the server leads in a circle: ${at}`);
}

async function browser(url: string): Promise<string> {
    const jar = new Map<string, string>();
    return followed(await stepped(url, jar), url, jar);
}
