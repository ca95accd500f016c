/**
 * Performing effects: under a concurrency limit, with deadlines and cancellation, each answered exactly once.
 *
 * Boundary: knows hosts and outcomes; neither the machine nor the ledger.
 *
 * F1: every effect given to `start` is answered once, or never if it was dropped.
 * F2: an outcome passes the scrubber before anybody sees it.
 * F3: what a performer does after its effect was answered (late, or cancelled) changes nothing, and nobody sees it.
 */
import type { Json } from "@remit/language";
import { type Effect, type Failure, type FailureKind, type Outcome, whatIsNew } from "@remit/machine";
import { failureOf, RemitError } from "./error.ts";
import type { Host, Later, PerformIO } from "./host.ts";
import type { Hands } from "./hands.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type Parts, partsOf } from "./parts.ts";

export interface Answer {
    readonly path: string;
    readonly effect: Effect;
    /** Null: nobody can answer now. */
    readonly outcome: Outcome | null;
}

export interface Performing {
    /** Effects that are being performed. */
    readonly running: ReadonlyMap<string, Effect>;
    /** How many more may begin now. */
    room(): number;
    begin(effect: Effect): void;
    /** Stops waiting for an effect and tells its performer. */
    drop(path: string): void;
    /** Tells every performer to stop; they still answer. */
    abort(reason: string): void;
    /** Answers since the last call, in the order in which they came. */
    take(): Answer[];
    /** Of them, those of effects that only wait for time. */
    takeTimers(): Answer[];
    /** There is something to take. */
    ready(): boolean;
    /** Resolves when there is something new to take, or when `poke` is called. One waiter at a time. */
    changed(): Promise<void>;
    poke(): void;
}

export interface PerformOptions {
    readonly concurrency: number;
    readonly secrets: Scrubber;
    readonly emit: (path: string, part: Json) => void;
    /** A request that arose while an effect runs. */
    readonly child: (parent: Effect, effect: Effect, io: PerformIO) => Promise<Outcome>;
    /** What the agent of an effect wants to do with its own hands. */
    readonly hands?: Hands;
    /** Called when an effect that waits for a person begins (+1) and is answered (-1): time budgets stand still meanwhile. */
    readonly person: (change: 1 | -1) => void;
    /** Waits so many milliseconds of the run's time. */
    readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
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

/** Effects that only wait for time; they take no place under the concurrency limit. */
export function isTimer(effect: Effect): boolean {
    return effect.kind === "sleep";
}

/** Effects that wait for a person; they take no place under the concurrency limit. */
export function isPersonal(effect: Effect): boolean {
    return effect.kind === "ask" || effect.kind === "input";
}

export function performing(host: Host, options: PerformOptions): Performing {
    const running = new Map<string, Effect>();
    const controllers = new Map<string, AbortController>();
    const parts = new Map<string, Parts>();
    let answers: Answer[] = [];
    let wake: (() => void) | null = null;
    let busy = 0;
    /** Something happened while nobody waited. */
    let news = false;

    function answer(effect: Effect, controller: AbortController, outcome: Outcome | Later): void {
        if (controllers.get(effect.path) !== controller) return;
        parts.get(effect.path)?.end();
        settle(effect);
        answers.push({
            path: effect.path,
            effect,
            outcome: isLater(outcome) ? null : clean(outcome),
        });
        poke();
    }
    /** Without secrets. What is too deep to be looked through is not let in. */
    function clean(outcome: Outcome): Outcome {
        try {
            const strange = whatIsNew.outcome(outcome as unknown as Json);
            if (strange !== null)
                return { ok: false, failure: { kind: "tool", message: `a performer gave what is no outcome: ${strange}` } };
            return options.secrets.scrub(outcome as unknown as Json) as unknown as Outcome;
        } catch (error) {
            if (!(error instanceof RemitError)) throw error;
            return { ok: false, failure: failureOf(error, "tool") };
        }
    }
    function poke(): void {
        const waiter = wake;
        wake = null;
        if (waiter === null) news = true;
        else waiter();
    }
    function settle(effect: Effect): void {
        controllers.delete(effect.path);
        parts.delete(effect.path);
        running.delete(effect.path);
        if (isPersonal(effect)) options.person(-1);
        else if (!isTimer(effect)) busy--;
    }

    return {
        running,
        room: () => options.concurrency - busy,
        begin: (effect) => {
            const controller = new AbortController();
            controllers.set(effect.path, controller);
            running.set(effect.path, effect);
            if (isPersonal(effect)) options.person(1);
            else if (!isTimer(effect)) busy++;
            const over = new AbortController();
            if (effect.deadline !== undefined) {
                const { deadline } = effect;
                const late = (): void => {
                    controller.abort();
                    answer(effect, controller, {
                        ok: false,
                        failure: { kind: "timeout", message: `no answer after ${deadline} ms`, site: effect.site },
                    });
                };
                // Of the run's time: what a person takes to answer what came up meanwhile does not count. Cut short where it is over before.
                options.wait(deadline, over.signal).then(late, () => undefined);
            }
            const { secrets, hands } = options;
            parts.set(
                effect.path,
                partsOf(secrets, (part) => options.emit(effect.path, part)),
            );
            const io: PerformIO = {
                signal: controller.signal,
                emit: (part) => {
                    if (controllers.get(effect.path) === controller) parts.get(effect.path)?.part(part);
                },
                wait: (ms) => options.wait(ms, controller.signal),
                child: (inner) => options.child(effect, inner, io),
                ...(hands === undefined || effect.kind !== "agent"
                    ? {}
                    : {
                          may: (use, signal) => hands.may(effect, io, use, signal),
                          use: async (use, signal, part) => {
                              if (part === undefined) return hands.use(effect, io, use, signal);
                              const shown = partsOf(secrets, part);
                              try {
                                  return await hands.use(effect, io, use, signal, shown.part);
                              } finally {
                                  shown.end();
                              }
                          },
                      }),
            };
            // The performer may throw before it returns its promise.
            Promise.resolve()
                .then(() => host.perform(effect, io))
                .catch(
                    (error: unknown): Outcome => ({
                        ok: false,
                        failure: controller.signal.aborted
                            ? cancelled(controller.signal.reason)
                            : failureOf(error, THROWN[effect.kind] ?? "tool"),
                    }),
                )
                .then((outcome) => {
                    over.abort();
                    answer(effect, controller, outcome);
                });
        },
        drop: (path) => {
            const controller = controllers.get(path);
            const effect = running.get(path);
            if (controller === undefined || effect === undefined) return;
            settle(effect);
            controller.abort(new Error("nobody waits for this any more"));
        },
        abort: (reason) => {
            for (const controller of controllers.values()) controller.abort(new Error(reason));
        },
        take: () => {
            const taken = answers;
            answers = [];
            news = false;
            return taken;
        },
        takeTimers: () => {
            const taken = answers.filter((one) => isTimer(one.effect));
            if (taken.length > 0) answers = answers.filter((one) => !isTimer(one.effect));
            return taken;
        },
        ready: () => answers.length > 0,
        changed: () => {
            if (news) {
                news = false;
                return Promise.resolve();
            }
            return new Promise((resolve) => {
                wake = resolve;
            });
        },
        poke,
    };
}

/** A performer may be anybody's code, and give anything. */
function isLater(outcome: Outcome | Later): outcome is Later {
    return typeof outcome === "object" && outcome !== null && "later" in outcome;
}

function cancelled(reason: unknown): Failure {
    return { kind: "cancelled", message: reason instanceof Error ? reason.message : "cancelled" };
}
