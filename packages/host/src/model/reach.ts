/**
 * Which models can be used here: keys that are set, endpoints that answer, files that are there.
 *
 * Boundary: looks, never asks a model anything. What was found out is kept for as long as its owner (one run).
 */
import type { Environment } from "../ledger/place.ts";
import { localReason } from "./local.ts";
import { exists } from "./llama.ts";
import { repliesProblem } from "./replies.ts";
import type { Destination } from "../credential/source.ts";
import { isLoopback } from "../process/loopback.ts";
import { portProblem } from "../process/ports.ts";
import type { ModelUri, Provider } from "./uri.ts";

export type Reach = { readonly ok: true; readonly note: string } | { readonly ok: false; readonly reason: string };

export interface ReachSetup {
    readonly env: Environment;
    readonly folder: string;
    readonly fetch: typeof fetch;
    /** Path of a file of a URI, made absolute. */
    readonly resolve: (path: string) => string;
    /** Milliseconds for a look at an address that nobody named. */
    readonly probeMs: number;
    /** The same for one that the program or a variable names: it may be busy, and another model in its place is not what was asked for. */
    readonly namedMs: number;
}

/** The variables of each provider. Google has two names for the same. */
export const KEYS: { readonly [K in Provider]: { readonly key: string | null; readonly base: string | null } } = {
    openai: { key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL" },
    anthropic: { key: "ANTHROPIC_API_KEY", base: "ANTHROPIC_BASE_URL" },
    google: { key: "GOOGLE_GENERATIVE_AI_API_KEY", base: "GOOGLE_GENERATIVE_AI_BASE_URL" },
    ollama: { key: null, base: "OLLAMA_BASE_URL" },
    compatible: { key: "OPENAI_API_KEY", base: null },
};

export interface Endpoint {
    /** Null: the provider's own. */
    readonly baseURL: string | null;
    /** The key, or how to get it at the moment of use. */
    readonly apiKey: string | (() => Promise<string>) | undefined;
    readonly keyName: string;
    readonly keyKept: boolean;
}

/**
 * Where a model's requests go, and the key that goes with them. A key goes to its provider, to the address its own variable names, to this machine,
 * and to hosts that `REMIT_KEY_HOSTS` lists: a host that a program names itself gets none.
 */
export function endpointOf(uri: ModelUri & { kind: "provider" }, env: Environment): Endpoint {
    const { key: keyName, base } = KEYS[uri.provider];
    const named = base === null ? undefined : nonEmpty(env[base]);
    const baseURL = uri.baseURL ?? (uri.provider === "ollama" ? ollamaBase(env) : named) ?? null;
    const key = keyName === null ? undefined : nonEmpty(env[keyName]);
    const allowed = uri.baseURL === null || mayHaveKey(uri.baseURL, named, env);
    return {
        baseURL: baseURL === null ? null : baseURL.replace(/\/+$/, ""),
        apiKey: allowed ? key : undefined,
        keyName: keyName ?? "the endpoint's settings",
        keyKept: key !== undefined && !allowed,
    };
}

/** Origins of the providers' own addresses. */
const OWN: { readonly [K in Provider]: string | null } = {
    openai: "https://api.openai.com",
    anthropic: "https://api.anthropic.com",
    google: "https://generativelanguage.googleapis.com",
    ollama: null,
    compatible: null,
};

/** Where a turn of this model is sent, as the credential of a stage sees it: it may go where the key of the environment may. */
export function destinationOf(uri: ModelUri & { kind: "provider" }, baseUrl: string | undefined, env: Environment): Destination | null {
    const { baseURL } = endpointOf(baseUrl === undefined ? uri : { ...uri, baseURL: baseUrl }, env);
    const origin = baseURL === null ? OWN[uri.provider] : new URL(baseURL).origin;
    if (origin === null) return null;
    const { base } = KEYS[uri.provider];
    // An address in the configuration is one that the person trusts with keys.
    const isTrusted = baseUrl !== undefined || uri.baseURL === null;
    return {
        origin,
        named: true,
        free: isTrusted || mayHaveKey(uri.baseURL as string, base === null ? undefined : nonEmpty(env[base]), env),
    };
}

function mayHaveKey(baseURL: string, named: string | undefined, env: Environment): boolean {
    const { host, hostname, origin } = new URL(baseURL);
    if (isLoopback(host)) return true;
    if (named !== undefined && URL.canParse(named) && new URL(named).origin === origin) return true;
    const listed = (env.REMIT_KEY_HOSTS ?? "").split(/[\s,]+/);
    return listed.includes(host) || listed.includes(hostname);
}

function nonEmpty(text: string | undefined): string | undefined {
    return text === undefined || text.trim() === "" ? undefined : text.trim();
}

/** Ollama's OpenAI-compatible address, from its base URL or its default port. */
export function ollamaBase(env: Environment): string {
    const base = nonEmpty(env.OLLAMA_BASE_URL) ?? "http://127.0.0.1:11434";
    return `${base.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

/** Models that an Ollama has, the newest first; null where none answers. `named`: by the program; a variable names it as well. */
export async function ollamaModels(base: string, setup: ReachSetup, named = false): Promise<readonly string[] | null> {
    const waits = named || nonEmpty(setup.env.OLLAMA_BASE_URL) !== undefined ? setup.namedMs : setup.probeMs;
    const answer = await look(`${base.replace(/\/v1$/, "")}/api/tags`, setup, waits);
    if (answer === null || !answer.ok) return answer === null ? null : [];
    const body: unknown = await answer.json().catch(() => null);
    const models =
        typeof body === "object" && body !== null && "models" in body && Array.isArray(body.models) ? (body.models as unknown[]) : [];
    return models.flatMap((model) => {
        const name = typeof model === "object" && model !== null && "name" in model ? model.name : null;
        return typeof name === "string" && !/embed/i.test(name) ? [name] : [];
    });
}

/** An answer of any kind, or null. */
async function look(url: string, setup: ReachSetup, ms: number): Promise<Response | null> {
    try {
        return await setup.fetch(url, { signal: AbortSignal.timeout(ms), redirect: "manual" });
    } catch {
        // Whatever the reason: it does not answer.
        return null;
    }
}

/** Whether a model can be used, and why not. Looks at an endpoint only where no key tells that it is meant. */
export async function reach(uri: ModelUri, setup: ReachSetup): Promise<Reach> {
    switch (uri.kind) {
        case "mock":
            return { ok: true, note: "answers with zero values" };
        case "scripted":
        case "recorded": {
            const file = setup.resolve(uri.path);
            const reason = (await exists(file)) ? repliesProblem(uri.kind, file) : `there is no file ${uri.path}`;
            return reason === null ? { ok: true, note: "replies from a file" } : { ok: false, reason };
        }
        case "local": {
            const path = uri.path === "" ? "" : setup.resolve(uri.path);
            const reason = await localReason({ path, folder: setup.folder, env: setup.env });
            return reason === null ? { ok: true, note: "in this process" } : { ok: false, reason };
        }
        default:
            return provider(uri, setup);
    }
}

async function provider(uri: ModelUri & { kind: "provider" }, setup: ReachSetup): Promise<Reach> {
    const endpoint = endpointOf(uri, setup.env);
    const problem = endpoint.baseURL === null ? null : portProblem(endpoint.baseURL);
    if (problem !== null) return { ok: false, reason: problem };
    if (uri.provider === "ollama") {
        const base = endpoint.baseURL as string;
        const models = await ollamaModels(base, setup, uri.baseURL !== null);
        if (models === null) return { ok: false, reason: `no Ollama answers at ${hostOf(base)}` };
        const known = models.some((name) => name === uri.model || name === `${uri.model}:latest` || uri.model === "");
        return known || models.length === 0
            ? { ok: true, note: `Ollama at ${hostOf(base)}` }
            : { ok: false, reason: `Ollama has no model ${uri.model}: ollama pull ${uri.model}` };
    }
    if (endpoint.apiKey !== undefined) return { ok: true, note: `${endpoint.keyName} is set` };
    if (endpoint.baseURL === null) return { ok: false, reason: `${endpoint.keyName} is not set` };
    // A server on this machine, or one of a company, may need no key.
    if ((await look(`${endpoint.baseURL}/models`, setup, setup.namedMs)) !== null)
        return { ok: true, note: `${hostOf(endpoint.baseURL)} answers` };
    return { ok: false, reason: `${hostOf(endpoint.baseURL)} does not answer` };
}

function hostOf(url: string): string {
    return URL.canParse(url) ? new URL(url).host : url;
}
