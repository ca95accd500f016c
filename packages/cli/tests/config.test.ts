/** A project's configuration as the commands see it: mistakes are the file's, each told once; its models are listed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Ran, type Room, room as testRoom } from "./remit.ts";

let at: Room;
let room = "";
beforeEach(() => {
    at = testRoom();
    room = at.folder;
    writeFileSync(join(room, "a.remit"), "main agent {\n    main func() {\n        1\n    }\n}\n");
});
afterEach(() => at.clear());

const remit = (args: readonly string[], env: Record<string, string> = {}): Ran => at.remitWith({ env }, ...args);

test.each([["tools"], ["models"], ["run", "a.remit"], ["check", "a.remit"]])("remit %s names the mistake of remit.json once", (...args) => {
    writeFileSync(join(room, "remit.json"), '{"mcp": {}}');
    const { code, out, err } = remit(args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.match(/remit\.json: mcp: is not known here/g)).toHaveLength(1);
    expect(err).toContain("help: mend that file");
    expect(err).not.toContain("defect");
});

test("a file that is not there is told with the folder at which its path begins", () => {
    const { err } = remit(["run", "a.remit", "--input", "@nowhere.json"]);
    expect(err).toMatch(
        /^error: there is no such file: nowhere\.json\n {2}help: a path begins at the folder that the command runs in, \S+\n/,
    );
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
