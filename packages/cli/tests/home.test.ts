/** A home folder in which nothing can be made: every command ends, and says where it could not write. */
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BIN, type Room, room } from "./remit.ts";

/** After this the command is ended, and has failed the test: it would never have ended. */
const NEVER_MS = 100_000;

let it: Room;
beforeAll(() => {
    it = room();
    it.write("hello.remit", "main func() { 1 }\n");
    writeFileSync(join(it.folder, "file"), "");
});
afterAll(() => it.clear());

const homes = ["/proc", "file"].filter((path) => path === "file" || existsSync(path));
const commands = [
    ["run", "hello.remit", "-q"],
    ["init", "/proc/remit/project"],
    ["types", "--out", "/proc/remit"],
];

test.each(homes.flatMap((home) => commands.map((args) => ({ home, command: args.join(" "), args }))))(
    "HOME=$home remit $command",
    ({ home, args }) => {
        const env = { ...it.env, HOME: home === "file" ? join(it.folder, "file") : home };
        for (const name of ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] as const) delete (env as NodeJS.ProcessEnv)[name];
        const { status, signal, stderr } = spawnSync(process.execPath, [BIN, ...args], {
            cwd: it.folder,
            env,
            encoding: "utf8",
            timeout: NEVER_MS,
            killSignal: "SIGKILL",
        });
        expect({ signal, stderr }).toEqual({ signal: null, stderr: expect.not.stringMatching(/defect|\n {4}at /) });
        if (args[0] === "run") {
            expect(stderr).toMatch(/^error: the ledger \S+ cannot be made/);
            expect(stderr).toContain("--ledger");
            expect(status).toBe(1);
        }
    },
    NEVER_MS + 20_000,
);

test("a current folder that was removed is told", () => {
    const command = 'mkdir gone && cd gone && rmdir ../gone && "$0" "$1" run ../hello.remit';
    const { status, stderr } = spawnSync("sh", ["-c", command, process.execPath, BIN], { cwd: it.folder, env: it.env, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: the current folder cannot be read: it was removed.*\n {2}help: go to another folder/);
});
