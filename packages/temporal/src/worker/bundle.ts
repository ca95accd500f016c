/**
 * The code of the workflow as a worker loads it: alone, bundled ahead, so that a worker starts at once; or beside a team's workflows, in their bundle.
 *
 * Boundary: builds and keeps files. First our own sources become one module, which leaves out what nothing uses; then the SDK's bundler adds its own.
 */
import { createHash, type Hash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BundleOptions } from "@temporalio/worker";
import { workerSdk } from "../server/sdk.ts";
import { GUARD, WORKFLOW } from "../wire/messages.ts";

const QUIET = {
    log: () => undefined,
    trace: () => undefined,
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
};
const HERE = fileURLToPath(import.meta.url);

/** What `npm run pack` puts beside the bundle; a checkout has none. */
const PACKED = fileURLToPath(new URL("../prebuilt/", import.meta.url));
export const PREBUILT = { code: "workflow.js", bundle: "workflow.bundle.js", about: "about.json" } as const;

/** Of a bundle that was made ahead. */
export interface Prebuilt {
    /** Version of the SDK that is in it. */
    readonly sdk: string;
    readonly sha256: string;
}

/** Path of the bundle: the one that came with the package, else made where `folder` does not have it. Workers that start together may both make it. */
export async function workflowBundle(folder: string): Promise<string> {
    const sdk = sdkVersion();
    if (isPacked(sdk)) return join(PACKED, PREBUILT.bundle);
    const file = join(folder, `workflow-${digest(sdk, sourceKey())}.bundle.js`);
    if (existsSync(file)) return file;
    const workflowsPath = ownWorkflows(folder);
    const { code } = await workerSdk().bundleWorkflowCode({ workflowsPath, logger: QUIET, webpackConfigHook: foundFrom(HERE) });
    put(file, code);
    return file;
}

/** Another SDK than the one that it was made with needs another bundle, and so does a file that was changed. */
function isPacked(sdk: string): boolean {
    if (!existsSync(join(PACKED, PREBUILT.about))) return false;
    const about = JSON.parse(readFileSync(join(PACKED, PREBUILT.about), "utf8")) as Prebuilt;
    return about.sdk === sdk && sha256(readFileSync(join(PACKED, PREBUILT.bundle))) === about.sha256;
}

/** Makes both files ahead, for the package. */
export async function prebuild(folder: string): Promise<void> {
    const room = mkdtempSync(join(tmpdir(), "remit-prebuild-"));
    const bundle = readFileSync(await workflowBundle(room));
    rmSync(room, { recursive: true, force: true });
    const about: Prebuilt = { sdk: sdkVersion(), sha256: sha256(bundle) };
    put(join(folder, PREBUILT.code), ownCode());
    put(join(folder, PREBUILT.bundle), bundle);
    put(join(folder, PREBUILT.about), `${JSON.stringify(about)}\n`);
}

function sdkVersion(): string {
    return (createRequire(HERE)("@temporalio/worker/package.json") as { readonly version: string }).version;
}

/** A team's bundle with the workflow in it. */
export function withWorkflow(options: BundleOptions, folder: string): BundleOptions {
    const { workflowsPath: theirs, webpackConfigHook: hook = (config) => config } = options;
    const own = ownWorkflows(folder);
    if (theirs === own) return { ...options, webpackConfigHook: (config) => hook(foundFrom(HERE)(config)) };
    // As a module of Node's own kind, which takes a default workflow along.
    const ours = `const { ${WORKFLOW}, ${GUARD} } = require(${JSON.stringify(own)});`;
    const text = `${ours}\nmodule.exports = { ...require(${JSON.stringify(theirs)}), ${WORKFLOW}, ${GUARD} };\n`;
    const both = join(real(folder), `workflows-${digest(text)}.cjs`);
    if (!existsSync(both)) put(both, text);
    // Both parts take the SDK that the team's workflows take.
    return { ...options, workflowsPath: both, webpackConfigHook: (config) => hook(foundFrom(theirs)(config)) };
}

/** For a worker that has no workflows of its own. */
export function ownWorkflows(folder: string): string {
    const packed = join(PACKED, PREBUILT.code);
    return existsSync(packed) ? packed : kept(folder);
}

type Hook = NonNullable<BundleOptions["webpackConfigHook"]>;

/** The SDK is found as from this file, wherever the folder is. */
function foundFrom(path: string): Hook {
    const roots = createRequire(path).resolve.paths("@temporalio/workflow") ?? [];
    return (config) => ({ ...config, resolve: { ...config.resolve, modules: [...(config.resolve?.modules ?? []), ...roots] } });
}

/** Path of our own code in the folder. */
function kept(folder: string): string {
    const path = join(real(folder), `workflow-${digest(sourceKey())}.js`);
    if (!existsSync(path)) put(path, ownCode());
    return path;
}

/** The SDK's bundler keeps its entry in memory beside the workflows, and looks for it where links lead. */
function real(folder: string): string {
    mkdirSync(folder, { recursive: true });
    return realpathSync(folder);
}

function put(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(path), { recursive: true });
    const made = `${path}.${process.pid}`;
    writeFileSync(made, text);
    renameSync(made, path);
}

const sha256 = (...parts: readonly (string | Uint8Array)[]): string =>
    parts.reduce<Hash>((hash, part) => hash.update(part), createHash("sha256")).digest("hex");
const digest = (...texts: readonly string[]): string => sha256(...texts).slice(0, 16);

/** Names what our own code is made of; to make it each time a worker starts would take longer than all else (section `temporal` of `bench/`). */
function sourceKey(): string {
    const packed = join(PACKED, PREBUILT.code);
    if (existsSync(packed)) return sha256(readFileSync(packed));
    const { resolve } = createRequire(HERE);
    const folders = [dirname(dirname(HERE)), dirname(resolve("@remit/machine")), dirname(resolve("@remit/language"))];
    const files = folders.flatMap((folder) =>
        (readdirSync(folder, { recursive: true }) as string[])
            .filter((name) => /\.[jt]s$/.test(name))
            .sort()
            .map((name) => join(folder, name)),
    );
    return sha256(...files.map((file) => readFileSync(file)));
}

function ownCode(): string {
    // Only where the code is not made ahead: a package has no need of it.
    const { buildSync } = createRequire(HERE)("esbuild") as typeof import("esbuild");
    const { outputFiles } = buildSync({
        entryPoints: [fileURLToPath(new URL(`../workflow/remit-run${extname(HERE)}`, import.meta.url))],
        bundle: true,
        format: "esm",
        platform: "neutral",
        target: "es2024",
        external: ["@temporalio/*"],
        minifySyntax: true,
        minifyWhitespace: true,
        write: false,
        logLevel: "silent",
    });
    return outputFiles[0]?.text ?? "";
}
