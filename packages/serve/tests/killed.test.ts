/** A server that is killed loses nothing that it acknowledged, and the next one performs nothing twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openLedger } from "@remit/host";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FoundServer, ServeClient, servers } from "../src/index.ts";
import { calls, ended, watch } from "./room.ts";

const SERVER = fileURLToPath(new URL("./process/server.ts", import.meta.url));
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

async function start(): Promise<ServeClient> {
    child = spawn(process.execPath, [SERVER, folder], { stdio: ["ignore", "inherit", "inherit"] });
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
            await after.decide(id, data["ask"] as string, "give up");
        },
        seq,
    );
    expect(seen.map(({ event }) => event)).not.toContain("call");
    expect(await after.turn(id, turn.id)).toMatchObject({ status: "done", value: "left it" });
});
