/** REC2, REC3: what is kept of a turn for pages has a bound, and a reader of what is gone is told so. */
import { memoryStore } from "@remit/host";
import { expect, test } from "vitest";
import { Listener } from "../src/session/log.ts";
import type { Session } from "../src/session/session.ts";
import { Replay } from "../src/team/replay.ts";
import type { UiChunk } from "../src/ui/message.ts";
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
        listener.put({ event: "turn.text", data: { turn: "t1", delta: piece } });
        for (let next = await reader.next(); ; next = await reader.next()) {
            const chunk = next.value as UiChunk;
            if (chunk.type !== "text-delta") continue;
            said += chunk.delta.length;
            break;
        }
    }
    expect(said).toBeGreaterThanOrEqual(3 * MOST);
    listener.put({ event: "turn.ended", data: { turn: "t1", status: "done", value: null } });
    await recorded;
    const late = await Array.fromAsync(recording.from(0, "page"));
    expect(late).toEqual([{ type: "error", errorText: expect.stringContaining("longer than what is kept") }]);
    const rest: UiChunk[] = await Array.fromAsync({ [Symbol.asyncIterator]: () => reader });
    expect(rest.at(-1)).toMatchObject({ type: "finish" });
});
