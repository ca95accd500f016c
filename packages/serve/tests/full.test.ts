/** RDY1 to RDY3, SLG5, SAK5: a server whose ledger is on a full disk. The test mounts it, so it runs as root. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mountRoom } from "../../host/tests/ledger/room.ts";
import { scriptAt } from "../../host/tests/script.ts";
import { ServeClient, type ServerRefusal, servers } from "../src/index.ts";
import type { CallResult } from "../src/wire/messages.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

const SERVER = scriptAt("packages/serve/tests/process/server.ts");
const CLICK = { description: "Clicks" };

let disk: string;
beforeEach(() => {
    disk = mkdtempSync(join(tmpdir(), "remit-serve-full-"));
    mountRoom(disk, "16m");
});
afterEach(() => {
    spawnSync("umount", ["-l", disk]);
    rmSync(disk, { recursive: true, force: true });
});

/** Leaves so many pages of 4 KiB. */
function fill(pages: number): void {
    rmSync(join(disk, "ledger.db.ballast"), { force: true });
    rmSync(join(disk, "fill"), { force: true });
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, "fill"), Buffer.alloc(bavail * bsize - pages * 4096));
}
const free = (): void => rmSync(join(disk, "fill"), { force: true });

const ready = async (at: Room): Promise<readonly [number, unknown]> => {
    const said = await at.raw("GET", "/readyz");
    return [said.status, await said.json()];
};
const asked = (event: string): boolean => event === "ask.requested";
const refusal = (work: Promise<unknown>): Promise<ServerRefusal> =>
    work.then(
        () => expect.fail("it was accepted"),
        (error: ServerRefusal) => error,
    );

test("a decision is refused with run and place, the question stays open, and both go on when there is room", async () => {
    const logged: string[] = [];
    await using at = await room([calls("owner", "click"), { text: "clicked" }], {
        ledger: join(disk, "ledger.db"),
        log: (level, message) => level !== "info" && logged.push(message),
    });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const turn = await at.owner.submit(id, { text: "Click" });
    await watch(at.owner, id, asked);
    const [ask] = (await at.owner.session(id)).asks;
    fill(0);
    const no = await refusal(at.owner.decide(id, ask?.id ?? "", "once"));
    expect([no.status, no.kind]).toEqual([503, "ledger"]);
    expect(no.message).toMatch(new RegExp(`its disk is full; the question of the run ${id}.t1, which is at main/\\S+, stays open`));
    expect((await at.owner.session(id)).asks.map((one) => one.id)).toEqual([ask?.id]);
    expect(await ready(at)).toEqual([503, { ok: false, why: "its ledger takes nothing now: its disk is full" }]);
    // What else would change the session is refused, too, and nothing of it is there.
    expect(await refusal(at.owner.submit(id, { text: "And this" }))).toMatchObject({
        status: 503,
        message: expect.stringContaining("nothing of it was kept"),
    });
    expect(await refusal(at.owner.lend(id, "type", CLICK))).toMatchObject({ status: 503 });
    expect(await refusal(at.owner.open())).toMatchObject({ status: 503 });
    const now = await at.owner.session(id);
    expect([now.turns.map((one) => one.id), now.tools.map((one) => one.tool)]).toEqual([["t1"], ["click"]]);
    free();
    await expect.poll(() => ready(at), { timeout: 60_000 }).toEqual([200, { ok: true }]);
    expect(logged).toEqual([expect.stringContaining("the ledger takes nothing now"), "the ledger can be written again"]);
    const seen = watch(at.owner, id, ended(turn.id), (event, data) => {
        if (event === "call") return at.owner.result(id, data["id"] as string, { ok: true, value: null });
    });
    expect(await at.owner.decide(id, ask?.id ?? "", "once")).toEqual({ status: "accepted" });
    await seen;
    expect((await at.owner.turn(id, turn.id)).value).toBe("clicked");
    await at.again();
    expect((await at.owner.session(id)).turns).toMatchObject([{ id: "t1", status: "done" }]);
    for (const run of [id, `${id}.t1`]) expect(await at.server.ledger.verify(run)).toMatchObject({ ok: true });
});

test("RDY3: where nothing waits and a session cannot be opened, the server is not ready; it is again where there is room", async () => {
    const logged: string[] = [];
    await using at = await room([], { ledger: join(disk, "ledger.db"), log: (level, message) => level !== "info" && logged.push(message) });
    await at.owner.open();
    fill(0);
    expect(await refusal(at.owner.open())).toMatchObject({ status: 503 });
    const full = [503, { ok: false, why: "its ledger takes nothing now: its disk is full" }];
    expect([await ready(at), await ready(at)]).toEqual([full, full]);
    free();
    expect(await ready(at)).toEqual([200, { ok: true }]);
    expect(logged).toEqual([expect.stringContaining("the ledger takes nothing now"), "the ledger can be written again"]);
    await at.owner.open();
});

test("RDY3: a commit that no client asked for makes the server not ready, too: the heartbeat of a session", async () => {
    const logged: string[] = [];
    await using at = await room([], { ledger: join(disk, "ledger.db"), log: (level, message) => level !== "info" && logged.push(message) });
    await at.owner.open();
    fill(0);
    await expect.poll(() => logged, { timeout: 60_000 }).toEqual([expect.stringContaining("the ledger takes nothing now")]);
    expect(await ready(at)).toEqual([503, { ok: false, why: "its ledger takes nothing now: its disk is full" }]);
    free();
    expect(await ready(at)).toEqual([200, { ok: true }]);
});

test("what is refused while something before it waits is refused at once, and what waits is kept when there is room", async () => {
    await using at = await room([{ text: "hello" }], { ledger: join(disk, "ledger.db"), log: () => undefined });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    fill(0);
    const withdrawn = await refusal(at.owner.withdraw(id, "click"));
    expect(withdrawn).toMatchObject({ status: 503, hint: expect.stringContaining("may count") });
    expect(await refusal(at.owner.submit(id, { text: "Hello" }))).toMatchObject({
        status: 503,
        message: expect.stringContaining("nothing of it was kept"),
    });
    free();
    await expect.poll(() => ready(at), { timeout: 60_000 }).toEqual([200, { ok: true }]);
    const turn = await at.owner.submit(id, { text: "Hello" });
    const heard: string[] = [];
    for await (const { event } of at.owner.events(id)) if (heard.push(event) && event === "turn.ended") break;
    expect(heard.filter((one) => /^(lent|turn\.(sub|end))/.test(one))).toEqual([
        "lent.registered",
        "lent.withdrawn",
        "turn.submitted",
        "turn.ended",
    ]);
    expect((await at.owner.turn(id, turn.id)).value).toBe("hello");
});

test("LNT8: a result that was answered with 503 counts; sent again it is accepted and changes nothing, and another one is refused", async () => {
    await using at = await room([calls("owner", "click"), { text: "clicked" }], { ledger: join(disk, "ledger.db"), log: () => undefined });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", { ...CLICK, readOnly: true });
    const made: string[] = [];
    const first = { ok: true, value: "one" } as const;
    const turn = await at.owner.submit(id, { text: "Click" });
    const seen = await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event !== "call") return;
        const call = data["id"] as string;
        made.push(call);
        fill(0);
        const give = (result: CallResult): Promise<unknown> => at.owner.result(id, call, result);
        const no = await refusal(give(first));
        expect(no).toMatchObject({ status: 503, kind: "ledger", hint: expect.stringContaining("send it again as it is") });
        const [again] = await Promise.all([refusal(give(first)), expect(give({ ok: false, error: "two" })).resolves.toEqual(OTHER)]);
        expect(again).toMatchObject({ status: 503 });
        free();
        await expect.poll(() => ready(at), { timeout: 60_000 }).toEqual([200, { ok: true }]);
        expect(await give(first)).toEqual({ status: "accepted" });
        expect(await give({ ok: true, value: "three" })).toEqual(OTHER);
    });
    expect(await at.owner.result(id, made[0] ?? "", first)).toEqual({ status: "accepted" });
    expect([made.length, seen.filter(({ event }) => event === "call.ended").length]).toEqual([1, 1]);
    expect((await at.owner.turn(id, turn.id)).value).toBe("clicked");
    const events = await Array.fromAsync(at.server.ledger.store.events(`${id}.${turn.id}`, 1));
    const ends = events.flatMap(({ kind, data }) => (kind === "tool.ended" ? [JSON.stringify(data)] : []));
    const holding = (word: string): number => ends.filter((one) => one.includes(`"${word}"`)).length;
    expect(["one", "two", "three"].map(holding)).toEqual([1, 0, 0]);
});
const OTHER = { status: "rejected", reason: expect.stringContaining("was answered before") };

test("wherever the room ends, every decision has its answer, and nothing is lost or done twice", async () => {
    const pages = [0, 2, 4, 6, 8, 10, 12, 14, 16, 20];
    const replies = pages.flatMap(() => [calls("owner", "click"), { text: "clicked" }]);
    await using at = await room(replies, { ledger: join(disk, "ledger.db"), log: () => undefined });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const made: string[] = [];
    const over = new AbortController();
    const lending = (async () => {
        for await (const { event, data } of at.owner.events(id, { signal: over.signal })) {
            if (event !== "call") continue;
            const { id: call, turn } = data as { readonly id: string; readonly turn: string };
            made.push(turn);
            // Without room it is answered that it waits; the call has its result all the same.
            await at.owner.result(id, call, { ok: true, value: null }).catch((error: ServerRefusal) => expect(error.status).toBe(503));
        }
    })();
    const outcomes = new Set<string>();
    for (const left of pages) {
        const turn = await at.owner.submit(id, { text: "Click" });
        await expect.poll(async () => (await at.owner.session(id)).asks.length, { timeout: 60_000 }).toBe(1);
        const [ask] = (await at.owner.session(id)).asks;
        fill(left);
        const said = await at.owner.decide(id, ask?.id ?? "", "once").catch((error: ServerRefusal) => error);
        const isOpen = (await at.owner.session(id)).asks.length === 1;
        if ("kind" in said) {
            expect(said).toMatchObject({ status: 503, message: expect.stringContaining(`the run ${id}.${turn.id}, which is at main/`) });
            expect(said.message.includes("stays open")).toBe(isOpen);
        } else expect([said, isOpen]).toEqual([{ status: "accepted" }, false]);
        outcomes.add("kind" in said ? (isOpen ? "open" : "waits") : "accepted");
        free();
        await expect.poll(() => ready(at), { timeout: 60_000 }).toEqual([200, { ok: true }]);
        if (isOpen) await at.owner.decide(id, ask?.id ?? "", "once");
        await expect.poll(async () => (await at.owner.turn(id, turn.id)).status, { timeout: 60_000 }).toBe("done");
    }
    expect(outcomes).toContain("open");
    expect(outcomes).toContain("accepted");
    expect(made).toEqual(pages.map((_, i) => `t${i + 1}`));
    over.abort();
    await lending;
    expect(await at.server.ledger.verify(id)).toMatchObject({ ok: true });
});

test("a server whose disk is full stops in good order, and the next one goes on", async () => {
    const folder = join(disk, "home");
    mkdirSync(folder);
    writeFileSync(join(folder, "replies.json"), JSON.stringify([calls("owner", "click"), { text: "clicked" }]));
    const start = async () => {
        const child = spawn(process.execPath, [SERVER, folder, JSON.stringify({ ledger: join(disk, "ledger.db") })], { stdio: "inherit" });
        const exit = once(child, "exit");
        for (;;) {
            const [found] = servers(join(folder, ".local/state/remit/serve"));
            if (found !== undefined) return { owner: new ServeClient(found), end: () => child.kill("SIGTERM") && exit };
            expect(child.exitCode).toBeNull();
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
    };
    const first = await start();
    const { id } = await first.owner.open();
    await first.owner.lend(id, "click", CLICK);
    const turn = await first.owner.submit(id, { text: "Click" });
    await watch(first.owner, id, asked);
    fill(0);
    expect(await refusal(first.owner.cancel(id, turn.id))).toMatchObject({ status: 503 });
    expect(await first.end()).toEqual([0, null]);
    free();
    const second = await start();
    await second.owner.lend(id, "click", CLICK);
    await expect.poll(async () => (await second.owner.session(id)).asks.length, { timeout: 60_000 }).toBe(1);
    expect(await second.end()).toEqual([0, null]);
});
