/** A project's configuration as the commands see it: mistakes are the file's, each told once; its models are listed. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../bin/remit.mjs", import.meta.url));
let room = "";
beforeEach(() => {
    room = mkdtempSync(join(tmpdir(), "remit-config-"));
    writeFileSync(join(room, "a.remit"), "main agent {\n    main func() {\n        1\n    }\n}\n");
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

function remit(args: readonly string[], more: Record<string, string> = {}): { code: number | null; out: string; err: string } {
    const env = { ...process.env, XDG_STATE_HOME: room, XDG_CACHE_HOME: room, XDG_CONFIG_HOME: room, NO_COLOR: "1", ...more };
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd: room, env, encoding: "utf8" });
    return { code: status, out: stdout, err: stderr };
}

test.each([["tools"], ["models"], ["run", "a.remit"], ["check", "a.remit"]])("remit %s names the mistake of remit.json once", (...args) => {
    writeFileSync(join(room, "remit.json"), '{"mcp": {}}');
    const { code, out, err } = remit(args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.match(/remit\.json: mcp: is not known here/g)).toHaveLength(1);
    expect(err).not.toContain("defect");
});

test("remit models lists what a trusted configuration names, and says what an untrusted one would", () => {
    const Fast = { uri: "openai://small-1", baseUrl: "http://127.0.0.1:9/v1", key: "env:NOT_SET_ANYWHERE" };
    writeFileSync(join(room, "remit.json"), JSON.stringify({ models: { Fast } }));
    const before = remit(["models"]);
    expect(before.out).not.toContain("Fast");
    expect(before.err).toContain("remit.json says more than is used here");
    const after = remit(["models"], { REMIT_TRUST: "1" });
    expect(after.out).toMatch(/^Fast\s+not ready\s+openai:\/\/small-1 at http:\/\/127\.0\.0\.1:9\/v1/m);
    expect(after.code).toBe(0);
});
