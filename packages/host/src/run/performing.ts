/**
 * One effect that is performed: what its performer is given, made of the messages between it and the conductor.
 *
 * Boundary: knows hosts, outcomes and messages; neither the machine nor the ledger. The same here and in another process: everything that crosses is
 * JSON.
 *
 * PE2: an outcome passes the scrubber before it leaves.
 * PE4: a value that is larger than any of a program's is refused here, before it is written or sent anywhere.
 * PE3: what a performer does after its effect was answered, or dropped, changes nothing and is shown nowhere.
 */
import type { Json } from "@remit/language";
import {
    type AgentNote,
    type AgentUse,
    type Down,
    type Effect,
    type Failure,
    type FailureKind,
    type Outcome,
    outsized,
    type Permission,
    type Up,
    whatIsNew,
} from "@remit/machine";
import { failureOf, RemitError } from "../failure/error.ts";
import type { Host, Later, Missing, PerformIO } from "./host.ts";
import { stopsWithin } from "../secret/cut.ts";
import { effectOut } from "../secret/exits.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { notesOf, type Parts, partsOf } from "./parts.ts";

export interface PerformingOptions {
    readonly host: Host;
    readonly secrets: Scrubber;
    /** Path of the effect in which it arose. */
    readonly parent?: string;
    readonly up: (up: Up) => void;
    /** Called once; null: it cannot be answered now. `why`: what is missing. */
    readonly answered: (outcome: Outcome | null, why?: Missing) => void;
}

export interface Performing {
    down(down: Down): void;
    /** `waits`: it may still answer. */
    stop(reason: string, waits: boolean): void;
}

/** What a failure thrown by a performer is called, by the kind of its effect. */
const THROWN: { readonly [kind: string]: FailureKind } = {
    model: "model",
    tool: "tool",
    recall: "tool",
    remember: "tool",
    ask: "denied",
    input: "value",
    agent: "unreachable",
    author: "unreachable",
};

export function performing(effect: Effect, options: PerformingOptions): Performing {
    const { host, parent, secrets } = options;
    const controller = new AbortController();
    const { signal } = controller;
    let isOver = false;

    const up = (said: Up): void => {
        if (!isOver) options.up(said);
    };
    // Few effects have progress to tell.
    let parts: Parts | null = null;
    // Only an agent reports and has hands: every other effect goes without them.
    const notes = effect.kind === "agent" ? notesOf(secrets, (note) => up({ n: 0, note })) : null;
    const reported = (note: AgentNote): void => {
        if (!isOver) notes?.part(note);
    };
    const letters = lettersOf(effect, up);
    const { asked } = letters;
    const io: PerformIO = {
        signal,
        emit: (part) => {
            if (isOver) return;
            parts ??= partsOf(secrets, (one) => up({ n: 0, part: one }));
            parts.part(part);
        },
        wait: (ms) =>
            unlessAborted(signal, async () => {
                const outcome = outcomeIn(await asked((n) => ({ n, child: { ...effect, kind: "sleep", request: { ms } } }), signal));
                if (!outcome.ok) throw new Error(outcome.failure.message);
            }),
        child: async (child) => outcomeIn(await asked((n) => ({ n, child: effectOut(child, secrets) }))),
        changed: async () => {
            const down = await asked((n) => ({ n, changed: true }));
            return "ruling" in down && down.ruling.allowed ? null : outcomeIn(down);
        },
        ...(parent === undefined ? {} : { parent }),
        ...(notes === null ? {} : handsOf(asked, reported)),
    };

    function over(outcome: Outcome | null, why?: Missing): void {
        if (isOver) return;
        const isCut = outcome?.ok !== true || (notes !== null && stopsWithin((outcome.value as { readonly stop?: Json } | null)?.stop));
        parts?.end(isCut);
        notes?.end(isCut);
        close();
        options.answered(outcome, why);
    }
    function close(): void {
        isOver = true;
        letters.close();
    }
    const thrown = (error: unknown): Outcome => {
        const kind = parent === undefined ? (THROWN[effect.kind] ?? "tool") : "tool";
        return { ok: false, failure: signal.aborted ? cancelled(signal.reason) : failureOf(error, kind) };
    };
    // The performer may throw before it returns its promise.
    Promise.resolve()
        .then(() => host.perform(effect, io))
        .catch(thrown)
        .then((said) => {
            if (!isLater(said)) over(clean(said, secrets));
            // An agent is told, and goes on: its use is none of the program's effects, which alone are waited for.
            else if (said.why !== undefined && parent !== undefined) over(clean(refusedFor(said.why, effect), secrets));
            else over(null, said.why === undefined ? undefined : (secrets.scrub(said.why as unknown as Json) as unknown as Missing));
        });
    return {
        down: letters.down,
        stop: (reason, mayAnswer) => {
            if (!mayAnswer) close();
            controller.abort(new Error(reason));
        },
    };
}

/** What an agent wants to do, and what it reports. */
function handsOf(asked: Letters["asked"], note: (one: AgentNote) => void): Pick<PerformIO, "may" | "use" | "note"> {
    async function used(use: AgentUse, make: boolean, until?: AbortSignal, part?: (part: Json) => void): Promise<Down> {
        return asked((n) => ({ n, use, make, ...(part === undefined ? {} : { parts: true }) }), until, part);
    }
    return {
        note,
        may: async (use, until) => rulingIn(await used(use, false, until)),
        use: async (use, until, part) => outcomeIn(await used(use, true, until, part)),
    };
}

interface Letters {
    /** Sends a message and waits for what answers it; `until` ends the waiting. */
    asked(said: (n: number) => Up, until?: AbortSignal, part?: (part: Json) => void): Promise<Down>;
    down(down: Down): void;
    /** Nothing more is waited for, and nothing can be asked any more. */
    close(): void;
}

function lettersOf(effect: Effect, up: (said: Up) => void): Letters {
    const waits = new Map<number, { readonly done: (down: Down) => void; readonly part?: (part: Json) => void }>();
    let isOver = false;
    let numbers = 0;
    return {
        asked: (said, until, part) => {
            const n = ++numbers;
            return new Promise((resolve) => {
                const stop = (): void => up({ n, stop: true });
                const done = (down: Down): void => {
                    waits.delete(n);
                    until?.removeEventListener("abort", stop);
                    resolve(down);
                };
                if (isOver) {
                    done(unheard(n, effect));
                    return;
                }
                waits.set(n, { done, ...(part === undefined ? {} : { part }) });
                up(said(n));
                if (until?.aborted === true) stop();
                else until?.addEventListener("abort", stop);
            });
        },
        down: (down) => {
            const wait = waits.get(down.n);
            if ("part" in down) wait?.part?.(down.part);
            else wait?.done(down);
        },
        close: () => {
            isOver = true;
            for (const [n, { done }] of [...waits]) done(unheard(n, effect));
        },
    };
}

/** Resolves when the work is done; rejects with the signal's reason where it is aborted first. */
function unlessAborted(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
        const stopped = (): void => reject(signal.reason);
        if (signal.aborted) return stopped();
        signal.addEventListener("abort", stopped, { once: true });
        const over = (): void => {
            signal.removeEventListener("abort", stopped);
            resolve();
        };
        work().then(over, reject);
    });
}

/** Without secrets. What is too deep to be looked through is not let in. */
function clean(outcome: Outcome, { scrub }: Scrubber): Outcome {
    try {
        const strange = whatIsNew.outcome(outcome as unknown as Json);
        if (strange !== null) return { ok: false, failure: { kind: "tool", message: `a performer gave what is no outcome: ${strange}` } };
        const scrubbed = scrub(outcome as unknown as Json) as unknown as Outcome;
        const large = scrubbed.ok ? outsized(scrubbed.value) : null;
        return large === null ? scrubbed : { ok: false, failure: { kind: "limit.bytes", message: large } };
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        return { ok: false, failure: failureOf(error, "tool") };
    }
}

function refusedFor({ message, hint }: Missing, { site }: Effect): Outcome {
    return { ok: false, failure: { kind: "denied", message, hint, site } };
}

/** A performer may be any code, and give anything. */
function isLater(outcome: Outcome | Later): outcome is Later {
    return typeof outcome === "object" && outcome !== null && "later" in outcome;
}

/** What a performer hears that is not waited for. */
function unheard(n: number, { site }: Effect): Down {
    return { n, outcome: { ok: false, failure: { kind: "cancelled", message: "its effect is over", site } } };
}

function outcomeIn(down: Down): Outcome {
    return "outcome" in down ? down.outcome : { ok: false, failure: { kind: "denied", message: "this was answered by a ruling" } };
}

function rulingIn(down: Down): Permission {
    if ("ruling" in down) return down.ruling;
    const message = "outcome" in down && !down.outcome.ok ? down.outcome.failure.message : "this was answered by an outcome";
    return { allowed: false, by: "nobody", message };
}

function cancelled(reason: unknown): Failure {
    return { kind: "cancelled", message: Error.isError(reason) ? reason.message : "cancelled" };
}
