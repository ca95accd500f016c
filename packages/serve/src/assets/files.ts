/**
 * What the server gives away as it stands: the console, the script for pages, the program of a turn, and the libraries that the console uses.
 *
 * Boundary: names to files. A checkout and the published package have them beside their sources; the bundle of the command has copies in one folder.
 */

/** Below this package: files, and folders with all that is in them. */
export const ASSETS: readonly string[] = ["console", "page", "src/brain/brain.remit", "src/wire/refusal.ts"];

/** Set where the command is bundled: the folder of the copies, seen from the bundle. */
declare const REMIT_ASSETS: string;
const COPIES = typeof REMIT_ASSETS === "string" ? new URL(REMIT_ASSETS, import.meta.url) : null;

/** The libraries of the console: the name in an import → the name of the copy, and the file that it is a copy of. */
const LIBRARIES: { readonly [name: string]: { readonly copy: string; readonly file: () => URL } } = {
    preact: { copy: "console/preact.mjs", file: () => new URL(import.meta.resolve("preact")) },
    "preact/hooks": { copy: "console/hooks.mjs", file: () => new URL(import.meta.resolve("preact/hooks")) },
    // What the console takes of the language stands in one of its files.
    "@remit/language": { copy: "console/language.ts", file: () => beside(import.meta.resolve("@remit/language"), "text/plain") },
};

export const LIBRARY_NAMES: readonly string[] = Object.keys(LIBRARIES);

/** `name`: a path below this package, such as `console/index.html`. */
export function asset(name: string): URL {
    return COPIES === null ? new URL(`../../${name}`, import.meta.url) : new URL(name, COPIES);
}

/** Null where the console uses no library of this name. */
export function library(name: string): { readonly copy: string; readonly file: URL } | null {
    const found = Object.hasOwn(LIBRARIES, name) ? LIBRARIES[name] : undefined;
    if (found === undefined) return null;
    return { copy: found.copy, file: COPIES === null ? found.file() : new URL(found.copy, COPIES) };
}

/** The file named beside the entry of a package, with the entry's ending: sources in a checkout, JavaScript as published. */
function beside(entry: string, name: string): URL {
    return new URL(`${name}.${entry.slice(entry.lastIndexOf(".") + 1)}`, entry);
}
