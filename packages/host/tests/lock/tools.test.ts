/** Tools in `remit.lock` (L5): a server that says something else of itself than a person has looked at. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { NO_CONFIG } from "../../src/config/config.ts";
import { lockPrograms } from "../../src/lock/project.ts";
import { pinsOf } from "../../src/lock/tools.ts";
import { load } from "../../src/run/program.ts";
import { openWorld } from "../../src/run/program-world.ts";
import { createTools } from "../../src/tool/tools.ts";
import { scriptAt } from "../script.ts";
import { type Work, work } from "../tool/setup.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

const LIAR = scriptAt("packages/host/tests/tool/mcp-liar.mjs");
const PROGRAM =
    'import tool Far from "mcp://far"\nimport tool Repo from "file://workspace"\nmain func(input) { [Far.go({}), Repo.list({})] }\n';

function saying(here: Work, how: string) {
    here.write("main.remit", PROGRAM);
    return here.config({ mcpServers: { far: { command: "node", args: [LIAR, how] } } });
}

/** What the machine is told of the import, and what the person is. */
async function described(here: Work, how: string): Promise<{ readonly pinned: Json | undefined; readonly told: readonly Json[] }> {
    const told: Json[] = [];
    const tools = createTools(saying(here, how), {
        root: here.workspace,
        workspace: here.workspace,
        env: here.env,
        secrets: createScrubber(),
        pins: pinsOf(here.workspace, "main.remit"),
    });
    try {
        const request: Json = { op: "describe", tool: "Far", uri: "mcp://far", file: "main.remit" };
        const io = { signal: new AbortController().signal, emit: (part: Json) => void told.push(part) } as unknown as Parameters<
            typeof tools.perform
        >[1];
        const outcome = await tools.perform({ path: "main", kind: "tool", principal: "user", site: null, request, labels: [] }, io);
        return { pinned: outcome.ok ? (outcome.value as { pinned?: Json }).pinned : null, told };
    } finally {
        await tools.close();
    }
}

test("what a server says of itself is pinned by method, and told where it is another", async () => {
    await using here = work();
    const options = { env: here.env, trust: true, workspace: here.workspace };
    const path = join(here.workspace, "main.remit");
    const lock = (check = false) => lockPrograms([path], { ...options, check });

    expect(await described(here, "plain")).toEqual({ pinned: undefined, told: [] });
    expect(await lock()).toMatchObject({ pinned: 1, written: true });
    const file = join(here.workspace, "remit.lock");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
        programs: {
            "main.remit": { tools: { "main.remit#Far": { uri: "mcp://far", methods: { go: expect.stringMatching(/^[0-9a-f]{64}$/) } } } },
        },
    });
    expect(await described(here, "plain")).toEqual({ pinned: true, told: [] });
    // The one that a person has looked at does not cover another of its name.
    expect((await described(here, "one name twice")).pinned).toBe(false);
    saying(here, "plain");
    await (await openWorld(path, { ...options, frozen: true })).close();

    const poisoned = await described(here, "other words");
    expect(poisoned.pinned).toBe(false);
    expect(poisoned.told).toEqual([{ message: expect.stringContaining("Far does not say of itself what remit.lock pins") }]);
    await expect(openWorld(path, { ...options, frozen: true })).rejects.toThrow(
        /tool main\.remit#Far is not what remit\.lock says: methods\.go [0-9a-f]{12}… → [0-9a-f]{12}…$/,
    );
    expect((await lock(true)).changes["main.remit"]).toEqual([
        { what: "tool main.remit#Far", change: "changed", differs: [expect.stringContaining("methods.go")] },
    ]);

    // Of a lock of before tools were pinned, of another place, of another program: nothing is pinned.
    const whole = JSON.parse(readFileSync(file, "utf8"));
    for (const tools of [
        undefined,
        {},
        { "main.remit#Far": { ...whole.programs["main.remit"].tools["main.remit#Far"], uri: "mcp://other" } },
    ]) {
        writeFileSync(file, JSON.stringify({ ...whole, programs: { "main.remit": { ...whole.programs["main.remit"], tools } } }));
        expect((await described(here, "plain")).pinned).toBe(undefined);
    }
});

test("a server that cannot be asked is not pinned silently", async () => {
    await using here = work();
    here.write("main.remit", PROGRAM);
    here.config({ mcpServers: { far: { command: "node", args: ["-e", "process.exit(1)"] } } });
    await expect(
        lockPrograms([join(here.workspace, "main.remit")], { env: here.env, trust: true, workspace: here.workspace }),
    ).rejects.toThrow(/tool Far cannot say what it has/);
});

test("a lock that cannot be read is told before a run begins, where it could pin a tool, and holds up no other program", async () => {
    await using here = work();
    here.write("remit.lock", "<<<<<<< HEAD\n");
    here.write("main.remit", PROGRAM);
    here.write("own.remit", 'import tool Repo from "file://workspace"\nmain agent A { main func() { Repo.list({}).entries.length } }\n');
    const how = { env: here.env, trust: true, workspace: here.workspace, ledger: "memory" } as const;
    await expect(load(join(here.workspace, "main.remit"), how)).rejects.toMatchObject({
        failure: { kind: "value", message: expect.stringContaining("remit.lock is not JSON"), hint: "write it anew: remit lock" },
    });
    const own = await load(join(here.workspace, "own.remit"), how);
    expect(await own(null)).toBeGreaterThan(0);
    await own.close();
});

test("what the caller's own functions say of themselves needs no lock; what is asked for anew, such as a lent tool, is not the caller's word", async () => {
    await using here = work();
    const own = { read: { call: () => "x", description: "Reads." } };
    const tools = here.tools(NO_CONFIG, { Own: own, lent: () => own });
    const pinned = async (name: string, uri: string) => (await tools.describe({ name, uri, file: "main.remit" })).pinned;
    expect([await pinned("Own", "host:own"), await pinned("Lent", "host:lent")]).toEqual([true, undefined]);
});
