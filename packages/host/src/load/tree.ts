/**
 * The program's tree of files: what a program may read while it is loaded, and how its files are named.
 *
 * Boundary: paths and bytes; knows nothing of what is in the files.
 *
 * R1: a file is read only if its real path (links followed) is inside the root or inside a granted folder.
 * R2: a file's name is its path from the root with `/`, the same on every system.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isUtf16 } from "@remit/language";
import { systemWords } from "../failure/system.ts";

export interface ProgramTree {
    /** Absolute, links followed. */
    readonly root: string;
    /** Name of an absolute path. */
    nameOf(path: string): string;
    /** Absolute path of `name` as written in the file called `from` (null: from the root). */
    pathOf(name: string, from: string | null): string;
    read(path: string): ReadResult;
    /** Where a path leads, without reading it. A path that does not exist is judged by the folder it would be in. */
    look(path: string): "inside" | "outside";
}

export type ReadResult =
    | { readonly ok: true; readonly text: string; readonly path: string }
    | {
          readonly ok: false;
          readonly why: "missing" | "outside" | "folder" | "not text" | "too large" | "unreadable";
          readonly message: string;
      };

/** Largest file a program may import, bytes. */
export const MAX_FILE = 64 * 1024 * 1024;

/** Where a tree begins by default: the nearest folder upward that holds `remit.json`, `.remit` or `.git`, else the file's own. */
export function findRoot(file: string): string {
    const own = dirname(resolve(file));
    for (let at = own; ; at = dirname(at)) {
        for (const mark of ["remit.json", ".remit", ".git"])
            if (statSync(join(at, mark), { throwIfNoEntry: false }) !== undefined) return at;
        if (at === dirname(at)) return own;
    }
}

export function programTree(root: string, grants: readonly string[] = []): ProgramTree {
    const real = realpathSync(resolve(root));
    const allowed = [real, ...grants.map((one) => realpathOr(resolve(real, one)))];
    const nameOf = (path: string): string => relative(real, path).split(sep).join("/");
    const permitted = (found: string): boolean => allowed.some((folder) => inside(found, folder));
    return {
        root: real,
        nameOf,
        pathOf: (name, from) => {
            const written = name.startsWith("file://") ? name.slice(7) : name;
            return isAbsolute(written) ? resolve(written) : resolve(real, from === null ? "." : dirname(from), written);
        },
        read: (path) => {
            const shown = nameOf(path) || path;
            let found: string;
            try {
                found = realpathSync(path);
            } catch (error) {
                const code = (error as NodeJS.ErrnoException).code;
                if (code === "ENOENT" || code === "ENOTDIR") return { ok: false, why: "missing", message: `there is no file ${shown}` };
                return { ok: false, why: "unreadable", message: `${shown} cannot be read: ${systemWords(error)}` };
            }
            if (!permitted(found)) return { ok: false, why: "outside", message: `${shown} is outside the program's tree ${real}` };
            const stat = statSync(found);
            if (stat.isDirectory()) return { ok: false, why: "folder", message: `${shown} is a folder` };
            // A pipe would be waited for, and nothing could end that.
            if (!stat.isFile()) return { ok: false, why: "unreadable", message: `${shown} is not a regular file` };
            if (stat.size > MAX_FILE)
                return { ok: false, why: "too large", message: `${shown} has ${stat.size} bytes, at most ${MAX_FILE} can be imported` };
            let bytes: Buffer;
            try {
                bytes = readFileSync(found);
            } catch (error) {
                return { ok: false, why: "unreadable", message: `${shown} cannot be read: ${systemWords(error)}` };
            }
            // Its mark is no UTF-8; without one its letters are letters and zeros in UTF-8.
            if (isUtf16(bytes)) return { ok: false, why: "not text", message: `${shown} is UTF-16 text: save it as UTF-8` };
            try {
                // A byte order mark is dropped by the decoder.
                return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), path: found };
            } catch {
                // The decoder's one failure: the bytes are not UTF-8.
                return { ok: false, why: "not text", message: `${shown} is not UTF-8 text` };
            }
        },
        look: (path) => {
            for (let at = path; ; at = dirname(at)) {
                const found = statSync(at, { throwIfNoEntry: false }) === undefined ? null : realpathSync(at);
                if (found !== null) return permitted(join(found, relative(at, path))) ? "inside" : "outside";
                if (at === dirname(at)) return "outside";
            }
        },
    };
}

function inside(path: string, folder: string): boolean {
    const from = relative(folder, path);
    return from === "" || (!isAbsolute(from) && from !== ".." && !from.startsWith(`..${sep}`));
}

function realpathOr(path: string): string {
    return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
}
