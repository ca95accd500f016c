/**
 * Files and streams that a command reads as text.
 *
 * TE1: what is not UTF-8 is refused: read otherwise it would be changed without a word, and lost where it is written back.
 * A byte order mark is dropped.
 */
import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync, statSync } from "node:fs";
import { isUtf16 } from "@remit/language";
import { plain, UsageError } from "./io.ts";

/** The text of a file. Throws Node's errors where it cannot be read, `UsageError` where it is a folder or no text. */
export function readText(file: string): string {
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${plain(file)} is a folder`, "name a file");
    return decoded(readFileSync(file), file);
}

/** An argument of the command line. Node has put U+FFFD where its bytes were not UTF-8; the bytes themselves, Linux alone tells. */
export function argument(text: string, from: string): string {
    const isChanged = text.includes("\uFFFD") && existsSync(OWN_ARGUMENTS) && !isUtf8(readFileSync(OWN_ARGUMENTS));
    if (isChanged) throw notText(from);
    return text;
}

/** See proc_pid_cmdline(5). */
const OWN_ARGUMENTS = "/proc/self/cmdline";

function notText(from: string): UsageError {
    return new UsageError(`${plain(from)} is not UTF-8 text`, "it is a binary file, or in another encoding");
}

/** `from`: what the bytes are called in the message. */
export function decoded(bytes: ArrayBuffer | Uint8Array, from: string): string {
    if (isUtf16(new Uint8Array(bytes))) throw new UsageError(`${plain(from)} is UTF-16 text`, "save it as UTF-8");
    try {
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch (error) {
        // the decoder's one failure
        if (!(error instanceof TypeError)) throw error;
        throw notText(from);
    }
}
