/**
 * Large texts kept once: JSON in which a reference stands for each text above a threshold, and back. What went in or out of an effect is kept once too
 * where its JSON is that large, since its outcome, events and conversation all hold it.
 *
 * Boundary: JSON in, JSON out. What a reference says, and where the texts are, is the caller's: a number in a continuation, a hash in a ledger.
 *
 * LT2: `restored(referred(x))` equals `x` for every JSON value, also one that looks like a reference: such an object is wrapped in `$plain`.
 */
import { isObject, type Json } from "@remit/language";

/** Texts longer than this many UTF-16 code units are kept once. */
export const LARGE_TEXT = 4096;

const PLAIN = "$plain";

/** Keys of what went in or out of effects, in outcomes, events, requests and messages. */
const VALUES: ReadonlySet<string> = new Set(["args", "result", "value"]);

/**
 * `key`: the one by which a reference is known; `name` gives what stands there for a text. `of` says whether it is the text itself or a value's JSON. What
 * holds nothing large comes back as the same value.
 */
export function referred(json: Json, key: string, name: (text: string, of: "text" | "json") => Json, threshold = LARGE_TEXT): Json {
    const refer = (text: string, of: "text" | "json"): Json => ({ [key]: name(text, of), of });
    const inner = (one: Json, under?: string): Json => {
        if (typeof one === "string") return one.length > threshold ? refer(one, "text") : one;
        const out = mapped(one, inner);
        if (under !== undefined && VALUES.has(under) && typeof out === "object" && out !== null) {
            const text = JSON.stringify(isReference(out, key) ? { [PLAIN]: out } : out);
            if (text.length > threshold) return refer(text, "json");
        }
        return isReference(out, key) ? { [PLAIN]: out } : out;
    };
    return inner(json);
}

function isReference(json: Json, key: string): boolean {
    return isObject(json) && (Object.hasOwn(json, key) || Object.hasOwn(json, PLAIN));
}

/** `text` gives the text that a reference names. */
export function restored(json: Json, key: string, text: (name: Json) => string): Json {
    const inner = (one: Json): Json => {
        if (!isObject(one)) return mapped(one, inner);
        if (Object.hasOwn(one, key)) {
            const found = text(one[key] as Json);
            return one.of === "json" ? inner(JSON.parse(found) as Json) : found;
        }
        return mapped(Object.hasOwn(one, PLAIN) ? (one[PLAIN] as Json) : one, inner);
    };
    return inner(json);
}

/** With each part as `inner` gives it; the same value where none changes. */
export function mapped(json: Json, inner: (json: Json, key?: string) => Json): Json {
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) {
        let list: Json[] | null = null;
        for (let i = 0; i < json.length; i++) {
            const done = inner(json[i] as Json);
            if (done === json[i]) continue;
            list ??= json.slice();
            list[i] = done;
        }
        return list ?? json;
    }
    let copy: { [key: string]: Json } | null = null;
    for (const key of Object.keys(json)) {
        const done = inner(json[key] as Json, key);
        if (done === json[key]) continue;
        // `__proto__` is a key like any other in data.
        copy ??= Object.defineProperties({}, Object.getOwnPropertyDescriptors(json)) as { [key: string]: Json };
        Object.defineProperty(copy, key, { value: done, enumerable: true, writable: true, configurable: true });
    }
    return copy ?? json;
}
