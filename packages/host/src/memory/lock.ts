/** The lock of a memory's file, in the words of tools. */
import { LockError, withFileLock } from "../process/lock.ts";
import { ToolFail } from "../tool/tool.ts";

export async function withLock<T>(path: string, signal: AbortSignal, work: () => T): Promise<T> {
    try {
        return await withFileLock(path, { signal }, work);
    } catch (error) {
        if (!(error instanceof LockError)) throw error;
        if (error.code === "cancelled") throw new ToolFail(error.message, { kind: "cancelled" });
        throw new ToolFail(error.message, { kind: "unreachable", hint: "remove that file if no run uses the memory" });
    }
}
