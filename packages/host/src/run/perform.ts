/**
 * Performing effects: under a concurrency limit, with deadlines and cancellation, each answered exactly once.
 *
 * Boundary: knows hosts and outcomes; neither the machine nor the ledger.
 *
 * F1: every effect given to `start` is answered once, or never if it was dropped.
 * F2: an outcome passes `scrub` before anybody sees it.
 * F3: what a performer does after its effect was answered (late, or cancelled) changes nothing.
 */
import type { Json } from "@remit/language";
import type { Effect, Failure, FailureKind, Outcome } from "@remit/machine";
import { failureOf } from "./error.ts";
import type { Host, PerformIO } from "./host.ts";

export interface Answer {
    readonly path: string;
    readonly outcome: Outcome;
}

export interface Performing {
    /** Effects that are being performed. */
    readonly running: ReadonlyMap<string, Effect>;
    /** True where one more may begin now. */
    free(): boolean;
    begin(effect: Effect): void;
    /** Stops waiting for an effect and tells its performer. */
    drop(path: string): void;
    /** Tells every performer to stop; they still answer. */
    abort(reason: Failure): void;
    /** Answers since the last call, in the order in which they came. */
    take(): Answer[];
    /** Resolves when there is something to take (at once if there is). */
    answered(): Promise<void>;
}

export interface PerformOptions {
    readonly concurrency: number;
    readonly scrub: (json: Json) => Json;
    readonly emit: (path: string, part: Json) => void;
    /** A request that arose while an effect runs. */
    readonly child: (effect: Effect, io: PerformIO) => Promise<Outcome>;
    /** Called when an effect that waits for a person begins (+1) and is answered (-1): time budgets stand still meanwhile. */
    readonly person: (change: 1 | -1) => void;
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

/** Kinds that wait for a person; they take no place under the concurrency limit. */
const PERSONAL: ReadonlySet<string> = new Set(["ask", "input"]);

export function performing(host: Host, options: PerformOptions): Performing {
    const running = new Map<string, Effect>();
    const controllers = new Map<string, AbortController>();
    let answers: Answer[] = [];
    let wake: (() => void) | null = null;
    let busy = 0;

    function answer(effect: Effect, controller: AbortController, outcome: Outcome): void {
        if (controllers.get(effect.path) !== controller) return;
        settle(effect);
        answers.push({ path: effect.path, outcome: options.scrub(outcome as unknown as Json) as unknown as Outcome });
        wake?.();
    }
    function settle(effect: Effect): void {
        controllers.delete(effect.path);
        running.delete(effect.path);
        if (PERSONAL.has(effect.kind)) options.person(-1);
        else busy--;
    }

    return {
        running,
        free: () => busy < options.concurrency,
        begin: (effect) => {
            const controller = new AbortController();
            controllers.set(effect.path, controller);
            running.set(effect.path, effect);
            if (PERSONAL.has(effect.kind)) options.person(1);
            else busy++;
            let timer: NodeJS.Timeout | null = null;
            if (effect.deadline !== undefined) {
                const { deadline } = effect;
                timer = setTimeout(
                    () => {
                        controller.abort();
                        answer(effect, controller, {
                            ok: false,
                            failure: { kind: "timeout", message: `no answer after ${deadline} ms`, site: effect.site },
                        });
                    },
                    Math.min(deadline, 2 ** 31 - 1),
                );
            }
            const io: PerformIO = {
                signal: controller.signal,
                emit: (part) => options.emit(effect.path, part),
                child: (inner) => options.child(inner, io),
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
                    if (timer !== null) clearTimeout(timer);
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
            for (const controller of controllers.values()) controller.abort(new Error(reason.message));
        },
        take: () => {
            const taken = answers;
            answers = [];
            return taken;
        },
        answered: () =>
            answers.length > 0
                ? Promise.resolve()
                : new Promise((resolve) => {
                      wake = () => {
                          wake = null;
                          resolve();
                      };
                  }),
    };
}

function cancelled(reason: unknown): Failure {
    return { kind: "cancelled", message: reason instanceof Error ? reason.message : "cancelled" };
}
