/**
 * The features that were asked for by number, and that each is shown by tests which carry its number: `npx vitest run -t "F34"` runs them. Sessions
 * with agents (F11 to F20) have tables of their own beside their tests.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const FEATURES: Readonly<Record<string, string>> = {
    F1: "a published schema and a validator of the program form",
    F2: "caps before anything is read",
    F3: "the exact signature of an answer",
    F4: "a closed scope: parameters and literals",
    F5: "no prototypes of the host",
    F6: "a budget of steps",
    F7: "a count of steps that is the same everywhere",
    F8: "budgets of time, size, turns and depth; nested ones draw on what is left",
    F9: "a budget of memory",
    F10: "a printer of the form whose text reads as the same form",
    F21: "principals by identity, an owner for every handle",
    F22: "an agent has its parameters and nothing else",
    F23: "delegation for a block, of what is held",
    F24: "delegation that does not leak",
    F25: "handles that die with their block",
    F26: "calls side by side that see nothing of each other's grants",
    F27: "a jail for folders",
    F28: "narrowing, also of what a narrowed handle gives",
    F29: "a network handle that keeps to its host",
    F30: "no handing on without `onward`",
    F31: "origins on values of every kind",
    F32: "origins through every built-in",
    F33: "policies of targets that allow, ask and deny",
    F34: "a default policy for what one untrusted source says alone",
    F35: "endorsement on record, by those who may",
    F36: "origins of control flow in strict mode",
    F37: "origins across an export, or none and no trust",
    F38: "the way of a value",
    F39: "readers",
    F40: "snapshots",
    F41: "no secret in a snapshot",
    F42: "looking without changing",
    F43: "a chained log of what matters",
    F44: "declared invariants",
    F45: "a table of authority that is what the machine does",
    F46: "differences of snapshots",
    F47: "spans",
    F48: "findings whose evidence resolves",
    F49: "SARIF and JUnit",
    F50: "a hook before assertions",
    F51: "a gate for pipelines",
    F52: "rules that need no model",
    F53: "baselines that expire",
    F54: "a monitor of drift",
    F55: "an auditor in a frame of a run that is over",
    F56: "probing a fork",
    F57: "what is looked at is data",
    F58: "stub agents",
    F59: "recordings of agents",
    F60: "a cache whose entries are authenticated",
    F61: "skills by digest",
    F62: "a lock file",
};

function files(folder: string): string[] {
    return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
        .filter((one) => one.isFile() && one.name.endsWith(".test.ts") && !one.parentPath.includes("node_modules"))
        .map((one) => join(one.parentPath, one.name));
}

test("every feature has a test that carries its number", () => {
    const shown = new Set<string>();
    for (const file of ["packages", "tests"].flatMap(files)) {
        // The numbers of `local.test.ts` are those of its own invariants.
        if (file === fileURLToPath(import.meta.url) || file.endsWith("local.test.ts")) continue;
        const text = readFileSync(file, "utf8");
        // The beginning of a title: `describe("F23, F24: …"`, `test("C1, F60: …"`, `])("F58: …"`.
        for (const [, numbers] of text.matchAll(/(?:describe|test|\))\(\s*["'`]((?:[A-Z]+[0-9]+(?:, )?)+): /g))
            for (const number of numbers?.split(", ") ?? []) shown.add(number);
    }
    expect(Object.keys(FEATURES).filter((number) => !shown.has(number))).toEqual([]);
});
