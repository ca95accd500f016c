/**
 * The effects that need nothing but this process: clock, random numbers, waiting.
 */
import { randomBytes } from "node:crypto";
import type { Json } from "@remit/language";
import type { Performers } from "./host.ts";

export const basics: Performers = {
    clock: async () => ({ ok: true, value: new Date().toISOString(), origins: [] }),
    /** A number from 0 up to, not including, 1, with 53 bits. */
    random: async () => {
        const bytes = randomBytes(8);
        return { ok: true, value: Number(bytes.readBigUInt64BE() >> 11n) / 2 ** 53, origins: [] };
    },
    /** In the run's own time, which stands still while a person is asked. */
    sleep: async (effect, io) => {
        const ms = milliseconds(effect.request);
        if (ms === null)
            return { ok: false, failure: { kind: "value", message: "a wait takes a number of milliseconds", site: effect.site } };
        try {
            await io.wait(ms);
        } catch (error) {
            if (!io.signal.aborted) throw error;
            return { ok: false, failure: { kind: "cancelled", message: "the wait was cancelled", site: effect.site } };
        }
        return { ok: true, value: null, origins: [] };
    },
};

function milliseconds(request: Json): number | null {
    const ms = request !== null && typeof request === "object" && !Array.isArray(request) ? request.ms : request;
    return typeof ms === "number" && ms >= 0 ? ms : null;
}
