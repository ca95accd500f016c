/**
 * The effects that need nothing but this process: clock and random numbers. Waiting is the conductor's.
 */
import { randomBytes } from "node:crypto";
import type { Performers } from "./host.ts";

export const basics: Performers = {
    clock: async () => ({ ok: true, value: new Date().toISOString(), origins: [] }),
    /** A number from 0 up to, not including, 1, with 53 bits. */
    random: async () => {
        const bytes = randomBytes(8);
        return { ok: true, value: Number(bytes.readBigUInt64BE() >> 11n) / 2 ** 53, origins: [] };
    },
};
