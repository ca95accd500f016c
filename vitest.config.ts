/** The tests of all packages, in processes of their own: some change the environment or end by a signal. */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
    test: {
        include: ["packages/*/tests/**/*.test.ts", "tests/**/*.test.ts"],
        testTimeout: 60_000,
        hookTimeout: 120_000,
        pool: "forks",
        // Much of the time goes into waiting for processes that tests start: one worker a core, never fewer than two.
        maxWorkers: Math.max(2, availableParallelism()),
    },
});
