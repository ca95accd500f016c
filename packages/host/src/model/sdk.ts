/**
 * Models of the AI SDK, loaded at first use.
 *
 * Boundary: the only file that knows the provider packages. What is called is the SDK's own interface of a language model (its
 * specification v4): one request, no tool loop and no retries, which are ours.
 *
 * SDK1: redirects are not followed, since a key would go with them.
 * SDK2: what is no API at all (a redirect, a page for people) is told at once, as `NotAnApi`, before anything tries to read it.
 */
import type { LanguageModel } from "ai";
import { thinking } from "./ollama.ts";
import { replyBound } from "./reply-bound.ts";
import { NotAnApi, taken } from "./taken.ts";
import type { Provider } from "./uri.ts";

export type SdkModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;
export type SdkOptions = Parameters<SdkModel["doStream"]>[0];
export type SdkResult = Awaited<ReturnType<SdkModel["doGenerate"]>>;
export type SdkUsage = SdkResult["usage"];

export interface SdkChoice {
    readonly provider: Provider;
    readonly model: string;
    /** Null: the provider's own. */
    readonly baseURL: string | null;
    readonly apiKey: string | undefined;
    readonly headers?: { readonly [name: string]: string };
    readonly fetch: typeof fetch;
    /** Told of the headers of every answer. */
    readonly heard?: (headers: Headers) => void;
}

/** Name under which a provider of the SDK takes its options. */
export const OPTIONS_OF: { readonly [K in Provider]: string } = {
    openai: "openai",
    anthropic: "anthropic",
    google: "google",
    ollama: "remit",
    compatible: "remit",
};

export async function sdkModel(choice: SdkChoice): Promise<SdkModel> {
    const { model, apiKey } = choice;
    const base = choice.baseURL === null ? {} : { baseURL: choice.baseURL };
    const shared = {
        ...base,
        ...(choice.headers === undefined ? {} : { headers: choice.headers }),
        fetch: guarded(adapted(choice), choice.heard),
    };
    switch (choice.provider) {
        case "openai": {
            const { createOpenAI } = await import("@ai-sdk/openai");
            return createOpenAI({ ...shared, apiKey: apiKey ?? "" }).chat(model);
        }
        case "anthropic": {
            const { createAnthropic } = await import("@ai-sdk/anthropic");
            return createAnthropic({ ...shared, apiKey: apiKey ?? "" })(model);
        }
        case "google": {
            const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
            return createGoogleGenerativeAI({ ...shared, apiKey: apiKey ?? "" })(model);
        }
        default: {
            const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
            return createOpenAICompatible({
                ...shared,
                name: "remit",
                baseURL: choice.baseURL ?? "",
                includeUsage: true,
                supportsStructuredOutputs: true,
                ...(apiKey === undefined ? {} : { apiKey }),
            })(model);
        }
    }
}

/** With what a provider has of its own. */
function adapted({ provider, baseURL, fetch }: SdkChoice): typeof globalThis.fetch {
    if (provider === "ollama") return thinking(fetch, MAX_BYTES);
    return provider === "openai" || provider === "compatible" ? replyBound(fetch, provider === "openai" && baseURL === null) : fetch;
}

export const MAX_BYTES = 64 * 1024 * 1024;

function guarded(inner: typeof fetch, heard: SdkChoice["heard"]): typeof fetch {
    return async (input, init) => {
        const response = await inner(input, { ...init, redirect: "manual" });
        const { status, headers } = response;
        heard?.(headers);
        const wrong = notAnApi(response);
        if (wrong !== null) {
            await response.body?.cancel();
            throw new NotAnApi(status, wrong);
        }
        if (response.body === null) return response;
        let begun = false;
        const api = new TransformStream<Uint8Array, Uint8Array>({
            transform: (chunk, controller) => {
                // Neither JSON nor an event begins with `<`, whatever the content type says.
                if (!begun && response.ok && chunk[0] === 60) controller.error(new NotAnApi(status, "markup instead of JSON"));
                else controller.enqueue(chunk);
                begun = true;
            },
        });
        const counted = response.body.pipeThrough(api).pipeThrough(taken(MAX_BYTES, response.ok));
        return new Response(counted, { status, statusText: response.statusText, headers });
    };
}

function notAnApi(response: Response): string | null {
    const { status, headers } = response;
    if (response.type === "opaqueredirect") return "a redirect";
    if (status >= 300 && status < 400) {
        const to = headers.get("location");
        const host = to !== null && URL.canParse(to) ? ` to ${new URL(to).origin}` : "";
        return `a redirect${host} (HTTP ${status})`;
    }
    if (!response.ok) return null;
    const type = (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
    return /^(?:text\/(?:html|xml|css|javascript)|application\/(?:xhtml\+xml|xml)|image\/.*|video\/.*|audio\/.*)$/.test(type)
        ? `${type} (HTTP ${status})`
        : null;
}
