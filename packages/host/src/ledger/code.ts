/**
 * Comparing the codes under which a ledger keeps what it holds.
 *
 * Boundary: two texts. What a code is made of is said where it is made.
 */
import { timingSafeEqual } from "node:crypto";

/** Whether two codes are the same, in a time that does not tell where they differ. `found` may be any text: another program may have written it. */
export function isSameCode(found: string, made: string): boolean {
    const [a, b] = [Buffer.from(found), Buffer.from(made)];
    return a.length === b.length && timingSafeEqual(a, b);
}
