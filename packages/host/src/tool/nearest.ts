/**
 * What is in a folder, the nearest first, up to a bound: what a copy of it takes, and what it does not.
 *
 * Boundary: looks. The caller copies, links or shows what it is told of.
 *
 * NR1: what lies outside the folder is not told of, links followed.
 */
import { readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { byUnits, isInside } from "../skill/files.ts";

/** Entries of a folder that are looked at. */
const MAX_ENTRIES = 5000;

export interface Nearest {
    /** The most files and folders that are taken, and the most bytes of all files; a file alone may have a quarter of them. */
    readonly files: number;
    readonly bytes: number;
    /** Names that are left out, and names of folders that are not taken. */
    readonly leftOut: ReadonlySet<string>;
    readonly untaken: ReadonlySet<string>;
}

export interface Found {
    /** Relative to the folder. */
    readonly path: string;
    readonly stats: Stats;
    readonly isTaken: boolean;
}

/** `from`: absolute. A folder comes before what is in it. */
export function* nearestIn(from: string, { leftOut, untaken, ...most }: Nearest): Generator<Found, void, undefined> {
    let { files, bytes } = most;
    const folders = [""];
    for (let folder = folders.shift(); folder !== undefined; folder = folders.shift())
        for (const name of namesIn(join(from, folder), leftOut)) {
            const path = join(folder, name);
            const stats = inside(join(from, path), from);
            if (stats === null || !(stats.isDirectory() || stats.isFile())) continue;
            const fits = stats.isDirectory() ? !untaken.has(name) : stats.size <= Math.min(bytes, most.bytes / 4);
            const isTaken = fits && files > 0;
            if (isTaken) files--;
            if (isTaken && stats.isFile()) bytes -= stats.size;
            if (isTaken && stats.isDirectory()) folders.push(path);
            yield { path, stats, isTaken };
        }
}

/** Files before folders, so that the nearest are the first. */
function namesIn(folder: string, leftOut: ReadonlySet<string>): string[] {
    return readdirSync(folder, { withFileTypes: true })
        .filter(({ name }) => !leftOut.has(name))
        .sort((a, b) => Number(a.isDirectory()) - Number(b.isDirectory()) || byUnits(a.name, b.name))
        .slice(0, MAX_ENTRIES)
        .map(({ name }) => name);
}

/** What a path is, where it may be read and lies in `root`, links followed. */
function inside(path: string, root: string): Stats | null {
    try {
        const real = realpathSync(path);
        return real === root || !isInside(real, root) || root.startsWith(`${real}/`) ? null : statSync(real);
    } catch {
        // A link that leads nowhere, or what went away meanwhile.
        return null;
    }
}
