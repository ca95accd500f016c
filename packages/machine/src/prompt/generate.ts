/**
 * `generate`: from a set-up to a value, as a coroutine whose whole state is plain JSON.
 *
 * Boundary: pure. It says which effects it needs and is continued with their outcomes, all of one step together, in the order in which the
 * effects were given. The caller performs them, keeps the state in its continuation, counts usage against budgets and writes the events.
 *
 * Flow: describe the tools, count tokens where a budget is in tokens, then up to `attempts` times: send the prompt, let the model call
 * tools for up to `turns` provider turns, check the answer.
 *
 * GA1: a further attempt is made only for a reply without an answer: not JSON, against the contract, cut off, or a refusal in words. What the
 *     provider itself refuses or cannot deliver ends the generate at once. After the last attempt a cut-off answer and a refusal are told
 *     as what they are, never as a malformed answer.
 * GA2, GA3, GA7: what becomes of the model's calls stands in `calls.ts`.
 * GA4: the value carries the origins of the whole prompt, of every tool result that was shown, and `model:NAME`.
 * GA6: a model that says what it is going to do, and calls none of the tools that it is offered, is told so, at most `nudges` times in a row, where
 *     the answer is free text.
 * GA5: where tools were called, a further attempt goes on from the conversation so far, so that no call is made twice.
 */
import { defined, isObject, type Json, resourceOf } from "@remit/language";
import type { Runtime } from "../builtin/builtin.ts";
import { type Failure, type Message, type ModelReply, type ModelTurn, opOf, type Outcome, type ToolCall } from "../effect/effect.ts";
import { addUsage } from "../effect/usage.ts";
import { Fail } from "../effect/failure.ts";
import type { Gatekeeper } from "../state/gatekeeper.ts";
import { continueFit, countsOf, type Fit, shownItems } from "./budget.ts";
import { feedbackText, instructionText, type Rejection } from "./feedback.ts";
import { messagesOf } from "./layers.ts";
import { isNarration, NARRATED, NUDGE } from "./narration.ts";
import { type Calling, callsDone, type Inner, startCalls } from "./calls.ts";
import { type Filled, fill, NoReference, widened } from "./hidden.ts";
import { resultsOf } from "./image.ts";
import { importsOf, offersOf } from "./offers.ts";
import { HIDING_TOOLS } from "./reader.ts";
import { wholeBody } from "./render.ts";
import { attemptData, endedData, resultData, startedData } from "./report.ts";
import { checkResult, resultSchema } from "./result.ts";
import { DEFAULT_TURNS, type GenerateSetup, type GenerateStep, type StepEffect, type StepEvent } from "./setup.ts";
import { originsUnion, prepare, type State } from "./state.ts";

export function startGenerate(setup: GenerateSetup, rt: Runtime): GenerateStep {
    let state: State;
    try {
        state = prepare(setup, rt);
    } catch (problem) {
        if (!(problem instanceof Fail)) throw problem;
        return { state: null, events: [], failure: problem.toFailure(), origins: rt.labels.origins(problem.labels), usage: {} };
    }
    if (state.tools.length === 0) return fit(state, []);
    const effects = importsOf(state.tools).map(
        (tool): StepEffect => ({
            suffix: `describe[${tool.name}]`,
            kind: "tool",
            request: { op: "describe", tool: tool.name, uri: tool.uri, file: tool.file },
            labels: [],
        }),
    );
    return suspend({ ...state, phase: "describe" }, [], effects);
}

/** Name of the model that is asked. */
export function askedModel(state: Json): string {
    return (state as unknown as State).model.name;
}

/** Goes on with the outcomes of the effects of the step that gave `state`. */
export function continueGenerate(state: Json, outcomes: readonly Outcome[], gate: Gatekeeper): GenerateStep {
    const now = state as unknown as State;
    switch (now.phase) {
        case "describe":
            return described(now, outcomes);
        case "count":
            return counted(now, outcomes);
        case "turn":
            return replied(now, outcomes[0] as Outcome, gate);
        case "calls":
            return called([], callsDone(now, outcomes, gate, innerOf(gate)));
    }
}

// ---- before the first attempt ------------------------------------------------------------------------------------------

function described(state: State, outcomes: readonly Outcome[]): GenerateStep {
    const events = importsOf(state.tools).map((tool, at): StepEvent => {
        const outcome = outcomes[at] as Outcome;
        const data = { effect: "tool", op: "describe", tool: tool.name, uri: tool.uri, ...resultData(outcome) };
        return { kind: "effect.ended", suffix: `describe[${tool.name}]`, data, labels: originsUnion(outcome.ok ? outcome.origins : []) };
    });
    const failed = outcomes.find((outcome) => !outcome.ok);
    const good = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : []));
    // What the runtime says of its own tools is no word of theirs, and what the lock pins a person has looked at.
    const saidBy = importsOf(state.tools).map(({ name, uri }, at) =>
        resourceOf(uri) === null && !isPinned(outcomes[at]) ? originsUnion([`tool:${name}`], outcomes[at]?.origins ?? []) : [],
    );
    const told = { ...state, origins: originsUnion(state.origins, ...saidBy) };
    if (failed !== undefined && !failed.ok) return notStarted(told, failed.failure, events);
    try {
        const offers = offersOf(state.tools, good);
        return fit({ ...told, offers }, events);
    } catch (problem) {
        if (!(problem instanceof Fail)) throw problem;
        return notStarted(told, problem.toFailure(), events);
    }
}

function isPinned(outcome: Outcome | undefined): boolean {
    return outcome?.ok === true && isObject(outcome.value) && outcome.value.pinned === true;
}

/** Counts what still has to be counted; where nothing has, the prompt is known and the first attempt begins. */
function fit(state: State, events: readonly StepEvent[]): GenerateStep {
    const items = countsOf(state.fit);
    if (items !== null) {
        const request = { op: "count", model: state.model, items } as unknown as Json;
        const suffix = countSuffix(state.counts);
        return suspend({ ...state, phase: "count", counts: state.counts + 1 }, events, [
            { suffix, kind: "model", request, labels: state.origins },
        ]);
    }
    const fitted: Fit = { ...state.fit, items: state.fit.items.map((item) => ({ ...item, body: wholeBody(item.body) })) };
    return attempt({ ...state, fit: fitted }, [...events, started(state)]);
}

function counted(state: State, outcomes: readonly Outcome[]): GenerateStep {
    const outcome = outcomes[0] as Outcome;
    const data = { op: "count", model: { ...state.model }, ...resultData(outcome) };
    const events: StepEvent[] = [{ kind: "model.ended", suffix: countSuffix(state.counts - 1), data, labels: state.origins }];
    if (!outcome.ok) return notStarted(state, outcome.failure, events);
    const reply = outcome.value;
    const items = isObject(reply) && Array.isArray(reply.items) ? reply.items : [];
    const answers = items.map((item) => {
        const { fits, tokens, total } = isObject(item) ? item : {};
        return { fits: Number(fits ?? 0), tokens: Number(tokens ?? 0), total: Number(total ?? 0) };
    });
    if (
        answers.length !== countsOf(state.fit)?.length ||
        answers.some((answer) => Number.isNaN(answer.fits + answer.tokens + answer.total))
    )
        return notStarted(
            state,
            { kind: "model", message: `The tokens of the prompt could not be counted for ${state.model.uri}` },
            events,
        );
    const tokenizer = isObject(reply) && typeof reply.tokenizer === "string" ? reply.tokenizer : state.tokenizer;
    return fit({ ...state, fit: continueFit(state.fit, answers), tokenizer }, events);
}

function countSuffix(nth: number): string {
    return nth === 0 ? "count" : `count[${nth}]`;
}

function started(state: State): StepEvent {
    return { kind: "generate.started", suffix: "", data: startedData(state), labels: state.origins };
}

/** The end of a generate that never sent anything: the ledger still says what it was. */
function notStarted(state: State, failure: Failure, events: readonly StepEvent[]): GenerateStep {
    return fail(state, [...events, started(state)], failure);
}

// ---- one attempt -------------------------------------------------------------------------------------------------------

/** Begins an attempt: the prompt anew, or, after tool calls, the conversation so far and what was wrong. */
function attempt(state: State, events: readonly StepEvent[]): GenerateStep {
    if (state.called && state.rejection !== null) {
        const feedback: Message = { role: "user", content: [{ type: "text", text: feedbackText(state.rejection) }] };
        return turn({ ...state, messages: [...state.messages, feedback], turn: 0 }, events);
    }
    const messages = messagesOf({
        role: state.identity.role,
        description: state.identity.description,
        items: shownItems(state.fit.items),
        instruction: instructionText(state.instruction, state.rejection),
        ...(state.contract === undefined ? {} : { schema: resultSchema(state.contract, state.shapes) }),
    });
    return turn({ ...state, messages, carried: 0, turn: 0 }, events);
}

/** Whether a request is the present turn of a state, and so follows from it; a reader's does not. */
export function isTurnOf(state: Json, request: Json): boolean {
    return opOf(request) === "turn" && (state as unknown as State).phase === "turn";
}

/** What the model is asked in the present turn of a state. */
export function turnOf(given: Json): ModelTurn {
    const state = given as unknown as State;
    const { options } = state;
    return {
        op: "turn",
        model: state.model,
        messages: state.messages,
        strict: options.strict,
        stream: options.stream,
        debug: options.debug,
        label: state.label,
        ...(state.contract === undefined ? {} : { contract: state.contract, shapes: state.shapes }),
        ...defined({ maxOutput: options.max_output, temperature: options.temperature, think: options.think }),
        ...(state.offers.length === 0
            ? {}
            : {
                  tools: [
                      ...state.offers.map(({ name, description, input }) => ({
                          name,
                          ...(description === undefined ? {} : { description }),
                          input: state.hidden === undefined ? input : widened(input),
                      })),
                      ...(state.hidden === undefined ? [] : HIDING_TOOLS),
                  ],
              }),
    };
}

/** One provider turn. */
function turn(state: State, events: readonly StepEvent[]): GenerateStep {
    const { timeout } = state.options;
    const effect: StepEffect = {
        suffix: turnSuffix(state),
        kind: "model",
        request: turnOf(state as unknown as Json) as unknown as Json,
        labels: state.origins,
        ...(timeout === undefined ? {} : { deadline: timeout }),
    };
    return suspend({ ...state, phase: "turn" }, events, [effect]);
}

function turnSuffix(state: State): string {
    return state.turn === 0 ? `attempt[${state.attempt}]` : `attempt[${state.attempt}]/turn[${state.turn}]`;
}

function replied(before: State, outcome: Outcome, gate: Gatekeeper): GenerateStep {
    const usage = addUsage(before.usage, outcome.usage);
    if (!outcome.ok) {
        const state: State = { ...before, usage, origins: originsUnion(before.origins, outcome.origins ?? []) };
        return fail(state, [attempted(state, outcome, null, outcome.failure.message)], outcome.failure);
    }
    const reply = replyOf(outcome.value);
    const state: State = { ...before, usage, origins: originsUnion(before.origins, outcome.origins, [`model:${before.model.name}`]) };
    if (reply === null) {
        const message = `${state.model.uri} gave no reply that can be read`;
        return fail(state, [attempted(state, outcome, null, message)], { kind: "model", message });
    }
    const verdict = judge(reply, state);
    const error =
        verdict.kind === "value" || verdict.kind === "calls"
            ? null
            : verdict.kind === "nudge"
              ? NARRATED
              : verdict.kind === "fail"
                ? verdict.failure.message
                : verdict.rejection.message;
    const events = [attempted(state, outcome, reply, error, verdict.kind === "nudge")];
    const carried = state.messages.length;
    switch (verdict.kind) {
        case "fail":
            return fail(state, events, verdict.failure);
        case "value":
            return succeed({ ...state, origins: originsUnion(state.origins, verdict.origins) }, events, verdict.value, verdict.truncated);
        case "calls": {
            const said: Message = { role: "assistant", content: reply.text, calls: verdict.calls };
            const turned = { ...state, messages: [...state.messages, said], carried: carried + 1, called: true, nudged: 0 };
            return called(events, startCalls(turned, verdict.calls, gate, innerOf(gate)));
        }
        case "nudge": {
            const said: Message = { role: "assistant", content: reply.text };
            const told: Message = { role: "user", content: [{ type: "text", text: NUDGE }] };
            // Providers refuse a message with nothing in it.
            const messages = [...state.messages, ...(reply.text.trim() === "" ? [] : [said]), told];
            return turn(
                { ...state, messages, carried: messages.length - 1, nudged: (state.nudged ?? 0) + 1, turn: state.turn + 1 },
                events,
            );
        }
        case "retry": {
            const errors = [...state.errors, verdict.rejection.message];
            if (state.attempt + 1 >= state.options.attempts) {
                const { message, rejected } = verdict.rejection;
                const detail: { [key: string]: Json } = { errors, ...(rejected === undefined ? {} : { rejected }) };
                return fail({ ...state, errors }, events, { ...(verdict.last ?? { kind: "contract", message }), detail });
            }
            const said: Message = { role: "assistant", content: reply.text };
            const messages = state.called ? [...state.messages, said] : state.messages;
            return attempt(
                { ...state, errors, messages, carried: messages.length, rejection: verdict.rejection, attempt: state.attempt + 1 },
                events,
            );
        }
    }
}

type Verdict =
    /** `origins`: of what references filled in. */
    | { readonly kind: "value"; readonly value: Json; readonly truncated: boolean; readonly origins: readonly string[] }
    | { readonly kind: "calls"; readonly calls: readonly ToolCall[] }
    | { readonly kind: "nudge" }
    /** `last`: the failure where no attempt is left; `contract` with the rejection's message where absent. */
    | { readonly kind: "retry"; readonly rejection: Rejection; readonly last?: Failure }
    | { readonly kind: "fail"; readonly failure: Failure };

/** The bound is the program's, and no bound of a run. */
export const TURNS_WRITTEN = "give this generate more `turns:` in the program";

/** What a reply amounts to (GA1). A message names the model that answered, which a caller may have put in place of the one that is imported. */
function judge(given: ModelReply, state: State): Verdict {
    const { reply, origins, used } = answerOf(given, state);
    const { error, finish } = reply;
    const calls = reply.calls ?? [];
    if (finish === "refusal" || error?.kind === "refused") {
        // HID3. What the model wrote, not what its references stand for.
        const said = error?.message ?? given.text;
        const failure: Failure = { kind: "refusal", message: `${given.model} refused to answer${quoted(said)}` };
        // That words are a refusal is a guess; that the provider says so is not.
        return finish === "refusal"
            ? { kind: "fail", failure }
            : { kind: "retry", rejection: { message: NOT_JSON + excerpt(said) }, last: failure };
    }
    if (calls.length > 0 && state.offers.length > 0 && error?.kind !== "truncated") {
        if (state.turn + 1 >= (state.options.turns ?? DEFAULT_TURNS)) {
            const turns = state.turn + 1;
            const message = `${given.model} still called tools after ${turns} ${turns === 1 ? "turn" : "turns"}`;
            return { kind: "fail", failure: { kind: "limit.turns", message, hint: `${TURNS_WRITTEN}, or ask for less in one` } };
        }
        return { kind: "calls", calls };
    }
    if (isNudged(given, state)) return { kind: "nudge" };
    if (state.contract === undefined)
        return { kind: "value", value: reply.value === undefined ? reply.text : reply.value, truncated: finish === "length", origins };
    if (reply.value === undefined && (finish === "length" || error?.kind === "truncated")) {
        const limit = state.options.max_output;
        const message = `${given.model} stopped at its output limit${limit === undefined ? "" : ` of ${limit} tokens`} before the answer was complete`;
        const last: Failure = { kind: "model", message, hint: "raise max_output, or ask for a shorter answer" };
        return {
            kind: "retry",
            rejection: { message: "The output limit was reached before the answer was complete. Answer more briefly." },
            last,
        };
    }
    if (reply.value === undefined) {
        if (error === undefined)
            return {
                kind: "retry",
                rejection: { message: calls.length > 0 ? "LLM called a tool although none was offered" : NOT_JSON + excerpt(given.text) },
            };
        const notJson = error.kind === "not_json" || error.kind === "ambiguous" || error.kind === "empty";
        const message = notJson && !error.message.startsWith(NOT_JSON) ? NOT_JSON + error.message : error.message;
        return { kind: "retry", rejection: { message, ...(error.rejected === undefined ? {} : { rejected: error.rejected }) } };
    }
    const checked = checkResult(reply.value, state.contract, state.shapes, state.options.strict);
    if (checked.ok) return { kind: "value", value: checked.value, truncated: false, origins };
    // HID3. What is wrong with a value is told in its own words.
    if (used)
        return {
            kind: "retry",
            rejection: { message: "What the references stand for does not match the schema.", rejected: given.value ?? null },
        };
    return { kind: "retry", rejection: { message: checked.message, rejected: reply.value } };
}

/** A reply with the references of its answer filled. */
function answerOf(reply: ModelReply, { hidden }: State): { readonly reply: ModelReply } & Pick<Filled, "origins" | "used"> {
    const nothing = { reply, origins: [], used: false };
    if (hidden === undefined || hidden.length === 0 || (reply.calls ?? []).length > 0) return nothing;
    try {
        if (reply.value === undefined) {
            const { json, ...told } = fill(reply.text, hidden);
            return { ...told, reply: { ...reply, text: typeof json === "string" ? json : JSON.stringify(json) } };
        }
        const { json, ...told } = fill(reply.value, hidden);
        return { ...told, reply: { ...reply, value: json } };
    } catch (problem) {
        if (!(problem instanceof NoReference)) throw problem;
        return { ...nothing, reply: { ...reply, value: undefined, error: { kind: "shape", message: problem.message } } };
    }
}

/** GA6. */
function isNudged({ text, finish, value }: ModelReply, { contract, offers, options, nudged = 0, turn }: State): boolean {
    if (contract !== undefined || offers.length === 0 || value !== undefined || finish === "length") return false;
    return nudged < (options.nudges ?? 0) && turn + 1 < (options.turns ?? DEFAULT_TURNS) && isNarration(text);
}

const NOT_JSON = "LLM provider did not return JSON: ";
const FINISHES = new Set(["stop", "length", "tool", "refusal", "other"]);

/** The outcome of a `model` turn as a reply; null where it is not one. */
function replyOf(value: Json): ModelReply | null {
    if (!isObject(value) || typeof value.text !== "string") return null;
    if (typeof value.finish !== "string" || !FINISHES.has(value.finish)) return null;
    const calls = Array.isArray(value.calls) ? value.calls : [];
    if (!calls.every((call) => isObject(call) && typeof call.id === "string" && typeof call.name === "string")) return null;
    return value as unknown as ModelReply;
}

function excerpt(text: string): string {
    const flat = text.trim();
    return flat === "" ? "the reply is empty" : flat.length > 200 ? `${Array.from(flat.slice(0, 201)).slice(0, -1).join("")}…` : flat;
}

function quoted(text: string): string {
    return text.trim() === "" ? "" : `: ${excerpt(text)}`;
}

function attempted(state: State, outcome: Outcome, reply: ModelReply | null, error: string | null, isNudged = false): StepEvent {
    const data = { ...attemptData(state, outcome, reply, error), ...(isNudged ? { nudged: true } : {}) };
    return { kind: "generate.attempt", suffix: turnSuffix(state), data, labels: state.origins };
}

// ---- tool calls --------------------------------------------------------------------------------------------------------

/** A reader's own `generate`, which has no tools and so asks no gate. */
function innerOf(gate: Gatekeeper): Inner {
    return { begin: (state) => fit(state, []), goOn: (state, outcome) => continueGenerate(state, [outcome], gate) };
}

/** Performs what is waiting to be asked or called; where nothing is, the results go back to the model. */
function called(before: readonly StepEvent[], calling: Calling): GenerateStep {
    const { state, effects, ended } = calling;
    const events = [...before, ...calling.events];
    if (ended !== undefined) return fail(state, events, ended);
    if (effects.length > 0) return suspend({ ...state, phase: "calls" }, events, effects);
    const messages = [...state.messages, ...resultsOf(state.calls)];
    return turn({ ...state, messages, calls: [], turn: state.turn + 1 }, events);
}

// ---- steps and ends ----------------------------------------------------------------------------------------------------

function suspend(state: State, events: readonly StepEvent[], effects: readonly StepEffect[]): GenerateStep {
    return { state: state as unknown as Json, events, effects };
}

function succeed(state: State, events: readonly StepEvent[], value: Json, truncated: boolean): GenerateStep {
    const ended: StepEvent = { kind: "generate.ended", suffix: "", data: endedData(state, { value, truncated }), labels: state.origins };
    return { state: null, events: [...events, ended], value, origins: state.origins, usage: state.usage };
}

function fail(state: State, events: readonly StepEvent[], failure: Failure): GenerateStep {
    const { origins } = state;
    const ended: StepEvent = { kind: "generate.ended", suffix: "", data: endedData(state, { failure }), labels: origins };
    return { state: null, events: [...events, ended], failure, origins, usage: state.usage };
}
