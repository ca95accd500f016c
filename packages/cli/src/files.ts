/**
 * Files that a command is given: of several, one that cannot be read keeps no other from its turn; what is kept is written whole or not at all.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { showError } from "./failure.ts";
import { paint, plain, say, UsageError } from "./io.ts";

/** Does `work` for each file; what it throws is shown. True where it threw. */
export async function eachFile(files: readonly string[], work: (file: string) => void | Promise<void>): Promise<boolean> {
    // one file alone keeps its exit code
    if (files.length === 1) {
        await work(files[0] as string);
        return false;
    }
    let failed = false;
    for (const file of files) {
        try {
            await work(file);
        } catch (error) {
            failed = true;
            if (error instanceof UsageError) say(`${paint(process.stderr)("red", "error")}: ${plain(error.message)}`);
            else showError(error);
        }
    }
    return failed;
}

/** A full disk leaves what was there. Throws `UsageError` for a link: one that came with a project would lead the write elsewhere. */
export function writeWhole(file: string, text: string): void {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) throw new UsageError(`${file} is a link, and is not written through`, "name the file that it leads to");
    const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
    try {
        writeFileSync(draft, text, { flag: "wx", mode: stat === undefined ? 0o666 : stat.mode & 0o777 });
        renameSync(draft, file);
    } catch (error) {
        rmSync(draft, { force: true });
        throw error;
    }
}
