/**
 * Remit's own folders (`.remit`) below a folder that a sandbox shows: those of other projects too, with their ledgers, keys and tokens.
 *
 * Boundary: looks for them; the sandbox hides them.
 *
 * OWF1: each one is found, however deep it lies, also in what packages brought, and so is a folder inside to which a link of that name leads.
 * OWF2: names are bytes here. A folder of that name that no text leads to cannot be hidden, so it is an error.
 * OWF3: where there is too much to look at, that is an error: what was not looked at is not shown.
 */
import { isUtf8 } from "node:buffer";
import { readdir, realpath, stat } from "node:fs/promises";
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

/** Those below `root`, which may be a file or absent: absolute, links followed, none inside another, in a fixed order. */
export async function ownFolders(root: string, most = MAX_ENTRIES): Promise<readonly string[]> {
    const found = new Set<string>();
    const folders = [Buffer.from(root)];
    let seen = 0;
    for (let some = folders.splice(0, AT_ONCE); some.length > 0; some = folders.splice(0, AT_ONCE))
        for (const { folder, entries } of await Promise.all(some.map(entriesOf))) {
            seen += entries.length;
            for (const entry of entries) {
                const path = Buffer.concat([folder, SEPARATOR, entry.name]);
                if (isOwn(entry.name.toString())) {
                    const own = entry.isDirectory() ? path : entry.isSymbolicLink() ? await behind(path, root) : null;
                    if (own !== null && !isUtf8(own)) throw unnamed(root, own);
                    if (own !== null) found.add(own.toString());
                } else if (entry.isDirectory()) folders.push(path);
            }
            if (seen > most || found.size > MAX_FOUND)
                throw tooMuch(root, seen > most ? `${most} files and folders` : `${MAX_FOUND} folders ${OWN}`);
        }
    return [...found].filter((one) => !ancestors(one).some((outer) => found.has(outer))).sort();
}

async function entriesOf(folder: Buffer) {
    try {
        return { folder, entries: await readdir(folder, { withFileTypes: true, encoding: "buffer" }) };
    } catch {
        // A file, or a folder that is gone or that this user cannot read; the agent has no more rights than the user.
        return { folder, entries: [] };
    }
}

/** The folder to which a link leads, if it lies in `root`: what is outside is not shown anyway. */
async function behind(link: Buffer, root: string): Promise<Buffer | null> {
    try {
        const real = await realpath(link, { encoding: "buffer" });
        const above = root.endsWith(sep) ? root : root + sep;
        return real.toString().startsWith(above) && (await stat(real)).isDirectory() ? real : null;
    } catch {
        // It leads nowhere.
        return null;
    }
}

function ancestors(path: string): string[] {
    const parts = path.split(sep);
    return parts.slice(1, -1).map((_, i) => parts.slice(0, i + 2).join(sep));
}

function unnamed(root: string, path: Buffer): RemitError {
    return new RemitError({
        kind: "denied",
        message: `the sandbox cannot hide '${path.toString()}' in the folder '${root}': the name is not UTF-8`,
        hint: "rename it, or grant a smaller folder",
    });
}

function tooMuch(root: string, what: string): RemitError {
    return new RemitError({
        kind: "denied",
        message: `the folder '${root}' holds more than ${what}, so the sandbox cannot hide those of other projects in it`,
        hint: "grant a smaller folder",
    });
}
