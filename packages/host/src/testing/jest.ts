/**
 * `remit-lang/testing/jest`: an `expect` that audits the runs of the test before each assertion.
 *
 * Boundary: the globals that Jest gives a test file (`expect`, `afterEach`, `afterAll`); what is looked at is in `guard.ts`.
 */
import { guarded } from "./expect.ts";
import { guardOf, type HookOptions } from "./guard.ts";

export { AuditError, type HookOptions } from "./guard.ts";

type Expect = (...args: never[]) => unknown;
interface JestGlobals {
    readonly expect?: Expect;
    readonly afterEach?: (hook: () => void) => void;
    readonly afterAll?: (hook: () => void) => void;
}

/**
 * Gives an `expect` in place of Jest's, and installs a hook for the tests of this file. A test fails with the findings of its runs, whatever its
 * assertions say. Of tests that run at the same time (`test.concurrent`) a finding fails the one that ends first. Throws `Error` outside Jest.
 */
export function auditBeforeAssertion<E extends Expect = Expect>(options: HookOptions = {}): E {
    const { expect, afterEach, afterAll } = globalThis as JestGlobals;
    if (expect === undefined || afterEach === undefined)
        throw new Error("there is no expect and afterEach: call this in a test file that Jest runs, with its globals");
    const guard = guardOf(options);
    afterEach(() => guard.end());
    afterAll?.(() => guard.close());
    return guarded(expect as E, guard.look);
}
