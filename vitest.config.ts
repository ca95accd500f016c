/** The tests of all packages, in processes of their own: some change the environment or end by a signal. */
import { defineConfig } from "vitest/config";

export default defineConfig({
    test: {
        include: ["packages/*/tests/**/*.test.ts", "tests/**/*.test.ts"],
        testTimeout: 60_000,
        hookTimeout: 120_000,
        pool: "forks",
    },
});
