/** A server that is killed loses nothing that it acknowledged, and the next one performs nothing twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { openLedger } from "@remit/host";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scriptAt } from "../../host/tests/script.ts";
import { type FoundServer, ServeClient, servers } from "../src/index.ts";
import { calls, ended, watch } from "./room.ts";

const SERVER = scriptAt("packages/serve/tests/process/server.ts");
const CLICK = { description: "Clicks", input: { type: "object" } };

let folder: string;
let child: ChildProcess | null = null;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-killed-"));
});
afterEach(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
});

async function kill(): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
}

async function start(options: Json = {}): Promise<ServeClient> {
    child = spawn(process.execPath, [SERVER, folder, JSON.stringify(options)], { stdio: ["ignore", "inherit", "inherit"] });
    let found: FoundServer | undefined;
    while (found === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        found = servers(join(folder, ".local/state/remit/serve"))[0];
    }
    return new ServeClient(found);
}

function says(replies: Json): void {
    writeFileSync(join(folder, "replies.json"), JSON.stringify(replies));
}

test("killed while a question waits: it is asked again, and the call is made once", async () => {
    says({
        rules: [
            { when: '"clicked"', reply: { text: "bought" } },
            { when: "buy", reply: calls("owner", "click") },
        ],
    });
    const before = await start();
    const { id } = await before.open();
    await before.lend(id, "click", CLICK);
    const turn = await before.submit(id, { text: "buy" });
    let first = "";
    await watch(before, id, (event, data) => {
        if (event === "ask.requested") first = data["ask"] as string;
        return first !== "";
    });
    await kill();

    const after = await start();
    const { seq, turns } = await after.session(id);
    expect(turns).toMatchObject([{ id: turn.id, status: "running" }]);
    await after.lend(id, "click", CLICK);
    // The tool was lent anew: a yes for the old question would be none for it.
    expect(await after.decide(id, first, "once")).toMatchObject({ status: "rejected" });
    const asked: unknown[] = [];
    const called: unknown[] = [];
    await watch(
        after,
        id,
        ended(turn.id),
        async (event, data) => {
            if (event === "ask.requested") {
                asked.push(data["ask"]);
                await after.decide(id, data["ask"] as string, "once");
            }
            if (event === "call") {
                called.push(data["tool"]);
                await after.result(id, data["id"] as string, { ok: true, value: "clicked" });
            }
        },
        seq,
    );
    expect([asked.length, asked.includes(first), called]).toEqual([1, false, ["click"]]);
    expect(await after.turn(id, turn.id)).toMatchObject({ status: "done", value: "bought" });
    await kill();
    const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, ".config/remit") });
    for (const run of [id, `${id}.${turn.id}`]) expect(await ledger.verify(run)).toMatchObject({ ok: true });
    await ledger.close();
});

test("SAK4: a decision that was acknowledged is there after a kill, and one that the ledger could not keep is not acknowledged", async () => {
    // A file tool is the same one after a restart, so a decision about its call is not asked for again.
    mkdirSync(join(folder, "notes"));
    const program = join(folder, "main.remit");
    writeFileSync(
        program,
        'import tool Disk from "file://workspace/notes" { write: ask }\nmain func() { Disk.write({ path: "a.txt", content: "hi" }) }\n',
    );
    const before = await start({ program, model: "mock:" });
    const { id } = await before.open();
    const turn = await before.submit(id, { input: {} });
    let asked = "";
    await watch(before, id, (event, data) => {
        if (event === "ask.requested") asked = data["ask"] as string;
        return asked !== "";
    });
    // Another program keeps the ledger locked: nothing can be kept now.
    const other = new DatabaseSync(join(folder, "ledger.db"));
    other.exec("BEGIN IMMEDIATE");
    let acknowledged = false;
    const said = before.decide(id, asked, "once").then(
        () => (acknowledged = true),
        () => false,
    );
    await Promise.race([said, new Promise((resolve) => setTimeout(resolve, 300))]);
    await kill();
    await said;
    other.exec("ROLLBACK");
    other.close();
    expect([acknowledged, await decisions(id)]).toEqual([false, []]);

    const again = await start({ program, model: "mock:" });
    let times = 0;
    await watch(again, id, (event, data) => event === "ask.requested" && data["ask"] === asked && ++times === 2);
    expect(await again.decide(id, asked, "once")).toEqual({ status: "accepted" });
    await kill();
    expect(await decisions(id)).toEqual(["once"]);

    const last = await start({ program, model: "mock:" });
    // Where the kill came in the middle of the call, that is a question of its own.
    const seen = await watch(last, id, ended(turn.id), async (event, { ask, options }) => {
        if (event === "ask.requested" && isUnknown(options)) await last.decide(id, ask as string, "again");
    });
    const of = (kind: string) => seen.flatMap(({ event, data }) => (event === kind ? [data as { readonly [key: string]: Json }] : []));
    expect(of("ask.decided").filter(({ ask }) => ask === asked)).toHaveLength(1);
    expect(of("ask.requested").filter(({ ask, options }) => ask !== asked && !isUnknown(options))).toEqual([]);
    const { status, failure } = await last.turn(id, turn.id);
    expect({ status, failure }).toEqual({ status: "done" });
    expect(readFileSync(join(folder, "notes", "a.txt"), "utf8")).toBe("hi");
});

function isUnknown(options: Json | undefined): boolean {
    return Array.isArray(options) && options.includes("again");
}

/** What the session's log has. */
async function decisions(id: string): Promise<unknown[]> {
    const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, ".config/remit") });
    const events = await Array.fromAsync(ledger.events(id));
    await ledger.close();
    return events.flatMap(({ kind, data }) => (kind === "ask.decided" ? [(data as { readonly decision?: unknown }).decision] : []));
}

test("killed while a call is under way: nobody knows whether it happened, so it is asked and not made again", async () => {
    says([calls("owner", "click"), { text: "left it" }]);
    const before = await start();
    const { id } = await before.open();
    await before.lend(id, "click", CLICK);
    const turn = await before.submit(id, { text: "buy" });
    await watch(
        before,
        id,
        (event) => event === "call",
        async (event, data) => {
            if (event === "ask.requested") await before.decide(id, data["ask"] as string, "once");
        },
    );
    await kill();

    // The script begins anew with the process.
    says([{ text: "left it" }]);
    const after = await start();
    const { seq } = await after.session(id);
    await after.lend(id, "click", CLICK);
    const seen = await watch(
        after,
        id,
        ended(turn.id),
        async (event, data) => {
            if (event !== "ask.requested") return;
            expect(data["options"]).toEqual(["again", "give up"]);
            expect(data["question"]).toMatch(/^It is not known whether the call of click \(lent by owner\), at main\/\S+, happened\./);
            await after.decide(id, data["ask"] as string, "give up");
        },
        seq,
    );
    expect(seen.map(({ event }) => event)).not.toContain("call");
    expect(await after.turn(id, turn.id)).toMatchObject({ status: "done", value: "left it" });
});

test.each([
    ["the tool as it was asked about", "once", ["click"]],
    ["a tool that was lent anew meanwhile", "deny", []],
] as const)(
    "PPL4: killed in a call that was allowed: one question says that its tool was lent anew; a yes is one to %s",
    async (_, then, made) => {
        says([calls("owner", "click"), { text: "over" }]);
        const before = await start();
        const { id } = await before.open();
        await before.lend(id, "click", CLICK);
        const turn = await before.submit(id, { text: "buy" });
        await watch(
            before,
            id,
            (event) => event === "call",
            async (event, data) => {
                if (event === "ask.requested") await before.decide(id, data["ask"] as string, "once");
            },
        );
        await kill();

        says([{ text: "over" }]);
        const after = await start();
        const { seq } = await after.session(id);
        await after.lend(id, "click", CLICK);
        const asked: string[] = [];
        const called: Json[] = [];
        await watch(
            after,
            id,
            ended(turn.id),
            async (event, data) => {
                if (event === "ask.requested") {
                    asked.push(String(data["question"]));
                    if (asked.length === 1 && then === "deny") await after.lend(id, "click", { ...CLICK, description: "Buys" });
                    await after.decide(id, data["ask"] as string, isUnknown(data["options"]) ? "again" : then);
                }
                if (event === "call") {
                    called.push(data["tool"] ?? null);
                    await after.result(id, data["id"] as string, { ok: true, value: null });
                }
            },
            seq,
        );
        expect(asked[0]).toMatch(
            /^It is not known whether the call of click .* happened\. Its tool was lent anew since.* Perform it again\?$/,
        );
        expect(asked.slice(1)).toEqual(then === "once" ? [] : [expect.stringContaining("is not described as it was")]);
        expect(called).toEqual(made);
    },
);
