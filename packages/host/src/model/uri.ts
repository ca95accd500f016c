/**
 * Model URIs: which provider, which endpoint, which model.
 *
 * Boundary: text to parts. Whether an endpoint answers is found out in `reach.ts`.
 *
 * UI1: a URI holds no credentials; one that does is refused, since URIs stand in programs and ledgers.
 * UI2: plain http only for this machine itself, unless the URI says `http://` itself.
 */
import { nearest } from "@remit/language";
import { isLoopback } from "../process/loopback.ts";

export type Provider = "openai" | "anthropic" | "google" | "ollama" | "compatible";

export type ModelUri =
    | {
          readonly kind: "provider";
          readonly uri: string;
          readonly provider: Provider;
          readonly model: string;
          readonly baseURL: string | null;
      }
    | { readonly kind: "scripted" | "recorded" | "local" | "mock"; readonly uri: string; readonly path: string };

export type UriResult =
    | { readonly ok: true; readonly uri: ModelUri }
    | { readonly ok: false; readonly message: string; readonly hint: string };

const FORMS =
    "openai://MODEL, anthropic://MODEL, google://MODEL, ollama://[HOST:PORT/]MODEL, openai://HOST/v1/MODEL, https://HOST/v1#MODEL, local:, scripted:FILE, recorded:FILE or mock:";
const OWN = ["scripted", "recorded", "local", "mock"] as const;

export function parseModelUri(text: string): UriResult {
    const uri = text.trim();
    for (const kind of OWN) {
        if (!uri.startsWith(`${kind}:`)) continue;
        const path = uri.slice(kind.length + 1).replace(/^\/\//, "");
        if ((kind === "scripted" || kind === "recorded") && path === "") return bad(`'${uri}' names no file`, `write ${kind}:FILE`);
        return { ok: true, uri: { kind, uri, path } };
    }
    const found = /^([a-z]+):\/\/(.*)$/s.exec(uri);
    const bare = /^(openai|anthropic|google|ollama):\/?([^/].*)$/s.exec(uri);
    if (bare !== null) return bad(`'${shown(uri)}' is not the URI of a model`, `write ${bare[1]}://${shown(bare[2] as string)}`);
    if (found === null) {
        const named = /^[A-Za-z][\w.-]*$/.test(uri) ? `put its provider before it, such as openai://${uri}; ` : "";
        return bad(`'${shown(uri)}' is not the URI of a model`, `${named}a model is ${FORMS}`);
    }
    const scheme = found[1] as string;
    const rest = found[2] as string;
    if (/^[^/]*@/.test(rest)) return bad("the URI of a model holds credentials", "put the key into the provider's environment variable");
    if (scheme === "http" || scheme === "https") return direct(uri, rest);
    if (scheme !== "openai" && scheme !== "anthropic" && scheme !== "google" && scheme !== "ollama")
        return bad(`no provider is called '${shown(scheme)}'`, schemeMeant(scheme, rest) ?? `a model is ${FORMS}`);
    if (rest === "" || rest.endsWith("/")) return bad(`'${shown(uri)}' names no model`, `a model is ${FORMS}`);
    const endpoint = hostOf(rest, scheme);
    if (endpoint === null) return provider(uri, scheme, rest, null);
    const slash = rest.lastIndexOf("/");
    const model = rest.slice(slash + 1);
    const host = rest.slice(0, rest.indexOf("/"));
    const path = rest.slice(rest.indexOf("/"), slash);
    // An Ollama's model may hold a slash (`user/model`), and its endpoint is always /v1.
    if (scheme === "ollama") return provider(uri, scheme, rest.slice(rest.indexOf("/") + 1), `${plain(host)}://${host}/v1`);
    return provider(uri, scheme, model, `${plain(host)}://${host}${path}`);
}

/** The whole URI with the scheme that is nearly the one that was written. */
function schemeMeant(scheme: string, rest: string): string | null {
    const meant = nearest(scheme, ["openai", "anthropic", "google", "ollama"]);
    const own = nearest(scheme, OWN);
    return meant !== null ? `did you mean ${meant}://${shown(rest)}?` : own !== null ? `did you mean ${own}:${shown(rest)}?` : null;
}

function direct(uri: string, rest: string): UriResult {
    const hash = uri.indexOf("#");
    const model = hash < 0 ? "" : uri.slice(hash + 1);
    if (model === "" || rest.startsWith("#") || rest.startsWith("/"))
        return bad(`'${shown(uri)}' names no model`, "write the model after #: https://HOST/v1#MODEL");
    const base = uri.slice(0, hash).replace(/\/+$/, "");
    return URL.canParse(base) ? provider(uri, "compatible", model, base) : bad(`'${shown(uri)}' is not a URL`, `a model is ${FORMS}`);
}

/** The part before the first slash where it is a host: it has a dot, a port or brackets, or is `localhost`. */
function hostOf(rest: string, scheme: string): string | null {
    const slash = rest.indexOf("/");
    if (slash <= 0) return null;
    const first = rest.slice(0, slash);
    if (first === "localhost" || /^\[[0-9a-f:]+\](?::\d+)?$/i.test(first) || /:\d+$/.test(first)) return first;
    return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(first) && !(scheme === "ollama" && /^[a-z-]+\d/.test(first)) ? first : null;
}

function provider(uri: string, name: Provider, model: string, baseURL: string | null): UriResult {
    if (baseURL !== null && !URL.canParse(baseURL))
        return bad(`'${shown(uri)}' names no endpoint that can be reached`, `a model is ${FORMS}`);
    return { ok: true, uri: { kind: "provider", uri, provider: name, model, baseURL } };
}

function plain(host: string): "http" | "https" {
    return isLoopback(host) ? "http" : "https";
}

function bad(message: string, hint: string): UriResult {
    return { ok: false, message, hint };
}

function shown(text: string): string {
    return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
