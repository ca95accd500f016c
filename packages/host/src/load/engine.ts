/**
 * Which engine compiled or ran something: its version and, in a checkout, when its sources last changed.
 *
 * Boundary: looks at the files of this installation only.
 */
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FORM } from "@remit/language";

/** Version of the packages, as in their `package.json`. */
export const VERSION = "0.1.0";

/**
 * Names the engine for the cache. A built package is one file or a few, told by version, size and time; a checkout by the newest source
 * file of the language, so that work on the checker never meets an entry of the checker before.
 */
export function engineId(): string {
    return `${VERSION} ${FORM} ${build(["language"])}`;
}

/** Names the build of the machine, which says what a step is and what an event holds: a replay by another one may differ. */
export function machineId(): string {
    return `${VERSION} ${build(["language", "machine"])}`;
}

function build(packages: readonly string[]): string {
    const here = fileURLToPath(import.meta.url);
    if (!here.endsWith(".ts")) {
        const stat = statSync(here);
        return `${stat.size} ${stat.mtimeMs}`;
    }
    let newest = 0;
    let count = 0;
    for (const name of packages)
        for (const entry of readdirSync(join(dirname(here), "..", "..", "..", name, "src"), { recursive: true, withFileTypes: true })) {
            if (!entry.isFile()) continue;
            count++;
            newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
        }
    return `${count} ${newest}`;
}
