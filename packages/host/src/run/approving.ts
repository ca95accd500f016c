/**
 * Questions of a run to the person on whose behalf it runs, and what an answer is good for.
 *
 * Boundary: between the machine's `ask` effects, the records of questions (`ledger/asks.ts`) and the people who can answer now. What follows from an
 * answer is the machine's.
 *
 * AP1: an answer counts only through its record: given once, by the owner, for the arguments and the tool as they were when it was asked.
 * AP2: an answer given from another process counts like one given here; whichever is first.
 * AP3: every answer says how the tool described its method when it was asked, also one that a performer of the caller's own gives. The machine keeps
 *     that with the answer (AV3).
 * AP4: no person there is a no, unless the run may wait (`park`): then its state is kept, and the process may end.
 * AP6: while a tool cannot be described, a question that was put stays as it is: a yes to it is neither used nor asked for again, and counts once the
 *     tool describes the method as it did. A no needs no description. A call that was allowed fails as `unreachable` meanwhile.
 * AP7: a record that the ledger does not take now (its disk is full) is tried again, and the run waits for it: it makes no no of a yes.
 * AP5: a question that the project sends to a channel waits, whatever was said of waiting; at the terminal it is put only to a person who may answer it.
 */
import { canonicalJson, type Json } from "@remit/language";
import {
    askedMethod,
    type AskRequest,
    calledMethod,
    type Effect,
    mayAnswer,
    type MethodOf,
    type Outcome,
    shownApprovers,
    type ToolRequest,
} from "@remit/machine";
import type { Routes } from "../channel/routes.ts";
import { SERVER } from "../config/channels.ts";
import { type Ask, AskError, type Asks, boundOf } from "../ledger/asks.ts";
import { sha256 } from "../ledger/blob.ts";
import { isPassing } from "../ledger/error.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Later, Missing, Performer, PerformIO } from "./host.ts";
import type { Decided, Handlers } from "./setup.ts";

/** What a tool says of a method now; null where nothing is said. */
export interface Described {
    readonly said: Json;
    /** Why nothing can be said now, where that may change; null: all is said. */
    readonly missing: Missing | null;
}

export interface Asking {
    readonly run: string;
    readonly asks: Asks;
    /** Who may answer. */
    readonly owner: string;
    /** How long a question may be answered, milliseconds. */
    readonly expires: number;
    /** A question without an answer is kept for later. */
    readonly park: boolean;
    readonly describe: (about: MethodOf, signal: AbortSignal) => Promise<Described>;
    /** Absolute folder of `file://workspace`. */
    readonly workspace: string;
    readonly secrets: Scrubber;
    /** A workflow conducts the run. */
    readonly elsewhere: boolean;
    /** Where questions go, and who may answer them; null: to the owner, here. */
    readonly routes: Routes | null;
}

export interface Approving {
    /** Puts a question; to `own`, where the caller has a performer of its own for questions. */
    ask(effect: Effect, io: PerformIO, own?: Performer): Promise<Outcome | Later>;
    /** Performs a call; first says so where its tool is not what it was when it was allowed. */
    call(effect: Effect, io: PerformIO, perform: Performer): Promise<Outcome | Later>;
}

/** How often the ledger is looked at for an answer from elsewhere while a person is asked here, milliseconds. */
const LOOK_MS = 400;
/** Between two tries of what the ledger did not take, milliseconds. */
const AGAIN_MS = 250;

export function approving(on: Handlers, asking: Asking): Approving {
    const { asks, run, owner } = asking;
    const ask: Approving["ask"] = async (effect, io, own) => {
        const { detail } = effect.request as unknown as AskRequest;
        const { schema, missing } = await schemaOf(asking, askedMethod(detail), io.signal);
        const outcome = await (own === undefined ? put(effect, io, { schema, missing }) : own(effect, io));
        return "later" in outcome || !outcome.ok || schema === "" ? outcome : { ...outcome, described: schema };
    };

    async function put(effect: Effect, io: PerformIO, { schema, missing }: Schema): Promise<Outcome | Later> {
        const boundBy = (described: string): string => boundOf(run, effect.path, effect.request as unknown as AskRequest, described);
        const bound = boundBy(schema);
        const request = await withWhatChanges(effect, asking);
        const given = (decision: string): Outcome => ({ ok: true, value: decision, origins: ["user"] });
        const route = asking.routes?.route(request, owner) ?? { owner, here: true, channels: [] };
        const isRouted = route.here || (on.atServer === true && route.channels.includes(SERVER));
        const isAsked = on.ask !== undefined && on.takes?.(request) !== false;
        const isHere = isAsked && isRouted && mayAnswer(route.owner, owner);
        const waits = asking.park || route.channels.length > 0;

        const kept = <T>(work: () => Promise<T>): Promise<T | null> => patient(work, io.signal, on.stalled);

        const before = await kept(() => asks.take(run, effect.path, bound, missing === null ? undefined : boundBy));
        if (before === null) return { later: true };
        // The clients of a server are asked anew: its turn would end with a question that is left.
        const isLeft = before.kind === "kept" && !(on.atServer === true && before.ask.state === "open");
        if (isLeft) return left(before.ask, missing as Missing, io);
        if (before.kind === "decided") return before.late ? denied(effect, "no answer came in time") : given(before.decision);
        // What is open already was left for later, and stays so until it expires.
        if (!isHere && !waits && before.kind !== "open")
            return denied(
                effect,
                isAsked ? `it is for ${shownApprovers(route.owner)}, and none of them is here` : "no person was there to answer",
            );
        const about = { run, path: effect.path, pending: io.parent ?? effect.path, request, bound, schema, owner: route.owner };
        const open: Ask | null =
            before.kind === "open"
                ? before.ask
                : await kept(() => asks.put({ ...about, expires: asks.now() + (request.within ?? asking.expires) }));
        if (open === null) return { later: true };
        const tell = (text: string): void => io.emit({ type: "notice", text });
        await asking.routes?.deliver(open, route, { asks, signal: io.signal, tell, elsewhere: asking.elsewhere });
        if (!isHere || !mayAnswer(open.owner, owner)) return { later: true };

        const said = await asked(asks, open, io.signal, (signal) => on.ask?.(request, { effect, ask: open, signal }));
        if (said === null) return { later: true };
        const decision = request.options.includes(String(said)) ? String(said) : "deny";
        const { told } = on;
        if (said !== ELSEWHERE) {
            if (told !== undefined) await kept(() => asks.note(open.id, { kind: "told", who: told, text: decision }));
            await kept(() => recorded(asks, open, decision, owner));
        }
        const taken = await kept(() => asks.take(run, effect.path, bound));
        if (taken === null) return { later: true };
        if (taken.kind !== "decided") return denied(effect, "the record of the question does not hold");
        if (taken.late) return denied(effect, "no answer came in time");
        return typeof said === "object" && taken.decision === "deny" ? denied(effect, said.deny, null) : given(taken.decision);
    }

    const call: Approving["call"] = (effect, io, perform) => {
        const { allowed } = effect.request as unknown as ToolRequest;
        return allowed === undefined ? perform(effect, io) : allowedCall(effect, io, { allowed, perform });
    };

    async function allowedCall(effect: Effect, io: PerformIO, { allowed, perform }: Allowed): Promise<Outcome | Later> {
        const method = calledMethod(effect);
        const now = method === null ? null : await schemaOf(asking, method, io.signal);
        const isSame = now === null || now.schema === allowed;
        if (!isSame && now.missing !== null) {
            const { message, hint } = now.missing;
            const failure = { kind: "unreachable", message: `${message}; it was not called`, hint, site: effect.site } as const;
            return { ok: false, failure };
        }
        const instead = isSame ? null : ((await io.changed?.()) ?? null);
        if (instead === null) return perform(effect, io);
        return !instead.ok && isLater(instead) ? { later: true } : instead;
    }

    return { ask, call };
}

interface Allowed {
    /** As what a person allowed the call. */
    readonly allowed: string;
    readonly perform: Performer;
}

interface Schema {
    /** SHA-256 of what the tool says of the method; empty where the question is about none. */
    readonly schema: string;
    readonly missing: Described["missing"];
}

async function schemaOf({ describe }: Asking, method: MethodOf | null, signal: AbortSignal): Promise<Schema> {
    if (method === null) return { schema: "", missing: null };
    const { said, missing } = await describe(method, signal);
    return { schema: sha256(canonicalJson(said)), missing };
}

/** AP6. An agent waits for its question, not for what is missing. */
function left({ state }: Ask, { message, hint }: Missing, io: PerformIO): Later {
    const stays = state === "open" ? "its question stays open" : "the answer to its question is kept";
    io.emit({ type: "notice", text: `${message}; ${stays}` });
    return state === "open" || io.parent !== undefined ? { later: true } : { later: true, why: { message: `${message}; ${stays}`, hint } };
}

/** A write tells what it changes. */
async function withWhatChanges(effect: Effect, { workspace, secrets }: Asking): Promise<AskRequest> {
    const request = effect.request as unknown as AskRequest;
    if (askedMethod(request.detail)?.method !== "write") return request;
    return (await import("./changes.ts")).withChanges(request, workspace, secrets);
}

/** AP7. Null: the run was stopped before. */
async function patient<T>(work: () => Promise<T>, signal: AbortSignal, stalled: Handlers["stalled"]): Promise<T | null> {
    for (let isStalled = false; ; )
        try {
            const gave = await work();
            if (isStalled) stalled?.(null);
            return gave;
        } catch (error) {
            if (!isPassing(error)) throw error;
            if (!isStalled) stalled?.(error);
            isStalled = true;
            if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
            if (!signal.aborted) continue;
            stalled?.(null);
            return null;
        }
}

/** An answer from elsewhere may have been faster, or this one is too late: then the record says what counts. */
async function recorded(asks: Asks, { id }: Ask, decision: string, by: string): Promise<void> {
    try {
        await asks.decide(id, decision, by);
    } catch (error) {
        if (!(error instanceof AskError)) throw error;
    }
}

/** What the person here says, or `ELSEWHERE` where the record says it: answered from another process meanwhile, or its time is up. */
async function asked(
    asks: Asks,
    open: Ask,
    signal: AbortSignal,
    here: (signal: AbortSignal) => ReturnType<NonNullable<Handlers["ask"]>> | undefined,
): Promise<Decided | typeof ELSEWHERE | null> {
    const other = new AbortController();
    const both = AbortSignal.any([signal, other.signal]);
    try {
        return await Promise.race([Promise.resolve(here(both) ?? null), elsewhere(asks, open, other.signal)]);
    } finally {
        other.abort();
    }
}

const ELSEWHERE = Symbol("answered elsewhere");

/** Resolves once the record of a question is closed. */
function elsewhere(asks: Asks, { run, id }: Ask, until: AbortSignal): Promise<typeof ELSEWHERE> {
    return new Promise((resolve, reject) => {
        const look = (): void => {
            asks.find(run, id).then(
                ({ state }) => {
                    if (state !== "open") resolve(ELSEWHERE);
                },
                (error: unknown) => {
                    // AP7: it is looked at again.
                    if (isPassing(error)) return;
                    // The record was removed: what is said here would count for nothing.
                    if (error instanceof AskError) resolve(ELSEWHERE);
                    else reject(error);
                },
            );
        };
        const timer = setInterval(look, LOOK_MS).unref();
        until.addEventListener("abort", () => clearInterval(timer), { once: true });
    });
}

/** The question was left for later. */
function isLater(outcome: Outcome & { readonly ok: false }): boolean {
    const { detail } = outcome.failure;
    return detail !== null && typeof detail === "object" && !Array.isArray(detail) && detail.later === true;
}

function denied(effect: Effect, message: string, hint: string | null = HINT): Outcome {
    return { ok: false, failure: { kind: "denied", message, site: effect.site, ...(hint === null ? {} : { hint }) } };
}

const HINT = "run it on a terminal to be asked, or with --park to answer later";
