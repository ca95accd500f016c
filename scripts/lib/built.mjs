// Bundles of the scripts that tests start as processes, the command among them: `node scripts/lib/built.mjs FOLDER`. A process of them reads some ten
// files in place of six hundred: 0.12 s of processor time in place of 0.42, and the tests start some two hundred. `packages/host/tests/script.ts` finds
// them there, and takes the sources where there are none.
// Needs the Node of the checkout (it asks the sources for the name of their build) and its packages.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { copyAssets } from "./assets.mjs";
import { builtins } from "./builtins.mjs";
import { direct } from "./direct.mjs";
import { BANNER, merge, RUN } from "./merge.mjs";
import { machineId, VERSION } from "../../packages/host/src/load/engine.ts";
import { root } from "./setup.mjs";

const [folder] = process.argv.slice(2);

/** Below the checkout's root, without their ending. The others are run as they stand. */
const SCRIPTS = [
    "packages/host/tests/agent/agents/agent",
    "packages/host/tests/agent/agents/second",
    "packages/host/tests/agent/killed",
    "packages/host/tests/agent/noted",
    "packages/host/tests/debug/killed",
    "packages/host/tests/ledger/crowd",
    "packages/host/tests/ledger/daily",
    "packages/host/tests/ledger/limited",
    "packages/host/tests/ras/killed",
    "packages/host/tests/run/crash/child",
    "packages/host/tests/run/crash/far",
    "packages/host/tests/run/crash/holder",
    "packages/host/tests/run/elsewhere/activity",
    "packages/host/tests/run/mock/child",
    "packages/host/tests/run/remote/child",
    "packages/host/tests/run/remote/world",
    "packages/host/tests/tool/mcp-server",
    "packages/serve/tests/process/server",
    "packages/temporal/tests/process/worker",
    "tests/example-world",
];
/** Where the program looks for it: beside itself, or where an import says. */
const PLACES = { "thread-worker": "packages/host/src/ledger/thread-worker.ts" };
/** Of the command, in a folder of its own. */
const COMMAND = { remit: "packages/cli/src/main.ts", temporal: "packages/temporal/src/index.ts", ...PLACES };
/** Packages of the project, as a program finds them that stands below the folder or has its `node_modules`. */
const PACKAGES = ["language", "machine", "host", "serve", "temporal"].map((name) => {
    const at = join("packages", name);
    return { at, to: join("node_modules/@remit", name), about: JSON.parse(readFileSync(join(root, at, "package.json"), "utf8")) };
});

/** Files beside a source of this package, such as the bundle of a workflow, are found from where the source stands. */
const FROM_ITSELF = /packages\/temporal\/src\/.*\.ts$/;
const placed = (text, path) =>
    FROM_ITSELF.test(path) ? text.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)) : text;
const beside = {
    name: "beside",
    setup: (building) =>
        building.onLoad({ filter: FROM_ITSELF }, ({ path }) => ({ contents: placed(readFileSync(path, "utf8"), path), loader: "ts" })),
};

const shared = {
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    external: ["node-llama-cpp", "@node-llama-cpp/*", "vitest", "esbuild", "@temporalio/*"],
    // the same as the sources, whose runs these go on with and the other way round
    define: {
        REMIT_BUILD: JSON.stringify(machineId().slice(VERSION.length + 1)),
        REMIT_ASSETS: JSON.stringify(pathToFileURL(join(folder, "serve/")).href),
        REMIT_TEMPLATES: JSON.stringify(pathToFileURL(join(root, "packages/cli/templates/")).href),
    },
    logLevel: "warning",
};
await build({
    ...shared,
    entryPoints: [
        ...SCRIPTS.map((path) => ({ in: join(root, `${path}.ts`), out: path })),
        ...Object.entries(PLACES).map(([out, path]) => ({ in: join(root, path), out })),
        ...PACKAGES.flatMap(({ at, to, about }) =>
            Object.values(about.exports).map((path) => ({ in: join(root, at, path), out: join(to, path.replace(/\.ts$/, "")) })),
        ),
    ],
    outdir: folder,
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    plugins: [beside],
});
copyAssets(join(folder, "serve"), { libraries: true });
for (const { to, about } of PACKAGES) {
    const { name, version, type, imports } = about;
    const exports = Object.fromEntries(Object.entries(about.exports).map(([key, path]) => [key, path.replace(/\.ts$/, ".js")]));
    writeFileSync(join(folder, to, "package.json"), JSON.stringify({ name, version, type, imports, exports }));
}
// what users import: each entry hands on what one of the project's packages exports
const users = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const lang = join(folder, "node_modules", users.name);
mkdirSync(lang);
for (const source of Object.values(users.exports)) {
    const [name, key] = PACKAGES.flatMap(({ at, about }) =>
        Object.entries(about.exports).flatMap(([key, path]) => (`./${join(at, path)}` === source ? [[about.name, key.slice(1)]] : [])),
    )[0];
    mkdirSync(dirname(join(lang, source)), { recursive: true });
    writeFileSync(join(lang, source.replace(/\.ts$/, ".js")), `export * from "${name}${key}";\n`);
}
const handed = Object.fromEntries(Object.entries(users.exports).map(([key, path]) => [key, path.replace(/\.ts$/, ".js")]));
writeFileSync(join(lang, "package.json"), JSON.stringify({ name: users.name, version: users.version, type: "module", exports: handed }));
writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module", "imports": { "#temporal": "@remit/temporal" } }\n');
// the command as it is published: its launcher beside a script, without sources
cpSync(join(root, "packages/cli/bin"), join(folder, "packages/cli/bin"), { recursive: true });
const command = join(folder, "packages/cli/dist");
const { metafile } = await build({
    ...shared,
    entryPoints: Object.entries(COMMAND).map(([out, path]) => ({ in: join(root, path), out })),
    outdir: command,
    outExtension: { ".js": ".mjs" },
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: BANNER.trimEnd() },
    plugins: [direct(root, placed), builtins()],
    metafile: true,
});
await merge(command, metafile, { of: RUN, within: [] });
writeFileSync(join(command, "package.json"), '{ "private": true, "type": "module", "imports": { "#temporal": "./temporal.mjs" } }\n');
symlinkSync(join(root, ".tools"), join(folder, ".tools"));
