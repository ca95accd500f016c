/**
 * `parallel for`: one fiber for each iteration, under a limit, results in the order of the items.
 *
 * P1: an iteration has copies of the slots around it; what it makes is its own, what it did not make it cannot change (`Heap.touch`).
 * V3: the list of results, or the failure, has the label of the list of items: it decided how many there are.
 * P2: all iterations run even where one fails; then one failure names them all.
 */
import type { Json } from "@remit/language";
import { listOf } from "../compile/closures.ts";
import type { Slots } from "../compile/code.ts";
import type { Instruction, ParallelDetail } from "../compile/instructions.ts";
import { FLOW, raiseBy } from "../compile/strict.ts";
import { NOTHING_ALONG } from "../compile/ways.ts";
import { Fail } from "../effect/failure.ts";
import { join, labelOf } from "../value/operators.ts";
import { Labelled, type Value } from "../value/value.ts";
import { Fiber, Frame, type ParallelWait, pathOf } from "./fiber.ts";
import type { Machine } from "./machine.ts";
import { show } from "./show.ts";
import { accountAt } from "./spending.ts";

/** False where there was nothing to do and the fiber goes on at once. */
export function beginParallel(m: Machine, fiber: Fiber, frame: Frame, d: ParallelDetail, I: Instruction): boolean {
    const value = (d.list as (f: Slots) => Value)(frame.locals);
    const all = listOf(value, I.site).items.slice(0, d.max);
    const path = pathOf(frame, d.path);
    const prefix = pathOf(frame, { loops: d.path.loops, name: "" });
    const native: ParallelWait = {
        kind: "parallel",
        path,
        prefix,
        items: m.run.heap.list(all),
        label: value instanceof Labelled ? value.l : 0,
        next: 0,
        running: 0,
        done: m.run.heap.list([]),
        failures: [],
    };
    m.emit("parallel.started", path, frame.parent, I.site, [], startedData(m, d, native));
    frame.native = native;
    if (all.length === 0) {
        const made = join(m.run, m.run.heap.list([]), native.label);
        endedEvent(m, frame, d, native, I);
        frame.native = null;
        frame.locals[I.slot] = frame.form.flow === 0 ? made : join(m.run, made, native.label);
        frame.pc++;
        return false;
    }
    fill(m, fiber, frame, native, d);
    return true;
}

function startedData(m: Machine, d: ParallelDetail, native: ParallelWait): { [key: string]: Json } {
    return { item: d.item, source: d.source, max_items: d.max, items: native.items.items.length, concurrency: m.concurrency };
}

/** Starts iterations up to the limit. */
function fill(m: Machine, fiber: Fiber, frame: Frame, native: ParallelWait, d: ParallelDetail): void {
    const account = accountAt(frame);
    while (native.running < m.concurrency && native.next < native.items.items.length) {
        const index = native.next++;
        native.running++;
        const child = new Fiber(m.nextFiber++, fiber, index, fiber.base + fiber.frames.length);
        const locals = frame.locals.slice() as Slots;
        locals[d.slot] = join(m.run, native.items.items[index] as Value, native.label);
        const path = `${native.prefix}/parallel[${index}]`;
        const form = frame.forms.bodies[d.body] as Frame["form"];
        const { flow } = form;
        if (flow !== 0) {
            raiseBy(locals, flow, native.label, NOTHING_ALONG);
            locals[flow + FLOW.caughtOutside] = locals[flow + FLOW.caught] as Value;
        }
        child.frames.push(new Frame(frame.fn, d.body, form, locals, path, path, null, frame.principal, 0, account));
        m.fibers.set(child.id, child);
        m.run.left--;
        m.ready.push(child);
    }
}

/** An iteration came to its end. */
export function iterationEnded(m: Machine, child: Fiber, end: Value | Fail): void {
    const fiber = child.parent as Fiber;
    const frame = fiber.top;
    const native = frame.native as ParallelWait;
    const I = frame.form.code[frame.pc] as Instruction;
    const d = I.detail as ParallelDetail;
    m.fibers.delete(child.id);
    m.stand(fiber, frame);
    if (fiber.frames.length - 1 < fiber.low) fiber.low = fiber.frames.length - 1;
    native.running--;
    if (end instanceof Fail) native.failures.push({ index: child.index, fail: end });
    else {
        m.enter(fiber);
        m.run.heap.push(native.done, child.index);
        m.run.heap.push(native.done, end);
    }
    if (native.next < native.items.items.length) {
        m.enter(fiber);
        fill(m, fiber, frame, native, d);
        return;
    }
    if (native.running > 0) return;
    m.enter(fiber);
    endedEvent(m, frame, d, native, I);
    if (m.result !== null) return;
    if (native.failures.length === 0) {
        const results = resultsOf(native) as Value[];
        const { flow } = frame.form;
        // Where a failure would be caught, that no iteration failed depends on what each of them did, which its result carries.
        if (flow !== 0 && frame.locals[flow + FLOW.caught] === true)
            raiseBy(
                frame.locals,
                flow,
                results.reduce<number>((l, result) => m.run.labels.union(l, labelOf(result)), native.label),
                I.failing,
            );
        m.deliver(fiber, join(m.run, m.run.heap.list(results), native.label));
        return;
    }
    m.deliverFail(fiber, loopFailure(m, frame, native, native.failures, I));
}

/** The failure of a loop whose iterations failed. */
export function loopFailure(m: Machine, frame: Frame, native: ParallelWait, failed: ParallelWait["failures"], I: Instruction): Fail {
    const failures = [...failed].sort((a, b) => a.index - b.index);
    const first = (failures[0] as { fail: Fail }).fail;
    let labels = native.label;
    for (const f of failures) labels = m.run.labels.union(labels, f.fail.labels);
    const violations = failures.map((f) => f.fail).filter((fail) => fail.class === "violation");
    // One that the run's own principal committed is one that nobody catches.
    const violation = violations.find((fail) => fail.by === m.principal) ?? violations[0];
    const limit = outermost(m, frame, failures);
    return new Fail(
        // A violation stays one, whatever else came to an end beside it: only who did not commit it may catch it.
        (violation ?? limit ?? first).kind,
        `parallel for failed: ${byMessage(failures)}`,
        {
            site: I.site,
            labels,
            // help for the first is help for all where they failed alike
            ...(first.hint === undefined || failures.some((f) => f.fail.message !== first.message) ? {} : { hint: first.hint }),
            // A limit of what stands around them all bounds the loop too, so that nothing inside can catch it.
            ...(limit?.region == null ? {} : { region: limit.region }),
            ...(violation?.by == null ? {} : { by: violation.by }),
            detail: limit?.detail ?? failures.map((f) => ({ index: f.index, kind: f.fail.kind, message: f.fail.message })),
        },
    );
}

/** Each message once, behind the indices of the iterations that failed with it. */
function byMessage(failures: ParallelWait["failures"]): string {
    const at = new Map<string, number[]>();
    for (const { index, fail } of failures) {
        const known = at.get(fail.message);
        if (known === undefined) at.set(fail.message, [index]);
        else known.push(index);
    }
    return [...at].map(([message, indices]) => `[${indices.join(", ")}] ${message}`).join("; ");
}

/** Of the failures by which an account around the loop is used up, that of the outermost. */
function outermost(m: Machine, frame: Frame, failures: ParallelWait["failures"]): Fail | null {
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

function endedEvent(m: Machine, frame: Frame, d: ParallelDetail, native: ParallelWait, I: Instruction): void {
    let labels = 0;
    let given = 0;
    const { failures } = native;
    const results = resultsOf(native);
    const iterations = native.items.items.map((item, index): Json => {
        const input = show(join(m.run, item, native.label), m.run.labels);
        labels = m.run.labels.union(labels, input.labels);
        const failed = failures.find((f) => f.index === index);
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
    m.emit("parallel.ended", native.path, frame.parent, I.site, m.run.labels.origins(labels), {
        ...startedData(m, d, native),
        ok: failures.length === 0,
        iterations,
        ...(indices.length === 0 ? {} : { failed_indices: indices }),
    });
}
