/**
 * Codes that a person carries from a terminal to a client, and tickets that a page carries to a socket: each is used once, and soon.
 *
 * Boundary: in memory; a code does not outlive its server.
 *
 * COD1: after `MAX_WRONG` wrong codes within a minute none is looked at until that minute has passed, right ones neither: a code has 40 bits. A ticket
 *     has 192, so wrong ones lock nothing: who has none could shut out those who have one.
 */
import { randomBytes, randomInt } from "node:crypto";

/** Letters and digits that are not mistaken for each other. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const MAX_WRONG = 10;
const WINDOW_MS = 60_000;

export class Codes<T> {
    readonly #open = new Map<string, { readonly value: T; readonly until: number }>();
    readonly #lifetime: number;
    #wrong: number[] = [];

    /** `lifetime`: milliseconds. */
    constructor(lifetime: number) {
        this.#lifetime = lifetime;
    }

    /** One for a person to type: `k7mf-q2xp`. */
    code(value: T): string {
        const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
        return this.#keep(`${letters.slice(0, 4)}-${letters.slice(4)}`, value);
    }

    /** One that no person types. */
    ticket(value: T): string {
        return this.#keep(randomBytes(24).toString("base64url"), value);
    }

    /** Null where there is none such any more. */
    takeTicket(said: string, now: number = Date.now()): T | null {
        const found = this.#open.get(said);
        this.#open.delete(said);
        return found !== undefined && found.until > now ? found.value : null;
    }

    /** Null where there is none such any more; `locked` where too many were wrong. */
    take(said: string, now: number = Date.now()): T | null | "locked" {
        this.#wrong = this.#wrong.filter((at) => at > now - WINDOW_MS);
        if (this.#wrong.length >= MAX_WRONG) return "locked";
        const code = said.trim();
        const found = this.#open.get(code) ?? this.#open.get(code.toLowerCase());
        this.#open.delete(code);
        this.#open.delete(code.toLowerCase());
        if (found !== undefined && found.until > now) return found.value;
        this.#wrong.push(now);
        return null;
    }

    #keep(code: string, value: T): string {
        const now = Date.now();
        for (const [old, { until }] of this.#open) if (until <= now) this.#open.delete(old);
        this.#open.set(code, { value, until: now + this.#lifetime });
        return code;
    }
}
