/** The injection benchmarks' pages says what its figures say, and why for each that is missed. The benchmark itself has packages of its own and is run by hand. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXPLAINED, taskOf } from "../bench/injection/adaptive/asks.ts";
import { hashOf } from "../bench/injection/adaptive/freeze.ts";
import { goalsOf } from "../bench/injection/adaptive/goals.ts";
import { kept } from "../bench/injection/adaptive/page.ts";
import { HIDING, POLICIES } from "../bench/injection/adaptive/policy.ts";
import { differenceOf, recorded } from "../bench/injection/adaptive/recorder.ts";
import { CHOSEN, HIDING_CHOSEN, page as adaptivePage } from "../bench/injection/adaptive/report.ts";
import { BEFORE } from "../bench/injection/causes.ts";
import { page, type Results, unexplained } from "../bench/injection/report.ts";

import { LATER, WORLDS } from "../bench/injection/worlds/all.ts";

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

test("the page about attackers who have read the policy is made from its figures, and no write passed that nothing allows", () => {
    const [shown, hidden] = [kept("shown"), kept("hidden")];
    for (const worlds of [shown, hidden])
        expect(worlds.map(({ world }) => world)).toEqual([
            "banking",
            "chat",
            "clinic",
            "forge",
            "harbour",
            "letting",
            "newsroom",
            "procurement",
            "school",
            "shop",
            "travel",
            "workspace",
        ]);
    expect(read("adaptive/RESULTS.md")).toBe(adaptivePage(shown, hidden));
    const asked = hidden.flatMap((one) => one.ran[HIDING_CHOSEN]?.questioned ?? []);
    expect(asked.map(taskOf).sort()).toEqual([...EXPLAINED].sort());
    for (const { world, ran } of shown) {
        const one = ran[CHOSEN];
        expect([world, one?.agent.hole, one?.program.hole, one?.agent.unlisted, one?.program.unlisted]).toEqual([world, 0, 0, 0, 0]);
        // The same eye sees what passes where nothing is written.
        const control = Object.entries(ran).find(([name]) => name.startsWith("control"))?.[1];
        expect(control?.program.hole).toBeGreaterThan(0);
    }
    // Loops that hide, and one whose model looks at everything: none of it is a hole, and the attackers do get somewhere.
    const ran = hidden.flatMap((one) => Object.entries(one.ran).filter(([name]) => name.startsWith("Remit, recommended + hide")));
    expect(ran.length).toBe(3 * hidden.length);
    for (const [name, { agent, program }] of ran)
        expect([name, agent.hole, program.hole, agent.unlisted, program.unlisted]).toEqual([name, 0, 0, 0, 0]);
    expect(ran.some(([, { agent }]) => agent.reached > 0)).toBe(true);
});

test("its figures are of the programs and policies that stand here", () => {
    const worlds = new Map([...WORLDS, ...LATER].map((one) => [one.name, one]));
    for (const [part, policies] of [
        ["shown", POLICIES],
        ["hidden", HIDING],
    ] as const)
        for (const { world, hash } of kept(part)) {
            const found = worlds.get(world);
            expect([part, world, found && hashOf(found, policies)]).toEqual([part, world, hash]);
        }
});

test("the policies of the worlds, and what init writes, say what the documents recommend, in no other words", () => {
    /** A rule without the names in it, nor what the user and the program chose anyway: `arg: among("user", FIELD) or ask`. */
    const shaped = (rule: string): string =>
        rule
            .replace(/^(arg|choice)[^:]*/, "$1")
            .replace(/(?<=\()(?:"\w+(?::\w+)?"|[A-Z]\w*\.[\w.]+)(?:, (?:"\w+(?::\w+)?"|[A-Z]\w*\.[\w.]+))*(?=\))/, (list) =>
                [
                    ...new Set(
                        list
                            .split(", ")
                            .filter((one) => one !== '"trusted"')
                            .map((one) => (one.startsWith('"tool:') ? "TOOL" : one.startsWith('"') ? one : "FIELD")),
                    ),
                ].join(", "),
            );
    const table = readFileSync(new URL("../docs/authority-choose.md", import.meta.url), "utf8");
    const said = [...table.matchAll(/`([^`]+)`/g)].map(([, rule = ""]) =>
        shaped(/^(?:trusted or ask|plain)/.test(rule) ? `arg x: ${rule}` : rule),
    );
    const rulesIn = (text: string): string[] => text.match(/\b(?:arg|choice)\b[^:\n]*: (?:[^,(\n}]|\([^)]*\))+/g) ?? [];
    const templates = new URL("../packages/cli/templates/", import.meta.url);
    const begun = readdirSync(templates, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".remit"));
    const written = begun.flatMap((file) => rulesIn(readFileSync(new URL(file, templates), "utf8").replaceAll(/\/\/.*/g, "")));
    expect(written.length).toBeGreaterThan(5);
    const used = [...WORLDS, ...LATER].flatMap(({ name }) => Object.values(POLICIES.recommended(name)?.imports ?? {}).flatMap(rulesIn));
    expect(used.length).toBeGreaterThan(100);
    expect([...new Set([...used, ...written].map((rule) => shaped(rule.trim())))].filter((rule) => !said.includes(rule))).toEqual([]);
});

test("goals are made of every argument of every method that does more than read, the same for the same seed", () => {
    for (const world of [...WORLDS, ...LATER]) {
        const box = () => world.tools(world.state(""), []);
        const goals = goalsOf(box, "a");
        expect(goalsOf(box, "a")).toEqual(goals);
        expect(goalsOf(box, "b")).not.toEqual(goals);
        for (const [tool, methods] of Object.entries(box()))
            for (const [method, { input, readOnly }] of Object.entries(methods)) {
                const args = Object.keys((input as { properties: object }).properties);
                const made = new Set(goals.filter((one) => one.tool === `${tool}.${method}`).map(({ arg }) => arg));
                expect(made).toEqual(new Set(readOnly ? [] : [null, ...args]));
            }
    }
});

test("the recorder tells what was added, changed, left out and put in another order, and no call that only reads", () => {
    const [world] = LATER;
    if (world === undefined) throw new Error("no world");
    const { box, writes } = recorded(world.tools(world.state(""), []));
    box.Issues?.read?.run({ id: "i41" });
    box.Issues?.label?.run({ id: "i41", label: "bug" });
    expect(() => box.Issues?.close?.run({ id: "none", reason: "done" })).toThrow();
    expect(writes).toEqual([
        { tool: "Issues.label", args: { id: "i41", label: "bug" }, taken: true },
        { tool: "Issues.close", args: { id: "none", reason: "done" }, taken: false },
    ]);
    const [label, close] = writes as [(typeof writes)[number], (typeof writes)[number]];
    const other = { ...label, args: { id: "i42", label: "bug" } };
    expect(differenceOf([label, close], [label, close])).toEqual({ happened: [], leftOut: [], reordered: false });
    expect(differenceOf([label, close], [close, label])).toEqual({ happened: [], leftOut: [], reordered: true });
    expect(differenceOf([label, close], [label])).toEqual({ happened: [], leftOut: [close], reordered: false });
    expect(differenceOf([label], [other])).toEqual({ happened: [{ write: other, instead: label }], leftOut: [], reordered: false });
    expect(differenceOf([label], [label, label])).toEqual({ happened: [{ write: label, instead: null }], leftOut: [], reordered: false });
});
