/**
 * In which order concurrent iterations of strict code go on: who may not see a secret sees it in the same order whatever the secret is.
 *
 * Boundary: fibers inside loops and blocks of strict code. Other fibers go on as they become ready. What such a fiber does is the interpreter's.
 *
 * ORD1: of the fibers inside one, that with the first place goes on alone, however long what the others waited for took. One that waits behind them
 *     all takes the last place.
 * ORD2: one that waits under a secret, or under anything else that did not decide about the outermost loop, keeps its place: for the others that takes no
 *     time, so that the places do not tell whether it waited.
 * ORD3: one that begins because another ended has the other's place.
 * ORD4: only one that is ready, or that waits for something outside or for counts that a part has (COU6), holds others up.
 * ORD5: one that waits until turns in flight are settled (AC9) keeps its place, and takes the last one when its turn is asked for: so it does not tell
 *     which of those turns ended first. Turns in flight end without any fiber, so what it holds up is not what it waits for.
 * ORD6: one that may ask for more when it is told what came (a `generate`: its tools' calls, its next turn) is told once all that it waits for is
 *     there and its turn has come. What came is paid for, and known to be there, at once: so nothing that waits for that waits for the turn.
 */
import { lent } from "../compile/strict.ts";
import type { Machine } from "../run/machine.ts";
import type { Fiber, Frame, Pending } from "./fiber.ts";
import { awaitsCounts } from "./lent-counts.ts";
import { type Told, waitsOf } from "./ops.ts";

/** The fiber that the outermost strict loop around one stands in. */
function around(fiber: Fiber): Fiber {
    let outer = fiber.parent as Fiber;
    while (outer.place !== 0) outer = outer.parent as Fiber;
    return outer;
}

/** Label set of what decided about the outermost strict loop around a fiber. */
function decidedAround(m: Machine, fiber: Fiber): number {
    const { top } = around(fiber);
    const { native, locals, form } = top;
    return native?.kind === "parallel" ? m.run.labels.union(top.placeLabel, lent(locals, form.flow, native.label)) : top.placeLabel;
}

function isAside(m: Machine, fiber: Fiber, frame: Frame): boolean {
    return !m.run.labels.within(frame.placeLabel, decidedAround(m, fiber));
}

/** Gives a fiber that begins its place; none outside strict loops. `after`: it begins because that one ended, or stopped. */
export function begins(m: Machine, fiber: Fiber, after: Fiber | null): void {
    const parent = fiber.parent as Fiber;
    if (!parent.top.isStrict) return;
    if (after !== null) fiber.place = after.place;
    else fiber.place = parent.place !== 0 && isAside(m, fiber, fiber.top) ? parent.place : lastPlace(m);
}

/** A fiber waits. */
export function waits(m: Machine, fiber: Fiber): void {
    const keeps = awaitsCounts(fiber) || m.waiting.isUnpaid(fiber, m.unpaid.keys());
    if (fiber.frames.length > 0 && fiber.stop === null && !keeps && !isAside(m, fiber, fiber.top)) fiber.place = lastPlace(m);
    m.waiting.turns.add(fiber);
}

/** A fiber becomes ready. */
export function goesOn(m: Pick<Machine, "ready" | "waiting">, fiber: Fiber): void {
    m.ready.push(fiber);
    m.waiting.turns.add(fiber);
}

/** Whether what came is told in the turn of its fiber (ORD6); it is kept until then. */
export function awaitsTurn(m: Machine, told: Told): boolean {
    const { fiber } = told.pending;
    const wait = fiber.top.native;
    if (fiber.place === 0 || wait === null || waitsOf(m, wait).asksOn !== true) return false;
    fiber.told.push(told);
    fiber.touch();
    if (fiber.outside === 0 && !m.ready.includes(fiber)) goesOn(m, fiber);
    return true;
}

/** The fiber that goes on now, first of those that are ready; undefined where none may. */
export function firstInPlace(m: Machine): Fiber | undefined {
    const { ready } = m;
    const { turns } = m.waiting;
    let loop: Fiber | null = null;
    let first: Fiber | undefined;
    const at = ready.findIndex((fiber) => {
        if (fiber.place === 0) return true;
        const outer = around(fiber);
        if (outer !== loop) {
            loop = outer;
            first = turns.first(outer, ready);
        }
        return fiber === first;
    });
    if (at < 0) return undefined;
    if (at > 0) ready.unshift(...ready.splice(at, 1));
    return ready[0];
}

function lastPlace(m: Machine): number {
    return ++m.waiting.turns.last;
}

/** A fiber in the place that it had when it was added. */
interface Turn {
    readonly fiber: Fiber;
    readonly place: number;
}

/**
 * The fibers inside each outermost strict loop that may hold others up (ORD4), the first one on top: a binary heap each. A fiber is added when it
 * becomes ready, begins to wait for something outside, or takes another place; one that does none of it any more is found and left out when it comes
 * first. To look at all fibers at each turn took half of a run of 2,000 iterations.
 */
export class Turns {
    /** The last place that was given. */
    last = 0;
    /** By the fiber that the loop stands in; weakly, because a loop that has ended leaves its last ones behind. */
    private readonly heaps = new WeakMap<Fiber, Turn[]>();

    add(fiber: Fiber): void {
        const { place } = fiber;
        if (place === 0 || fiber.queued === place) return;
        fiber.queued = place;
        if (place > this.last) this.last = place;
        const loop = around(fiber);
        const heap = this.heaps.get(loop) ?? [];
        if (heap.length === 0) this.heaps.set(loop, heap);
        let at = heap.length;
        const turn = { fiber, place };
        for (let up = (at - 1) >> 1; at > 0 && isBefore(turn, heap[up] as Turn); up = (at - 1) >> 1) {
            heap[at] = heap[up] as Turn;
            at = up;
        }
        heap[at] = turn;
    }

    /** The first inside a loop of those that hold others up. */
    first(loop: Fiber, ready: readonly Fiber[]): Fiber | undefined {
        const heap = this.heaps.get(loop) ?? [];
        for (let top = heap[0]; top !== undefined; top = heap[0]) {
            const { fiber, place } = top;
            const isThere = fiber.queued === place;
            if (isThere && (fiber.outside > 0 || awaitsCounts(fiber) || ready.includes(fiber))) return fiber;
            if (isThere) fiber.queued = 0;
            leave(heap);
        }
        return undefined;
    }
}

function isBefore(a: Turn, b: Turn): boolean {
    return a.place < b.place || (a.place === b.place && a.fiber.id < b.fiber.id);
}

/** Takes the top away. */
function leave(heap: Turn[]): void {
    const last = heap.pop() as Turn;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
        let down = 2 * at + 1;
        if (down + 1 < heap.length && isBefore(heap[down + 1] as Turn, heap[down] as Turn)) down++;
        const below = heap[down];
        if (below === undefined || !isBefore(below, last)) break;
        heap[at] = below;
        at = down;
    }
    heap[at] = last;
}

/** Effects that were asked for, or wait for the budget, by path. Of each fiber it is known how many it waits for. */
export class Waiting extends Map<string, Pending> {
    readonly turns = new Turns();

    override set(path: string, pending: Pending): this {
        const before = this.get(path);
        if (before !== undefined) counts(before, -1);
        counts(pending, 1);
        this.turns.add(pending.fiber);
        return super.set(path, pending);
    }

    override delete(path: string): boolean {
        const before = this.get(path);
        if (before !== undefined) counts(before, -1);
        return super.delete(path);
    }

    /** Whether one of the effects at these paths, which wait for the budget, is what a fiber waits for. */
    isUnpaid(fiber: Fiber, unpaid: Iterable<string>): boolean {
        for (const path of unpaid) if (this.get(path)?.fiber === fiber) return true;
        return false;
    }

    override clear(): void {
        for (const { fiber } of this.values()) fiber.outside = 0;
        super.clear();
    }
}

function counts({ fiber, timer }: Pending, by: 1 | -1): void {
    if (timer === undefined) fiber.outside += by;
}
