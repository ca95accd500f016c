/**
 * Remit's own folders (`.remit`) below a folder that a sandbox shows: those of other projects too, with their ledgers, keys and tokens.
 *
 * Boundary: looks for them; the sandbox hides them.
 *
 * OWF1: each one is found, however deep it lies, also in what packages brought, and so is a folder to which a link of that name leads, in any folder that
 *     is shown.
 * OWF2: names are bytes here. A folder of that name that no text leads to cannot be hidden, so it is an error.
 * OWF3: where there is too much to look at, or a folder cannot be listed that the agent could open, that is an error: what was not looked at is not shown.
 */
import { isUtf8 } from "node:buffer";
import { access, constants, readdir, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import { RemitError } from "../failure/error.ts";

/** The name of Remit's own folder in a project. */
export const OWN = ".remit";

/** Files and folders that are looked at: a second of work for each hundred thousand at most. */
const MAX_ENTRIES = 1_000_000;
/** Each is a mount of its own. */
const MAX_FOUND = 1000;
/** Folders that are read at a time. */
const AT_ONCE = 32;
const SEPARATOR = Buffer.from(sep);

/** A name as file systems compare it that fold case, normalise Unicode and drop what is invisible (HFS+, APFS, NTFS). */
export function fold(name: string): string {
    const visible = name.normalize("NFKC").replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "");
    const plain = visible.toLowerCase().replace(/[. ]+$/, (end) => (visible.length === end.length ? end : ""));
    return /^git~\d+$/.test(plain) ? ".git" : plain;
}

export function isOwn(name: string): boolean {
    return fold(name) === OWN;
}

interface Look {
    /** All folders that are shown: a link leads into any of them. */
    readonly shown?: readonly string[];
    readonly most?: number;
}

/** Those below `root`, which may be a file or absent: absolute, links followed, in a fixed order. */
export async function ownFolders(root: string, { shown = [root], most = MAX_ENTRIES }: Look = {}): Promise<readonly string[]> {
    const found = new Set<string>();
    const folders = [Buffer.from(root)];
    let seen = 0;
    for (let some = folders.splice(0, AT_ONCE); some.length > 0; some = folders.splice(0, AT_ONCE))
        for (const { folder, entries } of await Promise.all(some.map((one) => entriesOf(one, root)))) {
            seen += entries.length;
            for (const entry of entries) {
                const path = Buffer.concat([folder, SEPARATOR, entry.name]);
                if (isOwn(entry.name.toString())) {
                    const own = entry.isDirectory() ? path : entry.isSymbolicLink() ? await behind(path, shown) : null;
                    if (own !== null && !isUtf8(own)) throw unnamed(root, own);
                    if (own !== null) found.add(own.toString());
                } else if (entry.isDirectory()) folders.push(path);
            }
            if (seen > most || found.size > MAX_FOUND)
                throw tooMuch(root, seen > most ? `${most} files and folders` : `${MAX_FOUND} folders ${OWN}`);
        }
    return [...found].sort();
}

/** Without those that are inside others, each once. */
export function outermost(paths: Iterable<string>): string[] {
    const all = [...new Set(paths)].sort((a, b) => a.length - b.length);
    return all.filter((path, i) => !isIn(path, all.slice(0, i)));
}

export function isIn(path: string, folders: readonly string[]): boolean {
    return folders.some((outer) => path.startsWith(outer.endsWith(sep) ? outer : outer + sep));
}

async function entriesOf(folder: Buffer, root: string) {
    try {
        return { folder, entries: await readdir(folder, { withFileTypes: true, encoding: "buffer" }) };
    } catch (error) {
        const { code = "" } = error as NodeJS.ErrnoException;
        const isGone = ["ENOENT", "ENOTDIR", "ELOOP"].includes(code);
        if (!isGone && !(["EACCES", "EPERM"].includes(code) && (await isClosed(folder)))) throw unlisted(root, folder, code);
        return { folder, entries: [] };
    }
}

/** To the agent, too, which has this user's rights: it may open what it cannot list, and give itself leave for what is its own. */
async function isClosed(folder: Buffer): Promise<boolean> {
    const about = await stat(folder).catch(() => null);
    if (about !== null) return about.uid !== process.geteuid?.() && !(await canEnter(folder));
    const above = folder.subarray(0, folder.lastIndexOf(SEPARATOR));
    // Another user's file system (FUSE) is closed to root, too.
    return (await canEnter(above)) || isClosed(above);
}

function canEnter(folder: Buffer): Promise<boolean> {
    return access(folder, constants.X_OK).then(
        () => true,
        () => false,
    );
}

/** The folder to which a link leads, if it lies in one of these: what is outside is not shown anyway. */
async function behind(link: Buffer, shown: readonly string[]): Promise<Buffer | null> {
    try {
        const real = await realpath(link, { encoding: "buffer" });
        return isIn(real.toString(), shown) && (await stat(real)).isDirectory() ? real : null;
    } catch {
        // It leads nowhere.
        return null;
    }
}

function unnamed(root: string, path: Buffer): RemitError {
    return new RemitError({
        kind: "denied",
        message: `the sandbox cannot hide '${path.toString()}' in the folder '${root}': the name is not UTF-8`,
        hint: "rename it, or grant a smaller folder",
    });
}

function unlisted(root: string, folder: Buffer, code: string): RemitError {
    return new RemitError({
        kind: "denied",
        message: `the sandbox cannot look for folders ${OWN} in the folder '${root}': listing '${folder.toString().slice(0, 500)}' fails (${code})`,
        hint: "make it readable, or grant a smaller folder",
    });
}

function tooMuch(root: string, what: string): RemitError {
    return new RemitError({
        kind: "denied",
        message: `the folder '${root}' holds more than ${what}, so the sandbox cannot hide those of other projects in it`,
        hint: "grant a smaller folder",
    });
}
