/**
 * What passes between the conductor and a shell, and between a shell and a performer: plain JSON, all of it.
 *
 * Boundary: shapes only. What follows from them is `conductor.ts`.
 */

import type { Json } from "@remit/language";
import type { AgentNote, Effect, Failure, Outcome } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";
import type { MachineEvent } from "../ledger/events.ts";
import type { Advance, Machine } from "../run/machine.ts";
import { count, list, number, says, shape, type Told, text } from "../shape/build.ts";
import { PARKED } from "./parked.ts";
import type { Recovered } from "./recover.ts";

/** What the conductor needs of a machine. */
export interface Conducted
    extends Pick<Machine, "exceed" | "pending" | "reach" | "rule">,
        Partial<Pick<Machine, "began" | "canGoOn" | "goOn" | "raised" | "passed" | "remedies">> {
    /** `until`: no slice goes beyond this count of steps. */
    advance(until?: number): Advance;
    resolve(path: string, outcome: Outcome): unknown;
    /** `image`: all of it, whatever was saved before. */
    save(wanted: {
        readonly spent: number;
        readonly conduct?: ConductDoc;
        readonly image?: boolean;
    }): { readonly image: Json } | { readonly delta: Json };
    /** What a conductor kept in the continuation that the machine was loaded from. */
    readonly conduct?: ConductDoc | null;
    readonly usage: { readonly steps: number };
}

/** What the conductor keeps in the continuation: milliseconds that count towards the run's time, effects, and sessions with agents. */
export const CONDUCT = says(
    shape(
        { spent: count, sessions: list(text) },
        {
            begun: list(text),
            idle: list(text),
            parked: list(PARKED),
            waits: list(shape({ path: text, left: count }, {})),
            loads: list(shape({ session: text, id: text }, { usd: number })),
        },
    ),
    "the conductor's: time that counts, effects that may have been begun, or else those that were not, sessions that may be open, turns of agents that wait for a person, milliseconds that what waits for time has left, how agents call the sessions that another process can take up, and what those cost in US dollars",
);
export type ConductDoc = Told<typeof CONDUCT>;

// ---- a performer and the conductor ---------------------------------------------------------------------------------------

/** A use of one of the program's tools that an agent at work wants to make with its own hands. */
export interface AgentUse {
    /** Import name of the tool, one of the turn's `hands`. */
    readonly tool: string;
    readonly method: string;
    readonly args: readonly Json[];
    /** What the agent says of it, for the person who is asked. */
    readonly note?: string;
}

export type Permission =
    | { readonly allowed: true; readonly by: "remit" | "person" }
    | { readonly allowed: false; readonly by: "remit" | "person" | "nobody"; readonly message: string };

/** May the agent of this effect make such a use now? Answered by a ruling; where it is to be made (`make`), by an outcome. */
export interface UseUp {
    readonly n: number;
    readonly use: AgentUse;
    readonly make: boolean;
    /** Progress of the use goes to the performer, not to the person who watches the run. */
    readonly parts?: boolean;
}

/** What a performer says while it works. `n` numbers what it waits for. */
export type Up =
    | UseUp
    /** A request that arose. Of kind `sleep`: the performer waits so long, in the run's own time. */
    | { readonly n: number; readonly child: Effect }
    /** What the agent of this effect reports of its work, for the record. */
    | { readonly n: number; readonly note: AgentNote }
    /** Of a call that was allowed: the tool says something else now. Answered by a ruling, or by what is made of the call instead. */
    | { readonly n: number; readonly changed: true }
    /** Progress, for the person who watches. */
    | { readonly n: number; readonly part: Json }
    /** The performer waits for the answer to `n` no longer. */
    | { readonly n: number; readonly stop: true };

export type Down = { readonly n: number } & ({ readonly ruling: Permission } | { readonly outcome: Outcome } | { readonly part: Json });

// ---- a shell and the conductor -------------------------------------------------------------------------------------------

/** What a person says about an effect whose outcome is unknown. */
export type UnknownAnswer =
    /** It happened, and this is what it gave. */
    | { readonly answer: "done"; readonly value: Json }
    /** It did not happen, or it may happen twice: perform it. */
    | { readonly answer: "again" }
    /** The program is told that it failed. `why`: what it is told besides. */
    | { readonly answer: "give up"; readonly why?: string };

/** What an effect lacks, and how a person gives it. */
export interface Missing {
    readonly message: string;
    readonly hint: string;
    /** A process has what it gets of it from its start on. */
    readonly atStart?: true;
}

export type News =
    | { readonly kind: "outcome"; readonly path: string; readonly outcome: Outcome }
    /** No person can answer it now, one may later. `why`: it was not performed, because something is missing that a person gives. */
    | { readonly kind: "later"; readonly path: string; readonly why?: Missing }
    /** Its performer is gone, and no outcome was kept. `repeatable`: performing it again does no harm, as its host says. */
    | { readonly kind: "lost"; readonly path: string; readonly repeatable: boolean }
    | { readonly kind: "up"; readonly path: string; readonly up: Up }
    | { readonly kind: "committed"; readonly n: number }
    /** `again`: the same batch may be kept later. */
    | { readonly kind: "failed"; readonly n: number; readonly again: boolean }
    /** The time of the last `wake` has come. */
    | { readonly kind: "time" }
    | { readonly kind: "cancel" }
    /** Nothing more begins; the run ends as `drained` once what was begun is answered and kept. */
    | { readonly kind: "drain" }
    /** What became of an effect that had begun when the run, or its performer, was interrupted; null: not known now. */
    | { readonly kind: "known"; readonly path: string; readonly said: UnknownAnswer | null };

export type Decision =
    /** Keep this, then say `committed`. */
    | { readonly kind: "commit"; readonly n: number; readonly batch: Batch }
    /** Perform. `parent`: path of the effect in which it arose. */
    | { readonly kind: "begin"; readonly effect: Effect; readonly parent?: string }
    /** Tell the performer to stop. `waits`: its answer still counts. */
    | { readonly kind: "stop"; readonly path: string; readonly reason: string; readonly waits: boolean }
    | { readonly kind: "down"; readonly path: string; readonly down: Down }
    | { readonly kind: "show"; readonly path: string; readonly part: Json }
    /** A session with an agent is over. `keeps`: for this process; a later one takes it up. */
    | { readonly kind: "close"; readonly session: string; readonly keeps?: true }
    /** Ask a person what became of this effect. */
    | { readonly kind: "unknown"; readonly effect: Effect }
    /** Say `time` when the shell's clock says so; null: not any more. It stands until the next of its kind. */
    | { readonly kind: "wake"; readonly at: number | null }
    /** There is more to compute: call again, at once or after other work. */
    | { readonly kind: "compute" }
    | { readonly kind: "ended"; readonly end: ConductEnd };

export type ConductEnd =
    | { readonly status: "done"; readonly value: Json }
    | { readonly status: "failed"; readonly failure: Failure }
    | { readonly status: "waiting"; readonly waiting: readonly Effect[] }
    | { readonly status: "stopped" }
    | { readonly status: "drained" }
    /** A commit failed for good. */
    | { readonly status: "broken" };

export type RunEnd =
    | { readonly status: "done"; readonly value: Json }
    | { readonly status: "failed"; readonly failure: Failure }
    | { readonly status: "waiting" | "stopped" };

/** An effect without an outcome. What it asks for is in the state and in the events. */
export interface PendingEffect {
    readonly path: string;
    /** Performing may have begun. */
    readonly begun: boolean;
    /** Of the effect, where it is not the first. */
    readonly attempt?: number;
}

export interface Answered {
    readonly path: string;
    /** Of the effect; without it the one that is pending. */
    readonly attempt?: number;
    readonly outcome: Outcome;
}

/** One commit. What is absent stays as it is. */
export interface Batch {
    /** In the order in which the machine is told. */
    readonly outcomes?: readonly Answered[];
    readonly events?: readonly MachineEvent[];
    /** Asked for; `begun` where performing starts right after this commit. */
    readonly pending?: readonly PendingEffect[];
    /** Paths of pending effects that begin right after this commit. */
    readonly begin?: readonly string[];
    /** Paths of pending effects whose outcomes are no longer wanted. */
    readonly dropped?: readonly string[];
    /** State after the outcomes of this batch and all before. */
    readonly state?: { readonly kind: "image" | "delta"; readonly json: Json };
    readonly usage?: Usage;
    readonly steps?: number;
    /** Milliseconds that count towards the run's time, from its start. */
    readonly spent?: number;
    readonly end?: RunEnd;
}

export interface ConductOptions {
    /** Effects performed at once, those that wait for a person not counted. */
    readonly concurrency?: number;
    /** Time of the whole run, milliseconds. */
    readonly timeout?: number;
    /** What earlier parts of the run took of it, milliseconds. */
    readonly spent?: number;
    /** How long answers are waited for after a cancel, milliseconds. */
    readonly grace?: number;
    /** Commits hold the state that follows them. */
    readonly saves: boolean;
    readonly recovered?: Recovered;
}
