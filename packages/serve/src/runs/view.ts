/**
 * Runs of the ledger as the console shows them: a list, one run, its trace, its prompts, its plans.
 *
 * Boundary: reads a ledger that may be shown (`shownStore`) and makes plain JSON of it by the projections of the machine; nothing is decided here. Of
 * files it reads the line that a failure names, and of the program's own ones alone.
 *
 * RVW1: nothing of a run is changed by looking at it.
 */
import { readFile, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { isSession, type LedgerStore, type RunInfo } from "@remit/host";
import { isObject, type Json, LENT, shownUse, type Site } from "@remit/language";
import { costOf, explainRun, type LedgerEvent, type Plan, planTree, traceRows } from "@remit/machine";
import type { ListedRun, NodeView, PlanView, PromptView, Replied, RunPage, RunView, TraceView } from "../wire/runs.ts";

/** So many runs are looked through by a search. */
const SEARCHED = 2000;
const PAGE = 50;

export interface RunQuery {
    /** In the id, the file, the state, the task or the failure. */
    readonly search?: string;
    /** Those after this one. */
    readonly after?: string;
    readonly limit?: number;
}

/** What sessions know of a run that is one of their turns. */
export type AsTurn = (run: string) => Pick<ListedRun, "task"> & { readonly asks: boolean };

/** Newest first. */
export async function runPage(store: LedgerStore, { search = "", after, limit = PAGE }: RunQuery, asTurn: AsTurn): Promise<RunPage> {
    const wanted = search.trim().toLowerCase();
    const all = (await store.runs(SEARCHED, () => undefined)).filter(({ id }) => !isSession(id)).map((one) => turned(listed(one), asTurn));
    const found = wanted === "" ? all : all.filter((one) => textOf(one).includes(wanted));
    const from = after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1;
    const runs = found.slice(from, from + limit);
    return { runs, next: from + limit < found.length ? (runs.at(-1)?.id ?? null) : null };
}

/** The run that a person means by an id, or by `last`: of a session its last turn, where it has one. Throws `LedgerError`. */
export async function runMeant(store: LedgerStore, id: string): Promise<RunInfo> {
    const run = await store.run(id);
    if (!isSession(run.id)) return run;
    const turns = (await store.runs(SEARCHED, () => undefined)).filter((one) => one.id.startsWith(`${run.id}.`));
    return turns.find((one) => !one.id.slice(run.id.length + 1).includes(".")) ?? run;
}

function turned(run: ListedRun, asTurn: AsTurn): ListedRun {
    const { asks, ...more } = asTurn(run.id);
    return { ...run, ...more, ...(asks ? { state: "waiting" } : {}) };
}

function textOf({ id, file, folder, state, task, failure }: ListedRun): string {
    return [id, `${folder ?? ""}/${file}`, state, task ?? "", failure?.kind ?? "", failure?.message ?? ""].join("\n").toLowerCase();
}

function listed(run: RunInfo): ListedRun {
    const { id, file, root, started, ended, usage, steps, effects, spent, failure } = run;
    const folder = root === "" ? {} : { folder: basename(root) };
    const state = run.status === "running" && !run.live ? "interrupted" : run.status;
    const failed = failure === undefined ? {} : { failure: { kind: failure.kind, message: failure.message } };
    return { id, file, ...folder, started, ended, usage, steps, effects, spent, state, ...failed };
}

/** The line of a place, where that is in one of the program's own files and the file is still there. */
async function lineAt(store: LedgerStore, { program, root }: RunInfo, site: Site | null | undefined): Promise<string | undefined> {
    if (!site || root === "" || !(await store.program(program)).files.some(({ file }) => file === site.file)) return undefined;
    try {
        const [folder, path] = [await realpath(root), await realpath(join(root, site.file))];
        if (!path.startsWith(folder + sep)) return undefined;
        return (await readFile(path, "utf8")).split(/\r?\n/)[site.line - 1];
    } catch (error) {
        // The program may have been moved or removed: the place alone still helps.
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        return undefined;
    }
}

/** One run, whole but for its events. */
export async function runView(store: LedgerStore, id: string): Promise<RunView> {
    const run = await store.run(id);
    const { value, failure, events, live } = run;
    const { models, total } = costOf(await eventsOf(store, run.id));
    const source = failure === undefined ? undefined : await lineAt(store, run, failure.site);
    const open = (await store.asks.list(run.id)).filter(({ state }) => state === "open");
    const waits = open.map(({ id: ask, request: { question }, expires }) => ({ id: ask, question, expires }));
    return {
        ...listed(run),
        ...{ events, live, models, total, waits },
        ...(value === undefined ? {} : { value }),
        ...(failure === undefined ? {} : { failure: { ...failure, ...(source === undefined ? {} : { source }) } }),
    };
}

/** `seq`: number of the last event that the rows are made of. */
export async function traceView(store: LedgerStore, id: string): Promise<TraceView> {
    const events = await eventsOf(store, id);
    return { rows: traceRows(events).map(({ detail: _, ...row }) => row), seq: events.at(-1)?.seq ?? 0 };
}

/** The prompts of a run, each with what the model answered and what came of it. */
export async function promptsView(store: LedgerStore, id: string): Promise<PromptView[]> {
    const events = await eventsOf(store, id);
    const of = (path: string, kind: LedgerEvent["kind"]): { readonly [key: string]: Json } => {
        const data = events.find((one) => one.kind === kind && one.path === path)?.data ?? null;
        return isObject(data) ? data : {};
    };
    return explainRun(events).map((one) => {
        const ended = of(one.path, "generate.ended");
        const replies = one.turns.map(({ path }): Replied => {
            const { reply = null, error = null, usage = null, answered_by: answeredBy = null } = of(path, "generate.attempt");
            return { path, reply, error, usage, answeredBy };
        });
        const { ok = null, result = null, error = null } = ended;
        const tools = one.tools.map((tool) => ({ ...tool, shown: tool.uri === LENT ? shownUse(tool.source, tool.uri) : null }));
        return { ...one, tools, replies, total: of(one.path, "generate.started")["total"] ?? null, ended: { ok, result, error } };
    });
}

export async function plansView(store: LedgerStore, id: string): Promise<PlanView[]> {
    const plans = new Map<string, { plan: Plan; nodes: { [id: string]: NodeView }; state: PlanView["state"] }>();
    const begun = new Map<string, number>();
    for (const { kind, path, data, time } of await eventsOf(store, id)) {
        if (!isObject(data)) continue;
        if (kind === "plan.started" && isObject(data["plan"] ?? null))
            plans.set(path, { plan: data["plan"] as unknown as Plan, nodes: Object.create(null), state: "running" });
        const known = plans.get(kind.startsWith("plan.node.") ? path.slice(0, path.lastIndexOf("/")) : path);
        if (known === undefined) continue;
        if (kind === "plan.ended") known.state = data["ok"] === false ? "failed" : "done";
        if (typeof data["id"] !== "string") continue;
        if (kind === "plan.node.started") {
            begun.set(path, Date.parse(time));
            known.nodes[data["id"]] = { state: "running" };
        }
        if (kind === "plan.node.ended") known.nodes[data["id"]] = nodeView(data, Date.parse(time) - (begun.get(path) ?? Date.parse(time)));
    }
    return [...plans].map(([path, { plan, nodes, state }]) => ({
        path,
        title: `${plan.backend} ${plan.mode} block${plan.name === undefined ? "" : ` as ${plan.name}`}`,
        tree: planTree(plan.nodes),
        results: plan.results,
        nodes,
        state,
    }));
}

function nodeView(data: { readonly [key: string]: Json }, ms: number): NodeView {
    const { state, value, error } = data;
    return {
        state: typeof state === "string" ? state : data["ok"] === false ? "failed" : "done",
        ms,
        ...(value === undefined ? {} : { value }),
        ...(typeof error === "string" ? { error } : {}),
    };
}

function eventsOf(store: LedgerStore, id: string): Promise<LedgerEvent[]> {
    return Array.fromAsync(store.events(id));
}
