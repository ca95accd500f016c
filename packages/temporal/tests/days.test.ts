/** Days that pass while nobody does anything, on the server that skips them. One after the other: its time is the same for all. */
import { openWorld } from "@remit/host";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Room, roomAt, skippingServer } from "./room.ts";

let server: TestWorkflowEnvironment;
beforeAll(async () => {
    server = await skippingServer();
});
afterAll(() => server.teardown());

const DAY_MS = 86_400_000;

const SOURCE = `import tool Mail from "host:mail" { send: ask }
main func(input) { said = try { Mail.send("hello") } catch failure { failure.message }
    said }`;

async function begun(
    room: Room,
    expires: number,
): Promise<{ readonly run: string; readonly sent: string[]; readonly question: { readonly id: string } }> {
    const sent: string[] = [];
    await room.worker({ host: { tools: { Mail: { send: { call: (text: string) => sent.push(text) } } } } });
    const program = await openWorld({ source: SOURCE }, { cache: false, process: room.on, asks: { expires: expires * DAY_MS } });
    const run = await room.client.submit(program, program.kept({}));
    for (;;) {
        const { state, questions } = await room.client.status(run);
        if (state === "done") throw new Error("the run ended without a question");
        const [question] = questions;
        if (question !== undefined) return { run, sent, question };
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

test("an approval that waits three days", async () => {
    await using room = await roomAt(server);
    const { run, sent, question } = await begun(room, 20);
    await server.sleep(3 * DAY_MS);
    expect(await room.client.status(run)).toMatchObject({ state: "waiting" });
    await room.client.answer(run, { question: question.id, by: room.on.user, decision: "once" });
    expect(await room.client.result(run)).toBe(1);
    expect(sent).toEqual(["hello"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
});

test("TQ2: a question whose time is up is a no", async () => {
    await using room = await roomAt(server);
    const { run, sent, question } = await begun(room, 10);
    await server.sleep(11 * DAY_MS);
    expect(await room.client.result(run)).toContain("nobody answered in time");
    expect(sent).toEqual([]);
    const late = room.client.answer(run, { question: question.id, by: room.on.user, decision: "once" });
    await expect(late).rejects.toThrow();
});
