/**
 * Where a command is, in the words of an environment.
 *
 * Boundary: looks at files; starts nothing.
 */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../ledger/place.ts";

/** Absolute path of a command: as a path from a folder, or by the search path. Null where there is none. */
export function findCommand(command: string, folder: string, env: Environment): string | null {
    if (command.includes("/") || (process.platform === "win32" && command.includes("\\"))) {
        const path = isAbsolute(command) ? command : resolve(folder, command);
        return existsSync(path) ? path : null;
    }
    const ends = process.platform === "win32" ? (env.PATHEXT ?? ".EXE;.CMD").split(";") : [""];
    for (const place of (env.PATH ?? "").split(delimiter))
        for (const end of ends) {
            const path = join(place, command + end);
            if (isAbsolute(path) && isProgram(path)) return path;
        }
    return null;
}

export function isProgram(path: string): boolean {
    try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
    } catch {
        // Not there, or not to be run: the next place is looked at.
        return false;
    }
}
