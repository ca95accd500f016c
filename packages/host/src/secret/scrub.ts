/**
 * Takes known secrets out of what the world says, before the machine, the ledger or a person sees it.
 *
 * Boundary: text and JSON in, the same shape out; where secrets come from is told by the caller.
 *
 * K2: no string of the result, keys included, holds a known secret of at least `MIN_SECRET` characters in any form of `formsOf`.
 * K3: what holds no secret comes back as the same object: nothing is copied.
 * K4: shape is kept: text stays text, so that a failure's message or a contract's string is one still. In the place of the secret stands the name
 *     of its reference, `[secret env:NAME]`.
 * K5: of a text that comes in pieces, what is before `hold` can be shown: no secret that goes on in the next piece has begun there.
 * K6: what is nested deeper than `MAX_NESTING` is refused with a `value` failure, not walked.
 * K7: of a text that is cut, nothing of a secret is left before the cut: it is taken out before (`beginning`).
 */
import type { Json } from "@remit/language";
import { RemitError } from "../run/error.ts";

export interface Secret {
    /** Name of the reference: `env:NAME`, `file:PATH`. */
    readonly name: string;
    readonly value: string;
}

export interface Scrubber {
    scrub(json: Json): Json;
    text(text: string): string;
    /** Where the end of `text` begins that may be the beginning of a secret; its length where there is none. */
    hold(text: string): number;
    /** About the first `room` units of a text without its secrets, none of them cut; `more`: the text goes on after them. Costs what `room` costs. */
    beginning(text: string, room: number): { readonly text: string; readonly more: boolean };
    /** A secret that was read later. */
    add(secret: Secret): void;
}

/** Shorter values are no secrets that could be told from ordinary text. */
export const MIN_SECRET = 8;
/** Deeper than any value of a program may be nested; what the world says may be deeper than the stack. */
const MAX_NESTING = 1_000;
/** Values of variables with telling names that are words, not secrets. */
const WORDS = new Set(["disabled", "required", "optional", "undefined", "password", "changeme", "localhost", "keychain", "anonymous"]);

export function createScrubber(secrets: Iterable<Secret> = []): Scrubber {
    const names = new Map<string, string>();
    let pattern: RegExp | null = null;
    let longest = 0;

    function add(secret: Secret): void {
        const { value } = secret;
        if (value.length < MIN_SECRET || WORDS.has(value.toLowerCase()) || /^(.)\1*$/.test(value)) return;
        for (const form of formsOf(value)) {
            if (!names.has(form)) names.set(form, secret.name);
            longest = Math.max(longest, form.length);
        }
        pattern = null;
    }
    function matcher(): RegExp | null {
        if (pattern === null && names.size > 0) {
            // Alternatives are literals: one pass, no backtracking worth the name. Longest first, so that a secret within another one does not cut it.
            const forms = [...names.keys()].sort((a, b) => b.length - a.length);
            pattern = new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
        }
        return pattern;
    }
    function text(given: string): string {
        const found = matcher();
        if (found === null || given.length < MIN_SECRET) return given;
        return given.replace(found, (form) => `[secret ${names.get(form)}]`);
    }
    function hold(given: string): number {
        let at = given.length;
        for (const form of names.keys()) {
            for (let from = Math.max(0, given.length - form.length + 1); from < at; from++) {
                from = given.indexOf(form[0] as string, from);
                if (from < 0 || from >= at) break;
                if (form.startsWith(given.slice(from))) at = from;
            }
        }
        const found = at === given.length ? null : matcher();
        // A secret that is whole already may hold that beginning: it is kept in one piece.
        if (found !== null)
            for (const { index, 0: whole } of given.matchAll(found)) if (index < at && index + whole.length > at) return index;
        return at;
    }
    function beginning(given: string, room: number): { readonly text: string; readonly more: boolean } {
        const window = given.slice(0, room + longest);
        if (window.length === given.length) return { text: text(given), more: false };
        // What begins before `room` is whole in the window; what begins behind it may be a part, which goes.
        return { text: text(window.slice(0, hold(window))), more: true };
    }
    function scrub(json: Json): Json {
        return walk(json, 0);
    }
    function walk(json: Json, depth: number): Json {
        if (typeof json === "string") return text(json);
        if (json === null || typeof json !== "object") return json;
        if (depth > MAX_NESTING) throw new RemitError({ kind: "value", message: `this value is nested more than ${MAX_NESTING} deep` });
        if (Array.isArray(json)) {
            let copy: Json[] | null = null;
            for (let i = 0; i < json.length; i++) {
                const clean = walk(json[i] as Json, depth + 1);
                if (clean === json[i]) continue;
                copy ??= json.slice();
                copy[i] = clean;
            }
            return copy ?? json;
        }
        let changed = false;
        const entries: [string, Json][] = [];
        for (const key of Object.keys(json)) {
            const clean = walk(json[key] as Json, depth + 1);
            const name = text(key);
            if (clean !== json[key] || name !== key) changed = true;
            entries.push([name, clean]);
        }
        return changed ? ownObject(entries) : json;
    }

    for (const secret of secrets) add(secret);
    return { scrub, text, hold, beginning, add };
}

/** `__proto__` is a key like any other. */
function ownObject(entries: readonly (readonly [string, Json])[]): Json {
    const made: { [key: string]: Json } = Object.create(null);
    for (const [key, value] of entries) made[key] = value;
    return made;
}

/** The forms a secret is met in: as it is, in JSON text, in a URL or a form, in HTML, in base64 (also within a longer text), in hexadecimal. */
export function formsOf(value: string): string[] {
    const bytes = Buffer.from(value, "utf8");
    const json = escaped(value);
    const forms = [
        value,
        json,
        // JSON in a text of JSON, as errors quote what they were sent.
        escaped(json),
        ...urlForms(value),
        ...htmlForms(value),
        bytes.toString("hex"),
        bytes.toString("hex").toUpperCase(),
    ];
    for (let before = 0; before < 3; before++) {
        // Base64 looks at three bytes at a time: what is left of the secret's own digits when neighbours are unknown.
        const whole = Buffer.concat([Buffer.alloc(before), bytes])
            .toString("base64")
            .replace(/=+$/, "");
        const from = before === 0 ? 0 : before + 1;
        const tail = (before + bytes.length) % 3 === 0 ? whole.length : whole.length - 1;
        const middle = whole.slice(from, tail);
        if (middle.length >= MIN_SECRET) forms.push(middle, middle.replaceAll("+", "-").replaceAll("/", "_"));
    }
    const trimmed = value.trim();
    if (trimmed !== value && trimmed.length >= MIN_SECRET) forms.push(trimmed);
    return [...new Set(forms)];
}

/** As it stands within the quotes of a JSON text. */
function escaped(value: string): string {
    return JSON.stringify(value).slice(1, -1);
}

function htmlForms(value: string): string[] {
    const text = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const quoted = text.replaceAll('"', "&quot;");
    return [text, quoted, quoted.replaceAll("'", "&#39;"), quoted.replaceAll("'", "&#x27;"), text.replaceAll('"', "&#34;")];
}

function urlForms(value: string): string[] {
    try {
        const encoded = encodeURIComponent(value);
        // RFC 3986 reserves some characters that the function above leaves; a form (WHATWG URL) encodes `~` too, and leaves `*`.
        const strict = encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
        const form = new URLSearchParams([["", value]]).toString().slice(1);
        return [encoded, encoded.replaceAll("%20", "+"), strict, form].flatMap((one) => [
            one,
            one.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
        ]);
    } catch {
        // A lone surrogate has no URL form, so it cannot be met in one.
        return [];
    }
}
