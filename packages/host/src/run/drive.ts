/**
 * Driving a run: the machine computes, the ledger is written, effects are performed, and so on to the end.
 *
 * Boundary: order and time. What performs an effect is the host's, how things are kept the store's, what follows from an outcome the machine's.
 *
 * D1: an effect's start is committed before it is performed; an outcome is committed before anything that follows from it can be observed.
 *     An outcome, what the machine made of it, the state and the next starts share one commit where nothing that anybody could see
 *     happens in between: no slice ends, no effect is begun, no event is shown.
 * D2: when a commit fails nothing more is begun, and the ledger holds everything that was acknowledged.
 * D3: after cancel every performer is told to stop, answers that still come within the grace time are kept, and the run can be resumed.
 * D4: time spent waiting for a person counts for nothing; all other time does, also that of earlier parts of a resumed run.
 * D5: events are committed with the state that follows them, so that a crash in between leaves neither.
 * D7: what only waits for time begins at the next slice, whether or not anything was committed, and its end is told to the machine at the end
 *     of a slice, with the count of steps there, so that a part of a run that only computes ends in time, too, and ends there again.
 * D8: the event loop gets a turn at least every 10 ms, whatever runs, so that a signal, a timer and an abort are seen while effects settle in microtasks.
 * D6: where the run's time ended it is kept in a `budget` event, because it follows from the world: at which step, or waiting.
 */
import type { Json } from "@remit/language";
import type { AgentTurn, Effect, Failure, MachineEvent, Outcome, Ruling, Usage } from "@remit/machine";
import { LedgerError } from "../ledger/error.ts";
import { type LedgerStore, type RunEnd, type RunWriter, addUsage } from "../ledger/store.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { childOf } from "./child.ts";
import { type Interrupt, runClock } from "./clock.ts";
import { handsOf } from "./hands.ts";
import type { AgentUse, Host } from "./host.ts";
import { isPersonal, isTimer, performing } from "./perform.ts";

/** What the driver needs of a machine. */
export interface Steppable {
    /** Computes until every fiber waits or ends, or a slice is over. `until`: no slice goes beyond this count of steps. */
    advance(until?: number): Advance;
    /** Tells the outcome of an effect that was asked for. */
    resolve(path: string, outcome: Outcome): void;
    /** Ends the run with this failure, whatever waits. */
    end(failure: Failure): Advance;
    /** The state, as an image or as what changed since the last one. Only while every fiber waits. */
    save(spent: number): { readonly kind: "image" | "delta"; readonly json: Json };
    /** Milliseconds of the run's time at which waiting for time began, as far as a saved state says. */
    began?(path: string): number | null;
    /** The ruling on what the agent at work at `path` wants to do with its own hands. */
    rule?(path: string, use: AgentUse): Ruling;
    /** Effects without an outcome, in the order in which they were asked for. */
    readonly pending: readonly Effect[];
    readonly steps: number;
    /** Count of steps at which the last slice was over. */
    readonly reach: number;
}

export interface Advance {
    /** `sliced`: there is more to compute; `waiting`: for outcomes; `ended`: `end` says how. */
    readonly state: "sliced" | "waiting" | "ended";
    readonly events: readonly MachineEvent[];
    /** Asked for since the last time. */
    readonly effects: readonly Effect[];
    /** Nobody waits for these any more. */
    readonly dropped: readonly string[];
    readonly end?: { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly failure: Failure };
}

export interface Answered {
    readonly path: string;
    readonly outcome: Outcome;
}

/** What a resumed run begins with. */
export interface Resumed {
    /** Effects without an outcome, to be performed now, in order. */
    readonly again: readonly Effect[];
    /** Those of them that may have been performed before: the ledger says that they are performed again. */
    readonly twice: readonly Effect[];
    /** In the ledger, but not in the state: told, not committed again. */
    readonly outcomes: readonly Answered[];
    /** Found out while resuming: what a person said about an outcome that is unknown. */
    readonly answers: readonly Answered[];
    /** How that was found out, for the ledger. */
    readonly notes: readonly MachineEvent[];
}

export interface DriveOptions {
    readonly store: LedgerStore;
    readonly writer: RunWriter;
    readonly host: Host;
    /** Effects performed at once, those that wait for a person not counted. */
    readonly concurrency?: number;
    /** What is known to be a secret: it is taken out of what comes from outside. */
    readonly secrets: Scrubber;
    readonly signal?: AbortSignal;
    /** Time of the whole run, milliseconds. */
    readonly timeout?: number;
    /** What earlier parts of the run took of it, milliseconds. */
    readonly spent?: number;
    /** How long answers are waited for after a cancel, milliseconds. */
    readonly grace?: number;
    readonly part?: (path: string, part: Json) => void;
    /** After each commit. */
    readonly committed?: () => void;
    readonly resumed?: Resumed;
}

export type DriveEnd =
    | { readonly status: "done"; readonly value: Json }
    | { readonly status: "failed"; readonly failure: Failure }
    | { readonly status: "waiting"; readonly waiting: readonly Effect[] }
    | { readonly status: "stopped" };

export const CONCURRENCY = 16;
const GRACE_MS = 5_000;
/** Longest time without a turn of the event loop, milliseconds (D8). */
const TURN_MS = 10;

export async function drive(machine: Steppable, options: DriveOptions): Promise<DriveEnd> {
    const { store, writer, resumed, secrets } = options;
    const later = new Map<string, Effect>();
    /** Asked for, not begun for want of room. */
    let queue: Effect[] = [...(resumed?.again ?? [])];
    /** Events that no state follows. */
    const notes: MachineEvent[] = [...(resumed?.notes ?? []), ...(resumed?.twice ?? []).map(again)];
    const clock = runClock({ signal: options.signal, timeout: options.timeout, spent: options.spent, happened: () => perform.poke() });
    writer.timed(clock.spent);
    const { rule } = machine;
    const note = (event: MachineEvent): Promise<void> => {
        notes.push(event);
        return commit({});
    };
    const child = childOf(options.host, note, secrets, clock.person);
    const perform = performing(options.host, {
        ...(rule === undefined ? {} : { hands: handsOf((path, use) => rule(path, use), child, note) }),
        concurrency: options.concurrency ?? CONCURRENCY,
        secrets,
        emit: options.part ?? (() => undefined),
        child,
        person: clock.person,
        wait: clock.wait,
    });
    /** Begun while the machine computed. */
    const early = new Set<string>();
    let turned = performance.now();
    async function turn(): Promise<void> {
        await tick();
        turned = performance.now();
    }
    /** Sessions with agents that may be open. */
    const sessions = new Set<string>();
    /** After a resume, waiting for time goes on where it was. */
    function begins(effect: Effect): void {
        if (effect.kind === "agent") sessions.add((effect.request as unknown as AgentTurn).session);
        const began = isTimer(effect) ? (machine.began?.(effect.path) ?? null) : null;
        const { ms } = effect.request as { readonly ms?: Json };
        if (began === null || typeof ms !== "number") perform.begin(effect);
        else perform.begin({ ...effect, request: { ms: Math.max(0, ms - (clock.spent() - began)) } });
    }
    /** D7: while the machine computes. */
    async function timers(part: Advance): Promise<void> {
        for (const path of part.dropped) if (early.delete(path)) perform.drop(path);
        for (const effect of part.effects)
            if (isTimer(effect) && !part.dropped.includes(effect.path)) {
                early.add(effect.path);
                begins(effect);
            }
        const outcomes = perform.takeTimers().map(({ path, outcome }): Answered => ({ path, outcome: struckAt(outcome, machine.reach) }));
        if (outcomes.length === 0) return;
        await commit({ outcomes });
        for (const { path, outcome } of outcomes) machine.resolve(path, outcome);
    }

    interface Commit {
        readonly outcomes?: readonly Answered[];
        readonly advance?: Advance;
        readonly fresh?: readonly { readonly effect: Effect; readonly begun: boolean }[];
        readonly begin?: readonly string[];
        readonly end?: RunEnd;
    }
    async function commit({ outcomes = [], advance, fresh, begin, end }: Commit): Promise<void> {
        const waits = advance?.state === "waiting";
        const noted = notes.splice(0);
        await writer.commit({
            outcomes,
            events: advance === undefined ? noted : noted.length === 0 ? advance.events : [...noted, ...advance.events],
            pending: fresh?.map(({ effect, begun }) => ({ path: effect.path, begun })),
            begin,
            dropped: advance?.dropped,
            state: waits && store.durable ? machine.save(clock.spent()) : undefined,
            usage: outcomes.length === 0 ? undefined : outcomes.reduce<Usage>((sum, one) => addUsage(sum, one.outcome.usage), {}),
            steps: machine.steps,
            spent: clock.spent(),
            end,
        });
        options.committed?.();
        for (const event of advance?.events ?? []) if (ENDS_SESSION.has(event.kind)) ended(event.path);
    }
    /** The session of a call that is over. Its process ends while the run goes on. */
    function ended(session: string): void {
        // A session that was begun anew has a number behind it.
        for (const one of [...sessions].filter((id) => id === session || id.startsWith(`${session}~`))) {
            sessions.delete(one);
            // What ending it has to say, nobody waits for; `close` ends whatever is left.
            options.host.end?.(one).catch(() => undefined);
        }
    }

    /** Commits what was computed and begins what there is room for. */
    async function commitAndBegin(outcomes: readonly Answered[], advance: Advance | undefined): Promise<void> {
        for (const path of advance?.dropped ?? []) {
            perform.drop(path);
            later.delete(path);
            queue = queue.filter((effect) => effect.path !== path);
        }
        let room = perform.room();
        const fits = (effect: Effect): boolean => isPersonal(effect) || isTimer(effect) || room-- > 0;
        const begin: Effect[] = [];
        const stay: Effect[] = [];
        for (const effect of queue) (fits(effect) ? begin : stay).push(effect);
        const gone = new Set(advance?.dropped);
        const asked = (advance?.effects ?? []).filter(({ path }) => !gone.has(path) && (!early.has(path) || perform.running.has(path)));
        const fresh = asked.map((effect) => ({ effect, begun: fits(effect) }));
        await commit({ outcomes, advance, fresh, begin: begin.map((effect) => effect.path) });
        queue = stay;
        for (const effect of begin) begins(effect);
        for (const { effect, begun } of fresh) {
            if (!begun) queue.push(effect);
            else if (!early.has(effect.path)) begins(effect);
        }
        early.clear();
    }

    async function taken(): Promise<Answered[]> {
        const out: Answered[] = [];
        for (const { path, outcome, effect } of perform.take()) {
            if (outcome === null) {
                later.set(path, effect);
                // It was not performed: whoever resumes the run begins it.
                if (!isPersonal(effect)) await commit({ fresh: [{ effect, begun: false }] });
            } else out.push({ path, outcome });
        }
        return out;
    }

    async function finish(advance: Advance, outcomes: readonly Answered[]): Promise<DriveEnd> {
        const end = advance.end as NonNullable<Advance["end"]>;
        perform.abort("the run has ended");
        const how: RunEnd & DriveEnd = end.ok ? { status: "done", value: end.value } : { status: "failed", failure: end.failure };
        await commit({ outcomes, advance, end: how });
        return how;
    }

    /** `computed`: what was computed since the last commit of a state. */
    async function interrupted(what: Interrupt, computed?: Advance): Promise<DriveEnd> {
        if (what === "time") {
            const failure: Failure = {
                kind: "limit.time",
                message: `the run took longer than ${options.timeout} ms`,
                hint: "allow more time with --timeout",
            };
            perform.abort(failure.message);
            await drained();
            notes.push(struck(computed === undefined ? null : machine.reach, failure));
            const end = machine.end(failure);
            return finish(computed === undefined ? end : joined(computed, end), []);
        }
        perform.abort("the run was cancelled");
        await drained();
        // What was cut short says so; whether it happened is not known, so it is no outcome.
        const kept = (await taken()).filter(({ outcome }) => outcome.ok || outcome.failure.kind !== "cancelled");
        await commit({ outcomes: kept, end: { status: "stopped" } });
        return { status: "stopped" };
    }
    async function drained(): Promise<void> {
        const until = performance.now() + (options.grace ?? GRACE_MS);
        const timer = setInterval(() => perform.poke(), 50);
        while ([...perform.running.values()].some((effect) => !isPersonal(effect)) && performance.now() < until) await perform.changed();
        clearInterval(timer);
    }

    try {
        let answers: readonly Answered[] = resumed?.answers ?? [];
        for (const { path, outcome } of resumed?.outcomes ?? []) machine.resolve(path, outcome);
        for (;;) {
            for (const { path, outcome } of answers) machine.resolve(path, outcome);
            let advance = machine.advance();
            let part = advance;
            while (advance.state === "sliced") {
                if (answers.length > 0) await commit({ outcomes: answers });
                answers = [];
                await turn();
                const what = clock.interrupt();
                if (what !== null) return await interrupted(what, advance);
                await timers(part);
                part = machine.advance();
                advance = joined(advance, part);
            }
            if (advance.state === "ended") return await finish(advance, answers);
            await commitAndBegin(answers, advance);
            for (answers = []; answers.length === 0; answers = await taken()) {
                const what = clock.interrupt();
                if (what !== null) return await interrupted(what);
                if (queue.length > 0 && perform.room() > 0) await commitAndBegin([], undefined);
                const idle = perform.running.size === 0 || (later.size > 0 && [...perform.running.values()].every(isTimer));
                if (idle && !perform.ready()) {
                    perform.abort("the run waits for a person");
                    if (later.size === 0) throw new Error("the machine waits, but nothing it waits for was asked for");
                    await commit({ end: { status: "waiting" } });
                    return { status: "waiting", waiting: [...later.values()] };
                }
                await perform.changed();
                // What arrives in the same turn of the event loop shares one commit.
                if (perform.running.size > 0 || performance.now() - turned >= TURN_MS) await turn();
            }
        }
    } catch (error) {
        perform.abort("the run could not go on");
        try {
            await writer.release();
        } catch (second) {
            // A ledger that takes nothing more cannot be told that it is let go; the first error says why.
            if (!(second instanceof LedgerError)) throw second;
        }
        throw error;
    } finally {
        for (const session of [...sessions]) ended(session);
        clock.close();
    }
}

/** Events after which a session with an agent has no turn any more. */
const ENDS_SESSION: ReadonlySet<string> = new Set(["yield.closed", "agent.ended"]);

function joined(a: Advance, b: Advance): Advance {
    return { ...b, events: [...a.events, ...b.events], effects: [...a.effects, ...b.effects], dropped: [...a.dropped, ...b.dropped] };
}

/** Where the run's time was up: at the end of a slice of computing, or (`until` null) while every fiber waited. */
function struck(until: number | null, failure: Failure): MachineEvent {
    const data = { limit: failure.kind, until, message: failure.message, host: true };
    return { path: "main", parent: null, kind: "budget", principal: "user", site: null, labels: [], data };
}

/** The outcome of waiting for time, and at which step it came. */
function struckAt(outcome: Outcome | null, at: number): Outcome {
    return outcome?.ok === false ? outcome : { ok: true, value: { at }, origins: [] };
}

/** The ledger's word that an effect is performed a second time. */
function again(effect: Effect): MachineEvent {
    const why =
        effect.kind === "model"
            ? "no outcome was kept; the provider charges this turn twice"
            : "no outcome was kept, and it may be repeated";
    const { path, principal, site, labels } = effect;
    return {
        path,
        parent: null,
        kind: "effect.started",
        principal,
        site,
        labels,
        data: { effect: effect.kind, again: true, why, host: true },
    };
}

function tick(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
}
