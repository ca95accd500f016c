/** Whether the owner of a run lives, where the system said only a part of who that is. */
import { expect, test } from "vitest";
import { isLive, thisOwner } from "../../src/ledger/lease.ts";

test("O1: an owner who could not be told when the system started is live while its process is, and no other process of that id is taken for it", () => {
    const { start, ...owner } = thisOwner();
    const [ticks = "", boot = ""] = start.split(" ");
    const lives = (said: string): boolean => isLive({ ...owner, start: said }, 0, Date.now());
    expect([`${ticks} ${boot}`, `${ticks} `, ""].map(lives)).toEqual([true, true, true]);
    expect([`${ticks}1 ${boot}`, `${ticks}1 `, `${ticks} another-boot`].map(lives)).toEqual([false, false, false]);
});
