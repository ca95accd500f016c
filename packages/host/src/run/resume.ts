/**
 * Resuming: from what the ledger holds to a machine and a list of what to do first.
 *
 * Boundary: decides which effects are performed again. Running on is the driver's.
 *
 * U1: an effect that has an outcome is never performed again.
 * U2: one that began and has none is performed again only if that does no harm (`isRepeatable`); else a person says what became of it.
 * U3: the cost depends on the size of the state and on what came after it, not on the length of the run.
 */
import type { Json } from "@remit/language";
import type { Effect, MachineEvent, Outcome } from "@remit/machine";
import { type KeptRun, type LedgerStore, type RunInfo, type RunWriter, type SavedState, keptRun } from "../ledger/store.ts";
import type { Answered, Resumed, Steppable } from "./drive.ts";
import type { Host } from "./host.ts";

/** What a person says about an effect whose outcome is unknown. */
export type UnknownAnswer =
    /** It happened, and this is what it gave. */
    | { readonly answer: "done"; readonly value: Json }
    /** It did not happen, or it may happen twice: perform it. */
    | { readonly answer: "again" }
    /** The program is told that it failed. */
    | { readonly answer: "give up" };

/** Null: nobody knows now. */
export type AskUnknown = (effect: Effect) => Promise<UnknownAnswer | null> | UnknownAnswer | null;

export type Continued =
    | {
          readonly status: "ready";
          readonly info: RunInfo;
          readonly machine: Steppable;
          readonly resumed: Resumed;
      }
    | { readonly status: "waiting"; readonly info: RunInfo; readonly waiting: readonly Effect[] };

export interface ResumeOptions {
    readonly host: Host;
    readonly unknown?: AskUnknown;
    /** Makes the machine: from the saved state, or from the start where none was saved yet. */
    readonly machine: (run: KeptRun, saved: SavedState | null) => Steppable;
}

/** Kinds that only read the world, or whose repetition a person sees. */
const REPEATABLE: ReadonlySet<string> = new Set(["model", "recall", "ask", "input", "sleep", "clock", "random"]);

export async function isRepeatable(effect: Effect, host: Host): Promise<boolean> {
    if (REPEATABLE.has(effect.kind)) return true;
    const { request } = effect;
    if (effect.kind === "tool" && request !== null && typeof request === "object" && !Array.isArray(request) && request.op === "describe")
        return true;
    return (await host.repeatable?.(effect)) ?? false;
}

/** Finds out what to do first with a run that was taken over. */
export async function continueRun(store: LedgerStore, writer: RunWriter, options: ResumeOptions): Promise<Continued> {
    try {
        const kept = await keptRun(store, writer.id);
        const { info } = kept;
        const saved = await store.state(info.id);
        const outcomes: Answered[] = [];
        for await (const { path, outcome } of store.outcomes(info.id, saved?.outcomes ?? 0)) outcomes.push({ path, outcome });
        const machine = options.machine(kept, saved);
        const begunPaths = new Set((await store.pending(info.id)).flatMap((one) => (one.begun ? [one.path] : [])));
        const answeredPaths = new Set(outcomes.map((one) => one.path));
        const again: Effect[] = [];
        const twice: Effect[] = [];
        const answers: Answered[] = [];
        const notes: MachineEvent[] = [];
        const waiting: Effect[] = [];
        for (const effect of machine.pending) {
            if (answeredPaths.has(effect.path)) continue;
            if (!begunPaths.has(effect.path)) {
                again.push(effect);
                continue;
            }
            if (await isRepeatable(effect, options.host)) {
                again.push(effect);
                if (effect.kind !== "ask" && effect.kind !== "input" && effect.kind !== "sleep") twice.push(effect);
                continue;
            }
            const said = (await options.unknown?.(effect)) ?? null;
            if (said === null) {
                waiting.push(effect);
                continue;
            }
            notes.push(...decided(effect, said));
            if (said.answer === "again") again.push(effect);
            else answers.push({ path: effect.path, outcome: outcomeOf(effect, said) });
        }
        if (waiting.length > 0) {
            await writer.commit({ end: { status: "waiting" } });
            return { status: "waiting", info, waiting };
        }
        return { status: "ready", info, machine, resumed: { again, twice, outcomes, answers, notes } };
    } catch (error) {
        await writer.release();
        throw error;
    }
}

function outcomeOf(effect: Effect, said: UnknownAnswer & { readonly answer: "done" | "give up" }): Outcome {
    if (said.answer === "done") return { ok: true, value: said.value, origins: ["user"] };
    const message = "given up after an interruption: it is not known whether this happened";
    return {
        ok: false,
        failure: { kind: effect.kind === "agent" || effect.kind === "author" ? "unreachable" : "tool", message, site: effect.site },
    };
}

/** The question about an unknown outcome and its answer, as the ledger keeps them (H1). */
function decided(effect: Effect, said: UnknownAnswer): MachineEvent[] {
    const { path, principal, site, labels } = effect;
    const about = { path: `${path}/unknown`, parent: path, principal, site, labels };
    const question = "This had begun when the run was interrupted. What became of it?";
    return [
        {
            ...about,
            kind: "ask.requested",
            data: { question, effect: effect.kind, request: effect.request, options: ["done", "again", "give up"], host: true },
        },
        { ...about, kind: "ask.decided", data: { ...said, host: true } },
    ];
}
