/**
 * The code of the workflow as a worker loads it: alone, bundled ahead, so that a worker starts at once; or beside a team's workflows, in their bundle.
 *
 * Boundary: builds and keeps files. First our own sources become one module, which leaves out what nothing uses; then the SDK's bundler adds its own.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BundleOptions, bundleWorkflowCode } from "@temporalio/worker";
import { buildSync } from "esbuild";
import { WORKFLOW } from "../wire/messages.ts";

const QUIET = {
    log: () => undefined,
    trace: () => undefined,
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
};
const HERE = fileURLToPath(import.meta.url);

/** Path of the bundle, made where `folder` does not have it. Workers that start together may both make it. */
export async function workflowBundle(folder: string): Promise<string> {
    const code = ownCode();
    const { version } = createRequire(HERE)("@temporalio/worker/package.json") as { readonly version: string };
    const file = join(folder, `workflow-${digest(version, code)}.bundle.js`);
    if (existsSync(file)) return file;
    const workflowsPath = kept(folder, code);
    const { code: bundle } = await bundleWorkflowCode({ workflowsPath, logger: QUIET, webpackConfigHook: foundFrom(HERE) });
    put(file, bundle);
    return file;
}

/** A team's bundle with the workflow in it. */
export function withWorkflow(options: BundleOptions, folder: string): BundleOptions {
    const { workflowsPath: theirs, webpackConfigHook: hook = (config) => config } = options;
    const own = kept(folder, ownCode());
    if (theirs === own) return { ...options, webpackConfigHook: (config) => hook(foundFrom(HERE)(config)) };
    // As a module of Node's own kind, which takes a default workflow along.
    const text = `module.exports = { ...require(${JSON.stringify(theirs)}), ${WORKFLOW}: require(${JSON.stringify(own)}).${WORKFLOW} };\n`;
    const both = join(folder, `workflows-${digest(text)}.cjs`);
    if (!existsSync(both)) put(both, text);
    // Both parts take the SDK that the team's workflows take.
    return { ...options, workflowsPath: both, webpackConfigHook: (config) => hook(foundFrom(theirs)(config)) };
}

/** For a worker that has no workflows of its own. */
export function ownWorkflows(folder: string): string {
    return kept(folder, ownCode());
}

type Hook = NonNullable<BundleOptions["webpackConfigHook"]>;

/** The SDK is found as from this file, wherever the folder is. */
function foundFrom(path: string): Hook {
    const roots = createRequire(path).resolve.paths("@temporalio/workflow") ?? [];
    return (config) => ({ ...config, resolve: { ...config.resolve, modules: [...(config.resolve?.modules ?? []), ...roots] } });
}

/** Path of our own code in the folder. */
function kept(folder: string, code: string): string {
    const path = join(folder, `workflow-${digest(code)}.js`);
    if (!existsSync(path)) put(path, code);
    return path;
}

function put(path: string, text: string): void {
    mkdirSync(join(path, ".."), { recursive: true });
    const made = `${path}.${process.pid}`;
    writeFileSync(made, text);
    renameSync(made, path);
}

const digest = (...texts: readonly string[]): string =>
    texts
        .reduce((hash, text) => hash.update(text), createHash("sha256"))
        .digest("hex")
        .slice(0, 16);

function ownCode(): string {
    const { outputFiles } = buildSync({
        entryPoints: [fileURLToPath(new URL("../workflow/remit-run.ts", import.meta.url))],
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
