// `npm run pack`: the published command as a few bundled files in packages/cli/dist, split so that each command loads only what it uses, and the
// library in packages/host/dist the same way; then every package as npm gets it, in dist (`lib/publish.mjs`).
// Libraries with native parts stay outside; everything of the project and its pure libraries goes in.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { build } from "esbuild";
import { copyAssets, REMIT_ASSETS } from "./lib/assets.mjs";
import { builtins } from "./lib/builtins.mjs";
import { direct } from "./lib/direct.mjs";
import { licences } from "./lib/licences.mjs";
import { merge, withoutRequire } from "./lib/merge.mjs";
import { HOST_ENTRIES, publish } from "./lib/publish.mjs";
import { root } from "./lib/setup.mjs";

const out = join(root, "packages", "cli", "dist");
const library = join(root, "packages", "host", "dist");
/** Some libraries of the Node world still call require. */
const BANNER = "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);\n";
/** What every `remit run` of a program that is in the cache loads. */
const RUN = ["cli/src/main.ts", "commands/run.ts", "ledger/sqlite.ts", "config/config.ts", "config/check.ts"];

/** What names a build: the sources of the language and the machine, which say what a step is and what an event holds. */
const hash = createHash("sha256");
for (const name of ["language", "machine"]) {
    const src = join(root, "packages", name, "src");
    for (const path of readdirSync(src, { recursive: true }).sort())
        if (path.endsWith(".ts")) hash.update(`${name}/${path.replaceAll("\\", "/")}\n`).update(readFileSync(join(src, path)));
}
const define = { REMIT_BUILD: JSON.stringify(hash.digest("hex").slice(0, 12)), REMIT_ASSETS };

async function bundle(entryPoints, outdir) {
    rmSync(outdir, { recursive: true, force: true });
    const { metafile } = await build({
        entryPoints,
        outdir,
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
        external: ["node-llama-cpp", "@node-llama-cpp/*", "vitest"],
        banner: { js: BANNER.trimEnd() },
        define,
        plugins: [direct(root), builtins()],
        metafile: true,
        logLevel: "warning",
    });
    withoutRequire(outdir, readdirSync(outdir), BANNER);
    licences(root, metafile, outdir);
    return metafile;
}
function tell(folder, more) {
    const files = readdirSync(folder, { recursive: true });
    const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    process.stdout.write(`${relative(root, folder)}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB${more}\n`);
}

const host = join(root, "packages", "host", "src");
/** The ledger begins it as a thread, by its name beside the file that does. */
const thread = { "thread-worker": join(host, "ledger", "thread-worker.ts") };
const metafile = await bundle({ remit: join(root, "packages", "cli", "src", "main.ts"), ...thread }, out);
const merged = await merge(out, metafile, RUN, "run-all.mjs");
copyAssets(join(out, "serve"), { libraries: true });
tell(out, `, ${merged} pieces merged into one`);
const entries = Object.values(HOST_ENTRIES).map((path) => [basename(path), join(host, `${path}.ts`)]);
await bundle({ ...Object.fromEntries(entries), ...thread }, library);
tell(library, "");
for (const tarball of Object.values(await publish(root))) {
    process.stdout.write(`${relative(root, tarball)}: ${(statSync(tarball).size / 1e6).toFixed(1)} MB\n`);
}
