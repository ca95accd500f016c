/**
 * Sending spans to a collector: OTLP over HTTP, in its JSON form.
 *
 * Boundary: requests. What is sent is made by the machine's projection; where to is said by the caller or by the environment's
 * `OTEL_EXPORTER_OTLP_*` variables (OpenTelemetry's protocol exporter specification), what is said of the process by `OTEL_RESOURCE_ATTRIBUTES`.
 *
 * OT2: while a run goes on, each of its spans is sent once, soon after its end; what was not taken is sent again at the end of the run. Making spans
 *     takes no more than a twentieth of the time.
 * OT3: what a collector says, and its address, are told without the secrets of the environment: it may repeat the key that it was sent.
 * OT1: a collector that is down, slow or refuses is told of and is no failure: `sendSpans` never throws for what the world does.
 */
import type { Json } from "@remit/language";
import { type LedgerEvent, type OtelOptions, type OtelSpan, otelSpans, otlpOf } from "@remit/machine";
import { percentDecoded } from "../input/percent.ts";
import { VERSION } from "../load/engine.ts";
import { headOf } from "../secret/cut.ts";
import { knownSecrets } from "../secret/known.ts";
import type { Scrubber } from "../secret/scrub.ts";

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
        for (const [key, value] of pairsOf(env[name] ?? ""))
            if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(key) && /^[\t\x20-\x7e]*$/.test(value)) out[key.toLowerCase()] = value;
    return out;
}

/** What `OTEL_RESOURCE_ATTRIBUTES` says, in the same form. */
export function resourceAttributes(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
    return Object.fromEntries(pairsOf(env["OTEL_RESOURCE_ATTRIBUTES"] ?? "").filter(([key]) => key !== ""));
}

function pairsOf(list: string): [string, string][] {
    return list.split(",").flatMap((pair): [string, string][] => {
        const at = pair.indexOf("=");
        const value = percentDecoded(pair.slice(at + 1).trim());
        return at < 1 || value === null ? [] : [[pair.slice(0, at).trim(), value]];
    });
}

const said = (env: Readonly<Record<string, string | undefined>>, name: string): string | undefined => env[name]?.trim() || undefined;

/** Sends the spans of a run. Content only with `content`. */
export function sendSpans(events: Iterable<LedgerEvent>, collector: Collector, options: OtelOptions = {}): Promise<Sent> {
    return sendAll(
        otelSpans(events, options).map(({ span }) => span),
        collector,
        options,
    );
}

const SOON_MS = 250;
/** Spans of one request. */
const BATCH = 2_000;

/** The spans of one run while it goes on (OT2). */
export class SpanStream {
    private readonly collector: Collector;
    private readonly options: OtelOptions;
    private readonly events: LedgerEvent[] = [];
    private readonly sent = new Set<string>();
    private timer: NodeJS.Timeout | undefined;
    private sending: Promise<void> = Promise.resolve();
    /** Milliseconds that making the spans took last. */
    private cost = 0;
    private failed = false;

    constructor(collector: Collector, options: OtelOptions = {}) {
        this.collector = collector;
        this.options = options;
    }

    event(event: LedgerEvent): void {
        // of a run that goes on from what was recorded, the whole is known at its end
        if (this.events.length === 0 && event.seq !== 1) this.failed = true;
        this.events.push(event);
        // a collector that did not take them is asked again at the end alone
        if (this.timer !== undefined || this.failed) return;
        this.timer = setTimeout(
            () => {
                this.sending = this.flush();
            },
            Math.max(SOON_MS, this.cost * 20),
        );
        this.timer.unref();
    }

    /** Sends what is left of the whole run; resolves with how that went. */
    async end(whole: Iterable<LedgerEvent>): Promise<Sent> {
        clearTimeout(this.timer);
        this.timer = undefined;
        await this.sending;
        const left = otelSpans(whole, this.options).filter(({ id }) => !this.sent.has(id));
        return this.send(left);
    }

    private async flush(): Promise<void> {
        const begun = performance.now();
        const over = otelSpans(this.events, this.options).filter(({ id, isOver }) => isOver && !this.sent.has(id));
        this.cost = performance.now() - begun;
        if (over.length > 0) this.failed = !(await this.send(over)).ok;
        this.timer = undefined;
    }

    private async send(spans: readonly OtelSpan[]): Promise<Sent> {
        const said = await sendAll(
            spans.map(({ span }) => span),
            this.collector,
            this.options,
        );
        if (said.ok) for (const { id } of spans) this.sent.add(id);
        return said;
    }
}

async function sendAll(spans: readonly Json[], collector: Collector, options: OtelOptions): Promise<Sent> {
    const { env } = collector;
    const secrets = knownSecrets(env);
    const to = collectorUrl(collector);
    if ("problem" in to) return { ok: false, message: secrets.text(to.problem) };
    const service = options.service ?? said(env, "OTEL_SERVICE_NAME");
    const about = { version: VERSION, resource: resourceAttributes(env), ...options, ...(service === undefined ? {} : { service }) };
    for (let at = 0; at < Math.max(1, spans.length); at += BATCH) {
        const sent = await sendOne(otlpOf(spans.slice(at, at + BATCH), about), to, { ...collector, secrets });
        if (sent !== null) return { ok: false, message: secrets.text(sent) };
    }
    return { ok: true, url: secrets.text(to.url), spans: spans.length };
}

/** One request; null where all of it was taken. */
async function sendOne(
    body: Json,
    to: { readonly url: string },
    { env, secrets, ...collector }: Collector & { readonly secrets: Scrubber },
): Promise<string | null> {
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
        const shown = text === "" ? "" : `: ${headOf(text, SHOWN, secrets)}`;
        if (!response.ok) return `${to.url} answered ${response.status}${shown}`;
        const refused = rejected(text);
        return refused === null ? null : `${to.url} did not take everything: ${refused}`;
    } catch (error) {
        return `nothing answers at ${to.url}: ${reason(error, timeout)}`;
    }
}

function reason(error: unknown, timeout: number): string {
    if (Error.isError(error) && error.name === "TimeoutError") return `it was silent for ${timeout} ms`;
    if (Error.isError(error) && Error.isError(error.cause)) return error.cause.message || error.message;
    return Error.isError(error) ? error.message : String(error);
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
