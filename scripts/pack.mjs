// `npm run pack`: the package as npm gets it, `remit-lang`, as the folder dist/npm and as dist/remit-lang.tgz; beside it the browser extension's zips.
// The command and the library are one bundle, split so that each command and each import loads only what it uses: what two of them use is there once,
// so that a class is the same class for all. Libraries with native parts stay outside; everything of the project and its pure libraries goes in.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { prebuild } from "../packages/temporal/src/worker/bundle.ts";
import { copyAssets, REMIT_ASSETS } from "./lib/assets.mjs";
import { builtins } from "./lib/builtins.mjs";
import { direct } from "./lib/direct.mjs";
import { laterEntries } from "./lib/later.mjs";
import { licences } from "./lib/licences.mjs";
import { createManifest, ENTRIES, FOR_TEMPORAL, guarded, manifest, onDemand, WORKFLOW } from "./lib/manifest.mjs";
import { BANNER, merge, RUN, withoutRequire } from "./lib/merge.mjs";
import { root } from "./lib/setup.mjs";
import { quietly } from "./lib/shell.mjs";
import { declarations } from "./lib/types.mjs";
import { extension } from "./extension.mjs";

const to = join(root, "dist", "npm");
const out = join(to, "dist");
/** Their pieces hold nothing of Node, so that a page can use them. */
const PURE = ["language", "machine", "serve-client"];

/** What names a build: the sources of the language and the machine, which say what a step is and what an event holds. */
const hash = createHash("sha256");
for (const name of ["language", "machine"]) {
    const src = join(root, "packages", name, "src");
    for (const path of readdirSync(src, { recursive: true }).sort())
        if (path.endsWith(".ts")) hash.update(`${name}/${path.replaceAll("\\", "/")}\n`).update(readFileSync(join(src, path)));
}
const define = {
    REMIT_BUILD: JSON.stringify(hash.digest("hex").slice(0, 12)),
    REMIT_ASSETS,
    REMIT_TEMPLATES: JSON.stringify("../templates/"),
};

async function bundle(entryPoints, splitting) {
    const { metafile } = await build({
        entryPoints,
        outdir: out,
        outExtension: { ".js": ".mjs" },
        absWorkingDir: root,
        bundle: true,
        splitting,
        format: "esm",
        platform: "node",
        target: "node24",
        minifySyntax: true,
        minifyWhitespace: true,
        keepNames: false,
        legalComments: "none",
        external: ["node-llama-cpp", "@node-llama-cpp/*", "vitest", "esbuild", ...FOR_TEMPORAL],
        banner: { js: BANNER.trimEnd() },
        define,
        plugins: [direct(root), builtins()],
        metafile: true,
        logLevel: "warning",
    });
    return metafile;
}

/** Completes the package in a folder with its README, from `readme`; gives the path of its tarball. */
async function packed(folder, about, readme) {
    cpSync(join(readme, "README.md"), join(folder, "README.md"));
    cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(about, null, 2)}\n`);
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    await quietly(npm, ["pack", "--pack-destination", join(root, "dist")], { cwd: folder });
    const tarball = join(root, "dist", `${about.name}.tgz`);
    renameSync(join(root, "dist", `${about.name}-${about.version}.tgz`), tarball);
    return tarball;
}

rmSync(join(root, "dist"), { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const { [WORKFLOW]: workflow, ...entries } = ENTRIES;
/** The ledger begins the one, a thread, by its name beside the file that does; the other is the command. */
const own = { "thread-worker": "packages/host/src/ledger/thread-worker.ts", remit: "packages/cli/src/main.ts" };
const metafile = await bundle({ ...entries, ...own, ...laterEntries() }, true);
const alone = await bundle({ [WORKFLOW]: workflow }, false);
withoutRequire(out, readdirSync(out), BANNER);
const merged = await merge(out, metafile, { of: RUN, within: PURE.map((name) => ENTRIES[name]) });
onDemand(out, metafile);
guarded(out);
licences(root, { inputs: { ...metafile.inputs, ...alone.inputs } }, out);
copyAssets(join(out, "serve"), { libraries: true });
// So that a worker of the package starts without bundling anything.
await prebuild(join(to, "prebuilt"));
await declarations(join(to, "types"));
for (const name of ["language", "machine"]) cpSync(join(root, "packages", name, "schema"), join(to, "schema"), { recursive: true });
cpSync(join(root, "packages", "cli", "templates"), join(to, "templates"), { recursive: true });
cpSync(join(root, "packages", "cli", "bin"), join(to, "bin"), { recursive: true });
const tarball = await packed(to, manifest, root);
const create = join(root, "dist", "create");
cpSync(join(root, "packages", "create", "bin"), join(create, "bin"), { recursive: true });
const created = await packed(create, createManifest, join(root, "packages", "create"));
const zips = Object.values(await extension()).map((one) => one.zip);

const files = readdirSync(to, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const bytes = files.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
process.stdout.write(
    `${relative(root, tarball)}: ${mb(statSync(tarball).size)}, unpacked ${files.length} files with ${mb(bytes)}; ${merged} pieces merged\n`,
);
for (const one of [created, ...zips]) process.stdout.write(`${relative(root, one)}: ${(statSync(one).size / 1e3).toFixed(1)} kB\n`);
