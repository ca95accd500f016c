/**
 * The folder in which a RAS program works: what lies beside it, to be read and changed, and thrown away with it.
 *
 * Boundary: makes the folder. What of the machine is seen at all is the sandbox's.
 *
 * WO1: small files are copied, the nearest first, up to `files` and `bytes`; what is over that, and what packages bring, is linked: it can be
 *     read, and not changed.
 * WO2: nothing is linked or copied that lies outside the program's folder; Git's folder and Remit's own are left out.
 */
import { chmodSync, copyFileSync, lstatSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { OWN } from "../process/own-folders.ts";
import { type Nearest, nearestIn } from "../tool/nearest.ts";

const COPIED: Nearest = {
    files: 400,
    bytes: 16 * 1024 * 1024,
    leftOut: new Set([".git", OWN]),
    untaken: new Set(["node_modules", ".venv", "venv", "__pycache__"]),
};

/**
 * `from`: what the program may see of where it lies, then folders that its tools name, absolute; a program alone leaves it empty. Of a name that
 * several have, the first counts. Gives `to`.
 */
export function workFolder(from: readonly string[], to: string): string {
    mkdirSync(to, { mode: 0o700 });
    for (const folder of from) if (statSync(folder).isDirectory()) copy(folder, to);
    return to;
}

function copy(from: string, to: string): void {
    for (const { path, stats, isTaken } of nearestIn(from, COPIED)) {
        const [source, target] = [join(from, path), join(to, path)];
        const there = lstatSync(target, { throwIfNoEntry: false });
        if (there !== undefined || !isFolder(dirname(target))) continue;
        if (isTaken && stats.isDirectory()) mkdirSync(target, { mode: 0o700 });
        else if (!isTaken || !copied(source, target, stats.mode)) symlinkSync(source, target);
    }
}

/** No link: what is copied stays in the folder. */
function isFolder(path: string): boolean {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
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
