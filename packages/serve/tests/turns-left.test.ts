/** What a server that is killed between two commits leaves of a turn, and what the next server makes of that. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Ledger, openLedger, openProcess } from "@remit/host";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { limitsOf } from "../src/access/limits.ts";
import { SessionLog } from "../src/session/log.ts";
import { Session } from "../src/session/session.ts";
import type { TurnInfo } from "../src/wire/messages.ts";
import { ended, type Room, room, watch } from "./room.ts";

/** A session of a server that runs this program. */
async function session(at: Room, source: string): Promise<{ readonly program: string; readonly id: string }> {
    const program = join(at.folder, "notes.remit");
    writeFileSync(program, source);
    await at.again({ program });
    return { program, id: (await at.owner.open()).id };
}

/** What another process does with the ledger while no server has it. */
async function elsewhere(at: Room, work: (ledger: Ledger) => Promise<void>): Promise<void> {
    const on = openProcess({ env: { HOME: at.folder }, cwd: at.folder });
    const ledger = await openLedger(join(at.folder, "ledger.db"), { process: on });
    await work(ledger);
    await ledger.close();
    await on.close();
}

// A server that is killed after its run's end is kept and before its turn's is leaves the same ledger.
test("TRUN2: a turn whose run is over when the server comes back ends as its run did", async () => {
    await using at = await room([]);
    const { program, id } = await session(
        at,
        `import tool Disk from "file://workspace" { write: ask }
main func(input: { note: string }) {
    Disk.write({ path: "a.txt", content: input.note })
    if input.note == "" { raise "an empty note" }
    input.note
}
`,
    );
    const ends = [
        ["hi", { status: "done", value: "hi" }],
        ["", { status: "failed", failure: { message: expect.stringContaining("an empty note") } }],
    ] as const;
    for (const [note, how] of ends) {
        const { id: turn } = await at.owner.submit(id, { input: { note } });
        await watch(at.owner, id, (event, data) => event === "ask.requested" && data["turn"] === turn);
        await at.server.stop();
        await elsewhere(at, async (ledger) => {
            const { result } = await ledger.resume(`${id}.${turn}`, { on: { ask: () => "once" } });
            expect(await result).toMatchObject({ status: how.status });
        });
        await at.again({ program });
        await watch(at.owner, id, ended(turn));
        expect(await at.owner.turn(id, turn)).toMatchObject(how);
    }
});

// An editor goes on with its session, and not with its turns.
test("a session that goes on without its turns ends each as its run did", async () => {
    await using at = await room([]);
    const { id } = await session(
        at,
        `import tool Disk from "file://workspace" { write: ask }
main func(input: { note: string }) {
    Disk.write({ path: "a.txt", content: input.note })
    input.note
}
`,
    );
    const first = await at.owner.submit(id, { input: { note: "hi" } });
    const second = await at.owner.submit(id, { input: { note: "ho" } });
    await watch(at.owner, id, (event) => event === "ask.requested");
    await at.server.stop();
    await elsewhere(at, async (ledger) => {
        const again = async (): Promise<TurnInfo[]> => {
            const log = await SessionLog.again(ledger.store, id, { scrub: (value) => value });
            const setup = { log, ledger, brain: null as never, bounds: limitsOf(), scrub: (value: Json) => value };
            const left = await Session.again(setup, false);
            await left.close(false);
            return [...left.info().turns];
        };
        await (await ledger.resume(`${id}.${first.id}`, { on: { ask: () => "once" } })).result;
        expect(await again()).toMatchObject([
            { id: first.id, status: "done", value: "hi" },
            { id: second.id, status: "cancelled" },
        ]);
    });
});

test("TRUN3: a cancel is kept before it is acknowledged, and the next server does not go on with a turn whose server was killed then", async () => {
    await using at = await room([]);
    const { program, id } = await session(
        at,
        `import tool Disk from "file://workspace" { write: ask }
main func(input: { note: string }) {
    Disk.write({ path: input.note, content: "a" })
    Disk.write({ path: input.note, content: "b" })
}
`,
    );
    const isAsked = (turn: string) => (event: string, data: { readonly [key: string]: Json }) =>
        event === "ask.requested" && data["turn"] === turn;

    const first = await at.owner.submit(id, { input: { note: "a.txt" } });
    await watch(at.owner, id, isAsked(first.id));
    expect(await at.owner.cancel(id, first.id)).toEqual({ status: "accepted" });
    const seen = (await watch(at.owner, id, ended(first.id))).map(({ event }) => event);
    expect(seen.filter((event) => event === "turn.cancelled" || event === "turn.ended")).toEqual(["turn.cancelled", "turn.ended"]);

    const second = await at.owner.submit(id, { input: { note: "b.txt" } });
    await watch(at.owner, id, isAsked(second.id));
    await at.server.stop();
    // what a server that is killed right after its acknowledgement leaves
    await elsewhere(at, async ({ store }) => {
        const log = await SessionLog.again(store, id, { scrub: (value) => value });
        await log.append("turn.cancelled", { turn: second.id, by: "owner" });
        await log.close(false);
    });
    await at.again({ program });
    const after = await watch(at.owner, id, ended(second.id));
    expect(await at.owner.turn(id, second.id)).toMatchObject({ status: "cancelled" });
    const asked = after.filter(({ event, data }) => isAsked(second.id)(event, data as { readonly [key: string]: Json }));
    expect(asked).toHaveLength(1);
});

test("TEL1: what a model had said when its server ended is taken back before the next server's words", async () => {
    let asked = 0;
    const chunk = (delta: object, finish: string | null = null): string =>
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const model = createServer((request, answer) => {
        request.resume();
        if (request.method !== "POST") return void answer.end(JSON.stringify({ data: [{ id: "m" }] }));
        answer.setHeader("content-type", "text/event-stream");
        answer.write(chunk({ role: "assistant", content: "It is " }));
        // The first answer does not end.
        if (++asked > 1) answer.end(`${chunk({ content: "noon." })}${chunk({}, "stop")}data: [DONE]\n\n`);
    });
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    const env = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1` };
    await using at = await room([]);
    const on = () => ({ model: "openai://m", process: openProcess({ env: { HOME: at.folder, ...env }, cwd: at.folder }) });
    await at.again(on());
    const { id } = await at.owner.open();
    const { id: turn } = await at.owner.submit(id, { text: "What time is it?" });
    const words: string[] = [];
    const hear = (event: string, data: { readonly [key: string]: Json }): void => {
        if (event === "turn.restart") words.length = 0;
        if (event === "turn.text") words.push(String(data["delta"]));
    };
    await watch(at.owner, id, (event) => event === "turn.text", hear);
    await at.again(on());
    await watch(at.owner, id, ended(turn), hear);
    expect(await at.owner.turn(id, turn)).toMatchObject({ status: "done", value: "It is noon." });
    expect(words.join("")).toBe("It is noon.");
    model.closeAllConnections();
    await new Promise((resolve) => model.close(resolve));
});
