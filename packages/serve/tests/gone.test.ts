/** SAK7, PPL5, LNT7: no person is asked about a call of a lent tool whose client is gone, and the model reads why the call came to nothing. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { ServeClient } from "../src/index.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

const CLICK = { description: "Clicks", input: { type: "object" } };
const GONE = "no client lends click (lent by ";

type Told = readonly [event: string, decision: Json | undefined, by: Json | undefined];

/** What is told of questions from a number on, until the turn is over. */
async function told(client: ServeClient, session: string, turn: string, from: number): Promise<readonly Told[]> {
    const frames = await watch(client, session, ended(turn), () => undefined, from);
    return frames.flatMap(({ event, data }): Told[] => {
        const { decision, by } = data as { readonly decision?: Json; readonly by?: Json };
        return event.startsWith("ask.") ? [[event, decision, by]] : [];
    });
}

/** A turn that calls the tool that a panel lends; `until` is the last thing that the panel hears: its stream ends then. */
async function begun(at: Room, until: "ask.requested" | "call") {
    const [person, panel] = [await at.client("person"), await at.client("panel")];
    at.says({
        rules: [
            { when: GONE, reply: { text: "it is gone" } },
            { when: "buy", reply: calls(panel.id, "click") },
        ],
    });
    const { id } = await person.client.open();
    let turn = "";
    const frames = await watch(
        panel.client,
        id,
        (event) => event === until,
        async (event, data) => {
            if (event === "caught-up") {
                await panel.client.lend(id, "click", CLICK);
                turn = (await person.client.submit(id, { text: "buy" })).id;
            }
            if (event === "ask.requested" && until === "call") await person.client.decide(id, String(data["ask"]), "once");
        },
    );
    const ask = frames.findLast(({ event }) => event === "ask.requested")?.data as { readonly ask: string };
    return { id, turn, person, panel, ask: ask.ask, seq: frames.findLast(({ seq }) => seq !== undefined)?.seq ?? 0 };
}

test.each(["is withdrawn by its client", "goes with its client"])(
    "SAK7: a question about a call of a tool that %s is a no at once",
    async (how) => {
        await using at = await room({ replies: [] }, { bounds: { away: how.startsWith("goes") ? 50 : 60_000 } });
        const { id, turn, person, panel, ask, seq } = await begun(at, "ask.requested");
        if (how.startsWith("is")) await panel.client.withdraw(id, "click");
        expect(await told(person.client, id, turn, seq)).toEqual([["ask.decided", "deny", "gone"]]);
        expect(await person.client.turn(id, turn)).toMatchObject({ status: "done", value: "it is gone" });
        expect(await person.client.decide(id, ask, "once")).toMatchObject({ status: "rejected" });
    },
);

test("LNT7: a question about a call of a tool that is lent anew meanwhile stays open", async () => {
    await using at = await room({ replies: [] });
    const { id, turn, person, panel } = await begun(at, "ask.requested");
    await panel.client.lend(id, "click", CLICK);
    expect((await person.client.session(id)).asks).toMatchObject([{ turn }]);
});

test.each([
    ["ask.requested", [["ask.withdrawn"], ["ask.decided", "deny", "gone"]]],
    ["call", [["ask.decided", "give up", "gone"]]],
] as const)("PPL5: after a new start without the client no person is asked; the server ended at its %s", async (until, expected) => {
    await using at = await room({ replies: [] }, { bounds: { back: 50 } });
    const { id, turn, person, seq } = await begun(at, until);
    await at.again({ bounds: { back: 50 } });
    const again = new ServeClient({ url: at.server.url, token: person.token });
    const seen = await told(again, id, turn, seq);
    expect(seen.map((one) => one.filter((part) => part !== undefined))).toEqual(expected);
    expect(await again.turn(id, turn)).toMatchObject({ status: "done", value: "it is gone" });
});

test("a model that calls a tool that is gone again and again is stuck, and no person was asked", async () => {
    await using at = await room({ replies: [] }, { bounds: { back: 50 } });
    const { id, turn, person, panel, seq } = await begun(at, "ask.requested");
    at.says({ rules: [{ when: "buy", reply: calls(panel.id, "click") }] });
    await at.again({ bounds: { back: 50 } });
    const again = new ServeClient({ url: at.server.url, token: person.token });
    const seen = await told(again, id, turn, seq);
    expect(seen.map(([event]) => event)).toEqual(["ask.withdrawn", "ask.decided", "ask.decided", "ask.decided"]);
    expect(await again.turn(id, turn)).toMatchObject({ status: "failed", failure: { kind: "stuck" } });
});
