/**
 * Comparing what a caller gives with a secret.
 *
 * Boundary: two texts of any length. Where they come from, and what follows, is the caller's.
 */
import { createHash, timingSafeEqual } from "node:crypto";

/** Whether the two are the same, in a time that tells neither where they differ nor how long the secret is. */
export function isSameSecret(given: string, secret: string): boolean {
    const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
    return timingSafeEqual(digest(given), digest(secret));
}
