/**
 * Sealing: what turns a machine's event into a ledger event. The rules (commitments, chain, redaction) are the machine package's; this gives
 * them SHA-256, salts and times.
 */
import { randomBytes } from "node:crypto";
import { type MachineEvent, SALT_LENGTH, type SealedEvent, sealEvent } from "@remit/machine";
import { sha256 } from "./blob.ts";

/** Seals events one after the other, beginning after event `count` with hash `head`. */
export function seal(events: readonly MachineEvent[], run: string, count: number, head: string, time: string): SealedEvent[] {
    let prev = head;
    return events.map((event, i) => {
        const sealed = sealEvent(event, { seq: count + i + 1, time, run, prev }, randomBytes(SALT_LENGTH / 2).toString("hex"), sha256);
        prev = sealed.hash;
        return sealed;
    });
}
