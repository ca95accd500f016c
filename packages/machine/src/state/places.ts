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
 * ORD4: only one that is ready, or that waits for something outside, holds others up.
 */
import { lent } from "../compile/strict.ts";
import type { Machine } from "../run/machine.ts";
import type { Fiber, Frame } from "./fiber.ts";

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
    if (fiber.frames.length > 0 && fiber.stop === null && !isAside(m, fiber, fiber.top)) fiber.place = lastPlace(m);
}

/** The fiber that goes on now, first of those that are ready; undefined where none may. */
export function firstInPlace(m: Machine): Fiber | undefined {
    const { ready } = m;
    const firsts = new Map<Fiber, Fiber>();
    const holds = (fiber: Fiber): void => {
        if (fiber.place === 0) return;
        const loop = around(fiber);
        const before = firsts.get(loop);
        if (before === undefined || fiber.place < before.place || (fiber.place === before.place && fiber.id < before.id))
            firsts.set(loop, fiber);
    };
    for (const fiber of ready) holds(fiber);
    for (const { fiber, timer, waits: unpaid } of m.waiting.values()) if (timer === undefined && unpaid === undefined) holds(fiber);
    const at = ready.findIndex((fiber) => fiber.place === 0 || firsts.get(around(fiber)) === fiber);
    if (at < 0) return undefined;
    if (at > 0) ready.unshift(...ready.splice(at, 1));
    return ready[0];
}

function lastPlace(m: Machine): number {
    let last = 0;
    for (const { place } of m.fibers.values()) if (place > last) last = place;
    return last + 1;
}
