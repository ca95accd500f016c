/** A server that is killed under load and started again: what it acknowledged is there, and nothing with an outcome is done twice. */
import { expect, test } from "vitest";
import { crash } from "./crash/harness.ts";

// More of it, and on other ledgers: `npm run serve-matrix`.
test("two kills under load: every turn ends, every call has one outcome, every event is told once", async () => {
    const report = await crash({ sessions: 4, trips: 60, kills: 2, seed: 7 });
    expect(report.problems).toEqual([]);
    expect(report.kills).toBe(2);
    expect(report.performed).toBeGreaterThanOrEqual(240);
});
