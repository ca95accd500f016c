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

/** How many fibers that a fiber forked are still. */
export function stillInside(m: Ops, fiber: Fiber): number {
    if (m.stopped.size === 0) return 0;
    let count = 0;
    for (const one of m.fibers.values()) if (one.parent === fiber && isStill(m, one)) count++;
    return count;
}

/** What a fiber in which nothing goes on would pass on; null where it would nothing. */
export function failureIn(m: Ops, fiber: Fiber): Fail | null {
    if (fiber.stop !== null) return fiber.stop.fail;
    // A bound of the whole run names itself, wherever it was met.
    const whole = [...m.stopped].map((one) => one.stop?.fail).find((fail) => fail?.whole === true);
    if (whole !== undefined) return whole;
    const wait = fiber.frames[fiber.frames.length - 1]?.native ?? null;
    if (wait === null) return null;
    const inside: Inside[] = [];
    for (const child of m.fibers.values()) {
        const fail = child.parent === fiber ? failureIn(m, child) : null;
        if (fail !== null) inside.push({ index: child.index, fail });
    }
    return waitsOf(m, wait).failure?.(m, waitingCall(fiber, wait), wait, inside) ?? null;
}

/** Those around a fiber, innermost first, in which nothing goes on either. */
export function stillAround(m: Ops, { parent }: Fiber): Fiber[] {
    const found: Fiber[] = [];
    for (let one = parent; one !== null && one.stop === null && isStill(m, one); one = one.parent) found.push(one);
    return found;
}
