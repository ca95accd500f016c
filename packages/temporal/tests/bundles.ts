/** Bundles of the workflow that tests make: one folder for all of them, so that each build of the sources is bundled once. */
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

export const BUNDLES = join(root, ".tools", "temporal-bundles");

/** Gives them to commands whose `XDG_CACHE_HOME` is this folder, by a link, as a user may have one there. */
export function shareBundles(cache: string): void {
    for (const folder of [BUNDLES, join(cache, "remit")]) mkdirSync(folder, { recursive: true });
    symlinkSync(BUNDLES, join(cache, "remit", "temporal"));
}
