/**
 * Fibers in which nothing goes on: they stopped by a failure that nothing takes, or wait for nothing but such fibers.
 *
 * Boundary: what is so. When a fiber stops is `handlers.ts`, how it goes on `run/stops.ts`.
 */
import type { Fail } from "../effect/failure.ts";
import type { Fiber } from "./fiber.ts";
import { type Inside, type Ops, waitingCall, waitsOf } from "./ops.ts";

/** Whether nothing goes on in a fiber. */
export function isStill(m: Ops, fiber: Fiber): boolean {
    if (m.stopped.size === 0) return false;
    if (fiber.stop !== null) return true;
    const inside = [...m.fibers.values()].filter((one) => one.parent === fiber);
    if (inside.length === 0 || !inside.every((one) => isStill(m, one))) return false;
    return ![...m.waiting.values()].some((one) => one.fiber === fiber && one.timer === undefined);
}

function forkedBy(m: Ops, fiber: Fiber): Fiber[] {
    return [...m.fibers.values()].filter((one) => one.parent === fiber);
}

/** The fibers that a fiber forked and that are still. */
export function stillInside(m: Ops, fiber: Fiber): Fiber[] {
    return m.stopped.size === 0 ? [] : forkedBy(m, fiber).filter((one) => isStill(m, one));
}

/** Those that stopped, in the order in which they were forked: a continuation knows no other one (M4). */
export function stoppedFibers(m: Pick<Ops, "stopped">): Fiber[] {
    return [...m.stopped].sort((a, b) => a.id - b.id);
}

/** What a fiber in which nothing goes on would pass on; null where it would nothing. */
export function failureIn(m: Ops, fiber: Fiber): Fail | null {
    if (fiber.stop !== null) return fiber.stop.fail;
    // A bound of the whole run names itself, wherever it was met.
    const whole = stoppedFibers(m).find((one) => one.stop?.fail.whole === true);
    if (whole !== undefined) return whole.stop?.fail ?? null;
    const wait = fiber.frames[fiber.frames.length - 1]?.native ?? null;
    if (wait === null) return null;
    const inside: Inside[] = forkedBy(m, fiber).flatMap((child) => {
        const fail = failureIn(m, child);
        return fail === null ? [] : [{ index: child.index, fail }];
    });
    return waitsOf(m, wait).failure?.(m, waitingCall(fiber, wait), wait, inside) ?? null;
}

/** Label set of why nothing goes on in a fiber: of the failures, and of the places where they were met, which no unwinding has added to them yet. */
export function labelOfStop(m: Ops, fiber: Fiber): number {
    const { labels } = m.run;
    const inside = stillInside(m, fiber).map((one) => labelOfStop(m, one));
    const places = fiber.frames.flatMap(({ form, placeLabel }) => (form.flow === 0 ? [] : [placeLabel]));
    return [...inside, ...places].reduce((all, one) => labels.union(all, one), fiber.stop?.fail.labels ?? 0);
}

/** Those around a fiber, innermost first, in which nothing goes on either. */
export function stillAround(m: Ops, { parent }: Fiber): Fiber[] {
    const found: Fiber[] = [];
    for (let one = parent; one !== null && one.stop === null && isStill(m, one); one = one.parent) found.push(one);
    return found;
}
