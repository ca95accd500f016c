// The packages as npm gets them: sources become JavaScript with types beside it (Node runs no TypeScript below node_modules), the bundles that
// `pack.mjs` made go in where there are some, and each package gets the package.json of a published one.
// Result: `dist/npm/NAME` and `dist/NAME.tgz` for each package, ready for `npm install` and `npm publish`.
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { prebuild } from "../../packages/temporal/src/worker/bundle.ts";
import { copyAssets } from "./assets.mjs";
import { quietly } from "./shell.mjs";

/** What `import` finds of the host: the name below `@remit/host` → the module's path below `src`, without its ending. */
export const HOST_ENTRIES = { ".": "index", "./vitest": "testing/vitest", "./jest": "testing/jest", "./node-test": "testing/node-test" };

const ENTRIES = {
    host: HOST_ENTRIES,
    temporal: { ".": "index", "./workflow": "workflow/child" },
    serve: { ".": "index", "./client": "client/index", "./discovery": "discovery" },
};

/**
 * Package → what stands in it. `entry`: the module that `import` finds; `dist`: "compiled" sources or the "bundled" ones;
 * `needs`: dependencies that its code or its types name; the rest is in the bundle.
 */
const PACKAGES = {
    language: { entry: true, dist: "compiled", needs: [] },
    machine: { entry: true, dist: "compiled", needs: ["@remit/language"] },
    host: { entry: true, dist: "bundled", needs: ["@remit/language", "@remit/machine"] },
    temporal: {
        entry: true,
        dist: "compiled",
        needs: [
            ...["@remit/host", "@remit/language", "@remit/machine"],
            ...["activity", "client", "common", "envconfig", "plugin", "proto", "worker", "workflow"].map((part) => `@temporalio/${part}`),
        ],
    },
    serve: {
        entry: true,
        dist: "compiled",
        needs: Object.keys(JSON.parse(readFileSync(new URL("../../packages/serve/package.json", import.meta.url), "utf8")).dependencies),
    },
    cli: { entry: false, dist: "bundled", needs: [] },
};
const SCHEMAS = ["language", "machine"];

/** `root`: folder of the checkout. Gives the tarballs' paths by package. */
export async function publish(root) {
    const out = join(root, "dist");
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out);
    await compile(root, join(out, "compiled"));
    const tarballs = {};
    for (const [name, one] of Object.entries(PACKAGES)) {
        const from = join(root, "packages", name);
        const to = join(out, "npm", name);
        mkdirSync(to, { recursive: true });
        const compiled = join(out, "compiled", name, "src");
        if (one.entry) cpSync(compiled, join(to, "types"), { recursive: true, filter: (path) => !path.endsWith(".js") });
        cpSync(one.dist === "compiled" ? compiled : join(from, "dist"), join(to, "dist"), {
            recursive: true,
            filter: (path) => !path.endsWith(".d.ts"),
        });
        // So that a worker of the package starts without bundling anything.
        if (name === "temporal") await prebuild(join(to, "dist", "prebuilt"));
        if (name === "serve") copyAssets(to, { libraries: false });
        if (SCHEMAS.includes(name)) cpSync(join(from, "schema"), join(to, "schema"), { recursive: true });
        if (!one.entry) cpSync(join(from, "bin"), join(to, "bin"), { recursive: true });
        for (const file of [join(from, "README.md"), join(root, "LICENSE")]) cpSync(file, join(to, file.split(/[\\/]/).at(-1)));
        writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest(root, name, one), null, 2)}\n`);
        await quietly(process.platform === "win32" ? "npm.cmd" : "npm", ["pack", "--pack-destination", out], { cwd: to });
        tarballs[name] = join(out, `remit-${name}.tgz`);
        const made = readdirSync(out).find((file) => new RegExp(`^remit-${name}-\\d.*\\.tgz$`).test(file));
        renameSync(join(out, made), tarballs[name]);
    }
    rmSync(join(out, "compiled"), { recursive: true });
    return tarballs;
}

/** JavaScript and types of the sources below `packages`, whose imports name `.js` files instead of `.ts` ones. */
async function compile(root, to) {
    mkdirSync(to, { recursive: true });
    const config = join(to, "tsconfig.json");
    const include = Object.keys(PACKAGES).flatMap((name) => (PACKAGES[name].entry ? [join(root, "packages", name, "src")] : []));
    const compilerOptions = {
        noEmit: false,
        // `npm run check` has checked them: what is wanted here is what is written
        noCheck: true,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: join(root, "packages"),
        outDir: to,
        typeRoots: [join(root, "node_modules", "@types")],
    };
    writeFileSync(config, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include }));
    await quietly(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", config], { cwd: root });
    for (const file of readdirSync(to, { recursive: true }).filter((path) => path.endsWith(".d.ts"))) {
        const text = readFileSync(join(to, file), "utf8");
        writeFileSync(join(to, file), text.replace(/((?:from|import\() ?")(\.[^"]+)\.ts"/g, '$1$2.js"'));
    }
}

function manifest(root, name, one) {
    const { exports: _, devDependencies: __, dependencies, optionalDependencies: ___, ...kept } = read(join(root, "packages", name));
    const ending = one.dist === "compiled" ? "js" : "mjs";
    const entries = Object.fromEntries(
        Object.entries(ENTRIES[name] ?? { ".": "index" }).map(([at, path]) => [
            at,
            { types: `./types/${path}.d.ts`, default: `./dist/${one.dist === "compiled" ? path : basename(path)}.${ending}` },
        ]),
    );
    // the command brings the local model's engine as the library does
    const host = read(join(root, "packages", "host"));
    const { vitest: _vitest, ...engine } = host.peerDependencies;
    const { vitest: _optional, ...meta } = host.peerDependenciesMeta;
    const peers = name === "cli" ? { peerDependencies: engine, peerDependenciesMeta: meta } : {};
    return {
        ...kept,
        ...(one.entry ? { exports: { ...entries, ...(SCHEMAS.includes(name) ? { "./schema/*": "./schema/*" } : {}) } } : {}),
        ...(one.needs.length > 0 ? { dependencies: Object.fromEntries(one.needs.map((other) => [other, dependencies[other]])) } : {}),
        ...peers,
    };
}

function read(folder) {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
