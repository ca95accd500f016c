/**
 * What the code of a verb does, by the name that the program wrote.
 *
 * Boundary: text for people. The record, paths and origins keep the name of the import that the verb's code uses: what is copied from them must hold.
 */

/** As the verbs' own entries say; a test holds the two together. */
const VERB_OF: ReadonlyMap<string, string> = new Map([
    ["Verb_files.read", "read"],
    ["Verb_files.write", "save"],
    ["Verb_web.call", "fetch"],
]);

/** URI of the tools that clients of a server lend. */
export const LENT = "host:lent";

/**
 * `Verb_files.write` is `save`, `Lent.desk_3fa2b1__click` is `click (lent by desk-3fa2b1)` where `uri`, of the import, says that it is lent; every other
 * use is as it is: `Mail.send`.
 */
export function shownUse(use: string, uri = ""): string {
    const lent = uri === LENT ? /^[^.]*\.(.+?)__(.+)$/s.exec(use) : null;
    if (lent !== null) return `${lent[2]} (lent by ${(lent[1] as string).replaceAll("_", "-")})`;
    return VERB_OF.get(use) ?? /^Verb_(.+)\.call$/s.exec(use)?.[1] ?? use;
}

/** What is imported: `verbs` for what their code imports, which several of them may share. */
export function shownImport(name: string): string {
    return name.startsWith("Verb_") ? "verbs" : name;
}
