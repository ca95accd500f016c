/** The line that is redrawn on a terminal: what streams in, and what is taken back. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { progress } from "../src/progress.ts";

beforeEach(() => {
    vi.useFakeTimers();
    vi.stubEnv("TERM", "xterm");
});
afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
});

test("text of a try that failed is taken back when the next one begins", () => {
    let written = "";
    const write = (text: string): boolean => {
        written = text;
        return true;
    };
    const shown = progress({ isTTY: true, columns: 200, write } as unknown as NodeJS.WriteStream);
    shown.part("main/generate#0", { type: "text", delta: "half of it" });
    vi.advanceTimersByTime(500);
    expect(written).toContain("half of it");
    shown.part("main/generate#0", { type: "restart" });
    shown.part("main/generate#0", { type: "text", delta: "all of it" });
    vi.advanceTimersByTime(500);
    expect(written).toContain("all of it");
    expect(written).not.toContain("half");
    shown.end();
});

test.each([false, true])("a note of a performer is a line of its own, without what a terminal would obey (terminal: %s)", (isTTY) => {
    vi.stubEnv("NO_COLOR", "1");
    let written = "";
    const write = (text: string): boolean => {
        written += text;
        return true;
    };
    const shown = progress({ isTTY, columns: 200, write } as unknown as NodeJS.WriteStream);
    shown.part("main/Fixer.yield#0/turn[0]", { type: "notice", text: "opencode finds no `rg`\u001b[2J\nFAKE" });
    expect(written.split("\n").at(-2)).toMatch(/^note: opencode finds no `rg`/);
    expect(written).not.toContain("\u001b[2J");
    shown.end();
});
