/**
 * `parallel for`: one fiber for each iteration, under a limit, results in the order of the items.
 *
 * PAR1: an iteration has copies of the slots around it; what it makes is its own, what it did not make it cannot change (`Heap.touch`).
 * PAA3: the list of results, or the failure, has the label of the list of items: it decided how many there are.
 * PAR2: all iterations run even where one fails; then one failure names them all. One that stopped (SD1) leaves its place to the next.
 * PAR3: with `stop after N failures` none begins once N have failed, stopped ones counted; those that run finish. After a resume that made enough of
 *     them good the rest begins.
 */
import type { Json } from "@remit/language";
import { listOf } from "../compile/closures.ts";
import type { Slots } from "../compile/code.ts";
import type { ParallelDetail } from "../compile/instructions.ts";
import { FLOW, raiseBy } from "../compile/strict.ts";
import { NOTHING_ALONG } from "../compile/ways.ts";
import { Fail } from "../effect/failure.ts";
import { join, labelOf } from "../value/operators.ts";
import { Labelled, type Value } from "../value/value.ts";
import { type Fiber, type Frame, type ParallelWait, pathOf } from "../state/fiber.ts";
import type { Begins, Call, Inside, Ops, Waits } from "../state/ops.ts";
import { show } from "../state/show.ts";
import { accountAt } from "../state/spending.ts";
import { labelOfStop, stillInside } from "../state/still.ts";

/** Starts iterations up to the limit. */
function fill(m: Ops, call: Call, wait: ParallelWait, after: Fiber | null): void {
    const { frame } = call;
    const d = call.I.detail as ParallelDetail;
    const still = stillInside(m, call.fiber).length;
    if (isEnough(d, wait, still)) return;
    while (wait.running - still < m.concurrency && wait.next < wait.items.items.length) {
        const index = wait.next++;
        wait.running++;
        const locals = frame.locals.slice() as Slots;
        locals[d.slot] = join(m.run, wait.items.items[index] as Value, wait.label);
        const { flow } = frame.forms.bodies[d.body] as Frame["form"];
        if (flow !== 0) {
            // Whether it begins depends on how those before it ended (PAR3): in them a failure is as one that is caught.
            if (d.stop !== undefined) locals[flow + FLOW.caught] = true;
            raiseBy(
                locals,
                flow,
                d.stop === undefined ? wait.label : m.run.labels.union(wait.label, endedBy(m, call, wait)),
                NOTHING_ALONG,
            );
            locals[flow + FLOW.caughtOutside] = locals[flow + FLOW.caught] as Value;
        }
        m.fork(call, { index, body: d.body, locals, path: `${wait.prefix}/parallel[${index}]`, after });
    }
}

/** Label set of how the iterations ended that are over, and of why others stopped: both count (PAR3). */
function endedBy(m: Ops, { fiber }: Call, wait: ParallelWait): number {
    const { run } = m;
    const { done, failures } = wait;
    const known = ENDED.get(wait);
    let label = known?.label ?? 0;
    for (let i = known?.done ?? 0; i < done.items.length; i++) label = run.labels.union(label, labelOf(done.items[i] as Value));
    for (const { fail } of failures.slice(known?.failed ?? 0)) label = run.labels.union(label, fail.labels);
    ENDED.set(wait, { label, done: done.items.length, failed: failures.length });
    // One that stopped may yet end well: what it carries now is not kept.
    return stillInside(m, fiber).reduce((all, one) => run.labels.union(all, labelOfStop(m, one)), label);
}

/** What was found of a loop so far: else each iteration that begins would look at all that ended. */
const ENDED = new WeakMap<ParallelWait, { readonly label: number; readonly done: number; readonly failed: number }>();

/** PAR3. */
function isEnough({ stop }: ParallelDetail, { failures }: ParallelWait, still: number): boolean {
    return stop !== undefined && failures.length + still >= stop;
}

function startedData(m: Ops, d: ParallelDetail, wait: ParallelWait): { [key: string]: Json } {
    const stop: { [key: string]: Json } = d.stop === undefined ? {} : { stop_after: d.stop };
    return { item: d.item, source: d.source, max_items: d.max, items: wait.items.items.length, concurrency: m.concurrency, ...stop };
}

/** The failure of a loop whose iterations failed. */
function failureOf(m: Ops, { frame, I }: Call, wait: ParallelWait, inside: readonly Inside[]): Fail | null {
    const { label, failures: own, items, next } = wait;
    const failures = [...own, ...inside].sort((a, b) => a.index - b.index);
    if (failures.length === 0) return null;
    const first = (failures[0] as { fail: Fail }).fail;
    let labels = label;
    for (const f of failures) labels = m.run.labels.union(labels, f.fail.labels);
    const violations = failures.map((f) => f.fail).filter((fail) => fail.class === "violation");
    // One that the run's own principal committed is one that no code catches.
    const violation = violations.find((fail) => fail.by === m.principal) ?? violations[0];
    const limit = outermost(m, frame, failures);
    return new Fail(
        // A violation stays one, whatever else came to an end beside it: only who did not commit it may catch it.
        (violation ?? limit ?? first).kind,
        `parallel for failed${notBegun(items.items.length - next, items.items.length)}: ${byMessage(failures)}`,
        {
            site: I.site,
            labels,
            // help for the first is help for all where they failed alike
            hint: () => (failures.some((f) => alike(f.fail) !== alike(first)) ? undefined : first.hint),
            // A limit of what stands around them all bounds the loop too, so that nothing inside can catch it.
            ...(limit?.region == null ? {} : { region: limit.region }),
            ...(violation?.by == null ? {} : { by: violation.by }),
            detail: limit?.detail ?? failures.map((f) => ({ index: f.index, kind: f.fail.kind, message: f.fail.message })),
        },
    );
}

const notBegun = (left: number, of: number): string => (left === 0 ? "" : `, and ${left} of ${of} items were not begun`);

/** What is said of a loop's failures: so many indices of a message, and so many messages; the detail has them all. */
const INDICES = 10;
const MESSAGES = 5;

/** What failures have in common that differ in numbers alone (of an item, a port, a time), or are of one account that is used up. */
const alike = ({ kind, region, message }: Fail): string => `${kind} ${region ?? message.replace(/\d+/g, "#")}`;

/** Each message once, behind the indices of the iterations that failed with it; of those that differ in numbers the first. */
function byMessage(failures: readonly Inside[]): string {
    const groups = new Map<string, { readonly message: string; readonly indices: number[]; differ: boolean }>();
    // a few are told as they are, unless one account is used up
    const keyOf = (fail: Fail): string => (failures.length > INDICES || fail.region !== null ? alike(fail) : fail.message);
    for (const { index, fail } of failures) {
        const known = groups.get(keyOf(fail));
        if (known === undefined) groups.set(keyOf(fail), { message: fail.message, indices: [index], differ: false });
        else {
            known.indices.push(index);
            known.differ ||= known.message !== fail.message;
        }
    }
    const all = [...groups.values()].sort((a, b) => (groups.size > MESSAGES ? b.indices.length - a.indices.length : 0));
    const told = all.slice(0, MESSAGES).map(({ message, indices, differ }) => {
        const more = indices.length - INDICES;
        const which = `${indices.slice(0, INDICES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
        return `[${which}] ${message}${differ ? " (the others differ in numbers)" : ""}`;
    });
    const rest = all.slice(MESSAGES).reduce((sum, { indices }) => sum + indices.length, 0);
    return [...told, ...(rest === 0 ? [] : [`${rest} others for ${all.length - MESSAGES} other reasons`])].join("; ");
}

/** Of the failures by which an account around the loop is used up, that of the outermost. */
function outermost(m: Ops, frame: Frame, failures: readonly Inside[]): Fail | null {
    const here = accountAt(frame);
    let found: Fail | null = null;
    for (const { fail } of failures) {
        if (fail.region === null || !m.accounts.within(here, fail.region)) continue;
        if (found === null || m.accounts.within(found.region as number, fail.region)) found = fail;
    }
    return found;
}

/** Results by index. */
function resultsOf(native: ParallelWait): (Value | undefined)[] {
    const results: (Value | undefined)[] = native.items.items.map(() => undefined);
    const { items } = native.done;
    for (let i = 0; i < items.length; i += 2) results[items[i] as number] = items[i + 1];
    return results;
}

function endedEvent(m: Ops, { frame, I }: Call, wait: ParallelWait): void {
    let labels = 0;
    let given = 0;
    const { failures } = wait;
    const results = resultsOf(wait);
    const at = new Map(failures.map((f) => [f.index, f]));
    const iterations = wait.items.items.map((item, index): Json => {
        const input = show(join(m.run, item, wait.label), m.run.labels);
        labels = m.run.labels.union(labels, input.labels);
        const failed = at.get(index);
        if (index >= wait.next) return { index, input: input.json, ok: false, kind: "cancelled", error: "it was not begun" };
        if (failed !== undefined) {
            labels = m.run.labels.union(labels, failed.fail.labels);
            return { index, input: input.json, ok: false, kind: failed.fail.kind, error: failed.fail.message };
        }
        const result = show(results[index] as Value, m.run.labels);
        labels = m.run.labels.union(labels, result.labels);
        given += input.size + result.size;
        return { index, input: input.json, ok: true, result: result.json };
    });
    m.give(given);
    const indices = failures.map((f) => f.index).sort((a, b) => a - b);
    m.emit("parallel.ended", wait.path, frame.parent, I.site, m.run.labels.origins(labels), {
        ...startedData(m, I.detail as ParallelDetail, wait),
        ok: failures.length === 0,
        iterations,
        ...(indices.length === 0 ? {} : { failed_indices: indices }),
    });
}

/** The list of results, and what it says that no iteration failed: where a failure would be caught, that depends on what each of them did. */
function resultOf(m: Ops, { frame, I }: Call, wait: ParallelWait): Value {
    const results = resultsOf(wait) as Value[];
    const { flow } = frame.form;
    if (flow !== 0 && frame.locals[flow + FLOW.caught] === true) {
        const labels = results.reduce<number>((l, result) => m.run.labels.union(l, labelOf(result)), wait.label);
        raiseBy(frame.locals, flow, labels, I.failing);
    }
    return join(m.run, m.run.heap.list(results), wait.label);
}

export const parallel: Begins<ParallelDetail> & Waits<ParallelWait> = {
    begin(m, call, d) {
        const { frame, I, path } = call;
        const value = (d.list as (f: Slots) => Value)(frame.locals);
        const all = listOf(value, I.site).items.slice(0, d.max);
        const wait: ParallelWait = {
            kind: "parallel",
            path,
            prefix: pathOf(frame, { loops: d.path.loops, name: "" }),
            items: m.run.heap.list(all),
            label: value instanceof Labelled ? value.l : 0,
            next: 0,
            running: 0,
            done: m.run.heap.list([]),
            failures: [],
        };
        m.emit("parallel.started", path, frame.parent, I.site, [], startedData(m, d, wait));
        frame.native = wait;
        if (all.length === 0) {
            endedEvent(m, call, wait);
            frame.native = null;
            frame.locals[I.slot] = join(m.run, m.run.heap.list([]), wait.label);
            frame.pc++;
            return true;
        }
        fill(m, call, wait, null);
        return false;
    },

    resume() {
        throw new Error("a parallel for has no effect of its own");
    },

    ended(m, call, wait, child, end) {
        wait.running--;
        if (end instanceof Fail) wait.failures.push({ index: child.index, fail: end });
        else {
            m.run.heap.push(wait.done, child.index);
            m.run.heap.push(wait.done, end);
        }
        const isOver = isEnough(call.I.detail as ParallelDetail, wait, stillInside(m, call.fiber).length);
        if (wait.next < wait.items.items.length && !isOver) {
            fill(m, call, wait, child);
            return;
        }
        if (wait.running > 0) return;
        endedEvent(m, call, wait);
        if (m.isOver) return;
        const fail = failureOf(m, call, wait, []);
        if (fail === null) m.deliver(call.fiber, resultOf(m, call, wait));
        else m.deliverFail(call.fiber, fail);
    },

    stopped: fill,

    failure: failureOf,

    // Its iterations go on by themselves.
    again: () => undefined,

    held: ({ items, done }) => [items, done],
};
