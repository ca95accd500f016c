/**
 * Scripts that tests start as processes. `npm test` bundles them before it begins (`scripts/lib/built.mjs`): such a process reads some ten files in place
 * of six hundred. Without that, and for a script that is in no bundle, it is the source.
 */
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** `path`: of the source, below the checkout's root. */
export function scriptAt(path: string): string {
    const built = join(process.env.REMIT_TEST_BUILT ?? "", path.replace(/\.ts$/, ".js"));
    if (process.env.REMIT_TEST_BUILT !== undefined && existsSync(built)) return built;
    return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

/** Lets scripts of the folder find bundles of the project's packages, where there are some. */
export function linkPackages(folder: string): void {
    if (process.env.REMIT_TEST_BUILT !== undefined)
        symlinkSync(join(process.env.REMIT_TEST_BUILT, "node_modules"), join(folder, "node_modules"));
}
