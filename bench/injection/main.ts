/**
 * `npm run injection [-- --held | --check] [WORLD…]`: checks the data on the plain loop, runs every task clean and under every attack of its world in
 * each column, and writes `RESULTS.md`. Figures are kept in `results.json`; named worlds alone are printed and not kept.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { plainLoop, remitProgram } from "./contenders.ts";
import { heldOf } from "./kit.ts";
import { policyOf } from "./policy.ts";
import { type Kept, page, type Results, unexplained } from "./report.ts";
import { serveModel } from "./server.ts";
import type { Column } from "./figures.ts";
import { column, faultsOf, type Run } from "./tally.ts";
import { WORLDS } from "./worlds/all.ts";

const remit =
    (policies: "off" | "default" | "on", person: "yes" | "no"): Run =>
    (setting) => {
        const policy = policies === "on" ? policyOf(setting.world.name) : null;
        return remitProgram({ ...setting, policy, untrusted: policies === "default" ? "ask" : null, person });
    };

const COLUMNS: { readonly [name: string]: Run } = {
    "plain tool loop": plainLoop,
    "Remit, policies off, yes to all": remit("off", "yes"),
    "Remit, policies off, no to all": remit("off", "no"),
    "Remit, `untrusted: ask` alone, yes to all": remit("default", "yes"),
    "Remit, `untrusted: ask` alone, no to all": remit("default", "no"),
    ...(WORLDS.some((world) => policyOf(world.name) !== null)
        ? { "Remit, policies on, yes to all": remit("on", "yes"), "Remit, policies on, no to all": remit("on", "no") }
        : {}),
};

const FLAGS = ["--held", "--check"];
const args = process.argv.slice(2);
const names = args.filter((one) => !one.startsWith("--"));
const wrong = [
    ...args.filter((one) => one.startsWith("--") && !FLAGS.includes(one)),
    ...names.filter((one) => !WORLDS.some((world) => world.name === one)),
];
if (wrong.length > 0) {
    process.stderr.write(`injection: ${wrong.join(", ")}? There are ${[...FLAGS, ...WORLDS.map((world) => world.name)].join(", ")}\n`);
    process.exit(2);
}
const worlds = WORLDS.filter((world) => names.length === 0 || names.includes(world.name));
const held = args.includes("--held");
const apart = new Set(worlds.flatMap((world) => [...heldOf(world.tasks)]));

const server = await serveModel(WORLDS);
try {
    await whole();
} finally {
    await server.close();
}

async function whole(): Promise<void> {
    const faults = await faultsOf(worlds, server, plainLoop, remit("off", "yes"));
    if (faults.length > 0) return failed(faults);
    process.stderr.write("injection: every task is done by the plain loop and by its program, every goal is reached\n");
    if (args.includes("--check")) return;
    const columns: { [name: string]: Column } = {};
    for (const [name, run] of Object.entries(COLUMNS)) {
        const begun = performance.now();
        columns[name] = await column(worlds, (id) => apart.has(id) === held, server, run);
        process.stderr.write(`injection: ${name} took ${Math.round((performance.now() - begun) / 1000)} s\n`);
        // A script that went wrong in a Remit program would count as safety.
        if (server.faults.length > 0) return failed(server.faults);
    }
    // An eye that sees no crossing where there are no rules to stop one sees nothing.
    if (columns["Remit, policies off, no to all"]?.crossings.length === 0)
        return failed(["no call of a run without policies crosses a rule"]);
    const kept: Kept = { day: new Date().toISOString().slice(0, 10), columns };
    const set = held ? "held" : "open";
    if (names.length > 0) {
        process.stdout.write(page({ [set]: kept }));
        return;
    }
    const store = fileURLToPath(new URL("./results.json", import.meta.url));
    const before: Results = existsSync(store) ? (JSON.parse(readFileSync(store, "utf8")) as Results) : {};
    const results: Results = { ...before, [set]: kept };
    writeFileSync(store, `${JSON.stringify(results, null, 1)}\n`);
    writeFileSync(fileURLToPath(new URL("./RESULTS.md", import.meta.url)), page(results));
    for (const one of unexplained(results)) process.stderr.write(`injection: ${one}: causes.ts says nothing true of it\n`);
}

function failed(faults: readonly string[]): void {
    process.stderr.write(`injection: the figures would not count:\n${[...new Set(faults)].map((one) => `  ${one}\n`).join("")}`);
    process.exitCode = 1;
}
