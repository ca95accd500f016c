/** Attacks on what a sandbox shows and lets be written: Remit's own folder, git's folder, whole homes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { children } from "../../src/process/child.ts";
import { RAS_LIMITS, startRas } from "../../src/ras/process.ts";
import { rasSource } from "../../src/ras/source.ts";
import { handOf, rig } from "../agent/rig.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

test("git's folder and Remit's are not written where they are, and not made by the sandbox where they are not", async () => {
    await using it = rig();
    it.here.write(".git/config", "own");
    it.here.write(".remit/ledger.db", "own");
    const at = (...path: string[]): string => join(it.here.workspace, ...path);
    const hands = [handOf("file://workspace", { read: "may", write: "may" }, true)];
    await it.found(
        [
            {
                do: "run",
                text: "echo evil > .git/config; mv .git g; rm -rf .git; ln -s /tmp .git/x; echo evil > .remit/ledger.db; mv .remit r; rmdir .remit",
            },
        ],
        { hands },
    );
    expect(readFileSync(at(".git", "config"), "utf8")).toBe("own");
    expect(readFileSync(at(".remit", "ledger.db"), "utf8")).toBe("own");
    expect(readdirSync(at(".git"))).toEqual(["config"]);
    await using none = rig();
    await none.found([{ do: "write", path: join(none.here.workspace, "a.txt"), text: "x" }], { hands });
    expect(readdirSync(none.here.workspace).sort()).toEqual(["a.txt", "remit.json"]);
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

test("a program of Re in Act that lies in a home sees none of the home beside it", async () => {
    const home = mkdtempSync(join(tmpdir(), "remit-home-"));
    const owner = children();
    try {
        mkdirSync(join(home, ".ssh"));
        writeFileSync(join(home, ".ssh", "id"), "PRIVATE");
        mkdirSync(join(home, "work"));
        writeFileSync(join(home, "work", "beside.txt"), "beside");
        const text = (folder: string): string => `import os\nprint(sorted(os.listdir(${JSON.stringify(folder)})))\n`;
        writeFileSync(join(home, "x.py"), text(home));
        writeFileSync(join(home, "work", "x.py"), text(join(home, "work")));
        const env = { PATH: process.env.PATH ?? "", HOME: home };
        const printed = async (file: string): Promise<string | undefined> => {
            const options = { inputs: {}, limits: RAS_LIMITS, unconfined: false, env, children: owner, secrets: createScrubber() };
            const ran = await startRas(rasSource(join(home, file)), options);
            try {
                return (await ran.step([], new AbortController().signal)).output?.trim();
            } finally {
                await ran.end();
            }
        };
        expect(await printed("x.py")).toBe("['x.py']");
        expect(await printed("work/x.py")).toBe("['beside.txt', 'x.py']");
    } finally {
        await owner.close();
        rmSync(home, { recursive: true });
    }
});
