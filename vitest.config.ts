/**
 * The tests of all packages, in one process a core. Three things there are for the processor time that they save:
 *
 * - Files share the process, so that what is imported once is there for all (88 files of the host: 89 s in place of 134). So a file leaves nothing
 *   global behind: it puts back what it changes of the environment and the current folder, and ends what it started.
 * - The young generation of a process is larger than Node's (a file that makes much garbage, `yield-limits` of the machine: 10 s in place of 15; most
 *   others take what they took).
 * - Node loads the sources itself. Vite's module runner makes each use of an import a call of a getter (56 files of the machine: 95 s in place of
 *   124).
 */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
    test: {
        include: ["packages/*/tests/**/*.test.ts", "tests/**/*.test.ts"],
        // They end what hangs, and are so long that no test depends on how fast the machine is.
        testTimeout: 600_000,
        hookTimeout: 600_000,
        // Shorter than a test, so that what is polled for is named.
        expect: { poll: { timeout: 500_000 } },
        pool: "forks",
        isolate: false,
        // MiB
        execArgv: ["--max-semi-space-size=64"],
        experimental: { viteModuleRunner: false, nodeLoader: false },
        // Much of the time goes into waiting for processes that tests start: one worker a core, never fewer than two.
        maxWorkers: Math.max(2, availableParallelism()),
    },
});
