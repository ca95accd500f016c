/**
 * Rollback journals that came with a database file of another author.
 *
 * Boundary: looks at the end of one file. The code that opens the database refuses it.
 *
 * JO1: a journal may end in the name of a "super-journal" (SQLite file format, section 3: written only where a transaction spans several databases).
 *     A program that opens the database rolls back, and SQLite then removes the file of that name, whatever it is (3.40 does; 3.53 no longer). Remit
 *     writes to one database at a time, so that such an end was made by another program.
 */
import { closeSync, fstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";

/** The eight bytes with which the name of a super-journal ends, which are those with which a journal begins. */
const MAGIC = "d9d505f920a163d7";

/** The database at `path` has a journal that names a file to be removed. */
export function hasStrangeJournal(path: string): boolean {
    const real = statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
    const journal = `${real}-journal`;
    const stat = statSync(journal, { throwIfNoEntry: false });
    if (stat?.isFile() !== true || stat.size < MAGIC.length / 2) return false;
    const fd = openSync(journal, "r");
    try {
        const end = Buffer.alloc(MAGIC.length / 2);
        readSync(fd, end, 0, end.length, fstatSync(fd).size - end.length);
        return end.toString("hex") === MAGIC;
    } finally {
        closeSync(fd);
    }
}
