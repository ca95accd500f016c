/** When runs beat (HTB1, HTB2), turn by turn: no time goes by. */
import { expect, test } from "vitest";
import { Beats } from "../../src/ledger/beats.ts";

/** Turns in one interval. */
const TURNS = 16;
/** Turns by hand: the timer has none before the test is over. */
const HOUR = 3_600_000;

/** Evenly, as random numbers are in the long run. */
function evenly(): () => number {
    let n = 0;
    return () => (n++ % 100) / 100;
}

test("HTB1: a run that writes nothing beats in each interval", () => {
    for (const share of [0, 0.5, 0.999]) {
        const beats = new Beats(HOUR, () => share);
        let since = 0;
        let longest = 0;
        beats.add(() => (since = 0));
        for (let turn = 0; turn < 10 * TURNS; turn++) {
            beats.turn();
            longest = Math.max(longest, ++since);
        }
        beats.close();
        expect(longest).toBeGreaterThan(0);
        expect(longest).toBeLessThanOrEqual(TURNS);
    }
});

test("HTB1: a run that wrote beats no sooner than half an interval later, and one that goes on writing never", () => {
    const beats = new Beats(HOUR, () => 0);
    const beaten: string[] = [];
    const [busy, once] = [() => void beaten.push("busy"), () => void beaten.push("once")];
    beats.add(busy);
    beats.add(once);
    for (let turn = 1; turn < TURNS; turn++) {
        beats.turn();
        beats.wrote(busy);
        if (turn === TURNS / 2 - 1) beats.wrote(once);
    }
    beats.close();
    expect(beaten).toEqual(["once"]);
});

test("HTB1: a run that is written no more beats no more, whatever was under way tells", () => {
    const beats = new Beats(HOUR);
    let beaten = 0;
    const beat = (): void => void beaten++;
    beats.add(beat);
    beats.delete(beat);
    beats.wrote(beat);
    for (let turn = 0; turn < 2 * TURNS; turn++) beats.turn();
    beats.close();
    expect(beaten).toBe(0);
});

test("HTB2: of 400 runs that were begun together few beat in one turn", () => {
    const beats = new Beats(HOUR, evenly());
    let [now, all, most] = [0, 0, 0];
    for (let run = 0; run < 400; run++) beats.add(() => now++);
    for (let turn = 0; turn < 4 * TURNS; turn++) {
        now = 0;
        beats.turn();
        all += now;
        most = Math.max(most, now);
    }
    beats.close();
    expect(all).toBeGreaterThanOrEqual(4 * 400);
    expect(most).toBeLessThan(80);
});
