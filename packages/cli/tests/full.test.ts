/** A run whose ledger is on a full disk says that it waits for room, and a Ctrl-C ends it in good order. The test mounts it, so it runs as root. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { mountRoom } from "../../host/tests/ledger/room.ts";
import { BIN, room } from "./remit.ts";

const disk = mkdtempSync(join(tmpdir(), "remit-cli-full-"));
const place = room();
afterAll(() => {
    spawnSync("umount", ["-l", disk]);
    rmSync(disk, { recursive: true, force: true });
    place.clear();
});

test("SW1: it waits for room, and a Ctrl-C ends it", async () => {
    mountRoom(disk, "1m");
    place.write("a.txt", "x".repeat(3_000));
    place.write("p.remit", 'import tool Files from "file:."\nmain func() { repeat * 2000 { Files.read({ path: "a.txt" }) } }\n');
    const ledger = join(disk, "ledger.db");
    const child = spawn(process.execPath, [BIN, "run", "p.remit", "--ledger", ledger], { cwd: place.folder, env: place.env });
    let seen = "";
    child.stderr.on("data", (data: Buffer) => {
        seen += data;
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    await expect.poll(() => seen).toMatch(/waiting: the ledger .* disk is full\. The run [\w-]+, which is at main\S*, goes on/);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(seen).toMatch(/cancelled: the run was cancelled\n.*remit resume/s);

    // A new run does not begin; with room, this one goes on to its end.
    expect(place.remit("run", "p.remit", "--ledger", join(disk, "other.db"))).toMatchObject({
        code: 1,
        err: expect.stringMatching(
            /other\.db cannot grow: the disk is full\n {2}help: Free some disk space, then give the same command again/,
        ),
    });
    spawnSync("mount", ["-o", "remount,size=64m", disk]);
    expect(place.remit("resume", "last", "--ledger", ledger).code).toBe(0);
    expect(place.remit("trace", "verify", "last", "--ledger", ledger).code).toBe(0);
});

test("INI1: a project that did not fit is made whole by the next init", () => {
    spawnSync("umount", ["-l", disk]);
    mountRoom(disk, "64k");
    const project = join(disk, "project");
    writeFileSync(join(disk, "fill"), Buffer.alloc(44 * 1024));
    expect(place.remit("init", project, "--template", "triage")).toMatchObject({
        code: 1,
        err: expect.stringMatching(/error: the disk is full\n {2}help: free some space/),
    });
    rmSync(join(disk, "fill"));
    expect(place.remit("init", project, "--template", "triage", "--force").code).toBe(0);
    expect(place.remit("init", "whole", "--template", "triage").code).toBe(0);
    const files = readdirSync(project, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(project, name)).isFile());
    for (const name of files)
        expect(readFileSync(join(project, name), "utf8")).toBe(readFileSync(join(place.folder, "whole", name), "utf8"));
});
