/**
 * Files that the arguments of a configured command name, and what has to be seen beside them for the command to run in a sandbox.
 *
 * Boundary: looks at files; which commands there are is `uri.ts` and `acp.ts`.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isInside } from "../skill/files.ts";
import type { AgentsContext } from "./agents.ts";

/** Absolute path of an argument that names a file or folder of the configuration's own; null for every other. */
export function fileFrom(base: string, arg: string, folder: string): string | null {
    const path = resolve(base, arg);
    if (!existsSync(path)) return null;
    return isInside(realpathSync(path), realpathSync(folder)) ? path : null;
}

/** The packages that a program in a folder may import, and what says how it is to be read: of the nearest folder upward that has them. */
export function packagesOf(folder: string): string[] {
    const near: string[] = [];
    for (let at = folder; near.length === 0 && dirname(at) !== at; at = dirname(at))
        near.push(...["node_modules", "package.json"].map((name) => join(at, name)).filter((one) => existsSync(one)));
    return near;
}

/**
 * What must be seen so that a server finds what an argument names: of a file its folder, of a folder itself; with the packages that it may import,
 * and what says how it is to be read. A folder that holds what the program works on is not shown for that: of it the file alone is.
 */
export function besideOf(path: string, { workspace, root }: Pick<AgentsContext, "workspace" | "root">): string[] {
    const holds = (folder: string): boolean => [workspace, ...(root === undefined ? [] : [root])].some((one) => isInside(one, folder));
    if (statSync(path).isDirectory()) return holds(path) ? [] : [path];
    const folder = dirname(path);
    return [holds(folder) ? path : folder, ...packagesOf(folder)];
}
