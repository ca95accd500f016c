/**
 * The file that a user named as the program: what to write in its place where it cannot be read.
 *
 * Boundary: reads names of one folder, no contents.
 */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ReadResult } from "./tree.ts";
import { unreadable } from "./texts.ts";

const PROGRAM = /\.(?:remit|as)$/;
/** Names that one message shows. */
const SHOWN = 5;

/** `path`: absolute; `written`: as the user wrote it. */
export function noEntry(read: Extract<ReadResult, { ok: false }>, path: string, written: string): Error {
    return unreadable(read.message, null, hintOf(read.why, path, written));
}

function hintOf(why: string, path: string, written: string): string | undefined {
    if (why === "folder") return there(path, written);
    if (why !== "missing") return undefined;
    const folder = dirname(path);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return `there is no folder ${dirname(written)}`;
    const whole = programsIn(folder).find((name) => name.replace(PROGRAM, "") === basename(path));
    return whole === undefined ? there(folder, dirname(written)) : `write ${join(dirname(written), whole)}`;
}

/** What there is in the folder. */
function there(folder: string, written: string): string {
    const names = programsIn(folder).map((name) => join(written, name));
    if (names.length === 0) return "that folder has no program; `remit init NAME` makes a project that runs";
    const [first] = names;
    if (names.length === 1) return `write ${first}`;
    return `name a file: ${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? `, and ${names.length - SHOWN} more` : ""}`;
}

function programsIn(folder: string): string[] {
    try {
        return readdirSync(folder)
            .filter((name) => PROGRAM.test(name))
            .sort();
    } catch {
        // A folder that may be entered and not listed: no name of it is told.
        return [];
    }
}
