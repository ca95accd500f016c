/**
 * Every example on three shells gives the same canonical ledger: on the local one, on a remote one whose whole world is in a child process, and in a
 * simulated world, which answers with what the record holds.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Json } from "@remit/language";
import { canonicalLedger, isUnasked, type MachineEvent } from "@remit/machine";
import { afterEach, expect, test } from "vitest";
import { memoryStore } from "../packages/host/src/ledger/memory.ts";
import type { Host } from "../packages/host/src/run/host.ts";
import { conduct, type LocalEnd } from "../packages/host/src/run/local.ts";
import { startOptions } from "../packages/host/src/run/machine.ts";
import { remote } from "../packages/host/tests/run/remote/remote.ts";
import { Kept, simulate } from "../packages/machine/tests/conduct/simulated.ts";
import { exampleWorld, RUN, worldOf } from "./example-world.ts";
import { scriptAt } from "../packages/host/tests/script.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "examples");
const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

let room = "";
afterEach(() => rmSync(room, { recursive: true, force: true }));

/** What a world draws anew each time: ids, times, how long an agent took. */
const DRAWN = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|"(?:ms|undo)":[^,}]+/g;

const own = (events: readonly MachineEvent[]): readonly string[] =>
    canonicalLedger(events.filter(({ data }) => (data as { readonly host?: unknown } | null)?.host !== true))
        .replaceAll(DRAWN, "…")
        .split("\n");

async function shelled(example: string, isFar: boolean): Promise<{ readonly end: LocalEnd; readonly kept: Kept }> {
    for (const name of readdirSync(room)) rmSync(join(room, name), { recursive: true, force: true });
    cpSync(join(folder, example), room, { recursive: true });
    const { world, options } = await exampleWorld(room);
    await using far = isFar ? remote(pathToFileURL(scriptAt("tests/example-world.ts")), room) : null;
    const host: Host = far === null ? await worldOf(room) : { perform: () => Promise.reject(new Error("not here")), end: far.end };
    const kept = new Kept();
    try {
        const end = await conduct(world.machine(RUN, options), {
            store: { ...memoryStore(), durable: true },
            writer: {
                commit: async (batch) => {
                    kept.commit(batch);
                    return null;
                },
                batches: 0,
                timed: () => undefined,
                release: async () => undefined,
            },
            host,
            secrets: world.secrets,
            concurrency: 1,
            ...(far === null ? {} : { perform: far.perform }),
        });
        return { end, kept };
    } finally {
        await host.close?.();
        await world.close();
    }
}

test.each(names)("%s", async (name) => {
    // Inside the checkout, so that an example's own server finds the checkout's packages.
    room = mkdtempSync(join(root, ".tools-test-"));
    const here = await shelled(name, false);
    expect(here.end).toEqual({ status: "done", value: JSON.parse(readFileSync(join(folder, name, "expected.json"), "utf8")) as Json });
    const there = await shelled(name, true);
    expect(there.end).toEqual(here.end);
    expect(own(there.kept.events)).toEqual(own(here.kept.events));

    // What an agent asked for while it worked comes from no effect of the program's: the simulated world has none of it.
    const { outcomes } = here.kept;
    if (outcomes.some((one) => isUnasked(one) || !here.kept.asked.has(one.path))) return;
    const { world, options } = await exampleWorld(room);
    try {
        const simulated = simulate(world.form, {
            choices: [1, 2, 3, 5, 8],
            concurrency: 1,
            options: startOptions(RUN, world.form, world.hash, options, 50),
            answer: (effect) => outcomes.find(({ path }) => path === effect.path)?.outcome as never,
        });
        expect(own(simulated.events)).toEqual(own(here.kept.events));
    } finally {
        await world.close();
    }
});

test("has the examples of the folder", () => {
    expect(names.filter((name) => existsSync(join(folder, name, "replies.json"))).length).toBeGreaterThan(10);
});
