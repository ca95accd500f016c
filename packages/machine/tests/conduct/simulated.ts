/** A shell without a world: choices say what happens next, and the store is an array. */
import type { Json, Program } from "@remit/language";
import {
    type Answered,
    type Batch,
    Compiled,
    type ConductEnd,
    Conductor,
    type Decision,
    type Effect,
    Machine,
    type MachineEvent,
    type News,
    type Recovered,
    type StartOptions,
} from "../../src/index.ts";
import { type Answer, echo, OPTIONS } from "../run/forms.ts";

export interface Simulation {
    /** One number a step: what happens then. */
    readonly choices: readonly number[];
    readonly crashes?: boolean;
    readonly failing?: boolean;
    /** Performers are lost before they answer; a person says of what may not be repeated that it is to be performed again. */
    readonly losing?: boolean;
    /** Step at which the run is cancelled; it is resumed afterwards. */
    readonly cancel?: number;
    readonly concurrency?: number;
    readonly answer?: Answer;
    /** What the machine is started with. */
    readonly options?: StartOptions;
    /** What an earlier part of the run kept; this one goes on from it. */
    readonly kept?: Kept;
    /** After so many commits the run is cancelled, or its process is gone. */
    readonly cut?: { readonly commits: number; readonly kind: "cancel" | "kill" };
}

export interface Simulated {
    /** Null: the process is gone. */
    readonly end: ConductEnd | null;
    readonly events: readonly MachineEvent[];
    readonly outcomes: readonly Answered[];
    /** Paths that were begun although the store had an outcome for them. */
    readonly repeated: readonly string[];
    /** Most effects that were performed at once. */
    readonly most: number;
    readonly restarts: number;
    /** Performers that were lost. */
    readonly losses: number;
}

/** What was kept. */
export class Kept {
    readonly events: MachineEvent[] = [];
    readonly outcomes: Answered[] = [];
    readonly pending = new Map<string, boolean>();
    /** Paths of what the program asked for. */
    readonly asked = new Set<string>();
    documents: Json[] = [];
    contains = 0;

    commit(batch: Batch): void {
        this.events.push(...(batch.events ?? []));
        for (const one of batch.outcomes ?? []) {
            this.outcomes.push(one);
            this.pending.delete(one.path);
        }
        for (const { path, begun } of batch.pending ?? []) {
            this.pending.set(path, begun);
            this.asked.add(path);
        }
        for (const path of batch.begin ?? []) this.pending.set(path, true);
        for (const path of batch.dropped ?? []) this.pending.delete(path);
        if (batch.state === undefined) return;
        const json = JSON.parse(JSON.stringify(batch.state.json)) as Json;
        this.documents = batch.state.kind === "image" ? [json] : [...this.documents, json];
        this.contains = this.outcomes.length;
    }

    get recovered(): Recovered {
        const begun = [...this.pending].flatMap(([path, isBegun]) => (isBegun ? [path] : []));
        return { outcomes: this.outcomes.slice(this.contains), begun, repeatable: begun };
    }
}

export function simulate(program: Program, how: Simulation): Simulated {
    const kept = how.kept ?? new Kept();
    const compiled = new Compiled(program);
    const options = { ...OPTIONS, ...how.options, slice: 50 };
    const repeated: string[] = [];
    const answer = how.answer ?? echo;
    let at = 0;
    let step = 0;
    let most = 0;
    let restarts = 0;
    let losses = 0;
    let kepts = 0;
    let performed = new Map<string, Effect>();
    let commits: (Decision & { readonly kind: "commit" })[] = [];
    let conductor = begins();

    function begins(): Conductor {
        const isNew = kept.documents.length === 0;
        const machine = isNew ? Machine.start(compiled, options) : Machine.load(new Compiled(program), options, kept.documents);
        const again = isNew ? {} : { recovered: kept.recovered };
        performed = new Map();
        commits = [];
        return new Conductor(machine, { saves: true, concurrency: how.concurrency ?? 4, ...again });
    }

    const over = (end: ConductEnd | null): Simulated => {
        const { events, outcomes } = kept;
        return { end, events, outcomes, repeated, most, restarts, losses };
    };

    for (let news: News[] = []; ; ) {
        let end: ConductEnd | null = null;
        let computes = false;
        const said: News[] = [];
        for (const decision of conductor.next(at++, news)) {
            if (decision.kind === "commit") commits.push(decision);
            else if (decision.kind === "begin") {
                const { path } = decision.effect;
                if (kept.outcomes.some((one) => one.path === path)) repeated.push(path);
                if (kept.pending.get(path) !== true) throw new Error(`${path} was begun before its start was kept`);
                performed.set(path, decision.effect);
                most = Math.max(most, performed.size);
            } else if (decision.kind === "stop" && !decision.waits) performed.delete(decision.path);
            else if (decision.kind === "unknown") said.push({ kind: "known", path: decision.effect.path, said: { answer: "again" } });
            else if (decision.kind === "compute") computes = true;
            else if (decision.kind === "ended") end = decision.end;
        }
        news = said;
        if (end !== null) {
            if (end.status !== "stopped" || how.cut !== undefined) return over(end);
            restarts++;
            conductor = begins();
            continue;
        }
        const choice = how.choices[step++ % how.choices.length] ?? 0;
        if (step > 100_000) throw new Error("the run does not end");
        // A choice is taken once: what comes round again would crash for ever.
        const isFirst = step <= how.choices.length;
        if (how.cancel === step) news.push({ kind: "cancel" });
        else if (how.crashes === true && isFirst && choice % 4 === 1) {
            restarts++;
            conductor = begins();
        } else if (commits.length > 0 && (choice % 2 === 0 || performed.size === 0)) {
            const { n, batch } = commits.shift() as (typeof commits)[number];
            if (how.failing === true && isFirst && choice % 3 === 0) {
                at += 20_000;
                news.push({ kind: "failed", n, again: true });
            } else {
                kept.commit(batch);
                news.push({ kind: "committed", n });
                if (++kepts === how.cut?.commits && batch.end === undefined) {
                    if (how.cut.kind === "kill") return over(null);
                    news.push({ kind: "cancel" });
                }
            }
        } else if (performed.size > 0) {
            const paths = [...performed.keys()];
            const path = paths[choice % paths.length] as string;
            const effect = performed.get(path) as Effect;
            performed.delete(path);
            if (how.losing === true && isFirst && choice % 3 === 0) {
                losses++;
                news.push({ kind: "lost", path, repeatable: choice % 2 === 0 });
            } else news.push({ kind: "outcome", path, outcome: answer(effect) });
        } else if (!computes) {
            at += 1_000;
            news.push({ kind: "time" });
        }
    }
}
