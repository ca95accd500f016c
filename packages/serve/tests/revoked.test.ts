/** What a client leaves that is revoked: turns of it that wait, the one that runs, and yeses that it gave (SSN4, SSN3). */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { join } from "node:path";
import { Clients } from "../src/access/clients.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

const isRevoked = (client: string) => ({
    status: "cancelled",
    failure: { kind: "cancelled", message: expect.stringContaining(`${client}, which submitted the turn, was revoked before it began`) },
});

const revoke = (at: Room, client: string): Promise<unknown> => at.owner.request("DELETE", `/v1/clients/${client}`);

test("SSN4: turns of a revoked client that wait end at once and say so; the one that runs goes on without it, and so do turns of others", async () => {
    await using at = await room({ replies: [] });
    const panel = await at.client("panel");
    at.says([calls("owner", "look"), { text: "looked" }, { text: "last" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "look", { description: "Looks", readOnly: true });
    const runs = await panel.client.submit(id, { text: "look" });
    const queued = [await panel.client.submit(id, { text: "a" }), await panel.client.submit(id, { text: "b" })];
    const other = await at.owner.submit(id, { text: "c" });
    const order: Json[] = [];
    await watch(at.owner, id, ended(other.id), async (event, data) => {
        if (event === "turn.ended") order.push(data["turn"] ?? null);
        if (event !== "call") return;
        await revoke(at, panel.id);
        expect([await at.owner.turn(id, queued[0]?.id ?? ""), await at.owner.turn(id, queued[1]?.id ?? "")]).toMatchObject([
            isRevoked(panel.id),
            isRevoked(panel.id),
        ]);
        expect(await at.owner.turn(id, other.id)).toMatchObject({ status: "queued", position: 1 });
        await at.owner.result(id, data["id"] as string, { ok: true, value: "seen" });
    });
    expect(order).toEqual([...queued, runs, other].map((turn) => turn.id));
    expect([await at.owner.turn(id, runs.id), await at.owner.turn(id, other.id)]).toMatchObject([
        { status: "done", value: "looked" },
        { status: "done", value: "last" },
    ]);
});

test("SSN4: a turn of a client that was revoked while no server ran does not begin with the next one", async () => {
    await using at = await room({ replies: [] });
    const panel = await at.client("panel");
    at.says([calls("owner", "look"), { text: "looked" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "look", { description: "Looks" });
    const runs = await at.owner.submit(id, { text: "look" });
    const waits = await panel.client.submit(id, { text: "a" });
    await watch(at.owner, id, (event) => event === "ask.requested");
    await at.server.stop();
    new Clients(join(at.folder, ".local", "state", "remit", "serve")).revoke(panel.id);
    await at.again();
    await at.owner.lend(id, "look", { description: "Looks" });
    await at.owner.cancel(id, runs.id);
    await watch(at.owner, id, ended(waits.id));
    expect(await at.owner.turn(id, waits.id)).toMatchObject(isRevoked(panel.id));
});

test("SSN3: a yes for the session ends with the client that gave it", async () => {
    await using at = await room({ replies: [] });
    const phone = await at.client("phone");
    at.says([calls("owner", "look"), { text: "1" }, calls("owner", "look"), { text: "2" }]);
    const { id } = await at.owner.open({ approvers: ["owner", phone.id] });
    await at.owner.lend(id, "look", { description: "Looks" });
    const decided: Json[] = [];
    for (const by of [phone.client, at.owner]) {
        const turn = await at.owner.submit(id, { text: "look" });
        await watch(at.owner, id, ended(turn.id), async (event, data) => {
            if (data["turn"] !== turn.id) return;
            if (event === "ask.requested") await by.decide(id, String(data["ask"]), "session");
            if (event === "ask.decided") decided.push([data["by"] ?? null, data["remembered"] === true]);
            if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: "seen" });
        });
        await revoke(at, phone.id);
    }
    expect(decided).toEqual([
        [phone.id, false],
        ["owner", false],
    ]);
});
