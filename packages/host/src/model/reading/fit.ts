/**
 * Brings a value that was read into the shape a contract asks for, where nothing has to be invented or dropped for it.
 *
 * Boundary: `mend` changes only what the contract decides without doubt; the contract module then coerces and checks (`verify.ts`).
 *
 * FT1: every change is named in `repairs`. Where two readings are possible the value stays as it is, and the check refuses it.
 * FT2: `strict` mends syntax only: quotes around unquoted text. No names, kinds or wrappers are changed.
 */
import type { Contract, Field, Json, Shapes } from "@remit/language";
import { holds } from "./bareword.ts";
import { readValue, same } from "./lenient.ts";
import { Bare, Loose, type Value } from "./loose.ts";
import { verify } from "./verify.ts";
import { ENVELOPE, ENVELOPE_HOLDS, plainName, WRAPPERS } from "./words.ts";

export interface Context {
    readonly shapes: Shapes;
    readonly strict: boolean;
}

export type Fitted =
    | { readonly ok: true; readonly value: Json; readonly repairs: readonly string[]; readonly from: string }
    | { readonly ok: false; readonly message: string; readonly rejected: Json };

/** The contract behind names. */
export function open(contract: Contract, shapes: Shapes): Contract {
    let at = contract;
    for (let hops = 0; at.type === "ref" && hops < 50; hops++) {
        const next: Contract | undefined = Object.hasOwn(shapes, at.name) ? shapes[at.name] : undefined;
        if (next === undefined) return { type: "json" };
        at = next;
    }
    return at;
}

/** The only field of an object contract that has exactly one. */
export function soleField(contract: Contract, shapes: Shapes): Field | null {
    const at = open(contract, shapes);
    return at.type === "object" && at.fields.length === 1 ? (at.fields[0] as Field) : null;
}

/** A value against the contract: as it is, else out of what wraps it. */
export function fit(value: Value, contract: Contract, x: Context): Fitted {
    const first = tryFit(value, contract, x, [], "");
    if (first.ok || x.strict) return first;
    for (const [inner, how, from] of unwrapped(value, contract, x)) {
        const tried = tryFit(inner, contract, x, [how], from);
        if (tried.ok) return tried;
    }
    return first;
}

function tryFit(value: Value, contract: Contract, x: Context, repairs: readonly string[], from: string): Fitted {
    const made = new Set(repairs);
    const unclear: string[] = [];
    const mended = mend(value, contract, { ...x, repairs: made, unclear });
    if (unclear[0] !== undefined) return { ok: false, message: unclear[0], rejected: mended };
    const checked = verify(mended, contract, x.shapes, x.strict);
    return checked.ok
        ? { ok: true, value: checked.value, repairs: [...made], from }
        : { ok: false, message: checked.message, rejected: mended };
}

/** What may be the answer inside a wrapper, innermost first where wrappers nest. */
function unwrapped(value: Value, contract: Contract, x: Context): [Value, string, string][] {
    const out: [Value, string, string][] = [];
    const target = open(contract, x.shapes);
    let at: Value = value;
    let from = "wrapper";
    const path: string[] = [];
    for (let depth = 0; depth < 5; depth++) {
        if (Array.isArray(at) && at.length === 1 && target.type !== "list") {
            at = at[0] as Value;
            path.push("[0]");
        } else if (at instanceof Loose) {
            const key = holder(at);
            if (key === null) break;
            if (ENVELOPE_HOLDS.has(key.toLowerCase()) && at.keys.length > 1) from = "tool call";
            path.push(key);
            at = at.get(key) as Value;
        } else if (typeof at === "string" && /^\s*[[{]/.test(at)) {
            const parsed = textual(at);
            if (parsed === undefined) break;
            at = parsed;
            path.push("text");
        } else break;
        out.push([at, `taken out of its wrapper (${path.join(" › ")})`, from]);
    }
    const sole = target.type === "object" && target.fields.length === 1 ? (target.fields[0] as Field) : null;
    if (sole !== null) {
        const kind = open(sole.contract, x.shapes).type;
        const bare =
            !(value instanceof Loose) ||
            (kind === "object" && !(value.keys.length === 1 && WRAPPERS.has((value.keys[0] as string).toLowerCase())));
        if (bare && (kind !== "json" || Array.isArray(value))) {
            const wrapped = new Loose();
            wrapped.keys.push(sole.name);
            wrapped.values.push(value);
            out.push([wrapped, `put into its only field '${sole.name}'`, ""]);
        }
    }
    if (target.type === "list" && value instanceof Loose && target.item !== undefined && open(target.item, x.shapes).type === "object")
        out.push([[value], "a single item put into a list", ""]);
    return out;
}

/** The key under which the whole answer stands: the only key, or the payload of a tool call's envelope. */
function holder(at: Loose): string | null {
    if (at.keys.length === 1) {
        const only = at.values[0];
        const key = at.keys[0] as string;
        return WRAPPERS.has(key.toLowerCase()) || only instanceof Loose || Array.isArray(only) ? key : null;
    }
    const payloads = at.keys.filter((key) => ENVELOPE_HOLDS.has(key.toLowerCase()));
    const others = at.keys.filter((key) => !ENVELOPE_HOLDS.has(key.toLowerCase()));
    return payloads.length === 1 && others.every((key) => ENVELOPE.has(key.toLowerCase())) ? (payloads[0] as string) : null;
}

/** JSON inside a string, read whole or not at all. */
function textual(text: string): Value | undefined {
    const start = text.search(/\S/);
    const readings = readValue(text, start);
    const only = readings[0];
    if (readings.length !== 1 || only === undefined || only.state !== "complete" || only.problems.length > 0) return undefined;
    return text.slice(only.end).trim() === "" ? only.value : undefined;
}

// ---- mending -----------------------------------------------------------------------------------------------------------

interface Mending extends Context {
    readonly repairs: Set<string>;
    /** What makes the value one that must not be used. */
    readonly unclear: string[];
}

const NOTHING = /^(?:none|null|nil|undefined)$/i;

export function mend(value: Value, contract: Contract, x: Mending): Json {
    const at = open(contract, x.shapes);
    switch (at.type) {
        case "string":
            if (value instanceof Bare && !NOTHING.test(value.text)) {
                x.repairs.add("quotes put around text");
                return value.text;
            }
            return plain(value, x);
        case "number":
            return value instanceof Bare ? numberOf(value.text, x) : plain(value, x);
        case "literal":
            return typeof at.value === "string" ? choice(value, [at.value], x) : plain(value, x);
        case "union": {
            const words = at.of
                .map((member) => open(member, x.shapes))
                .flatMap((m) => (m.type === "literal" && typeof m.value === "string" ? [m.value] : []));
            if (words.length === at.of.length) return choice(value, words, x);
            return mendUnion(value, at.of, words, x);
        }
        case "optional":
            return value === null || (value instanceof Bare && NOTHING.test(value.text)) ? null : mend(value, at.of, x);
        case "list":
            return mendList(value, at.item ?? { type: "json" }, x);
        case "object":
            return mendObject(value, at.fields, x);
        default:
            return plain(value, x);
    }
}

/** The member that holds with the fewest changes; the first of equals. */
function mendUnion(value: Value, members: readonly Contract[], words: readonly string[], x: Mending): Json {
    let best: { value: Json; repairs: Set<string> } | null = null;
    for (const member of members) {
        const repairs = new Set<string>();
        const mended = mend(value, member, { ...x, repairs });
        if (verify(mended, member, x.shapes, true).ok && (best === null || repairs.size < best.repairs.size))
            best = { value: mended, repairs };
    }
    if (best === null) return words.length > 0 ? choice(value, words, x) : plain(value, x);
    for (const repair of best.repairs) x.repairs.add(repair);
    return best.value;
}

/** One of a set of words, whatever its case, spaces and punctuation, where exactly one is meant. */
function choice(value: Value, words: readonly string[], x: Mending): Json {
    const text = value instanceof Bare ? value.text : value;
    if (typeof text !== "string") return plain(value, x);
    if (words.includes(text)) {
        if (value instanceof Bare) x.repairs.add("quotes put around text");
        return text;
    }
    if (x.strict) return plain(value, x);
    const word = nearestWord(text, words);
    if (word === null) return plain(value, x);
    x.repairs.add(`'${text.slice(0, 40)}' read as '${word}'`);
    return word;
}

export function nearestWord(text: string, words: readonly string[]): string | null {
    if (text.length > 200) return null;
    const wanted = plainWord(text);
    const found = words.filter((word) => plainWord(word) === wanted);
    return found.length === 1 ? (found[0] as string) : null;
}

function plainWord(text: string): string {
    return text
        .trim()
        .toLowerCase()
        .replace(/^[\s"'`*_.:!([]+|[\s"'`*_.:!)\]]+$/g, "")
        .replace(/[\s_-]+/g, " ");
}

function numberOf(text: string, x: Mending): Json {
    if (/^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) && !/^[+-]?0\d/.test(text) && !/__|_$|_\./.test(text)) {
        const digits = text.replaceAll("_", "").replace(/^\+/, "");
        const number = Number(digits);
        if (holds(digits, number)) {
            x.repairs.add("a number written unusually read as JSON's");
            return number;
        }
    }
    return text;
}

function mendList(value: Value, item: Contract, x: Mending): Json {
    let items: readonly Value[] | null = Array.isArray(value) ? value : null;
    if (items === null && !x.strict) {
        if (
            value instanceof Loose &&
            value.keys.length > 0 &&
            value.keys.every((key, at) => key === String(at) || key === String(at + 1))
        ) {
            const from = value.keys[0];
            if (value.keys.every((key, at) => key === String(at + Number(from)))) {
                x.repairs.add("an object with numbers for names read as a list");
                items = value.values;
            }
        } else if (typeof value === "string") {
            const parsed = /^\s*\[/.test(value) ? textual(value) : undefined;
            if (Array.isArray(parsed)) {
                x.repairs.add("JSON inside a text read");
                items = parsed;
            } else items = lines(value);
            if (items !== null && !Array.isArray(parsed)) x.repairs.add("lines read as a list");
        }
    }
    return items === null ? plain(value, x) : items.map((entry) => mend(entry, item, x));
}

/** Lines of a text as items: each with a bullet or number. `null` where any line has none, or there is only one. */
export function lines(text: string): string[] | null {
    const all = text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    const items = all.map((line) => /^(?:[-*•–+]|\(?\d{1,3}[.):])\s+(.*)$/.exec(line)?.[1]?.trim());
    return all.length >= 2 && items.every((entry) => entry !== undefined && entry !== "") ? (items as string[]) : null;
}

function mendObject(given: Value, fields: readonly Field[], x: Mending): Json {
    let value = given;
    if (typeof value === "string" && !x.strict && /^\s*\{/.test(value)) {
        const parsed = textual(value);
        if (parsed instanceof Loose) {
            x.repairs.add("JSON inside a text read");
            value = parsed;
        }
    }
    if (!(value instanceof Loose)) return plain(value, x);
    const out: { [key: string]: Json } = {};
    const used = new Map<string, Field>();
    const declared = new Map(fields.map((field) => [field.name, field]));
    for (const key of value.keys) {
        const field = declared.get(key);
        if (field !== undefined) used.set(key, field);
    }
    if (!x.strict && used.size < value.keys.length) rename(value, fields, used, x);
    value.keys.forEach((key, at) => {
        const field = used.get(key);
        const member = (value as Loose).values[at] as Value;
        const twin =
            field === undefined && !x.strict
                ? fields.find((one) => used.get(one.name) === one && plainName(one.name) === plainName(key))
                : undefined;
        if (twin !== undefined && !same(member, (value as Loose).get(twin.name) ?? null))
            x.unclear.push(`'${twin.name}' is given twice: also as '${key.slice(0, 40)}', with another value`);
        if (field === undefined) set(out, key, plain(member, x));
        else if (field.optional === true && nothing(member) && !takesNothing(field.contract, x.shapes))
            x.repairs.add(`'${field.name}': null read as absent`);
        else set(out, field.name, mend(member, field.contract, x));
    });
    return out;
}

/** Names that differ from a declared one in case, spaces, `-` and `_` only, where exactly one is meant. */
function rename(value: Loose, fields: readonly Field[], used: Map<string, Field>, x: Mending): void {
    const free = fields.filter((field) => !used.has(field.name));
    const strange = value.keys.filter((key) => !used.has(key));
    for (const field of free) {
        const wanted = plainName(field.name);
        const found = strange.filter((key) => plainName(key) === wanted);
        if (found.length !== 1 || free.filter((other) => plainName(other.name) === wanted).length !== 1) continue;
        used.set(found[0] as string, field);
        x.repairs.add(`the name '${(found[0] as string).slice(0, 40)}' read as '${field.name}'`);
    }
}

function nothing(value: Value): boolean {
    return value === null || (value instanceof Bare && NOTHING.test(value.text));
}

function takesNothing(contract: Contract, shapes: Shapes): boolean {
    const at = open(contract, shapes);
    if (at.type === "union") return at.of.some((member) => takesNothing(member, shapes));
    return at.type === "none" || at.type === "json" || at.type === "optional" || (at.type === "literal" && at.value === null);
}

/** A value without a contract to decide: words of Python as JSON's, other unquoted text as text. */
export function plain(value: Value, x: { readonly repairs: Set<string> }): Json {
    if (value instanceof Bare) {
        const word = WORDS.get(value.text);
        if (word !== undefined) {
            x.repairs.add(`${value.text} read as ${word}`);
            return word;
        }
        x.repairs.add("quotes put around text");
        return value.text;
    }
    if (Array.isArray(value)) return value.map((item) => plain(item, x));
    if (value instanceof Loose) {
        const out: { [key: string]: Json } = {};
        value.keys.forEach((key, at) => {
            set(out, key, plain(value.values[at] as Value, x));
        });
        return out;
    }
    return value;
}

const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
    ["True", true],
    ["TRUE", true],
    ["False", false],
    ["FALSE", false],
    ["None", null],
    ["NULL", null],
    ["nil", null],
    ["undefined", null],
]);

/** An own key, `__proto__` included. */
function set(out: { [key: string]: Json }, key: string, value: Json): void {
    if (key === "__proto__") Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true });
    else out[key] = value;
}
