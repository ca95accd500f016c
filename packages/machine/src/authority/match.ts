/**
 * Bounds: does a path, a URL or a word match a pattern.
 *
 * Boundary: text in, yes or no out. What cannot be read for certain matches nothing (DESIGN 5.2).
 *
 * G1: `*` matches within one part, `**` any number of parts; everything else stands for itself. No pattern takes more than the product of
 *     the two lengths.
 * G2: a path is compared after `.` and `..` were taken out; one that leaves the root matches nothing.
 * G3: a URL is compared by scheme, host and port exactly, then by path, whatever of it is percent-encoded; what two readers of URLs may read
 *     differently matches nothing, and is within every bound of what is forbidden.
 * G4: `*` in a command stands for any run of plain words; a command with anything else in it matches the pattern that is the same text, and is
 *     within every bound of what is forbidden.
 */

import { plainCodes, type Resource } from "@remit/language";

/** Parts that are not empty and do not begin with a point: nothing can be taken out of it. */
const SHORTEST = /^[^./\\\0][^/\\\0]*(?:\/[^./\\\0][^/\\\0]*)*$/;

/** A path from the root in its shortest form, `""` for the root itself; null where it leaves the root or is no path. */
export function normalisePath(text: string): string | null {
    if (SHORTEST.test(text)) return text;
    if (text.startsWith("/") || text.includes("\\") || text.includes("\0")) return null;
    return shortest(text.split("/"))?.join("/") ?? null;
}

function shortest(parts: readonly string[]): string[] | null {
    const out: string[] = [];
    for (const part of parts) {
        if (part === "" || part === ".") continue;
        if (part !== "..") out.push(part);
        else if (out.pop() === undefined) return null;
    }
    return out;
}

interface Place {
    /** `https://host:port`, the port left out where it is the scheme's own. */
    readonly origin: string;
    readonly parts: readonly string[];
}

/** RFC 3986 without user information, with nothing in it that readers of the WHATWG URL standard change. */
const URL_TEXT = /^(?:(https?):)?(?:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?)?([^?#]*)(?:\?[^#]*)?(?:#.*)?$/;
const PLAIN = /^[!$&'()*+,;=:@A-Za-z0-9._~%/-]*$/;
/** Encodings that some readers take for `.`, `/` and `\`. */
const HIDDEN = /%(?:2e|2f|5c|00)/i;
const OWN_PORT: { readonly [scheme: string]: string } = { http: "80", https: "443" };

/** Where a URL leads, seen from a base that is absolute. Null for what cannot be told for certain. */
export function placeOf(text: string, base: string | null): Place | null {
    const found = URL_TEXT.exec(text);
    if (found === null) return null;
    const [, scheme, host, port, written = ""] = found;
    if (!PLAIN.test(written) || HIDDEN.test(written)) return null;
    const path = plainCodes(written);
    if (host !== undefined) {
        if (scheme === undefined || (path !== "" && !path.startsWith("/"))) return null;
        const parts = shortest(path.split("/"));
        const shown = port === undefined || port === OWN_PORT[scheme] ? "" : `:${Number(port)}`;
        return parts === null ? null : { origin: `${scheme}://${host.toLowerCase()}${shown}`, parts };
    }
    // `HTTPS://x` and `a:b` begin with a scheme to other readers (RFC 3986 section 4.2).
    if (scheme !== undefined || base === null || /^[^/]*:/.test(path)) return null;
    const from = placeOf(base, null);
    if (from === null) return null;
    const basePath = plainCodes((URL_TEXT.exec(base) as RegExpExecArray)[4] ?? "");
    const folder = basePath.slice(0, basePath.lastIndexOf("/") + 1);
    const parts = shortest((path.startsWith("/") ? path : path === "" ? basePath : folder + path).split("/"));
    return parts === null ? null : { origin: from.origin, parts };
}

/** `base`: for URLs, what a relative one is read against. `unsure`: the answer for a text that cannot be read for certain. */
export function matches(kind: Resource, pattern: string, text: string, base: string | null = null, unsure = false): boolean {
    if (kind === "command") return pattern === text || (PLAIN_COMMAND.test(text) ? matchText(pattern, text, () => true) : unsure);
    if (kind === "word") return matchText(pattern, text, isWordPart);
    if (kind === "path") {
        const path = normalisePath(text);
        const wanted = normalisePath(pattern);
        if (path === null) return unsure;
        return wanted !== null && matchParts(partsOf(wanted), partsOf(path));
    }
    const place = placeOf(text, base);
    const wanted = placeOf(pattern, base);
    if (place === null) return unsure;
    return wanted !== null && place.origin === wanted.origin && matchParts(wanted.parts, place.parts);
}

/** Words with spaces between them: nothing in it makes a shell start another command, read or write a file, or put something in a word's place. */
const PLAIN_COMMAND = /^[A-Za-z0-9 _.,:@%+=/-]*$/;

function partsOf(path: string): string[] {
    return path === "" ? [] : path.split("/");
}

/** Parts of a path against parts of a pattern; `**` stands for any number of parts. */
function matchParts(pattern: readonly string[], parts: readonly string[]): boolean {
    let p = 0;
    let t = 0;
    let star = -1;
    let from = 0;
    while (t < parts.length) {
        const wanted = pattern[p];
        if (wanted === "**") {
            star = p++;
            from = t;
        } else if (wanted !== undefined && matchText(wanted, parts[t] as string, () => true)) {
            p++;
            t++;
        } else if (star >= 0) {
            p = star + 1;
            t = ++from;
        } else return false;
    }
    while (pattern[p] === "**") p++;
    return p === pattern.length;
}

/** What `*` may stand for in a word: nothing that separates one name, address or word from the next. */
function isWordPart(c: string): boolean {
    return !/[\s/\\,;@<>"'`|\p{Cc}\p{Cf}]/u.test(c);
}

/** `*` stands for any run of characters that `within` allows, `**` for any run. */
function matchText(pattern: string, text: string, within: (c: string) => boolean): boolean {
    let p = 0;
    let t = 0;
    let star = -1;
    let free = false;
    let from = 0;
    while (t < text.length) {
        if (pattern[p] === "*") {
            free = pattern[p + 1] === "*";
            p += free ? 2 : 1;
            star = p;
            from = t;
        } else if (p < pattern.length && pattern[p] === text[t]) {
            p++;
            t++;
        } else if (star >= 0 && (free || within(text[from] as string))) {
            p = star;
            t = ++from;
        } else return false;
    }
    while (pattern[p] === "*") p++;
    return p === pattern.length;
}
