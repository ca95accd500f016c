/**
 * Who owns a run: one process at a time, or an execution of a shell elsewhere.
 *
 * Boundary: identity and liveness of owners. Taking and losing a lease is the store's transaction.
 *
 * O1: on the same machine a lease is live exactly while its process lives (pid and start time, so that a reused pid does not count). Where the system
 *     does not say a part of that, the parts that are known count: no owner is dead because nothing is known of it (LV1 in `living.ts`).
 * O2: of another machine only the heartbeat is known: live while younger than `STALE_MS`.
 * O4: in a ledger that several machines share, a machine is known by its name and by when it was started.
 * O3: an owner with a name is live until it lets go of the run or another owner takes the run from it: it may have several processes, or none for a
 *     while, and only its shell knows whether it goes on.
 */
import { randomBytes } from "node:crypto";
import { bootIn, isLivingSince, machine, startOf, SYSTEM, type System } from "./living.ts";

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

export function thisOwner(): ProcessOwner {
    const { host, pid, start } = thisProcess();
    return { host, pid, start, nonce: randomBytes(6).toString("hex") };
}

type ThisProcess = Omit<ProcessOwner, "nonce"> & { readonly isWhole: boolean };

let known: ThisProcess | null = null;

/** Looked up once: every run asks for it, and three files of the system take as long as the rest of a short run's beginning (`bench/`, `durable`). */
function thisProcess(system: System = SYSTEM): ThisProcess {
    if (known !== null && system === SYSTEM) return known;
    const { name, isWhole } = machine(system);
    const found = { host: name, pid: process.pid, start: startOf(process.pid, system) ?? "", isWhole };
    // Else the system may have said less for want of a free handle, and says more the next time.
    if (isWhole && found.start !== "" && bootIn(found.start) !== "" && system === SYSTEM) known = found;
    return found;
}

export function isLive(owner: Owner, beat: number, now: number, system: System = SYSTEM): boolean {
    if ("by" in owner) return true;
    const { host, isWhole } = thisProcess(system);
    if (owner.host === host && isLivingSince(owner.pid, owner.start, system)) return true;
    // O2, also where the name is all that is known of this machine: another one may have it.
    return (owner.host !== host || !isWhole) && now - beat < STALE_MS;
}

/**
 * The same where owners on several machines share a ledger: two machines may have one name, so that a process id says something only within one
 * start of the system. `stale`: age of a heartbeat after which the lease of another machine is over, milliseconds.
 */
export function isLiveAnywhere(owner: Owner, beat: number, now: number, stale: number, system: System = SYSTEM): boolean {
    if ("by" in owner) return true;
    const { host, start } = thisProcess(system);
    const isThisMachine = owner.host === host && bootIn(start) !== "" && bootIn(owner.start) === bootIn(start);
    return isThisMachine ? isLive(owner, beat, now, system) : now - beat < stale;
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
