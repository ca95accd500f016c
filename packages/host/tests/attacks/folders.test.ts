/** Attacks on what a sandbox shows and lets be written: Remit's own folder, git's folder, whole homes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bwrapArgs } from "../../src/agent/sandbox.ts";
import { RAS_LIMITS, startRas } from "../../src/ras/process.ts";
import { rasSource } from "../../src/ras/source.ts";
import { handOf, rig } from "../agent/rig.ts";

test("git's folder and Remit's are not to be made where there are none", async () => {
    await using it = rig();
    const at = (...path: string[]): string => join(it.here.workspace, ...path);
    const found = await it.found(
        [
            {
                do: "run",
                text: "mkdir -p .git && echo '[core] fsmonitor = evil' > .git/config; mkdir -p .remit && echo x > .remit/forged; ls -a",
            },
            { do: "write", path: at(".git", "config"), text: "made" },
            { do: "write", path: at("fine.txt"), text: "made" },
        ],
        { hands: [handOf("file://workspace", { read: "may", write: "may" }, true)] },
    );
    expect(found.slice(1)).toEqual([{ no: "EROFS" }, { ok: null }]);
    expect(existsSync(at("fine.txt"))).toBe(true);
    for (const folder of [".git", ".remit"]) expect([folder, existsSync(at(folder)) ? readdirSync(at(folder)) : []]).toEqual([folder, []]);
});

test("a folder that may be read further shows nothing of earlier runs", async () => {
    await using it = rig({ agent: { sandbox: { read: ["./lib", process.cwd()] } } });
    it.here.write("lib/.remit/ledger.db", "what another run held");
    it.here.write("lib/a.txt", "fine");
    const [kept, fine] = await it.found([
        { do: "file", path: join(it.here.workspace, "lib", ".remit", "ledger.db") },
        { do: "file", path: join(it.here.workspace, "lib", "a.txt") },
    ]);
    expect([kept, fine]).toEqual([{ no: "ENOENT" }, { ok: "fine" }]);
});

test("in a folder that is empty for it, what is named and what was granted further in is there, and nothing can be made", async () => {
    await using it = rig({ agent: { sandbox: { read: ["./lib", process.cwd()] } } });
    it.here.write("lib/a.txt", "fine");
    it.here.write("secret.txt", "no");
    it.here.write("sub/b.txt", "sub");
    const at = (...path: string[]): string => join(it.here.workspace, ...path);
    const found = await it.found(
        [
            { do: "file", path: at("lib", "a.txt") },
            { do: "file", path: at("secret.txt") },
            { do: "write", path: at("new.txt"), text: "x" },
            { do: "write", path: at("lib", "new.txt"), text: "x" },
            { do: "write", path: at("sub", "new.txt"), text: "x" },
        ],
        {
            hands: [
                handOf("file://workspace", { read: "may" }, false),
                handOf("file://workspace/sub", { read: "may", write: "may" }, true, "Sub"),
            ],
        },
    );
    expect(found).toEqual([{ ok: "fine" }, { no: "ENOENT" }, { no: "EROFS" }, { no: "EROFS" }, { ok: null }]);
    expect(existsSync(at("sub", "new.txt"))).toBe(true);
});

test("arguments for what is not there name it only where it could be written", () => {
    const folder = "/nowhere/work";
    const text = (access: "read" | "write"): string =>
        bwrapArgs({ cwd: folder, folders: [{ path: folder, access }], read: [], home: "/h" }).join(" ");
    expect(text("write")).toContain(`--tmpfs ${folder}/.git --remount-ro ${folder}/.git`);
    expect(text("read")).not.toContain(".git");
});

test("a program of Re in Act that lies in a home sees none of the home beside it", async () => {
    const home = mkdtempSync(join(tmpdir(), "remit-home-"));
    try {
        mkdirSync(join(home, ".ssh"));
        writeFileSync(join(home, ".ssh", "id"), "PRIVATE");
        mkdirSync(join(home, "work"));
        writeFileSync(join(home, "work", "beside.txt"), "beside");
        const text = "import os\nprint(sorted(os.listdir('.')))\n";
        writeFileSync(join(home, "x.py"), text);
        writeFileSync(join(home, "work", "x.py"), text);
        const env = { PATH: process.env.PATH ?? "", HOME: home };
        const printed = async (file: string): Promise<string | undefined> => {
            const ran = await startRas(rasSource(join(home, file)), { inputs: {}, limits: RAS_LIMITS, unconfined: false, env });
            try {
                return (await ran.step([], new AbortController().signal)).output?.trim();
            } finally {
                await ran.end();
            }
        };
        expect(await printed("x.py")).toBe("['x.py']");
        expect(await printed("work/x.py")).toBe("['beside.txt', 'x.py']");
    } finally {
        rmSync(home, { recursive: true });
    }
});
