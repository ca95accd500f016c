/**
 * What an error of the system is, in words that a person can act on.
 *
 * Boundary: told apart by codes, never by the words of a message, which may name a path; knows neither files nor what was done with them.
 */

/** By Node's codes (`errno`). */
export const SYSTEM_WORDS: { readonly [code: string]: string | undefined } = {
    ENOENT: "there is no such file",
    EACCES: "permission denied",
    EPERM: "not permitted",
    EISDIR: "this is a folder",
    ENOTDIR: "a part of the path is not a folder",
    ENOSPC: "the disk is full",
    EDQUOT: "this user's part of the disk is full",
    EROFS: "the disk is read-only",
    EMFILE: "too many open files",
    ELOOP: "its links lead in a circle",
};

/** One that has no words is told by its code. */
export function systemWords(error: unknown): string {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === undefined ? message : (SYSTEM_WORDS[code] ?? code);
}
