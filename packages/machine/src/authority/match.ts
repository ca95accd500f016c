/**
 * Bounds: does a path, a URL or a word match a pattern.
 *
 * Boundary: text in, yes or no out. What cannot be read for certain matches nothing (DESIGN 5.2).
 *
 * MA1: `*` matches within one part, `**` any number of parts; everything else stands for itself. No pattern takes more than the product of
 *     the two lengths.
 * MA2: a path is compared after `.` and `..` were taken out; one that leaves the root matches nothing.
 * MA3: a URL is compared by scheme, host and port exactly, then by path, whatever of it is percent-encoded; what two readers of URLs may read
 *     differently matches nothing, and is within every bound of what is forbidden.
 * MA4: `*` in a command stands for any run of plain words; a command with anything else in it matches the pattern that is the same text, and one
 *     that is named by its path only a pattern that begins with that path. Where it cannot be told from the text which program a shell would
 *     start, a command is within every bound of what is forbidden. What forbids `rm *` forbids `rm` without arguments, too.
 */

import { plainCodes, type Resource } from "@remit/language";
import { compatible } from "./compatible.ts";

const STAR = 0x2a;
const POINT = 0x2e;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;

/** A path from the root in its shortest form, `""` for the root itself; null where it leaves the root or is no path. */
export function normalisePath(text: string): string | null {
    if (isShortest(text)) return text;
    if (text.startsWith("/") || text.includes("\\") || text.includes("\0")) return null;
    return shortest(text);
}

/** Parts that are not empty and do not begin with a point: nothing can be taken out of it. */
function isShortest(text: string): boolean {
    let begins = true;
    for (let i = 0; i < text.length; i++) {
        const c = text.charCodeAt(i);
        if (c === BACKSLASH || c === 0 || (begins && (c === SLASH || c === POINT))) return false;
        begins = c === SLASH;
    }
    return !begins;
}

function shortest(path: string): string | null {
    const out: string[] = [];
    for (const part of path.split("/")) {
        if (part === "" || part === ".") continue;
        if (part !== "..") out.push(part);
        else if (out.pop() === undefined) return null;
    }
    return out.join("/");
}

interface Place {
    /** `https://host:port`, the port left out where it is the scheme's own. */
    readonly origin: string;
    /** In its shortest form, without the slash at its beginning. */
    readonly path: string;
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
        const inner = shortest(path);
        // A full stop behind a name says that it is whole (RFC 1034 section 3.1): it leads to the same place.
        let end = host.length;
        while (host.charCodeAt(end - 1) === POINT) end--;
        const name = host.slice(0, end).toLowerCase();
        const shown = port === undefined || port === OWN_PORT[scheme] ? "" : `:${Number(port)}`;
        return inner === null ? null : { origin: `${scheme}://${name}${shown}`, path: inner };
    }
    // `HTTPS://x` and `a:b` begin with a scheme to other readers (RFC 3986 section 4.2).
    if (scheme !== undefined || base === null || /^[^/]*:/.test(path)) return null;
    const from = placeOf(base, null);
    if (from === null) return null;
    const basePath = plainCodes((URL_TEXT.exec(base) as RegExpExecArray)[4] ?? "");
    const folder = basePath.slice(0, basePath.lastIndexOf("/") + 1);
    const inner = shortest(path.startsWith("/") ? path : path === "" ? basePath : folder + path);
    return inner === null ? null : { origin: from.origin, path: inner };
}

/** One text for all that certainly lead to the same place with the same query; null for what cannot be told for certain. */
export function placeText(text: string, base: string): string | null {
    const place = placeOf(text, base);
    const [whole = ""] = text.split("#", 1);
    const query = whole.indexOf("?");
    return place === null ? null : `${place.origin}/${place.path}${query < 0 ? "" : whole.slice(query)}`;
}

/** `base`: for URLs, what a relative one is read against. `unsure`: the answer for a text that cannot be read for certain. */
export function matches(kind: Resource, pattern: string, text: string, base: string | null = null, unsure = false): boolean {
    return matchesAny(kind, [pattern], text, base, unsure);
}

/** Whether a text matches one of some patterns. */
export function matchesAny(kind: Resource, patterns: readonly string[], text: string, base: string | null, unsure: boolean): boolean {
    if (kind === "command") return matchesCommand(patterns, text, unsure);
    if (kind === "word") return patterns.some((pattern) => matchText(pattern, text, isWordPart)) || (unsure && mayBeWord(patterns, text));
    if (kind === "path") {
        const path = normalisePath(text);
        if (path === null) return unsure && patterns.length > 0;
        for (const pattern of patterns) {
            const wanted = normalisePath(pattern);
            if (wanted !== null && matchPath(wanted, path)) return true;
        }
        return false;
    }
    const place = placeOf(text, base);
    if (place === null) return unsure && patterns.length > 0;
    return patterns.some((pattern) => {
        const wanted = placeOf(pattern, base);
        return wanted !== null && place.origin === wanted.origin && matchPath(wanted.path, place.path);
    });
}

/** Whether what a tool reads in a text may match. */
function mayBeWord(patterns: readonly string[], text: string): boolean {
    const wanted = patterns.map((pattern) => squeezedBlanks(seen(pattern)));
    for (const one of readings(seen(text))) if (wanted.some((pattern) => matchText(pattern, one, ANY))) return true;
    return false;
}

/** The whole of it, each entry of a list, with a name before it or not, and each mail address. */
function readings(text: string): ReadonlySet<string> {
    const found = new Set([squeezedBlanks(text)]);
    const add = (part: string): void => {
        const one = squeezedBlanks(part);
        // An empty entry is no empty text.
        if (one !== "") found.add(one);
    };
    for (const entry of text.split(/[,;\n\v\f\r\u0085\u2028\u2029]+/)) add(entry);
    for (const [, within = ""] of text.matchAll(/<([^<>]*)>/g)) add(within);
    if (!text.includes("@")) return found;
    for (const word of text.split(/[\s,;<>()[\]{}"`|]+/))
        if (/[^@]@[^@]/.test(word)) {
            const address = word.startsWith("mailto:") ? (word.slice("mailto:".length).split("?", 1)[0] ?? "") : word;
            add(/^['.]*(.*?[^'.]|)['.]*$/.exec(address)?.[1] ?? address);
        }
    return found;
}

/** As people, and programs that do not tell cases apart, see it, the blanks still in it. U+3002 is a full stop in names of hosts (UTS 46). */
function seen(text: string): string {
    if (/^[\x20-\x7e\t\n\r]*$/.test(text)) return text.toLowerCase();
    const shown = compatible(text.replace(UNSEEN, "")).replace(UNSEEN, "");
    return shown.toLowerCase().replace(/ς/g, "σ").replace(/。/g, ".");
}

const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** U+2800 is a blank of Braille. */
function squeezedBlanks(text: string): string {
    return text.replace(/[\s\u2800\u0085]+/g, " ").trim();
}

/** Words with spaces between them: nothing in it makes a shell start another command, read or write a file, or put something in a word's place. */
const PLAIN_COMMAND = /^[A-Za-z0-9 _.,:@%+=/-]*$/;

/** Programs, and words of a shell, that start the command which stands in their arguments or in a file. Others may, too: no list has them all. */
const STARTERS: ReadonlySet<string> = new Set(
    ". source eval exec command builtin coproc time env sh bash dash ash zsh ksh fish busybox toybox xargs find sudo doas su nice ionice nohup setsid stdbuf timeout chroot unshare flock watch parallel".split(
        " ",
    ),
);

function matchesCommand(patterns: readonly string[], text: string, unsure: boolean): boolean {
    const line = squeezed(text);
    const plain = PLAIN_COMMAND.test(line);
    const [program = ""] = line.split(" ", 1);
    if (unsure) {
        // A disk may take `RM` for `rm`.
        const small = line.toLowerCase();
        const told = plain && !/[/=]/.test(program) && !STARTERS.has(program.toLowerCase());
        return patterns.some((pattern) => {
            const wanted = squeezed(pattern).toLowerCase();
            return !told || matchText(wanted, small, ANY) || matchText(wanted.replace(/( \*+)+$/, ""), small, ANY);
        });
    }
    const named = program.includes("/") ? program : null;
    return patterns.some(
        (pattern) =>
            pattern === text ||
            (plain && (named === null || squeezed(pattern).split(" ", 1)[0] === named) && matchText(squeezed(pattern), line, ANY)),
    );
}

/** As a shell counts words: without blanks around it, one between two words. */
function squeezed(text: string): string {
    return text.replace(/ +/g, " ").replace(/^ | $/g, "");
}

/**
 * A command with its arguments as one text; null where the words that a program gets cannot be told from it. `unsure`: words that hold blanks
 * are not told.
 */
export function commandLine(program: readonly string[], args: readonly string[], unsure: boolean): string | null {
    const all = [...program, ...args];
    const whole = unsure ? all : program;
    if (whole.some((word) => word === "" || word.includes(" ")) || !all.every((word) => PLAIN_COMMAND.test(word))) return null;
    return all.join(" ");
}

/** The index behind the part that begins at `from`. */
function partEnd(path: string, from: number): number {
    let end = from;
    while (end < path.length && path.charCodeAt(end) !== SLASH) end++;
    return end;
}

/**
 * A path against a pattern, both in their shortest form; `**` stands for any number of parts. Parts are compared where they are, without lists made
 * of them: what begins beyond the end is no part, and the root has none.
 */
function matchPath(pattern: string, path: string): boolean {
    const same = sameParts(pattern, path);
    let p = pattern === "" ? 1 : same;
    let t = path === "" ? 1 : same;
    let star = -1;
    let from = 0;
    while (t <= path.length) {
        const pEnd = partEnd(pattern, p);
        const tEnd = partEnd(path, t);
        if (p <= pattern.length && isAnyParts(pattern, p, pEnd)) {
            star = p = pEnd + 1;
            // Whatever is left.
            if (star > pattern.length) return true;
            from = t;
        } else if (p <= pattern.length && matchText(pattern.slice(p, pEnd), path.slice(t, tEnd), ANY)) {
            p = pEnd + 1;
            t = tEnd + 1;
        } else if (star >= 0) {
            p = star;
            t = from = partEnd(path, from) + 1;
        } else return false;
    }
    for (let end = partEnd(pattern, p); p <= pattern.length && isAnyParts(pattern, p, end); end = partEnd(pattern, p)) p = end + 1;
    return p > pattern.length;
}

/** The index behind the parts at the beginning that are the same in both, and that nothing stands for. */
function sameParts(pattern: string, path: string): number {
    const end = Math.min(pattern.length, path.length);
    let behind = 0;
    for (let i = 0; i < end; i++) {
        const c = pattern.charCodeAt(i);
        if (c === STAR || c !== path.charCodeAt(i)) break;
        if (c === SLASH) behind = i + 1;
    }
    return behind;
}

function isAnyParts(pattern: string, from: number, end: number): boolean {
    return end - from === 2 && pattern.charCodeAt(from) === STAR && pattern.charCodeAt(from + 1) === STAR;
}

/** What `*` may stand for in a word: nothing that separates one name, address or word from the next. */
function isWordPart(c: string): boolean {
    return !/[\s/\\,;@<>"'`|\p{Cc}\p{Cf}]/u.test(c);
}

const ANY = (): boolean => true;

/** `*` stands for any run of characters that `within` allows, `**` for any run. */
function matchText(pattern: string, text: string, within: (c: string) => boolean): boolean {
    let p = 0;
    let t = 0;
    let star = -1;
    let free = false;
    let from = 0;
    while (t < text.length) {
        const wanted = p < pattern.length ? pattern.charCodeAt(p) : -1;
        if (wanted === STAR) {
            free = p + 1 < pattern.length && pattern.charCodeAt(p + 1) === STAR;
            p += free ? 2 : 1;
            star = p;
            from = t;
        } else if (wanted === text.charCodeAt(t)) {
            p++;
            t++;
        } else if (star >= 0 && (free || within(text[from] as string))) {
            p = star;
            t = ++from;
        } else return false;
    }
    while (p < pattern.length && pattern.charCodeAt(p) === STAR) p++;
    return p === pattern.length;
}
