/** What the host takes from the process that it runs in. */
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { fromThisProcess } from "../../src/process/here.ts";

afterEach(() => vi.unstubAllEnvs());

test.each([undefined, "", "home"])("HOME=%s: the user's own folders are not looked for in the present folder", (home) => {
    const here = homedir();
    vi.stubEnv("HOME", home);
    const { env } = fromThisProcess();
    expect(isAbsolute(env["HOME"] ?? "")).toBe(true);
    vi.stubEnv("HOME", here);
    expect(fromThisProcess().env["HOME"]).toBe(here);
});
