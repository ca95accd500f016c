/**
 * `npm run bench [-- SECTION…]`: runs all sections or the named ones, prints a table of each, and writes `bench/RESULTS.md`. Results are kept in
 * `bench/results.json`: sections that are not run this time keep what they had, with the day on which it was measured.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { machineFacts, type Section } from "./harness.ts";
import { type Kept, markdown, table } from "./render.ts";
import { versions } from "./versions.ts";

/** In the order of the report. Loaded when they are run, so that one section's libraries are not in the way of another. */
const SECTIONS: { readonly [name: string]: () => Promise<Section> } = {
    parse: async () => (await import("./parse.ts")).parsing(),
    machine: async () => (await import("./machine.ts")).machine(),
    authority: async () => (await import("./authority.ts")).authority(),
    audit: async () => (await import("./audit.ts")).audit(),
    labels: async () => (await import("./labels.ts")).labels(),
    steps: async () => (await import("./steps.ts")).steps(),
    durable: async () => (await import("./durable.ts")).durable(),
    resume: async () => (await import("./resume.ts")).resume(),
    replies: async () => (await import("./replies.ts")).replies(),
    yield: async () => (await import("./yield.ts")).yielding(),
    agents: async () => (await import("./agents.ts")).agents(),
    start: async () => (await import("./start.ts")).start(),
    heap: async () => (await import("./heap.ts")).heap(),
};

const names = Object.keys(SECTIONS);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
    process.stderr.write(`bench: no section ${unknown.join(", ")}; there are ${names.join(", ")}\n`);
    process.exit(2);
}

const store = fileURLToPath(new URL("../results.json", import.meta.url));
const kept: { [name: string]: Kept } = existsSync(store) ? (JSON.parse(readFileSync(store, "utf8")) as { [name: string]: Kept }) : {};
for (const name of wanted.length === 0 ? names : wanted) {
    process.stderr.write(`bench: ${name} …\n`);
    const begun = performance.now();
    const section = await (SECTIONS[name] as () => Promise<Section>)();
    kept[name] = { day: new Date().toISOString().slice(0, 10), machine: machineFacts(), versions: versions(name), section };
    process.stdout.write(`${table(section)}\n`);
    process.stderr.write(`bench: ${name} took ${Math.round((performance.now() - begun) / 1000)} s\n`);
    // After each section, so that what was measured is not lost where a later one fails.
    writeFileSync(store, `${JSON.stringify(kept, null, 1)}\n`);
    writeFileSync(fileURLToPath(new URL("../RESULTS.md", import.meta.url)), markdown(names.flatMap((one) => kept[one] ?? [])));
}
