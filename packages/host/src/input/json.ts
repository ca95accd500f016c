/**
 * JSON text from outside, read without losing anything.
 *
 * Boundary: texts that a person, a file or a server wrote as JSON. What a model writes is read by `../model/reading`, `json.parse` of a program by
 * the machine.
 *
 * JS1: a number that a double cannot hold (a whole number beyond 2^53, one too large or too small) and a key that stands twice in one object
 *     are refused with their place, where `JSON.parse` would change or drop them in silence. A decimal fraction is rounded to the nearest
 *     double, as everywhere. `__proto__` is a key as any other.
 */
import type { Json } from "@remit/language";

export type ReadJson =
    | { readonly ok: true; readonly value: Json }
    /** `isJson`: the text is JSON (RFC 8259), but reading it would lose something. `message` says what and where, without a subject. */
    | { readonly ok: false; readonly isJson: boolean; readonly message: string; readonly hint?: string };

export function readJson(text: string): ReadJson {
    let value: Json;
    try {
        value = JSON.parse(text) as Json;
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return { ok: false, isJson: false, message: `is not JSON: ${error.message}` };
    }
    const loss = lossIn(text);
    return loss === null ? { ok: true, value } : { ok: false, isJson: true, ...loss };
}

interface Loss {
    readonly message: string;
    readonly hint: string;
}

/** The first thing in a JSON text that reading would change or drop. */
function lossIn(text: string): Loss | null {
    /** For each list and object around: the keys so far, null for a list. */
    const around: (Set<string> | null)[] = [];
    let keyNext = false;
    for (let at = 0; at < text.length; ) {
        const char = text[at] as string;
        if (char === '"') {
            const end = endOfString(text, at);
            const keys = around.at(-1);
            if (keyNext && keys) {
                const key = JSON.parse(text.slice(at, end)) as string;
                if (keys.has(key))
                    return {
                        message: `has the key ${JSON.stringify(shortened(key))} twice in one object, again at ${placeOf(text, at)}`,
                        hint: "only one of its values could count: leave one of them out, or give it another name",
                    };
                keys.add(key);
                keyNext = false;
            }
            at = end;
        } else if (char === "-" || (char >= "0" && char <= "9")) {
            let end = at + 1;
            while (end < text.length && "0123456789.eE+-".includes(text[end] as string)) end++;
            const why = lost(text.slice(at, end));
            if (why !== null)
                return {
                    message: `has the number ${shortened(text.slice(at, end))} at ${placeOf(text, at)}, which ${why}`,
                    hint: "as a string, in quotes, it would stay as it is",
                };
            at = end;
        } else {
            if (char === "{" || char === "[") around.push(char === "{" ? new Set() : null);
            else if (char === "}" || char === "]") around.pop();
            if (char === "{" || char === ",") keyNext = true;
            at++;
        }
    }
    return null;
}

/** The position after a string that begins at `at`. */
function endOfString(text: string, at: number): number {
    let end = at + 1;
    while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    return end + 1;
}

function lost(digits: string): string | null {
    const value = Number(digits);
    if (!Number.isFinite(value)) return "is too large";
    if (value === 0) return /^[^eE]*[1-9]/.test(digits) ? "is too small" : null;
    return /^-?[0-9]+$/.test(digits) && !Number.isSafeInteger(value) ? "is beyond 2^53 and would lose digits" : null;
}

function placeOf(text: string, at: number): string {
    const before = text.slice(0, at);
    return `line ${before.split("\n").length}, column ${at - before.lastIndexOf("\n")}`;
}

function shortened(text: string): string {
    return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
