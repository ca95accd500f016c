#!/usr/bin/env node
// Starts the command with a Node that is new enough: the present one, else the one the set-up put into the checkout.
// In a checkout it runs the sources; in the published package, the bundle beside it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "..", "dist", "remit.mjs");
const sources = join(here, "..", "src", "main.ts");
const wanted = 24;

if (Number(process.versions.node.split(".")[0]) >= wanted) {
    const entry = existsSync(sources) ? sources : bundle;
    const { main } = await import(pathToFileURL(entry).href);
    await main(process.argv.slice(2));
} else {
    const platform = process.platform === "win32" ? "win" : process.platform;
    const own = join(here, "..", "..", "..", ".tools", "node", "node_modules", `node-${platform}-${process.arch}`, "bin", "node");
    if (!existsSync(own)) {
        process.stderr.write(`remit needs Node ${wanted} or newer; this is ${process.versions.node}. Install it (npm install -g node@${wanted}) or, in a checkout, run: npm run setup\n`);
        process.exit(2);
    }
    const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.on("close", (code, signal) => process.exit(signal === null ? code : 1));
}
