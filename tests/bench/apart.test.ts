/** A contender of a benchmark that takes too much, hangs or dies is ended, and the table says so; the others are measured all the same. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Apart, apart } from "../../bench/src/apart.ts";
import { here, other, rounds } from "../../bench/src/harness.ts";
import { table } from "../../bench/src/render.ts";

const module = new URL("./contenders.ts", import.meta.url).href;
const make = (bounds: { readonly bytes: number; readonly ms: number }): Apart => apart("Peer", { module, make: "greedy" }, bounds);
const WIDE = { bytes: 2 ** 30, ms: 60_000 };

let peer: Apart;
beforeEach(() => {
    peer = make(WIDE);
});
afterEach(() => peer.close());

test("what passes the bound on memory, hangs or dies is lost with the reason, and is begun anew when it is asked again", async () => {
    await expect(peer.ask("greedy")).rejects.toMatchObject({ reason: "more than 1 GiB of memory" });
    expect((await peer.ask("modest")).value).toBe(0);
    await expect(peer.ask("dies")).rejects.toMatchObject({ reason: "its process ended with SIGABRT" });
    expect((await peer.ask("modest")).value).toBe(0);
    const hasty = make({ ...WIDE, ms: 1_000 });
    await expect(hasty.ask("endless")).rejects.toMatchObject({ reason: "more than 1 s" });
    hasty.close();
});

test("a mistake of the benchmark itself is no loss of a contender", async () => {
    await expect(peer.ask("throws")).rejects.toThrow("a mistake of the benchmark");
});

test("the table has the figures of the others, and says why one has none", async () => {
    const measured = await rounds([here("Remit", () => 1), peer.at("dies"), peer.at("modest", "Modest")], { most: 1 });
    const [ours, ...others] = measured;
    expect(ours?.median).toBeGreaterThanOrEqual(0);
    const against = others.map((one) => other(one, 1, (ms) => ms));
    expect(against).toEqual([
        { name: "Peer", lost: "its process ended with SIGABRT" },
        { name: "Modest", value: expect.any(Number), ratio: expect.any(Number) },
    ]);
    const shown = table({ title: "A section", how: "Somehow.", rows: [{ name: "work", ours: 1, unit: "ms", against }] });
    expect(shown).toContain("ended: its process ended with SIGABRT");
});
