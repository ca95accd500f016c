/**
 * `plan`: the nodes of a block, each on a fiber of its own as soon as what it waits for is there, under a limit.
 *
 * Boundary: the schedule. What a node does is code of the block's function (`compile/blocks.ts`), what waits for what is its plan.
 *
 * PLN1: a node begins once all that it waits for have ended, whatever goes on beside it; of those that may begin, the one that could first comes
 *       first, and of those the one that stands first in the source.
 * PLN2: where a node fails, no other begins and those that run are cancelled, unless it collects: then the rest ends first. What has ended is kept.
 *       It has failed, too, where nothing goes on inside it: in a block or loop that it waits for.
 * PLN3: a gate whose value is false ends its branch: what follows in it is skipped, and its value is none, under the names of its blocks, too.
 * PLN4: where nothing takes a failure, its node stops and goes on with a retry; those that were cancelled for it begin again.
 */
import type { Json, Site } from "@remit/language";
import { planOf } from "../compile/plans.ts";
import type { Code, Slots } from "../compile/code.ts";
import type { NodeDetail, PlanDetail } from "../compile/instructions.ts";
import { raiseBy } from "../compile/strict.ts";
import { NOTHING_ALONG } from "../compile/ways.ts";
import { Fail } from "../effect/failure.ts";
import { join, labelOf, truthy } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import type { Fiber, Frame, PlanWait } from "../state/fiber.ts";
import type { Begins, Call, Inside, Ops, Waits } from "../state/ops.ts";
import { show } from "../state/show.ts";
import { failureIn, isStill, stillInside } from "../state/still.ts";
import { blockElsewhere } from "./stage.ts";

type Settled = "done" | "skipped" | "failed";

/** What follows from what a wait holds: made anew where a wait was loaded. */
interface Progress {
    readonly values: (Value | undefined)[];
    readonly settled: (Settled | undefined)[];
    /** How many of those that a node waits for have not ended. */
    readonly missing: number[];
    readonly dependents: readonly (readonly number[])[];
    /** In the order in which they became ready. */
    readonly queue: number[];
    /** Of nodes that were skipped: branch of the gate that ended it. */
    readonly scopes: Map<number, readonly number[]>;
    /** Labels of the gates before a node. */
    readonly under: number[];
    /** Nodes that have ended. */
    count: number;
}

const PROGRESS = new WeakMap<PlanWait, Progress>();

function detailOf(call: Call): PlanDetail {
    return call.I.detail as PlanDetail;
}

function progressOf(m: Ops, call: Call, wait: PlanWait): Progress {
    let made = PROGRESS.get(wait);
    if (made === undefined) {
        const { nodes } = detailOf(call).block;
        const dependents: number[][] = nodes.map(() => []);
        nodes.forEach(({ requires }, i) => {
            for (const of of new Set(requires)) dependents[of]?.push(i);
        });
        made = {
            values: [],
            settled: [],
            missing: nodes.map(({ requires }) => new Set(requires).size),
            dependents,
            queue: nodes.flatMap((node, i) => (node.requires.length === 0 ? [i] : [])),
            scopes: new Map(),
            under: nodes.map(() => 0),
            count: 0,
        };
        PROGRESS.set(wait, made);
        const { items } = wait.done;
        for (let i = 0; i < items.length; i += 2) settle(m, call, wait, { index: items[i] as number, value: items[i + 1] as Value });
        for (const { index } of wait.failures) made.settled[index] = "failed";
        made.count += wait.failures.length;
    }
    return made;
}

interface Gave {
    readonly index: number;
    readonly value: Value;
}

/** A node gave its value: what waits for it alone may begin, or is skipped. Gives those that are skipped by it, in order. */
function settle(m: Ops, call: Call, wait: PlanWait, { index, value }: Gave): number[] {
    const p = progressOf(m, call, wait);
    const { nodes } = detailOf(call).block;
    const node = nodes[index];
    if (node === undefined) return [];
    p.values[index] = value;
    p.settled[index] = "done";
    p.count++;
    if (node.gate) {
        p.under[index] = m.run.labels.union(p.under[index] as number, labelOf(value));
        if (truthy(value)) p.values[index] = join(m.run, inputsOf(call, wait, p, index)[0] ?? null, labelOf(value));
        else {
            p.values[index] = join(m.run, null, labelOf(value));
            p.scopes.set(index, node.branch);
        }
    }
    return spread(m, call, p, index);
}

/** Tells those that wait for a node that it ended. */
function spread(m: Ops, call: Call, p: Progress, from: number): number[] {
    const { nodes } = detailOf(call).block;
    const skipped: number[] = [];
    const ended = [from];
    for (let at = ended.shift(); at !== undefined; at = ended.shift())
        for (const next of p.dependents[at] as readonly number[]) {
            p.under[next] = m.run.labels.union(p.under[next] as number, p.under[at] as number);
            p.missing[next] = (p.missing[next] as number) - 1;
            if (p.missing[next] !== 0) continue;
            const node = nodes[next] as (typeof nodes)[number];
            const scope = node.requires
                .map((one) => p.scopes.get(one))
                .find((one) => one !== undefined && (node.join === "none" || isAround(one, node.branch)));
            if (scope === undefined) {
                p.queue.push(next);
                continue;
            }
            p.scopes.set(next, scope);
            p.settled[next] = "skipped";
            p.values[next] = join(m.run, null, p.under[next] as number);
            p.count++;
            skipped.push(next);
            ended.push(next);
        }
    return skipped;
}

/** Whether a branch is `inner` or one around it. */
function isAround(branch: readonly number[], inner: readonly number[]): boolean {
    return branch.every((one, i) => inner[i] === one);
}

function inputsOf(call: Call, wait: PlanWait, p: Progress, index: number): Value[] {
    const { requires } = detailOf(call).block.nodes[index] as NodeDetail["code"];
    return requires.length === 0 ? [wait.input.items[0] as Value] : requires.map((one) => p.values[one] as Value);
}

// ---- nodes ---------------------------------------------------------------------------------------------------------------

/** Paths of the fibers of nodes, which are those of their events too. */
function pathOfNode(wait: PlanWait, { code }: NodeDetail): string {
    return `${wait.path}/${code.id}`;
}

function siteOfNode(m: Ops, { frame }: Call, { code }: NodeDetail): Site | null {
    return m.compiled.site(frame.fn.file, code.at);
}

/** Starts nodes up to the limit. Gives how many have not ended. */
function fill(m: Ops, call: Call, wait: PlanWait, after: Fiber | null): number {
    const p = progressOf(m, call, wait);
    // Counted where none was ended from outside: to look at all fibers whenever a node ends takes the square of their number.
    let open = wait.closed ? runningOf(m, call).length : wait.started - wait.done.items.length / 2 - wait.failures.length;
    let running = open - stillInside(m, call.fiber).length;
    while (!wait.closed && running < m.concurrency && wait.started < p.queue.length) {
        start(m, call, wait, p.queue[wait.started] as number, after);
        wait.started++;
        running++;
        open++;
    }
    return open;
}

function runningOf(m: Ops, { fiber }: Call): Fiber[] {
    return [...m.fibers.values()].filter((one) => one.parent === fiber);
}

function start(m: Ops, call: Call, wait: PlanWait, index: number, after: Fiber | null): void {
    const { frame } = call;
    const p = progressOf(m, call, wait);
    const node = detailOf(call).nodes[index] as NodeDetail;
    const path = pathOfNode(wait, node);
    const locals = frame.locals.slice() as Slots;
    const inputs = inputsOf(call, wait, p, index);
    node.slots.forEach((slot, i) => {
        locals[slot] = inputs[i] as Value;
    });
    const { flow } = frame.forms.bodies[node.body] as Frame["form"];
    if (flow !== 0) raiseBy(locals, flow, p.under[index] as number, NOTHING_ALONG);
    nodeEvent(m, call, wait, { node, kind: "plan.node.started" });
    m.fork(call, { index, body: node.body, locals, path, after });
}

interface Told {
    readonly node: NodeDetail;
    readonly kind: "plan.node.started" | "plan.node.ended";
    readonly state?: "done" | "skipped" | "failed" | "cancelled";
    readonly value?: Value;
    readonly fail?: Fail;
}

function nodeEvent(m: Ops, call: Call, wait: PlanWait, { node, kind, state, value, fail }: Told): void {
    if (detailOf(call).block.walked) return;
    const { id, call: what } = node.code;
    const shown = value === undefined ? null : show(value, m.run.labels);
    if (shown !== null) m.give(shown.size);
    const labels = fail?.labels ?? shown?.labels ?? 0;
    const data: { [key: string]: Json } = { id, call: what };
    if (state !== undefined) data.state = state;
    if (shown !== null) data.value = shown.json;
    if (fail !== undefined) Object.assign(data, { kind: fail.kind, error: fail.message });
    m.emit(kind, pathOfNode(wait, node), wait.path, siteOfNode(m, call, node), m.run.labels.origins(labels), data);
}

function ended(
    m: Ops,
    call: Call,
    wait: PlanWait,
    { index, ...end }: Pick<Told, "state" | "value" | "fail"> & { readonly index: number },
): void {
    const node = detailOf(call).nodes[index] as NodeDetail;
    nodeEvent(m, call, wait, { node, kind: "plan.node.ended", ...end });
}

/** PLN3. */
function skippedNode(m: Ops, call: Call, wait: PlanWait, index: number): void {
    const { names } = detailOf(call).block.nodes[index] as NodeDetail["code"];
    const value = progressOf(m, call, wait).values[index] as Value;
    if (names.length > 0) for (const [place, name] of m.compiled.namedBlocks) if (names.includes(name)) m.run.bind(place, value);
    ended(m, call, wait, { index, state: "skipped" });
}

// ---- failures ------------------------------------------------------------------------------------------------------------

/** Ends what runs beside a node that failed. */
function cancelOthers(m: Ops, call: Call, wait: PlanWait, because: Fail): void {
    wait.closed = true;
    const others = runningOf(m, call).filter((one) => !isStill(m, one));
    m.discard(others, because);
    for (const { index } of others) ended(m, call, wait, { index, state: "cancelled" });
}

function failureOf(m: Ops, call: Call, wait: PlanWait, inside: readonly Inside[]): Fail | null {
    const failures = [...wait.failures, ...inside].sort((a, b) => a.index - b.index);
    const [first] = failures;
    if (first === undefined) return null;
    const { nodes } = detailOf(call);
    let labels = 0;
    for (const { fail } of failures) labels = m.run.labels.union(labels, fail.labels);
    const told = failures.map(({ index, fail }) => {
        const node = nodes[index] as NodeDetail;
        const site = siteOfNode(m, call, node);
        return { node: node.code.id, kind: fail.kind, message: fail.message, site: (site ?? null) as unknown as Json };
    });
    const worst = failures.find(({ fail }) => fail.class === "violation") ?? failures.find(({ fail }) => fail.class === "limit") ?? first;
    const { fail } = worst;
    return new Fail(fail.kind, told.map((one) => `${one.node} failed: ${one.message}`).join("; "), {
        site: siteOfNode(m, call, nodes[worst.index] as NodeDetail) ?? fail.site,
        labels,
        detail: told,
        hint: () => fail.hint,
        ...(fail.region == null ? {} : { region: fail.region }),
        ...(fail.by == null ? {} : { by: fail.by }),
        whole: fail.whole,
    });
}

// ---- the end -------------------------------------------------------------------------------------------------------------

/** Goes on: begins what may begin, and ends the block where nothing is left. */
function goOn(m: Ops, call: Call, wait: PlanWait, after: Fiber): void {
    const open = fill(m, call, wait, after);
    const p = progressOf(m, call, wait);
    if (open > 0 || (!wait.closed && wait.started < p.queue.length)) return;
    const fail = failureOf(m, call, wait, []);
    endedEvent(m, call, wait, fail);
    if (m.isOver) return;
    if (fail !== null) m.deliverFail(call.fiber, fail);
    else m.deliver(call.fiber, resultOf(m, call, p));
}

function resultOf(m: Ops, call: Call, p: Progress): Value {
    const { out, several } = detailOf(call).block;
    const values = out.map((one) => p.values[one] ?? null);
    return several ? m.run.heap.list(values) : (values[0] ?? null);
}

function endedEvent(m: Ops, call: Call, wait: PlanWait, fail: Fail | null): void {
    const { block } = detailOf(call);
    if (block.walked) return;
    const { settled } = progressOf(m, call, wait);
    const count = (state: Settled): number => block.nodes.filter((_, i) => settled[i] === state).length;
    m.emit("plan.ended", wait.path, call.frame.parent, call.I.site, m.run.labels.origins(fail?.labels ?? 0), {
        ok: fail === null,
        nodes: block.nodes.length,
        done: count("done"),
        skipped: count("skipped"),
        failed: count("failed"),
    });
}

export const plan: Begins<PlanDetail> & Waits<PlanWait> = {
    begin(m, call, d) {
        const { frame, I, path } = call;
        const value = (I.code as Code)(frame.locals);
        if (!d.block.walked && d.block.form.backend !== (m.options.backend ?? "memory")) return blockElsewhere(m, call, d.block, value);
        const { heap } = m.run;
        const wait: PlanWait = {
            kind: "plan",
            path,
            input: heap.list([value]),
            started: 0,
            closed: false,
            done: heap.list([]),
            failures: [],
        };
        if (!d.block.walked) {
            const shown = planOf(d.block, frame.fn, m.options.programHash);
            m.emit("plan.started", path, frame.parent, I.site, [], { plan: shown as unknown as Json });
        }
        frame.native = wait;
        fill(m, call, wait, null);
        return false;
    },

    resume() {
        throw new Error("a plan has no effect of its own");
    },

    ended(m, call, wait, child, end) {
        const { index } = child;
        const { block } = detailOf(call);
        const p = progressOf(m, call, wait);
        if (end instanceof Fail) {
            wait.failures.push({ index, fail: end });
            p.settled[index] = "failed";
            p.count++;
            ended(m, call, wait, { index, state: "failed", fail: end });
            if (block.nodes[index]?.collects !== true) cancelOthers(m, call, wait, end);
        } else {
            m.run.heap.push(wait.done, index);
            m.run.heap.push(wait.done, end);
            const skipped = settle(m, call, wait, { index, value: end });
            ended(m, call, wait, { index, state: "done", value: p.values[index] as Value });
            for (const one of skipped) skippedNode(m, call, wait, one);
        }
        goOn(m, call, wait, child);
    },

    stopped(m, call, wait, child) {
        const { index } = child;
        const fail = failureIn(m, child);
        if (fail === null) return;
        ended(m, call, wait, { index, state: "failed", fail });
        if (detailOf(call).block.nodes[index]?.collects !== true) cancelOthers(m, call, wait, fail);
        else fill(m, call, wait, child);
    },

    freed(m, call, wait, { index }) {
        const p = progressOf(m, call, wait);
        const { nodes } = detailOf(call);
        nodeEvent(m, call, wait, { node: nodes[index] as NodeDetail, kind: "plan.node.started" });
        if (!wait.closed) return;
        wait.closed = false;
        const running = new Set(runningOf(m, call).map((one) => one.index));
        for (const one of p.queue.slice(0, wait.started))
            if (p.settled[one] === undefined && !running.has(one)) start(m, call, wait, one, null);
        fill(m, call, wait, null);
    },

    failure: failureOf,

    // Its nodes go on by themselves.
    again: () => undefined,

    held: ({ input, done }) => [input, done],
};
