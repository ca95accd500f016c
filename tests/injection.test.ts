/** The injection benchmark's page says what its figures say, and why for each that is missed. The benchmark itself has packages of its own and is run by hand. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BEFORE } from "../bench/injection/causes.ts";
import { page, type Results, unexplained } from "../bench/injection/report.ts";

const read = (name: string): string => readFileSync(new URL(`../bench/injection/${name}`, import.meta.url), "utf8");
const results = JSON.parse(read("results.json")) as Results;

test("RESULTS.md is made from results.json", () => {
    expect(read("RESULTS.md")).toBe(page(results));
});

test("every attack that was not stopped and every question has a cause, and no cause is left of what is no result", () => {
    expect(unexplained(results)).toEqual([]);
});

test("no call crossed a rule unseen with policies on, and the same eye sees those that cross it without", () => {
    const columns = Object.values(results).flatMap((set) => Object.entries(set.columns));
    expect(columns.length).toBe(14);
    for (const [name, { crossings, reached }] of columns) {
        if (name.includes("policies on")) expect([name, crossings]).toEqual([name, []]);
        if (name.includes("policies off")) expect(crossings.length).toBeGreaterThan(0);
        // Where no clause is written, the policy for that lets nothing to its goal that nobody said yes to.
        if (name.includes("alone")) expect([name, reached.filter((one) => !one.allowed)]).toEqual([name, []]);
        // What nobody allowed reached its goal inside the rules.
        if (name.includes("policies on, no")) expect(reached.filter((one) => one.allowed)).toEqual([]);
    }
    expect(BEFORE.length).toBe(7);
});
