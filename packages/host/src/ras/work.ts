/**
 * The folder in which a RAS program works: what lies beside it, to be read and changed, and thrown away with it.
 *
 * Boundary: makes the folder. What of the machine is seen at all is the sandbox's.
 *
 * WO1: small files are copied, the nearest first, up to `MAX_FILES` and `MAX_BYTES`; what is over that, and what packages bring, is linked: it can be
 *     read, and not changed.
 * WO2: nothing is linked or copied that lies outside the program's folder; Git's folder and Remit's own are left out.
 */
import { chmodSync, copyFileSync, mkdirSync, readdirSync, realpathSync, type Stats, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { byUnits, isInside } from "../skill/files.ts";

const MAX_FILES = 400;
/** Of all files; a file alone may have a quarter of it. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Entries of a folder that are looked at. */
const MAX_ENTRIES = 5000;
const LEFT_OUT: ReadonlySet<string> = new Set([".git", ".remit"]);
const LINKED: ReadonlySet<string> = new Set(["node_modules", ".venv", "venv", "__pycache__"]);

/** `from`: what the program may see of where it lies, absolute; a program alone leaves it empty. Gives `to`. */
export function workFolder(from: string, to: string): string {
    mkdirSync(to, { mode: 0o700 });
    if (!statSync(from).isDirectory()) return to;
    let files = MAX_FILES;
    let bytes = MAX_BYTES;
    const folders: (readonly [from: string, to: string])[] = [[from, to]];
    for (let one = folders.shift(); one !== undefined; one = folders.shift())
        for (const name of namesIn(one[0])) {
            const source = join(one[0], name);
            const target = join(one[1], name);
            const found = inside(source, from);
            if (found === null) continue;
            if (found.isDirectory() && files > 0 && !LINKED.has(name)) {
                files--;
                mkdirSync(target, { mode: 0o700 });
                folders.push([source, target]);
            } else if (found.isFile() && files > 0 && found.size <= Math.min(bytes, MAX_BYTES / 4) && copied(source, target, found.mode)) {
                files--;
                bytes -= found.size;
            } else if (found.isDirectory() || found.isFile()) symlinkSync(source, target);
        }
    return to;
}

function copied(source: string, target: string, mode: number): boolean {
    try {
        copyFileSync(source, target);
    } catch {
        // It may not be read.
        return false;
    }
    chmodSync(target, mode | 0o600);
    return true;
}

/** Files before folders, so that the nearest are the first. */
function namesIn(folder: string): string[] {
    return readdirSync(folder, { withFileTypes: true })
        .filter(({ name }) => !LEFT_OUT.has(name))
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
