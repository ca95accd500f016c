/** The run's own time: what counts, and what rings when. */
import { expect, test } from "vitest";
import { RunTime } from "../../src/conduct/time.ts";

test("D4: those that wait ring in order, also where their times came together, and not while a person is asked", () => {
    const time = new RunTime(0);
    time.now(1000);
    time.set("thirty", 30);
    time.set("ten", 10);
    expect(time.next()).toBe(1010);
    time.person(1);
    expect(time.next()).toBe(null);
    time.now(1060);
    expect(time.rung()).toEqual([]);
    time.person(-1);
    expect(time.next()).toBe(1070);
    time.now(1200);
    expect(time.rung()).toEqual(["ten", "thirty"]);
    expect(time.rung()).toEqual([]);
    expect(time.spent).toBe(140);
});

test("D4: what earlier parts of the run took counts; a grace time runs while a person is asked", () => {
    const time = new RunTime(500);
    time.now(1000);
    time.until("run", 600);
    time.person(1);
    time.set("grace", 50, false);
    expect(time.next()).toBe(1050);
    time.now(1050);
    expect(time.rung()).toEqual(["grace"]);
    time.person(-1);
    expect(time.next()).toBe(1150);
    expect(time.spentAt(1100)).toBe(550);
    expect(time.clear("run")).toBe(true);
    expect(time.next()).toBe(null);
});
