/**
 * Counts that a part of the run has while it is elsewhere (COU4): what wants to use something that they are of waits until it comes back, be it the
 * program or a model in its turn.
 *
 * Boundary: which part has them, and which fibers wait for them. What a use counts for is `authority/counts.ts`, what a part was lent `delegations.ts`.
 *
 * COU5: a use waits only for a part that is under way, and a part waits for nothing of the run around it: so it comes back, or is given up, and the use is
 *     decided then. One that did not bring the counts back has them for good: the use is refused.
 * COU6: inside strict loops and blocks what waits keeps its place, and a part that needs the counts waits in it like a use: so for the others it takes no
 *     time, and neither a secret nor a tool tells by the time of a part in which order calls come (ORD1).
 */
import type { Decision } from "../authority/decide.ts";
import { Fail } from "../effect/failure.ts";
import type { CountsWait, Fiber } from "./fiber.ts";
import { type Call, type Ops, waitingCall, type Waits, waitsOf } from "./ops.ts";

/** A part that is under way, other than that at `path`, has the counts. */
export function areCountsAway({ standing, waiting }: Pick<Ops, "standing" | "waiting">, path: string | null = null): boolean {
    for (const [part, { isAway }] of standing.parts) {
        const pending = isAway && part !== path ? waiting.get(part) : undefined;
        if (pending !== undefined && pending.waits === undefined) return true;
    }
    return false;
}

/** COU5. A use is refused only because a part has the counts, which is under way. */
export function isLater(m: Pick<Ops, "standing" | "waiting">, decision: Decision): boolean {
    return decision.kind === "refused" && decision.count?.isAway === true && areCountsAway(m);
}

/** The instruction waits for the counts, and then runs again. */
export function awaitCounts({ frame, path }: Call): void {
    frame.native = { kind: "counts", path };
}

/** The fiber waits for the counts. */
export function awaitsCounts({ stop, frames }: Fiber): boolean {
    const wait = stop === null ? frames.at(-1)?.native : null;
    return wait?.kind === "counts" || (wait?.kind === "generate" && wait.counts === true);
}

/** Where no part has the counts any more, what waits for them goes on. False where nothing does. */
export function countsBack(m: Ops): boolean {
    if (m.standing.parts.size === 0 || areCountsAway(m)) return false;
    let goesOn = false;
    for (const fiber of m.fibers.values()) {
        const wait = awaitsCounts(fiber) ? fiber.top.native : null;
        if (wait === null || m.isOver) continue;
        goesOn = true;
        m.enter(fiber);
        m.stand(fiber, fiber.top);
        fiber.touch();
        try {
            waitsOf(m, wait).countsBack?.(m, waitingCall(fiber, wait), wait);
            m.awake(fiber);
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            m.deliverFail(fiber, error);
        }
    }
    return goesOn;
}

export const counts: Waits<CountsWait> = {
    resume: () => {
        throw new Error("a wait for counts has no effect");
    },
    countsBack: (_m, { frame }) => {
        frame.native = null;
    },
};
