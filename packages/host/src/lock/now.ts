/**
 * What a program's lock is now, the tools asked, and whether that is what is pinned.
 *
 * Boundary: opens tools to ask them; what is compared and how is `lock.ts` and `tools.ts`.
 */
import type { Json } from "@remit/language";
import { RemitError, type RunFailure } from "../failure/error.ts";
import type { Loaded } from "../load/load.ts";
import type { Process } from "../process/process.ts";
import { LOCK_FILE, lockChanges, lockOf, type LockSetting, type ProgramLock, readLock } from "./lock.ts";
import { knownSecrets } from "../secret/known.ts";
import { type Said, toolsOf } from "./tools.ts";

/**
 * `said`: takes what the digests of tools are of, except what holds a known secret: servers put their environment into their words. Throws `RemitError` with the import's site where an agent cannot be found or a tool cannot be asked.
 */
export async function lockNow(
    loaded: Pick<Loaded, "program" | "root" | "skills">,
    setting: LockSetting & { readonly process?: Process },
    said?: Said,
): Promise<ProgramLock> {
    const own = lockOf(loaded, setting);
    const { createTools } = await import("../tool/tools.ts");
    const known = knownSecrets(setting.env, setting.config);
    const tools = createTools(setting.config, { ...setting, root: loaded.root, secrets: known });
    const words: Said = new Map();
    try {
        const now = await toolsOf(loaded.program, tools, words);
        for (const [digest, one] of words) if (known.scrub(one) === one) said?.set(digest, one);
        return { ...own, tools: now };
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        throw new RemitError(known.scrub(error.failure as unknown as Json) as unknown as RunFailure);
    } finally {
        await tools.close();
    }
}

/** L4. Throws `RemitError` `denied`. */
export async function checkFrozen(
    loaded: Pick<Loaded, "program" | "root" | "skills" | "file">,
    setting: LockSetting & { readonly process?: Process },
): Promise<void> {
    const now = await lockNow(loaded, setting);
    const lock = loaded.root === "" ? null : readLock(loaded.root);
    const [first] = lockChanges(lock?.programs[loaded.file], now).filter(({ change }) => change !== "gone");
    if (first === undefined) return;
    const { what, change, differs } = first;
    const why =
        change === "changed"
            ? `is not what ${LOCK_FILE} says: ${differs.join("; ")}`
            : lock === null
              ? `is not pinned: there is no ${LOCK_FILE}`
              : `is not pinned in ${LOCK_FILE}`;
    throw new RemitError({ kind: "denied", message: `${what} ${why}`, hint: `look at it, then: remit lock ${loaded.file}` });
}
