/**
 * What is a secret on its own within one: a program, a library or a server takes a value apart and shows a piece of it. The password of a database's URL
 * stands in an `Authorization` header, a line of a private key in the lines of a file, a field of a service account in what is read of its JSON.
 *
 * Boundary: pure. A part's name stands in saved states, so a name keeps its meaning.
 *
 * WIT1: a part that could be an ordinary word is none, nor is a password that is the user's or the database's name, too: text would be taken out that is no
 *     secret.
 */
import { percentDecoded } from "../input/percent.ts";
import { MIN_SECRET } from "./forms.ts";
import { looksSecret } from "./names.ts";

export interface Part {
    readonly name: string;
    readonly value: string;
    /** One line of many: it is met as it is, not encoded on its own. */
    readonly isLine?: true;
}

/** Deeper than that, no credential has one in it. */
const MAX_DEPTH = 4;
const MAX_PARTS = 200;
/** Letters, digits and signs of base64 and hexadecimal alone: a line of a key. */
const KEY_LINE = /^[A-Za-z0-9+/_-]{40,}={0,2}$/;
/** Of connection strings of databases and clouds, and of pairs such as `api-key=…,tenant=…`. */
const PAIR = /(?:^|[;,\s&?])([\w.-]+)=("[^"]*"|[^;,\s&"]+=*)/g;

export function partsOf(value: string): Part[] {
    const found: Part[] = [];
    collect(value, "", found, MAX_DEPTH);
    return found.filter((part, i) => isOwn(part, value) && found.findIndex((one) => one.value === part.value) === i).slice(0, MAX_PARTS);
}

/** WIT1. */
function isOwn({ value }: Part, whole: string): boolean {
    if (value.length < MIN_SECRET || value === whole) return false;
    const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
    return kinds > 1 || value.length >= 2 * MIN_SECRET;
}

function collect(value: string, name: string, found: Part[], depth: number): void {
    const add = (as: string, part: string): void => {
        found.push({ name: name + as, value: part });
        if (depth > 0) collect(part, `${name}${as}/`, found, depth - 1);
    };
    const [, user = "", password = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/@\s:]*):([^/@\s]+)@/i.exec(value) ?? [];
    for (const [as, text] of [
        ["user", looksSecret("", user) ? user : ""],
        ["password", value.indexOf(password) === value.lastIndexOf(password) ? password : ""],
    ] as const)
        if (text !== "") add(as, percentDecoded(text) ?? text);
    const [, scheme = "", token = ""] = /^(Bearer|Basic|token)\s+(\S+)$/i.exec(value) ?? [];
    if (token !== "") add("token", token);
    const [, basic = ""] =
        scheme.toLowerCase() === "basic" ? (/^[^:]*:(.+)$/.exec(Buffer.from(token, "base64").toString("utf8")) ?? []) : [];
    if (basic !== "") add("password", basic);
    for (const [at, text] of fields(value)) add(at, text);
    if (!value.includes("://"))
        for (const [, key = "", text = ""] of value.matchAll(PAIR)) if (looksSecret(key, text)) add(`=${key}`, unquoted(text));
    // Also where the ends of lines are written as two signs.
    const lines = value.split(/\r?\n|\\n/);
    if (lines.length > 1)
        for (const [i, line] of lines.entries())
            if (KEY_LINE.test(line.trim())) found.push({ name: `${name}line${i}`, value: line.trim(), isLine: true });
}

/** Texts with telling names in JSON. Addresses that hold no credentials are none: `token_uri`. */
function fields(value: string): [at: string, text: string][] {
    if (!/^\s*[{[]/.test(value)) return [];
    let json: unknown;
    try {
        json = JSON.parse(value);
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        // It only looks like JSON, so it has no fields.
        return [];
    }
    const found: [string, string][] = [];
    const walk = (one: unknown, at: string, key: string, depth: number): void => {
        if (typeof one === "string" && looksSecret(key, one) && !/^https?:\/\/[^@\s]*$/.test(one)) found.push([at, one]);
        if (typeof one !== "object" || one === null || depth === 0) return;
        for (const [name, inner] of Object.entries(one)) walk(inner, `${at}.${name}`, Array.isArray(one) ? key : name, depth - 1);
    };
    walk(json, "", "", MAX_DEPTH);
    return found;
}

function unquoted(text: string): string {
    const bare = text.replaceAll('"', "");
    return percentDecoded(bare) ?? bare;
}
