/**
 * Sealing: what turns a machine's event into a ledger event. The rules (commitments, chain) are the machine package's; this gives them
 * SHA-256, salts and times.
 */
import { randomBytes } from "node:crypto";
import type { LedgerEvent, MachineEvent } from "@remit/machine";
import { sha256 } from "./blob.ts";

/** `prev` of the first event of a run. */
export const GENESIS = "0".repeat(64);

export interface Sealed extends LedgerEvent {
    /** Hex, 16 bytes: what the commitments to the fields are salted with. */
    readonly salt: string;
}

/** Seals events one after the other, beginning after event `count` with hash `head`. */
export function seal(events: readonly MachineEvent[], run: string, count: number, head: string, time: string): Sealed[] {
    let prev = head;
    return events.map((event, i) => {
        const salt = randomBytes(16).toString("hex");
        const unsealed = { ...event, seq: count + i + 1, time, run, prev };
        prev = sha256(JSON.stringify([salt, unsealed]));
        return { ...unsealed, hash: prev, salt };
    });
}

export function verifySeals(
    events: Iterable<Sealed>,
): { ok: true; count: number; head: string } | { ok: false; seq: number; message: string } {
    let prev = GENESIS;
    let count = 0;
    for (const { hash, salt, ...unsealed } of events) {
        if (unsealed.seq !== count + 1) return { ok: false, seq: count + 1, message: `event ${count + 1} is missing or moved` };
        if (unsealed.prev !== prev || sha256(JSON.stringify([salt, unsealed])) !== hash)
            return { ok: false, seq: unsealed.seq, message: `event ${unsealed.seq} was changed` };
        prev = hash;
        count++;
    }
    return { ok: true, count, head: prev };
}
