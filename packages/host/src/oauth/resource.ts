/**
 * Servers of tools that say themselves who gives tokens for them (RFC 9728): from the address of an MCP server to a provider.
 *
 * Boundary: asks the server and its metadata; logging in is `login.ts`, what a request sends `../tool/mcp-authorized.ts`.
 *
 * ORS1: what a server says of itself counts for its own origin alone: its tokens go there and nowhere else, and are asked for as tokens for it
 *     (RFC 8707). Metadata that speak of another resource are refused.
 * ORS2: a kept token is renewed by the server that gave it, whatever the resource says by then.
 */
import { networkCode, networkWords } from "../failure/network.ts";
import type { Token } from "../token/store.ts";
import { OAuthError } from "./error.ts";
import { isSafe, type Provider } from "./providers.ts";

/** For one answer, milliseconds and bytes. */
const ANSWER_MS = 10_000;
const MAX_BYTES = 256 * 1024;

/** Whether a name of `remit login` is the address of a server. */
export function isAddress(name: string): boolean {
    return /^https?:\/\//i.test(name);
}

/** Under which its token is kept. Throws `OAuthError`. */
export function resourceAt(address: string): URL {
    const url = URL.canParse(address) ? new URL(address) : null;
    if (url === null || url.username !== "" || url.password !== "" || !isSafe(url.href))
        throw new OAuthError(
            "setup",
            `${address.slice(0, 200)} is no address of a server`,
            "write it as in mcpServers: https://mcp.example.com/mcp",
        );
    url.hash = "";
    return url;
}

/** As the server describes it. Throws `OAuthError`. */
export async function resourceProvider(address: string, signal: AbortSignal): Promise<Provider> {
    const url = resourceAt(address);
    const ask = bounded(signal);
    const mcp = await import("@modelcontextprotocol/client");
    const { resourceMetadataUrl, scope } = mcp.extractWWWAuthenticateParams(await asked(url, ask));
    if (resourceMetadataUrl !== undefined && !isSafe(resourceMetadataUrl.href))
        throw new OAuthError(
            "refused",
            `${url.origin} names metadata at ${resourceMetadataUrl.origin}, which is plain http`,
            "nothing was kept",
        );
    const more = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
    const found = await inWords(url, () => mcp.discoverOAuthProtectedResourceMetadata(url, more, ask));
    if (!mcp.checkResourceAllowed({ requestedResource: url, configuredResource: found.resource }))
        throw new OAuthError(
            "refused",
            `the metadata of ${url.href} speak of ${found.resource.slice(0, 200)}`,
            "nothing was kept; look at who answered",
        );
    const [issuer] = found.authorization_servers ?? [];
    if (issuer === undefined)
        throw new OAuthError(
            "setup",
            `${url.href} names no server that gives tokens for it`,
            "give its header in mcpServers, if it has a key",
        );
    const scopes = scope === undefined ? (found.scopes_supported ?? []) : scope.split(" ").filter((one) => one !== "");
    return { ...provider(url, issuer, found.resource), scopes };
}

/** Of a token that is kept (ORS2). */
export function resourceOf(address: string, { issuer, resource, scopes = [] }: Token): Provider | null {
    if (issuer === undefined || resource === undefined) return null;
    return { ...provider(resourceAt(address), issuer, resource), scopes };
}

function provider(url: URL, issuer: string, resource: string): Provider {
    return {
        name: url.href,
        issuer,
        resource,
        scopes: [],
        // ORS1.
        origins: [url.origin],
        flow: "code",
        setup: "register a client of type native there, with the redirect http://127.0.0.1/callback",
    };
}

/** What it says to one who shows nothing. */
function asked(url: URL, ask: typeof fetch): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    return inWords(url, async () => {
        const response = await ask(url, { method: "POST", body, headers });
        await response.body?.cancel();
        return response;
    });
}

/** Follows no redirect, and reads no more than so much. */
function bounded(signal: AbortSignal): typeof fetch {
    return async (at, init) => {
        const response = await fetch(at, {
            ...init,
            redirect: "manual",
            signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
        });
        if (response.status >= 300 && response.status < 400) throw new TypeError("it redirects");
        const { body, status, statusText, headers } = response;
        if (body === null) return response;
        let size = 0;
        const counted = body.pipeThrough(
            new TransformStream<Uint8Array, Uint8Array>({
                transform: (chunk, out) => {
                    size += chunk.byteLength;
                    if (size > MAX_BYTES) out.error(new TypeError(`an answer is larger than ${MAX_BYTES} bytes`));
                    else out.enqueue(chunk);
                },
            }),
        );
        return new Response(counted, { status, statusText, headers });
    };
}

async function inWords<T>(url: URL, work: () => Promise<T>): Promise<T> {
    try {
        return await work();
    } catch (error) {
        if (!Error.isError(error)) throw error;
        const code = networkCode(error);
        if (code !== null)
            throw new OAuthError(
                "unreachable",
                `${url.href} cannot be reached: ${networkWords(code)}`,
                "look at the address, and whether its server runs",
            );
        const hint = "look at the address; if the server names no authorization server, give it a header in mcpServers";
        throw new OAuthError("unreachable", `${url.href} does not say who gives tokens for it: ${error.message.slice(0, 300)}`, hint);
    }
}
