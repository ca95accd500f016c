/** MCC6, MCC7: what a client's word for a person's counts for, and how it is kept. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { accept, at, WAYS } from "./mcp-room.ts";

const writes = { calls: [{ name: "Files_write", args: { path: "note.txt", content: "a" } }] };
const replies = [writes, { text: "done" }];

test.each(WAYS)(
    "%s: attack: a client answers that a person said yes to a use, where no option lets it: it is not asked, and the answer is no",
    async (way) => {
        await using room = await at(way, { replies, answer: () => accept("session"), options: { clientApproves: false } });
        expect((await room.client.callTool({ name: "Clerk", arguments: { task: "write" } })).structuredContent).toEqual({ result: "done" });
        expect([room.asked, existsSync(join(room.folder, "note.txt"))]).toEqual([[], false]);
    },
);

test("MCC6: it is off where nothing is said", async () => {
    await using room = await at("modern stream", { replies, answer: () => accept("once"), options: { clientApproves: undefined } });
    await room.client.callTool({ name: "Clerk", arguments: { task: "write" } });
    expect(existsSync(join(room.folder, "note.txt"))).toBe(false);
});

test("MCC7: the record says that the client answered, and no decision of a person", async () => {
    await using room = await at("modern stream", { replies, answer: () => accept("once") });
    await room.client.callTool({ name: "Clerk", arguments: { task: "write" } });
    expect(existsSync(join(room.folder, "note.txt"))).toBe(true);
    const ledger = await room.ledger();
    expect(await ledger.store.asks.list((await ledger.run("last")).id)).toMatchObject([
        { decision: "once", notes: [{ kind: "told", who: "the client tester", text: "once" }] },
    ]);
});

test("MCC7: a use that no client was asked about has no record of a word or a decision", async () => {
    await using room = await at("modern stream", { replies, answer: () => accept("once"), options: { clientApproves: false } });
    await room.client.callTool({ name: "Clerk", arguments: { task: "write" } });
    const ledger = await room.ledger();
    const asks = await ledger.store.asks.list((await ledger.run("last")).id);
    expect(asks.flatMap(({ notes = [], decision, by }) => [...notes, ...(decision === undefined ? [] : [{ decision, by }])])).toEqual([]);
});

const VALUES: { readonly [field: string]: Json } = {
    ...{ plain: "a", named: "b", titled: "r", several: ["a"], colours: ["g"], odd: "odd", sure: false },
};

test("MCC6, MCC7: a form of a server goes to the client all the same, and its record names the client", async () => {
    const liar = { command: "node", args: [join(import.meta.dirname, "../../host/tests/tool/mcp-liar.mjs"), "form"] };
    await using room = await at("modern stream", {
        program: 'import tool T from "mcp://liar" { go: may }\nfunc go() { T.go({}).text }\n',
        prepare: { "remit.json": Buffer.from(JSON.stringify({ mcpServers: { liar } })) },
        options: { clientApproves: false, load: { trust: true } },
        answer: (message) => {
            const field = /^liar\.(\w+)/.exec(message)?.[1];
            return field === undefined ? accept("once") : { action: "accept", content: { answer: VALUES[field] ?? null } };
        },
    });
    const { content } = await room.client.callTool({ name: "go", arguments: {} });
    expect(JSON.stringify(content)).toContain("accept");
    const ledger = await room.ledger();
    const { id } = await ledger.run("last");
    expect(await ledger.store.asks.list(id)).toMatchObject([{ decision: "once", notes: [{ kind: "told", who: "the client tester" }] }]);
});
