/**
 * What is done first with a run that goes on: what began and has no outcome is performed again, or a person says what became of it.
 *
 * Boundary: a rule over effects. What the ledger holds is the shell's, performing the conductor's.
 *
 * U1: an effect that has an outcome is never performed again.
 * U2: one that began and has none is performed again only if that does no harm (`repeats`); else a person says what became of it.
 */
import type { Effect, Outcome } from "../effect/effect.ts";
import { opOf } from "../effect/effect.ts";
import type { MachineEvent } from "../ledger/events.ts";
import { answeredOutcome } from "./by-hand.ts";
import type { Answered, Conducted, Missing, UnknownAnswer } from "./messages.ts";
import type { ParkedDoc } from "./parked.ts";

/** What a run begins with that goes on. */
export interface Recovered {
    /** In the ledger, but not in the state: told, not committed again. */
    readonly outcomes: readonly Answered[];
    /** Paths of effects that may have been begun. */
    readonly begun: readonly string[];
    /** Of those: performing them a second time does no harm, as their host says. */
    readonly repeatable: readonly string[];
    /** Of turns of agents among those: what their agents made by then (H8). */
    readonly made?: readonly ParkedDoc[];
    /** Effects without an outcome, where the machine asked for more since it was loaded; else those that it says. */
    readonly pending?: readonly Effect[];
    /** Known without asking: told and committed. */
    readonly answers?: readonly Answered[];
    /** How that came to be known, for the ledger. */
    readonly notes?: readonly MachineEvent[];
}

/** Paths of effects that may have been begun, by the continuation alone. */
export function begunBefore({ conduct, pending }: Pick<Conducted, "conduct" | "pending">): readonly string[] {
    const { begun, idle = [] } = conduct ?? {};
    return begun ?? pending.map(({ path }) => path).filter((path) => !idle.includes(path));
}

/** Kinds that only read the world, or whose repetition a person sees. */
const REPEATS: ReadonlySet<string> = new Set(["model", "recall", "ask", "input", "sleep", "clock", "random", "run"]);

/** Performing it a second time does no harm, whatever its host says. */
export function repeats({ kind, request }: Effect): boolean {
    return REPEATS.has(kind) || (kind === "tool" && opOf(request) === "describe");
}

/** The ledger's word that an effect is performed a second time; none where that is nothing to tell of. */
export function again({ path, kind, principal, site, labels }: Effect): MachineEvent[] {
    if (kind === "ask" || kind === "input" || kind === "sleep") return [];
    const why =
        kind === "model" ? "no outcome was kept; the provider charges this turn twice" : "no outcome was kept, and it may be repeated";
    const data = { effect: kind, again: true, why, host: true };
    return [{ path, parent: null, kind: "effect.started", principal, site, labels, data }];
}

/** What a person said became of an effect; null: perform it. */
export function outcomeOf(effect: Effect, said: UnknownAnswer): Outcome | null {
    const { kind, site } = effect;
    if (said.answer === "again") return null;
    if (said.answer === "done") return answeredOutcome(effect, said.value);
    const why = said.why === undefined ? "" : `; ${said.why}`;
    const message = `given up after an interruption: it is not known whether this happened${why}`;
    return { ok: false, failure: { kind: kind === "agent" || kind === "author" ? "unreachable" : "tool", message, site } };
}

/** The ledger's word that an effect waits for something that is missing. */
export function lacking({ path, principal, site, labels, kind }: Effect, { message, hint }: Missing): MachineEvent {
    const data = { name: message, description: hint, effect: kind, host: true };
    return { path: `${path}/missing`, parent: path, kind: "input.requested", principal, site, labels, data };
}

/** The question about an unknown outcome and its answer, as the ledger keeps them (H1). */
export function decided({ path, principal, site, labels, kind, request }: Effect, said: UnknownAnswer): MachineEvent[] {
    const about = { path: `${path}/unknown`, parent: path, principal, site, labels };
    const question = "This had begun when the run was interrupted. What became of it?";
    const options = ["done", "again", "give up"];
    return [
        { ...about, kind: "ask.requested", data: { question, effect: kind, request, options, host: true } },
        { ...about, kind: "ask.decided", data: { ...said, host: true } },
    ];
}
