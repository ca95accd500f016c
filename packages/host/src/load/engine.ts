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

/** Put in by `npm run pack`: a hash over the sources of the language and the machine. */
declare const REMIT_BUILD: string;
const BUILT = typeof REMIT_BUILD === "string" ? REMIT_BUILD : null;

/** Names the engine for the cache: in a checkout by the newest source file of the language, so that work on the checker never meets an entry of the checker before. */
export function engineId(): string {
    return `${VERSION} ${FORM} ${BUILT ?? sources(["language"])}`;
}

/** Names the build of the machine, which says what a step is and what an event holds: a replay by another one may differ. */
export function machineId(): string {
    return `${VERSION} ${BUILT ?? sources(["language", "machine"])}`;
}

/** What a process runs was read once, so it is looked at once: a look takes 5 ms for 300 files, and each program that is opened asks. */
const looked = new Map<string, string>();

function sources(packages: readonly string[]): string {
    const key = packages.join(" ");
    let found = looked.get(key);
    if (found === undefined) {
        found = look(packages);
        looked.set(key, found);
    }
    return found;
}

function look(packages: readonly string[]): string {
    const here = dirname(fileURLToPath(import.meta.url));
    let newest = 0;
    let count = 0;
    for (const name of packages)
        for (const entry of readdirSync(join(here, "..", "..", "..", name, "src"), { recursive: true, withFileTypes: true })) {
            if (!entry.isFile()) continue;
            count++;
            newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
        }
    return `(${count} sources, changed ${new Date(newest).toISOString()})`;
}
