#!/usr/bin/env node
// `npm run agents [-- NAME…]`: brings the named coding agents from npm (all without), has one prompt turn with each against a model of loopback, and
// prints a table. opencode and qwen-code are part of `npm test` and put through far more there.
import * as agents from "./lib/agents.mjs";
import * as setup from "./lib/setup.mjs";

const wanted = process.argv.slice(2);
const names = Object.keys(agents.AGENTS);
const unknown = wanted.filter((name) => !names.includes(name));
try {
    if (unknown.length > 0) throw new Error(`agents: there is no ${unknown.join(", ")}; there are ${names.join(", ")}`);
    const node = await setup.node();
    await setup.packages(node);
    await setup.sandbox();
    const chosen = wanted.length === 0 ? names : wanted;
    await agents.install(node, chosen);
    const { oneTurn } = await import("../packages/host/tests/agent/real/turns.ts");
    const rows = [["agent", "as it calls itself", "turn", "usage", "confinement", "outside the schema", "seconds"]];
    let bad = 0;
    for (const name of chosen) {
        const one = await oneTurn(name);
        if (one.problem !== null) bad++;
        const outcome = one.problem === null ? one.stop : `FAILED: ${one.problem}`;
        rows.push([name, one.self, outcome, one.usage, one.confinement, one.outside.join(", ") || "nothing", (one.ms / 1000).toFixed(1)]);
    }
    const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
    for (const row of rows)
        process.stdout.write(
            `${row
                .map((cell, i) => cell.padEnd(widths[i]))
                .join("  ")
                .trimEnd()}\n`,
        );
    process.exitCode = bad === 0 ? 0 : 1;
} catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
}
