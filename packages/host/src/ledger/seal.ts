/**
 * Sealing: what turns a machine's event into a ledger event. The rules (commitments, chain, redaction) are the machine package's; this gives
 * them SHA-256, salts and times.
 */
import { randomBytes } from "node:crypto";
import { type MachineEvent, SALT_LENGTH, type SealedEvent, sealEvent } from "@remit/machine";
import { sha256 } from "./blob.ts";

/** Random digits are fetched for so many events at once: asking for them costs more than making them. */
const POOL_EVENTS = 64;

/** A source of salts, one for each event. */
export function salts(): () => string {
    let pool = "";
    return () => {
        if (pool.length < SALT_LENGTH) pool = randomBytes((POOL_EVENTS * SALT_LENGTH) / 2).toString("hex");
        const taken = pool.slice(-SALT_LENGTH);
        pool = pool.slice(0, -SALT_LENGTH);
        return taken;
    };
}

/** Seals events one after the other, beginning after event `count` with hash `head`. */
export function seal(
    events: readonly MachineEvent[],
    after: { readonly run: string; readonly count: number; readonly head: string },
    time: string,
    salt: () => string,
): SealedEvent[] {
    let prev = after.head;
    return events.map((event, i) => {
        const sealed = sealEvent(event, { seq: after.count + i + 1, time, run: after.run, prev }, salt(), sha256);
        prev = sealed.hash;
        return sealed;
    });
}
