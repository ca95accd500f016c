/** PGC1, SLG3, LNT8: a PostgreSQL that is restarted in good order under two servers costs a pause: what was acknowledged is there, and nothing is done twice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@remit/host";
import { expect, onTestFinished, test } from "vitest";
import { postgresOfItsOwn } from "../../host/tests/postgres-server.ts";
import { scriptAt } from "../../host/tests/script.ts";
import { type FoundServer, ServeClient, ServerRefusal, servers } from "../src/index.ts";
import { calls, ended, watch } from "./room.ts";

/** When the database is restarted in a turn: beside the step that it names, or before it. */
const WHEN = ["beside the submission", "beside the result", "before the result", "beside the decision", "before the decision"] as const;

/** As a client does that is told to send it again. */
async function sent<T>(work: () => Promise<T>): Promise<T> {
    for (;;)
        try {
            return await work();
        } catch (error) {
            if (!(error instanceof ServerRefusal) || error.status !== 503) throw error;
            expect(error.hint).toMatch(/again/);
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
}

test("sessions go on over restarts of the database; turns, decisions and results that are sent again count once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-restart-"));
    const own = await postgresOfItsOwn();
    const ledger = own.fresh();
    const start = async (name: string): Promise<FoundServer> => {
        const state = join(folder, name);
        const script = scriptAt("packages/serve/tests/process/server.ts");
        const child = spawn(process.execPath, [script, folder, JSON.stringify({ ledger, state })], {
            stdio: ["ignore", "inherit", "inherit"],
        });
        onTestFinished(async () => {
            child.kill("SIGKILL");
            if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        });
        for (;;) {
            const [found] = servers(join(state, "serve"));
            if (found !== undefined) return found;
            expect(child.exitCode).toBeNull();
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
    };
    onTestFinished(async () => {
        await own.stop();
        rmSync(folder, { recursive: true, force: true });
    });
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { id: client, token } = await new ServeClient(a).request<{ id: string; token: string }>("POST", "/v1/clients", {
        name: "page",
        scopes: ["observe", "submit", "lend", "approve"],
    });
    writeFileSync(
        join(folder, "replies.json"),
        JSON.stringify(WHEN.flatMap((when) => [calls(client, "click", { when }), { text: `done ${when}` }])),
    );
    // The session is at one process, and its client at the other one.
    const [atA, atB] = [a, b].map(({ url }) => new ServeClient({ url, token })) as [ServeClient, ServeClient];
    const { id } = await atA.open();
    const made: unknown[] = [];
    const told: unknown[] = [];
    let seq = 0;
    for (const [at, when] of WHEN.entries()) {
        const beside = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
            if (when === `before the ${step}`) await own.restart();
            const [said] = await Promise.all([sent(work), when === `beside the ${step}` ? own.restart() : null]);
            return said;
        };
        const turn = `t${at + 1}`;
        let isSubmitted = false;
        const frames = await watch(
            atB,
            id,
            ended(turn),
            async (event, data) => {
                if (event === "caught-up" && !isSubmitted) {
                    isSubmitted = true;
                    if (at === 0) await atB.lend(id, "click", { description: "Clicks", repeatable: false });
                    told.push((await beside("submission", () => atB.submit(id, { text: when }, when))).id);
                }
                // One that counted, and whose answer was lost, finds its question closed.
                if (event === "ask.requested") await beside("decision", () => atB.decide(id, data["ask"] as string, "once"));
                if (event !== "call") return;
                made.push((data["args"] as { readonly when?: unknown }).when);
                told.push((await beside("result", () => atB.result(id, data["id"] as string, { ok: true, value: when }))).status);
            },
            seq,
        );
        seq = frames.at(-1)?.seq ?? seq;
        expect(await sent(() => atB.turn(id, turn))).toMatchObject({ status: "done", value: `done ${when}` });
    }
    expect(made).toEqual(WHEN);
    expect(told).toEqual(WHEN.flatMap((_, at) => [`t${at + 1}`, "accepted"]));
    expect((await atA.session(id)).turns.map(({ text }) => text)).toEqual(WHEN);
    const store = await openStore(ledger, { config: join(folder, ".config/remit"), state: join(folder, "reader") });
    for (const run of [id, ...WHEN.map((_, at) => `${id}.t${at + 1}`)]) expect(await store.verify(run)).toMatchObject({ ok: true });
    await store.close();
});
