/**
 * The code of the workflow as a worker loads it: bundled ahead, so that a worker starts at once.
 *
 * Boundary: builds and keeps files. First our own sources become one module, which leaves out what nothing uses; then the SDK's bundler adds its own.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode } from "@temporalio/worker";
import { build } from "esbuild";

const QUIET = {
    log: () => undefined,
    trace: () => undefined,
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
};

/** Path of the bundle, made where `folder` does not have it. Workers that start together may both make it. */
export async function workflowBundle(folder: string): Promise<string> {
    const code = await ownCode();
    const { version } = createRequire(import.meta.url)("@temporalio/worker/package.json") as { readonly version: string };
    const name = createHash("sha256").update(version).update(code).digest("hex").slice(0, 16);
    const file = join(folder, `workflow-${name}.bundle.js`);
    if (existsSync(file)) return file;
    mkdirSync(folder, { recursive: true });
    const source = join(folder, `workflow-${name}.js`);
    put(source, code);
    // The SDK is found from here, wherever the folder is.
    const roots = createRequire(import.meta.url).resolve.paths("@temporalio/workflow") ?? [];
    const { code: bundle } = await bundleWorkflowCode({
        workflowsPath: source,
        logger: QUIET,
        webpackConfigHook: (config) => ({ ...config, resolve: { ...config.resolve, modules: roots } }),
    });
    put(file, bundle);
    return file;
}

function put(path: string, text: string): void {
    const made = `${path}.${process.pid}`;
    writeFileSync(made, text);
    renameSync(made, path);
}

async function ownCode(): Promise<string> {
    const { outputFiles } = await build({
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
