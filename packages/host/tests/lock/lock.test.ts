/** `remit.lock` (L1–L4). */
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { fromThisProcess } from "../../src/process/here.ts";
import { loadConfig } from "../../src/config/config.ts";
import { loadProgram } from "../../src/load/load.ts";
import { commandIdentity } from "../../src/lock/identity.ts";
import { checkFrozen } from "../../src/lock/now.ts";
import { lockChanges, lockOf, lockText, type LockSetting, readLock, withLock, writeLock } from "../../src/lock/lock.ts";
import { RemitError } from "../../src/failure/error.ts";
import { type Place, place } from "../skill/support.ts";

/** An agent in `node_modules`, as a package manager puts it there. */
function installed(at: Place, version = "1.0.0", text = "#!/usr/bin/env node\n"): void {
    const root = "root/node_modules";
    at.write(
        `${root}/some-agent/package.json`,
        JSON.stringify({ name: "some-agent", version, optionalDependencies: { "some-agent-here": version, "some-agent-there": version } }),
    );
    at.write(`${root}/some-agent/bin/agent.js`, text);
    at.write(`${root}/some-agent/node_modules/inner/index.js`, "inner");
    at.write(`${root}/some-agent-here/package.json`, JSON.stringify({ name: "some-agent-here", version }));
    at.write(`${root}/some-agent-here/binary`, "0101");
    mkdirSync(join(at.folder, root, ".bin"), { recursive: true });
    try {
        symlinkSync("../some-agent/bin/agent.js", join(at.folder, root, ".bin/some-agent"));
    } catch {
        // It is there already.
    }
    at.write(
        "root/remit.json",
        JSON.stringify({
            agents: { some: { command: ["./node_modules/.bin/some-agent", "--acp"], endpoints: ["https://api.example.com"] } },
        }),
    );
}

function form(
    agentUri: string,
    remit: object = { grants: [{ gate: "may", refs: [{ name: "Repo", method: "read" }], at: [1, 1, 1, 2] }], spend: { turns: 4 } },
) {
    return {
        format: "remit-program/1",
        files: [
            {
                file: "main.remit",
                imports: [
                    { what: "tool", name: "Repo", uri: "file://workspace" },
                    { what: "agent", name: "Fixer", uri: agentUri, remit, at: [3, 1, 3, 40] },
                    { what: "skill", name: "Triage", uri: "./skills/triage" },
                ],
                shapes: [],
                funcs: [{ name: "__main", main: true, params: [], effects: [], body: [] }],
                agents: [],
            },
        ],
        entry: { file: 0, func: "__main" },
    };
}

function setting(at: Place): LockSetting {
    const config = loadConfig({ from: join(at.folder, "root/main.remit"), env: at.env, trust: true });
    return { config, workspace: join(at.folder, "root"), env: { ...at.env, PATH: process.env.PATH ?? "" } };
}
async function loaded(at: Place, uri = "acp://some", remit?: object) {
    return loadProgram({ form: form(uri, remit) as unknown as Json }, { here: fromThisProcess(), root: join(at.folder, "root") });
}

test("L1: an agent of node_modules is its package, and its binary for this platform", async () => {
    using at = place();
    installed(at);
    at.skill("root/skills/triage");
    const { agents, skills } = lockOf(await loaded(at), setting(at));
    expect(agents).toEqual({
        "main.remit#Fixer": {
            uri: "acp://some",
            identity: {
                kind: "package",
                name: "some-agent",
                version: "1.0.0",
                sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
                parts: { "some-agent-here": { version: "1.0.0", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
            },
            configuration: expect.stringMatching(/^[0-9a-f]{64}$/),
            remit: { grants: [{ gate: "may", refs: [{ name: "Repo", method: "read" }] }], spend: { turns: 4 } },
        },
    });
    expect(skills).toEqual({
        "main.remit#Triage": { uri: "./skills/triage", name: "triage", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
});

test("a file of its own, and this Node", () => {
    using at = place();
    const file = at.write("agent.sh", "#!/bin/sh\n");
    expect(commandIdentity(file)).toEqual({ kind: "file", name: "agent.sh", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(commandIdentity(process.execPath)).toEqual({ kind: "node", version: process.versions.node });
});

test("a script of an interpreter, a server, stubs", async () => {
    using at = place();
    at.skill("root/skills/triage");
    at.write("root/agent.mjs", "1");
    at.write("root/replies.json", "[]");
    const of = async (uri: string) => lockOf(await loaded(at, uri), setting(at)).agents["main.remit#Fixer"];
    expect(await of("acp:node agent.mjs --acp")).toMatchObject({ identity: { kind: "node" }, files: { "agent.mjs": expect.any(String) } });
    expect(await of("acp+https://agents.example.com/acp")).toMatchObject({
        identity: { kind: "remote", url: "https://agents.example.com/acp" },
    });
    expect(await of("stub:sequence:replies.json")).toMatchObject({
        identity: { kind: "stub" },
        files: { "replies.json": expect.any(String) },
    });
    await expect(of("acp://nobody")).rejects.toThrow(/^main\.remit:3:1: unreachable: agent Fixer: there is no agent 'nobody'/);
});

test("L3: the same programs give the same file, wherever they are", async () => {
    const texts: string[] = [];
    for (let i = 0; i < 2; i++) {
        using at = place();
        installed(at);
        at.skill("root/skills/triage");
        const lock = withLock(null, "main.remit", lockOf(await loaded(at), setting(at)));
        writeLock(join(at.folder, "root"), lock);
        texts.push(readFileSync(join(at.folder, "root/remit.lock"), "utf8"));
        expect(texts[i]).not.toContain(at.folder);
        expect(readLock(join(at.folder, "root"))).toEqual(JSON.parse(lockText(lock)));
    }
    expect(texts[0]).toBe(texts[1]);
});

test("L4: frozen, what is not pinned or was changed is refused by name", async () => {
    using at = place();
    installed(at);
    const skill = at.skill("root/skills/triage");
    const root = join(at.folder, "root");
    const frozen = async (uri?: string, remit?: object) =>
        await checkFrozen({ ...(await loaded(at, uri, remit)), file: "main.remit" }, setting(at));
    await expect(frozen()).rejects.toThrow(/agent main\.remit#Fixer is not pinned: there is no remit\.lock/);
    const lock = async () => writeLock(root, withLock(readLock(root), "main.remit", lockOf(await loaded(at), setting(at))));
    await lock();
    await frozen();

    const changed: [string, () => void, RegExp][] = [
        [
            "a file of the package",
            () => installed(at, "1.0.0", "#!/usr/bin/env node\nevil()\n"),
            /agent main\.remit#Fixer is not what remit\.lock says: identity\.sha256 [0-9a-f]{12}… → [0-9a-f]{12}…$/,
        ],
        ["a version", () => installed(at, "1.0.1"), /identity\.version 1\.0\.0 → 1\.0\.1/],
        ["its binary", () => at.write("root/node_modules/some-agent-here/binary", "0110"), /identity\.parts\.some-agent-here\.sha256/],
        [
            "the configuration",
            () => at.write("root/remit.json", '{"agents": {"some": {"command": ["./node_modules/.bin/some-agent", "--yolo"]}}}'),
            /configuration/,
        ],
        [
            "the skill",
            () => at.skill("root/skills/triage", undefined, "Do it otherwise."),
            /skill main\.remit#Triage is not what remit\.lock says: sha256/,
        ],
        ["a file of the skill", () => at.write("root/skills/triage/scripts/x.sh", "rm"), /skill main\.remit#Triage/],
    ];
    for (const [what, change, message] of changed) {
        installed(at);
        at.skill("root/skills/triage");
        await lock();
        change();
        await expect(frozen(), what).rejects.toThrow(message);
        await expect(frozen(), what).rejects.toThrow(RemitError);
    }
    installed(at);
    renameSync(join(skill, "scripts/x.sh"), join(at.folder, "gone"));
    await lock();
    await expect(frozen("acp://some", { grants: [{ gate: "may", refs: [{ name: "Repo" }] }] })).rejects.toThrow(
        /remit\.grants .* → .*; remit\.spend/,
    );
    await expect(frozen("stub:noop")).rejects.toThrow(/uri acp:\/\/some → stub:noop/);
});

test("packages of other platforms stay in the lock, and one that is not in it is not pinned", async () => {
    using at = place();
    installed(at);
    at.skill("root/skills/triage");
    const here = lockOf(await loaded(at), setting(at));
    renameSync(join(at.folder, "root/node_modules/some-agent-here"), join(at.folder, "root/node_modules/some-agent-there"));
    const there = lockOf(await loaded(at), setting(at));
    expect(lockChanges(here, there)[0]?.differs).toEqual([expect.stringMatching(/^identity\.parts\.some-agent-there nothing → /)]);
    const both = withLock(withLock(null, "main.remit", here), "main.remit", there).programs["main.remit"];
    expect([lockChanges(both, here), lockChanges(both, there)]).toEqual([[], []]);
});

test("what is new, what is gone", async () => {
    using at = place();
    at.skill("root/skills/triage");
    const now = lockOf(await loaded(at, "stub:noop"), setting(at));
    expect(lockChanges(undefined, now).map((one) => `${one.change} ${one.what}`)).toEqual([
        "new agent main.remit#Fixer",
        "new skill main.remit#Triage",
    ]);
    expect(lockChanges(now, { agents: {}, skills: {} }).map((one) => one.change)).toEqual(["gone", "gone"]);
});

test.each([
    "[]",
    "{",
    '{"format": "remit-lock/2", "programs": {}}',
    '{"format": "remit-lock/1", "programs": {"a": 1}}',
    '{"format": "remit-lock/1", "programs": {"a": {"agents": {"x": 1}, "skills": {}}}}',
])("no lock: %s", (text) => {
    using at = place();
    writeFileSync(join(at.folder, "remit.lock"), text);
    expect(() => readLock(at.folder)).toThrow(RemitError);
});
