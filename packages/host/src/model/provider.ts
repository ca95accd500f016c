/**
 * Models of providers: one turn, with patience for passing errors and none for silence.
 *
 * Boundary: time, retries and limits. Requests and answers are shaped in `wire.ts`, providers known in `sdk.ts`, errors named in `trouble.ts`.
 *
 * PV1: a turn is sent again only after an error that may pass, after a pause that grows and is not the same for every caller, or the one the
 *     provider asked for.
 * PV2: silence is bounded apart from the whole: a stream that keeps speaking may go on until the turn's own deadline.
 * PV3: text that was shown before a try failed is taken back with `{type: "restart"}`. A pause before the next try is told with
 *     `{type: "pause", text, ms}`.
 * PV5: where an answer says that nothing is left for a while, the next turns of the endpoint wait for it, as long as patience lasts.
 * PV6: where an endpoint refuses a turn with pictures that may be left out, it is asked once without: a page can spoil one picture, so that is not remembered.
 * PV4: where an endpoint refuses the contract's schema, it is asked once without and remembered; `constrained` says which it was.
 */
import { isObject, type Json } from "@remit/language";
import type { ModelReply, ModelTurn, ToolCall } from "@remit/machine";
import { cancelled, type Engine, failed, noted, type Raw, type Turned, type TurnIO } from "./engine.ts";
import { exhaustedFor, type Limiter, pauseFor } from "../process/limiter.ts";
import { hasPictures, withoutPictures } from "./pictures.ts";
import { type SdkModel, type SdkOptions, type SdkUsage, sdkModel } from "./sdk.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { withoutKeys } from "../secret/shapes.ts";
import { type Subject, TimeUp, type Trouble, troubleOf } from "./trouble.ts";
import type { Provider } from "./uri.ts";
import { type Constraint, callOf, finishOf, optionsOf, usageOf } from "./wire.ts";

export interface Patience {
    /** Further tries after the first. */
    readonly retries: number;
    /** Milliseconds before the first further try; doubles each time. */
    readonly pauseMs: number;
    /** Longest pause; a provider that asks for a longer one is not waited for. */
    readonly maxPauseMs: number;
    /** Milliseconds without a word of the provider, in a stream. */
    readonly silenceMs: number;
    /** Milliseconds for an answer that comes in one piece. */
    readonly replyMs: number;
    /** Milliseconds for one try altogether. */
    readonly totalMs: number;
}

export const PATIENCE: Patience = { retries: 3, pauseMs: 500, maxPauseMs: 60_000, silenceMs: 60_000, replyMs: 300_000, totalMs: 600_000 };

export interface ProviderSetup {
    readonly uri: string;
    readonly provider: Provider;
    readonly model: string;
    readonly baseURL: string | null;
    readonly apiKey: string | (() => Promise<string>) | undefined;
    readonly headers?: { readonly [name: string]: string };
    readonly keyName: string;
    /** The key is set, but is not sent to this endpoint. */
    readonly keyKept: boolean;
    readonly secrets: Scrubber;
    readonly patience: Patience;
    readonly limiter: Limiter;
    readonly fetch: typeof fetch;
    /** Between 0 and 1; for pauses that differ. */
    readonly chance: () => number;
}

export function providerEngine(setup: ProviderSetup): Engine {
    return new ProviderEngine(setup);
}

interface Try {
    readonly request: ModelTurn;
    readonly io: TurnIO;
    readonly constraint: Constraint | null;
    /** Text of it was shown. */
    shown: boolean;
}

class ProviderEngine implements Engine {
    readonly uri: string;
    private readonly setup: ProviderSetup;
    private readonly subject: Subject;
    private model: Promise<SdkModel> | null = null;
    /** PV4: this endpoint takes no schema. */
    private unconstrained = false;

    constructor(setup: ProviderSetup) {
        const { uri, baseURL, apiKey, keyName, keyKept, secrets } = setup;
        this.uri = uri;
        this.setup = setup;
        this.subject = { uri, address: baseURL, keyName, keySent: apiKey !== undefined, keyKept, secrets };
    }

    async turn(given: ModelTurn, io: TurnIO): Promise<Turned> {
        const { provider, baseURL, patience, limiter, chance } = this.setup;
        const unready = await this.unready(given);
        if (unready !== null) return unready;
        let blind = false;
        for (let tries = 0; ; tries++) {
            const { request, notes } = blind ? withoutPictures(given, this.uri) : { request: given, notes: [] };
            const constraint = this.unconstrained ? null : constraintOf(request, io.schema, provider, baseURL);
            const one: Try = { request, io, constraint, shown: false };
            const said = await this.tried(one);
            if (said === null) return cancelled();
            if (said.ok) {
                const raw = noted(said.raw, notes);
                return { ok: true, raw: tries === 0 ? raw : { ...raw, retries: tries } };
            }
            const { trouble } = said;
            if (one.shown) io.emit({ type: "restart" });
            if (!blind && NO_PICTURES.has(trouble.status) && hasPictures(given)) {
                blind = true;
                continue;
            }
            if (constraint !== null && provider !== "openai" && NO_SCHEMA.has(trouble.status)) {
                this.unconstrained = true;
                continue;
            }
            const pause = trouble.after ?? patience.pauseMs * 2 ** tries * (0.5 + chance());
            if (!trouble.passing || tries >= patience.retries || pause > patience.maxPauseMs) return gaveUp(trouble, tries);
            if (trouble.status === 429) limiter.pause(pause);
            io.emit({ type: "pause", text: trouble.failure.message, ms: Math.round(pause) });
            try {
                await pauseFor(pause, io.signal);
            } catch {
                // The only way out of the pause but its end is the abort.
                return cancelled();
            }
        }
    }

    /** Why nothing can be sent, or null. */
    private async unready({ think, temperature }: ModelTurn): Promise<Turned | null> {
        const { uri, subject } = this;
        const { provider, baseURL, keyName, secrets } = this.setup;
        if (provider === "anthropic" && thinks(think) && temperature !== undefined) {
            const hint = "leave out temperature or think";
            return failed("model", `${uri} takes no temperature while it thinks`, { hint });
        }
        // Without its key a provider's own address says no more than that.
        if (!subject.keySent && baseURL === null) {
            const hint = `export ${keyName}=YOUR_KEY, or choose another model: --model local: or REMIT_MODEL=URI`;
            return failed("model", `${uri} needs a key, and ${keyName} is not set`, { hint });
        }
        try {
            await this.built();
            return null;
        } catch (error) {
            this.model = null;
            const why = withoutKeys(Error.isError(error) ? error.message : String(error), secrets);
            return failed("model", `${uri} cannot be set up: ${why}`, { hint: `look at ${keyName}` });
        }
    }

    private built(): Promise<SdkModel> {
        this.model ??= this.build();
        return this.model;
    }

    private async build(): Promise<SdkModel> {
        const { setup } = this;
        const { apiKey, keyName, secrets, limiter, patience } = setup;
        const key = typeof apiKey === "function" ? await apiKey() : apiKey;
        if (key !== undefined && key !== "") secrets.add({ name: keyName, value: key });
        const heard = (headers: Headers): void => {
            // PV5
            const wait = exhaustedFor(headers, Date.now());
            if (wait > 0) limiter.pause(Math.min(wait, patience.maxPauseMs));
        };
        return sdkModel({ ...setup, apiKey: key, heard });
    }

    /** One try; null where it was called off. */
    private async tried(one: Try): Promise<{ ok: true; raw: Raw } | { ok: false; trouble: Trouble } | null> {
        const { signal } = one.io;
        const { limiter } = this.setup;
        try {
            await limiter.enter(signal);
        } catch {
            // The only way out of the queue but a place is the abort.
            return null;
        }
        let tokens = 0;
        try {
            const raw = await this.once(one);
            tokens = (raw.usage?.input ?? 0) + (raw.usage?.output ?? 0);
            return { ok: true, raw };
        } catch (error) {
            if (signal.aborted) return null;
            return { ok: false, trouble: error instanceof TimeUp ? timeUp(error, this.uri) : troubleOf(error, this.subject) };
        } finally {
            limiter.leave(tokens);
        }
    }

    private async once(one: Try): Promise<Raw> {
        const { request, io, constraint } = one;
        const { provider, patience } = this.setup;
        const model = await this.built();
        using watch = watchful(io.signal, request.stream ? patience.silenceMs : patience.replyMs, patience.totalMs);
        try {
            const options = optionsOf(request, provider, constraint, watch.signal);
            const answer = request.stream ? await streamed(model, options, one, watch) : await whole(model, options, watch);
            // The body holds the prompt: it goes no further.
            const { body, ...said } = answer;
            return { ...said, model: this.uri, constrained: constraint !== null && enforced(provider, constraint, body) };
        } catch (error) {
            // An abort of this side arrives as whatever the SDK makes of it; what was meant is the signal's reason.
            throw watch.signal.aborted && watch.signal.reason instanceof TimeUp ? watch.signal.reason : error;
        }
    }
}

/** Answers of an endpoint that knows no schema. */
const NO_SCHEMA: ReadonlySet<number | null> = new Set([400, 422, 501]);

/** Answers of an endpoint whose model takes text alone. */
const NO_PICTURES: ReadonlySet<number | null> = new Set([400, 415, 422, 501]);

function gaveUp(trouble: Trouble, retries: number): Turned {
    const { failure } = trouble;
    const detail: { [key: string]: Json } = { ...(failure.detail as { [key: string]: Json } | undefined), retries };
    if (trouble.after !== null) detail.retry_after_ms = trouble.after;
    return { ok: false, failure: { ...failure, detail } };
}

function timeUp(reason: TimeUp, uri: string): Trouble {
    const hint = "AGENTSCRIPT_LLM_TIMEOUT_MS sets how long a model may be silent";
    return { failure: { kind: "timeout", message: `${uri} ${reason.message}`, hint }, passing: false, after: null, status: null };
}

function thinks(think: ModelTurn["think"]): boolean {
    return think !== undefined && think !== false;
}

// ---- constraints -----------------------------------------------------------------------------------------------------

/** What is sent as the provider's own constraint, or null where the prompt alone must do. */
function constraintOf(request: ModelTurn, schema: Json | undefined, provider: Provider, baseURL: string | null): Constraint | null {
    if (!isObject(schema)) return null;
    // An answer is an object for OpenAI and Anthropic; while tools are offered the answer of a turn need not be the result.
    if (schema.type !== "object" && provider !== "google") return null;
    const tools = (request.tools?.length ?? 0) > 0;
    if (tools && provider !== "openai") return null;
    if (provider === "anthropic" && (baseURL !== null || thinks(request.think))) return null;
    if (tools && !request.strict) return null;
    return { schema, strict: request.strict && strictly(schema) };
}

/** OpenAI's strict mode takes only schemas whose every property is required and typed and that allow no others. */
function strictly(schema: Json): boolean {
    if (!isObject(schema)) return false;
    if (schema.type === "object") {
        const properties = schema.properties;
        if (!isObject(properties) || schema.additionalProperties !== false) return false;
        const required = new Set(Array.isArray(schema.required) ? schema.required : []);
        return Object.entries(properties).every(([name, inner]) => required.has(name) && strictly(inner));
    }
    if (schema.type === "array") return strictly(schema.items ?? null);
    if (Array.isArray(schema.anyOf)) return schema.anyOf.every(strictly);
    return schema.type !== undefined || schema.enum !== undefined || schema.const !== undefined || schema.$ref !== undefined;
}

/** Whether the provider really binds its decoding: OpenAI in strict mode only, Anthropic where the request carries a format. */
function enforced(provider: Provider, constraint: Constraint, body: unknown): boolean {
    if (provider === "openai") return constraint.strict;
    if (provider !== "anthropic") return true;
    const sent: unknown = typeof body === "string" ? JSON.parse(body) : body;
    return typeof sent === "object" && sent !== null && "output_config" in sent;
}

// ---- one try ---------------------------------------------------------------------------------------------------------

interface Answer {
    readonly text: string;
    readonly thinking?: string;
    readonly calls?: readonly ToolCall[];
    readonly finish: ModelReply["finish"];
    readonly usage?: ReturnType<typeof usageOf>;
    readonly notes?: readonly string[];
    readonly body: unknown;
}

async function whole(model: SdkModel, options: SdkOptions, watch: Watch): Promise<Answer> {
    const result = await watch.within(model.doGenerate(options));
    const calls: ToolCall[] = [];
    let text = "";
    let thinking = "";
    for (const part of result.content) {
        if (part.type === "text") text += part.text;
        else if (part.type === "reasoning") thinking += part.text;
        else if (part.type === "tool-call" && part.providerExecuted !== true) calls.push(callOf(part));
    }
    const { usage, warnings, request } = result;
    return answer({ text, thinking, calls, finish: finishOf(result.finishReason), usage }, warnings, request?.body);
}

async function streamed(model: SdkModel, options: SdkOptions, one: Try, watch: Watch): Promise<Answer> {
    const { io } = one;
    const { stream, request } = await watch.within(model.doStream(options));
    const reader = stream.getReader();
    const calls: ToolCall[] = [];
    let text = "";
    let thinking = "";
    let ended: Pick<Said, "finish" | "usage"> | null = null;
    let warnings: readonly unknown[] = [];
    try {
        for (;;) {
            const { done, value: part } = await watch.within(reader.read());
            if (done) break;
            watch.heard();
            switch (part.type) {
                case "text-delta":
                    text += part.delta;
                    one.shown = true;
                    io.emit({ type: "text", delta: part.delta });
                    break;
                case "reasoning-delta":
                    thinking += part.delta;
                    io.emit({ type: "thinking", delta: part.delta });
                    break;
                case "tool-call":
                    if (part.providerExecuted !== true) calls.push(callOf(part));
                    break;
                case "stream-start":
                    warnings = part.warnings;
                    break;
                case "finish":
                    ended = { finish: finishOf(part.finishReason), usage: part.usage };
                    break;
                case "error":
                    throw part.error;
            }
        }
    } finally {
        // A reader that is still waiting must not hold the connection.
        reader.cancel().catch(() => undefined);
    }
    if (ended === null || (ended.finish === "other" && text === "" && calls.length === 0)) throw new Broken();
    return answer({ text, thinking, calls, ...ended }, warnings, request?.body);
}

/** A stream that ended without saying so. */
class Broken extends Error {
    readonly code = "ECONNRESET";
}

interface Said {
    readonly text: string;
    readonly thinking: string;
    readonly calls: readonly ToolCall[];
    readonly finish: ModelReply["finish"];
    readonly usage: SdkUsage;
}

function answer({ text, thinking, calls, finish, usage }: Said, warnings: readonly unknown[], body: unknown): Answer {
    const counted = usageOf(usage);
    const notes = warnings.map(noteOf);
    return {
        text,
        finish: calls.length > 0 && finish !== "length" ? "tool" : finish,
        body,
        ...(thinking === "" ? {} : { thinking }),
        ...(calls.length === 0 ? {} : { calls }),
        ...(counted === undefined ? {} : { usage: counted }),
        ...(notes.length === 0 ? {} : { notes }),
    };
}

function noteOf(warning: unknown): string {
    const { type, feature, details, message } = warning as { type?: string; feature?: string; details?: string; message?: string };
    return [type, feature, details ?? message].filter((word) => typeof word === "string").join(": ");
}

// ---- time ------------------------------------------------------------------------------------------------------------

interface Watch extends Disposable {
    readonly signal: AbortSignal;
    /** The provider said something. */
    heard(): void;
    /** Also ends where the promise itself does not listen to the signal. */
    within<T>(work: PromiseLike<T>): Promise<T>;
}

function watchful(outer: AbortSignal, silenceMs: number, totalMs: number): Watch {
    const controller = new AbortController();
    const seconds = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`);
    const silent = (): void => controller.abort(new TimeUp(`said nothing for ${seconds(silenceMs)}`));
    const late = (): void => controller.abort(new TimeUp(`was not done after ${seconds(totalMs)}`));
    let silence = setTimeout(silent, silenceMs);
    const total = setTimeout(late, totalMs);
    const stop = (): void => controller.abort(outer.reason);
    if (outer.aborted) stop();
    else outer.addEventListener("abort", stop, { once: true });
    const aborted = new Promise<never>((_, reject) => {
        controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
        if (controller.signal.aborted) reject(controller.signal.reason);
    });
    // There may be no waiting caller when it is rejected.
    aborted.catch(() => undefined);
    return {
        signal: controller.signal,
        heard: () => {
            clearTimeout(silence);
            silence = setTimeout(silent, silenceMs);
        },
        within: (work) => Promise.race([work, aborted]),
        [Symbol.dispose]: () => {
            clearTimeout(silence);
            clearTimeout(total);
            outer.removeEventListener("abort", stop);
        },
    };
}
