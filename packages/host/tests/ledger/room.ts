/** A small file system in memory, for what happens when a disk is full. */
import { spawnSync } from "node:child_process";

/** Throws where this process may mount none. */
export function mountRoom(folder: string, size: string): void {
    const { status, stderr, error } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { encoding: "utf8" });
    if (status === 0) return;
    throw new Error(
        `no file system can be mounted (${error?.message ?? stderr.trim()}): run this test as root, in a container with CAP_SYS_ADMIN`,
    );
}
