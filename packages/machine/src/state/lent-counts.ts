/**
 * Counts that a part of the run has while it is elsewhere (COU4): what wants to use something that they are of waits until it comes back.
 *
 * Boundary: which part has them, and which fibers wait for them. What a use counts for is `authority/counts.ts`, what a part was lent `delegations.ts`.
 *
 * COU5: a use waits only for a part that is under way, and a part waits for nothing of the run around it: so it comes back, or is given up, and the use is
 *     decided then. One that did not bring the counts back has them for good: the use is refused.
 * COU6: inside strict loops and blocks what waits keeps its place, and a part that needs the counts waits in it like a use: so for the others it takes no
 *     time, and neither a secret nor a tool tells by the time of a part in which order calls come (ORD1).
 */
import type { CountsWait, Fiber } from "./fiber.ts";
import type { Call, Ops, Waits } from "./ops.ts";

/** A part that is under way, other than that at `path`, has the counts. */
export function areCountsAway({ standing, waiting }: Pick<Ops, "standing" | "waiting">, path: string | null = null): boolean {
    for (const [part, { isAway }] of standing.parts) {
        const pending = isAway && part !== path ? waiting.get(part) : undefined;
        if (pending !== undefined && pending.waits === undefined) return true;
    }
    return false;
}

/** The instruction waits for the counts, and then runs again. */
export function awaitCounts({ frame, path }: Call): void {
    frame.native = { kind: "counts", path };
}

/** The fiber waits for the counts. */
export function awaitsCounts({ stop, frames }: Fiber): boolean {
    return stop === null && frames.at(-1)?.native?.kind === "counts";
}

/** Where no part has the counts any more, what waits for them goes on. False where nothing does. */
export function countsBack(m: Pick<Ops, "standing" | "waiting" | "fibers" | "awake">): boolean {
    if (m.standing.parts.size === 0 || areCountsAway(m)) return false;
    let goesOn = false;
    for (const fiber of m.fibers.values()) {
        if (!awaitsCounts(fiber)) continue;
        fiber.top.native = null;
        fiber.touch();
        m.awake(fiber);
        goesOn = true;
    }
    return goesOn;
}

export const counts: Waits<CountsWait> = {
    resume: () => {
        throw new Error("a wait for counts has no effect");
    },
};
