/** A run that goes the way of another one, and then on: what came in there is not asked for again, and keeps its origins. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, openLedger, whyOf, withOrigins } from "@remit/host";
import { afterEach, beforeEach, expect, test } from "vitest";

let folder: string;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-after-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const made: string[] = [];
const tools = {
    Mail: {
        read: ({ box }: { box: string }) => {
            made.push(`read ${box}`);
            return withOrigins({ from: "eve" }, { "/from": ["sender:eve"] });
        },
        send: ({ to }: { to: string }) => {
            made.push(`send ${to}`);
            return "sent";
        },
    },
};
const program = (...pieces: string[]) => ({
    source: `import tool Mail from "host:mail"\nmain func() {\n${pieces.join("\n")}\n}\n`,
});

test.each(["memory", "ledger.db"])("a longer program goes on from a run; %s", async (kept) => {
    made.length = 0;
    const ledger = kept === "memory" ? null : await openLedger(join(folder, kept));
    const { memoryStore } = await import("@remit/host");
    const store = ledger?.store ?? memoryStore();
    const loaded = (...pieces: string[]) => load(program(...pieces), { ledger: store, tools, cache: false });
    const pieces = [
        `mail = Mail.read({ box: "in" })`,
        "both = parallel for n in [1, 2] max 2 { Mail.send({ to: mail.from + n }) }",
        "n = 1",
    ];
    const first = await loaded(...pieces);
    const one = first.run(null);
    expect((await one.result).status).toBe("done");
    expect(made).toEqual(["read in", "send eve1", "send eve2"]);

    const second = await loaded(...pieces, `n += 1`, `Mail.send({ to: mail.from })`, "{ n: n, from: mail.from, sent: both }");
    const two = await second.after(one.id, null);
    expect(await two.result).toMatchObject({ status: "done", value: { n: 2, from: "eve", sent: ["sent", "sent"] } });
    expect(made).toEqual(["read in", "send eve1", "send eve2", "send eve"]);
    expect((await store.verify(two.id)).ok).toBe(true);
    expect((await whyOf(store, two.id, "/from")).origins).toContain("sender:eve");

    // what computes alone, after a way, and a way on which nothing came in
    const third = await loaded(...pieces, "n + 40");
    expect(await (await third.after(one.id, null)).value).toBe(41);
    const bare = await loaded("a = 1");
    const alone = bare.run(null);
    await alone.result;
    expect(await (await (await loaded("a = 1", "a + 1")).after(alone.id, null)).value).toBe(2);
    expect(made).toHaveLength(4);

    // another way is no way to go on from, and performs nothing
    const other = await loaded(`mail = Mail.read({ box: "in" })`, "mail.from");
    await expect(other.after(one.id, null)).rejects.toMatchObject({
        kind: "value",
        message: expect.stringContaining("does not go the way"),
    });
    const before = await loaded(`Mail.send({ to: "bob" })`, ...pieces);
    await expect(before.after(one.id, null)).rejects.toMatchObject({ kind: "value" });
    expect(made).toHaveLength(4);
    for (const one of [first, second, third, bare, other, before]) await one.close();
    await ledger?.close();
});

test("a run that went on from another one is replayed like any", async () => {
    const ledger = await openLedger(join(folder, "replayed.db"));
    const first = await load(program(`mail = Mail.read({ box: "in" })`), { ledger: ledger.store, tools, cache: false });
    const one = first.run(null);
    await one.result;
    const second = await load(program(`mail = Mail.read({ box: "in" })`, `Mail.send({ to: "bob" })`), {
        ledger: ledger.store,
        tools,
        cache: false,
    });
    const two = await second.after(one.id, null);
    await two.result;
    expect(await ledger.replay(two.id)).toMatchObject({ equal: true });
    await first.close();
    await second.close();
    await ledger.close();
});
