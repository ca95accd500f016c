/**
 * JSON without the secrets in its texts: replaced for good, or by a reference that gives the same text back.
 *
 * Boundary: walks JSON; what a secret is, is the scrubber's.
 *
 * PI3: what holds no secret comes back as the same object: nothing is copied.
 * PI6: what is nested deeper than `MAX_NESTING` is refused with a `value` failure, not walked.
 * PI8: `revealed(concealed(x))` equals `x` for every JSON value, also one that looks like a concealed one: such an object is written as entries.
 */
import type { Json } from "@remit/language";
import { RemitError } from "../failure/error.ts";

/** In the place of a secret: the name of its reference (`SecretRef`), and the form in which it stood there. */
export interface Piece {
    readonly $secret: string;
    readonly as: string;
}

/** Deeper than any value of a program may be nested; what the world says may be deeper than the stack. */
const MAX_NESTING = 1_000;
/** Of a text: its parts, texts and `Piece`s. */
const PIECES = "$pieces";
/** Of an object: its keys and values, where a key holds a secret or is one of these two. */
const ENTRIES = "$entries";

/** With every text, keys included, as `text` gives it. */
export function mapped(json: Json, text: (text: string) => string): Json {
    return walked(
        json,
        { text, entries: (found) => ownObject(found.map(([key, value]) => [text(key), value])), key: (key) => text(key) !== key },
        0,
    );
}

export function concealed(json: Json, pieces: (text: string) => string | readonly (string | Piece)[]): Json {
    const text = (given: string): Json => {
        const found = pieces(given);
        return typeof found === "string" ? found : { [PIECES]: found as unknown as Json[] };
    };
    return walked(
        json,
        {
            text,
            entries: (found) =>
                found.some(([key]) => strange(key)) ? { [ENTRIES]: found.map(([key, value]) => [text(key), value]) } : ownObject(found),
            key: strange,
        },
        0,
    );
    function strange(key: string): boolean {
        return key === PIECES || key === ENTRIES || typeof pieces(key) !== "string";
    }
}

export function revealed(json: Json, secret: (piece: Piece) => string): Json {
    const text = (given: Json): string =>
        typeof given === "string"
            ? given
            : ((given as { [PIECES]: (string | Piece)[] })[PIECES] ?? [])
                  .map((one) => (typeof one === "string" ? one : secret(one)))
                  .join("");
    return walked(
        json,
        {
            text: (given) => given,
            entries: ownObject,
            key: () => false,
            instead: (given, inner) =>
                Object.hasOwn(given, PIECES)
                    ? text(given)
                    : Object.hasOwn(given, ENTRIES)
                      ? ownObject((given[ENTRIES] as [Json, Json][]).map(([key, value]) => [text(key), inner(value)]))
                      : undefined,
        },
        0,
    );
}

interface Walk {
    readonly text: (text: string) => Json;
    /** The object of these entries, whose values are done; called where a value changed, or a key does by `key`. */
    readonly entries: (entries: readonly (readonly [string, Json])[]) => Json;
    readonly key: (key: string) => boolean;
    /** What stands for an object, its values not yet done; `undefined`: it stands for itself. */
    readonly instead?: (object: { readonly [key: string]: Json }, inner: (json: Json) => Json) => Json | undefined;
}

function walked(json: Json, walk: Walk, depth: number): Json {
    if (typeof json === "string") return walk.text(json);
    if (json === null || typeof json !== "object") return json;
    if (depth > MAX_NESTING) throw new RemitError({ kind: "value", message: `this value is nested more than ${MAX_NESTING} deep` });
    const inner = (one: Json): Json => walked(one, walk, depth + 1);
    if (Array.isArray(json)) {
        let copy: Json[] | null = null;
        for (let i = 0; i < json.length; i++) {
            const done = inner(json[i] as Json);
            if (done === json[i]) continue;
            copy ??= json.slice();
            copy[i] = done;
        }
        return copy ?? json;
    }
    const instead = walk.instead?.(json, inner);
    if (instead !== undefined) return instead;
    const keys = Object.keys(json);
    let changed = false;
    const values: Json[] = [];
    for (const key of keys) {
        const value = json[key] as Json;
        const done = inner(value);
        if (done !== value || walk.key(key)) changed = true;
        values.push(done);
    }
    return changed ? walk.entries(keys.map((key, i) => [key, values[i] as Json])) : json;
}

/** `__proto__` is a key like any other. */
function ownObject(entries: readonly (readonly [string, Json])[]): Json {
    const made: { [key: string]: Json } = Object.create(null);
    for (const [key, value] of entries) made[key] = value;
    return made;
}
