/**
 * `remit-lang/testing/node-test`: an `assert` that audits the runs of the test before each assertion.
 *
 * Boundary: hooks of `node:test`, functions of `node:assert/strict`; what is looked at is in `guard.ts`.
 */
import assert from "node:assert/strict";
import { after, afterEach } from "node:test";
import { guardOf, type HookOptions } from "./guard.ts";

export { AuditError, type HookOptions } from "./guard.ts";

/**
 * Gives an `assert` in place of `node:assert/strict`, and installs a hook for the tests of this file. A test fails with the findings of its runs,
 * whatever its assertions say. Of tests that run at the same time a finding fails the one that ends first.
 */
export function auditBeforeAssertion(options: HookOptions = {}): typeof assert {
    const guard = guardOf(options);
    afterEach(() => guard.end());
    after(() => guard.close());
    const first = <F extends (...args: never[]) => unknown>(work: F): F =>
        new Proxy(work, {
            apply: (target, self, args) => {
                guard.look();
                return Reflect.apply(target, self, args);
            },
        });
    return new Proxy(first(assert as never), {
        get: (target, name) => {
            const value: unknown = Reflect.get(target, name, target);
            // `AssertionError` is a class, not an assertion.
            return typeof value === "function" && !/^[A-Z]/.test(String(name)) ? first(value as never) : value;
        },
    }) as typeof assert;
}
