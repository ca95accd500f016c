/**
 * The tests of all packages. Those of the pure packages share a process: nothing there is changed that another file could see, and what is imported
 * once is there for all (measured: 26 s of processor time in place of 44 for 49 files). The others have one a file: some change the environment, or
 * end by a signal.
 */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const PURE = ["packages/language/tests/**/*.test.ts", "packages/machine/tests/**/*.test.ts", "tests/conformance/**/*.test.ts"];

export default defineConfig({
    test: {
        // They end what hangs, and are so long that no test depends on how fast the machine is.
        testTimeout: 600_000,
        hookTimeout: 600_000,
        pool: "forks",
        // Much of the time goes into waiting for processes that tests start: one worker a core, never fewer than two.
        maxWorkers: Math.max(2, availableParallelism()),
        projects: [
            { extends: true, test: { name: "pure", include: PURE, isolate: false } },
            {
                extends: true,
                test: {
                    name: "world",
                    include: ["packages/*/tests/**/*.test.ts", "tests/**/*.test.ts"],
                    exclude: ["**/node_modules/**", ...PURE],
                },
            },
        ],
    },
});
