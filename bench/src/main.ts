/**
 * `npm run bench [-- SECTION…]`: runs all sections or the named ones, prints a table of each, and writes `bench/RESULTS.md`. Results are kept in
 * `bench/results.json`: sections that are not run this time keep what they had, with the day on which it was measured.
 *
 * Each section has a process of its own: what one leaves on the heap is not in another's way, and one that fails fails alone.
 * `--quick`: one short round of small cases each, to see that every section reaches its end; no result is kept.
 */
import { fork } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { machineFacts, type Section } from "./harness.ts";
import { type Kept, markdown, table } from "./render.ts";
import { versions } from "./versions.ts";

/** In the order of the report. */
const SECTIONS: { readonly [name: string]: () => Promise<Section> } = {
    parse: async () => (await import("./parse.ts")).parsing(),
    check: async () => (await import("./check.ts")).checking(),
    machine: async () => (await import("./machine.ts")).machine(),
    authority: async () => (await import("./authority.ts")).authority(),
    audit: async () => (await import("./audit.ts")).audit(),
    labels: async () => (await import("./labels.ts")).labels(),
    steps: async () => (await import("./steps.ts")).steps(),
    durable: async () => (await import("./durable.ts")).durable(),
    texts: async () => (await import("./texts.ts")).texts(),
    resume: async () => (await import("./resume.ts")).resume(),
    replies: async () => (await import("./replies.ts")).replies(),
    yield: async () => (await import("./yield.ts")).yielding(),
    agents: async () => (await import("./agents.ts")).agents(),
    start: async () => (await import("./start.ts")).start(),
    interrupt: async () => (await import("./interrupt.ts")).interrupts(),
    nodes: async () => (await import("./nodes.ts")).nodes(),
    temporal: async () => (await import("./temporal.ts")).temporal(),
    "durable-peers": async () => (await import("./durable-peers.ts")).durablePeers(),
    "temporal-agents": async () => (await import("./temporal-agents.ts")).temporalAgents(),
    serve: async () => (await import("./serve.ts")).serve(),
    heap: async () => (await import("./heap.ts")).heap(),
};
const names = Object.keys(SECTIONS);
const MAIN = fileURLToPath(import.meta.url);

/** In the section's own process: measures and sends the section. */
async function measure(name: string): Promise<void> {
    const section = await (SECTIONS[name] as () => Promise<Section>)();
    process.send?.(section, () => process.exit());
}

/** A section by a process of its own; null where that ended without one, which it has said itself. */
function measured(name: string, quick: boolean): Promise<Section | null> {
    const env = { ...process.env, ...(quick ? { REMIT_BENCH_QUICK: "1" } : {}) };
    const child = fork(MAIN, ["--measure", name], { execArgv: ["--expose-gc"], serialization: "advanced", env });
    return new Promise((resolve) => {
        let section: Section | null = null;
        child.on("message", (said: Section) => {
            section = said;
        });
        child.on("exit", () => resolve(section));
    });
}

async function all(wanted: readonly string[], quick: boolean): Promise<number> {
    const store = fileURLToPath(new URL("../results.json", import.meta.url));
    const kept: { [name: string]: Kept } = existsSync(store) ? (JSON.parse(readFileSync(store, "utf8")) as { [name: string]: Kept }) : {};
    const failed: string[] = [];
    for (const name of wanted) {
        process.stderr.write(`bench: ${name} …\n`);
        const begun = performance.now();
        const section = await measured(name, quick);
        process.stderr.write(
            `bench: ${name} ${section === null ? "FAILED after" : "took"} ${Math.round((performance.now() - begun) / 1000)} s\n`,
        );
        if (section === null) {
            failed.push(name);
            continue;
        }
        process.stdout.write(`${table(section)}\n`);
        if (quick) continue;
        // After each section, so that what was measured is not lost where a later one fails.
        kept[name] = { day: new Date().toISOString().slice(0, 10), machine: machineFacts(), versions: versions(name), section };
        writeFileSync(store, `${JSON.stringify(kept, null, 1)}\n`);
        writeFileSync(fileURLToPath(new URL("../RESULTS.md", import.meta.url)), markdown(names.flatMap((one) => kept[one] ?? [])));
    }
    process.stderr.write(`bench: ${wanted.length - failed.length} of ${wanted.length} sections reached their end\n`);
    return failed.length === 0 ? 0 : 1;
}

const given = process.argv.slice(2);
if (given[0] === "--measure") await measure(given[1] as string);
else {
    const wanted = given.filter((one) => one !== "--quick");
    const unknown = wanted.filter((name) => !names.includes(name));
    if (unknown.length > 0) {
        process.stderr.write(`bench: no section ${unknown.join(", ")}; there are ${names.join(", ")}\n`);
        process.exitCode = 2;
    } else process.exitCode = await all(wanted.length === 0 ? names : wanted, given.includes("--quick"));
}
