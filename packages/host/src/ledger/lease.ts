/**
 * Who owns a run: one process at a time, or an execution of a shell elsewhere.
 *
 * Boundary: identity and liveness of owners. Taking and losing a lease is the store's transaction.
 *
 * O1: on the same machine a lease is live exactly while its process lives (pid and start time, so that a reused pid does not count). Where the system
 *     does not say a part of that, for want of a free handle, the parts that are known count.
 * O2: of another machine only the heartbeat is known: live while younger than `STALE_MS`.
 * O4: in a ledger that several machines share, a machine is known by its name and by when it was started.
 * O3: an owner with a name is live until it lets go of the run or another owner takes the run from it: it may have several processes, or none for a
 *     while, and only its shell knows whether it goes on.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Between heartbeats of an owner, milliseconds. */
export const BEAT_MS = 10_000;
/** Age of a heartbeat after which a lease of another machine is over, milliseconds. */
export const STALE_MS = 60_000;

export interface ProcessOwner {
    readonly host: string;
    readonly pid: number;
    /** When the process started, in the words of the operating system; empty where it does not say. */
    readonly start: string;
    /** Tells two owners in one process apart. */
    readonly nonce: string;
}

/** An execution elsewhere, by the name that its shell gives it. */
export interface NamedOwner {
    readonly by: string;
}

export type Owner = ProcessOwner | NamedOwner;

/** This machine, and on Linux the process namespace: a pid means something only there. */
function here(): string {
    if (process.platform !== "linux") return hostname();
    try {
        return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        return hostname();
    }
}

export function thisOwner(): ProcessOwner {
    return { ...thisProcess(), nonce: randomBytes(6).toString("hex") };
}

let known: Omit<ProcessOwner, "nonce"> | null = null;

/** Looked up once: every run asks for it, and three files of the system take as long as the rest of a short run's beginning (`bench/`, `durable`). */
function thisProcess(): Omit<ProcessOwner, "nonce"> {
    if (known !== null) return known;
    const found = { host: here(), pid: process.pid, start: startOf(process.pid) ?? "" };
    // Else the system may have said less for want of a free handle, and says more the next time.
    const isWhole = process.platform !== "linux" || (found.host !== hostname() && bootIn(found.start) !== "");
    if (found.start !== "" && isWhole) known = found;
    return found;
}

/** After a restart of the machine another process may have the same pid at the same time since boot. Empty where the system does not say. */
function boot(): string {
    try {
        return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        return "";
    }
}

/** Start time of a process, or null where there is none of that pid. */
export function startOf(pid: number): string | null {
    if (process.platform === "linux") {
        try {
            const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
            const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
            // A zombie holds nothing any more. Field 22 of proc_pid_stat(5) is the start time in clock ticks since boot.
            if (fields[0] === "Z" || fields[0] === "X") return null;
            return `${fields[19] ?? ""} ${boot()}`;
        } catch (error) {
            const code = (error as NodeJS.ErrnoException).code;
            return code === "ENOENT" || code === "ESRCH" ? null : "";
        }
    }
    try {
        process.kill(pid, 0);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ESRCH") return null;
    }
    if (process.platform === "win32") return "";
    try {
        // Not imported above: most systems never come here, and loading it would make every command start later.
        const { execFileSync } = process.getBuiltinModule("node:child_process");
        return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
        // No such tool: the pid alone has to do.
        return "";
    }
}

export function isLive(owner: Owner, beat: number, now: number): boolean {
    if ("by" in owner) return true;
    if (owner.host !== thisProcess().host) return now - beat < STALE_MS;
    const start = startOf(owner.pid);
    if (start === null) return false;
    return start === "" || owner.start === "" || isSameStart(start, owner.start);
}

/** O1: two starts of one process, of which either may lack when the system started. */
function isSameStart(one: string, other: string): boolean {
    const [boot, otherBoot] = [bootIn(one), bootIn(other)];
    if (boot !== "" && otherBoot !== "") return one === other;
    return ticksIn(one) === ticksIn(other);
}

function ticksIn(start: string): string {
    return start.slice(0, start.indexOf(" "));
}

/**
 * The same where owners on several machines share a ledger: two machines may have one name, so that a process id says something only within one
 * start of the system. `stale`: age of a heartbeat after which the lease of another machine is over, milliseconds.
 */
export function isLiveAnywhere(owner: Owner, beat: number, now: number, stale: number): boolean {
    if ("by" in owner) return true;
    const { host, start } = thisProcess();
    const isThisMachine = owner.host === host && start !== "" && bootIn(owner.start) === bootIn(start);
    return isThisMachine ? isLive(owner, beat, now) : now - beat < stale;
}

function bootIn(start: string): string {
    return start.slice(start.indexOf(" ") + 1);
}

export function parseOwner(text: string | null): Owner | null {
    if (text === null) return null;
    const json = JSON.parse(text) as Partial<ProcessOwner & NamedOwner>;
    if (typeof json.by === "string") return { by: json.by };
    if (typeof json.host !== "string" || typeof json.pid !== "number" || typeof json.start !== "string" || typeof json.nonce !== "string")
        return null;
    return { host: json.host, pid: json.pid, start: json.start, nonce: json.nonce };
}

/** In words. */
export function shownOwner(owner: Owner): string {
    return "by" in owner ? owner.by : `process ${owner.pid} on ${owner.host}`;
}
