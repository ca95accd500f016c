/**
 * What of a value is evidence for `among`: values that stood in a field, and what only repeats the call's own arguments.
 *
 * Boundary: pure, over JSON. Where evidence is kept, and what it lets in, is the standing's and `flows.ts`.
 *
 * EVI1: a field gives its whole values, texts and numbers; a list on the way stands for all its items.
 * EVI2: what stood in a call's own arguments, decoded, is no evidence from its result: a tool that repeats its query would vouch for whatever it was asked.
 * EVI3: what stood in a field before a part of the run that is elsewhere is evidence in it, and what stood there in it is evidence behind it: as within one
 *     run. Where a part does not tell that, it is none.
 */
import { canonicalJson, type Json, isObject } from "@remit/language";
import { saidIn } from "./addresses.ts";
import { folded } from "./compatible.ts";
import { wordsOf } from "./given.ts";

/** A field that clauses name: of the run's input, or of the results of a method. */
export interface Field {
    /** Under which its values are kept. */
    readonly id: string;
    /** Key of the thing; null: the input. */
    readonly key: string | null;
    readonly method: string | null;
    readonly path: readonly string[];
}

export function fieldOf(key: string | null, method: string | null, path: readonly string[]): Field {
    return { id: `field:${canonicalJson([key, method, [...path]])}`, key, method, path };
}

/** Rows of results of a method: a field that tells them apart, and one that names people. */
export interface Table extends Field {
    readonly to: string;
}

export function tableOf(at: Field, to: string): Table {
    return { ...at, id: `table:${canonicalJson([at.id, to])}`, to };
}

/** What rows of a table say: a value of the field that tells them apart, and the people of its row, each as JSON. */
export function rowsIn(root: Json, { path, to }: Table, isNone: (word: string) => boolean): string[] {
    const field = path.at(-1) as string;
    return objectsIn(root, path.slice(0, -1)).flatMap((row) => {
        const people = Object.hasOwn(row, to) ? wordsOf(row[to] as Json) : null;
        if (people === null || people.length === 0 || people.some((one) => one === "" || isNone(one))) return [];
        const keys = Object.hasOwn(row, field) ? (wordsOf(row[field] as Json)?.length === 1 ? [row[field] as Json] : []) : [];
        return keys.map((key) => rowText(key, people));
    });
}

function rowText(key: Json, people: readonly string[]): string {
    return `${canonicalJson(key)}\n${JSON.stringify([...new Set(people)].sort())}`;
}

/** Among the rows of a table: those that came in the part of the run at `path`, elsewhere, are not known. No row begins so. */
export function lostRows(path: string): string {
    return `?${path}`;
}

/** The people of the row with a value; undefined: there is none, several rows with that value name different people, or not all rows are known. */
export function peopleIn(rows: Iterable<string>, key: Json): readonly string[] | undefined {
    const begins = `${canonicalJson(key)}\n`;
    let found: string | undefined;
    for (const row of rows) {
        if (row.startsWith(lostRows(""))) return undefined;
        if (!row.startsWith(begins)) continue;
        if (found !== undefined) return undefined;
        found = row.slice(begins.length);
    }
    return found === undefined ? undefined : (JSON.parse(found) as string[]);
}

/** EVI1. */
function objectsIn(root: Json, path: readonly string[]): { readonly [key: string]: Json }[] {
    if (Array.isArray(root)) return root.flatMap((one) => objectsIn(one, path));
    if (!isObject(root)) return [];
    const [name, ...rest] = path;
    if (name === undefined) return [root];
    return Object.hasOwn(root, name) ? objectsIn(root[name] as Json, rest) : [];
}

/** EVI1. Of the result of a server's tool also where its structured part has it. */
export function valuesIn(root: Json, path: readonly string[]): Json[] {
    const [name, ...rest] = path;
    if (Array.isArray(root)) return root.flatMap((one) => valuesIn(one, path));
    if (name === undefined) return typeof root === "string" || typeof root === "number" ? [root] : [];
    if (!isObject(root)) return [];
    return Object.hasOwn(root, name) ? valuesIn(root[name] as Json, rest) : [];
}

/** What a result tells: that of a server's tool tells its structured part, else what its text says as JSON; a failure tells nothing. */
export function toldBy(result: Json): Json {
    if (!isObject(result) || typeof result["isError"] !== "boolean" || !Object.hasOwn(result, "structured")) return result;
    if (result["isError"]) return null;
    return isObject(result["structured"]) ? result["structured"] : (parsed(result["text"] ?? null) ?? null);
}

function parsed(text: Json): Json | undefined {
    if (typeof text !== "string") return undefined;
    try {
        return JSON.parse(text) as Json;
    } catch (error) {
        if (error instanceof SyntaxError) return undefined;
        throw error;
    }
}

/** EVI2. Whether a text stood in some arguments. */
export function repeats(args: readonly Json[]): (word: string) => boolean {
    const said = textsIn(args).flatMap(spellings).join("\n");
    if (said === "") return () => false;
    const closed = said.replace(BLANKS, "");
    return (word) => spellings(word).some((one) => (one.length < SHORT ? holdsWord(said, one) : closed.includes(one.replace(BLANKS, ""))));
}

/** A text of fewer characters is in others by chance: it has to stand there by itself. */
const SHORT = 4;
const BLANKS = /\s+/gu;

function holdsWord(text: string, word: string): boolean {
    if (word === "") return false;
    const isPart = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
        if (!isPart(text[at - 1]) && !isPart(text[at + word.length])) return true;
    return false;
}

function textsIn(values: readonly Json[]): string[] {
    return Array.from(saidIn([...values]), String);
}

/** How often a text is decoded again. */
const MOST_DECODED = 3;

/** A text and what it is decoded, without what readers of texts do not tell apart. */
function spellings(text: string): string[] {
    const found = new Set<string>();
    let now = text;
    for (let times = 0; times <= MOST_DECODED; times++) {
        found.add(folded(now));
        const next = decoded(now);
        if (next === now) break;
        now = next;
    }
    const bytes = isBase64(text) ? base64(text) : null;
    if (bytes !== null) found.add(folded(bytes));
    return [...found];
}

const NAMED: { readonly [name: string]: string } = {
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    commat: "@",
    period: ".",
    sol: "/",
    colon: ":",
};

function decoded(text: string): string {
    return text
        .replace(/&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));?/giu, (all, hex: string | undefined, dec: string | undefined) => {
            const point = hex === undefined ? Number(dec) : Number.parseInt(hex, 16);
            return point <= 0x10ffff ? String.fromCodePoint(point) : all;
        })
        .replace(/&([a-z]+);/giu, (all, name: string) => NAMED[name.toLowerCase()] ?? all)
        .replace(
            /(?:%[0-9a-f]{2})+/giu,
            (all) =>
                utf8(
                    all
                        .slice(1)
                        .split("%")
                        .map((hex) => Number.parseInt(hex, 16)),
                ) ?? all,
        )
        .replace(/\\u\{?([0-9a-f]{4,6})\}?/giu, (all, hex: string) => {
            const point = Number.parseInt(hex, 16);
            return point <= 0x10ffff ? String.fromCodePoint(point) : all;
        })
        .replace(/\+/g, " ");
}

/** Null where the bytes are no text. The machine has no decoder of its host's. */
function utf8(bytes: readonly number[]): string | null {
    let out = "";
    for (let i = 0; i < bytes.length; ) {
        const first = bytes[i++] as number;
        const more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : -1;
        if (more < 0 || i + more > bytes.length) return null;
        let point = more === 0 ? first : first & (0x3f >> more);
        for (let n = 0; n < more; n++) point = (point << 6) | ((bytes[i++] as number) & 0x3f);
        if (point > 0x10ffff) return null;
        out += String.fromCodePoint(point);
    }
    return out;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Signs that are none are looked for: what matches a long text as one fills the stack. */
function isBase64(text: string): boolean {
    const digits = text.replace(/={1,2}$/, "");
    return digits.length >= 8 && !/[^A-Za-z0-9+/_-]/.test(digits);
}

function base64(text: string): string | null {
    const bytes: number[] = [];
    let held = 0;
    let bits = 0;
    for (const sign of text.replace(/=+$/, "").replace(/-/g, "+").replace(/_/g, "/")) {
        held = ((held << 6) | DIGITS.indexOf(sign)) & 0xffffff;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes.push((held >> bits) & 0xff);
    }
    return utf8(bytes);
}
