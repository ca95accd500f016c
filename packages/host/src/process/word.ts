/**
 * Texts as words of a POSIX shell: in commands that are run, and in commands that a person is told to type, from whatever author the text comes.
 *
 * Boundary: text only.
 */

/** The word that a shell reads as this text. */
export function shellWord(text: string): string {
    return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
