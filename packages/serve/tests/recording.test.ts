/** REC2, REC3: what is kept of a turn for pages has a bound, and a reader of what is gone is told so. */
import { memoryStore } from "@remit/host";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { Listener, type SessionLog } from "../src/session/log.ts";
import type { Session } from "../src/session/session.ts";
import { Teller } from "../src/session/teller.ts";
import { Replay } from "../src/team/replay.ts";
import type { UiChunk } from "../src/ui/message.ts";
import { UiMessage } from "../src/ui/message.ts";
import { MOST, Recording } from "../src/ui/recording.ts";

test("REC3: of a turn without end the last part is kept; who reads on hears all of that, who begins at the first chunk is told", async () => {
    const before = new Replay();
    before.end();
    const listener = new Listener("", before, () => undefined);
    const session = { listen: () => ({ listener, calls: [] }), turn: () => null, info: () => ({ asks: [] }) } as unknown as Session;
    const recording = new Recording(session, "t1", memoryStore());
    const recorded = recording.record(0);
    const reader = recording.from(0, "page");
    const piece = "x".repeat(1000);
    let said = 0;
    for (let i = 0; i < (3 * MOST) / piece.length; i++) {
        listener.put([{ event: "turn.text", data: { turn: "t1", delta: piece } }]);
        for (let next = await reader.next(); ; next = await reader.next()) {
            const chunk = next.value as UiChunk;
            if (chunk.type !== "text-delta") continue;
            said += chunk.delta.length;
            break;
        }
    }
    expect(said).toBeGreaterThanOrEqual(3 * MOST);
    listener.put([{ event: "turn.ended", data: { turn: "t1", status: "done", value: null } }]);
    await recorded;
    const late = await Array.fromAsync(recording.from(0, "page"));
    expect(late).toEqual([{ type: "error", errorText: expect.stringContaining("longer than what is kept") }]);
    const rest: UiChunk[] = await Array.fromAsync({ [Symbol.asyncIterator]: () => reader });
    expect(rest.at(-1)).toMatchObject({ type: "finish" });
});

test("UIM3: text of a try that failed is taken back, by the frame of a session and by the part of a run", async () => {
    const before = new Replay();
    before.end();
    const listener = new Listener("", before, () => undefined);
    const session = { listen: () => ({ listener, calls: [] }), turn: () => null, info: () => ({ asks: [] }) } as unknown as Session;
    const recording = new Recording(session, "t1", memoryStore());
    const recorded = recording.record(0);
    const turn = "t1";
    const told: string[] = [];
    const log = {
        tell: (event: string, data: Json) => {
            told.push(event);
            if (event !== "turn.step") listener.put([{ event, data }]);
        },
    } as unknown as SessionLog;
    const teller = new Teller(log, turn, []);
    teller.part("main/generate#0", { type: "text", delta: "The ans" });
    // Its time is up: it is told before the try fails.
    teller.event({ kind: "generate.started", path: "x", seq: 1, run: "r", data: {} } as never);
    teller.part("main/generate#0", { type: "text", delta: "wer" });
    teller.part("main/generate#0", { type: "restart" });
    teller.part("main/generate#0", { type: "text", delta: "The answer" });
    teller.close();
    listener.put([{ event: "turn.ended", data: { turn, status: "done", value: "The answer" } }]);
    await recorded;
    expect(told).toEqual(["turn.text", "turn.step", "turn.restart", "turn.text"]);
    const chunks: UiChunk[] = await Array.fromAsync(recording.from(0, "page"));
    const taken = [
        { type: "text-start", id: "text-1" },
        { type: "text-delta", id: "text-1", delta: "The ans" },
        { type: "text-end", id: "text-1" },
        { type: "data-restart", id: "text-1", data: { text: "text-1" } },
        { type: "text-start", id: "text-2" },
        { type: "text-delta", id: "text-2", delta: "The answer" },
        { type: "text-end", id: "text-2" },
    ];
    expect(chunks.slice(0, taken.length)).toEqual(taken);
    expect(chunks.filter(({ type }) => type === "text-start").length).toBe(2);
    const message = new UiMessage();
    const parts: Json[] = [{ type: "text", delta: "The ans" }, { type: "restart" }, { type: "text", delta: "The answer" }];
    expect(parts.flatMap((part) => message.part("p", part))).toEqual(taken.slice(0, -1));
});
