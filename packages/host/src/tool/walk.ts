/**
 * Walks a folder of the jail: sorted, without following links, without leaving it.
 *
 * Boundary: real paths and kinds. The order is that of names by UTF-16 units, the same on every system.
 */
import { type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Jail } from "./jail.ts";
import { fileProblem, ToolFail } from "./tool.ts";

export interface Entry {
    /** From the workspace, with `/`. */
    readonly path: string;
    readonly real: string;
    readonly kind: "file" | "dir";
}

/** Entries that are looked at before a walk gives up, and how often others get their turn. */
const MAX_VISITED = 1_000_000;
const PAUSE_EVERY = 2_000;

/**
 * Everything below `from` (absolute, links followed), folders before what is in them. What cannot be opened is left out. `unnamed`: takes the folder, from
 * the workspace, of each entry that is left out because no text is its name.
 */
export async function* walk(inside: Jail, from: string, signal: AbortSignal, unnamed: string[]): AsyncGenerator<Entry> {
    let visited = 0;
    const stack: string[] = [from];
    while (stack.length > 0) {
        const folder = stack.pop() as string;
        const below: string[] = [];
        for (const entry of entriesOf(folder)) {
            if (++visited > MAX_VISITED) throw new ToolFail(`more than ${MAX_VISITED} files and folders; search in a smaller folder`);
            if (visited % PAUSE_EVERY === 0) {
                await new Promise((resolve) => setImmediate(resolve));
                if (signal.aborted) throw new ToolFail("the search was cancelled", { kind: "cancelled" });
            }
            const real = join(folder, entry.name);
            if (!isNamed(real)) {
                unnamed.push(shownPath(inside, folder));
                continue;
            }
            const kind = entry.isFile() ? "file" : entry.isDirectory() ? "dir" : null;
            if (kind === null || !inside.holds(real)) continue;
            yield { path: shownPath(inside, real), real, kind };
            if (kind === "dir") below.push(real);
        }
        stack.push(...below.reverse());
    }
}

const shownPath = (inside: Jail, real: string): string => relative(inside.root, real).split(sep).join("/");

/** False for an entry that was listed, and cannot be reached by the name that was read: its bytes are not UTF-8. */
export function isNamed(listed: string): boolean {
    if (!listed.includes("\ufffd")) return true;
    try {
        return lstatSync(listed, { throwIfNoEntry: false }) !== undefined;
    } catch {
        // Three bytes stand for each that is not UTF-8: more than a name may have.
        return false;
    }
}

/** Names that a note has. */
const NAMED = 5;

/** `'a', 'b' and 3 more`. */
export function someOf(names: readonly string[]): string {
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
    const named = names.slice(0, NAMED).map((one) => `'${one}'`);
    return `${named.join(", ")}${more}`;
}

/** `folders`: from the workspace, once for each entry without a name. */
export function unnamedNote(folders: readonly string[]): string | null {
    if (folders.length === 0) return null;
    const places = [...new Set(folders)].map((one) => (one === "" ? "." : one));
    return `left out, as their names are not UTF-8: ${folders.length} in ${someOf(places)}`;
}

function entriesOf(folder: string): Dirent[] {
    try {
        // A folder that was exchanged for a link meanwhile is not what was found.
        if (realpathSync(folder) !== folder) return [];
        return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    } catch (error) {
        if (fileProblem(error) === null) throw error;
        return [];
    }
}
