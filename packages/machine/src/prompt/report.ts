/**
 * What the ledger says about a `generate`: the data of `generate.started`, `generate.attempt` and `generate.ended`, and of a question about
 * a model's tool call.
 *
 * Boundary: from the coroutine's state to JSON.
 *
 * `generate.started`: `label, agent, model {name, uri}, config, identity {role, description}, items[], instruction {text, kind, labels},
 * schema, total, tokenizer, tools[], scope`. Each item: `index, source, label, heading, text, labels, priority, budget, clipped,
 * original_size, clipped_size, strategy, cut, shown, site, variant, file`.
 * `generate.attempt` (one for each provider turn): `label, agent, model {name, uri}, attempt, turn, carried, messages, reply, reply_origins,
 * finish, answered_by, usage, error, failure, nudged`. `messages` are those exactly as sent after the first `carried`, which are the ones of the
 * turn before and its reply. `reply` is the whole of what the provider's turn gave.
 * `tool.ended` of a model's call holds the whole result, and `shown` where the model was shown less of it: `{limit, original_size, clipped_size}`, or
 * `{hidden}` with the name of the reference that it was shown.
 * The effects around the turns have their own events: `effect.ended` for a tool's description, `model.ended` for a count, `tool.started`,
 * `tool.ended`, `ask.requested`, `ask.decided` for the model's calls.
 * `generate.ended`: `attempts, validation {ok, strict}, result, ok, error, errors[], truncated, usage`.
 */
import type { Json } from "@remit/language";
import type { Failure, ModelReply, Outcome } from "../effect/effect.ts";
import type { FitItem } from "./budget.ts";
import { clipReport } from "./clip.ts";
import { fileSize } from "./image.ts";
import type { Offer } from "./offers.ts";
import { originsOf, textOf } from "./render.ts";
import { resultSchema } from "./result.ts";
import type { Call, State } from "./state.ts";

type JsonObject = { [key: string]: Json };

export function startedData(state: State): Json {
    const { options, fit } = state;
    return {
        label: state.label,
        agent: state.agent,
        model: { ...state.model },
        config: {
            max_output: options.max_output ?? null,
            attempts: options.attempts,
            temperature: options.temperature ?? null,
            think: options.think ?? false,
            strict: options.strict,
            debug: options.debug,
            stream: options.stream,
            turns: options.turns ?? null,
            ...(options.nudges === undefined ? {} : { nudges: options.nudges }),
            ...(options.hide === undefined ? {} : { hide: options.hide }),
            timeout: options.timeout ?? null,
        },
        identity: { ...state.identity },
        items: fit.items.map(itemData),
        instruction: { text: state.instruction.text, kind: state.instruction.kind, labels: [...state.instructionOrigins] },
        schema: state.contract === undefined ? null : resultSchema(state.contract, state.shapes),
        total: fit.total === undefined ? null : { amount: fit.total.amount, unit: fit.total.unit, text: fit.total.text },
        ...(state.tokenizer === undefined ? {} : { tokenizer: state.tokenizer }),
        tools: state.offers.map((offer) => ({
            name: offer.name,
            tool: offer.tool,
            method: offer.method,
            uri: offer.uri,
            read_only: offer.readOnly,
        })),
        ...(state.scope === undefined ? {} : { scope: [...state.scope] }),
    };
}

function itemData(item: FitItem): Json {
    const data: JsonObject = {
        index: item.index,
        source: item.source,
        label: item.label,
        heading: item.heading,
        text: textOf(item.body),
        labels: originsOf(item.body),
        priority: item.priority,
        ...clipReport(item, item.budget),
        shown: item.shown,
    };
    if (item.site !== undefined) data.site = item.site as unknown as Json;
    if (item.cut !== undefined) data.cut = { ...item.cut };
    if (item.variant !== undefined) data.variant = item.variant;
    if (item.file !== undefined)
        data.file = { media_type: item.file.mediaType, base64_length: item.file.data.length, tokens: fileSize(item.file, "tokens") };
    return data;
}

export function attemptData(state: State, outcome: Outcome, reply: ModelReply | null, error: string | null): JsonObject {
    const { usage } = outcome;
    const failure = outcome.ok ? undefined : outcome.failure;
    const origins = outcome.ok ? outcome.origins : [];
    const data = {
        label: state.label,
        agent: state.agent,
        model: state.model,
        attempt: state.attempt,
        turn: state.turn,
        carried: state.carried,
        messages: state.messages.slice(state.carried),
        reply: reply ?? null,
        reply_origins: [...origins],
        finish: reply?.finish ?? null,
        answered_by: reply?.model ?? null,
        usage: usage ?? null,
        error,
        ...(failure === undefined ? {} : { failure }),
    };
    return data as unknown as JsonObject;
}

export function endedData(state: State, end: { value: Json; truncated: boolean } | { failure: Failure }): Json {
    const ok = "value" in end;
    return {
        attempts: state.messages.length === 0 ? 0 : state.attempt + 1,
        validation: state.contract === undefined ? null : { ok, strict: state.options.strict },
        result: ok ? end.value : null,
        ok,
        error: ok ? null : end.failure.message,
        ...(ok ? {} : { kind: end.failure.kind }),
        errors: [...state.errors],
        ...(ok && end.truncated ? { truncated: true } : {}),
        usage: { ...state.usage } as JsonObject,
    };
}

/** How an effect ended: its value, or the kind and message of its failure and the whole of it. */
export function resultData(outcome: Outcome): JsonObject {
    if (outcome.ok) return { ok: true, result: outcome.value };
    return { ok: false, kind: outcome.failure.kind, error: outcome.failure.message, failure: outcome.failure as unknown as Json };
}

/** A tool call, as the events of calls from the program's own text have it, and who chose it. */
export function toolData(offer: Offer, call: Call): JsonObject {
    const scheme = offer.uri.slice(0, Math.max(0, offer.uri.indexOf(":")));
    return { tool: offer.tool, method: offer.method, scheme, uri: offer.uri, args: [call.args], chosen_by: "model" };
}
