/**
 * Whether a process lives, and whether it is still the one that had its id.
 *
 * Boundary: asks the operating system; starts nothing but `ps`, on macOS.
 *
 * LV1: a process counts as gone only where the system says so itself: it knows no process of that id, or a zombie, or one that began at another
 *      time. Files that are not to be had (no `/proc`, one that hides what belongs to others, one of another process namespace) say nothing.
 * LV2: what is known of the beginning of a process is compared in its parts; a part that one of two lacks says nothing.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** What the operating system is asked. Each throws what the system says. */
export interface System {
    readonly platform: string;
    readonly read: (path: string) => string;
    readonly link: (path: string) => string;
    readonly signal: (pid: number) => void;
    /** When a process began, as `ps` writes it. */
    readonly listed: (pid: number) => string;
}

export const SYSTEM: System = {
    platform: process.platform,
    read: (path) => readFileSync(path, "latin1"),
    link: (path) => readlinkSync(path),
    signal: (pid) => process.kill(pid, 0),
    listed: (pid) => {
        // Not imported above: most systems never come here, and loading it would make every command start later.
        const { execFileSync } = process.getBuiltinModule("node:child_process");
        // The words follow from language and time zone, which two processes need not share.
        const env = { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" };
        return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    },
};

/** This machine, and on Linux the process namespace: a pid means something only there. `isWhole`: the system said all of it. */
export function machine(system: System = SYSTEM): { readonly name: string; readonly isWhole: boolean } {
    if (system.platform !== "linux") return { name: hostname(), isWhole: true };
    const namespace = said(() => system.link("/proc/self/ns/pid"));
    return namespace === "" ? { name: hostname(), isWhole: false } : { name: `${hostname()} ${namespace}`, isWhole: true };
}

/** When a process began, in the words of the system: empty where it does not say, null where there is no process of that id (LV1). */
export function startOf(pid: number, system: System = SYSTEM): string | null {
    const found = system.platform === "linux" ? statOf(pid, system) : "";
    if (found !== "") return found;
    if (isGone(pid, system)) return null;
    // Elsewhere the words move when the clock of the machine is set, so that the id alone has to do.
    return system.platform === "darwin" ? said(() => system.listed(pid)).trim() : "";
}

/** Whether a process lives and is the one that began at `start` (LV1, LV2). */
export function isLivingSince(pid: number, start: string, system: System = SYSTEM): boolean {
    const now = startOf(pid, system);
    if (now === null) return false;
    if (now === "" || start === "") return true;
    if (bootIn(now) !== "" && bootIn(start) !== "") return now === start;
    return ticksIn(now) === ticksIn(start);
}

/** When the system itself was started; empty where it is not known. */
export function bootIn(start: string): string {
    return start.slice(start.indexOf(" ") + 1);
}

function ticksIn(start: string): string {
    return start.slice(0, start.indexOf(" "));
}

/** From `/proc`. Null: a zombie, which holds nothing any more. */
function statOf(pid: number, system: System): string | null {
    // In another process namespace the same id is another process.
    if (said(() => system.link("/proc/self")) !== String(process.pid)) return "";
    const stat = said(() => system.read(`/proc/${pid}/stat`));
    if (stat === "") return "";
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    // Field 22 of proc_pid_stat(5) is the start time in clock ticks since boot. After a restart of the machine another process may have the same
    // id at the same time since boot.
    return `${fields[19] ?? ""} ${said(() => system.read("/proc/sys/kernel/random/boot_id")).trim()}`;
}

function isGone(pid: number, system: System): boolean {
    try {
        system.signal(pid);
        return false;
    } catch (error) {
        // EPERM: it lives, as another user's.
        return (error as NodeJS.ErrnoException).code === "ESRCH";
    }
}

/** Empty where the system does not say: no such file, no such tool, no right, no free handle. */
function said(ask: () => string): string {
    try {
        return ask();
    } catch (error) {
        // A tool that says no has a status; anything else is a mistake of ours.
        const { code, status } = error as NodeJS.ErrnoException & { readonly status?: number | null };
        if (code === undefined && status === undefined) throw error;
        return "";
    }
}
