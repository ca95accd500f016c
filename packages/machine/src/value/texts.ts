/**
 * Large texts kept once: JSON in which a reference stands for each text above a threshold, and back.
 *
 * Boundary: JSON in, JSON out. What a reference says, and where the texts are, is the caller's: a number in a continuation, a hash in a ledger.
 *
 * LT2: `restored(referred(x))` equals `x` for every JSON value, also one that looks like a reference: such an object is wrapped in `$plain`.
 */
import { isObject, type Json } from "@remit/language";

/** Texts longer than this many UTF-16 code units are kept once. */
export const LARGE_TEXT = 4096;

type JsonObject = { readonly [key: string]: Json };

const PLAIN = "$plain";

/** `key`: the one by which a reference is known; `refer` gives it for a text. What holds no large text comes back as the same value. */
export function referred(json: Json, key: string, refer: (text: string) => Json, threshold = LARGE_TEXT): Json {
    const inner = (one: Json): Json => {
        if (typeof one === "string") return one.length > threshold ? refer(one) : one;
        const out = mapped(one, inner);
        return isObject(out) && (Object.hasOwn(out, key) || Object.hasOwn(out, PLAIN)) ? { [PLAIN]: out } : out;
    };
    return inner(json);
}

/** `text` gives what a reference stands for. */
export function restored(json: Json, key: string, text: (reference: JsonObject) => Json): Json {
    const inner = (one: Json): Json => {
        if (!isObject(one)) return mapped(one, inner);
        if (Object.hasOwn(one, key)) return text(one);
        return mapped(Object.hasOwn(one, PLAIN) ? (one[PLAIN] as Json) : one, inner);
    };
    return inner(json);
}

/** With each part as `inner` gives it; the same value where none changes. */
function mapped(json: Json, inner: (json: Json) => Json): Json {
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
        const done = inner(json[key] as Json);
        if (done === json[key]) continue;
        // `__proto__` is a key like any other in data.
        copy ??= Object.defineProperties({}, Object.getOwnPropertyDescriptors(json)) as { [key: string]: Json };
        Object.defineProperty(copy, key, { value: done, enumerable: true, writable: true, configurable: true });
    }
    return copy ?? json;
}
