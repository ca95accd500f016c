// `npm run bench`: installs what is compared against into bench/, then runs the benchmarks named on the command line (all without).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as setup from "./lib/setup.mjs";
import { attached, quietly } from "./lib/shell.mjs";

const node = await setup.node();
await setup.packages(node);
const env = setup.environment(node);
const bench = join(setup.root, "bench");
// What needs other versions of the same packages has a folder of its own.
for (const folder of [bench, join(bench, "peers")]) {
    const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (Object.keys(dependencies).every((name) => existsSync(join(folder, "node_modules", name)))) continue;
    process.stderr.write("bench: installing what Remit is compared with …\n");
    await quietly("npm", ["install", "--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts"], { cwd: folder, env });
}
process.exitCode = await attached(node, ["--expose-gc", join(bench, "src", "main.ts"), ...process.argv.slice(2)], { cwd: setup.root, env });
