/**
 * What a host is: something that performs effects, one performer a kind.
 *
 * Boundary: shapes only. A performer decides no policy: what comes up while it works goes back through `child`. It answers with an outcome and
 * never throws for something that can happen; what it throws all the same is turned into a failure.
 */
import type { AgentNote, AgentUse, Effect, EffectKind, Missing, Outcome, Permission } from "@remit/machine";
import type { Json } from "@remit/language";

export type { AgentUse, Missing, Permission } from "@remit/machine";

export interface PerformIO {
    /** Aborted at cancel, at the effect's deadline and at the end of the run's time. */
    readonly signal: AbortSignal;
    /** Progress for the watcher (a piece of streamed text, a progress note of a tool). Not part of the ledger. */
    emit(part: Json): void;
    /** What the agent of this effect reports of its work, as it comes: it is in the ledger however the effect ends. Only for `agent` effects. */
    note?(note: AgentNote): void;
    /** Of a call that a person allowed (`allowed` in its request): the tool says something else now. Null: it may be called all the same; else what comes of the call. */
    changed?(): Promise<Outcome | null>;
    /** Resolves when so many milliseconds of the run's time have passed: time spent waiting for a person does not count. Rejects where the effect ends first. */
    wait(ms: number): Promise<void>;
    /** A request that arose while this effect runs; decided by the machine. */
    child(effect: Effect): Promise<Outcome>;
    /**
     * Whether the agent of this effect may make such a use now: decided by the machine with the agent's remit, asked where that says so. Its
     * events are in the ledger. Only for `agent` effects. `signal`: no caller waits for the answer any more.
     */
    may?(use: AgentUse, signal?: AbortSignal): Promise<Permission>;
    /**
     * The same, and the use is made where it is allowed: a tool call with its own events. A refusal is a failure `violation.remit` or `denied`.
     * `signal` stops it, whether it is still asked about or under way; `part` is given its progress, without secrets.
     */
    use?(use: AgentUse, signal?: AbortSignal, part?: (part: Json) => void): Promise<Outcome>;
    /** W3C trace context of the effect's span, where telemetry is on: it goes into `_meta.traceparent` of requests to servers and agents. */
    readonly traceparent?: string;
    /** For a request that arose while another effect runs: the path of that one. */
    readonly parent?: string;
    /** Id of the run, where the host serves several: paths are unique in a run only. */
    readonly run?: string;
    /** On whose behalf the run is, where the host serves several. */
    readonly owner?: string;
}

/** No answer can be had now, and one may come later: the run goes on as far as it can without this effect, then stops as waiting. */
export interface Later {
    readonly later: true;
    /** What is missing, and how a person gives it; absent for questions, which say that themselves. */
    readonly why?: Missing;
}

export type Performer = (effect: Effect, io: PerformIO) => Promise<Outcome | Later>;

export interface Host {
    perform(effect: Effect, io: PerformIO): Promise<Outcome | Later>;
    /**
     * True where performing this effect a second time does no harm: a read, a model turn (charged twice), a call whose provider honours the key.
     * Asked only after a crash, for effects that began and have no outcome. Absent: only what the conductor knows of their kinds.
     */
    repeatable?(effect: Effect): boolean | Promise<boolean>;
    /** A session with an agent is over: its process ends. `session`: path of the call that opened it. `keeps`: another process takes it up. */
    end?(session: string, run?: string, keeps?: boolean): Promise<void>;
    /** Ends processes and connections. Called once, when the run is over. */
    close?(): Promise<void>;
}

export type Performers = { readonly [K in EffectKind]?: Performer };

/** A host of performers; a kind that has none fails as unreachable. */
export function hostOf(performers: Performers, more: Omit<Host, "perform"> = {}): Host {
    return {
        ...more,
        perform: (effect, io) => {
            const performer = performers[effect.kind];
            if (performer !== undefined) return performer(effect, io);
            const message = `nothing here performs ${effect.kind} effects`;
            return Promise.resolve({ ok: false, failure: { kind: "unreachable", message, site: effect.site } });
        },
    };
}
