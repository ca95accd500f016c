/**
 * Commands that take several files: one that cannot be read keeps no other from its turn.
 */
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
