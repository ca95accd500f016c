/**
 * Sending spans to a collector: OTLP over HTTP, in its JSON form.
 *
 * Boundary: one request. What is sent is made by the machine's projection; where to is said by the caller or by the environment's
 * `OTEL_EXPORTER_OTLP_*` variables (OpenTelemetry's protocol exporter specification).
 *
 * OT1: a collector that is down, slow or refuses is told of and is no failure: `sendSpans` never throws for what the world does.
 */
import { type LedgerEvent, type OtelOptions, otlp } from "@remit/machine";

export interface Collector {
    /** Base address (`http://localhost:4318`) or the whole one that ends with `/v1/traces`. Default: the environment's. */
    readonly endpoint?: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    /** Milliseconds; default: the environment's, else 10 s. */
    readonly timeout?: number;
}

export type Sent = { readonly ok: true; readonly url: string; readonly spans: number } | { readonly ok: false; readonly message: string };

const DEFAULT_ENDPOINT = "http://localhost:4318";
const TIMEOUT_MS = 10_000;
const SIGNAL_PATH = "/v1/traces";
/** UTF-16 units of what a collector says that are shown. */
const SHOWN = 300;

/** The address, or what is wrong with what was given. */
export function collectorUrl({ endpoint, env }: Collector): { readonly url: string } | { readonly problem: string } {
    // the variable for traces is the whole address, the general one a base
    const whole = endpoint === undefined ? said(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") : undefined;
    const given = whole ?? endpoint ?? said(env, "OTEL_EXPORTER_OTLP_ENDPOINT") ?? DEFAULT_ENDPOINT;
    const url = URL.parse(given);
    if (url === null || !/^https?:$/.test(url.protocol)) return { problem: `'${given}' is not the http address of a collector` };
    if (whole === undefined && !url.pathname.endsWith(SIGNAL_PATH)) url.pathname = `${url.pathname.replace(/\/$/, "")}${SIGNAL_PATH}`;
    return { url: url.href };
}

/** `key=value,key2=value2`, values percent-encoded, as in W3C Baggage; what is no such pair is left out. */
export function collectorHeaders(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
    const out: Record<string, string> = {};
    for (const name of ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])
        for (const pair of (env[name] ?? "").split(",")) {
            const at = pair.indexOf("=");
            const key = pair.slice(0, Math.max(0, at)).trim().toLowerCase();
            const value = decoded(pair.slice(at + 1).trim());
            if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key) && value !== null && /^[\t\x20-\x7e]*$/.test(value)) out[key] = value;
        }
    return out;
}

function decoded(text: string): string | null {
    try {
        return decodeURIComponent(text);
    } catch (error) {
        // malformed percent-encoding
        if (error instanceof URIError) return null;
        throw error;
    }
}

const said = (env: Readonly<Record<string, string | undefined>>, name: string): string | undefined => env[name]?.trim() || undefined;

/** Sends the spans of a run. Content only with `content`. */
export async function sendSpans(events: Iterable<LedgerEvent>, collector: Collector, options: OtelOptions = {}): Promise<Sent> {
    const env = collector.env;
    const to = collectorUrl(collector);
    if ("problem" in to) return { ok: false, message: to.problem };
    const service = options.service ?? said(env, "OTEL_SERVICE_NAME");
    const body = otlp(events, { ...options, ...(service === undefined ? {} : { service }) });
    const timeout = collector.timeout ?? (Number(said(env, "OTEL_EXPORTER_OTLP_TIMEOUT")) || TIMEOUT_MS);
    try {
        const response = await fetch(to.url, {
            method: "POST",
            headers: { ...collectorHeaders(env), "content-type": "application/json" },
            body: JSON.stringify(body),
            // headers may hold a key, which belongs to this host alone
            redirect: "error",
            signal: AbortSignal.timeout(timeout),
        });
        const text = await response.text();
        const shown = text === "" ? "" : `: ${text.slice(0, SHOWN)}`;
        if (!response.ok) return { ok: false, message: `${to.url} answered ${response.status}${shown}` };
        const refused = rejected(text);
        if (refused !== null) return { ok: false, message: `${to.url} did not take everything: ${refused}` };
        return { ok: true, url: to.url, spans: countOf(body) };
    } catch (error) {
        return { ok: false, message: `nothing answers at ${to.url}: ${reason(error, timeout)}` };
    }
}

function reason(error: unknown, timeout: number): string {
    if (error instanceof Error && error.name === "TimeoutError") return `it was silent for ${timeout} ms`;
    if (error instanceof Error && error.cause instanceof Error) return error.cause.message || error.message;
    return error instanceof Error ? error.message : String(error);
}

/** What a collector says that took a part: `{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "…"}}`. */
function rejected(text: string): string | null {
    let read: unknown;
    try {
        read = JSON.parse(text);
    } catch (error) {
        // an answer need not be JSON; it took them
        if (error instanceof SyntaxError) return null;
        throw error;
    }
    const partial = (read as { partialSuccess?: { rejectedSpans?: string | number; errorMessage?: string } } | null)?.partialSuccess;
    const count = Number(partial?.rejectedSpans ?? 0);
    return count > 0 ? `${count} spans refused${partial?.errorMessage ? `: ${partial.errorMessage}` : ""}` : null;
}

function countOf(body: ReturnType<typeof otlp>): number {
    const { resourceSpans } = body as unknown as { resourceSpans: readonly { scopeSpans: readonly { spans: readonly unknown[] }[] }[] };
    return resourceSpans.reduce((sum, one) => sum + one.scopeSpans.reduce((inner, scope) => inner + scope.spans.length, 0), 0);
}
