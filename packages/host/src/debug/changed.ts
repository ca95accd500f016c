/**
 * Files of a recorded program that are another text now: their lines are not the ones that ran.
 *
 * Boundary: reads the program's folder. What is said of it, the caller says.
 *
 * CHF1: a file that was written since the run began, and gives another form, has changed. So does one that was written since and cannot be compiled.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { canonicalJson, type Json, type Program } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import type { LedgerStore, RunInfo } from "../ledger/store.ts";
import { loadProgram } from "../load/load.ts";
import type { Surroundings } from "../process/here.ts";

/** Names of the files, as the record has them. */
export async function changedFiles(store: LedgerStore, info: RunInfo, here: Surroundings): Promise<readonly string[]> {
    if (info.root === "") return [];
    const { files } = await store.program(info.program);
    const began = Date.parse(info.started);
    const written = files.filter(({ file }) => {
        const found = statSync(resolve(info.root, file), { throwIfNoEntry: false });
        return found?.isFile() === true && found.mtimeMs > began;
    });
    if (written.length === 0) return [];
    const now = await programNow(info, here);
    const formOf = (file: string): string => canonicalJson((now?.files.find((one) => one.file === file) ?? null) as unknown as Json);
    return written.filter((one) => canonicalJson(one as unknown as Json) !== formOf(one.file)).map(({ file }) => file);
}

/** Null where it cannot be compiled. */
async function programNow({ file, root }: RunInfo, here: Surroundings): Promise<Program | null> {
    try {
        return (await loadProgram({ path: resolve(root, file) }, { root, here, cache: false })).program;
    } catch (error) {
        if (error instanceof RemitError) return null;
        throw error;
    }
}
