/**
 * Answers to questions that were given and are not used yet: an empty file each in the user's state folder.
 *
 * Boundary: file names. What an answer is bound to is `asks.ts`.
 *
 * AU1: an answer is used by the ledger that removes its file first. A copy of the ledger, and a ledger whose state folder is missing, ask again.
 */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { privateFile } from "./place.ts";

export interface Unused {
    /** `seal`: of the answer, in hexadecimal digits. */
    keep(seal: string): void;
    /** True for the first who takes it. */
    take(seal: string): boolean;
}

/** `folder`: absolute, made when the first answer is given. */
export function unusedIn(folder: string): Unused {
    const fileOf = (seal: string): string => join(folder, seal);
    return {
        keep: (seal) => void privateFile(fileOf(seal)),
        take: (seal) => {
            try {
                unlinkSync(fileOf(seal));
                return true;
            } catch (error) {
                if ((error as NodeJS.ErrnoException).code !== "ENOENT" && (error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
                return false;
            }
        },
    };
}
