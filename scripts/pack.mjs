// `npm run pack`: the published command as a few bundled files in packages/cli/dist, split so that each command loads only what it uses.
// Libraries with native parts stay outside; everything of the project and its pure libraries goes in.
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { builtins } from "./lib/builtins.mjs";
import { direct } from "./lib/direct.mjs";
import { merge, withoutRequire } from "./lib/merge.mjs";
import { root } from "./lib/setup.mjs";

const out = join(root, "packages", "cli", "dist");
/** Some libraries of the Node world still call require. */
const BANNER = "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);\n";
/** What every `remit run` of a program that is in the cache loads. */
const RUN = ["cli/src/main.ts", "commands/run.ts", "ledger/sqlite.ts", "config/config.ts", "config/check.ts"];

rmSync(out, { recursive: true, force: true });
const { metafile } = await build({
    entryPoints: { remit: join(root, "packages", "cli", "src", "main.ts") },
    outdir: out,
    outExtension: { ".js": ".mjs" },
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    legalComments: "linked",
    external: ["node-llama-cpp", "@node-llama-cpp/*"],
    banner: { js: BANNER.trimEnd() },
    plugins: [direct(root), builtins()],
    metafile: true,
    logLevel: "warning",
});
withoutRequire(out, readdirSync(out), BANNER);
const merged = await merge(out, metafile, RUN, "run-all.mjs");
const files = readdirSync(out);
const bytes = files.reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
process.stdout.write(`packages/cli/dist: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, ${merged} of them merged into one\n`);
