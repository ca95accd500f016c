/** Attacks through which program is named: what lies beside a program, or above the place that its path climbs to, is not seen for it. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { programFolders } from "../../src/process/sandbox.ts";
import { handOf, rig } from "../agent/rig.ts";
import { call, work } from "../tool/setup.ts";

test("a command that is named by its path shows nothing of the disk but the workspace and the system", async () => {
    await using here = work();
    const outside = mkdtempSync(join(tmpdir(), "remit-outside-"));
    try {
        writeFileSync(join(outside, "key.txt"), "PRIVATE");
        mkdirSync(join(outside, "bin"));
        copyFileSync("/bin/cat", join(outside, "bin", "cat"));
        symlinkSync(outside, join(here.workspace, "link"));
        symlinkSync(join(outside, "bin", "cat"), join(here.workspace, "cat"));
        const tools = here.tools();
        const key = join(outside, "key.txt");
        const printed = async (command: string, ...args: string[]): Promise<string> => {
            const { stdout } = (await call(tools, "shell:", "run", { command, args })) as { stdout: string };
            return stdout;
        };
        for (const command of [
            `${outside}/../../bin/cat`,
            `/usr/..${outside}/../../bin/cat`,
            `${outside}/bin/cat`,
            "./link/bin/cat",
            "./cat",
            "/bin/cat",
        ])
            expect([command, await printed(command, key)]).toEqual([command, ""]);
        // What may be run is run all the same: of the workspace, of the system, of the search path.
        writeFileSync(join(here.workspace, "own.sh"), '#!/bin/sh\necho "own $1"\n');
        chmodSync(join(here.workspace, "own.sh"), 0o755);
        expect(await printed("./own.sh", "a b")).toBe("own a b\n");
        expect(await printed("/bin/echo", "a b")).toBe("a b\n");
        expect(await printed("echo", "a b")).toBe("a b\n");
    } finally {
        rmSync(outside, { recursive: true });
    }
});

test("a program's folder is none that holds too much, however its path is written", () => {
    const up = relative(tmpdir(), "/");
    for (const command of [`${tmpdir()}/${up}/bin/sh`, "/usr/../bin/sh", "/usr/share/../../bin/sh", "/home/../bin/sh"])
        for (const folder of programFolders(command)) expect([command, folder]).not.toEqual([command, expect.stringMatching(/\.\.|^\/$/)]);
});

test("a folder that is a link out of the workspace is given to no agent", async () => {
    await using it = rig();
    const outside = mkdtempSync(join(tmpdir(), "remit-outside-"));
    try {
        writeFileSync(join(outside, "key.txt"), "PRIVATE");
        symlinkSync(outside, join(it.here.workspace, "sub"));
        const hands = [handOf("file://workspace/sub", { read: "may", write: "may" }, true)];
        const found = await it.found(
            [
                { do: "file", path: join(outside, "key.txt") },
                { do: "file", path: join(it.here.workspace, "sub", "key.txt") },
                { do: "write", path: join(outside, "new.txt"), text: "x" },
            ],
            { hands },
        );
        for (const one of found) expect(one).toEqual({ no: expect.any(String) });
    } finally {
        rmSync(outside, { recursive: true });
    }
});

test("bytes of a command that are no text are told, and so is a letter that is cut off", async () => {
    await using here = work();
    const tools = here.tools();
    const said = (script: string): Promise<unknown> => call(tools, "shell:", "run", { command: script });
    expect(await said("printf 'caf\\303\\251'")).toMatchObject({ stdout: "café" });
    expect(await said("printf 'caf\\303\\251'")).not.toHaveProperty("note");
    expect(await said("printf 'a\\377b'; printf 'caf\\303' >&2")).toMatchObject({
        stdout: "a\ufffdb",
        note: "stdout and stderr held bytes that are not UTF-8: each stands as U+FFFD",
    });
});
