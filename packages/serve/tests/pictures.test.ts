/** Pictures of turns and of results: what is taken, who is shown them, where they are kept. */
import { openProcess } from "@remit/host";
import type { Json } from "@remit/language";
import { atifOfRun, checkTrajectory, type LedgerEvent } from "@remit/machine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeProvider, startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

/** One point. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const png = { media_type: "image/png" as const, data: PNG };
const SHOT = { description: "A picture of the page", readOnly: true } as const;

let provider: FakeProvider;
beforeAll(async () => {
    provider = await startFakeProvider({ text: "A point." });
});
afterAll(() => provider.close());

/** A room whose model is one of a provider, over real HTTP. */
const seeing = (): Promise<Room> =>
    room([], {
        model: "openai://some-model",
        process: openProcess({
            env: {
                HOME: "/nonexistent",
                PATH: process.env["PATH"],
                OPENAI_API_KEY: "sk-test-0123456789abcdef",
                OPENAI_BASE_URL: `${provider.url}/v1`,
            },
        }),
    });

test("the model is shown what a turn came with; it is told of by type, size and hash, had from the server, and there after a restart", async () => {
    await using at = await seeing();
    provider.script({ text: "A point." });
    const { id } = await at.owner.open();
    const turn = await at.owner.submit(id, { text: "What is it?", images: [png, png] }, "key-1");
    const seen = await watch(at.owner, id, ended(turn.id));
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "A point." });
    const body = JSON.stringify(provider.requests.at(-1)?.body);
    expect(body.split(`data:image/png;base64,${PNG}`)).toHaveLength(3);
    const told = { media_type: "image/png", bytes: 70, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect(turn.images).toEqual([told, told]);
    expect(JSON.stringify(seen)).not.toContain(PNG);
    expect((await at.owner.submit(id, { text: "What is it?", images: [png, png] }, "key-1")).id).toBe(turn.id);
    await expect(at.owner.submit(id, { text: "What is it?", images: [png] }, "key-1")).rejects.toMatchObject({ status: 409 });
    await at.again();
    const got = await at.raw("GET", `/v1/sessions/${id}/turns/${turn.id}/images/1`);
    expect([got.status, got.headers.get("content-type"), got.headers.get("x-content-type-options")]).toEqual([200, "image/png", "nosniff"]);
    expect(Buffer.from(await got.arrayBuffer()).toString("base64")).toBe(PNG);
    expect((await at.raw("GET", `/v1/sessions/${id}/turns/${turn.id}/images/2`)).status).toBe(404);
    expect((await at.owner.session(id)).turns[0]?.images).toEqual([told, told]);
    expect(await at.server.ledger.verify(id)).toMatchObject({ ok: true });
});

test("a screenshot is shown to the model, kept whole in the ledger, and a file of the trajectory", async () => {
    await using at = await seeing();
    const { id } = await at.owner.open();
    await at.owner.lend(id, "screenshot", SHOT);
    const { calls: made } = calls("owner", "screenshot") as { calls: { name: string; args: Json }[] };
    provider.script({ calls: made }, { text: "A point." });
    const turn = await at.owner.submit(id, { text: "Look" });
    await watch(at.owner, id, ended(turn.id), (event, data) => {
        if (event === "call")
            return at.owner.result(id, data["id"] as string, {
                ok: true,
                value: "1 by 1",
                images: [png],
                site: ["https://shop.example/a", "https://ads.example"],
            });
    });
    const run = `${id}.${turn.id}`;
    const done = await at.owner.turn(id, turn.id);
    expect(done).toMatchObject({ status: "done", value: "A point." });
    expect(done.origins).toEqual(expect.arrayContaining(["site:https://shop.example", "site:https://ads.example", "lent:owner"]));
    const body = JSON.stringify(provider.requests.at(-1)?.body);
    expect(body.split(PNG)).toHaveLength(2);
    expect(body).toContain("[picture 1: image/png, 72 bytes; it follows]");
    const events: LedgerEvent[] = [];
    for await (const event of at.server.ledger.events(run)) events.push(event);
    const { trajectory, media } = atifOfRun(events);
    expect(media).toEqual([{ path: "media/1.png", mediaType: "image/png", data: PNG }]);
    expect(JSON.stringify(trajectory)).not.toContain(PNG);
    expect(checkTrajectory(trajectory, { writing: true, exists: (path) => path === "media/1.png" })).toEqual([]);
});

test("a model that takes no pictures is told that one was left out", async () => {
    await using at = await seeing();
    const { id } = await at.owner.open();
    provider.script({ status: 400, message: "this model takes text alone" }, { text: "It was left out." });
    const turn = await at.owner.submit(id, { text: "What is it?", images: [png] });
    await watch(at.owner, id, ended(turn.id));
    const after = await at.owner.turn(id, turn.id);
    expect([after.failure, after.value]).toEqual([undefined, "It was left out."]);
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("[a picture was left out: openai://some-model takes no pictures]");
});

test("a path, an address, another type than it says, too many, too large: refused with the reason, and nothing is submitted", async () => {
    await using at = await room([]);
    const { id } = await at.owner.open();
    const large = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(5 << 20)]).toString("base64");
    const bad: [Json, string][] = [
        [["/etc/passwd"], "images"],
        [[{ media_type: "image/png", data: "/etc/passwd0" }], "is no picture"],
        [[{ media_type: "image/png", data: "../../../etc/passwd" }], "images"],
        [[{ media_type: "image/png", data: "file:///etc/passwd" }], "images"],
        [[{ media_type: "image/png", path: "/etc/passwd" }], "images"],
        [[{ media_type: "image/jpeg", data: PNG }], "is said to be image/jpeg, and its bytes are image/png"],
        [[{ media_type: "image/svg+xml", data: PNG }], "images"],
        [[{ media_type: "image/png", data: Buffer.from("<svg onload=alert(1)>").toString("base64") }], "is no picture"],
        [[png, png, png, png, png], "images"],
        [[{ media_type: "image/png", data: large }], "at most 5242880 are taken"],
    ];
    for (const [images, why] of bad) {
        const refused = await at.raw("POST", `/v1/sessions/${id}/turns`, { body: { text: "x", images } });
        const { error } = (await refused.json()) as { error: { message: string } };
        expect([refused.status, error.message.replace("and its bytes are no picture", "is no picture")]).toEqual([
            400,
            expect.stringContaining(why),
        ]);
    }
    expect((await at.owner.session(id)).turns).toEqual([]);
});

test("a result with a picture that is none changes nothing: its client can send another", async () => {
    await using at = await room([calls("owner", "screenshot"), { text: "done" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "screenshot", SHOT);
    const turn = await at.owner.submit(id, { text: "Look" });
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event !== "call") return;
        const of = data["id"] as string;
        const wrong = at.owner.result(id, of, { ok: true, value: null, images: [{ media_type: "image/webp", data: PNG }] });
        await expect(wrong).rejects.toMatchObject({ status: 400, kind: "picture" });
        await at.owner.result(id, of, { ok: false, error: "the browser gave no picture" });
    });
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "done" });
});
