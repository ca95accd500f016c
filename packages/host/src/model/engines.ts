/**
 * The engines of a program's models: one a URI, made at its first turn.
 *
 * Boundary: from a URI to what answers it; which URI that is `models.ts` says.
 *
 * EN2: one engine a URI. The limits of an endpoint belong to its origin and to the account whose key is used, in all programs of the process.
 */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Outcome } from "@remit/machine";
import type { Given } from "../credential/credentials.ts";
import type { Destination } from "../credential/source.ts";
import { portProblem } from "../process/ports.ts";
import type { Process } from "../process/process.ts";
import type { Engine } from "./engine.ts";
import type { Limiter, Rate } from "../process/limiter.ts";
import { localEngine } from "./local.ts";
import { mockEngine } from "./mock.ts";
import type { ModelsConfig, NamedModel } from "./models.ts";
import { type Patience, providerEngine } from "./provider.ts";
import { destinationOf, type Endpoint, endpointOf } from "./reach.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { recordedEngine, recording } from "./recorded.ts";
import { scriptedEngine } from "./scripted.ts";
import { withTextCalls } from "./text-calls.ts";
import type { Environment } from "../ledger/place.ts";
import { type ModelUri, parseModelUri } from "./uri.ts";

export interface EnginesSetup {
    readonly on: Pick<Process, "limits" | "models">;
    readonly env: Environment;
    readonly folder: string;
    readonly secrets: Scrubber;
    readonly patience: Patience;
    readonly fetch: typeof fetch;
}

export interface Wanted {
    /** Import name in the program. */
    readonly name: string;
    /** What the configuration says of that name. */
    readonly own: NamedModel | undefined;
    /** The credential of the stage, in place of the key. */
    readonly given: Given | null;
}

export interface Engines {
    /** A failure where the URI is none. */
    of(uri: string, wanted: Wanted): Engine | Outcome;
    /** Where a turn is sent; null where no request leaves with a key. */
    destination(uri: string, own: NamedModel | undefined): Destination | null;
    /** Lets go of what engines hold. They stay, with the place of those whose replies stand in a file, and take hold again at the next turn. */
    close(): Promise<void>;
}

export function enginesOf(config: ModelsConfig, setup: EnginesSetup): Engines {
    const { folder, env, on } = setup;
    /** With the value of the credential that each was made with. */
    const engines = new Map<string, { readonly engine: Engine; readonly value: string | undefined }>();

    function make(uri: ModelUri, own: NamedModel | undefined, given: Given | null): Engine | Outcome {
        switch (uri.kind) {
            case "mock":
                return mockEngine();
            case "scripted":
                return scriptedEngine(uri.uri, resolve(folder, uri.path));
            case "recorded":
                return recordedEngine(uri.uri, resolve(folder, uri.path));
            case "local": {
                const path = uri.path === "" ? "" : resolve(folder, uri.path);
                return withTextCalls(localEngine({ uri: uri.uri, path, folder, env, models: on.models }), "always");
            }
            default: {
                const found = own === undefined ? endpointOf(uri, env) : ownEndpoint(uri, own, env);
                const endpoint = given === null ? found : { ...found, apiKey: given.value, keyName: given.name, keyKept: false };
                const problem = endpoint.baseURL === null ? null : portProblem(endpoint.baseURL);
                if (problem !== null) {
                    const hint = `write another port in the address ${endpoint.baseURL}`;
                    return { ok: false, failure: { kind: "unreachable", message: `${uri.uri} cannot be reached: ${problem}`, hint } };
                }
                // An address of its own is an endpoint that speaks OpenAI's protocol, not OpenAI itself.
                const compatible =
                    uri.provider === "openai" && endpoint.baseURL !== null && new URL(endpoint.baseURL).hostname !== "api.openai.com";
                const engine = providerEngine({
                    uri: uri.uri,
                    provider: compatible ? "compatible" : uri.provider,
                    model: uri.model,
                    ...endpoint,
                    secrets: setup.secrets,
                    patience: setup.patience,
                    limiter: limiterOf(config, on, { endpoint, provider: uri.provider, account: accountOf(endpoint, own) }),
                    fetch: setup.fetch,
                    chance: Math.random,
                });
                // The providers themselves take tools with every model that can call one.
                const can = own?.tools ?? (compatible || uri.provider === "compatible" || uri.provider === "ollama" ? undefined : "native");
                return can === "native" ? engine : withTextCalls(engine, can === "text" ? "always" : "refused");
            }
        }
    }
    return {
        of: (uri, { own, name, given }) => {
            const key = [uri, own === undefined ? "" : name, given?.name ?? ""].join("\n");
            const known = engines.get(key);
            if (known !== undefined && known.value === given?.value) return known.engine;
            const parsed = parseModelUri(uri);
            if (!parsed.ok) return { ok: false, failure: { kind: "model", message: parsed.message, hint: parsed.hint } };
            const made = make(parsed.uri, own, given);
            if ("ok" in made) return made;
            const engine = config.record === undefined ? made : recording(made, resolve(folder, config.record), setup.secrets);
            engines.set(key, { engine, value: given?.value });
            return engine;
        },
        destination: (uri, own) => {
            const parsed = parseModelUri(uri);
            return parsed.ok && parsed.uri.kind === "provider" ? destinationOf(parsed.uri, own?.baseUrl, env) : null;
        },
        close: async () => {
            for (const { engine } of engines.values()) await engine.close?.();
        },
    };
}

interface Bounded {
    readonly endpoint: Endpoint;
    readonly provider: string;
    readonly account: string;
}

function limiterOf(config: ModelsConfig, { limits }: Pick<Process, "limits">, { endpoint, provider, account }: Bounded): Limiter {
    const rateOf = (name: string): Rate | undefined =>
        config.rates !== undefined && Object.hasOwn(config.rates, name) ? config.rates[name] : undefined;
    const url = endpoint.baseURL === null ? null : new URL(endpoint.baseURL);
    return limits.of(url?.origin ?? provider, account, config.concurrency ?? 8, rateOf(url?.host ?? provider) ?? rateOf(provider));
}

/** Of a key that is known only a digest is kept. */
function accountOf({ apiKey, keyName }: Endpoint, own: NamedModel | undefined): string {
    if (typeof apiKey === "string") return createHash("sha256").update(apiKey).digest("hex");
    return own?.account ?? keyName;
}

/** A configured endpoint. A key of the environment goes to a configured address on the same conditions as to any other. */
function ownEndpoint(
    uri: ModelUri & { kind: "provider" },
    own: NamedModel,
    env: Environment,
): Endpoint & { headers?: NamedModel["headers"] } {
    const found = endpointOf(own.baseUrl === undefined ? uri : { ...uri, baseURL: own.baseUrl }, env);
    return {
        ...found,
        ...(own.key === undefined ? {} : { apiKey: own.key, keyName: "the key in the configuration", keyKept: false }),
        ...(own.headers === undefined ? {} : { headers: own.headers }),
    };
}
