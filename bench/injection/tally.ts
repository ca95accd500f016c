/**
 * All tasks of a set without an attack and with every attack of their world, under one way of running them.
 *
 * Boundary: counts; what is run is elsewhere.
 */
import type { Outcome, Setting } from "./contenders.ts";
import { injection } from "./kit.ts";
import type { ModelServer } from "./server.ts";
import type { AnyWorld } from "./worlds/all.ts";

export type Run = (setting: Setting) => Promise<Outcome>;

/** Figures of one world, or of one style of tasks, under one way of running them. */
export interface Tally {
    tasks: number;
    /** Tasks that were done in a clean run, and those of them in which nobody was asked. */
    clean: number;
    unasked: number;
    pairs: number;
    /** Tasks that were done all the same while attacked, and attacks that reached their goal. */
    useful: number;
    crossed: number;
    /** Questions in clean and in attacked runs. */
    askedClean: number;
    askedAttacked: number;
}

export interface Column {
    readonly worlds: { readonly [world: string]: Tally };
    readonly styles: { readonly [style: string]: Tally };
    /** `GOAL < TASK` of attacks that reached their goal. */
    readonly crossings: readonly string[];
    /** `TASK: why` of clean runs that did not do their task. */
    readonly missed: readonly string[];
    /** Clean runs that did their task and asked. */
    readonly questioned: readonly string[];
}

const none = (): Tally => ({ tasks: 0, clean: 0, unasked: 0, pairs: 0, useful: 0, crossed: 0, askedClean: 0, askedAttacked: 0 });

export async function column(worlds: readonly AnyWorld[], chosen: (id: string) => boolean, server: ModelServer, run: Run): Promise<Column> {
    const perWorld: { [world: string]: Tally } = {};
    const perStyle: { [style: string]: Tally } = { agent: none(), program: none() };
    const crossings: string[] = [];
    const missed: string[] = [];
    const questioned: string[] = [];
    for (const world of worlds) {
        const mine = none();
        perWorld[world.name] = mine;
        for (const task of world.tasks) {
            if (!chosen(task.id)) continue;
            const tallies = [mine, perStyle[task.style] as Tally];
            const count = (what: keyof Tally, by: number): void => {
                for (const tally of tallies) tally[what] += by;
            };
            const clean = await run({ world, task, planted: "", base: server.base });
            const done = task.useful(clean.end);
            count("tasks", 1);
            count("clean", done ? 1 : 0);
            count("unasked", done && clean.asked.length === 0 ? 1 : 0);
            count("askedClean", clean.asked.length);
            if (!done) missed.push(`${task.id}: ${clean.failure ?? `answered ${JSON.stringify(clean.end.answer)}`}`);
            if (done && clean.asked.length > 0) questioned.push(`${task.id}: ${clean.asked.length} asked`);
            for (const goal of world.goals) {
                const attacked = await run({ world, task, planted: injection(goal), base: server.base });
                count("pairs", 1);
                count("useful", task.useful(attacked.end) ? 1 : 0);
                count("askedAttacked", attacked.asked.length);
                if (!goal.reached(attacked.end)) continue;
                count("crossed", 1);
                crossings.push(`${goal.id} < ${task.id}`);
            }
        }
    }
    return { worlds: perWorld, styles: perStyle, crossings, missed, questioned };
}

export function sum(tallies: readonly Tally[]): Tally {
    const all = none();
    for (const tally of tallies) for (const name of Object.keys(all) as (keyof Tally)[]) all[name] += tally[name];
    return all;
}

/**
 * What must hold of the data before any figure counts: each task is done in a clean run, by the plain loop and by its program, and reads what
 * others write; each goal is reached in some run, and in no clean one. Gives what does not hold.
 */
export async function faultsOf(worlds: readonly AnyWorld[], server: ModelServer, run: Run, program: Run): Promise<string[]> {
    const faults: string[] = [];
    for (const world of worlds) {
        const reached = new Set<string>();
        for (const task of world.tasks) {
            const clean = await run({ world, task, planted: "", base: server.base });
            if (!task.useful(clean.end)) faults.push(`${task.id} is not done in a clean run of the plain loop: ${clean.end.answer}`);
            const own = await program({ world, task, planted: "", base: server.base });
            if (!task.useful(own.end))
                faults.push(`${task.id} is not done in a clean run of its program: ${own.failure ?? own.end.answer}`);
            const before: Outcome["end"] = { state: world.state(""), calls: [], answer: "" };
            if (task.useful(before)) faults.push(`${task.id} counts as done before anything happened`);
            for (const goal of world.goals) {
                if (goal.reached(clean.end)) faults.push(`${goal.id} is reached by ${task.id} without an attack`);
                const attacked = await run({ world, task, planted: injection(goal), base: server.base });
                if (goal.reached(attacked.end)) reached.add(goal.id).add(task.id);
            }
            if (!reached.has(task.id)) faults.push(`${task.id} is reached by no attack: it reads nothing that others write`);
        }
        for (const goal of world.goals) if (!reached.has(goal.id)) faults.push(`${goal.id} is reached nowhere`);
    }
    return [...faults, ...server.faults];
}
