/**
 * Where the folder of a `file:` tool is.
 *
 * Boundary: from a URI to a path; what may be reached in it is the jail's.
 */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "../skill/files.ts";

/** The folder of a `file:` tool, absolute: as it is written, and links followed. Null: it is none, is not there, or is a link out of the workspace. */
export function rootOf(uri: string, workspace: string): { readonly root: string; readonly real: string } | null {
    const below =
        /^file:\/\/workspace(?:\/(.*))?$/.exec(uri)?.[1] ?? (uri === "file://workspace" ? "" : /^file:(?!\/)(.+)$/.exec(uri)?.[1]);
    if (below === undefined) return null;
    const root = resolve(workspace, below);
    const [real, whole] = [realOf(root), realOf(workspace)];
    return real === null || whole === null || !isInside(real, whole) ? null : { root, real };
}

export function realOf(path: string): string | null {
    try {
        return realpathSync(path);
    } catch {
        // It is not there: nothing can be reached through it.
        return null;
    }
}
