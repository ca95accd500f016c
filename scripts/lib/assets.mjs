// The files that the server gives away, beside a bundle that has the server in it: `packages/serve/src/assets/files.ts` says which they are.
import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ASSETS, asset, LIBRARY_NAMES, library } from "../../packages/serve/src/assets/files.ts";

/** Where they are, seen from the bundle; a value for `define`. */
export const REMIT_ASSETS = JSON.stringify("./serve/");

/** `to`: the folder. `libraries`: those of the console too, which a package finds by itself. */
export function copyAssets(to, { libraries }) {
    const put = (file, name) => {
        mkdirSync(dirname(join(to, name)), { recursive: true });
        cpSync(file, join(to, name), { recursive: true, filter: (path) => !path.endsWith("tsconfig.json") });
    };
    for (const name of ASSETS) put(fileURLToPath(asset(name)), name);
    if (!libraries) return;
    for (const name of LIBRARY_NAMES) {
        const { copy, file } = library(name);
        put(fileURLToPath(file), copy);
    }
}
