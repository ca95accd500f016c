/** The program that comes with the server, as people copy it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { expect, test } from "vitest";
import { brainSource } from "../src/index.ts";
import { calls, ended, room, watch } from "./room.ts";

test("the page shows the brain as it is, and a copy of it does the turns of a server", async () => {
    const page = readFileSync(new URL("../../../docs/serve.md", import.meta.url), "utf8");
    const [copy = ""] = [...page.matchAll(/^```remit\n([\s\S]*?)^```$/gm)].flatMap(([, text = ""]) =>
        text.includes("host:lent") ? [text] : [],
    );
    expect(copy).toBe(brainSource());
    await using at = await room([
        { text: "Let me read it." },
        calls("owner", "read"),
        { calls: [{ name: "Person_ask", args: { question: "Today?" } }] },
        { text: "It opens at nine today." },
    ]);
    const program = join(at.folder, "brain.remit");
    writeFileSync(program, copy.replace("an assistant that", "a clerk that"));
    await at.again({ program });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", { description: "Text of the page", readOnly: true });
    const turn = await at.owner.submit(id, { text: "when?" });
    const seen: unknown[] = [];
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: "opens at nine" });
        if (event === "ask.requested") await at.owner.answer(id, data["ask"] as string, "yes");
        if (event === "call" || event === "ask.requested") seen.push(event);
    });
    expect(seen).toEqual(["call", "ask.requested"]);
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "It opens at nine today." });
    const events = await Array.fromAsync(at.server.ledger.events(`${id}.${turn.id}`));
    const isNudged = ({ data }: LedgerEvent): boolean => isObject(data) && data["nudged"] === true;
    expect(events.filter(isNudged)).toHaveLength(1);
    expect(JSON.stringify(events.find(({ kind }) => kind === "generate.started")?.data)).toContain("a clerk that");
});
