// `npm test`: set-up, then types, style and every test, ending with a line that counts them.
// Arguments are passed to vitest: `npm test -- packages/machine` runs a part (without the set-up for the rest).
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import * as agents from "./lib/agents.mjs";
import { engines } from "./lib/engines.mjs";
import { harbor } from "./lib/harbor.mjs";
import { jest } from "./lib/jest.mjs";
import * as setup from "./lib/setup.mjs";
import { attached, quietly } from "./lib/shell.mjs";
import { temporal } from "./lib/temporal.mjs";

const only = process.argv.slice(2);
let passed = 0;
let failed = 0;

async function main() {
    const node = await setup.node();
    await setup.packages(node);
    const env = setup.environment(node);
    if (only.length === 0) {
        const missing = await setup.localModel(node);
        if (missing !== null)
            throw new Error(`The tests need the local model: ${missing}. Install Python 3 with pip and Node's npm, then run this again.`);
        env.REMIT_TEST_CHROMIUM = await setup.chromium();
        env.REMIT_TEST_FIREFOX = await setup.firefox();
        env.REMIT_TEST_HARBOR = await harbor();
        env.REMIT_TEST_JEST = await jest(node);
        const { deno, bun } = await engines(node);
        env.REMIT_TEST_DENO = deno;
        env.REMIT_TEST_BUN = bun;
        const { server, skipping } = await temporal();
        env.REMIT_TEST_TEMPORAL = server;
        env.REMIT_TEST_TEMPORAL_SKIPPING = skipping;
        await setup.postgres();
        await setup.sandbox();
        await setup.languages();
        await agents.install(node, agents.TESTED);
    }
    const run = async (title, script, args) => {
        process.stdout.write(`\n== ${title}\n`);
        const code = await attached(node, [join(setup.root, "node_modules", script), ...args], { cwd: setup.root, env });
        if (code === 130 || code === 143) process.exit(code);
        return code;
    };
    if (only.length === 0) {
        const types = (project) => ["typescript-7/bin/tsc", ["--noEmit", "--checkers", "1", "-p", project]];
        count(await run("types", ...types("tsconfig.json")));
        count(await run("types of the console", ...types("packages/serve/console/tsconfig.json")));
        count(await run("style", "@biomejs/biome/bin/biome", ["check", "--diagnostic-level=error", "."]));
    }
    const room = mkdtempSync(join(tmpdir(), "remit-test-"));
    // inside the checkout, so that the bundles find the packages that are not in them
    const built = mkdtempSync(join(setup.root, ".tools-test-"));
    // Processes of the command and of other scripts are started some hundred times: what was compiled once is there for the next.
    env.NODE_COMPILE_CACHE = join(room, "compiled");
    try {
        await quietly(node, [join(setup.root, "scripts", "lib", "built.mjs"), built], { cwd: setup.root, env });
        env.REMIT_TEST_BUILT = built;
        const report = join(room, "report.json");
        const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
        const code = await run("tests", "vitest/vitest.mjs", ["run", ...reporters, ...only]);
        const result = JSON.parse(readFileSync(report, "utf8"));
        passed += result.numPassedTests;
        failed += result.numFailedTests;
        // a file that did not load, and a skipped test, are failures: neither has shown anything
        const broken = result.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
        failed += broken + (result.numPendingTests ?? 0) + (result.numTodoTests ?? 0);
        if (code !== 0 && failed === 0) failed += 1;
        if (result.numTotalTests === 0) throw new Error("no test was run");
        list(result.testResults);
    } finally {
        for (const one of [room, built]) rmSync(one, { recursive: true, force: true });
    }
}

/** What failed, a line each, in the order in which it failed: the first is often what the others come from, and a log's end is what is read. */
function list(files) {
    const lines = files.flatMap(({ name, status, startTime, message, assertionResults }) => {
        const inFile = relative(setup.root, name);
        const broken =
            status === "failed" && assertionResults.length === 0
                ? [{ fullName: "did not load", failureMessages: [message], startTime }]
                : [];
        return [...broken, ...assertionResults.filter((one) => one.status !== "passed")].map((one) => ({
            at: one.startTime ?? startTime,
            text: `${inFile}: ${one.fullName}: ${(one.failureMessages?.[0] ?? one.status).split("\n")[0]}`,
        }));
    });
    lines.sort((a, b) => a.at - b.at);
    for (const { text } of lines) process.stdout.write(`\nfailed: ${stripVTControlCharacters(text).slice(0, 300)}`);
    if (lines.length > 0) process.stdout.write("\n");
}

function count(code) {
    if (code === 0) passed += 1;
    else failed += 1;
}

try {
    await main();
} catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    failed += 1;
}
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
