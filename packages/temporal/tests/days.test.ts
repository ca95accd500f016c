/** Days that pass while nobody does anything, on the server that skips them. One after the other: its time is the same for all. */
import { openWorld, type RemitError } from "@remit/host";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { questionsOf, type Room, roomAt, skippingServer } from "./room.ts";

let server: TestWorkflowEnvironment;
beforeAll(async () => {
    server = await skippingServer();
});
afterAll(() => server.teardown());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A question of a tool's clause, and one of a stage. */
const SOURCES: [what: string, source: string][] = [
    [
        "a program",
        `import tool Mail from "host:mail" { send: ask }
main func(input) { said = try { Mail.send("hello") } catch failure { failure.message }
    said }`,
    ],
    [
        "a block",
        `import tool Mail from "host:mail"
func send(text) { Mail.send(text) }
temporal static ( echo "hello" >=> approve "Send it?" >=> send )`,
    ],
];

async function begun(
    room: Room,
    source: string,
    expires: number,
): Promise<{ readonly run: string; readonly sent: string[]; readonly question: { readonly id: string } }> {
    const sent: string[] = [];
    await room.worker({ host: { tools: { Mail: { send: { call: (text: string) => sent.push(text) } } } } });
    const program = await openWorld({ source }, { cache: false, process: room.on, asks: { park: true, expires: expires * DAY_MS } });
    const run = await room.client.submit(program, program.kept({}, { asks: { park: true, expires: expires * DAY_MS } }));
    const [question] = await questionsOf(room, run);
    return { run, sent, question: question as { readonly id: string } };
}

// First: its time is by the clock of this machine, of which the server has skipped nothing yet.
test("an approval says itself in which time it can be answered, and a wait beside it is over meanwhile", async () => {
    await using room = await roomAt(server);
    const source = `import tool Mail from "host:mail" { send: may }
temporal static ( echo "x" >=> approve "Send it?" with { timeout: 2 h, on_error: "none" } <*> wait 1 h >=> Mail.send "hello" )`;
    const { run, sent } = await begun(room, source, 20);
    await server.sleep(1.5 * HOUR_MS);
    expect(sent).toEqual(["hello"]);
    expect(await room.client.status(run)).toMatchObject({ state: "waiting" });
    await server.sleep(HOUR_MS);
    expect(await room.client.result(run)).toEqual([null, 1]);
});

test.each(SOURCES)("an approval of %s that waits three days", async (_, source) => {
    await using room = await roomAt(server);
    const { run, sent, question } = await begun(room, source, 20);
    await server.sleep(3 * DAY_MS);
    expect(await room.client.status(run)).toMatchObject({ state: "waiting" });
    await room.client.answer(run, { question: question.id, by: room.on.user, decision: "once" });
    expect(await room.client.result(run)).toBe(1);
    expect(sent).toEqual(["hello"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
});

// What was skipped before counts here, too.
test.each(SOURCES.map(([what, source], i) => [what, source, 50 * (i + 1)] as const))(
    "TQ2: a question of %s whose time is up is a no",
    async (_, source, days) => {
        await using room = await roomAt(server);
        const { run, sent, question } = await begun(room, source, days);
        await server.sleep((days + 1) * DAY_MS);
        const said = await room.client.result(run).catch((error: RemitError) => `${error.kind}: ${error.message}`);
        expect(said).toContain("no answer came in time");
        expect(sent).toEqual([]);
        const late = room.client.answer(run, { question: question.id, by: room.on.user, decision: "once" });
        await expect(late).rejects.toThrow();
    },
);
