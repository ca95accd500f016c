/**
 * `remit-lang/testing/vitest`: an `expect` that audits the runs of the test before each assertion.
 *
 * Boundary: Vitest's hooks; what is looked at is in `guard.ts`.
 */
import * as vitest from "vitest";
import { guarded } from "./expect.ts";
import { guardOf, type HookOptions } from "./guard.ts";

export { AuditError, type HookOptions } from "./guard.ts";

/**
 * Gives an `expect` in place of Vitest's, and installs hooks for the tests of this file. A test fails with the findings of its runs, also if
 * all its assertions hold. Vitest 4.1 and later tells tests apart that run at the same time; before, a finding fails the test that ends first.
 */
export function auditBeforeAssertion(options: HookOptions = {}): typeof vitest.expect {
    const guard = guardOf(options);
    vitest.afterEach(({ task }) => guard.end(task.result?.state === "fail"));
    vitest.afterAll(() => guard.close());
    if ("aroundEach" in vitest) vitest.aroundEach((runTest) => guard.during(runTest));
    return guarded(vitest.expect, guard.look);
}
