/**
 * Codes that a person carries from a terminal to a client, and tickets that a page carries to a socket: each is used once, and soon.
 *
 * Boundary: in memory, where a code does not outlive its server, or among what several processes share.
 *
 * COD1: after `MAX_WRONG` wrong codes within a minute none is looked at until that minute has passed, right ones neither: a code has 40 bits. A ticket
 *     has 192, so wrong ones lock nothing: who has none could shut out those who have one.
 */
import { randomBytes, randomInt } from "node:crypto";
import type { Json } from "@remit/language";
import type { SharedCodes } from "./shared.ts";

/** Letters and digits that are not mistaken for each other. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const MAX_WRONG = 10;
const WINDOW_MS = 60_000;

export class Codes<T> {
    readonly #open = new Map<string, { readonly value: T; readonly until: number }>();
    readonly #lifetime: number;
    readonly #shared: SharedCodes<Json> | null;
    #wrong: number[] = [];

    /** `lifetime`: milliseconds. */
    constructor(lifetime: number, shared: SharedCodes<Json> | null = null) {
        this.#shared = shared;
        this.#lifetime = lifetime;
    }

    /** One for a person to type: `k7mf-q2xp`. */
    code(value: T): Promise<string> {
        const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
        return this.#keep(`${letters.slice(0, 4)}-${letters.slice(4)}`, value);
    }

    /** One that no person types. */
    ticket(value: T): Promise<string> {
        return this.#keep(randomBytes(24).toString("base64url"), value);
    }

    /** Null where there is none such any more. */
    async takeTicket(said: string, now: number = Date.now()): Promise<T | null> {
        if (this.#shared !== null) return (await this.#shared.take(said)) as unknown as T | null;
        const found = this.#open.get(said);
        this.#open.delete(said);
        return found !== undefined && found.until > now ? found.value : null;
    }

    /** Null where there is none such any more; `locked` where too many were wrong. */
    async take(said: string, now: number = Date.now()): Promise<T | null | "locked"> {
        this.#wrong = this.#wrong.filter((at) => at > now - WINDOW_MS);
        if (this.#wrong.length >= MAX_WRONG) return "locked";
        const code = said.trim();
        if (this.#shared !== null) {
            const kept = (await this.#shared.take(code)) ?? (await this.#shared.take(code.toLowerCase()));
            if (kept === null) this.#wrong.push(now);
            return kept as unknown as T | null;
        }
        const found = this.#open.get(code) ?? this.#open.get(code.toLowerCase());
        this.#open.delete(code);
        this.#open.delete(code.toLowerCase());
        if (found !== undefined && found.until > now) return found.value;
        this.#wrong.push(now);
        return null;
    }

    async #keep(code: string, value: T): Promise<string> {
        const now = Date.now();
        if (this.#shared !== null) {
            await this.#shared.keep(code, value as unknown as Json, now + this.#lifetime);
            return code;
        }
        for (const [old, { until }] of this.#open) if (until <= now) this.#open.delete(old);
        this.#open.set(code, { value, until: now + this.#lifetime });
        return code;
    }
}
