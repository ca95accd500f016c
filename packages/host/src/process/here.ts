/**
 * What this process was given from outside: its environment, its current folder and its user.
 *
 * Boundary: the one file of the host that reads them. Every other file is given a value.
 *
 * HE1: the command line and the entries of the library call it, once a process. What comes of it is passed on as `Process` (`process.ts`).
 */
import { userInfo } from "node:os";
import { isAbsolute } from "node:path";
import type { Environment } from "../ledger/place.ts";

export interface Surroundings {
    /** Has `HOME`, absolute, under which the user's own folders are found. */
    readonly env: Environment;
    /** Absolute: where relative paths begin. */
    readonly cwd: string;
    /** On whose behalf runs are started and questions answered: `os:UID`. */
    readonly user: string;
}

export function fromThisProcess(): Surroundings {
    const { HOME: home } = process.env;
    return {
        // An empty or relative one would take configuration and keys from the present folder, whose files may be another user's.
        env: home !== undefined && isAbsolute(home) ? process.env : { ...process.env, HOME: userInfo().homedir },
        cwd: process.cwd(),
        user: `os:${process.getuid?.() ?? userInfo().username}`,
    };
}
