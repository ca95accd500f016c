/**
 * The tool calls of one turn of a `generate`: judged, asked about, made, and told to the model.
 *
 * Boundary: pure, as `generate.ts`, which begins turns and ends the whole. A reader's own `generate` is that file's too and is given as functions.
 *
 * GA2: a call of the model never reaches a tool that was not offered, nor with arguments its schema does not take, nor past the gate: what it
 *     refuses is told to the model, what it wants asked is asked.
 * GA3: a tool that fails is a result the model sees. Limits, violations and cancellation end the generate.
 *     A result longer than `RESULT_LIMIT` is shown cut, and says so; the ledger has the whole. Its pictures follow it in a message (SHO3).
 * GA7: where what is not trusted is hidden, a result that the gate does not trust is told as a reference (HID1), and so is what a reader answers. Neither
 *     is among what the model has seen; what a call was given by a reference carries its origins, argument by argument. A look is judged as a use of
 *     the model, `Claude.look`; what it shows the model has seen.
 */
import { defined, isObject, type Json, LOOK, shownUse, statedOrigin } from "@remit/language";
import { ANSWERS, FAILURE_KINDS, type Failure, type Outcome, type ToolCall, type ToolRequest } from "../effect/effect.ts";
import { ABORTED } from "../effect/failure.ts";
import { addUsage } from "../effect/usage.ts";
import type { Gatekeeper } from "../state/gatekeeper.ts";
import { describedShape, type Filled, fill, type Hidden, nameOf, NoReference } from "./hidden.ts";
import { checkCall, type Offer } from "./offers.ts";
import { askedOf, lookedAt, lookOffer, READER, readerState } from "./reader.ts";
import { resultData, toolData } from "./report.ts";
import type { GenerateStep, StepEffect, StepEvent } from "./setup.ts";
import { shownResult } from "./shown.ts";
import { type Call, originsUnion, type State } from "./state.ts";

/** What a turn's calls have come to: effects to perform, or none where the model can be told all of them. */
export interface Calling {
    readonly state: State;
    readonly events: readonly StepEvent[];
    readonly effects: readonly StepEffect[];
    /** It ends the generate. */
    readonly ended?: Failure;
}

/** A `generate` inside of this one. */
export interface Inner {
    begin(state: State): GenerateStep;
    goOn(state: Json, outcome: Outcome): GenerateStep;
}

/**
 * Those that are not valid are answered at once, those that only read are made, the others are asked about; what was allowed is made when everything of
 * this step is back.
 */
export function startCalls(state: State, calls: readonly ToolCall[], gate: Gatekeeper, inner: Inner): Calling {
    const turn = new Turn(state, gate);
    const made = calls.map((call, at) => turn.begun({ id: call.id, name: call.name, args: call.args ?? {} }, call, at, inner));
    return turn.step(made);
}

export function callsDone(state: State, outcomes: readonly Outcome[], gate: Gatekeeper, inner: Inner): Calling {
    let next = 0;
    const turn = new Turn(state, gate);
    const calls = state.calls.map((call, at) => (call.stage === "done" ? call : turn.back(call, at, outcomes[next++] as Outcome, inner)));
    return turn.step(calls);
}

/** What all calls of a step change together. */
class Turn {
    private readonly before: State;
    private readonly gate: Gatekeeper;
    private readonly events: StepEvent[] = [];
    /** What readers ask next, by call. */
    private readonly asking = new Map<number, StepEffect>();
    private hidden: readonly Hidden[] | undefined;
    /** What a call shows is seen in the next turn: it chose none of its siblings. */
    private seen: readonly string[];
    private usage: State["usage"];
    private ended: Failure | undefined;

    constructor(state: State, gate: Gatekeeper) {
        this.before = state;
        this.gate = gate;
        this.hidden = state.hidden;
        this.seen = state.origins;
        this.usage = state.usage;
    }

    begun(call: Pick<Call, "id" | "name" | "args">, said: ToolCall, at: number, inner: Inner): Call {
        const { hidden, origins } = this.before;
        if (hidden !== undefined && said.unread === undefined && call.name === READER) return this.reads(call, hidden, at, inner);
        if (hidden !== undefined && said.unread === undefined && call.name === LOOK) return this.looks(call, hidden, at);
        const filled = hidden === undefined ? null : filledIn(call.args, hidden);
        if (filled !== null && "error" in filled) return done(call, toolError(filled.error));
        // Whose keys a reference chose has no argument of the model's own.
        if (filled?.used === true && !isObject(call.args))
            return done(call, toolError(`A reference stands in an argument of ${call.name}, not for all of them. The call was not made.`));
        const args = filled === null ? call.args : filled.json;
        const checked = checkCall({ ...said, args }, this.before.offers);
        if ("error" in checked)
            return done(
                call,
                toolError(
                    filled?.used === true
                        ? `What the references stand for is no argument of ${call.name}, so it was not called.`
                        : checked.error,
                ),
            );
        const carried = filled?.used === true ? { carried: Object.fromEntries(filled.named) } : {};
        const judged = this.gate.judge(checked.offer, args, { origins, ...carried }, callSuffix(this.before, at));
        if (judged.kind === "refused") {
            this.toldBy(judged.by ?? []);
            // HID3. A refusal shows the value that it is about.
            const why =
                filled?.used === true ? `The program does not let ${call.name} have what the references stand for.` : judged.message;
            return done(call, toolError(`${why} The call was not made.`));
        }
        const going = { ...call, args, ...carried, ...judged.reach };
        return judged.kind === "may" ? { ...going, stage: "call" } : { ...going, stage: "ask", detail: judged.detail };
    }

    private reads(call: Pick<Call, "id" | "name" | "args">, hidden: readonly Hidden[], at: number, inner: Inner): Call {
        const asked = askedOf(call.args, hidden);
        if ("error" in asked) return done(call, toolError(asked.error));
        return this.reading(call, at, inner.begin(readerState(this.before, asked)));
    }

    private looks(call: Pick<Call, "id" | "name" | "args">, hidden: readonly Hidden[], at: number): Call {
        const meant = lookedAt(call.args, hidden);
        if ("error" in meant) return done(call, toolError(meant.error));
        const { origins } = this.before;
        const judged = this.gate.judge(this.lookOffer(), shows(call.args, meant), { origins }, callSuffix(this.before, at));
        if (judged.kind === "refused") return done(call, toolError(`${judged.message} It is not shown.`));
        return judged.kind === "may" ? this.shown(call, meant) : { ...call, stage: "ask", detail: judged.detail };
    }

    private lookOffer(): Offer {
        return lookOffer(this.before, this.before.modelFile ?? "");
    }

    private shown(call: Pick<Call, "id" | "name" | "args">, { value, origins }: Hidden): Call {
        this.seen = originsUnion(this.seen, origins);
        const { result, files } = shownResult(value);
        return { ...done(call, result), files };
    }

    /** Who decided that a call is refused. A loop that hides is told whether a call came through, and nothing else of it. */
    private toldBy(by: readonly string[]): void {
        if (this.hidden === undefined) this.seen = originsUnion(this.seen, by);
    }

    /** A call whose effect came back. */
    back(call: Call, at: number, outcome: Outcome, inner: Inner): Call {
        if (call.stage === "read") return this.reading(call, at, inner.goOn(call.inner ?? null, outcome));
        if (!outcome.ok && FAILURE_KINDS[outcome.failure.kind] !== "failure") this.ended ??= outcome.failure;
        return call.stage === "ask" ? this.answered(call, at, outcome) : this.performed(call, at, outcome);
    }

    private answered(call: Call, at: number, outcome: Outcome): Call {
        const { origins, hidden = [] } = this.before;
        const isLook = this.before.hidden !== undefined && call.name === LOOK;
        const offer = isLook ? this.lookOffer() : this.offerOf(call);
        const carried = call.carried === undefined ? {} : { carried: call.carried };
        const { yes, decision, described, daily, used } = this.gate.answer(offer, call.args, { origins, ...carried }, outcome);
        this.events.push({
            kind: "ask.decided",
            suffix: `${callSuffix(this.before, at)}/ask`,
            data: { decision, ...resultData(outcome) },
            labels: [],
        });
        if (decision === "abort") this.ended = ABORTED;
        if (yes && isLook) {
            const meant = lookedAt(call.args, hidden);
            return "error" in meant ? done(call, toolError(meant.error)) : this.shown(call, meant);
        }
        if (yes) return { ...call, stage: "call", allowed: described, ...(daily === undefined ? {} : { daily }) };
        if (used !== undefined) this.toldBy(used.by);
        const why = used !== undefined && call.carried === undefined ? `: ${used.why}` : outcome.ok ? "" : `: ${outcome.failure.message}`;
        return done(call, toolError(`The call of ${call.name} was not allowed${why}. It was not made.`));
    }

    private performed(call: Call, at: number, outcome: Outcome): Call {
        const offer = this.offerOf(call);
        const suffix = callSuffix(this.before, at);
        // That it was within a count says as much as that it would not have been.
        this.toldBy(this.gate.within(offer, call.args));
        // A result or an error may repeat what references stood for, whatever the tool is trusted with (HID3).
        const told = outcome.origins ?? [];
        const source = `tool:${offer.tool}`;
        const own = originsUnion(told.includes(statedOrigin(source)) ? [] : [source], told, ...Object.values(call.carried ?? {}));
        // The model sees all of it, so every part counts.
        const labels = originsUnion(own, ...(outcome.ok ? Object.values(outcome.parts ?? {}) : []));
        const about = { ...toolData(offer, call), ...resultData(outcome) };
        if (this.hidden !== undefined && this.gate.hides(labels)) {
            const value = outcome.ok ? outcome.value : outcome.failure.message;
            const parts = outcome.ok && outcome.parts !== undefined ? { parts: outcome.parts } : {};
            const result = this.kept({ value, origins: own, ...parts }, offer.uri);
            this.events.push({ kind: "tool.ended", suffix, data: { ...about, shown: { hidden: result.hidden } }, labels });
            return done(call, outcome.ok ? result : { isError: true, ...result });
        }
        const shown = shownResult(outcome.ok ? outcome.value : outcome.failure.message);
        this.events.push({
            kind: "tool.ended",
            suffix,
            data: { ...about, ...(shown.cut === undefined ? {} : { shown: { ...shown.cut } }) },
            labels,
        });
        this.seen = originsUnion(this.seen, labels);
        return { ...done(call, outcome.ok ? shown.result : toolError(String(shown.result))), files: shown.files };
    }

    /** What the model sees of a value that it does not see. */
    private kept(value: Hidden, uri: string | null): { readonly hidden: string; readonly is: string } {
        const known = this.hidden ?? [];
        this.hidden = [...known, value];
        return { hidden: nameOf(known.length), is: describedShape(value.value, uri) };
    }

    private reading(call: Pick<Call, "id" | "name" | "args">, at: number, step: GenerateStep): Call {
        const suffix = `${callSuffix(this.before, at)}/${READER}`;
        const within = (inner: string): string => (inner === "" ? suffix : `${suffix}/${inner}`);
        this.events.push(...step.events.map((e) => ({ ...e, suffix: within(e.suffix), ...(e.suffix === "" ? {} : { under: suffix }) })));
        if ("effects" in step) {
            const [effect] = step.effects as readonly [StepEffect];
            this.asking.set(at, { ...effect, suffix: within(effect.suffix) });
            return { ...call, stage: "read", inner: step.state };
        }
        this.usage = addUsage(this.usage, step.usage);
        if ("value" in step) return done(call, this.kept({ value: step.value, origins: step.origins }, null));
        if (step.failure === ABORTED) this.ended = ABORTED;
        else if (FAILURE_KINDS[step.failure.kind] !== "failure") this.ended ??= step.failure;
        // HID3. What went wrong may be told in words of what was read.
        return done(call, toolError("The reader gave no answer of that form."));
    }

    private offerOf({ name }: Pick<Call, "name">): Offer {
        return this.before.offers.find((known) => known.name === name) as Offer;
    }

    step(calls: readonly Call[]): Calling {
        const { hidden, seen, usage, ended } = this;
        const state: State = { ...this.before, calls, origins: seen, usage, ...(hidden === undefined ? {} : { hidden }) };
        if (ended !== undefined) return { state, events: this.events, effects: [], ended };
        const effects = calls.flatMap((call, at): StepEffect[] => {
            if (call.stage === "done") return [];
            const reading = this.asking.get(at);
            return [reading ?? this.effectOf(call, at, state)];
        });
        return { state, events: this.events, effects };
    }

    /** What is waiting to be asked or called. */
    private effectOf(call: Call, at: number, state: State): StepEffect {
        const suffix = callSuffix(state, at);
        const labels = originsUnion(state.origins, ...Object.values(call.carried ?? {}));
        if (call.stage === "call") {
            const offer = this.offerOf(call);
            const { carried } = call;
            // What it was given by references it did not choose by.
            const apart: { [key: string]: Json } =
                carried === undefined ? {} : { origins: carried as unknown as Json, chosen: [...state.origins] };
            this.events.push({ kind: "tool.started", suffix, data: { ...toolData(offer, call), ...apart }, labels });
            return { suffix, kind: "tool", request: toolRequest(offer, call), labels };
        }
        const { tool, method, uri } = call.name === LOOK && state.hidden !== undefined ? this.lookOffer() : this.offerOf(call);
        const question = `May ${state.model.name} call ${shownUse(`${tool}.${method}`, uri)}?`;
        const request: Json = { question, detail: call.detail ?? null, options: [...ANSWERS] };
        this.events.push({ kind: "ask.requested", suffix: `${suffix}/ask`, data: request, labels });
        return { suffix: `${suffix}/ask`, kind: "ask", request, labels };
    }
}

function done(call: Pick<Call, "id" | "name" | "args">, result: Json): Call {
    return { id: call.id, name: call.name, args: call.args, stage: "done", result };
}

/** What a person is asked about a look: of whom it is, too. */
function shows(args: Json, { origins }: Hidden): Json {
    return { ...(args as { readonly [key: string]: Json }), of: [...origins] };
}

function filledIn(args: Json, hidden: readonly Hidden[]): Filled | { readonly error: string } {
    try {
        return fill(args, hidden);
    } catch (problem) {
        if (!(problem instanceof NoReference)) throw problem;
        return { error: `${problem.message} The call was not made.` };
    }
}

function callSuffix(state: State, at: number): string {
    return `attempt[${state.attempt}]/turn[${state.turn}]/call[${at}]`;
}

function toolRequest(offer: Offer, call: Call): Json {
    const { within, without, allowed, daily } = call;
    const request: ToolRequest = {
        op: "call",
        tool: offer.tool,
        uri: offer.uri,
        file: offer.file,
        method: offer.method,
        args: [call.args],
        chosenBy: "model",
        ...defined({ within, without, allowed, daily }),
    };
    return request as unknown as Json;
}

/** What the model sees of a call that came to nothing. */
function toolError(message: string): Json {
    return { isError: true, error: message };
}
