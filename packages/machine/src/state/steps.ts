/**
 * The budget of steps: what counts one more where a call begins, and what follows when none is left.
 *
 * Boundary: between the count of `run.ts` and the accounts that bound it.
 */
import { amountOf } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import { spenderOf } from "./accounts.ts";
import { siteOfTop } from "./fiber.ts";
import type { Machine } from "../run/machine.ts";
import { overdrawn } from "./spending.ts";

/** The budget of steps is used up: exactly, since what would go beyond it does not count. */
export function stepsSpent(m: Machine, wanted = 0): Fail {
    const limit = m.stepLimit;
    const fiber = m.current;
    const path = fiber === null || fiber.frames.length === 0 ? m.entryPath : fiber.top.path;
    const over = m.accounts.stepsSpent(wanted, m.spender(path));
    if (over !== null) return overdrawn(m, over, path, fiber === null ? null : siteOfTop(fiber));
    m.run.settle(limit);
    return new Fail("limit.steps", `the run's budget of ${amountOf(limit, "step")} is used up`, {
        whole: true,
        detail: { meter: "steps", limit, used: limit, spender: spenderOf(m.spender(path)) },
    });
}

/** The step of a call, after its arguments. The slice may end with it; the budget may not. */
export function countCall(m: Machine): void {
    if (--m.run.left < 0 && m.spends(0)) throw stepsSpent(m);
}
